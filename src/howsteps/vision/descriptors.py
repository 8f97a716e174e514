"""One video from beginning to end → descriptors with the interval they belong to.

Frames are decoded once and looked at by motion, appearance and pooling together. What comes out is
bounded for every interval and handed over in chunks of a minute, so that memory does not grow
with the video.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from howsteps.vision.frames import Frame, Image, VideoReader
from howsteps.vision.histograms import interval_count
from howsteps.vision.local import Chunk, Found, Local, quantised
from howsteps.vision.network import Network
from howsteps.vision.options import APPEARANCE, MOTION, POOLED, WatchOptions
from howsteps.vision.stopwatch import Spent, timed, timed_each

if TYPE_CHECKING:
    from howsteps.vision.motion import Motion

Images = NDArray[np.uint8]  # B×H×W×3

_CHUNK = 180  # intervals: a minute
BATCH = 8  # frames of one scale that the network is given at once
STRIDE = 32  # pixels from one position of the maps to the next
WIDEST = 2.5  # longer side over shorter: a wider picture is squeezed


class DescriptorExtractor:
    """A video being watched; go through :meth:`chunks` once, then read what it says.

    Attributes
    ----------
    spent
        Seconds by what they were spent on.
    """

    def __init__(
        self, video: VideoReader, options: WatchOptions, networks: Mapping[str, Network]
    ) -> None:
        self.video, self.options = video, options
        self.spent = Spent(float)
        self._motion = None
        if options.motion is not None:
            from howsteps.vision.motion import Motion  # noqa: PLC0415 - loads Numba

            self._motion = Motion(options.motion, self.spent)
        self._looks: dict[str, _Look] = {}
        if options.appearance is not None and APPEARANCE in networks:
            local = partial(_local_descriptors, networks[APPEARANCE])
            self._looks[APPEARANCE] = _Look(video, local, options.appearance.sides, options.seconds)
        if options.pooled is not None and POOLED in networks:
            pooled, wanted = partial(_pooled, networks[POOLED]), options.pooled
            self._looks[POOLED] = _Look(
                video, pooled, (wanted.side,), options.seconds, wanted.every
            )
        self._pending: dict[int, list[NDArray[np.int8]]] = {}
        kinds = [*([MOTION] if self._motion else []), *self._looks]
        self._kept: dict[str, list[Found]] = {kind: [] for kind in kinds}

    @property
    def intervals(self) -> int:
        """How many intervals the video has had so far: T."""
        return interval_count(self.video.end, self.options.seconds)

    def chunks(self, progress: Callable[[float], None] = lambda _: None) -> Iterator[Chunk]:
        """Watch to the end; ``progress`` is told the time of the video now and then."""
        told = 0.0
        for frame in timed_each(self.video, self.spent, "decode"):
            if self._motion is not None and self._motion.due(frame.time):
                yield from self._kept_of(MOTION, self._follow(self._motion, frame))
            for kind, look in self._looks.items():
                with timed(self.spent, "network"):
                    found = look.at(frame)
                yield from self._kept_of(kind, found)
            if frame.time - told >= self.options.seconds:
                told = frame.time
                progress(told)
        if self._motion is not None:
            yield from self._kept_of(MOTION, self._settled(self.intervals))
        for kind, look in self._looks.items():
            with timed(self.spent, "network"):
                found = look.until(self.video.end)
            yield from self._kept_of(kind, found)
        yield self._chunk()

    def _follow(self, motion: "Motion", frame: Frame) -> list[Found]:
        """Take the next frame for motion; what is found in intervals that get no more tracks."""
        with timed(self.spent, "scale"):
            picture = frame.luma(*self.video.size(motion.options.pixels))
        for tracks in motion.step(picture, frame.time):
            interval = int(tracks.time / self.options.seconds)
            self._pending.setdefault(interval, []).append(quantised(tracks.descriptors))
        # The middle of a track is at most its own life behind the clock.
        return self._settled(int((frame.time - motion.options.seconds) / self.options.seconds))

    def _settled(self, before: int) -> list[Found]:
        ripe = sorted(interval for interval in self._pending if interval < before)
        return [(interval, np.concatenate(self._pending.pop(interval))) for interval in ripe]

    def _kept_of(self, kind: str, found: list[Found]) -> Iterator[Chunk]:
        """Draw from what was found, keep it, and hand over a chunk when it is full.

        A frame may be held for hours: what was found in it is the same array for every interval,
        and is multiplied only here.
        """
        most = self.options.most_motion if kind == MOTION else self.options.most_appearance
        for interval, values in found:
            drawn = values
            if len(values) > most:
                chance = np.random.default_rng((self.options.seed, interval))
                drawn = values[np.sort(chance.choice(len(values), most, replace=False))]
            self._kept[kind].append((interval, drawn))
            if len(self._kept[kind]) >= _CHUNK:
                yield self._chunk()

    def _chunk(self) -> Chunk:
        """Hand over what was kept of each kind, be it nothing."""
        chunk = {}
        for kind, found in self._kept.items():
            counts = [len(values) for _, values in found]
            intervals = np.repeat([interval for interval, _ in found], counts).astype(np.int32)
            values = [values for _, values in found] or [np.empty((0, 0), np.int8)]
            chunk[kind] = Local(np.concatenate(values), intervals)
            found.clear()
        return chunk


class _Look:
    """Shows a network the frame that is on the screen in the middle of every interval.

    Of ``every`` so many intervals it looks at the first.
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
        self._next = 0  # the interval whose middle comes next
        self._waiting: list[tuple[int, list[Image]]] = []

    def at(self, frame: Frame) -> list[Found]:
        """Take the next frame: the one before it was shown until now."""
        found = self._serve(frame.time)
        self._shown = frame
        return found

    def until(self, end: float) -> list[Found]:
        """The video is over: the last frame was shown until then."""
        return self._serve(end) + self._described()

    def _serve(self, end: float) -> list[Found]:
        images: list[Image] | None = None
        while (middle := (self._next + 0.5) * self._seconds) < end:
            if self._shown is not None and self._shown.time <= middle:
                if images is None:
                    images = [self._shown.colours(*size) for size in self._sizes]
                self._waiting.append((self._next, images))
            self._next += self._every
        return self._described() if len(self._waiting) >= BATCH else []

    def _described(self) -> list[Found]:
        """Describe the frames that wait; a frame that was held is looked at once."""
        waiting, self._waiting = self._waiting, []
        batch = list({id(images): images for _, images in waiting}.values())
        if not batch:
            return []
        found = self._describe([np.stack(images) for images in zip(*batch, strict=True)])
        values = {id(images): found[n] for n, images in enumerate(batch)}
        return [(interval, values[id(images)]) for interval, images in waiting]


def _local_descriptors(network: Network, scales: list[Images]) -> list[NDArray[Any]]:
    """Local descriptors of every frame, those of all scales together."""
    local = np.concatenate([network.describe(images) for images in scales], axis=1)
    return [quantised(rows) for rows in local]


def _pooled(network: Network, scales: list[Images]) -> list[NDArray[Any]]:
    """One row for every frame."""
    [images] = scales
    return [row[None] for row in network.pooled(images).astype(np.float16)]


def _network_size(video: VideoReader, side: int) -> tuple[int, int]:
    """Width and height whose shorter side is given; the longer one is whole steps of the maps."""
    ratio = max(video.width, video.height) / min(video.width, video.height)
    longer = max(side, round(side * min(ratio, WIDEST) / STRIDE) * STRIDE)
    return (longer, side) if video.width >= video.height else (side, longer)
