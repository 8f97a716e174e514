"""Applying a model to new videos."""

from pathlib import Path

import pytest

from howsteps.errors import Extra, InputError
from howsteps.pipeline import stages
from howsteps.pipeline.apply import apply
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import run
from howsteps.store import read_result
from howsteps.task import SAID
from tests.films import film
from tests.pipeline.jobs import captions, narration, subrip


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("learnt")
    run(captions(folder / "wash a cat"), folder / "steps")
    return folder / "steps"


class TestWords:
    @pytest.mark.slow
    def test_steps_are_found_in_a_new_narration_in_their_order(
        self, work: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "flo.srt").write_text(narration("flo"))
        done = apply(work, [tmp_path / "flo.srt"], tmp_path / "out")
        [result] = done.results.values()
        assert [step.label for step in result.script.steps] == [
            step.label for step in read_result(work).script.steps
        ]
        times = [place.time for place in result.localisations if place.time is not None]
        assert times
        assert times == sorted(times)
        assert read_result(tmp_path / "out") == result

    def test_the_narration_is_matched_with_the_steps(self, work: Path, tmp_path: Path) -> None:
        (tmp_path / "flo.srt").write_text(narration("flo", missing=(3,)))
        [(name, result)] = apply(work, [tmp_path / "flo.srt"], tmp_path / "out").results.items()
        assert name == read_result(work).task.name == "wash a cat"
        steps = {step.label: step for step in result.script.steps}
        learnt = {step.label: step.support for step in read_result(work).script.steps}
        assert {label: step.learnt_from for label, step in steps.items()} == learnt
        assert [m.phrase for m in steps["dry the cat"].mentions] == ["dry the cat"]
        assert steps["rinse the fur"].support == 0
        for place, step in zip(result.localisations, result.script.steps, strict=True):
            here = any(m.start <= (place.time or 0) <= m.end + 8 for m in step.mentions)
            assert here == (place.evidence == SAID)
        assert sum(place.evidence == SAID for place in result.localisations) >= 3

    def test_unusable_files_are_reported(self, work: Path, tmp_path: Path) -> None:
        (tmp_path / "a").mkdir()
        (tmp_path / "a" / "flo.srt").write_text(narration("flo"))
        film(tmp_path / "a" / "mute.mp4", 2.0)
        done = apply(work, [tmp_path / "a"], tmp_path / "out")
        [result] = done.results.values()
        assert [video.id for video in result.task.videos] == ["flo"]
        assert any(problem.path.name == "mute.mp4" for problem in done.problems)

    def test_a_video_without_speech_is_reported(
        self, work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        mute = film(tmp_path / "mute.mp4", 2.0)
        monkeypatch.setattr(stages, "SPEECH", Extra("asr", "hearing", ("json",)))
        monkeypatch.setattr("howsteps.narration.speech.transcribe", lambda *_, **__: ())
        done = apply(work, [mute], tmp_path / "out", options=RunOptions(speech="tiny.en"))
        assert done.results == {}
        assert list(map(str, done.problems)) == [f"{mute}: not used: it has no speech"]

    def test_a_video_of_another_job_is_remarked_on(self, work: Path, tmp_path: Path) -> None:
        (tmp_path / "flo.srt").write_text(narration("flo"))
        (tmp_path / "gus.srt").write_text(
            subrip(dict(enumerate(["today i talk about a book", "it has many pages", "buy it"])))
        )
        done = apply(work, [tmp_path / "flo.srt", tmp_path / "gus.srt"], tmp_path / "out")
        [result] = done.results.values()
        assert [video.id for video in result.task.videos] == ["flo", "gus"]
        [remark] = [problem for problem in done.problems if "another job" in problem.reason]
        assert remark.path == Path("gus")
        assert remark.harmless

    def test_a_missing_model_is_an_error_with_advice(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="is not a work folder of howsteps"):
            apply(tmp_path, [tmp_path], tmp_path / "out")

    def test_a_run_of_the_paper_has_no_model_not_even_of_an_earlier_run(
        self, tmp_path: Path
    ) -> None:
        job, out = captions(tmp_path / "wash a cat"), tmp_path / "out"
        run(job, out)
        assert (out / "model" / "model.json").is_file()
        run(job, out, RunOptions(mode="paper"))
        with pytest.raises(InputError, match="has no model; run 'howsteps run' again, in"):
            apply(out, [job], tmp_path / "new")
