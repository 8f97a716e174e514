"""Narrations, features and truth are joined, in every layout."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from howsteps.datasets import authors, registry
from howsteps.datasets.annotations import GRID, Labelled
from howsteps.datasets.task_file import find_judgements
from howsteps.errors import InputError
from howsteps.task import Relation
from tests.jobs import LENGTH, STEPS, tea, write_rules, write_tea

GOLDEN = Path(__file__).parents[1] / "golden" / "data"
CAPTIONS = "1\n00:00:01,000 --> 00:00:03,000\nnow boil the water for us\n"


def only(path: Path, **options: Path) -> Labelled:
    [one] = registry.read_labelled(path, **options).tasks
    return one


def test_a_task_file_has_captions_and_truth(tmp_path):
    one = only(write_tea(tmp_path / "tea.json"))
    assert one.truth.steps == STEPS
    assert [video.id for video in one.task.videos] == list(one.truth.durations)
    assert all(video.captions and video.duration == LENGTH for video in one.task.videos)
    assert not one.features


def test_videos_without_a_narration_are_left_out_and_those_without_truth_are_not_scored(tmp_path):
    value = tea(3)
    del value["videos"]["v0"]["steps"]
    german = "das ist der reifen und wir nehmen ihn jetzt ab weil er ganz platt ist und nicht hält"
    value["videos"]["v1"]["asr"] = [[4 * n, 4 * n + 3, german] for n in range(8)]
    path = tmp_path / "tea.json"
    path.write_text(json.dumps(value))
    one = only(path)
    assert [video.id for video in one.task.videos] == ["v2", "v0"]
    assert one.task.videos[1].duration == LENGTH
    assert set(one.truth.durations) == {"v2"} == {a.video for a in one.truth.annotations}


def test_durations_of_a_folder_with_a_table(tmp_path):
    (tmp_path / "anna.en.srt").write_text(CAPTIONS)
    (tmp_path / "steps.csv").write_text("video,step,start,end\nanna,boil,2,9.5\n")
    one = only(tmp_path)
    assert one.task.videos[0].captions
    assert one.truth.durations == {"anna": 9.5}


def test_captions_in_another_folder(tmp_path):
    (tmp_path / "steps.csv").write_text("video,step,start,end\nanna,boil,2,9\n")
    (tmp_path / "talk").mkdir()
    (tmp_path / "talk" / "anna.srt").write_text(CAPTIONS)
    assert only(tmp_path / "steps.csv", captions=tmp_path / "talk").task.videos[0].captions
    assert only(tmp_path / "steps.csv").truth.durations == {"anna": None}


def test_captions_of_other_jobs_are_not_those_of_the_truth(tmp_path):
    (tmp_path / "steps.csv").write_text("video,task,step,start,end\nanna,tea,boil,2,9\n")
    for job in ("one", "two"):
        (tmp_path / "talk" / job).mkdir(parents=True)
        (tmp_path / "talk" / job / f"{'anna' if job == 'one' else 'bob'}.srt").write_text(CAPTIONS)
    one = only(tmp_path / "steps.csv", captions=tmp_path / "talk")
    assert [video.id for video in one.task.videos] == ["anna"]


def test_times_of_the_release_are_scaled_to_the_grid():
    release = authors.read_release(GOLDEN, "small")
    one = only(GOLDEN)
    for video, x in one.features.items():
        np.testing.assert_array_equal(x, release.features[video].astype(np.float32))
        middles = (np.arange(len(x)) + 0.5) * GRID
        for k in range(len(one.truth.steps)):
            spans = [a for a in one.truth.annotations if (a.video, a.step) == (video, k)]
            inside = [any(a.start <= m <= a.end for a in spans) for m in middles]
            np.testing.assert_array_equal(inside, release.labels[video][:, k])
    by_id = {video.id: video for video in one.task.videos}
    for video in release.task.videos:
        for ours, theirs in zip(by_id[video.id].mentions, video.mentions, strict=True):
            intervals = theirs.start * release.rates[video.id] / authors.FRAMES_PER_INTERVAL
            assert ours.start / GRID == pytest.approx(intervals)


def test_matches_of_the_release():
    release = authors.read_release(GOLDEN, "small")
    one = only(GOLDEN)
    asked = [*release.relations, Relation("sing", "song")]
    found = one.matches(asked)
    size = len(release.similarity)
    expected = (release.similarity == 1) | (release.similarity == 1).T
    np.testing.assert_array_equal(found[:size, :size], expected | np.eye(size, dtype=bool))
    assert found[-1].sum() == 1


def feature_folder(folder: Path, frames: int, **features: np.ndarray) -> Path:
    """Labels of so many frames, the second half of which boil, and the features of each video."""
    for name in ("mapping", "groundTruth", "features"):
        (folder / name).mkdir()
    (folder / "mapping" / "mapping.txt").write_text("0 background\n1 boil\n")
    half = frames // 2
    for video, x in features.items():
        labels = "background\n" * half + "boil\n" * (frames - half)
        (folder / "groundTruth" / f"{video}.txt").write_text(labels)
        np.save(folder / "features" / f"{video}.npy", x)
    return folder


# At fifteen frames a second there are five to an interval, and two in the last.
@pytest.mark.parametrize(
    ("rate", "means"),
    [
        (15.0, [2.0, 7.0, 10.5]),
        (6.0, [0.5, 2.5, 4.5, 6.5, 8.5, 10.5]),
        (1.5, [n // 2 for n in range(24)]),
    ],
)
def test_frames_are_averaged_over_intervals(tmp_path, rate, means):
    feature_folder(tmp_path, 12, u=np.arange(12.0)[:, None])
    [one] = registry.read_labelled(tmp_path, rate=rate)
    np.testing.assert_allclose(one.features["u"][:, 0], means)
    assert one.truth.durations == {"u": 12 / rate}
    [truth] = registry.read_truth(tmp_path, rate=rate)
    assert [(a.start, a.end) for a in truth.annotations] == [(6 / rate, 12 / rate)]


def test_a_frame_rate_is_positive(tmp_path):
    with pytest.raises(InputError, match="0 frames a second is not a frame rate"):
        registry.read_truth(feature_folder(tmp_path, 2, u=np.ones((2, 3))), rate=0)


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (np.ones(5), "is not a matrix of finite"),
        (np.full((9, 3), np.nan), "is not a matrix of finite"),
        (np.full((9, 3), 1e300), "is not a matrix of finite"),
        (np.ones((9, 0)), "is not a matrix of finite"),
        (np.ones((9, 4)), "has 4 columns, the first video 3"),
    ],
)
def test_bad_features(tmp_path, array, reason):
    path = write_tea(tmp_path / "tea.json", videos=2)
    np.save(tmp_path / "v0.npy", np.ones((102, 3)))
    np.save(tmp_path / "v1.npy", array)
    with pytest.raises(InputError, match=rf"v1\.npy: {reason}"):
        registry.read_labelled(path, features=tmp_path)
    if array.ndim == 2:
        (tmp_path / "frames").mkdir()
        frames = feature_folder(tmp_path / "frames", 9, u=np.ones((9, 3)), v1=array)
        with pytest.raises(InputError, match=rf"v1\.npy: {reason}"):
            registry.read_labelled(frames)


@pytest.mark.parametrize("rows", [34, 510])  # one, and fifteen, a second
def test_features_at_another_rate_are_refused(tmp_path, rows):
    path = write_tea(tmp_path / "tea.json", videos=1)
    np.save(tmp_path / "v0.npy", np.ones((rows, 3)))
    reason = rf"v0\.npy: has {rows} rows, .*: that is {rows // 3} s, but the video lasts 34 s"
    with pytest.raises(InputError, match=reason):
        registry.read_labelled(path, features=tmp_path)


def test_a_video_without_features_is_left_out_and_reported(tmp_path):
    path = write_tea(tmp_path / "tea.json", videos=2)
    np.save(tmp_path / "v1.npy", np.ones((102, 3)))
    found = registry.read_labelled(path, features=tmp_path)
    [one] = found.tasks
    assert [video.id for video in one.task.videos] == list(one.truth.durations) == ["v1"]
    assert list(map(str, found.problems)) == [
        f"{tmp_path / 'v0.npy'}: no such file; the video is left out"
    ]


def test_a_folder_without_features(tmp_path):
    path = write_tea(tmp_path / "tea.json", videos=1)
    with pytest.raises(InputError, match=r"elsewhere: has no features \(<video>"):
        registry.read_labelled(path, features=tmp_path / "elsewhere")


@pytest.mark.parametrize("given", ["captions", "features"])
def test_options_that_a_layout_does_not_support_are_refused(tmp_path, given):
    with pytest.raises(InputError, match="cannot be combined with"):
        registry.read_labelled(GOLDEN, **{given: tmp_path})


class TestSurvey:
    def test_everything_under_a_folder_is_found(self, tmp_path):
        (tmp_path / "captions").mkdir()
        write_tea(tmp_path / "captions" / "tea.json")
        write_rules(tmp_path / "judge.json")
        (tmp_path / "table.csv").write_text("task,video,step,start,end\ncpr,u,blow,0,4\n")
        (tmp_path / "notes.json").write_text("[1, 2]")
        (tmp_path / "other.csv").write_text("a,b\n1,2\n")
        for kind in ("NLP", "VISION"):
            shutil.copytree(GOLDEN / kind, tmp_path / "niv" / kind)
        found = registry.read_labelled(tmp_path)
        usable = {one.task.name: one.has_narrations_or_features for one in found}
        assert usable == {"cpr": False, "Make tea": True, "small": True}
        assert set(find_judgements(tmp_path, [one.truth for one in found])) == {"Make tea"}
        assert found.problems == ()

    def test_pipes_do_not_block(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "endless.csv")
        with pytest.raises(InputError, match="contains no ground truth"):
            registry.read_labelled(tmp_path)
