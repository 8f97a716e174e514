"""New videos uploaded to the page are placed by the model; other files are refused."""

import http.client
import json
import os
import resource
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import pytest

from howsteps.pipeline.apply import OTHER_JOB
from howsteps.serve.new_videos import FOLDER
from howsteps.serve.session import Session
from howsteps.store import read_result
from tests.report.videos import film

from .conftest import Served

LINES = (
    ("fill the kettle with water", 5),
    ("boil the water until it rolls", 17),
    ("warm the pot", 29),
    ("measure the leaves", 41),
    ("add the leaves to the pot", 53),
)
SRT = "\n".join(
    f"{n}\n00:00:{at:02},000 --> 00:00:{at + 2:02},000\nnow {text}\n"
    for n, (text, at) in enumerate(LINES, 1)
).encode()


def drop(served: Served, name: str, body: bytes, **headers: str | None) -> tuple[int, str]:
    given = {"content_type": "application/octet-stream", **headers}
    status, _, answer = served.post(f"new-videos?name={name}", body=body, **given)
    return status, answer.decode()


def processed(served: Served, number: int) -> dict[str, object]:
    """The status after an uploaded file was processed."""
    end = time.monotonic() + 90
    while (now := served.status())["processed"] < number:
        assert time.monotonic() < end, now
        time.sleep(0.05)
    return now


@pytest.mark.slow
def test_a_bad_file_is_reported_and_does_not_affect_the_next(served, work) -> None:
    served.edit(0, do={"op": "rename", "step": 0, "label": "fetch water"})
    served.until_placed()
    assert drop(served, "notes.srt", b"hello")[1] == '{"name":"notes.srt","number":1}'
    assert processed(served, 1)["refused"] == {"notes.srt": "is not in a known caption format"}
    drop(served, "text.mp4", b"hello")
    said = processed(served, 2)["refused"]
    assert said["text.mp4"] == "is not a readable video"
    assert not list((work / FOLDER).iterdir())  # nothing can come of either
    drop(served, "Zoe.srt", SRT)
    now = processed(served, 3)
    assert not now["remark"]
    assert "Zoe.srt" not in now["refused"]
    assert [path.name for path in (work / FOLDER).iterdir()] == ["Zoe.srt"]
    drop(served, "notes.srt", SRT)  # a better one of the same name
    assert "notes.srt" not in processed(served, 4)["refused"]


@pytest.mark.slow
def test_a_video_waits_for_its_captions(served, work, tmp_path) -> None:
    served.edit(0, do={"op": "rename", "step": 0, "label": "fetch water"})
    served.until_placed()
    drop(served, "Zoe.mp4", film(tmp_path / "Zoe.mp4", 3, 0).read_bytes())
    assert processed(served, 1)["refused"] == {"Zoe.mp4": "has no captions; add them too"}
    drop(served, "Zoe.srt", SRT)
    assert processed(served, 2)["refused"] == {}
    assert {path.name for path in (work / FOLDER).iterdir()} == {"Zoe.mp4", "Zoe.srt"}


@pytest.mark.slow
def test_a_video_that_may_show_another_job_is_remarked_on(served, monkeypatch) -> None:
    monkeypatch.setattr("howsteps.pipeline.apply.MIN_MEAN_CONFIDENCE", 1.1)
    served.edit(0, do={"op": "rename", "step": 0, "label": "fetch water"})
    served.until_placed()
    drop(served, "Zoe.en.srt", SRT)
    now = processed(served, 1)
    assert now["remarks"] == {"Zoe.en.srt": f"Zoe: {OTHER_JOB}"}
    assert not now["refused"]


@pytest.mark.slow
def test_new_captions_are_placed_by_the_model_and_shown(served, work) -> None:
    served.edit(0, do={"op": "rename", "step": 0, "label": "fetch water"})
    served.until_placed()
    assert drop(served, "Zoe.en.srt", SRT)[0] == 200
    end = time.monotonic() + 90
    while len(found := json.loads(served.get("content")[2])["videos"]) == 5:
        assert time.monotonic() < end, served.status()
        time.sleep(0.1)
    assert [video["id"] for video in found] == ["Ada", "Bo", "Cleo", "Dov", "Ema", "Zoe"]
    assert [video["new"] for video in found] == [False] * 5 + [True]
    places = [place["time"] for place in found[5]["places"] if place["time"] is not None]
    assert places
    assert places == sorted(places)
    said = {mention["step"]: mention for mention in found[5]["mentions"]}
    assert said[1]["phrase"] == "boil the water"
    assert {mention["id"] for mention in said.values()} == {None}  # not for edits
    assert len(read_result(work).task.videos) == 5  # the job itself is as it was
    place = {"op": "place", "step": 0, "video": "Zoe", "time": 1.0, "start": 0.0, "end": 2.0}
    assert served.edit(1, do=place)[0] == 400


def test_a_missing_model_is_reported(served, work) -> None:
    assert drop(served, "Zoe.srt", SRT)[0] == 200
    end = time.monotonic() + 30
    while not served.status()["remark"]:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert (work / FOLDER / "Zoe.srt").read_bytes() == SRT


@pytest.mark.parametrize(
    ("name", "body", "line"),
    [
        ("evil.exe", b"MZ", "neither a video nor a caption file"),
        ("", b"x", "neither a video nor a caption file"),
        ("report.html", b"x", "neither a video nor a caption file"),
        ("empty.srt", b"", "is empty"),
        ("large.srt", b"x" * 3000, "is larger than"),
    ],
)
def test_other_files_are_refused(served, work, monkeypatch, name, body, line) -> None:
    monkeypatch.setattr("howsteps.serve.new_videos.LARGEST_FILE", 2000)
    status, answer = drop(served, name, body)
    assert status == 400
    assert line in answer
    assert not list((work / FOLDER).glob("*")) if (work / FOLDER).exists() else True


@pytest.mark.parametrize(
    "name", ["..%2f..%2fZoe.srt", "%2fetc%2fZoe.srt", "a%00%0aZoe.srt", ".Zoe.srt"]
)
def test_a_name_cannot_leave_the_folder(served, work, tmp_path, name) -> None:
    def kept() -> set[Path]:
        # Placing it goes on meanwhile, and exports subtitles of its own.
        return {path for path in tmp_path.rglob("*.srt") if "exports" not in path.parts}

    before = kept()
    assert drop(served, name, SRT)[0] == 200
    [new] = kept() - before
    assert new.parent == work / FOLDER
    assert new.name.isprintable()
    assert drop(served, name, SRT) == (400, "exists already\n")


@pytest.mark.parametrize("ending", [".mp4", ".en-US.srt"])
@pytest.mark.parametrize("letter", ["a", "ä"])
def test_a_long_name_keeps_its_extension(served, work, ending, letter) -> None:
    status, answer = drop(served, quote(letter * 160 + ending), SRT)
    assert status == 200
    [kept] = [path.name for path in (work / FOLDER).glob("[!.]*")]
    assert json.loads(answer)["name"] == kept
    assert kept.removesuffix(ending).encode() == (letter * 160).encode()[:160]
    assert drop(served, f"a.en-{'x' * 300}.srt", SRT)[0] == 200


def test_the_rest_of_an_upload_is_removed_at_the_next_start(work) -> None:
    (work / FOLDER).mkdir()
    (work / FOLDER / f".{'0' * 32}.part").write_bytes(b"x")
    (work / FOLDER / "Zoe.srt").write_bytes(SRT)
    Session(work).stop()
    assert [path.name for path in (work / FOLDER).iterdir()] == ["Zoe.srt"]


def test_another_site_cannot_upload_a_video(served, work) -> None:
    assert drop(served, "Zoe.srt", SRT, origin="http://evil.example")[0] == 403
    assert drop(served, "Zoe.srt", SRT, content_type="text/plain")[0] == 415
    assert not (work / FOLDER).exists()


def test_the_number_of_files_is_limited(served, monkeypatch) -> None:
    monkeypatch.setattr("howsteps.serve.new_videos.MAX_FILES", 1)
    assert drop(served, "one.srt", SRT)[0] == 200
    assert "are enough" in drop(served, "two.srt", SRT)[1]


def test_an_upload_without_free_descriptors_is_one_line(served, capfd) -> None:
    talk = http.client.HTTPConnection("127.0.0.1", served.port, timeout=20)
    talk.request("GET", f"{served.path}status", headers={"host": served.host})
    talk.getresponse().read()
    limits, taken = resource.getrlimit(resource.RLIMIT_NOFILE), []
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
    try:
        with suppress(OSError):
            while True:
                taken.append(os.dup(0))
        given = {"content-type": "application/octet-stream", "host": served.host}
        given["origin"] = f"http://{served.host}"
        talk.request("POST", f"{served.path}new-videos?name=new.srt", SRT, given)
        answer = talk.getresponse()
        status, said = answer.status, answer.read().decode()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        for descriptor in taken:
            os.close(descriptor)
    assert (status, said.count("\n"), "Too many open files" in said) == (500, 1, True)
    assert "Traceback" not in capfd.readouterr().err
    assert drop(served, "new.srt", SRT)[0] == 200
