"""The visual features of the paper: histograms of codewords of motion and appearance.

Local descriptors are dense trajectories (:mod:`howsteps.paper.motion`) and the positions of the
feature maps of a network at several scales. Codewords are the centres of k-means. Interval t is
described by the block of 30 frames around it, that is with its neighbours:

    h_t[w] = number of descriptors with codeword w in the intervals t−r … t+r,   r = 1
    x_t    = √(h_t / Σ_w h_t[w])                                         (Hellinger)

and the x of motion and of appearance are concatenated: d = 2,000 + 1,000. The paper states the
kinds of descriptors, the blocks and the number of codewords, but not how densely it sampled; the
options keep as many descriptors as are practical.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import GPU, MissingExtra
from howsteps.errors import PAPER as EXTRA
from howsteps.io.cache import Cache
from howsteps.io.files import key_of
from howsteps.vision import network as networks
from howsteps.vision.features import (
    SECONDS,
    MakeDescribers,
    PooledFrames,
    Vectors,
    VideoDescriptors,
    signed_roots,
)
from howsteps.vision.network import LITE0, Network, identity

if TYPE_CHECKING:
    from howsteps.vision.descriptors import Describer
    from howsteps.vision.frames import Decoding, VideoReader

MOTION, APPEARANCE = "motion", "appearance"  # kinds of local descriptors
VGG16 = "vgg16"
VGG16_ADDRESS = "https://download.pytorch.org/models/vgg16-397923af.pth"
VGG16_DIGEST = "397923af"  # first digits of its SHA-256, as in its file name
WEIGHTS = Path(".cache") / "howsteps" / "weights"  # in the home folder

_VERSION = 3  # increment when the features change
_CODEWORDS, _CODEBOOK = "codewords", "codebook"  # stages of the cache
AROUND = 1  # intervals on either side: 30 frames are three intervals of 10
SAMPLE = 100  # training descriptors per codeword
_BLOCK = 4096  # descriptors whose distances are in memory at once

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class MotionOptions:
    """Options of dense trajectories.

    Attributes
    ----------
    pixels
        Number of pixels of the frame in which motion is measured (426×240 for 16:9).
    rate
        Maximum number of frames per second that are used.
    seconds
        Duration of a track.
    spacing
        Distance of the tracks at the finest scale, in pixels of the small frame.
    scales
        Number of scales; each is √2 coarser than the one before.
    camera
        Whether to remove camera motion.
    """

    pixels: int = 426 * 240
    rate: float = 30.0
    seconds: float = 0.5
    spacing: float = 5.0
    scales: int = 6
    camera: bool = True


@dataclass(frozen=True, slots=True)
class AppearanceOptions:
    """Options of local appearance descriptors.

    ``network`` is ``vgg16``, or as for :class:`~howsteps.vision.features.PooledOptions`; ``sides``
    is the shorter side of the frame at each scale, in pixels.
    """

    network: str = VGG16
    sides: tuple[int, ...] = (224, 320)


@dataclass(frozen=True, slots=True)
class WordOptions:
    """Options of visual words, as in the text of the paper; the program is not known to differ.

    A kind of descriptors that is None is left out. ``most`` limits the descriptors of a kind in an
    interval, a random subset, and ``motion_words`` and ``appearance_words`` the codewords.
    """

    motion: MotionOptions | None = field(default_factory=MotionOptions)
    appearance: AppearanceOptions | None = field(default_factory=AppearanceOptions)
    most: int = 1000
    motion_words: int = 2000
    appearance_words: int = 1000
    seed: int = 0


# Small frames at one scale, ten per second, the network of mode ``default``, and fewer codewords.
QUICK = WordOptions(
    MotionOptions(pixels=160 * 120, rate=10.0, spacing=6.0, scales=1),
    AppearanceOptions(LITE0, sides=(128,)),
    most=150,
    motion_words=500,
    appearance_words=500,
)


@dataclass(frozen=True)
class VisualWords:
    """The method of the paper (see :class:`howsteps.vision.features.Method`)."""

    options: WordOptions = field(default_factory=WordOptions)
    name: ClassVar[str] = "words"

    def require_extras(self, device: str = "cpu") -> None:
        """Raise an error if something that is needed is not installed."""
        PooledFrames().require_extras()
        if EXTRA.missing:
            raise MissingExtra(EXTRA.name, EXTRA.purpose)
        appearance = self.options.appearance
        if appearance is None:
            return
        if appearance.network == VGG16 and GPU.missing:
            raise MissingExtra(EXTRA.name, "VGG-16")
        if appearance.network != VGG16:
            networks.require_runtime(device)

    def origins(self) -> dict[str, str]:
        """For each kind of descriptors, the hash of all options they depend on."""
        options, found = self.options, {}
        sampled = {"seconds": SECONDS, "most": options.most, "seed": options.seed}
        if options.motion is not None:
            found[MOTION] = key_of(_VERSION, kind=MOTION, options=options.motion, **sampled)
        if options.appearance is not None:
            network, sides = options.appearance.network, options.appearance.sides
            found[APPEARANCE] = key_of(
                _VERSION,
                kind=APPEARANCE,
                network=identity(network, weights_file(network)),
                sides=sides,
                **sampled,
            )
        return found

    def describers(
        self, media: Path, device: str, threads: int
    ) -> "tuple[Decoding | None, MakeDescribers]":
        """Load what is needed; local descriptors need all frames."""
        options = self.options
        makers: dict[str, Callable[[VideoReader], Describer]] = {}
        if options.motion is not None:
            import cv2  # noqa: PLC0415 - for motion alone

            from howsteps.paper.motion import MotionDescriber  # noqa: PLC0415 - loads Numba

            cv2.setNumThreads(threads)  # PyTorch and Numba read the environment
            makers[MOTION] = partial(
                MotionDescriber, options=options.motion, most=options.most, seed=options.seed
            )
        if options.appearance is not None:
            makers[APPEARANCE] = partial(
                appearance_describer,
                options=options.appearance,
                network=load_network(options.appearance.network, device, threads),
                most=options.most,
                seed=options.seed,
            )
        return None, lambda video: {kind: make(video) for kind, make in makers.items()}

    def vectors(self, videos: Sequence[VideoDescriptors], cache: Cache) -> Vectors:
        """Compute the vectors of videos, with codebooks learnt from them."""
        codebooks = learn_codebooks(videos, self.options, cache)
        return {v.video: _vectors(v, codebooks, cache) for v in videos}, codebooks


def appearance_describer(
    video: "VideoReader", options: AppearanceOptions, network: Network, most: int, seed: int
) -> "Describer":
    """Local descriptors of the middle frame of every interval, of all scales together."""
    from howsteps.vision.descriptors import FrameSampler  # noqa: PLC0415 - needs PyAV

    def describe(scales: list[NDArray[np.uint8]]) -> list[NDArray[Any]]:
        local = np.concatenate([network.describe(images) for images in scales], axis=1)
        return [quantise(rows) for rows in local]

    return FrameSampler(
        video, describe, options.sides, choose=lambda values, at: draw(values, most, seed, at)
    )


def draw(values: NDArray[Any], most: int, seed: int, interval: int) -> NDArray[Any]:
    """Return at most ``most`` rows of the descriptors of an interval, a random subset."""
    if len(values) <= most:
        return values
    chosen = np.random.default_rng((seed, interval)).choice(len(values), most, replace=False)
    return values[np.sort(chosen)]


def quantise(values: Floats) -> NDArray[np.int8]:
    """Return the direction of each row in one byte per entry: 127 · v / max |v|."""
    largest = np.abs(values).max(axis=1, keepdims=True)
    bytes_: NDArray[np.int8] = np.rint(values * (127 / np.maximum(largest, 1e-12))).astype(np.int8)
    return bytes_


def dequantise(values: NDArray[np.int8]) -> Floats:
    """Return the unit vector of each quantised row: v / ‖v‖."""
    floats = values.astype(np.float32)
    lengths: Floats = np.linalg.norm(floats, axis=1, keepdims=True)
    floats /= np.maximum(lengths, 1e-12)
    return floats


def load_network(network: str, device: str = "cpu", threads: int = 1) -> Network:
    """Load a network: VGG-16, or any other."""
    path = weights_file(network)
    if network != VGG16:
        return networks.load(network, device=device, threads=threads)
    from howsteps.paper import vgg16  # noqa: PLC0415 - PyTorch

    return vgg16.load(path, device)


def weights_file(network: str) -> Path:
    """Return the file of a network's weights, that of VGG-16 downloaded if necessary."""
    if network != VGG16:
        return networks.weights_file(network)
    from howsteps.datasets.fetch import fetch_file  # noqa: PLC0415 - not needed by others

    path = Path.home() / WEIGHTS / VGG16_ADDRESS.rpartition("/")[2]
    fetch_file(VGG16_ADDRESS, path, VGG16_DIGEST)
    return path


@dataclass(frozen=True, slots=True)
class Codebook:
    """The codewords of one kind of descriptors; ``centres`` are k×d."""

    centres: Floats

    def __len__(self) -> int:
        return len(self.centres)

    @property
    def digest(self) -> str:
        """SHA-256 of the centres, in hexadecimal."""
        return hashlib.sha256(np.ascontiguousarray(self.centres).tobytes()).hexdigest()

    def assign(self, descriptors: Floats) -> NDArray[np.int32]:
        """Return the nearest codeword of each descriptor (n×d).

        argmin_k ‖x − c_k‖² = argmax_k (x·c_k − ‖c_k‖²/2).
        """
        half_norms = (self.centres**2).sum(axis=1) / 2
        codewords = np.empty(len(descriptors), np.int32)
        for start in range(0, len(descriptors), _BLOCK):
            block = slice(start, start + _BLOCK)
            codewords[block] = (descriptors[block] @ self.centres.T - half_norms).argmax(axis=1)
        return codewords


def learn_codebook(descriptors: Floats, size: int, seed: int = 0) -> Codebook:
    """Learn a codebook of ``size`` codewords from descriptors (n×d) by mini-batch k-means.

    If there are no more than ``size`` distinct descriptors, these are the codewords.
    """
    from sklearn.cluster import MiniBatchKMeans  # noqa: PLC0415 - slow to load

    # Sorting a large sample would be slow, and it has enough distinct descriptors.
    if len(descriptors) < 2 * size:
        distinct = np.unique(descriptors, axis=0)
        if len(distinct) <= size:
            return Codebook(distinct)
    kmeans = MiniBatchKMeans(
        size,
        batch_size=_BLOCK,
        max_iter=10,
        n_init=1,
        init_size=3 * size,
        random_state=seed,
        reassignment_ratio=0.001,
    )
    kmeans.fit(descriptors)
    return Codebook(kmeans.cluster_centers_.astype(np.float32))


def learn_codebooks(
    videos: Sequence[VideoDescriptors], options: WordOptions, cache: Cache
) -> dict[str, Codebook]:
    """Learn the codebook of each kind."""
    sizes = {MOTION: options.motion_words, APPEARANCE: options.appearance_words}
    found = {}
    for kind in videos[0].keys:
        # Not sorted: the sample depends on the order of the videos.
        keys = [video.keys[kind] for video in videos]
        key = key_of(_VERSION, videos=keys, codewords=sizes[kind], seed=options.seed)
        cached = cache.arrays(_CODEBOOK, key)
        if cached is not None:
            found[kind] = Codebook(cached["centres"])
        else:
            sample = _sample(videos, kind, sizes[kind] * SAMPLE, options.seed, cache)
            found[kind] = learn_codebook(sample, sizes[kind], options.seed)
            cache.put_arrays(_CODEBOOK, key, {"centres": found[kind].centres})
    return found


def _sample(
    videos: Sequence[VideoDescriptors], kind: str, size: int, seed: int, cache: Cache
) -> Floats:
    """Sample about ``size`` descriptors, the same number from every video."""
    per_video = -(-size // len(videos))
    sampled: list[NDArray[np.int8]] = []
    for index, video in enumerate(videos):
        generator = np.random.default_rng((seed, index))
        total = sum(len(intervals) for intervals, _ in video.read(kind, cache))
        chosen = np.sort(generator.permutation(total)[:per_video])
        start = 0
        for _, values in video.read(kind, cache):
            in_chunk = chosen[(chosen >= start) & (chosen < start + len(values))] - start
            sampled.append(values[in_chunk])
            start += len(values)
    return dequantise(np.concatenate(sampled)) if sampled else np.empty((0, 0), np.float32)


def _vectors(video: VideoDescriptors, codebooks: Mapping[str, Codebook], cache: Cache) -> Floats:
    parts = [
        signed_roots(blocks(_counts(video, kind, codebook, cache)))
        for kind, codebook in codebooks.items()
    ]
    return np.concatenate(parts, axis=1)


def _counts(video: VideoDescriptors, kind: str, codebook: Codebook, cache: Cache) -> Floats:
    """Codeword counts, T×k; the codeword of every descriptor is cached."""
    if not len(codebook):
        return np.zeros((video.record.intervals, 0), np.float32)
    key = key_of(_VERSION, video=video.keys[kind], codebook=codebook.digest)
    cached = cache.arrays(_CODEWORDS, key)
    if cached is None:
        pairs = [
            (intervals, codebook.assign(dequantise(values)))
            for intervals, values in video.read(kind, cache)
        ]
        pairs.append((np.empty(0, np.int32), np.empty(0, np.int32)))
        intervals, codewords = (np.concatenate(part) for part in zip(*pairs, strict=True))
        cached = {"intervals": intervals, "codewords": codewords}
        cache.put_arrays(_CODEWORDS, key, cached)
    return count_codewords(
        cached["intervals"], cached["codewords"], video.record.intervals, len(codebook)
    )


def count_codewords(
    interval_of: NDArray[np.int32], codewords: NDArray[np.int32], intervals: int, size: int
) -> Floats:
    """Return the count of each codeword in each interval, T×k.

    ``interval_of`` and ``codewords`` (n) are the interval and the codeword of every descriptor.
    """
    counts = np.zeros((intervals, size), np.float32)
    # The middle of the last track may lie just after the last interval.
    np.add.at(counts, (np.minimum(interval_of, intervals - 1), codewords), 1)
    return counts


def blocks(counts: Floats) -> Floats:
    """Return sums over the intervals t−r … t+r; fewer at the ends of the video."""
    total = np.zeros_like(counts)
    for shift in range(-AROUND, AROUND + 1):
        source = counts[max(0, shift) : len(counts) + min(0, shift)]
        total[max(0, -shift) : len(counts) + min(0, -shift)] += source
    return total
