"""Films → descriptors in the store: each is watched in a process of its own, several at a time."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.engine.cache import Cache, key_of
from howsteps.engine.executor import cores
from howsteps.engine.worker_process import Failed, run_in_worker
from howsteps.errors import HowstepsError, InputError, Problem
from howsteps.io.files import sha256_of_file
from howsteps.pipeline.describe_video import STRETCHES, WATCHED
from howsteps.task import Video
from howsteps.vision.options import APPEARANCE, MOTION, WatchOptions
from howsteps.vision.weights import identity

_VERSION = 1  # of what is computed: a change here makes all of it again
MEMORY = 2 * 2**30  # bytes that one film may take, over what the libraries do


@dataclass(frozen=True, slots=True)
class VideoProgress:
    """How far a film is.

    Attributes
    ----------
    state
        ``known`` (from the cache), ``watching``, ``watched`` or ``failed``.
    seconds, total
        Of the film; ``total`` where its file says so.
    spent
        Seconds of work by what they were spent on, when ``watched``.
    """

    video: str
    state: str
    seconds: float = 0.0
    total: float | None = None
    spent: Mapping[str, float] | None = None


Progress: TypeAlias = Callable[[VideoProgress], None]


@dataclass(frozen=True, slots=True)
class VideoDescriptors:
    """A film whose descriptors are in the store, under a key and in so many stretches by kind."""

    video: str
    media: Path
    keys: Mapping[str, str]
    intervals: int
    seconds: float
    stretches: Mapping[str, int]
    flaws: tuple[str, ...]

    def local(
        self, kind: str, cache: Cache
    ) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int8]]]:
        """Intervals and descriptors, one stretch of the film after another."""
        for number in range(self.stretches[kind]):
            name = f"{self.keys[kind]}-{number:05d}"
            arrays = cache.arrays(STRETCHES, name)
            if arrays is None:
                path = cache.path(STRETCHES, name, "npz")
                raise HowstepsError(f"{path} is damaged: delete it, and run this again")
            if len(arrays["values"]):
                yield arrays["intervals"], arrays["values"]


def origins(options: WatchOptions) -> dict[str, str]:
    """What makes the descriptors of each kind that is wanted, as the hash of all that matters.

    The device is left out on purpose: what a GPU saw, in half precision, is good on a laptop.
    """
    grid = {"seconds": options.seconds, "seed": options.seed}
    found = {}
    if options.motion is not None:
        found[MOTION] = key_of(
            _VERSION, kind=MOTION, options=options.motion, most=options.most_motion, **grid
        )
    if options.appearance is not None:
        weights = options.appearance.weights
        found[APPEARANCE] = key_of(
            _VERSION,
            kind=APPEARANCE,
            network=identity(options.appearance.network, Path(weights) if weights else None),
            sides=options.appearance.sides,
            most=options.most_appearance,
            **grid,
        )
    return found


def extract_descriptors(
    videos: Sequence[Video],
    options: WatchOptions,
    *,
    cache: Cache,
    device: str = "cpu",
    workers: int | None = None,
    memory: int = MEMORY,
    again: bool = False,
    progress: Progress = lambda seen: None,
) -> tuple[list[VideoDescriptors], list[Problem]]:
    """Watch the films of all videos that have one, as far as they are not in the store already.

    ``progress`` is called from several threads, one at a time. When this is interrupted, the films
    that are being watched are given up at once; those that were watched are kept.

    Raises
    ------
    CannotWrite
        The store cannot be written, or is full.
    """
    made_by = origins(options)
    found: dict[str, VideoDescriptors] = {}
    problems: dict[str, Problem] = {}
    lock, stop = threading.Lock(), threading.Event()

    def callback(seen: VideoProgress) -> None:
        with lock:
            progress(seen)

    def work(video: Video, media: Path, threads: int) -> None:
        try:
            content = sha256_of_file(media)
            keys = {kind: key_of(_VERSION, by=by, of=content) for kind, by in made_by.items()}
            missing = {
                kind: key for kind, key in keys.items() if again or not _is_known(key, cache)
            }
            if missing:
                wanted = replace(
                    options,
                    motion=options.motion if MOTION in missing else None,
                    appearance=options.appearance if APPEARANCE in missing else None,
                )
                job = {
                    "media": str(media.absolute()),
                    "options": asdict(wanted),
                    "keys": missing,
                    "store": str(cache.folder.absolute()),
                    "threads": threads,
                    "device": device,
                    "memory": memory,
                }
                _watch_one(video.id, job, threads, callback, stop)
            found[video.id] = _recall(video.id, media, keys, cache)
            if not missing:
                callback(VideoProgress(video.id, "known", found[video.id].seconds))
        except (InputError, Failed) as error:
            reason = error.problem.reason if isinstance(error, InputError) else str(error)
            problems[video.id] = Problem(media, reason)
            callback(VideoProgress(video.id, "failed"))

    films = [(video, video.media) for video in videos if video.media is not None]
    workers = max(1, min(workers or cores(), len(films)))
    with ThreadPoolExecutor(workers) as pool:
        jobs = [pool.submit(work, *film, max(1, cores() // workers)) for film in films]
        try:
            done, _ = wait(jobs, return_when=FIRST_EXCEPTION)
            for job in done:
                job.result()
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    watched = [found[video.id] for video, _ in films if video.id in found]
    flaws = [Problem(film.media, flaw) for film in watched for flaw in film.flaws]
    return watched, [problems[v.id] for v, _ in films if v.id in problems] + flaws


def _watch_one(
    video: str,
    job: Mapping[str, object],
    threads: int,
    callback: Progress,
    stop: threading.Event,
) -> None:
    total: float | None = None

    def told(answer: dict[str, Any]) -> None:
        nonlocal total
        total = answer.get("total", total)
        callback(VideoProgress(video, "watching", answer["seconds"], total))

    done = run_in_worker(
        "howsteps.pipeline.describe_video", job, threads=threads, told=told, stop=stop
    )
    callback(VideoProgress(video, "watched", done["seconds"], done["seconds"], done["spent"]))


def _is_known(key: str, cache: Cache) -> bool:
    record = cache.json(WATCHED, key)
    return record is not None and all(
        cache.holds(STRETCHES, f"{key}-{number:05d}", "npz")
        for number in range(record["stretches"])
    )


def _recall(video: str, media: Path, keys: Mapping[str, str], cache: Cache) -> VideoDescriptors:
    kept = {kind: cache.json(WATCHED, key) for kind, key in keys.items()}
    records = {kind: record for kind, record in kept.items() if record is not None}
    if len(records) < len(keys):
        raise InputError(media, "was watched, but what was kept of it is gone")
    # Of the film itself every record says the same; kinds seen apart come in other stretches.
    film = next(iter(records.values()))
    return VideoDescriptors(
        video,
        media,
        keys,
        film["intervals"],
        film["seconds"],
        {kind: record["stretches"] for kind, record in records.items()},
        tuple(film["flaws"]),
    )
