"""The demo's captions are rendered from their source, and read back word for word."""

import csv
import tomllib
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
