"""Video features through the cache: what is reused, what is recomputed, and broken files."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from howsteps.errors import CannotWrite, HowstepsError
from howsteps.pipeline.cache import Cache
from howsteps.pipeline.context import Context
from howsteps.pipeline.events import Callback, Event, ItemDone, ignore_event
from howsteps.pipeline.features import Features, features_from, features_of
from howsteps.task import Video
from howsteps.vision.options import (
    AppearanceOptions,
    MotionOptions,
    PooledOptions,
    VisionOptions,
    WatchOptions,
)
from tests.vision.scenes import film, scene

pytestmark = pytest.mark.slow

MOTION = WatchOptions(appearance=None)
LOOK = AppearanceOptions(sides=(64,))


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
    watch: WatchOptions = MOTION,
    callback: Callback = ignore_event,
    workers: int = 2,
    **options: object,
) -> Features:
    asked = VisionOptions(watch, motion_words=50, appearance_words=20)
    context = Context(Cache(cache), callback=callback, workers=workers)
    return features_of(videos(folder, *names), asked, context, **options)


@pytest.fixture(scope="module")
def both(films: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Features]:
    """A cache with motion and appearance descriptors."""
    cache = tmp_path_factory.mktemp("both")
    watch = WatchOptions(appearance=LOOK)
    return cache, look(films, cache, "left", "text", "right", watch=watch)


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


def test_opposite_motions_have_different_codewords(
    both: tuple[Path, Features],
) -> None:
    left, right = (both[1].vectors[video][:, :50] for video in ("left", "right"))
    assert (left @ left.T).mean() > 2 * (left @ right.T).mean()


POOL = WatchOptions(None, None, pooled=PooledOptions(side=64))


@pytest.fixture(scope="module")
def pooled(films: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Features]:
    """A cache with pooled frames."""
    cache = tmp_path_factory.mktemp("pooled")
    return cache, look(films, cache, "left", "text", "right", watch=POOL)


def test_pooled_frames_need_no_codebook(pooled: tuple[Path, Features]) -> None:
    _, seen = pooled
    assert {video: rows.shape for video, rows in seen.vectors.items()} == {
        "left": (6, 1280),
        "right": (8, 1280),
    }
    assert seen.codebooks == {}
    for rows in seen.vectors.values():
        assert np.square(rows).sum(axis=1) == pytest.approx(1.0, abs=1e-5)


def test_cache_keys_distinguish_kinds_and_options_of_descriptors(
    films: Path, both: tuple[Path, Features], pooled: tuple[Path, Features]
) -> None:
    cache, seen = pooled
    assert not set(seen.keys.values()) & set(both[1].keys.values())
    for other in (PooledOptions(side=96), PooledOptions(side=64, every=2)):
        again = look(films, cache, "left", watch=WatchOptions(None, None, pooled=other))
        assert again.keys["left"] != seen.keys["left"]


def test_features_do_not_depend_on_earlier_runs(
    films: Path, pooled: tuple[Path, Features], tmp_path: Path
) -> None:
    again = look(films, tmp_path, "left", watch=POOL)
    assert np.array_equal(again.vectors["left"], pooled[1].vectors["left"])
    assert again.keys["left"] == pooled[1].keys["left"]


def test_cached_videos_are_not_decoded_again(
    films: Path, both: tuple[Path, Features], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("howsteps.pipeline.descriptors.run_in_worker", None)
    cache, seen = both
    events: list[Event] = []
    watch = WatchOptions(appearance=LOOK)
    again = look(films, cache, "left", "right", watch=watch, callback=events.append)
    assert [event.cached for event in events if isinstance(event, ItemDone)] == [True, True]
    assert again.keys == seen.keys
    assert all(np.array_equal(again.vectors[v], seen.vectors[v]) for v in again.vectors)


def test_each_kind_of_descriptors_is_cached_separately(
    films: Path, both: tuple[Path, Features], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Motion alone is cached if motion and appearance were computed before."""
    monkeypatch.setattr("howsteps.pipeline.descriptors.run_in_worker", None)
    cache, seen = both
    alone = look(films, cache, "left", "right", watch=MOTION)
    assert all(np.array_equal(alone.vectors[v], seen.vectors[v][:, :50]) for v in alone.vectors)


def test_a_kind_that_is_added_later_is_complete(tmp_path: Path) -> None:
    """Kinds differ in their number of chunks: a still video has fewer of motion."""
    pictures = list(scene(1, size=(64, 48))) * 62
    film(tmp_path / "still.mp4", pictures, rate=Fraction(1))
    look(tmp_path, tmp_path / "store", "still", watch=MOTION)
    found = look(tmp_path, tmp_path / "store", "still", watch=WatchOptions(appearance=LOOK))
    seen = (found.vectors["still"] ** 2).sum(axis=1)
    assert len(seen) == 3 * 62
    assert seen == pytest.approx(np.ones(len(seen)), abs=1e-5)


def test_videos_in_another_order_do_not_reuse_the_codebook(
    films: Path, both: tuple[Path, Features], tmp_path: Path
) -> None:
    """The sample depends on the order, so results must not depend on the history of the cache."""
    cache, _ = both
    known = look(films, cache, "right", "left", watch=MOTION).codebooks["motion"]
    fresh = look(films, tmp_path, "right", "left", watch=MOTION).codebooks["motion"]
    assert known.digest == fresh.digest


def test_the_file_name_does_not_matter(
    films: Path, both: tuple[Path, Features], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("howsteps.pipeline.descriptors.run_in_worker", None)
    for name in ("left", "right"):
        (tmp_path / f"my {name}.mp4").write_bytes((films / f"{name}.mp4").read_bytes())
    found = look(tmp_path, both[0], "my left", "my right", watch=MOTION)
    assert found.vectors["my left"].shape == (6, 50)


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


def test_a_codebook_of_other_descriptors_is_refused(
    films: Path, both: tuple[Path, Features], tmp_path: Path
) -> None:
    other = WatchOptions(motion=MotionOptions(patch=16.0), appearance=None)
    words = both[1].codebooks
    with pytest.raises(HowstepsError, match="other options"):
        look(films, tmp_path, "left", watch=other, codebooks=words)
    with pytest.raises(HowstepsError, match="no codewords for motion"):
        look(films, tmp_path, "left", codebooks={})


def test_a_codebook_can_be_reused(films: Path, both: tuple[Path, Features]) -> None:
    cache, seen = both
    alone = look(films, cache, "left", watch=MOTION, codebooks=seen.codebooks)
    assert np.array_equal(alone.vectors["left"], seen.vectors["left"][:, :50])


def test_a_video_with_damaged_entries_is_decoded_again(
    films: Path, both: tuple[Path, Features], tmp_path: Path
) -> None:
    cache = tmp_path / "copy"
    for path in both[0].rglob("*"):
        if path.is_file():
            target = cache / path.relative_to(both[0])
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    for path in (cache / "chunks").glob("*.npz"):
        path.write_bytes(path.read_bytes()[:-10])
    for stage in ("codewords", "codebook"):
        for path in (cache / stage).iterdir():
            path.unlink()
    again = look(films, cache, "left", "right", watch=MOTION)
    assert again.keys == look(films, cache, "left", "right", watch=MOTION).keys
    assert set(again.vectors) == {"left", "right"}


def test_too_few_descriptors_are_reported(films: Path, both: tuple[Path, Features]) -> None:
    asked = VisionOptions(MOTION, motion_words=100_000)
    found = features_of(videos(films, "left"), asked, Context(Cache(both[0])))
    [flaw] = found.problems
    assert flaw.harmless
    assert "no more distinct descriptors" in flaw.reason
    assert found.vectors["left"].shape[1] == len(found.codebooks["motion"]) < 100_000


def test_a_video_without_motion_and_one_without_a_file(tmp_path: Path) -> None:
    film(tmp_path / "still.mp4", [np.full((120, 160), 90, np.uint8)] * 20)
    seen = [*videos(tmp_path, "still", "gone"), Video("captions only")]
    found = features_of(seen, VisionOptions(MOTION), Context(Cache(tmp_path / "store")))
    assert found.vectors == {}
    named = [str(problem) for problem in found.problems if not problem.harmless]
    assert [reason.partition(": ")[0].rpartition("/")[2] for reason in named] == [
        "gone.mp4",
        "still.mp4",
    ]
    assert named[1].endswith("still.mp4: no features could be computed")


def test_precomputed_features_have_the_same_shape_as_ours(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.ones((30, 7), np.float32))
    found = features_from(tmp_path, [Video("a", duration=2.0), Video("b")], rate=15.0)
    assert found.vectors["a"].shape == (6, 7)
    assert found.durations == {"a": 2.0}
    assert list(found.keys) == ["a"]
    assert ["b" in problem.reason for problem in found.problems] == [True]


def test_an_unwritable_cache_is_fatal(films: Path, tmp_path: Path) -> None:
    (tmp_path / "chunks").write_text("in the way")
    with pytest.raises(CannotWrite, match=r"cannot write .*chunks"):
        look(films, tmp_path, "left")


def test_a_video_that_needs_too_much_memory_is_set_aside(films: Path, tmp_path: Path) -> None:
    found = look(films, tmp_path, "left", memory=2**20)
    assert not found.vectors
    assert len(found.problems) == 1
