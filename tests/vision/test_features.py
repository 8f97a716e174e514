"""Features of videos: through the cache, from pooled vectors, and the space of a model."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from howsteps.errors import CannotWrite, InputError
from howsteps.io.cache import Cache
from howsteps.io.files import Folder
from howsteps.narration.features import Vocabulary
from howsteps.paper.visual_words import (
    AppearanceOptions,
    VisualWords,
    WordOptions,
)
from howsteps.pipeline.context import Callback, Context, Event, ItemDone, ignore_event
from howsteps.pipeline.executor import LocalExecutor
from howsteps.pipeline.features import features_of
from howsteps.task import Video
from howsteps.vision.features import (
    SPACE_FILE,
    Features,
    FeatureSpace,
    Method,
    PooledFrames,
    PooledOptions,
    pooled_features,
)
from howsteps.vision.network import LITE0
from tests.vision.scenes import film, scene

SMALL = WordOptions(appearance=None, most=200, motion_words=50, appearance_words=20)
MOTION = VisualWords(SMALL)
BOTH = VisualWords(replace(SMALL, appearance=AppearanceOptions(LITE0, sides=(64,))))


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two videos, and a file that is not a video."""
    folder = tmp_path_factory.mktemp("films")
    film(folder / "left.mp4", scene(60, size=(320, 180), disc=(-3, 0)))
    film(folder / "right.mp4", scene(75, size=(320, 180), disc=(3, 0), camera=(1, 0), seed=5))
    (folder / "text.mp4").write_text("no film")
    return folder


def videos(folder: Path, *names: str) -> list[Video]:
    return [Video(name, media=folder / f"{name}.mp4") for name in names]


def look(
    folder: Path,
    cache: Path,
    *names: str,
    method: Method = MOTION,
    callback: Callback = ignore_event,
    workers: int = 2,
) -> Features:
    context = Context(Cache(cache), LocalExecutor(workers), callback)
    return features_of(videos(folder, *names), method, context)


@pytest.fixture(scope="module")
def both(films: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Features]:
    """A cache with motion and appearance descriptors."""
    cache = tmp_path_factory.mktemp("both")
    return cache, look(films, cache, "left", "text", "right", method=BOTH)


def test_one_vector_for_each_third_of_a_second(both: tuple[Path, Features]) -> None:
    _, seen = both
    assert {video: rows.shape for video, rows in seen.vectors.items()} == {
        "left": (6, 70),
        "right": (8, 70),
    }
    assert seen.durations["right"] == pytest.approx(2.5, abs=1e-3)
    for rows in seen.vectors.values():
        assert rows.dtype == np.float32
        for part in (rows[:, :50], rows[:, 50:]):
            assert (part**2).sum(axis=1) == pytest.approx(np.ones(len(rows)), abs=1e-5)


def test_a_broken_video_is_reported_and_does_not_affect_others(
    films: Path, both: tuple[Path, Features]
) -> None:
    [problem] = [problem for problem in both[1].problems if not problem.harmless]
    assert problem.path == films / "text.mp4"
    assert "not a readable video" in problem.reason


POOL = PooledFrames(PooledOptions(side=64))


@pytest.fixture(scope="module")
def pooled(films: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Features]:
    """A cache with pooled frames."""
    cache = tmp_path_factory.mktemp("pooled")
    return cache, look(films, cache, "left", "text", "right", method=POOL)


def test_pooled_frames_need_no_codebook(pooled: tuple[Path, Features]) -> None:
    _, seen = pooled
    assert {video: rows.shape for video, rows in seen.vectors.items()} == {
        "left": (6, 1280),
        "right": (8, 1280),
    }
    assert seen.learnt == {}
    for rows in seen.vectors.values():
        assert np.square(rows).sum(axis=1) == pytest.approx(1.0, abs=1e-5)


def test_cache_keys_distinguish_kinds_and_options_of_descriptors(
    films: Path, both: tuple[Path, Features], pooled: tuple[Path, Features]
) -> None:
    cache, seen = pooled
    assert not set(seen.keys.values()) & set(both[1].keys.values())
    for other in (PooledOptions(side=96), PooledOptions(side=64, every=2)):
        again = look(films, cache, "left", method=PooledFrames(other))
        assert again.keys["left"] != seen.keys["left"]


def test_cached_videos_are_not_decoded_again(
    films: Path, both: tuple[Path, Features], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("howsteps.vision.features.run_in_worker", None)
    cache, seen = both
    events: list[Event] = []
    again = look(films, cache, "left", "right", method=BOTH, callback=events.append)
    assert [event.cached for event in events if isinstance(event, ItemDone)] == [True, True]
    assert again.keys == seen.keys
    assert all(np.array_equal(again.vectors[v], seen.vectors[v]) for v in again.vectors)


def test_each_kind_of_descriptors_is_cached_separately(
    films: Path, both: tuple[Path, Features], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Motion alone is cached if motion and appearance were computed before."""
    monkeypatch.setattr("howsteps.vision.features.run_in_worker", None)
    cache, seen = both
    alone = look(films, cache, "left", "right", method=MOTION)
    assert all(np.array_equal(alone.vectors[v], seen.vectors[v][:, :50]) for v in alone.vectors)


def test_descriptors_of_one_kind_alone_do_not_make_a_video_complete(
    films: Path, both: tuple[Path, Features], tmp_path: Path
) -> None:
    look(films, tmp_path, "left", "right", method=MOTION)
    found = look(films, tmp_path, "left", "right", method=BOTH)
    assert all(np.array_equal(found.vectors[v], rows) for v, rows in both[1].vectors.items())


def test_videos_in_another_order_do_not_reuse_the_codebook(
    films: Path, both: tuple[Path, Features], tmp_path: Path
) -> None:
    """The sample depends on the order, so results must not depend on the history of the cache."""
    cache, _ = both
    known = look(films, cache, "right", "left", method=MOTION).learnt["motion"]
    fresh = look(films, tmp_path, "right", "left", method=MOTION).learnt["motion"]
    assert known.digest == fresh.digest


def test_an_interrupted_run_resumes_to_the_same_bytes(
    films: Path, both: tuple[Path, Features], tmp_path: Path
) -> None:
    def interrupt(event: Event) -> None:
        if isinstance(event, ItemDone):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        look(films, tmp_path, "left", "right", workers=1, callback=interrupt)
    events: list[Event] = []
    found = look(films, tmp_path, "left", "right", workers=1, callback=events.append)
    done = {event.item: event.cached for event in events if isinstance(event, ItemDone)}
    assert done == {"left": True, "right": False}
    wanted = both[1]
    assert all(np.array_equal(rows, wanted.vectors[v][:, :50]) for v, rows in found.vectors.items())


@pytest.mark.parametrize(
    ("method", "damage"),
    [(MOTION, Path.unlink), (POOL, lambda path: path.write_bytes(path.read_bytes()[:-10]))],
    ids=["words", "pooled"],
)
def test_a_video_with_damaged_entries_is_decoded_again(
    films: Path, tmp_path: Path, method: Method, damage: Callable[[Path], object]
) -> None:
    whole = look(films, tmp_path, "left", "right", method=method)
    for path in (tmp_path / "chunks").glob("*.npz"):
        damage(path)
    for stage in ("codewords", "codebook"):
        shutil.rmtree(tmp_path / stage, ignore_errors=True)
    again = look(films, tmp_path, "left", "right", method=method)
    assert again.keys == whole.keys
    assert all(np.array_equal(again.vectors[v], rows) for v, rows in whole.vectors.items())


def test_a_video_without_motion_and_one_without_a_file(tmp_path: Path) -> None:
    film(tmp_path / "still.mp4", [np.full((120, 160), 90, np.uint8)] * 20)
    seen = [*videos(tmp_path, "still", "gone"), Video("captions only")]
    found = features_of(seen, MOTION, Context(Cache(tmp_path / "store")))
    assert found.vectors == {}
    named = [str(problem) for problem in found.problems if not problem.harmless]
    assert [reason.partition(": ")[0].rpartition("/")[2] for reason in named] == [
        "gone.mp4",
        "still.mp4",
    ]
    assert named[1].endswith("still.mp4: no features could be computed")


def test_an_unwritable_cache_is_fatal(films: Path, tmp_path: Path) -> None:
    (tmp_path / "chunks").write_text("in the way")
    with pytest.raises(CannotWrite, match=r"chunks is not a folder"):
        look(films, tmp_path, "left")


def test_a_video_that_needs_too_much_memory_is_set_aside(
    films: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("howsteps.vision.features.MEMORY", 2**20)
    found = look(films, tmp_path, "left")
    assert not found.vectors
    assert len(found.problems) == 1


AT = np.array([0, 4], np.int32)
ROWS = np.array([[4, 0], [0, 9]], np.float16)


def test_an_interval_without_a_vector_has_the_nearest_one() -> None:
    found = pooled_features([(AT, ROWS)], 7)
    assert found.argmax(axis=1).tolist() == [0, 0, 1, 1, 1, 1, 1]


def test_a_video_without_vectors() -> None:
    assert pooled_features([], 3).shape == (3, 0)


@pytest.mark.parametrize("quick", [False, True])
def test_pooled_frames_are_described_by_their_options(tmp_path: Path, quick: bool) -> None:
    space = FeatureSpace(quick=quick)
    space.save(Folder(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == [SPACE_FILE]
    assert FeatureSpace.load(tmp_path) == space


def test_words_are_read_back(tmp_path: Path) -> None:
    words = Vocabulary(("cat", "tub"), np.array([0.5, 1.25], np.float32))
    FeatureSpace(words=words).save(Folder(tmp_path))
    back = FeatureSpace.load(tmp_path)
    assert back.words is not None
    assert back.words.words == words.words
    assert back.words.weights.tolist() == [0.5, 1.25]


@pytest.mark.parametrize(
    "text",
    [
        *("{}", '{"version": 2}', '{"version": 1}', "[]", "no"),
        '{"version": 2, "reads": "frames", "mode": "x", "quick": false, "origins": {}}',
    ],
)
def test_another_description_of_features_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / SPACE_FILE).write_text(text)
    with pytest.raises(InputError, match=r"features\.json"):
        FeatureSpace.load(tmp_path)


def test_a_model_of_other_features_is_refused(tmp_path: Path) -> None:
    FeatureSpace().save(Folder(tmp_path))
    content = json.loads((tmp_path / SPACE_FILE).read_text("utf-8"))
    content["origins"]["pooled"] = "of another network"
    (tmp_path / SPACE_FILE).write_text(json.dumps(content), "utf-8")
    with pytest.raises(InputError, match="does not compute"):
        FeatureSpace.load(tmp_path)
