"""Descriptors of one video, with their intervals.

Every decoded frame goes to one or more describers, which answer with descriptors of intervals. They
are yielded in chunks of a minute, so memory does not grow with the video.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import HowstepsError
from howsteps.vision.features import SECONDS, PooledOptions, interval_count
from howsteps.vision.frames import Frame, Image, VideoReader
from howsteps.vision.network import OnnxNetwork

Images = NDArray[np.uint8]  # B×H×W×3
IntervalDescriptors: TypeAlias = tuple[int, NDArray[Any]]  # an interval and its rows, n×d

_CHUNK = 180  # intervals: a minute
BATCH = 8  # frames of one scale in a batch of the network
STRIDE = 32  # pixels between positions of the feature maps
WIDEST = 2.5  # largest aspect ratio; wider frames are squeezed


class Descriptors(NamedTuple):
    """Descriptors (n×d) and the interval of each (n)."""

    values: NDArray[Any]
    intervals: NDArray[np.int32]


Chunk: TypeAlias = dict[str, Descriptors]  # by kind


class Describer(Protocol):
    """Computes one kind of descriptors from the frames of a video, in order.

    Nothing is computed before its result is asked for.
    """

    def add(self, frame: Frame) -> Iterator[IntervalDescriptors]:
        """Take the next frame; yield the intervals that are complete."""
        ...

    def finish(self, end: float) -> Iterator[IntervalDescriptors]:
        """End the video; yield the other intervals."""
        ...


def describe_frames(
    video: VideoReader,
    describers: Mapping[str, Describer],
    progress: Callable[[float], None] = lambda _: None,
) -> Iterator[Chunk]:
    """Yield the descriptors of a video in chunks.

    ``progress`` is called with the time in the video.
    """
    buffer: dict[str, list[IntervalDescriptors]] = {kind: [] for kind in describers}

    def add(kind: str, described: Iterator[IntervalDescriptors]) -> Iterator[Chunk]:
        for interval in described:
            buffer[kind].append(interval)
            if len(buffer[kind]) >= _CHUNK:
                yield _chunk(buffer)

    reported = 0.0
    for frame in video:
        for kind, describer in describers.items():
            yield from add(kind, describer.add(frame))
        if frame.time - reported >= SECONDS:
            reported = frame.time
            progress(reported)
    for kind, describer in describers.items():
        yield from add(kind, describer.finish(video.end))
    yield _chunk(buffer)


def _chunk(buffer: dict[str, list[IntervalDescriptors]]) -> Chunk:
    """Return and clear the buffer; every kind is included, even if empty."""
    chunk = {}
    for kind, described in buffer.items():
        counts = [len(values) for _, values in described]
        intervals = np.repeat([interval for interval, _ in described], counts).astype(np.int32)
        values = [values for _, values in described] or [np.empty((0, 0), np.int8)]
        chunk[kind] = Descriptors(np.concatenate(values), intervals)
        described.clear()
    return chunk


class FrameSampler:
    """Describes the frame that is shown in the middle of every interval, in batches.

    ``describe`` gives the descriptors of a batch of frames, given at every scale; ``sides`` are the
    shorter sides of the frame at each scale, in pixels. Only the first of ``every`` intervals is
    described. ``choose`` takes some of the rows of an interval, given its index; all if None.
    """

    def __init__(
        self,
        video: VideoReader,
        describe: Callable[[list[Images]], list[NDArray[Any]]],
        sides: tuple[int, ...],
        every: int = 1,
        choose: Callable[[NDArray[Any], int], NDArray[Any]] | None = None,
    ) -> None:
        self._describe, self._every, self._choose = describe, every, choose
        self._sizes = [_network_size(video, side) for side in sides]
        self._shown: Frame | None = None
        self._next = 0  # the next interval to describe
        self._has_sampled = False
        self._waiting: list[tuple[int, list[Image]]] = []

    def add(self, frame: Frame) -> Iterator[IntervalDescriptors]:
        """Add the next frame; the one before it was shown until then."""
        yield from self._sample(frame.time)
        self._shown = frame

    def finish(self, end: float) -> Iterator[IntervalDescriptors]:
        """End the video; the last frame was shown until ``end``."""
        yield from self._sample(end)
        if not self._has_sampled and self._shown is not None:
            # The video is shorter than half an interval.
            interval = min(int(self._shown.time / SECONDS), interval_count(end) - 1)
            self._waiting.append((interval, self._images(self._shown)))
        yield from self._describe_waiting()

    def _sample(self, end: float) -> Iterator[IntervalDescriptors]:
        """Queue the shown frame for the intervals whose middle is before ``end``."""
        images: list[Image] | None = None
        while (middle := (self._next + 0.5) * SECONDS) < end:
            if self._shown is not None and self._shown.time <= middle:
                if images is None:
                    images = self._images(self._shown)
                    self._has_sampled = True
                self._waiting.append((self._next, images))
            self._next += self._every
        if len(self._waiting) >= BATCH:
            yield from self._describe_waiting()

    def _images(self, frame: Frame) -> list[Image]:
        """Return the frame at every scale."""
        return [frame.rgb(*size) for size in self._sizes]

    def _describe_waiting(self) -> Iterator[IntervalDescriptors]:
        """Describe the queued frames; a frame of several intervals is described once.

        A frame may be shown for hours, so rows are chosen when they are asked for.
        """
        waiting, self._waiting = self._waiting, []
        batch = list({id(images): images for _, images in waiting}.values())
        if not batch:
            return
        described = self._describe([np.stack(images) for images in zip(*batch, strict=True)])
        values = {id(images): described[n] for n, images in enumerate(batch)}
        for interval, images in waiting:
            rows = values[id(images)]
            yield interval, rows if self._choose is None else self._choose(rows, interval)


def pooled_describer(
    video: VideoReader, options: PooledOptions, network: OnnxNetwork
) -> FrameSampler:
    """Describe frames by one pooled vector each, float16."""
    return FrameSampler(video, partial(_pooled, network), (options.side,), options.every)


def _pooled(network: OnnxNetwork, scales: list[Images]) -> list[NDArray[Any]]:
    """Return one row for every frame."""
    [images] = scales
    with np.errstate(over="ignore"):  # reported below
        rows = network.pooled(images).astype(np.float16)
    if not np.isfinite(rows).all():
        raise HowstepsError("the network gives values that are too large or not finite")
    return [row[None] for row in rows]


def _network_size(video: VideoReader, side: int) -> tuple[int, int]:
    """Return width and height for a shorter side; the longer is a multiple of the stride."""
    ratio = max(video.width, video.height) / min(video.width, video.height)
    longer = max(side, round(side * min(ratio, WIDEST) / STRIDE) * STRIDE)
    return (longer, side) if video.width >= video.height else (side, longer)
