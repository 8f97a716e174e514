"""The demo's captions are rendered from their source, and read back word for word."""

import csv
import tomllib
from collections import Counter
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest

from howsteps import datasets
from howsteps.captions import read_captions
from howsteps.captions.words import words_of
from howsteps.task import Word
from training import demo_captions as rendering

DEMO = Path(str(files("howsteps") / "demo"))
SOURCE = DEMO / "narrations.toml"
STEPS = tomllib.loads(SOURCE.read_text(encoding="utf-8"))["steps"]
NARRATIONS = rendering.read_source(SOURCE)
ENGLISH = [narration for narration in NARRATIONS if ".es." not in narration.file]

every_narration = pytest.mark.parametrize("narration", NARRATIONS, ids=lambda n: n.file)
every_english = pytest.mark.parametrize("narration", ENGLISH, ids=lambda n: n.id)


def said(narration) -> list[Word]:
    """The spoken words of the source with their times."""
    sentences = rendering.spoken_sentences(narration)
    return [word for _, words in sentences for word in words if not word.text.startswith("[")]


class TestRendering:
    def test_every_file_is_what_the_source_gives(self):
        for name, content in rendering.render(NARRATIONS).items():
            assert (DEMO / name).read_bytes() == content, name

    def test_no_file_is_left_from_before(self):
        rendered = {narration.file for narration in NARRATIONS}
        assert {path.name for path in (DEMO / "fix_a_flat_bike_tire").iterdir()} == rendered


class TestReading:
    @every_narration
    def test_every_word_is_read_once_and_nothing_is_repaired(self, narration):
        reading = read_captions(DEMO / "fix_a_flat_bike_tire" / narration.file)
        assert [w.text for w in words_of(reading.captions)] == [w.text for w in said(narration)]
        assert reading.problems == ()

    @every_narration
    def test_words_have_their_times(self, narration):
        reading = read_captions(DEMO / "fix_a_flat_bike_tire" / narration.file)
        # A line that runs over the end of a sentence hides a breath.
        slack = 0.001 if any(line.words for line in reading.captions) else 0.5
        for heard, told in zip(words_of(reading.captions), said(narration), strict=True):
            assert heard.start == pytest.approx(told.start, abs=slack)

    def test_the_folder_is_one_task_read_in_english(self):
        collection = datasets.read_tasks(DEMO / "fix_a_flat_bike_tire")
        (task,) = collection.tasks
        assert [video.id for video in task.videos] == sorted(n.id for n in ENGLISH)
        heard = {video.id: [w.text for w in words_of(video.captions)] for video in task.videos}
        assert heard == {n.id: [w.text for w in said(n)] for n in ENGLISH}
        assert {problem.path.name for problem in collection.problems} <= {"ines.es.srt"}


class TestNarrations:
    @every_english
    def test_a_narration_is_as_long_and_as_fast_as_people_speak(self, narration):
        assert 110 <= len(said(narration)) <= 220
        assert 2.0 <= narration.pace <= 3.2
        assert all(s.pause == rendering.BREATH or 2 <= s.pause <= 8 for s in narration.says)

    def test_three_are_punctuated_and_the_others_like_automatic_captions(self):
        styles = Counter(narration.style for narration in ENGLISH)
        assert styles == {"automatic": 10, "punctuated": 3}
        for narration in NARRATIONS:
            text = " ".join(word.text for word in said(narration))
            plain = text == text.lower() and not set(text) & set(".,!?;:")
            assert plain == (narration.style == "automatic"), narration.id

    def test_every_step_is_done_in_most_videos_but_not_every_video_does_all(self):
        done = Counter(action.step for n in ENGLISH for action in rendering.actions(n))
        assert set(done) == set(STEPS)
        assert min(done.values()) > len(ENGLISH) / 2
        assert sum(done.values()) < len(ENGLISH) * len(STEPS)

    def test_one_narrator_swaps_two_steps(self):
        orders = {
            n.id: [STEPS.index(action.step) for action in rendering.actions(n)] for n in ENGLISH
        }
        assert [who for who, order in orders.items() if order != sorted(order)] == ["mei"]


class TestTrueSteps:
    @every_english
    def test_steps_lie_one_after_another_within_the_narration(self, narration):
        with (DEMO / "steps.csv").open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["video"] == narration.id]
        times = [(float(row["start"]), float(row["end"])) for row in rows]
        assert times
        assert all(start < end for start, end in times)
        assert all(end <= start for (_, end), (start, _) in pairwise(times))
        assert times[0][0] > said(narration)[0].start
        assert times[-1][1] <= said(narration)[-1].end

    @every_english
    def test_a_step_follows_its_mention_within_two_seconds(self, narration):
        assert 0 <= narration.lag <= 2
        named = [words[-1].end for s, words in rendering.spoken_sentences(narration) if s.step]
        starts = [action.start for action in rendering.actions(narration)]
        assert starts == [pytest.approx(end + narration.lag) for end in named]
