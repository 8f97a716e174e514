"""Downloads of yt-dlp."""

import json
from pathlib import Path
from typing import Any

import pytest

from howsteps import datasets
from howsteps.datasets.collection import with_details
from howsteps.task import Caption, Chapter, Video
from tests.datasets.test_collection import ENGLISH, GERMAN, reasons, subrip

ID = "dQw4w9WgXcQ"
INFO = {
    "id": ID,
    "title": "How to: change a tire?",
    "duration": 95,
    "language": "en",
    "extractor_key": "Youtube",
    "chapters": [
        {"start_time": 40.0, "end_time": 95.0, "title": "Jack it up"},
        {"start_time": 0.0, "end_time": 40.0, "title": "Loosen"},
    ],
}


def details(tmp_path: Path, value: Any, stem: str = f"a [{ID}]") -> Video:
    path = tmp_path / "a.info.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return with_details(Video("a"), stem, path)[0]


def test_a_download_folder(tmp_path: Path) -> None:
    folder = tmp_path / "change a tire"
    folder.mkdir()
    stem = f"How to： change a tire？ [{ID}]"
    other = "Second one [aaaaaaaaaaa]"
    for name, text in {
        f"{stem}.en.vtt": subrip(ENGLISH),
        f"{stem}.en-orig.vtt": subrip(ENGLISH),
        f"{stem}.info.json": json.dumps(INFO),
        f"{stem}.description": "buy our mugs",
        f"{stem}.webp": "",
        f"{stem}.live_chat.json": '{"replayChatItemAction": {}}\n{}\n',
        f"{other}.de.vtt": subrip(GERMAN),
        f"{other}.f137.mp4.part": "",
        f"{other}.mp4.ytdl": "",
        f"{other}.temp.mp4": "",
        "Third [bbbbbbbbbbb].info.json": json.dumps({**INFO, "id": "bbbbbbbbbbb"}),
        "change a tire [change a tire].info.json": json.dumps({"_type": "playlist"}),
    }.items():
        (folder / name).write_text(text, "utf-8")
    collection = datasets.read_tasks(folder)
    [task] = collection.tasks
    [video] = task.videos
    assert (task.name, video.id) == ("change a tire", stem)
    assert (video.title, video.youtube) == ("How to: change a tire?", ID)
    assert (video.duration, video.language) == (95.0, "en")
    assert video.chapters == (Chapter(0.0, "Loosen"), Chapter(40.0, "Jack it up"))
    unfinished = "skipped: a download that is not finished, or a live chat"
    assert sorted(reasons(collection)) == sorted(
        [
            (f"{stem}.live_chat.json", unfinished),
            (f"{other}.f137.mp4.part", unfinished),
            (f"{other}.mp4.ytdl", unfinished),
            (f"{other}.temp.mp4", unfinished),
            (f"{other}.de.vtt", "the narration is not English; skipped"),
        ]
    )
    lost = [problem.path.name for problem in collection.problems if not problem.harmless]
    assert lost == [f"{other}.de.vtt"]
    [alone] = datasets.read_tasks(folder / f"{stem}.en.vtt").tasks
    assert alone.videos == task.videos


def test_unmerged_streams_are_one_video(tmp_path: Path) -> None:
    (tmp_path / f"a [{ID}].f137.mp4").touch()
    (tmp_path / f"a [{ID}].f140.m4a").touch()
    (tmp_path / f"a [{ID}].en.srt").write_text(subrip(ENGLISH))
    [video] = datasets.read_tasks(tmp_path).tasks[0].videos
    assert (video.id, video.media) == (f"a [{ID}]", tmp_path / f"a [{ID}].f137.mp4")
    (tmp_path / f"a [{ID}].mkv").touch()
    [video] = datasets.read_tasks(tmp_path).tasks[0].videos
    assert video.media == tmp_path / f"a [{ID}].mkv"


class TestDetails:
    def test_the_duration_is_at_least_that_of_the_captions(self, tmp_path: Path) -> None:
        video = Video("a", (Caption(0, 120, "lift the car"),))
        (path := tmp_path / "a.info.json").write_text(json.dumps(INFO))
        assert with_details(video, "a", path)[0].duration == 120.0
        assert with_details(video, "a", None)[0].duration is None

    @pytest.mark.parametrize("stem", [f"Why？ [{ID}]", "Why [not eleven]", ID])
    def test_title_and_id_from_the_name(self, stem: str) -> None:
        expected = Video("a", title="Why?", youtube=ID) if "？" in stem else Video("a")
        assert with_details(Video("a"), stem, None) == (expected, [])

    def test_another_site_is_not_youtube(self, tmp_path: Path) -> None:
        found = details(tmp_path, {**INFO, "extractor_key": "Vimeo"})
        assert (found.youtube, found.title) == (None, INFO["title"])

    @pytest.mark.parametrize(
        "change",
        [
            {"id": "../../../etc"},
            {"id": 'x" onload="'},
            {"title": "a\x1b[31m\nb"},
            {"duration": -3},
            {"duration": 1e9},
            {"language": "<script>"},
            {"language": None, "chapters": None, "title": None},
            {"chapters": [{"start_time": -1, "title": "y"}, {"start_time": 3}]},
        ],
    )
    def test_invalid_values_are_ignored(self, tmp_path: Path, change: dict[str, Any]) -> None:
        found = details(tmp_path, {**INFO, **change}, "a")
        assert found.youtube in {ID, None}
        assert "\x1b" not in found.title
        assert found.duration in {95.0, None}
        assert found.language in {"en", ""}
        for name in change:
            value = getattr(found, {"id": "youtube"}.get(name, name))
            assert name == "title" or value in (None, "", ())

    @pytest.mark.parametrize(
        "text", ["", "{", "[]", "null", "[" * 100_000, "\x00", '{"chapters": 3}']
    )
    def test_invalid_json_is_a_remark(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "a.info.json"
        path.write_text(text)
        found, [remark] = with_details(Video("a"), f"a [{ID}]", path)
        assert found == Video("a", title="a", youtube=ID)
        assert (remark.path, remark.harmless) == (path, True)
