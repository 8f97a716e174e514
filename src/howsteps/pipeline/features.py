"""The stage ``features``: videos → one vector per interval, through the cache.

::

    video ─► descriptors (in a worker process) ─┬─► pooled ────────────────┬─► vectors
                                                └─► codebook ─► codewords ─┘

Descriptors are cached per video and kind, under the hash of the video file and the options. When a
video is added, descriptors are computed for that video only; the others only get new codewords.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import GPU, PAPER, VISION, HowstepsError, MissingExtra, Problem
from howsteps.io.files import key_of
from howsteps.pipeline.cache import Cache
from howsteps.pipeline.context import Context
from howsteps.pipeline.descriptors import (
    MEMORY,
    VideoDescriptors,
    extract_descriptors,
    origins,
)
from howsteps.pipeline.executor import single_threaded
from howsteps.pipeline.options import RunOptions
from howsteps.task import Task, Video
from howsteps.vision.codebook import SAMPLE, Codebook, learn_codebook
from howsteps.vision.histograms import blocks, count_codewords, hellinger
from howsteps.vision.local import dequantise
from howsteps.vision.options import (
    POOLED,
    VisionOptions,
    WatchOptions,
    needs_torch,
    vision_options,
)
from howsteps.vision.pooled import pooled_features
from howsteps.vision.precomputed import read_folder

_VERSION = 1  # increment when the features change
_CODEWORDS, _CODEBOOK = "codewords", "codebook"  # stages of the cache


@dataclass(frozen=True)
class Features:
    """The features of videos.

    Attributes
    ----------
    vectors
        By video id, T×d float32. A video that cannot be decoded is missing.
    problems
        Why each missing video is missing, and what is wrong with the others.
    keys
        By video id, a hash of everything its vectors depend on.
    durations
        By video id, in seconds.
    codebooks
        By kind, the codebooks of the histograms.
    described
        The descriptors of the videos.
    """

    vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    keys: dict[str, str] = field(default_factory=dict)
    durations: dict[str, float] = field(default_factory=dict)
    codebooks: dict[str, Codebook] = field(default_factory=dict)
    described: tuple[VideoDescriptors, ...] = ()


def visual_features(
    task: Task,
    options: RunOptions,
    context: Context,
    codebooks: Mapping[str, Codebook] | None = None,
) -> tuple[Task, Features]:
    """Compute the features of the video frames; also returns the task with video durations.

    Descriptors are quantised by ``codebooks``, or by codebooks learnt from these videos.

    Raises
    ------
    MissingExtra
        ``options.vision`` is True and the extra is not installed, or the mode or device needs
        another one.
    """
    videos = [video for video in task.videos if video.media]
    if not videos or options.vision is False:
        return task, Features()
    if VISION.missing:
        if options.vision:
            raise MissingExtra(VISION.name, VISION.purpose)
        reason = f"only the captions were used; to look at the videos too: {VISION.command}"
        return task, Features(problems=(Problem(Path(task.name), reason, harmless=True),))
    wanted = vision_options(options.mode, quick=options.quick)
    require_extras(wanted.watch, options.device)
    found = features_of(
        videos,
        wanted,
        context,
        task=task.name,
        codebooks=codebooks,
        device=options.device,
    )
    return with_durations(task, found), found


def unreadable_media(task: Task, features: Features) -> set[Path]:
    """The video files that could not be decoded."""
    found = {problem.path for problem in features.problems}
    return {v.media for v in task.videos if v.media in found and v.id not in features.durations}


def with_durations(task: Task, features: Features) -> Task:
    """The task with the durations of the decoded videos."""
    durations = features.durations
    videos = tuple(replace(v, duration=durations.get(v.id, v.duration)) for v in task.videos)
    return replace(task, videos=videos)


def features_of(
    videos: Sequence[Video],
    options: VisionOptions,
    context: Context,
    *,
    task: str = "",
    codebooks: Mapping[str, Codebook] | None = None,
    device: str = "cpu",
    memory: int = MEMORY,
) -> Features:
    """Compute a vector for every interval of every video that has a file.

    Parameters
    ----------
    videos
        Those without ``media`` are left out.
    options
        Which descriptors, and how many codewords.
    context
        Cache, workers and callback. With ``features`` in ``redo``, descriptors are recomputed.
    task
        The task name in events.
    codebooks
        By kind; None: learn them from these videos.
    device
        ``cpu``, or ``cuda`` for the network.
    memory
        Bytes that one video may use, on top of the libraries.

    Raises
    ------
    HowstepsError
        The codebooks were made with other options, or the network is not available.
    """
    if codebooks is not None:
        _check(codebooks, options)
    cache = context.cache
    described, problems = extract_descriptors(
        videos, options.watch, context, task=task, device=device, memory=memory
    )
    if not described:
        return Features(problems=tuple(problems))
    with single_threaded():
        if codebooks is None:
            codebooks, remarks = learn_codebooks(described, options, cache)
            problems += remarks
        used = {kind: codebooks[kind] for kind in described[0].keys if kind != POOLED}
        vectors = {video.video: _vectors(video, used, cache) for video in described}
    for video in described:
        if not vectors[video.video].any():
            problems.append(Problem(video.media, "no features could be computed"))
            if not vectors[video.video].shape[1]:
                del vectors[video.video]
    context.note(cache.pop_refused())
    return Features(
        vectors,
        tuple(problems),
        {video.video: _vector_key(video, used) for video in described if video.video in vectors},
        {video.video: video.seconds for video in described},
        used,
        tuple(described),
    )


def features_from(
    folder: Path,
    videos: Sequence[Video],
    *,
    rate: float,
    seconds: float = 1 / 3,
) -> Features:
    """Read precomputed features (:mod:`howsteps.vision.precomputed`), resampled to the grid."""
    known = {video.id: video.duration for video in videos if video.duration}
    names = [video.id for video in videos]
    vectors, problems = read_folder(folder, names, rate=rate, durations=known, seconds=seconds)
    keys = {
        video: key_of(_VERSION, rows=hashlib.sha256(rows.tobytes()).hexdigest())
        for video, rows in vectors.items()
    }
    durations = {video: known.get(video, seconds * len(vectors[video])) for video in vectors}
    return Features(vectors, tuple(problems), keys, durations)


def learn_codebooks(
    videos: Sequence[VideoDescriptors], options: VisionOptions, cache: Cache
) -> tuple[dict[str, Codebook], list[Problem]]:
    """Learn the codebook of each kind, with a remark if it has fewer codewords than requested."""
    found, problems = {}, []
    for kind, origin in _quantised(options).items():
        wanted = options.codebook_size(kind)
        # Not sorted: the sample depends on the order of the videos.
        keys = [video.keys[kind] for video in videos]
        key = key_of(_VERSION, videos=keys, codewords=wanted, seed=options.seed)
        cached = cache.arrays(_CODEBOOK, key)
        centres = (cached or {}).get("centres", np.empty(0))
        if is_valid := centres.ndim == 2 and centres.dtype == np.float32:
            found[kind] = Codebook(centres, origin)
        elif cached is not None:
            cache.refuse(_CODEBOOK, key, "npz", "it is not a codebook")
        if not is_valid:
            sample = _sample(videos, kind, wanted * SAMPLE, options.seed, cache)
            found[kind] = learn_codebook(sample, wanted, origin, options.seed)
            cache.put_arrays(_CODEBOOK, key, {"centres": found[kind].centres})
        if len(found[kind]) < wanted:
            count = len(found[kind])
            reason = f"{kind}: only {count} codewords: no more distinct descriptors"
            problems.append(Problem(videos[0].media.parent, reason, harmless=True))
    return found, problems


def _vectors(
    video: VideoDescriptors, codebooks: Mapping[str, Codebook], cache: Cache
) -> NDArray[np.float32]:
    parts = [
        pooled_features(video.local(POOLED, cache), video.intervals)
        if kind == POOLED
        else hellinger(blocks(_counts(video, kind, codebooks[kind], cache)))
        for kind in video.keys
    ]
    # A copy of hours takes hundreds of megabytes.
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def _vector_key(video: VideoDescriptors, codebooks: Mapping[str, Codebook]) -> str:
    digests = {kind: book.digest for kind, book in codebooks.items()}
    return key_of(
        _VERSION, keys={kind: [key, digests.get(kind)] for kind, key in video.keys.items()}
    )


def _sample(
    videos: Sequence[VideoDescriptors], kind: str, size: int, seed: int, cache: Cache
) -> NDArray[np.float32]:
    """Sample about ``size`` descriptors, the same number from every video."""
    per_video = -(-size // len(videos))
    sampled: list[NDArray[np.int8]] = []
    for index, video in enumerate(videos):
        generator = np.random.default_rng((seed, index))
        total = sum(len(intervals) for intervals, _ in video.local(kind, cache))
        chosen = np.sort(generator.permutation(total)[:per_video])
        start = 0
        for _, values in video.local(kind, cache):
            in_chunk = chosen[(chosen >= start) & (chosen < start + len(values))] - start
            sampled.append(values[in_chunk])
            start += len(values)
    return dequantise(np.concatenate(sampled)) if sampled else np.empty((0, 0), np.float32)


def _counts(
    video: VideoDescriptors, kind: str, codebook: Codebook, cache: Cache
) -> NDArray[np.float32]:
    """Codeword counts, T×k; the codeword of every descriptor is cached."""
    if not len(codebook):
        return np.zeros((video.intervals, 0), np.float32)
    key = key_of(_VERSION, video=video.keys[kind], codebook=codebook.digest)
    cached = cache.arrays(_CODEWORDS, key)
    if cached is not None and not _are_codewords(cached, video.intervals, len(codebook)):
        cache.refuse(_CODEWORDS, key, "npz", "it holds no codewords of this video")
        cached = None
    if cached is None:
        pairs = list(_codewords(video, kind, codebook, cache))
        pairs.append((np.empty(0, np.int32), np.empty(0, np.int32)))
        intervals, codewords = (np.concatenate(part) for part in zip(*pairs, strict=True))
        cached = {"intervals": intervals, "codewords": codewords}
        cache.put_arrays(_CODEWORDS, key, cached)
    return count_codewords(cached["intervals"], cached["codewords"], video.intervals, len(codebook))


def _are_codewords(arrays: Mapping[str, NDArray[Any]], n_intervals: int, n_codewords: int) -> bool:
    """Whether the arrays are valid interval and codeword indices."""
    if not arrays.keys() >= {"intervals", "codewords"}:
        return False
    intervals, codewords = arrays["intervals"], arrays["codewords"]
    return intervals.shape == codewords.shape == (intervals.size,) and all(
        indices.dtype.kind == "i"
        and (not indices.size or 0 <= indices.min() <= indices.max() < limit)
        for indices, limit in ((intervals, n_intervals), (codewords, n_codewords))
    )


def _codewords(
    video: VideoDescriptors, kind: str, codebook: Codebook, cache: Cache
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    for intervals, values in video.local(kind, cache):
        yield intervals, codebook.assign(dequantise(values))


def _quantised(options: VisionOptions) -> dict[str, str]:
    """The kinds of descriptors that are quantised by a codebook, with the hash of their options."""
    return {kind: by for kind, by in origins(options.watch).items() if kind != POOLED}


def require_extras(options: WatchOptions, device: str = "cpu") -> None:
    """Check that the extras needed by these features are installed.

    Raises
    ------
    MissingExtra
        One is missing.
    """
    quantised = options.motion is not None or options.appearance is not None
    if VISION.missing:
        raise MissingExtra(VISION.name, VISION.purpose)
    if quantised and PAPER.missing:
        raise MissingExtra(PAPER.name, PAPER.purpose)
    if needs_torch(options, device) and GPU.missing:
        raise MissingExtra(PAPER.name if quantised else GPU.name, "a network in PyTorch")


def _check(codebooks: Mapping[str, Codebook], options: VisionOptions) -> None:
    for kind, origin in _quantised(options).items():
        if kind not in codebooks:
            raise HowstepsError(f"the codebook has no codewords for {kind}")
        if codebooks[kind].origin != origin:
            raise HowstepsError(f"the codebook's codewords for {kind} were made with other options")
