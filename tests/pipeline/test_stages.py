"""Single stages, tested apart from a run."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from howsteps.errors import Extra, InputError, MissingExtra
from howsteps.io.cache import Cache
from howsteps.paper import visual_words
from howsteps.pipeline import features, stages
from howsteps.pipeline.context import Context, Event, StageEnded
from howsteps.pipeline.options import RunOptions
from howsteps.task import Caption, Mode, Task, Video, Word
from howsteps.vision.features import QUICK, Features, Method, PooledOptions
from tests.script import spoken

PRESENT = Extra("asr", "hearing", ("json",))
ABSENT = Extra("asr", "hearing", ("no_such_module",))
HEARD = (Caption(1.0, 3.0, "fill the tub", (Word("fill", 1.0, 1.5), Word("the", 1.5, 1.7))),)


@pytest.fixture
def silent(tmp_path: Path) -> Task:
    media = tmp_path / "mute.mp4"
    media.write_bytes(b"a film with sound")
    told = Video("told", (Caption(0.0, 1.0, "hello"),))
    return Task("bath", (told, Video("mute", media=media)))


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return Context(Cache(tmp_path / "cache"))


def test_the_length_of_a_video_is_part_of_the_keys(context: Context) -> None:
    events: list[Event] = []
    context = replace(context, callback=events.append)
    task = spoken.task("fill tub; catch cat; dry cat", "fill tub; dry cat", name="wash a cat")
    for end in (60.0, 60.0, 90.0):  # of captions without a word, such as music
        videos = tuple(replace(video, captions_end=end) for video in task.videos)
        longer = replace(task, videos=videos)
        script = stages.discover_script(longer, RunOptions(), context)
        stages.localise(longer, script, Features(), RunOptions(), context)
    cached = [e.cached for e in events if isinstance(e, StageEnded)]
    assert cached == [0, 0, 1, 1, 0, 0]  # of script and places, each time


class TestTranscribe:
    def test_transcripts_become_captions_and_are_cached(
        self, silent: Task, context: Context, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[Path] = []

        def transcribe(media: Path, **_: object) -> tuple[Caption, ...]:
            asked.append(media)
            return HEARD

        monkeypatch.setattr(stages, "SPEECH", PRESENT)
        monkeypatch.setattr("howsteps.narration.speech.transcribe", transcribe)
        for _ in range(2):
            task, problems = stages.transcribe(silent, RunOptions(speech="tiny.en"), context)
            assert problems == []
            assert task.videos[0] == silent.videos[0]
            assert task.videos[1].captions == HEARD
        assert asked == [silent.videos[1].media]
        again = replace(context, redo=frozenset({"transcribe"}))
        stages.transcribe(silent, RunOptions(speech="tiny.en"), again)
        assert len(asked) == 2

    def test_failed_transcription_is_reported(
        self, silent: Task, context: Context, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def transcribe(media: Path, **_: object) -> tuple[Caption, ...]:
            raise InputError(Path("/somewhere") / media, "there is no audio stream in this file")

        monkeypatch.setattr(stages, "SPEECH", PRESENT)
        monkeypatch.setattr("howsteps.narration.speech.transcribe", transcribe)
        task, [problem] = stages.transcribe(silent, RunOptions(speech="tiny.en"), context)
        assert task == silent
        assert problem.path == silent.videos[1].media  # as other problems of the video have it
        assert problem.reason == "there is no audio stream in this file"

    def test_a_missing_extra_is_reported_with_its_command(
        self, silent: Task, context: Context, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(stages, "SPEECH", ABSENT)
        _, [problem] = stages.transcribe(silent, RunOptions(speech="tiny.en"), context)
        assert "pip install 'howsteps[asr]'" in problem.reason

    def test_transcription_can_be_off(self, silent: Task, context: Context) -> None:
        _, [problem] = stages.transcribe(silent, RunOptions(speech=None), context)
        assert "transcription is off" in problem.reason


class TestSeeing:
    def test_without_the_extra_videos_are_not_decoded_with_a_remark(
        self, silent: Task, context: Context, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(features, "VISION", replace(ABSENT, name="vision"))
        _, seen = features.visual_features(silent, RunOptions(), context)
        assert seen.vectors == {}
        assert "pip install 'howsteps[vision]'" in seen.problems[0].reason
        assert seen.problems[0].harmless
        with pytest.raises(MissingExtra, match="vision"):
            features.visual_features(silent, RunOptions(vision=True), context)

    @pytest.mark.parametrize(
        ("mode", "quick", "wanted"),
        [
            ("default", False, PooledOptions()),
            ("paper", False, visual_words.WordOptions()),
            ("authors", False, visual_words.WordOptions()),
            ("default", True, QUICK),
            ("paper", True, visual_words.QUICK),
        ],
    )
    def test_each_mode_has_its_own_method(self, mode: Mode, quick: bool, wanted: object) -> None:
        method: Method = features.method_of(mode, quick)
        assert method.options == wanted
        as_sent = json.loads(json.dumps(asdict(method.options)))
        assert features._method(method.name, as_sent) == method

    def test_mode_paper_without_pytorch_names_the_extra(
        self, silent: Task, context: Context, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(visual_words, "GPU", replace(ABSENT, name="gpu"))
        with pytest.raises(MissingExtra, match=r"VGG-16.*howsteps\[paper\]"):
            features.visual_features(silent, RunOptions(mode="paper"), context)
        monkeypatch.setattr(visual_words, "EXTRA", replace(ABSENT, name="paper"))
        with pytest.raises(MissingExtra, match=r"howsteps\[paper\]"):
            features.visual_features(silent, RunOptions(mode="paper"), context)
