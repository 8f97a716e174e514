"""Features of videos: a worker process for each, the cache, vectors, and the space of a model.

A :class:`Method` says how frames become vectors; the default is :class:`PooledFrames`. Descriptors
are cached per video and kind, under the hash of the video file and of the options, so a video is
decoded once.
"""

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol, TypeAlias

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from howsteps.errors import VISION, InputError, MissingExtra, Problem
from howsteps.io.cache import Cache
from howsteps.io.files import Folder, check_unchanged, fingerprint, key_of, sha256_of_file
from howsteps.io.worker_process import answer, limit_memory, run_in_worker
from howsteps.narration.features import LARGEST_VOCABULARY, Vocabulary
from howsteps.store import Record, read_record
from howsteps.task import Video
from howsteps.vision.network import LITE0, identity, load, require_runtime, weights_file

if TYPE_CHECKING:
    from howsteps.vision.descriptors import Describer
    from howsteps.vision.frames import Decoding, VideoReader

POOLED = "pooled"  # the kind of descriptors: one vector for a whole frame
SECONDS = 1 / 3  # duration of an interval: 10 frames at 30 per second


@dataclass(frozen=True, slots=True)
class PooledOptions:
    """Options of pooled features, one vector per frame.

    Attributes
    ----------
    network
        ``efficientnet-lite0``, or the path of an ONNX file
        (:class:`~howsteps.vision.network.OnnxNetwork`).
    side
        Shorter side of the input of the network, in pixels.
    every
        Compute the first of this many intervals; the others take the nearest one.
    sparing
        Decode as little as possible: key frames only if they are frequent or the bit rate is high,
        and no deblocking.
    """

    network: str = LITE0
    side: int = 224
    every: int = 1
    sparing: bool = False


# Every second interval, and small frames: faster and less accurate.
QUICK = PooledOptions(side=160, every=2, sparing=True)


def interval_count(length: float, seconds: float = SECONDS) -> int:
    """Return T, the number of intervals in ``length`` seconds; the last may be partial."""
    return max(1, ceil(length / seconds - 1e-9))


Matrix = NDArray[np.float32]
# By video id, T×d; and what was learnt for them, by kind.
Vectors: TypeAlias = tuple[dict[str, Matrix], Mapping[str, Any]]
MakeDescribers: TypeAlias = "Callable[[VideoReader], dict[str, Describer]]"

_VERSION = 2  # increment when the descriptors change
VIDEOS, CHUNKS = "descriptors", "chunks"  # stages of the cache
MEMORY = 2 * 2**30  # bytes that one video may use, on top of the libraries


class Method(Protocol):
    """How the frames of videos become vectors."""

    name: ClassVar[str]

    @property
    def options(self) -> Any:
        """A dataclass of JSON values."""
        ...

    def require_extras(self, device: str = "cpu") -> None:
        """Raise an error if something that is needed is not installed."""
        ...

    def origins(self) -> dict[str, str]:
        """For each kind of descriptors, the hash of all options they depend on.

        The device is left out on purpose: what a GPU computed is reused on a CPU.
        """
        ...

    def describers(
        self, media: Path, device: str, threads: int
    ) -> "tuple[Decoding | None, MakeDescribers]":
        """Load what is needed; return which frames are decoded, and what makes describers."""
        ...

    def vectors(self, videos: "Sequence[VideoDescriptors]", cache: Cache) -> Vectors:
        """Compute the vectors of videos."""
        ...


@dataclass(frozen=True)
class Features:
    """The features of videos, by video id.

    ``vectors`` are T×d; a video that cannot be decoded is missing, and ``problems`` say why.
    ``keys`` are hashes of everything the vectors depend on, ``durations`` are in seconds,
    ``learnt`` is what the method learnt from these videos, by kind, and ``described`` are their
    descriptors.
    """

    vectors: dict[str, Matrix] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    keys: dict[str, str] = field(default_factory=dict)
    durations: dict[str, float] = field(default_factory=dict)
    learnt: Mapping[str, Any] = field(default_factory=dict)
    described: "tuple[VideoDescriptors, ...]" = ()


@dataclass(frozen=True, slots=True)
class VideoRecord:
    """What is known of a video whose descriptors are in so many ``chunks`` of the cache.

    ``seconds`` is its duration, and ``defects`` are what is wrong with the file.
    """

    intervals: int
    seconds: float
    chunks: int
    defects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VideoDescriptors:
    """A video whose descriptors are cached, each kind under its key.

    ``cached``: they all were there before.
    """

    video: str
    media: Path
    keys: Mapping[str, str]
    record: VideoRecord
    cached: bool

    def read(self, kind: str, cache: Cache) -> Iterator[tuple[NDArray[np.int32], NDArray[Any]]]:
        """Yield interval indices (n) and descriptors (n×d), chunk by chunk."""
        for index in range(self.record.chunks):
            name = _chunk_name(self.keys[kind], index)
            arrays = cache.arrays(CHUNKS, name)
            if arrays is None:  # it was there when the video was looked up
                raise InputError(cache.path(CHUNKS, name, "npz"), "is gone; run the command again")
            if len(arrays["values"]):
                yield arrays["intervals"], arrays["values"]

    def vector_key(self, learnt: Mapping[str, Any]) -> str:
        """A hash of everything that the vectors of the video depend on."""
        digests = {kind: each.digest for kind, each in learnt.items()}
        keys = {kind: [key, digests.get(kind)] for kind, key in self.keys.items()}
        return key_of(_VERSION, keys=keys)


@dataclass(frozen=True)
class WorkerOptions:
    """What the worker processes of all videos have in common; sent to other machines.

    ``module`` calls :func:`describe_into`. With ``redo``, cached descriptors are ignored.
    """

    module: str
    method: Method
    origins: Mapping[str, str]
    cache: Cache
    device: str = "cpu"
    threads: int = 1
    redo: bool = False


def describe_video(
    video: Video,
    worker: WorkerOptions,
    report: Callable[[str, float, float | None], None] | None = None,
    stop: threading.Event | None = None,
) -> VideoDescriptors:
    """Compute the descriptors of a video in a worker process, unless they are in the cache.

    ``report`` is called with the id of the video, the time reached, and its duration if known. The
    worker is killed when ``stop`` is set.
    """
    media, cache = video.media or Path(), worker.cache
    before = fingerprint(media)
    content = sha256_of_file(media)
    keys = {kind: key_of(_VERSION, by=by, of=content) for kind, by in worker.origins.items()}
    if not worker.redo and (known := _cached([*keys.values()], cache)):
        return VideoDescriptors(video.id, media, keys, known, cached=True)

    def on_progress(reached: dict[str, Any]) -> None:
        if report is not None:
            report(video.id, round(reached["seconds"], 3), reached["total"])

    message = {
        "media": str(media.absolute()),
        "method": worker.method.name,
        "options": asdict(worker.method.options),
        "keys": keys,
        "cache": str(cache.folder.absolute()),
        "threads": worker.threads,
        "device": worker.device,
        "memory": MEMORY,
    }
    done = run_in_worker(
        worker.module, message, threads=worker.threads, on_progress=on_progress, stop=stop
    )
    check_unchanged(media, before)  # or another video would be cached under this hash
    record = msgspec.convert(done, VideoRecord)
    for key in keys.values():
        cache.put(VIDEOS, key, record)
    return VideoDescriptors(video.id, media, keys, record, cached=False)


def _chunk_name(key: str, index: int) -> str:
    return f"{key}-{index:05d}"


def _cached(keys: Sequence[str], cache: Cache) -> VideoRecord | None:
    """The record of a video, if all its descriptors are in the cache and none is damaged."""
    record, *others = [cache.get(VIDEOS, key, VideoRecord) for key in keys]
    if record is None or any(other != record for other in others):
        return None
    names = (_chunk_name(key, index) for key in keys for index in range(record.chunks))
    return record if all(cache.arrays(CHUNKS, name) is not None for name in names) else None


def describe_into(cache: Cache, method: Method, job: Mapping[str, Any]) -> dict[str, object]:
    """Do the job of a worker process: write chunks into the cache, and return a record of them."""
    # Imported here, so that a missing library is reported as an answer.
    from howsteps.vision.descriptors import describe_frames  # noqa: PLC0415
    from howsteps.vision.frames import VideoReader  # noqa: PLC0415

    media, threads, device = Path(job["media"]), job["threads"], job["device"]
    keys: dict[str, str] = job["keys"]  # by kind
    decoding, make = method.describers(media, device, threads)
    if device == "cpu":  # a GPU driver reserves far more address space than there is memory
        limit_memory(job["memory"])
    count = 0
    with VideoReader(media, threads, decoding) as video:

        def progress(time: float) -> None:
            answer({"seconds": time, "total": video.stated_duration})

        progress(0.0)
        for chunk in describe_frames(video, make(video), progress):
            for kind, described in chunk.items():
                cache.put_arrays(CHUNKS, _chunk_name(keys[kind], count), described._asdict())
            count += 1
        return {
            "intervals": interval_count(video.end),
            "seconds": video.end,
            "chunks": count,
            "defects": video.warnings(),
        }


@dataclass(frozen=True)
class PooledFrames:
    """The default: one vector of a network for the middle frame of every interval."""

    options: PooledOptions = field(default_factory=PooledOptions)
    name: ClassVar[str] = POOLED

    def require_extras(self, device: str = "cpu") -> None:
        """Raise an error if something that is needed is not installed."""
        if VISION.missing:
            raise MissingExtra(VISION.name, VISION.purpose)
        require_runtime(device)

    def origins(self) -> dict[str, str]:
        """The hash of all options that the pooled vectors depend on."""
        options = self.options
        origin = key_of(
            _VERSION,
            kind=POOLED,
            network=identity(options.network, weights_file(options.network)),
            side=options.side,
            every=options.every,
            sparing=options.sparing,
            seconds=SECONDS,
        )
        return {POOLED: origin}

    def describers(
        self, media: Path, device: str, threads: int
    ) -> "tuple[Decoding, MakeDescribers]":
        """Load the network; return which frames are needed, and what makes the describer."""
        from howsteps.vision.descriptors import pooled_describer  # noqa: PLC0415 - needs PyAV
        from howsteps.vision.frames import plan_decoding  # noqa: PLC0415

        options = self.options
        network = load(options.network, device, threads)
        decoding = plan_decoding(media, options.every * SECONDS, sparing=options.sparing)
        return decoding, lambda video: {POOLED: pooled_describer(video, options, network)}

    def vectors(self, videos: Sequence[VideoDescriptors], cache: Cache) -> Vectors:
        """Compute the vectors of videos."""
        rows = {v.video: pooled_features(v.read(POOLED, cache), v.record.intervals) for v in videos}
        return rows, {}


def pooled_frames(quick: bool) -> PooledFrames:
    """The default; a quick one is faster and less accurate."""
    return PooledFrames(QUICK if quick else PooledOptions())


def pooled_features(
    chunks: Iterable[tuple[NDArray[np.int32], NDArray[np.float16]]], intervals: int
) -> Matrix:
    """Return features of every interval, T×d, from pooled vectors of some of them.

    ``chunks`` of the video have intervals (n), and the pooled vector of each (n×d). An interval
    without a vector has that of the nearest one.
    """
    parts = list(chunks)
    if not parts:
        return np.zeros((intervals, 0), np.float32)
    known = np.concatenate([part for part, _ in parts])
    vectors = np.concatenate([signed_roots(rows.astype(np.float32)) for _, rows in parts])
    order = np.argsort(known, kind="stable")
    known = known[order]
    t = np.arange(intervals)
    after = np.minimum(np.searchsorted(known, t), len(known) - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(np.abs(known[after] - t) <= np.abs(known[before] - t), after, before)
    features: Matrix = vectors[order[nearest]]
    return features


def signed_roots(values: Matrix) -> Matrix:
    """Return ±√(|v| / Σ|v|) of each row; a row of zeros stays zero.

    The channels of a network, averaged over a frame, resemble counts of visual content; the roots
    keep a few strong ones from dominating (Hellinger). Negative channels keep their sign.
    """
    magnitude = np.abs(values)
    total = magnitude.sum(axis=1, keepdims=True)
    roots: Matrix = np.sign(values) * np.sqrt(magnitude / np.maximum(total, 1e-12))
    return roots


SPACE_VERSION = 2
SPACE_FILE = "features.json"
# A weight is the logarithm of a number of videos.
_Weight: TypeAlias = Annotated[float, Meta(ge=-1e6, le=1e6)]


class _WordsRecord(Record, tag_field="reads", tag="words"):
    """``features.json`` of a model of words: the vocabulary."""

    version: Literal[2]
    words: Annotated[list[tuple[str, _Weight]], Meta(max_length=LARGEST_VOCABULARY)]


class _FramesRecord(Record, tag_field="reads", tag="frames"):
    """``features.json`` of a model of frames: how they were described."""

    version: Literal[2]
    mode: Literal["default"]
    quick: bool
    origins: dict[str, str]


@dataclass(frozen=True)
class FeatureSpace:
    """The features that a model takes, so that the same can be computed for new videos.

    Either ``words``, the vocabulary of the narration, or video frames, looked at ``quick`` or not.
    """

    words: Vocabulary | None = None
    quick: bool = False

    def save(self, folder: Folder) -> None:
        """Write ``features.json`` next to a model."""
        content: dict[str, object] = {"version": SPACE_VERSION}
        if self.words is not None:
            words = zip(self.words.words, self.words.weights, strict=True)
            content |= {"reads": "words", "words": [[w, round(float(x), 6)] for w, x in words]}
        else:
            content |= {"reads": "frames", "mode": "default", "quick": self.quick}
            content["origins"] = pooled_frames(self.quick).origins()
        text = json.dumps(content, ensure_ascii=False, indent=1)
        folder.write(SPACE_FILE, f"{text}\n".encode())

    @staticmethod
    def load(folder: Path) -> "FeatureSpace":
        """Read what :meth:`save` wrote, if this version computes such features."""
        path = folder / SPACE_FILE
        kind: Any = _WordsRecord | _FramesRecord
        match read_record(path, kind):
            case _WordsRecord(words=words):
                weights = np.array([weight for _, weight in words], np.float32)
                return FeatureSpace(words=Vocabulary(tuple(word for word, _ in words), weights))
            case record:
                if record.origins != pooled_frames(record.quick).origins():
                    reason = "the model uses features that this version does not compute"
                    raise InputError(path, reason)
                return FeatureSpace(quick=record.quick)
