"""A video file → its frames one after another, each with its time; memory does not grow.

Times are seconds after the start of the *file*, as captions count them. A stamp that is missing,
runs backwards or leaps out of the video is replaced by the pace of the video so far.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import InputError, MissingExtra
from howsteps.io.media import MAX_PIXELS, MAX_SECONDS, open_media

try:
    import av
except ImportError as error:
    raise MissingExtra("vision", "looking at video files") from error

Image = NDArray[np.uint8]

THINNEST = 16  # pixels of the shorter side that still hold something to see
_GAP = 60.0  # seconds without a frame that a stamp may leap where no length is stated
_PACE = 1 / 30  # seconds from one frame to the next until the video shows its own pace

_SAMPLE = 60.0  # seconds of a file by which it is told how its frames depend on one another
_KEYS_APART = 2.0  # seconds: key frames this close together show what there is to see
_DEAR = 4_000_000  # bits a second: more take too long to decode for who is in a hurry

# Formats whose first plane is the luminance, one byte for each pixel.
_PLANAR = ("yuv4", "yuvj4", "nv12", "nv21", "gray")


@dataclass(frozen=True, slots=True)
class Frame:
    """One decoded frame; its images are made when they are asked for, at the size asked for."""

    time: float
    decoded: Any  # av.VideoFrame
    turns: int  # quarter turns to the left that put it upright

    def luma(self, width: int, height: int) -> Image:
        """The upright luminance picture, averaged down to a size."""
        import cv2  # noqa: PLC0415 - for motion alone

        frame = self.decoded
        if not _has_luma_plane(frame.format):
            frame = frame.reformat(format="gray8")
        plane = frame.planes[0]
        rows = np.frombuffer(plane, np.uint8).reshape(plane.height, plane.line_size)
        return self._upright(
            cv2.resize(
                rows[:, : plane.width], self._before(width, height), interpolation=cv2.INTER_AREA
            )
        )

    def colours(self, width: int, height: int) -> Image:
        """The upright picture in red, green and blue, averaged down to a size."""
        across, down = self._before(width, height)
        small = self.decoded.reformat(across, down, "rgb24", interpolation="AREA")
        return self._upright(small.to_ndarray())

    def _before(self, width: int, height: int) -> tuple[int, int]:
        return (height, width) if self.turns % 2 else (width, height)

    def _upright(self, picture: NDArray[Any]) -> Image:
        return np.ascontiguousarray(np.rot90(picture, self.turns))


@dataclass(frozen=True, slots=True)
class Decoding:
    """Which frames of a video are decoded.

    Attributes
    ----------
    frames
        ``all``; ``reference``: those that others are made from, which is all or about half; or
        ``key``: those that need no other.
    apart
        Seconds from one ``key`` frame that is decoded to the next, at least.
    deblock
        Whether the edges of blocks are smoothed; without, decoding is quicker and a little worse.
    """

    frames: Literal["all", "reference", "key"] = "all"
    apart: float = 0.0
    deblock: bool = True


def plan_decoding(media: Path, seconds: float, *, sparing: bool = False) -> Decoding:
    """How to decode as little as possible to see one frame every few ``seconds``.

    Decided by the packets of the file's first minute, never by the clock: the same file is always
    decoded alike. ``sparing`` trades closeness in time for speed. A file that cannot be read gives
    the plain answer; who opens it will find out.
    """
    keys, count, size, end = 0, 0, 0, 0.0
    try:
        with open_media(media) as container:
            for packet in container.demux(container.streams.video[0]):
                if packet.pts is None or packet.time_base is None:
                    continue
                keys, count, size = keys + packet.is_keyframe, count + 1, size + packet.size
                end = max(end, float(packet.pts * packet.time_base))
                if end > _SAMPLE:
                    break
    except (InputError, av.error.FFmpegError, ValueError, IndexError):
        return Decoding()
    if keys == 0 or end <= 0:
        return Decoding("reference", deblock=not sparing)
    only_keys = keys == count
    if only_keys or (sparing and (end / keys <= _KEYS_APART or 8 * size / end > _DEAR)):
        # Half an interval of slack: key frames need not fall where they are wanted.
        return Decoding("key", apart=seconds / 2, deblock=not sparing)
    return Decoding("reference", deblock=not sparing)


class VideoReader:
    """A video file that is open for reading, from its beginning and once.

    Parameters
    ----------
    media
        The file; what it is is told by its content, not by its name.
    threads
        How many threads decode.
    decoding
        Which frames are decoded.

    Raises
    ------
    InputError
        It cannot be read, is no media file, or has no picture that can be looked at.
    """

    def __init__(self, media: Path, threads: int = 1, decoding: Decoding | None = None) -> None:
        self.media = media
        self._decoding = decoding or Decoding()
        self._packets_end = 0.0  # seconds on the stream's own clock
        self.damaged = 0  # packets that could not be decoded
        self.restamped = 0  # frames whose time had to be guessed
        self.end = 0.0  # when the last frame that was read leaves the screen
        self._container = open_media(media)
        try:
            self._begin(threads)
        except BaseException:
            self._container.close()
            raise

    def _begin(self, threads: int) -> None:
        """Find the video stream and decode its first frame, which tells the size."""
        if not self._container.streams.video:
            raise InputError(self.media, "has no video stream")
        self._stream = self._container.streams.video[0]
        self._stream.codec_context.thread_type = "AUTO"
        self._stream.codec_context.thread_count = threads
        if not self._decoding.deblock:
            # Added to the options that open_media set.
            context = self._stream.codec_context
            context.options = {**context.options, "skip_loop_filter": "all"}
        if self._decoding.frames == "reference":
            self._stream.codec_context.skip_frame = "NONREF"
        elif self._decoding.frames == "key":
            self._stream.codec_context.skip_frame = "NONKEY"
        stated = self._container.duration
        self.stated = stated / av.time_base if stated and stated > 0 else None
        if self.stated is not None and self.stated > MAX_SECONDS:
            hours = self.stated / 3600
            raise InputError(self.media, f"says it lasts {hours:,.0f} hours; the most is 6")
        self._frames = self._decoded()
        self._first = self._next_frame()
        if self._first is None:
            too_large = f"or they are of more than {MAX_PIXELS // 10**6} million pixels"
            raise InputError(self.media, f"no frames can be decoded, {too_large}")
        self.width, self.height = self._shown_size(self._first)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._container.close()

    def flaws(self) -> list[str]:
        """What was wrong with the video as far as it was read, in words."""
        flaws = []
        if self.damaged:
            flaws.append(f"{self.damaged} damaged packets were left out")
        if self.stated is not None and self.stated - self.end > max(1.0, 0.05 * self.stated):
            lasts = f"it should last {self.stated:.1f} s, its frames end after {self.end:.1f} s"
            flaws.append(f"cut short: {lasts}")
        return flaws

    def size(self, pixels: int) -> tuple[int, int]:
        """Width and height of about so many pixels in the shape in which the video is shown."""
        scale = min(1.0, (pixels / (self.width * self.height)) ** 0.5)
        return max(THINNEST, round(self.width * scale)), max(THINNEST, round(self.height * scale))

    def __iter__(self) -> Iterator[Frame]:
        """Give the frames in the order in which they are shown, with times that always grow."""
        start = (self._container.start_time or 0) / av.time_base
        limit = self.stated + 1.0 if self.stated is not None else None
        time, pace = -1.0, _PACE
        frame = self._first
        while frame is not None:
            stamp = None
            if frame.pts is not None and frame.time_base is not None:
                stamp = float(frame.pts * frame.time_base) - start
            latest = limit if limit is not None else max(time, 0.0) + _GAP
            if time < 0:
                good = stamp is not None and 0 <= stamp <= latest
                time = stamp if good and stamp is not None else 0.0
            elif stamp is not None and time < stamp <= latest:
                # The pace is that of the usual frame: a long pause does not count.
                pace = min(2 * pace, 0.9 * pace + 0.1 * (stamp - time))
                time = stamp
            else:
                self.restamped += 1
                time += pace
            if time > MAX_SECONDS:
                raise InputError(self.media, "lasts longer than 6 hours")
            # Hundredths, never more than it is: rounded stamps must not begin another interval.
            self.end = floor(100 * (time + pace) + 1e-4) / 100
            yield Frame(time, frame, round(frame.rotation / 90) % 4)
            frame = self._next_frame()
        if self._decoding.frames != "all" and not self.restamped:
            # The last frame may be one that was not decoded; its packet has a time all the same.
            end = min(self._packets_end - start, limit if limit is not None else time + _GAP)
            self.end = max(floor(100 * end + 1e-4) / 100, floor(100 * time + 1e-4) / 100)

    def _next_frame(self) -> Any:
        return next(self._frames, None)

    def _decoded(self) -> Iterator[Any]:
        """Decode packet by packet; a damaged one is counted and left out."""
        packets = self._container.demux(self._stream)
        due = -inf  # seconds on the stream's own clock
        while True:
            try:
                packet = next(packets, None)
            except av.error.FFmpegError:
                # The container breaks off: what came so far is what there is.
                self.damaged += 1
                return
            if packet is None:
                return
            if packet.pts is not None and packet.time_base is not None:
                time = float(packet.pts * packet.time_base)
                lasts = float((packet.duration or 0) * packet.time_base)
                self._packets_end = max(self._packets_end, time + lasts)
                if self._decoding.frames == "key":
                    if not packet.is_keyframe or due > time > due - MAX_SECONDS:
                        continue
                    due = time + self._decoding.apart
            try:
                frames = packet.decode()
            except av.error.MemoryError:
                raise MemoryError from None
            except av.error.FFmpegError:
                self.damaged += 1
                continue
            yield from frames

    def _shown_size(self, frame: Any) -> tuple[int, int]:
        """Width and height as shown: pixels need not be square, and phones record sideways."""
        shape = self._stream.sample_aspect_ratio or Fraction(1)
        if not Fraction(1, 8) < shape < 8:
            shape = Fraction(1)  # no screen shows that: the number is broken
        width, height = max(1, round(frame.width * shape)), frame.height
        if min(width, height) < THINNEST:
            shape_text = f"{frame.width}×{frame.height}"
            raise InputError(self.media, f"has a picture of {shape_text} pixels, too thin to see")
        return (height, width) if round(frame.rotation / 90) % 2 else (width, height)


def _has_luma_plane(form: Any) -> bool:
    return bool(form.name.startswith(_PLANAR) and form.components[0].bits == 8)
