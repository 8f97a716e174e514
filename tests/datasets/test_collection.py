"""Reading tasks from a path; broken files are reported and do not affect the others."""

import json
import os
import sys
from pathlib import Path

import pytest

from howsteps import datasets
from howsteps.errors import InputError
from howsteps.task import Caption

ENGLISH = "first you want to loosen the nuts and then you can take them off with your hand " * 3
GERMAN = "zuerst lösen wir die Muttern und dann heben wir das Auto mit dem Wagenheber an " * 4


def subrip(text: str) -> str:
    return f"1\n00:00:01,000 --> 00:00:09,000\n{text}\n"


def tagged(text: str) -> str:
    return f"WEBVTT\n\n00:01.000 --> 00:09.000\n{text}<00:00:05.000><c> now</c>\n"


def write(folder: Path, **files: str) -> Path:
    """Write files whose names have two underscores for each dot."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, "utf-8")
    return folder


def ids(collection: datasets.Collection) -> list[str]:
    return [video.id for task in collection.tasks for video in task.videos]


def reasons(collection: datasets.Collection) -> list[tuple[str, str]]:
    return [(problem.path.name, problem.reason) for problem in collection.problems]


def test_a_pipe_is_reported_and_its_captions_are_used(tmp_path: Path) -> None:
    write(tmp_path, good0__srt=subrip("lift the car"), other__mp4="")
    os.mkfifo(tmp_path / "good0.mp4")
    collection = datasets.read_tasks(tmp_path)
    [task] = collection.tasks
    assert [(video.id, video.media) for video in task.videos] == [
        ("good0", None),
        ("other", tmp_path / "other.mp4"),
    ]
    assert reasons(collection) == [("good0.mp4", "not used: is not a file")]
    [one] = datasets.read_tasks(tmp_path / "good0.srt").tasks
    assert one.videos[0].media is None
    with pytest.raises(InputError, match=r"good0\.mp4: not used: is not a file"):
        datasets.read_tasks(tmp_path / "good0.mp4")


@pytest.mark.skipif(sys.platform == "darwin", reason="file names are Unicode there")
def test_a_video_whose_path_is_not_utf8_is_set_aside(tmp_path: Path) -> None:
    write(tmp_path, a__srt=subrip("lift the car"))
    (tmp_path / os.fsdecode(b"caf\xe9.mp4")).write_bytes(b"film")
    collection = datasets.read_tasks(tmp_path)
    assert ids(collection) == ["a"]
    [(_, reason)] = reasons(collection)
    assert reason == "not used: its path is not valid UTF-8; rename it"


class TestOneFile:
    def test_captions_are_a_task_of_one_video(self, tmp_path: Path) -> None:
        write(tmp_path, abc__en__srt=subrip("lift the car"), abc__mp4="", other__mp4="")
        collection = datasets.read_tasks(tmp_path / "abc.en.srt")
        (task,) = collection.tasks
        (video,) = task.videos
        assert (task.name, video.id, video.media) == ("abc", "abc", tmp_path / "abc.mp4")
        assert video.captions == (Caption(1.0, 9.0, "lift the car"),)
        assert collection.problems == ()

    def test_a_video_with_a_language_code_in_its_name(self, tmp_path: Path) -> None:
        write(tmp_path, abc__en__srt=subrip("lift the car"), abc__en__mp4="", abc__mp4="")
        ((video,),) = (task.videos for task in datasets.read_tasks(tmp_path / "abc.en.srt").tasks)
        assert (video.id, video.media) == ("abc.en", tmp_path / "abc.en.mp4")

    def test_a_video_without_captions(self, tmp_path: Path) -> None:
        path = write(tmp_path, abc__mp4="") / "abc.mp4"
        ((video,),) = (task.videos for task in datasets.read_tasks(path).tasks)
        assert (video.id, video.media, video.captions) == ("abc", path, ())

    @pytest.mark.parametrize("name", ["abc", "abc.en"])
    def test_a_video_and_the_captions_beside_it(self, tmp_path: Path, name: str) -> None:
        others = {"abd__srt": subrip("sing"), "abc__jpg": "", "other__mp4": "", "steps__csv": ""}
        path = write(tmp_path, abc__mp4="", **others) / "abc.mp4"
        (tmp_path / f"{name}.srt").write_text(subrip("lift the car"))
        collection = datasets.read_tasks(path)
        ((video,),) = (task.videos for task in collection.tasks)
        assert (video.id, video.media) == ("abc", path)
        assert [line.text for line in video.captions] == ["lift the car"]
        assert collection.problems == ()


class TestTaskFiles:
    def test_videos_by_id(self, tmp_path: Path) -> None:
        value = {
            "task": "Change a Tyre",
            "step_names": ["jack up"],
            "videos": {
                "a": {"duration": 12.5, "asr": [[0, 2, "lift it"]], "steps": [[1, 0, 2]]},
                "b": {"duration": 9, "asr": [[1, 3, "lower it"]]},
            },
        }
        path = write(tmp_path, task__json=json.dumps(value)) / "task.json"
        collection = datasets.read_tasks(path)
        (task,) = collection.tasks
        assert task.name == "Change a Tyre"
        assert [(v.id, v.duration, v.captions) for v in task.videos] == [
            ("a", 12.5, (Caption(0.0, 2.0, "lift it"),)),
            ("b", 9.0, (Caption(1.0, 3.0, "lower it"),)),
        ]
        assert collection.problems == ()

    def test_a_list_of_videos(self, tmp_path: Path) -> None:
        value = [{"id": "a", "title": " Lift \n", "asr": [[0, 2, "lift it"]], "category": "cars"}]
        path = write(tmp_path, lift__json=json.dumps(value)) / "lift.json"
        (task,) = datasets.read_tasks(path).tasks
        assert (task.name, task.videos[0].id, task.videos[0].title) == ("lift", "a", "Lift")

    @pytest.mark.parametrize("duration", [-1.0, 0, 9e8])
    def test_an_invalid_duration(self, tmp_path: Path, duration: float) -> None:
        asr = [[0.0, 2.0, "lift the car and take off the wheel"]]
        value = {"videos": {"a": {"duration": duration, "asr": asr}}}
        collection = datasets.read_tasks(
            write(tmp_path, lift__json=json.dumps(value)) / "lift.json"
        )
        assert collection.tasks[0].videos[0].duration is None
        reason = f"video a: a duration of {duration:g} s is impossible; ignored"
        assert reasons(collection) == [("lift.json", reason)]

    @pytest.mark.slow
    def test_a_video_with_too_many_captions(self, tmp_path: Path) -> None:
        rows = [[0, 2, "lift it"]]
        value = {"videos": {"a": {"asr": rows * 100_001}, "b": {"asr": rows}}}
        path = write(tmp_path, lift__json=json.dumps(value)) / "lift.json"
        collection = datasets.read_tasks(path)
        assert [len(video.captions) for video in collection.tasks[0].videos] == [0, 1]
        reason = "video a: more than 100,000 cues cannot be captions"
        assert reasons(collection) == [("lift.json", reason)]

    def test_a_task_without_videos(self, tmp_path: Path) -> None:
        path = write(tmp_path, none__json='{"videos": {}}') / "none.json"
        with pytest.raises(InputError, match=r"none\.json: contains no usable video"):
            datasets.read_tasks(path)

    def test_broken_videos_do_not_affect_others(self, tmp_path: Path) -> None:
        value = [
            {"id": "a", "asr": [[0, 2, "one"]]},
            {"id": "a", "asr": [[0, 2, "two"]]},
            {"id": "", "asr": [[5, 2, "three"]]},
            {"id": "d", "asr": "none"},
            {"id": "e", "asr": [[0, 60, GERMAN]]},
            "what",
        ]
        path = write(tmp_path, lift__json=json.dumps(value)) / "lift.json"
        collection = datasets.read_tasks(path)
        assert ids(collection) == ["a", "a-2", "video", "d"]
        assert reasons(collection) == [
            ("lift.json", "the video name 'a' is used twice; called 'a-2'"),
            ("lift.json", "a video without a name is called 'video'"),
            (
                "lift.json",
                "video video: entry 1: has impossible times, or none; estimated "
                "from the lines around it",
            ),
            ("lift.json", "video d: has no captions"),
            ("lift.json", "video e: the narration is not English; skipped"),
            ("lift.json", "a video without a name is called 'video-2'"),
            ("lift.json", "video video-2: is not an object; left out"),
        ]


class TestFolders:
    def test_the_captions_of_a_folder_are_one_task(self, tmp_path: Path) -> None:
        folder = write(
            tmp_path / "change a tyre",
            b__srt=subrip("lower it"),
            a__en__vtt=tagged("lift it"),
            c__txt=json.dumps([[0, 1, "drive off"]]),
            a__mkv="",
            film__mp4="",
            README__md="# captions",
            notes__txt="buy nuts",
            __hidden="x",
        )
        collection = datasets.read_tasks(folder)
        (task,) = collection.tasks
        assert task.name == "change a tyre"
        assert [(video.id, video.media) for video in task.videos] == [
            ("a", folder / "a.mkv"),
            ("b", None),
            ("c", None),
            ("film", folder / "film.mp4"),
        ]
        [remark] = collection.problems
        assert remark.path.name == "notes.txt"
        assert remark.harmless

    def test_unused_and_renamed_videos_are_reported(self, tmp_path: Path) -> None:
        folder = write(tmp_path / "tyre", A__mp4="", a__mp4="", b__mkv="", b__mp4="")
        collection = datasets.read_tasks(folder)
        assert ids(collection) == ["A", "a-2", "b"]
        assert reasons(collection) == [
            ("a.mp4", "the video name 'a' is used twice; called 'a-2'"),
            ("b.mp4", "not used: the video is read from b.mkv"),
        ]

    def test_only_steps_csv_is_ground_truth(self, tmp_path: Path) -> None:
        folder = write(
            tmp_path / "tyre",
            steps__csv="video,step,start,end\na,lift,1,2\n",
            **{"the first steps__csv": "start,end,text\n1,2,lift it\n"},
        )
        collection = datasets.read_tasks(folder)
        assert ids(collection) == ["the first steps"]
        assert collection.problems == ()

    def test_english_is_preferred(self, tmp_path: Path) -> None:
        folder = write(
            tmp_path / "tyre",
            a__de__srt=subrip(GERMAN),
            a__en__srt=subrip("one"),
            a__en_US__srt=subrip("two"),
            a__srt=subrip("three"),
        )
        collection = datasets.read_tasks(folder)
        assert collection.tasks[0].videos[0].captions[0].text == "one"
        assert collection.problems == ()

    def test_word_times_are_preferred(self, tmp_path: Path) -> None:
        folder = write(
            tmp_path / "tyre", a__en__srt=subrip("lift it"), a__en__vtt=tagged("lift it")
        )
        assert datasets.read_tasks(folder).tasks[0].videos[0].captions[0].words

    def test_a_broken_file_is_replaced_by_the_next_best(self, tmp_path: Path) -> None:
        folder = write(tmp_path / "tyre", a__en__srt="broken", a__srt=subrip("lift it"))
        collection = datasets.read_tasks(folder)
        assert ids(collection) == ["a"]
        assert reasons(collection) == [
            ("a.en.srt", "is in no known caption format, such as SubRip, WebVTT or JSON")
        ]

    def test_broken_and_unrelated_files_do_not_affect_others(self, tmp_path: Path) -> None:
        folder = write(
            tmp_path / "tyre", a__srt=subrip(ENGLISH), b__srt=subrip(GERMAN), c__srt="", d__srt="?"
        )
        (folder / "e.srt").write_bytes(bytes(range(256)) * 4)
        collection = datasets.read_tasks(folder)
        assert ids(collection) == ["a"]
        assert reasons(collection) == [
            ("b.srt", "the narration is not English; skipped"),
            ("c.srt", "the file is empty"),
            ("d.srt", "is in no known caption format, such as SubRip, WebVTT or JSON"),
            ("e.srt", "is a binary file, not captions"),
        ]

    def test_task_files_and_sub_folders(self, tmp_path: Path) -> None:
        videos = [{"id": "a", "asr": [[0, 2, "one"]]}]
        write(tmp_path / "data", one__json=json.dumps(videos), bad__json="{")
        write(tmp_path / "data" / "more", two__json=json.dumps(videos), x__srt=subrip("lift"))
        write(tmp_path / "data" / "again", one__json=json.dumps(videos))
        collection = datasets.read_tasks(tmp_path / "data")
        assert [task.name for task in collection.tasks] == ["one", "one-2", "two", "more"]
        assert [path for path, _ in reasons(collection)] == ["bad.json", "one.json"]

    def test_no_other_folder_changes_the_name_of_a_job(self, tmp_path: Path) -> None:
        def names() -> list[str]:
            return [task.name for task in datasets.read_tasks(tmp_path).tasks]

        write(tmp_path / "a" / "steak", x__srt=subrip("lift"))
        assert names() == ["a steak"]
        for folder in ("0", "b"):
            write(tmp_path / folder / "steak", x__srt=subrip("lift"))
        assert names() == ["0 steak", "a steak", "b steak"]

    def test_the_project_file_of_one_of_several_jobs_is_a_remark(self, tmp_path: Path) -> None:
        for folder in (tmp_path, tmp_path / "tea"):
            write(folder, howsteps__toml="steps = 4", x__srt=subrip("lift"))
        [remark] = datasets.read_tasks(tmp_path).problems
        assert remark.path == tmp_path / "tea" / "howsteps.toml"
        assert (remark.reason[:8], remark.harmless) == ("not used", True)

    def test_a_work_folder_is_not_read(self, tmp_path: Path) -> None:
        """Its exports look like captions."""
        write(tmp_path / "steps" / "exports", a__srt=subrip("lift"))
        (tmp_path / "steps" / ".howsteps").touch()
        assert datasets.read_tasks(tmp_path).tasks == ()
        with pytest.raises(InputError, match="is a work folder"):
            datasets.read_tasks(tmp_path / "steps")


def test_a_video_of_hundreds_of_hours_is_set_aside(tmp_path: Path) -> None:
    line = "1\n{}:00:00,000 --> {}:00:02,000\nfill the tub with water\n"
    (tmp_path / "ann.srt").write_text(line.format(277, 277))
    (tmp_path / "bob.srt").write_text(line.format("01", "01"))
    (tmp_path / "bob.info.json").write_text('{"duration": 1000000}')
    (tmp_path / "cyd.srt").write_text(line.format(23, 23))
    found = datasets.read_tasks(tmp_path)
    assert [video.id for task in found for video in task.videos] == ["cyd"]
    assert [problem.reason.partition(",")[0] for problem in found.problems] == [
        "not used: ann lasts 277 hours",
        "not used: bob lasts 278 hours",
    ]
