"""Descriptors of one video, with their intervals.

Frames are decoded once for motion, appearance and pooling. The number of descriptors per interval
is limited and they are yielded in chunks of a minute, so memory does not grow with the video.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import HowstepsError
from howsteps.vision.frames import Frame, Image, VideoReader
from howsteps.vision.histograms import interval_count
from howsteps.vision.local import Chunk, Descriptors, IntervalDescriptors, quantise
from howsteps.vision.network import Network
from howsteps.vision.options import APPEARANCE, MOTION, POOLED, WatchOptions
from howsteps.vision.stopwatch import Timings, timed, timed_each

if TYPE_CHECKING:
    from howsteps.vision.motion import TrajectoryExtractor

Images = NDArray[np.uint8]  # B×H×W×3

_CHUNK = 180  # intervals: a minute
BATCH = 8  # frames of one scale in a batch of the network
STRIDE = 32  # pixels between positions of the feature maps
WIDEST = 2.5  # largest aspect ratio; wider frames are squeezed


class DescriptorExtractor:
    """Computes the descriptors of a video; :meth:`chunks` can be iterated once.

    Parameters
    ----------
    video
        The open video.
    options
        The kinds of descriptors to compute.
    networks
        The networks of ``appearance`` and ``pooled``, by kind.

    Attributes
    ----------
    timings
        Seconds by part of the computation.
    """

    def __init__(
        self, video: VideoReader, options: WatchOptions, networks: Mapping[str, Network]
    ) -> None:
        self.video, self.options = video, options
        self.timings = Timings(float)
        self._motion = None
        if options.motion is not None:
            from howsteps.vision.motion import TrajectoryExtractor  # noqa: PLC0415 - loads Numba

            self._motion = TrajectoryExtractor(options.motion, self.timings)
        self._samplers: dict[str, _FrameSampler] = {}
        if options.appearance is not None and APPEARANCE in networks:
            describe = partial(_local_descriptors, networks[APPEARANCE])
            self._samplers[APPEARANCE] = _FrameSampler(
                video, describe, options.appearance.sides, options.seconds
            )
        if options.pooled is not None and POOLED in networks:
            describe = partial(_pooled, networks[POOLED])
            self._samplers[POOLED] = _FrameSampler(
                video, describe, (options.pooled.side,), options.seconds, options.pooled.every
            )
        self._pending: dict[int, list[NDArray[np.int8]]] = {}
        kinds = [*([MOTION] if self._motion else []), *self._samplers]
        self._buffer: dict[str, list[IntervalDescriptors]] = {kind: [] for kind in kinds}

    @property
    def intervals(self) -> int:
        """T, the number of intervals of the video so far."""
        return interval_count(self.video.end, self.options.seconds)

    def chunks(self, progress: Callable[[float], None] = lambda _: None) -> Iterator[Chunk]:
        """Yield chunks to the end of the video; ``progress`` is called with its time in seconds."""
        reported = 0.0
        for frame in timed_each(self.video, self.timings, "decode"):
            if self._motion is not None and self._motion.due(frame.time):
                yield from self._add(MOTION, self._track(self._motion, frame))
            for kind, sampler in self._samplers.items():
                with timed(self.timings, "network"):
                    described = sampler.add(frame)
                yield from self._add(kind, described)
            if frame.time - reported >= self.options.seconds:
                reported = frame.time
                progress(reported)
        if self._motion is not None:
            yield from self._add(MOTION, self._complete_intervals(self.intervals))
        for kind, sampler in self._samplers.items():
            with timed(self.timings, "network"):
                described = sampler.finish(self.video.end)
            yield from self._add(kind, described)
        yield self._chunk()

    def _track(self, motion: "TrajectoryExtractor", frame: Frame) -> list[IntervalDescriptors]:
        """Track motion to the next frame; return the intervals that can get no more tracks."""
        with timed(self.timings, "scale"):
            image = frame.luma(*self.video.size(motion.options.pixels))
        for tracks in motion.step(image, frame.time):
            interval = int(tracks.time / self.options.seconds)
            self._pending.setdefault(interval, []).append(quantise(tracks.descriptors))
        # The middle of a track is at most the life of a track before the current time.
        return self._complete_intervals(
            int((frame.time - motion.options.seconds) / self.options.seconds)
        )

    def _complete_intervals(self, before: int) -> list[IntervalDescriptors]:
        complete = sorted(interval for interval in self._pending if interval < before)
        return [(interval, np.concatenate(self._pending.pop(interval))) for interval in complete]

    def _add(self, kind: str, described: list[IntervalDescriptors]) -> Iterator[Chunk]:
        """Buffer a random subset of the descriptors; yield a chunk when the buffer is full.

        A frame may be shown for hours: its descriptors are one array for all its intervals, and
        are copied only here.
        """
        limit = self.options.most_motion if kind == MOTION else self.options.most_appearance
        for interval, values in described:
            drawn = values
            if len(values) > limit:
                rng = np.random.default_rng((self.options.seed, interval))
                drawn = values[np.sort(rng.choice(len(values), limit, replace=False))]
            self._buffer[kind].append((interval, drawn))
            if len(self._buffer[kind]) >= _CHUNK:
                yield self._chunk()

    def _chunk(self) -> Chunk:
        """Return and clear the buffer; every kind is included, even if empty."""
        chunk = {}
        for kind, buffer in self._buffer.items():
            counts = [len(values) for _, values in buffer]
            intervals = np.repeat([interval for interval, _ in buffer], counts).astype(np.int32)
            values = [values for _, values in buffer] or [np.empty((0, 0), np.int8)]
            chunk[kind] = Descriptors(np.concatenate(values), intervals)
            buffer.clear()
        return chunk


class _FrameSampler:
    """Describes the frame that is shown in the middle of every interval, in batches.

    Parameters
    ----------
    video
        The video, for its aspect ratio.
    describe
        Descriptors of a batch of frames, given at every scale.
    sides
        Shorter side of the frame at each scale, in pixels.
    seconds
        Duration of an interval.
    every
        Describe only the first of this many intervals.
    """

    def __init__(
        self,
        video: VideoReader,
        describe: Callable[[list[Images]], list[NDArray[Any]]],
        sides: tuple[int, ...],
        seconds: float,
        every: int = 1,
    ) -> None:
        self._describe, self._seconds, self._every = describe, seconds, every
        self._sizes = [_network_size(video, side) for side in sides]
        self._shown: Frame | None = None
        self._next = 0  # the next interval to describe
        self._has_sampled = False
        self._waiting: list[tuple[int, list[Image]]] = []

    def add(self, frame: Frame) -> list[IntervalDescriptors]:
        """Add the next frame; the one before it was shown until then."""
        described = self._sample(frame.time)
        self._shown = frame
        return described

    def finish(self, end: float) -> list[IntervalDescriptors]:
        """End the video; the last frame was shown until ``end``."""
        described = self._sample(end)
        if not self._has_sampled and self._shown is not None:
            # The video is shorter than half an interval.
            interval = min(
                int(self._shown.time / self._seconds), interval_count(end, self._seconds) - 1
            )
            self._waiting.append((interval, self._images(self._shown)))
        return described + self._describe_waiting()

    def _sample(self, end: float) -> list[IntervalDescriptors]:
        """Queue the shown frame for the intervals whose middle is before ``end``."""
        images: list[Image] | None = None
        while (middle := (self._next + 0.5) * self._seconds) < end:
            if self._shown is not None and self._shown.time <= middle:
                if images is None:
                    images = self._images(self._shown)
                    self._has_sampled = True
                self._waiting.append((self._next, images))
            self._next += self._every
        return self._describe_waiting() if len(self._waiting) >= BATCH else []

    def _images(self, frame: Frame) -> list[Image]:
        """Return the frame at every scale."""
        return [frame.rgb(*size) for size in self._sizes]

    def _describe_waiting(self) -> list[IntervalDescriptors]:
        """Describe the queued frames; a frame of several intervals is described once."""
        waiting, self._waiting = self._waiting, []
        batch = list({id(images): images for _, images in waiting}.values())
        if not batch:
            return []
        described = self._describe([np.stack(images) for images in zip(*batch, strict=True)])
        values = {id(images): described[n] for n, images in enumerate(batch)}
        return [(interval, values[id(images)]) for interval, images in waiting]


def _local_descriptors(network: Network, scales: list[Images]) -> list[NDArray[Any]]:
    """Return the local descriptors of every frame, of all scales together."""
    local = np.concatenate([network.describe(images) for images in scales], axis=1)
    return [quantise(rows) for rows in local]


def _pooled(network: Network, scales: list[Images]) -> list[NDArray[Any]]:
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
