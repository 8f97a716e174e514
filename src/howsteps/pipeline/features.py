"""Videos → one vector for each interval, through the cache.

::

    video ─► descriptors (in a worker process) ─┬─► pooled ────────────────┬─► vectors
                                                └─► codebook ─► codewords ─┘

Descriptors are cached for each video and kind, under the content of the video and the options. A
video that is added later is described alone; for the others only codewords are looked up again.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howsteps.engine.cache import Cache, key_of
from howsteps.engine.context import Context
from howsteps.engine.executor import single_threaded
from howsteps.errors import HowstepsError, MissingExtra, Problem
from howsteps.extras import GPU, PAPER, VISION
from howsteps.pipeline.descriptors import (
    MEMORY,
    VideoDescriptors,
    extract_descriptors,
    origins,
)
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

_VERSION = 1  # of what is computed: a change here computes all of it again
_CODEWORDS, _CODEBOOK = "codewords", "codebook"  # stages of the cache


@dataclass(frozen=True)
class Features:
    """The features of videos.

    Attributes
    ----------
    vectors
        By video id, T×d float32. A video that cannot be decoded is missing.
    problems
        The reason for each that is missing, and what was wrong with others.
    keys
        By video id, a hash of all that its vectors depend on.
    durations
        By video id, seconds.
    codebooks
        By kind, the codewords that the vectors count.
    described
        What was read of the videos.
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
    """The stage that looks at the video frames; returns the task with the lengths of its videos.

    Vectors count the codewords of ``codebooks``, or those of codebooks learnt from these videos.

    Raises
    ------
    MissingExtra
        ``options.vision`` is True, and what it needs is not installed; or what the mode or the
        device needs besides.
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
    """The video files that were looked at and could not be decoded."""
    found = {problem.path for problem in features.problems}
    return {v.media for v in task.videos if v.media in found and v.id not in features.vectors}


def with_durations(task: Task, features: Features) -> Task:
    """The task with the lengths of the videos that were decoded."""
    lengths = features.durations
    videos = tuple(replace(v, duration=lengths.get(v.id, v.duration)) for v in task.videos)
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
    """Describe every interval of every video that has a file.

    Parameters
    ----------
    videos
        Those without ``media`` are left out.
    options
        Which descriptors, and how many codewords.
    context
        Cache, workers and callback. Stage ``features`` in ``redo`` describes the videos again.
    task
        A name for events.
    codebooks
        By kind, learnt elsewhere; else they are learnt from these videos.
    device
        ``cpu``, or ``cuda`` for the network.
    memory
        Bytes that one video may take, over what the libraries do.

    Raises
    ------
    HowstepsError
        The codebooks are of descriptors made with other options, or the network is not there.
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
            codebooks, flaws = learn_codebooks(described, options, cache)
            problems += flaws
        used = {kind: codebooks[kind] for kind in described[0].keys if kind != POOLED}
        vectors = {video.video: _vectors(video, used, cache) for video in described}
    context.note(cache.take_refused())
    return Features(
        vectors,
        tuple(problems),
        {video.video: _vector_key(video, used) for video in described},
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
    """Features that were made elsewhere (:mod:`howsteps.vision.precomputed`), on the same grid."""
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
    """The codebook of each kind, learnt from videos; and a remark where it has few codewords."""
    found, problems = {}, []
    for kind, origin in _quantised(options).items():
        wanted = options.codebook_size(kind)
        # In their order, on which the sample depends.
        keys = [video.keys[kind] for video in videos]
        key = key_of(_VERSION, videos=keys, codewords=wanted, seed=options.seed)
        cached = cache.arrays(_CODEBOOK, key)
        centres = (cached or {}).get("centres", np.empty(0))
        if fits := centres.ndim == 2 and centres.dtype == np.float32:
            found[kind] = Codebook(centres, origin)
        elif cached is not None:
            cache.refuse(_CODEBOOK, key, "npz", "it is no codebook")
        if not fits:
            sample = _sample(videos, kind, wanted * SAMPLE, options.seed, cache)
            found[kind] = learn_codebook(sample, wanted, origin, options.seed)
            cache.put_arrays(_CODEBOOK, key, {"centres": found[kind].centres})
        if len(found[kind]) < wanted:
            count = len(found[kind])
            reason = f"{kind}: {count} codewords, as there are no more different descriptors"
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
    return np.concatenate(parts, axis=1)


def _vector_key(video: VideoDescriptors, codebooks: Mapping[str, Codebook]) -> str:
    digests = {kind: book.digest for kind, book in codebooks.items()}
    return key_of(
        _VERSION, keys={kind: [key, digests.get(kind)] for kind, key in video.keys.items()}
    )


def _sample(
    videos: Sequence[VideoDescriptors], kind: str, most: int, seed: int, cache: Cache
) -> NDArray[np.float32]:
    """Descriptors of all videos, as many of each: at most ``most`` in all."""
    share = -(-most // len(videos))
    drawn: list[NDArray[np.int8]] = []
    for number, video in enumerate(videos):
        generator = np.random.default_rng((seed, number))
        total = sum(len(intervals) for intervals, _ in video.local(kind, cache))
        chosen = np.sort(generator.permutation(total)[:share])
        start = 0
        for _, values in video.local(kind, cache):
            here = chosen[(chosen >= start) & (chosen < start + len(values))] - start
            drawn.append(values[here])
            start += len(values)
    return dequantise(np.concatenate(drawn)) if drawn else np.empty((0, 0), np.float32)


def _counts(
    video: VideoDescriptors, kind: str, codebook: Codebook, cache: Cache
) -> NDArray[np.float32]:
    """T×k counts of codewords; the codeword of every descriptor is cached."""
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


def _are_codewords(arrays: Mapping[str, NDArray[Any]], intervals: int, words: int) -> bool:
    """Whether arrays are places in so many intervals, each with one of so many codewords."""
    if not arrays.keys() >= {"intervals", "codewords"}:
        return False
    places, found = arrays["intervals"], arrays["codewords"]
    return places.shape == found.shape == (places.size,) and all(
        part.dtype.kind == "i" and (not part.size or 0 <= part.min() <= part.max() < most)
        for part, most in ((places, intervals), (found, words))
    )


def _codewords(
    video: VideoDescriptors, kind: str, codebook: Codebook, cache: Cache
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    for intervals, values in video.local(kind, cache):
        yield intervals, codebook.assign(dequantise(values))


def _quantised(options: VisionOptions) -> dict[str, str]:
    """The kinds of descriptors that a codebook quantises, and what they depend on."""
    return {kind: by for kind, by in origins(options.watch).items() if kind != POOLED}


def require_extras(options: WatchOptions, device: str = "cpu") -> None:
    """Say in one line which extra some features need, if it is missing.

    Raises
    ------
    MissingExtra
        It is.
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
            raise HowstepsError(
                f"the codebook's codewords for {kind} are of descriptors made with other options"
            )
