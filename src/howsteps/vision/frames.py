"""Decode a video file frame by frame, with times, in constant memory.

Times are seconds after the start of the *file*, as in captions. A timestamp that is missing, not
increasing or beyond the end of the video is replaced by an estimate from the frame rate so far; so
is one that jumps ahead in a file that states no duration.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf
from pathlib import Path
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

MIN_SIDE = 16  # pixels: least shorter side of a usable video
_MAX_GAP = 60.0  # seconds that timestamps may skip if the file states no duration
_FRAME_TIME = 1 / 30  # seconds per frame, until it is known for the video

_SAMPLE = 60.0  # seconds of a file whose packets are inspected
_KEY_FRAME_TIME = 2.0  # seconds: key frames this frequent suffice for sparing decoding
_HIGH_BIT_RATE = 4_000_000  # bits per second: above it sparing decoding uses key frames only

# Pixel formats whose first plane is the luminance, one byte per pixel.
_PLANAR = ("yuv4", "yuvj4", "nv12", "nv21", "gray")


@dataclass(frozen=True, slots=True)
class Frame:
    """One decoded frame; images are made on demand, at the requested size."""

    time: float
    decoded: Any  # av.VideoFrame
    turns: int  # counter-clockwise quarter turns that make it upright

    def luma(self, width: int, height: int) -> Image:
        """Return the upright luminance image, scaled to a size by area averaging."""
        import cv2  # noqa: PLC0415 - for motion alone

        frame = self.decoded
        if not _has_luma_plane(frame.format):
            frame = frame.reformat(format="gray8")
        plane = frame.planes[0]
        rows = np.frombuffer(plane, np.uint8).reshape(plane.height, plane.line_size)
        stored = self._stored_size(width, height)
        small = cv2.resize(rows[:, : plane.width], stored, interpolation=cv2.INTER_AREA)
        return self._upright(small)

    def rgb(self, width: int, height: int) -> Image:
        """Return the upright RGB image, scaled to a size by area averaging."""
        stored = self._stored_size(width, height)
        small = self.decoded.reformat(*stored, "rgb24", interpolation="AREA")
        return self._upright(small.to_ndarray())

    def _stored_size(self, width: int, height: int) -> tuple[int, int]:
        """Return an upright size as it is before rotation."""
        return (height, width) if self.turns % 2 else (width, height)

    def _upright(self, image: NDArray[Any]) -> Image:
        return np.ascontiguousarray(np.rot90(image, self.turns))


@dataclass(frozen=True, slots=True)
class Decoding:
    """Which frames of a video are decoded.

    ``all``; ``reference``: those that others depend on, which is all or about half; or ``key``: key
    frames, which depend on no other, at least ``apart`` seconds apart. Without the deblocking
    filter, decoding is faster and slightly worse.
    """

    frames: Literal["all", "reference", "key"] = "all"
    apart: float = 0.0
    deblock: bool = True


def plan_decoding(media: Path, seconds: float, *, sparing: bool = False) -> Decoding:
    """Return how to decode as little as possible for one frame per ``seconds``.

    The decision depends on the packets of the first minute only, never on the clock, so that a file
    is always decoded in the same way. ``sparing`` trades accuracy in time for speed. For a file
    that cannot be read, the default is returned; opening it will raise an error.
    """
    n_keys, n_packets, size, end = 0, 0, 0, 0.0
    try:
        with open_media(media) as container:
            for packet in container.demux(container.streams.video[0]):
                if packet.pts is None or packet.time_base is None:
                    continue
                n_keys, n_packets = n_keys + packet.is_keyframe, n_packets + 1
                size += packet.size
                end = max(end, float(packet.pts * packet.time_base))
                if end > _SAMPLE:
                    break
    except (InputError, av.error.FFmpegError, ValueError, IndexError):
        return Decoding()
    if n_keys > 0 and end > 0:
        enough_keys = end / n_keys <= _KEY_FRAME_TIME or 8 * size / end > _HIGH_BIT_RATE
        if n_keys == n_packets or (sparing and enough_keys):
            # Half an interval of tolerance: key frames need not be where they are wanted.
            return Decoding("key", apart=seconds / 2, deblock=not sparing)
    return Decoding("reference", deblock=not sparing)


class VideoReader:
    """An open video file whose frames can be iterated once, in a format recognised by content.

    Attributes
    ----------
    width, height
        Size of the upright video, with square pixels.
    stated_duration
        Duration in seconds that the file states; None if it states none.
    end
        End of the last frame that was read, in seconds.
    damaged, restamped, jumped
        Packets that could not be decoded, frames whose time was estimated, and those among them
        whose timestamp jumps ahead.
    """

    def __init__(self, media: Path, threads: int = 1, decoding: Decoding | None = None) -> None:
        self.media = media
        self._decoding = decoding or Decoding()
        self._packets_end = 0.0  # seconds in the time of the stream
        self.damaged = 0
        self.restamped = 0
        self.jumped = 0
        self.end = 0.0
        self._container = open_media(media)
        try:
            self._begin(threads)
        except BaseException:
            self._container.close()
            raise

    def _begin(self, threads: int) -> None:
        """Open the video stream and decode its first frame, for the size."""
        if not self._container.streams.video:
            raise InputError(self.media, "has no video stream")
        self._stream = self._container.streams.video[0]
        self._stream.codec_context.thread_type = "AUTO"
        self._stream.codec_context.thread_count = threads
        if not self._decoding.deblock:
            # Keep the options that open_media set.
            context = self._stream.codec_context
            context.options = {**context.options, "skip_loop_filter": "all"}
        if self._decoding.frames == "reference":
            self._stream.codec_context.skip_frame = "NONREF"
        elif self._decoding.frames == "key":
            self._stream.codec_context.skip_frame = "NONKEY"
        stated = self._container.duration
        self.stated_duration = stated / av.time_base if stated and stated > 0 else None
        if self.stated_duration is not None and self.stated_duration > MAX_SECONDS:
            hours = self.stated_duration / 3600
            raise InputError(
                self.media, f"states a duration of {hours:,.1f} hours; at most 6 are allowed"
            )
        self._frames = self._decode()
        self._first = next(self._frames, None)
        if self._first is None:
            too_large = f"or they are of more than {MAX_PIXELS // 10**6} million pixels"
            raise InputError(self.media, f"no frames can be decoded, {too_large}")
        self.width, self.height = self._display_size(self._first)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._container.close()

    def warnings(self) -> list[str]:
        """Return messages about damage in the part of the video that was read."""
        warnings = []
        if self.damaged:
            what = "packet was" if self.damaged == 1 else "packets were"
            warnings.append(f"{self.damaged:,} damaged {what} left out")
        if self.jumped:
            whose = "one frame" if self.jumped == 1 else f"{self.jumped:,} frames"
            jump = f"timestamps jump ahead by more than {_MAX_GAP:.0f} s"
            warnings.append(f"{jump}; the times of {whose} were estimated")
        stated = self.stated_duration
        if stated is not None and stated - self.end > max(1.0, 0.05 * stated):
            lasts = f"it should last {stated:.1f} s, its frames end after {self.end:.1f} s"
            warnings.append(f"cut short: {lasts}")
        return warnings

    def size(self, pixels: int) -> tuple[int, int]:
        """Return width and height of about ``pixels`` pixels with the aspect ratio of the video."""
        scale = min(1.0, (pixels / (self.width * self.height)) ** 0.5)
        return max(MIN_SIDE, round(self.width * scale)), max(MIN_SIDE, round(self.height * scale))

    def __iter__(self) -> Iterator[Frame]:
        """Yield the frames in order of presentation, with strictly increasing times."""
        start = (self._container.start_time or 0) / av.time_base
        limit = self.stated_duration + 1.0 if self.stated_duration is not None else None
        time, frame_time = -1.0, _FRAME_TIME
        frame = self._first
        while frame is not None:
            stamp = None
            if frame.pts is not None and frame.time_base is not None:
                stamp = float(frame.pts * frame.time_base) - start
            latest = limit if limit is not None else max(time, 0.0) + _MAX_GAP
            if stamp is not None and stamp > max(latest, time + _MAX_GAP):
                self.jumped += 1
            if time < 0:
                time = stamp if stamp is not None and 0 <= stamp <= latest else 0.0
            elif stamp is not None and time < stamp <= latest:
                # A running mean that long pauses hardly affect.
                frame_time = min(2 * frame_time, 0.9 * frame_time + 0.1 * (stamp - time))
                time = stamp
            else:
                self.restamped += 1
                time += frame_time
            if time > MAX_SECONDS:
                raise InputError(self.media, "lasts longer than 6 hours")
            # Rounded down to hundredths: rounded timestamps must not begin another interval.
            self.end = floor(100 * (time + frame_time) + 1e-4) / 100
            yield Frame(time, frame, round(frame.rotation / 90) % 4)
            frame = next(self._frames, None)
        if self._decoding.frames != "all" and not self.restamped:
            # The last frame may not have been decoded, but its packet has a time.
            end = min(self._packets_end - start, limit if limit is not None else time + _MAX_GAP)
            self.end = max(floor(100 * end + 1e-4) / 100, floor(100 * time + 1e-4) / 100)

    def _decode(self) -> Iterator[Any]:
        """Yield decoded frames; damaged packets are counted and skipped."""
        packets = self._container.demux(self._stream)
        due = -inf  # time of the next key frame to decode, in the time of the stream
        while True:
            try:
                packet = next(packets, None)
            except av.error.FFmpegError:
                # The container is truncated.
                self.damaged += 1
                return
            if packet is None:
                return
            if packet.pts is not None and packet.time_base is not None:
                time = float(packet.pts * packet.time_base)
                duration = float((packet.duration or 0) * packet.time_base)
                self._packets_end = max(self._packets_end, time + duration)
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

    def _display_size(self, frame: Any) -> tuple[int, int]:
        """Return width and height as displayed, by pixel aspect ratio and rotation."""
        aspect = self._stream.sample_aspect_ratio or Fraction(1)
        if not Fraction(1, 8) < aspect < 8:
            aspect = Fraction(1)  # implausible, so the metadata is wrong
        width, height = max(1, round(frame.width * aspect)), frame.height
        if min(width, height) < MIN_SIDE:
            size = f"{frame.width}×{frame.height}"
            raise InputError(self.media, f"has frames of {size} pixels, too small to use")
        return (height, width) if round(frame.rotation / 90) % 2 else (width, height)


def _has_luma_plane(pixel_format: Any) -> bool:
    return bool(pixel_format.name.startswith(_PLANAR) and pixel_format.components[0].bits == 8)
