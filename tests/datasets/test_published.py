"""Ground truth in all formats: task files, COIN, CrossTask, feature folders."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from howsteps.datasets import registry
from howsteps.datasets.annotations import Labelled
from howsteps.datasets.task_file import read_judgements
from howsteps.errors import InputError
from howsteps.task import Annotation, Relation


def write_json(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value))
    return path


def fault(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        registry.read_truth(path)
    return str(caught.value)


def labelled(folder: Path, **options: Any) -> Labelled:
    [found] = registry.read_labelled(folder, **options)
    return found


class TestTaskFile:
    def task(self, *rows: Any, duration: Any = 60.0, **changes: Any) -> dict[str, Any]:
        videos = {
            "u": {"duration": duration, "asr": [], "steps": list(rows)},
            "unlabelled": {"duration": 5, "asr": []},
        }
        return {"task": "Tea", "step_names": ["boil", "pour"], "videos": videos, **changes}

    def test_steps_count_from_one(self, tmp_path):
        path = write_json(tmp_path / "tea.json", self.task([2, 30, 40.5], [1, 3, 9]))
        [tea] = registry.read_truth(path)
        assert (tea.task, tea.steps) == ("Tea", ("boil", "pour"))
        assert tea.annotations == (Annotation("u", 0, 3, 9), Annotation("u", 1, 30, 40.5))
        assert dict(tea.durations) == {"u": 60.0}

    def test_overlapping_rows_are_merged_and_ends_clipped(self, tmp_path):
        rows = [1, 3, 9], [1, 8, 11], [2, 50, 60.4]
        found = registry.read_truth(write_json(tmp_path / "tea.json", self.task(*rows)))
        [tea] = found
        assert tea.annotations == (Annotation("u", 0, 3, 11), Annotation("u", 1, 50, 60))
        assert all(problem.harmless for problem in found.problems)
        assert len(found.problems) == 2

    @pytest.mark.parametrize(
        ("row", "reason"),
        [
            ([3, 0, 1], "row 2 of steps: step 3 is unknown: there are 2 steps"),
            ([0, 0, 1], "step 0 is unknown"),
            ([1, 70, 80], "70–80 s is not a time span inside a video of 60 s"),
            ([1, 50, 62], "50–62 s is not a time span inside a video of 60 s"),
            ([1, -1, 5], "-1–5 s is not a time span"),
        ],
    )
    def test_bad_rows(self, tmp_path, row, reason):
        message = fault(write_json(tmp_path / "tea.json", self.task([1, 3, 9], row)))
        assert message.startswith(f"{tmp_path / 'tea.json'}: video u, row 2 of steps: ")
        assert reason in message

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"step_names": ["boil", "boil"]}, "the same name twice"),
            ({"step_names": []}, "step_names: expected array of length >= 1"),
            ({"step_names": ["boil", 3]}, "step_names[1]: expected str, got int"),
            ({"videos": {"u": {"asr": []}}}, "no video with steps"),
            ({"videos": {"u": {"steps": {}}}}, "steps: expected array | null, got object"),
            ({"videos": {"u": {"steps": [[1, 5]]}}}, "steps[0]: expected array of length 3"),
            ({"videos": {"u": {"steps": [[1, None, 5]]}}}, "steps[0][1]: expected float"),
            ({"videos": {"u": {"steps": [], "duration": "long"}}}, "duration: expected float"),
        ],
    )
    def test_bad_files(self, tmp_path, changes, reason):
        assert reason in fault(write_json(tmp_path / "tea.json", self.task(**changes)))

    def test_broken_json_is_reported_with_its_line(self, tmp_path):
        path = tmp_path / "tea.json"
        path.write_text('{"task": "tea",\n"videos": {')
        assert fault(path).startswith(f"{path}:2: is not valid JSON")

    def test_a_folder_of_task_files_skips_those_without_truth(self, tmp_path):
        write_json(tmp_path / "captions.json", [{"id": "u", "asr": []}])
        assert "contains no ground truth" in fault(tmp_path)
        write_json(tmp_path / "tea.json", self.task([1, 3, 9]))
        assert [found.task for found in registry.read_truth(tmp_path).tasks] == ["Tea"]


class TestCoin:
    def coin(self, *segments: Any, **changes: Any) -> dict[str, Any]:
        video = {
            "duration": 131.03,
            "class": "ReplaceCDDriveWithSSD",
            "video_url": "https://www.youtube.com/embed/abc",
            "start": 56.6,
            "end": 85.7,
            "subset": "training",
            "recipe_type": 131,
            "annotation": list(segments),
            **changes,
        }
        return {"database": {"abc": video}}

    def test_steps_are_sorted_by_id(self, tmp_path):
        segments = [
            {"id": "216", "segment": [71.0, 82.0], "label": "insert the tray"},
            {"id": "212", "segment": [60.0, 69.0], "label": "take out the drive"},
        ]
        [job] = registry.read_truth(write_json(tmp_path / "COIN.json", self.coin(*segments)))
        assert job.task == "ReplaceCDDriveWithSSD"
        assert job.steps == ("take out the drive", "insert the tray")
        assert job.annotations == (Annotation("abc", 0, 60, 69), Annotation("abc", 1, 71, 82))
        assert dict(job.durations) == {"abc": 131.03}

    @pytest.mark.parametrize(
        ("segment", "reason"),
        [
            ({"id": "1", "segment": [1, 2]}, ": annotation[0]: has no 'label'"),
            (
                {"id": "x", "segment": [1, 2], "label": "a"},
                ": annotation[0].id: expected int, got str",
            ),
            ({"id": "1", "segment": [1, 2], "label": " "}, ", segment 1: has no label"),
            (
                {"id": "1", "segment": [1, 900], "label": "a"},
                ", segment 1: 1–900 s is not a time span inside a video",
            ),
        ],
    )
    def test_bad_segments(self, tmp_path, segment, reason):
        message = fault(write_json(tmp_path / "COIN.json", self.coin(segment)))
        assert f"video abc{reason}" in message

    def test_bad_videos(self, tmp_path):
        good = self.coin()["database"]["abc"]
        for change, reason in (
            ({"class": ""}, "its task has no name"),
            ({"duration": None}, "duration: expected float, got null"),
            ({"annotation": None}, "annotation: expected array, got null"),
        ):
            value = {"database": {"good": good, "bad": {**good, **change}}}
            message = fault(write_json(tmp_path / "COIN.json", value))
            assert f"video bad: {reason}" in message


class TestCrossTask:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        (tmp_path / "tasks_primary.txt").write_text(
            "40567\nChange a Tire\nhttps://www.wikihow.com/Change-a-Tire\n3\n"
            "brake on,start loose,jack up\n\n"
            "23521\nMake Jello Shots\nhttps://www.wikihow.com/x\n2\npour water,stir\n\n"
        )
        (tmp_path / "videos.csv").write_text(
            "40567,a_b-C1,https://www.youtube.com/watch?v=a_b-C1\n"
            "40567,unlabelled,https://www.youtube.com/watch?v=x\n"
            "99999,related,https://www.youtube.com/watch?v=y\n"
        )
        (tmp_path / "annotations").mkdir()
        (tmp_path / "annotations" / "40567_a_b-C1.csv").write_text("3,5.5,9\n1,1,2\n")
        return tmp_path

    def test_annotated_videos_of_listed_tasks_are_read(self, folder):
        [tire] = registry.read_truth(folder)
        assert (tire.task, tire.steps[1]) == ("Change a Tire", "start loose")
        assert tire.annotations == (Annotation("a_b-C1", 0, 1, 2), Annotation("a_b-C1", 2, 5.5, 9))
        assert list(tire.durations) == ["a_b-C1"]

    @pytest.mark.parametrize(
        ("row", "reason"),
        [
            ("4,0,1", "step 4 is unknown: there are 3 steps"),
            ("0,0,1", "step 0 is unknown"),
            ("jack,0,1", "step jack is unknown"),
            ("1,-3,1", "-3–1 s is not a time span"),
            ("1,x,1", "a time is 'x', not a number"),
            ("1,2", "has 2 columns, not 3"),
        ],
    )
    def test_a_bad_row_is_reported_with_file_and_line(self, folder, row, reason):
        path = folder / "annotations" / "40567_a_b-C1.csv"
        path.write_text(f"1,1,2\n{row}\n")
        message = fault(folder)
        assert message.startswith(f"{path}:2: ")
        assert reason in message

    def test_an_unlisted_table_is_an_error(self, folder):
        path = folder / "annotations" / "40567_stray.csv"
        path.write_text("1,0,1\n")
        assert fault(folder).startswith(f"{path}: its task and video are not in")

    def test_an_inconsistent_list_of_tasks_is_an_error(self, folder):
        path = folder / "tasks_primary.txt"
        path.write_text(path.read_text().replace("\n3\n", "\n4\n"))
        assert fault(folder).startswith(f"{path}:4: task 40567 says 4 steps and lists 3")
        path.write_text("40567\nChange a Tire\n")
        assert fault(folder).startswith(f"{path}:1: the block of task 40567 has fewer than 5 lines")

    def test_no_annotations_are_an_error(self, folder):
        (folder / "annotations" / "40567_a_b-C1.csv").unlink()
        assert "has no table of a listed video" in fault(folder)


class TestFeatureFolder:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        for name in ("mapping", "groundTruth", "features"):
            (tmp_path / name).mkdir()
        (tmp_path / "mapping" / "mapping.txt").write_text("0 SIL\n1 take_cup\n2 pour milk\n")
        (tmp_path / "groundTruth" / "P03_milk.txt").write_text(
            "SIL\nSIL\ntake_cup\npour milk\npour milk\ntake_cup\n"
        )
        np.save(tmp_path / "features" / "P03_milk.npy", np.arange(24.0).reshape(4, 6))
        return tmp_path

    def test_runs_of_labels_become_annotations(self, folder):
        [job] = registry.read_truth(folder)
        assert job.steps == ("take_cup", "pour milk")
        found = labelled(folder, rate=2.0).truth
        assert found.annotations == (
            Annotation("P03_milk", 0, 1.0, 1.5),
            Annotation("P03_milk", 1, 1.5, 2.5),
            Annotation("P03_milk", 0, 2.5, 3.0),
        )
        assert dict(found.durations) == {"P03_milk": 3.0}

    def test_features_may_be_transposed(self, folder):
        path = folder / "features" / "P03_milk.npy"
        lying = labelled(folder).features["P03_milk"]
        np.save(path, np.arange(24.0).reshape(4, 6).T)
        standing = labelled(folder).features["P03_milk"]
        assert lying.shape == standing.shape == (2, 4)
        assert np.array_equal(lying, standing)

    @pytest.mark.parametrize(
        ("matrix", "reason"),
        [
            (np.zeros((4, 5)), "is 4×5, but 6 frames have labels"),
            (np.zeros(6), "is not a matrix"),
            (np.zeros((6, 4), dtype="S1"), "is not a matrix of finite floating point numbers"),
        ],
    )
    def test_features_of_the_wrong_shape(self, folder, matrix, reason):
        np.save(folder / "features" / "P03_milk.npy", matrix)
        with pytest.raises(InputError, match=reason):
            labelled(folder)

    def test_a_label_outside_the_mapping_is_reported_with_its_line(self, folder):
        path = folder / "groundTruth" / "P03_milk.txt"
        path.write_text("SIL\npour_milk\n")
        assert fault(folder).startswith(f"{path}:2: label 'pour_milk' is not in mapping.txt")

    def test_features_of_some_videos_only_are_an_error(self, folder):
        path = folder / "features" / "P03_milk.npy"
        path.unlink()
        with pytest.raises(InputError, match=f"{path}: no such file"):
            registry.read_labelled(folder)
        path.parent.rmdir()
        assert len(registry.read_truth(folder).tasks) == 1

    def test_a_bad_mapping_is_reported_with_its_line(self, folder):
        path = folder / "mapping" / "mapping.txt"
        path.write_text("0 SIL\n1 a\n2 a\n")
        assert fault(folder).startswith(f"{path}:3: label 'a' appears twice")
        path.write_text("0 SIL\nlabel\n")
        assert fault(folder).startswith(f"{path}:2: is not: number label")

    def test_no_labels_are_an_error(self, folder):
        (folder / "groundTruth" / "P03_milk.txt").unlink()
        assert "has no file" in fault(folder)


class TestJudgementFile:
    def test_rules_are_read(self, tmp_path):
        rules = {"lift": [{"verbs": ["jack", "lift"], "nouns": ["car"]}]}
        path = write_json(tmp_path / "judge.json", {"task": "tire", "rules": rules})
        [rule] = read_judgements(path, ("lift", "lower"))["lift"]
        assert rule.allows(Relation("jack", "car"))
        assert not rule.allows(Relation("jack", "wheel"))

    @pytest.mark.parametrize(
        ("value", "reason"),
        [
            ({}, "has no 'rules'"),
            ({"rules": {"fly": []}}, "has rules for 'fly', which is not a true step"),
            ({"rules": {"lift": [{"verbs": ["a"]}]}}, "has no 'nouns'"),
            ({"rules": {"lift": [{"verbs": ["a"], "nouns": [3]}]}}, "expected str, got int"),
        ],
    )
    def test_other_files_are_refused(self, tmp_path, value, reason):
        with pytest.raises(InputError, match=reason):
            read_judgements(write_json(tmp_path / "judge.json", value), ("lift",))


class TestBadNumbers:
    def coin(self, text: str) -> str:
        segment = '{"id": %s, "label": "boil", "segment": [1, %s]}'
        video = f'{{"class": "Tea", "duration": %s, "annotation": [{segment}]}}'
        return f'{{"database": {{"u": {video}}}}}' % tuple(text.split())

    @pytest.mark.parametrize(
        ("numbers", "reason"),
        [
            ("60 Infinity 5", "is not valid JSON"),
            (f"60 1 1{'0' * 400}", "number out of range"),
            (f"1{'0' * 5000} 1 5", "integer value out of range"),
            ("Infinity 1 5", "is not valid JSON"),
            ("1e12 1 5", "a duration of 1e+12 s is impossible"),
            ('60 1 "\\ud800"', "is not valid JSON"),
        ],
    )
    def test_are_errors(self, tmp_path, numbers, reason):
        path = tmp_path / "coin.json"
        path.write_text(self.coin(numbers))
        message = fault(path)
        assert reason in message
        assert len(message) < 300
