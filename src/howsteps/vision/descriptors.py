"""One film from beginning to end → local descriptors with the interval they belong to.

Frames are decoded once and looked at by motion and appearance together. What comes out is bounded
for every interval and handed over in stretches of a minute, so that memory does not grow with the
film.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from howsteps.vision.frames import Frame, Image, VideoReader
from howsteps.vision.histograms import interval_count
from howsteps.vision.local import Found, Local, Stretch, quantised
from howsteps.vision.motion import Motion
from howsteps.vision.options import APPEARANCE, MOTION, WatchOptions
from howsteps.vision.stopwatch import Spent, timed, timed_each

if TYPE_CHECKING:  # motion alone needs no PyTorch
    from howsteps.vision.appearance import Network

_STRETCH = 180  # intervals: a minute
BATCH = 8  # pictures of one scale that the network is given at once
STRIDE = 32  # pixels from one position of the maps to the next
WIDEST = 2.5  # longer side over shorter: a wider picture is squeezed


class DescriptorExtractor:
    """A film being watched; go through :meth:`stretches` once, then read what it says.

    Attributes
    ----------
    spent
        Seconds by what they were spent on.
    """

    def __init__(self, film: VideoReader, options: WatchOptions, network: "Network | None") -> None:
        self.film, self.options = film, options
        self.spent = Spent(float)
        self._motion = Motion(options.motion, self.spent) if options.motion else None
        self._look = None
        if network is not None and options.appearance is not None:
            self._look = _Look(film, network, options.appearance.sides, options.seconds)
        self._pending: dict[int, list[NDArray[np.int8]]] = {}
        wanted = {MOTION: self._motion, APPEARANCE: self._look}
        self._kept: dict[str, list[Found]] = {kind: [] for kind, eye in wanted.items() if eye}

    @property
    def intervals(self) -> int:
        """How many intervals the film has had so far: T."""
        return interval_count(self.film.end, self.options.seconds)

    def stretches(self, progress: Callable[[float], None] = lambda _: None) -> Iterator[Stretch]:
        """Watch to the end; ``progress`` is told the time of the film now and then."""
        told = 0.0
        for frame in timed_each(self.film, self.spent, "decode"):
            if self._motion is not None and self._motion.due(frame.time):
                yield from self._kept_of(MOTION, self._follow(self._motion, frame))
            if self._look is not None:
                with timed(self.spent, "network"):
                    found = self._look.at(frame)
                yield from self._kept_of(APPEARANCE, found)
            if frame.time - told >= self.options.seconds:
                told = frame.time
                progress(told)
        if self._motion is not None:
            yield from self._kept_of(MOTION, self._settled(self.intervals))
        if self._look is not None:
            with timed(self.spent, "network"):
                found = self._look.until(self.film.end)
            yield from self._kept_of(APPEARANCE, found)
        yield self._stretch()

    def _follow(self, motion: Motion, frame: Frame) -> list[Found]:
        """Take the next frame for motion; what is found in intervals that get no more tracks."""
        with timed(self.spent, "scale"):
            picture = frame.luma(*self.film.size(motion.options.pixels))
        for tracks in motion.step(picture, frame.time):
            interval = int(tracks.time / self.options.seconds)
            self._pending.setdefault(interval, []).append(quantised(tracks.descriptors))
        # The middle of a track is at most its own life behind the clock.
        return self._settled(int((frame.time - motion.options.seconds) / self.options.seconds))

    def _settled(self, before: int) -> list[Found]:
        ripe = sorted(interval for interval in self._pending if interval < before)
        return [(interval, np.concatenate(self._pending.pop(interval))) for interval in ripe]

    def _kept_of(self, kind: str, found: list[Found]) -> Iterator[Stretch]:
        """Draw from what was found, keep it, and hand over a stretch when it is full.

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
            if len(self._kept[kind]) >= _STRETCH:
                yield self._stretch()

    def _stretch(self) -> Stretch:
        """Hand over what was kept of each kind, be it nothing."""
        stretch = {}
        for kind, found in self._kept.items():
            counts = [len(values) for _, values in found]
            intervals = np.repeat([interval for interval, _ in found], counts).astype(np.int32)
            values = [values for _, values in found] or [np.empty((0, 0), np.int8)]
            stretch[kind] = Local(np.concatenate(values), intervals)
            found.clear()
        return stretch


class _Look:
    """Shows the network the frame that is on the screen in the middle of every interval."""

    def __init__(
        self, film: VideoReader, network: "Network", sides: tuple[int, ...], seconds: float
    ) -> None:
        self._network, self._seconds = network, seconds
        self._sizes = [_network_size(film, side) for side in sides]
        self._shown: Frame | None = None
        self._next = 0  # the interval whose middle comes next
        self._waiting: list[tuple[int, list[Image]]] = []

    def at(self, frame: Frame) -> list[Found]:
        """Take the next frame: the one before it was shown until now."""
        found = self._serve(frame.time)
        self._shown = frame
        return found

    def until(self, end: float) -> list[Found]:
        """The film is over: the last frame was shown until then."""
        return self._serve(end) + self._described()

    def _serve(self, end: float) -> list[Found]:
        pictures: list[Image] | None = None
        while (middle := (self._next + 0.5) * self._seconds) < end:
            if self._shown is not None and self._shown.time <= middle:
                if pictures is None:
                    pictures = [self._shown.colours(*size) for size in self._sizes]
                self._waiting.append((self._next, pictures))
            self._next += 1
        return self._described() if len(self._waiting) >= BATCH else []

    def _described(self) -> list[Found]:
        """Describe the pictures that wait; a picture that was held is looked at once."""
        waiting, self._waiting = self._waiting, []
        batch = list({id(pictures): pictures for _, pictures in waiting}.values())
        if not batch:
            return []
        scales = [
            self._network.describe(np.stack(pictures)) for pictures in zip(*batch, strict=True)
        ]
        local = np.concatenate(scales, axis=1)
        values = {id(pictures): quantised(local[n]) for n, pictures in enumerate(batch)}
        return [(interval, values[id(pictures)]) for interval, pictures in waiting]


def _network_size(film: VideoReader, side: int) -> tuple[int, int]:
    """Width and height whose shorter side is given; the longer one is whole steps of the maps."""
    ratio = max(film.width, film.height) / min(film.width, film.height)
    longer = max(side, round(side * min(ratio, WIDEST) / STRIDE) * STRIDE)
    return (longer, side) if film.width >= film.height else (side, longer)
