"""The files of a work folder."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from howsteps.errors import InputError
from howsteps.io.cache import Cache
from howsteps.io.files import Folder
from howsteps.pipeline.context import Context, Event, ItemDone, StageBegan, StageEnded
from howsteps.pipeline.work_folder import (
    STEPS_FILE,
    learnt_steps,
    load_steps,
    write_report,
)
from howsteps.store import ActRecord, LearntStep, LearntSteps, write_record
from howsteps.task import SAID, Localisation, Result, Script, Step, Task, Video
from tests.report.job import tea


def test_a_video_is_opened_once_for_its_frame_rate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path | None] = []

    def rate_of(media: Path | None) -> Fraction:
        opened.append(media)
        return Fraction(30000, 1001)

    monkeypatch.setattr("howsteps.report.decoding.rate_of", rate_of)
    monkeypatch.setattr("howsteps.report.decoding.run", lambda *_, **__: {})
    media = tmp_path / "a.mp4"
    media.write_bytes(b"film")
    video = Video("a", duration=60.0, media=media, sentences=(), mentions=())
    places = (Localisation("a", 0, 5.0, 4.0, 9.0, 0.9, SAID),)
    result = Result(Task("wash", (video,)), Script((Step("dry the cat", ()),)), places)
    context = Context(Cache(tmp_path / "cache"))
    for _ in range(2):
        write_report(result, tmp_path / "out", context, unreadable=())
    assert opened == [media]
    media.write_bytes(b"another film")
    write_report(result, tmp_path / "out", context, unreadable=())
    assert opened == [media, media]


def test_pictures_of_videos_are_a_stage_and_captions_alone_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("howsteps.report.decoding.run", lambda *_, **__: {})
    videos = (Video("a", media=tmp_path / "a.mp4"), Video("b"))
    events: list[Event] = []
    context = Context(Cache(tmp_path / "cache"), callback=events.append)
    for some in (videos, videos[1:]):
        write_report(Result(Task("wash", some), Script(()), ()), tmp_path / "out", context)
    assert [event for event in events if not isinstance(event, StageEnded)] == [
        StageBegan("page", "wash", 1),
        ItemDone("page", "wash", "a", cached=False),
    ]


LEARNT = LearntSteps(
    1,
    "make tea",
    [
        LearntStep("fill the kettle", 4, [ActRecord("fill", "up", "kettle", ("tap",))]),
        LearntStep("hum", 0, []),
    ],
)


def test_steps_are_read_back(tmp_path: Path) -> None:
    write_record(Folder(tmp_path), STEPS_FILE, LEARNT)
    assert load_steps(tmp_path, ("fill the kettle", "hum")) == LEARNT


def test_a_step_is_stored_with_its_acts() -> None:
    job = tea(4, 3)
    found = learnt_steps(job.task, job.script)
    assert found.job == job.task.name
    assert [step.support for step in found.steps] == [s.support for s in job.script.steps]
    assert found.steps[0].acts == [ActRecord("fill", "", "kettle", ())]


@pytest.mark.parametrize(
    "change",
    [
        {"version": 9},
        {"job": 1},
        {"steps": None},
        {"steps": [{"label": "fill the kettle", "support": "x", "acts": []}]},
        {"steps": [{"label": "fill the kettle", "support": 1, "acts": [{"verb": "fill"}]}]},
        {"steps": []},
    ],
)
def test_anything_else_is_an_error(tmp_path: Path, change: dict[str, object]) -> None:
    write_record(Folder(tmp_path), STEPS_FILE, LEARNT)
    path = tmp_path / STEPS_FILE
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | change))
    with pytest.raises(InputError, match=r"steps\.json"):
        load_steps(tmp_path, ("fill the kettle", "hum"))
