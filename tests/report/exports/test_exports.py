"""Every export, read back by an independent program."""

import csv
import json
import re
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import av
import opentimelineio
import pympi
import pysubs2
import pytest
import webvtt
from hypothesis import given
from hypothesis import strategies as st

from howsteps.api import export
from howsteps.errors import HowstepsError
from howsteps.report.exports import FORMATS
from howsteps.report.exports.chapters import Chapter, PlacedVideo, Span, youtube_chapters
from howsteps.report.exports.documents import label_studio_text
from howsteps.report.exports.timelines import edl_text, otio_text
from howsteps.task import LIKE_SAID, SAID, Localisation, Result, Video
from tests.report.exports.conftest import SHOWN, written


def placed(result: Result, video: Video, *, guesses: bool = False) -> PlacedVideo:
    return PlacedVideo.of(result, video, lambda: Fraction(25), guesses=guesses)


class TestSpans:
    @pytest.mark.slow
    def test_guesses_are_left_out_by_default(self, result: Result) -> None:
        short = result.task.videos[2]
        assert placed(result, short).spans == []
        assert len(placed(result, short, guesses=True).spans) == 4

    def test_a_guess_with_a_mention_is_kept(self, result: Result) -> None:
        short = result.task.videos[2]
        said = [
            replace(place, evidence=SAID if place.step == 1 else LIKE_SAID)
            for place in result.localisations
        ]
        told = replace(result, localisations=tuple(said))
        assert [span.step for span in placed(told, short).spans] == [1]

    def test_an_absent_step_has_no_span(self, result: Result) -> None:
        assert [span.step for span in placed(result, result.task.videos[1]).spans] == [0, 1, 3]

    def test_chapters_follow_one_another_to_the_end(self, result: Result, one: Video) -> None:
        found = placed(result, one).chapters
        assert [chapter.start for chapter in found] == [12.0, 25.0, 31.0, 50.0]
        assert [chapter.end for chapter in found] == [25.0, 31.0, 50.0, 62.0]


class TestAgain:
    def test_chapters_of_an_earlier_script_are_removed(self, result: Result, folder: Path) -> None:
        [*before], _ = export(result, folder, ["youtube"])
        assert before
        nothing = tuple(replace(place, time=None) for place in result.localisations)
        export(replace(result, localisations=nothing), folder, ["youtube"])
        assert not any(path.exists() for path in before)


class TestNames:
    @pytest.mark.slow
    def test_no_file_leaves_the_folder(self, result: Result, folder: Path) -> None:
        names = [name for name in FORMATS if name != "clips"]
        paths, _ = export(result, folder, [*names, "clips"], guesses=True)
        everything = [p for p in folder.parent.parent.rglob("*") if p.is_file()]
        assert {path.resolve() for path in paths} <= {path.resolve() for path in everything}
        assert all(folder.resolve() in path.resolve().parents for path in everything)

    def test_an_unknown_format_is_an_error_with_the_choices(
        self, result: Result, folder: Path
    ) -> None:
        with pytest.raises(HowstepsError, match=r"'vt'.*vtt, srt"):
            export(result, folder, ["vt"])


class TestChapterFiles:
    def test_webvtt(self, result: Result, folder: Path) -> None:
        path = next(p for p in written(result, folder, "vtt") if p.stem == "one")
        cues = list(webvtt.read(str(path)))
        assert [cue.start_in_seconds for cue in cues] == [12, 25, 31, 50]
        assert cues[-1].end_in_seconds == 62
        texts = [
            cue.text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") for cue in cues
        ]
        assert texts == list(SHOWN)

    def test_subrip(self, result: Result, folder: Path) -> None:
        path = next(p for p in written(result, folder, "srt") if p.stem == "one")
        events = pysubs2.load(str(path)).events
        assert [event.start for event in events] == [12_000, 25_000, 31_000, 50_000]
        assert events[0].plaintext == SHOWN[0]
        assert "second line" in events[1].plaintext

    @pytest.mark.slow
    def test_the_copy_with_chapters(self, result: Result, folder: Path, one: Video) -> None:
        [film] = written(result, folder, "video")
        with av.open(str(film)) as container:
            base = [c["time_base"] for c in container.chapters()]
            held = [
                (round(1000 * c["start"] * b), c["metadata"]["title"])
                for c, b in zip(container.chapters(), base, strict=True)
            ]
        assert held == [
            (0, "Start"),
            (12_000, SHOWN[0]),
            (25_000, SHOWN[1]),
            (31_000, SHOWN[2]),
            (50_000, SHOWN[3]),
        ]


class TestYouTube:
    def test_lines_begin_at_zero_and_are_ten_seconds_apart(
        self, result: Result, folder: Path
    ) -> None:
        path = next(p for p in written(result, folder, "youtube") if p.stem == "one")
        lines = path.read_text("utf-8").splitlines()
        times = [
            int(line.split()[0].split(":")[0]) * 60 + int(line.split()[0].split(":")[1])
            for line in lines
        ]
        assert times == [0, 12, 25, 50]
        assert lines[0] == "0:00 Start"
        assert "<" not in path.read_text("utf-8")
        assert lines[2].endswith(f" · {SHOWN[2]}")

    def test_too_few_chapters_are_reported(self, result: Result, folder: Path) -> None:
        paths, problems = export(result, folder, ["youtube"])
        assert "short" not in {path.stem for path in paths}
        assert any("at least 3 chapters" in problem.reason for problem in problems)

    @given(
        st.lists(st.floats(0, 4000, allow_nan=False), unique_by=int, min_size=1, max_size=30).map(
            sorted
        ),
        st.floats(0, 100),
    )
    def test_the_rules_hold_for_random_steps(self, starts: list[float], rest: float) -> None:
        ends = [*starts[1:], starts[-1] + rest]
        given_chapters = [
            Chapter(start, end, f"step {n}")
            for n, (start, end) in enumerate(zip(starts, ends, strict=True))
        ]
        joined = youtube_chapters(given_chapters)
        times = [start for start, _ in joined]
        assert times[0] == 0
        assert all(b - a >= 10 for a, b in pairwise(times))
        assert len(times) == 1 or ends[-1] - times[-1] >= 10
        titles = ", ".join(title for _, title in joined)
        assert all(chapter.title in titles for chapter in given_chapters)


class TestTables:
    def test_no_cell_is_a_formula(self, result: Result, folder: Path) -> None:
        [path] = written(result, folder, "csv")
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == 12
        assert not any(cell[:1] in "=+-@\t\r" for row in rows for cell in row.values() if cell)
        assert rows[1]["step"] == f"'{SHOWN[1]}"
        assert (rows[0]["start"], rows[0]["number"]) == ("12.000", "1")
        assert rows[6]["time"] == ""  # absent

    def test_label_studio_regions_are_known_to_the_interface(
        self, result: Result, folder: Path
    ) -> None:
        tasks, interface = written(result, folder, "label-studio")
        view = ET.fromstring(interface.read_text("utf-8"))  # noqa: S314 - our own file
        known = {label.get("value") for label in view.iter("Label")}
        assert known == set(SHOWN)
        first = json.loads(tasks.read_text("utf-8"))[0]
        regions = first["predictions"][0]["result"]
        assert [region["value"]["ranges"][0]["start"] for region in regions] == [
            301,
            626,
            776,
            1251,
        ]
        assert {region["to_name"] for region in regions} == {view.find("Video").get("name")}
        assert {r["value"]["timelinelabels"][0] for r in regions} == known

    def test_label_studio_finds_a_file_with_special_characters(self, result: Result) -> None:
        first = replace(result.task.videos[0], media=Path("tea & milk #1 50%.mp4"))
        task = replace(result.task, videos=(first,))
        [told] = json.loads(label_studio_text([placed(replace(result, task=task), first)]))
        asked = parse_qs(urlsplit(told["data"]["video"]).query)
        assert asked == {"d": ["tea & milk #1 50%.mp4"]}


class TestEditing:
    @pytest.mark.parametrize("name", ["edl", "otio"])
    def test_video_editors_see_the_steps(self, result: Result, folder: Path, name: str) -> None:
        path = next(p for p in written(result, folder, name) if p.stem == "one")
        timeline = opentimelineio.adapters.read_from_file(
            str(path), **({"rate": 25} if name == "edl" else {})
        )
        [track] = timeline.video_tracks()
        clips = [item for item in track if isinstance(item, opentimelineio.schema.Clip)]
        starts = [clip.source_range.start_time.to_seconds() for clip in clips]
        assert starts == [12.0, 25.0, 31.0, 50.0]
        assert [clip.source_range.duration.to_seconds() for clip in clips] == [5.0] * 4

    def test_a_timeline_names_its_clips_and_lasts_as_long_as_the_video(
        self, result: Result, folder: Path
    ) -> None:
        path = next(p for p in written(result, folder, "otio") if p.stem == "one")
        timeline = opentimelineio.adapters.read_from_file(str(path))
        clips = timeline.find_clips()
        assert [clip.name for clip in clips] == list(SHOWN)
        assert timeline.duration().to_seconds() == 62.0
        assert clips[0].media_reference.target_url.endswith("one.mp4")

    def test_clips_of_a_timeline_have_their_times_in_the_video(self, one: Video) -> None:
        rough = [
            Span(n, str(n), 4.37 * n + 0.019, 4.37 * n + 2.03, Localisation("one", n, 0.0))
            for n in range(12)
        ]
        text = otio_text(PlacedVideo(one, rough, 62.0))
        read = opentimelineio.adapters.read_from_string(text, "otio_json")
        for clip in read.find_clips():
            assert clip.range_in_parent().start_time == clip.source_range.start_time

    @pytest.mark.parametrize(
        ("rate", "code"),
        [
            (Fraction(30), "00:10:00:00"),
            (Fraction(30_000, 1001), "00:09:59:12"),
            (Fraction(2985, 100), "00:09:59:12"),  # a phone, in the dark: 29.97 by its own account
            (Fraction(15), "00:10:00:00"),
        ],
    )
    def test_timecodes_use_a_standard_frame_rate(self, rate: Fraction, code: str) -> None:
        late = Span(0, "late", 600.0, 610.0, Localisation("one", 0, 600.0))
        assert f" {code} " in edl_text(PlacedVideo(Video("one"), [late], 610.0, lambda: rate))

    def test_elan_has_a_tier_of_steps(self, result: Result, folder: Path) -> None:
        path = next(p for p in written(result, folder, "elan") if p.stem == "one")
        document = pympi.Elan.Eaf(str(path))
        rows = sorted(document.get_annotation_data_for_tier("steps"))
        assert [row[0] for row in rows] == [12_000, 25_000, 31_000, 50_000]
        assert [row[2] for row in rows] == list(SHOWN)


class TestHowTo:
    @pytest.mark.slow
    def test_every_step_is_numbered_and_has_a_picture_if_possible(
        self, result: Result, folder: Path
    ) -> None:
        page, printed = written(result, folder, "howto")
        text = page.read_text("utf-8")
        assert text.startswith("# Wash a cat\n")
        assert re.findall(r"^(\d)\. \*\*", text, re.MULTILINE) == ["1", "2", "3", "4"]
        pictures = re.findall(r"^    !\[Step \d\]\((.*)\)$", text, re.MULTILINE)
        assert len(pictures) == 4
        assert all((page.parent / picture).is_file() for picture in pictures)
        assert re.findall('<img src="(.*?)"', printed.read_text("utf-8")) == pictures

    def test_it_is_written_without_pictures_of_a_missing_video(
        self, result: Result, folder: Path
    ) -> None:
        first, *others = result.task.videos
        gone = replace(first, media=folder / "gone.mp4")
        task = replace(result.task, videos=(gone, *others))
        page, printed = written(replace(result, task=task), folder, "howto")
        assert "![" not in page.read_text("utf-8")
        assert "<img" not in printed.read_text("utf-8")

    def test_moments_are_links_and_steps_are_marked(self, result: Result, folder: Path) -> None:
        first, *others = result.task.videos
        online = replace(first, media=None, youtube="abcdefghijk")
        one, two, *more = result.script.steps
        steps = (replace(one, optional=True), replace(two, alternative=True), *more)
        told = replace(
            result,
            task=replace(result.task, videos=(online, *others)),
            script=replace(result.script, steps=steps),
        )
        for path in written(told, folder, "howto"):
            text = path.read_text("utf-8")
            assert "https://youtu.be/abcdefghijk?t=12" in text
            assert text.count("(optional)") == 1
            assert len(re.findall(r"\bor:(?:</span>)? [*<]", text)) == 1

    def test_it_is_written_without_pictures_if_pyav_is_missing(
        self, result: Result, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "av", None)
        [page, _], [problem] = export(result, folder, ["howto"])
        assert "![" not in page.read_text("utf-8")
        assert "howsteps[vision]" in problem.reason
