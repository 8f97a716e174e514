"""Extract the descriptors of videos into the cache: one worker process per video, in parallel."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import CannotWrite, HowstepsError, InputError, Problem
from howsteps.io.files import fingerprint, key_of, sha256_of_file
from howsteps.io.worker_process import run_in_worker
from howsteps.pipeline.cache import Cache
from howsteps.pipeline.context import Context
from howsteps.pipeline.describe_video import CHUNKS, VIDEOS
from howsteps.pipeline.events import ItemAt
from howsteps.pipeline.executor import Executor, ThreadExecutor, cores
from howsteps.task import Video
from howsteps.vision.options import APPEARANCE, MOTION, POOLED, WatchOptions
from howsteps.vision.weights import identity

_VERSION = 1  # increment when the descriptors change
STAGE = "features"
_LARGEST_COUNT = 10**7  # intervals, chunks or seconds of a video
MEMORY = 2 * 2**30  # bytes that one video may use, on top of the libraries


@dataclass(frozen=True, slots=True)
class VideoDescriptors:
    """A video whose descriptors are cached: for each kind a cache key and a number of chunks.

    ``seconds`` is its duration, ``defects`` what is wrong with the file, and ``spent`` the seconds
    of work by task, empty if everything was cached.
    """

    video: str
    media: Path
    keys: Mapping[str, str]
    intervals: int
    seconds: float
    chunks: Mapping[str, int]
    defects: tuple[str, ...]
    spent: Mapping[str, float] = field(default_factory=dict)

    def local(self, kind: str, cache: Cache) -> Iterator[tuple[NDArray[np.int32], NDArray[Any]]]:
        """Yield interval indices (n) and descriptors (n×d), chunk by chunk."""
        for index in range(self.chunks[kind]):
            name = f"{self.keys[kind]}-{index:05d}"
            arrays = _chunk(name, self.intervals, cache)
            if arrays is None:
                path = cache.path(CHUNKS, name, "npz")
                raise HowstepsError(f"{path} is damaged: delete it, and run the command again")
            if len(arrays["values"]):
                yield arrays["intervals"], arrays["values"]


def origins(options: WatchOptions) -> dict[str, str]:
    """For each requested kind of descriptors, the hash of all options they depend on.

    The device is left out on purpose: descriptors computed on a GPU, in half precision, are reused
    on a CPU.
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
    if (pooled := options.pooled) is not None:
        found[POOLED] = key_of(
            _VERSION,
            kind=POOLED,
            network=identity(pooled.network, Path(pooled.weights) if pooled.weights else None),
            side=pooled.side,
            every=pooled.every,
            sparing=pooled.sparing,
            seconds=options.seconds,
        )
    return found


@dataclass(frozen=True)
class _Job:
    """What all videos have in common; sent to other processes and machines."""

    options: WatchOptions
    origins: Mapping[str, str]
    cache: Cache
    device: str
    threads: int
    memory: int
    redo: bool


def extract_descriptors(
    videos: Sequence[Video],
    options: WatchOptions,
    context: Context,
    *,
    task: str = "",
    device: str = "cpu",
    memory: int = MEMORY,
) -> tuple[list[VideoDescriptors], list[Problem]]:
    """Extract the descriptors of all videos that have a file, unless they are cached.

    Runs on the cluster of the context's executor, or in ``workers`` processes on this machine. On
    interruption, unfinished videos are abandoned at once; completed ones stay in the cache.

    Returns
    -------
    The descriptors of the videos that could be read, and problems.

    Raises
    ------
    CannotWrite
        The cache cannot be written, or the disk is full.
    """
    videos = [video for video in videos if video.media is not None]
    workers = max(1, min(context.workers, len(videos)))
    job = _Job(
        options,
        origins(options),
        context.cache,
        device,
        max(1, cores() // workers),
        memory,
        STAGE in context.redo,
    )
    stop = threading.Event()
    executor: Executor = context.executor
    describe: Callable[[Video], VideoDescriptors]
    if executor.takes_tasks:
        describe = partial(_describe, job=job)
    else:
        lock = threading.Lock()

        def report(event: ItemAt) -> None:
            with lock:
                context.callback(event)

        executor = ThreadExecutor(workers)
        describe = partial(_describe, job=job, task=task, report=report, stop=stop)
    found: dict[int, VideoDescriptors] = {}
    problems: dict[int, Problem] = {}
    with context.stage(STAGE, task, len(videos)) as progress:
        try:
            for outcome in executor.map(describe, videos, device=device):
                video, failure = videos[outcome.index], outcome.failure
                if failure is not None:
                    if failure.fatal:
                        raise CannotWrite(failure.reason)
                    problems[outcome.index] = Problem(video.media or Path(), failure.reason)
                elif outcome.value is not None:
                    found[outcome.index] = outcome.value
                cached = outcome.value is not None and not outcome.value.spent
                progress.done(video.id, cached=cached)
        except BaseException:
            stop.set()
            raise
    context.note(context.cache.pop_refused())
    described = [found[index] for index in sorted(found)]
    defects = [Problem(video.media, defect) for video in described for defect in video.defects]
    return described, [problems[index] for index in sorted(problems)] + defects


def _describe(
    video: Video,
    job: _Job,
    task: str = "",
    report: Callable[[ItemAt], None] | None = None,
    stop: threading.Event | None = None,
) -> VideoDescriptors:
    """Compute the descriptors of one video that are not in the cache yet."""
    media = video.media or Path()
    before = fingerprint(media)
    content = sha256_of_file(media)
    keys = {kind: key_of(_VERSION, by=by, of=content) for kind, by in job.origins.items()}
    missing = {
        kind: key for kind, key in keys.items() if job.redo or not _is_cached(key, job.cache)
    }
    spent: Mapping[str, float] = {}
    if missing:
        total: float | None = None

        def on_progress(answer: dict[str, Any]) -> None:
            nonlocal total
            total = answer.get("total", total)
            if report is not None:
                report(ItemAt(STAGE, task, video.id, round(answer["seconds"], 3), total))

        wanted = replace(
            job.options,
            motion=job.options.motion if MOTION in missing else None,
            appearance=job.options.appearance if APPEARANCE in missing else None,
            pooled=job.options.pooled if POOLED in missing else None,
        )
        message = {
            "media": str(media.absolute()),
            "options": asdict(wanted),
            "fingerprint": before,
            "keys": missing,
            "cache": str(job.cache.folder.absolute()),
            "threads": job.threads,
            "device": job.device,
            "memory": job.memory,
        }
        done = run_in_worker(
            "howsteps.pipeline.describe_video",
            message,
            threads=job.threads,
            on_progress=on_progress,
            stop=stop,
        )
        spent = done["spent"] or {"all": 0.0}
    return _from_cache(video, keys, job.cache, spent)


def _is_cached(key: str, cache: Cache) -> bool:
    record = _record(key, cache)
    return record is not None and all(
        _chunk(f"{key}-{index:05d}", record["intervals"], cache) is not None
        for index in range(record["chunks"])
    )


def _record(key: str, cache: Cache) -> dict[str, Any] | None:
    """The cached record of a video; None if it is missing or invalid."""
    record = cache.json(VIDEOS, key)
    if record is None:
        return None
    record = record if isinstance(record, dict) else {}
    numbers: list[Any] = [record.get(name) for name in ("intervals", "chunks", "seconds")]
    defects = record.get("flaws")
    is_valid = (
        all(type(number) in (int, float) and 0 <= number <= _LARGEST_COUNT for number in numbers)
        and all(type(number) is int for number in numbers[:2])
        and isinstance(defects, list)
        and all(isinstance(defect, str) for defect in defects)
    )
    if not is_valid:
        cache.refuse(VIDEOS, key, "json", "it is not the record of a video")
    return record if is_valid else None


def _chunk(name: str, n_intervals: int, cache: Cache) -> dict[str, NDArray[Any]] | None:
    """A cached chunk: descriptors and their interval indices; None if missing or invalid."""
    arrays = cache.arrays(CHUNKS, name)
    if arrays is None:
        return None
    missing = np.empty(0)
    intervals, values = (arrays.get(part, missing) for part in ("intervals", "values"))
    is_valid = (
        (intervals.ndim, values.ndim) == (1, 2)
        # As a worker writes them, in which no sum can overflow.
        and intervals.dtype.kind == "i"
        and values.dtype in (np.int8, np.float16)
        and np.isfinite(values).all()
        and len(intervals) == len(values)
        and (not len(intervals) or 0 <= intervals.min() <= intervals.max() < n_intervals)
    )
    if not is_valid:
        cache.refuse(CHUNKS, name, "npz", "it holds no descriptors of this video")
    return arrays if is_valid else None


def _from_cache(
    video: Video, keys: Mapping[str, str], cache: Cache, spent: Mapping[str, float]
) -> VideoDescriptors:
    """The cached descriptors of a video."""
    media = video.media or Path()
    cached = {kind: _record(key, cache) for kind, key in keys.items()}
    records = {kind: record for kind, record in cached.items() if record is not None}
    if len(records) < len(keys):
        raise InputError(media, "its descriptors were computed, but are gone from the cache")
    # Records of different kinds agree except for the number of chunks.
    first = next(iter(records.values()))
    return VideoDescriptors(
        video.id,
        media,
        keys,
        first["intervals"],
        first["seconds"],
        {kind: record["chunks"] for kind, record in records.items()},
        tuple(first["flaws"]),
        spent,
    )
