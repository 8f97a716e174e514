"""Videos in which nobody speaks, from the folder to the page, and to new videos."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from howsteps.errors import VISION, HowstepsError
from howsteps.pipeline.apply import apply
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.placing import place_again
from howsteps.pipeline.run import Run, run
from howsteps.report.page import PAGE
from howsteps.store import read_result
from howsteps.task import LIKE_SEEN
from tests.films import film

SCENES = {"ann": (6.0, 13.0, 20.0), "bob": (8.0, 14.0, 22.0), "eve": (7.0, 15.0, 21.0)}
LENGTH = 28.0
OPTIONS = RunOptions(steps=4)


def films(folder: Path) -> Path:
    for name, scenes in SCENES.items():
        film(folder / f"{name}.mp4", LENGTH, scenes=scenes)
    return folder


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return films(tmp_path_factory.mktemp("films") / "fold a box")


@pytest.fixture(scope="module")
def done(job: Path) -> Run:
    return run(job, job.parent / "out", OPTIONS)


@pytest.fixture
def out(done: Run, job: Path, tmp_path: Path) -> Path:
    # Beside the other, because a result has relative paths of its videos.
    return Path(shutil.copytree(job.parent / "out", job.parent / tmp_path.name))


@pytest.mark.slow
def test_steps_of_silent_videos_are_numbered_and_seen(done: Run) -> None:
    result = done.result
    assert [step.label for step in result.steps] == ["Step 1", "Step 2", "Step 3", "Step 4"]
    for place in result.localisations:
        borders = (0.0, *SCENES[place.video], LENGTH)
        assert borders[place.step] <= place.time <= borders[place.step + 1]
        assert place.evidence == LIKE_SEEN
        assert place.level != "sure"
    [remark] = [p.reason for p in result.problems if "by sight" in p.reason]
    assert remark.startswith("nobody says what is being done, so the 4 steps were found by sight")


@pytest.mark.slow
def test_a_silent_job_has_the_files_of_any_other(done: Run, out: Path) -> None:
    page = (out / PAGE).read_text(encoding="utf-8")
    assert "Step 4" in page
    assert "data:image" in page or list((out / "report-pictures").iterdir())
    assert "3. Step 3\n" in (out / "script.md").read_text()
    assert list((out / "exports").iterdir())
    assert read_result(out) == done.result


@pytest.mark.slow
def test_a_renamed_step_keeps_its_places(done: Run, job: Path, out: Path) -> None:
    text = (out / "script.md").read_text()
    edited = text.replace("2. Step 2", "2. press the lid").replace("4. Step 4\n", "")
    again = place_again(out, edited)
    assert [step.label for step in again.steps] == ["Step 1", "press the lid", "Step 3"]
    kept = tuple(p for p in done.result.localisations if p.step < 3)
    assert again.localisations == kept
    assert not [p for p in again.problems if "no narrator" in p.reason]
    (out / "mine.md").write_text(edited)
    from_file = run(job, out, script=out / "mine.md").result
    assert from_file.localisations == kept


@pytest.mark.slow
def test_a_list_of_steps_is_found_by_sight(done: Run, job: Path, out: Path) -> None:
    (out / "result.json").unlink()  # or its places would be kept
    (out / "mine.txt").write_text("1. open it\n2. turn it\n3. fill it\n4. shut it\n")
    found = run(job, out, script=out / "mine.txt").result
    assert [step.label for step in found.steps] == ["open it", "turn it", "fill it", "shut it"]
    assert [p.time for p in found.localisations] == [p.time for p in done.result.localisations]


@pytest.mark.slow
def test_the_model_finds_the_steps_in_a_new_video(done: Run, out: Path, tmp_path: Path) -> None:
    new = film(tmp_path / "zoe.mp4", LENGTH, scenes=(7.0, 12.0, 20.0))
    found = apply(out, [new], tmp_path / "new").result
    assert [step.label for step in found.steps] == [step.label for step in done.result.steps]
    assert any(place.time is not None for place in found.localisations)
    assert all(place.level != "sure" for place in found.localisations)


@pytest.mark.slow
def test_filled_extents_make_a_segmentation(done: Run, job: Path, out: Path) -> None:
    found = run(job, out, replace(OPTIONS, extents="filled")).result
    for video, places in found.by_video.items():
        ends = [(place.start, place.end) for place in places]
        assert ends[0][0] == 0
        assert ends[-1][1] == pytest.approx(LENGTH, abs=0.5)
        for (_, end), (start, _), border in zip(ends, ends[1:], SCENES[video], strict=False):
            assert end == start == pytest.approx(border, abs=0.2)
    assert [p.time for p in found.localisations] == [p.time for p in done.result.localisations]


def test_without_frames_nothing_can_be_found(job: Path, tmp_path: Path) -> None:
    with pytest.raises(HowstepsError, match="no narrator says what is being done"):
        _ = run(job, tmp_path / "out", RunOptions(vision=False)).result


@pytest.mark.parametrize("extra", [True, False])
def test_why_silent_videos_have_no_frames_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extra: bool
) -> None:
    (tmp_path / "job").mkdir()
    for name in ("ann", "bob"):
        (tmp_path / "job" / f"{name}.mp4").write_bytes(b"no film")
    if not extra:
        monkeypatch.setattr(type(VISION), "missing", property(lambda _: ("av",)))
    *said, last = map(str, run(tmp_path / "job", tmp_path / "out").problems)
    assert "there are no frames to look at" in last
    reason = "ann.mp4: is not a readable video" if extra else VISION.command
    assert sum(reason in line for line in said) == 1, said


@pytest.mark.slow
def test_one_silent_video_has_no_steps_to_share(tmp_path: Path) -> None:
    film(tmp_path / "job" / "ann.mp4", 12.0)
    with pytest.raises(HowstepsError, match="two or more videos"):
        _ = run(tmp_path / "job", tmp_path / "out").result
