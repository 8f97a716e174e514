"""The files of a work folder."""

import json
from dataclasses import replace
from pathlib import Path

from howsteps.datasets.collection import WORK_FOLDER
from howsteps.pipeline.work_folder import mark, remove_if_empty, script_document
from howsteps.script import discover
from howsteps.task import Mention, Script, Step, Task, Video
from tests.script import spoken

WASH = ("fill tub; catch cat; dry cat", "fill tub; dry cat; catch cat", "fill tub; catch cat")


class TestScriptDocument:
    def test_one_task_stands_at_the_top(self) -> None:
        task = spoken.task(*WASH, name="wash a cat")
        script = discover(task, steps=5, mode="default")
        found = json.loads(json.dumps(script_document([(task, script)])))
        assert list(found) == ["version", "task", "steps", "alignment", "order"]
        assert (found["version"], found["task"]) == (1, "wash a cat")
        step = found["steps"][0]
        assert set(step) == {
            *("label", "support", "stability", "optional", "alternative"),
            *("relations", "examples", "mentions"),
        }
        assert set(step["relations"][0]) == {"verb", "noun", "count"}
        assert set(step["mentions"][0]) == {"video", "start", "end", "verb", "noun"}
        assert set(found["alignment"]) == {"objective", "objective_per_token", "bound"}
        assert set(found["order"]) == {"swaps", "optional"}

    def test_several_tasks_stand_under_their_names(self) -> None:
        task = spoken.task(*WASH, name="a")
        script = discover(task, steps=5, mode="default")
        both = script_document([(task, script), (replace(task, name="b"), script)])
        assert set(both["tasks"]) == {"a", "b"}

    def test_times_are_written_to_the_millisecond(self) -> None:
        mention = Mention("v", "dry", "cat", "dry the cat", 0.1 + 0.2, 2 / 3)
        task = Task("wash", (Video("v", mentions=(mention,)),))
        written = script_document([(task, Script((Step("dry the cat", (mention,)),)))])
        [found] = written["steps"][0]["mentions"]
        assert (found["start"], found["end"]) == (0.3, 0.667)


class TestRemoveIfEmpty:
    def test_a_folder_without_results_goes(self, tmp_path: Path) -> None:
        mark(tmp_path / "out")
        remove_if_empty(tmp_path / "out")
        assert not (tmp_path / "out").exists()

    def test_a_folder_with_anything_in_it_stays(self, tmp_path: Path) -> None:
        mark(tmp_path)
        (tmp_path / "notes.txt").write_text("mine")
        remove_if_empty(tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == {WORK_FOLDER, "notes.txt"}

    def test_a_folder_that_is_not_there_is_no_error(self, tmp_path: Path) -> None:
        remove_if_empty(tmp_path / "nowhere")
