"""Open video files and seek in them, for the page and the exports (PyAV)."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from howsteps.errors import InputError
from howsteps.io.media import open_media

if TYPE_CHECKING:
    from av import VideoFrame
    from av.container import InputContainer

USUAL_RATE = Fraction(25)  # frames per second
_TICKS = 1_000_000  # per second, in container timestamps
# Seconds to go further back in search of a key frame, before going to the start of the file.
_BACKTRACK = (0, 5, 30)


@contextmanager
def open_video(media: Path) -> "Iterator[InputContainer]":
    """Open a file with a video stream; errors raised while it is open name the file.

    Raises
    ------
    InputError
        The file cannot be read, or has no video stream.
    MissingExtra
        PyAV is not installed.
    """
    with open_media(media, "cannot be used") as container:
        import av  # noqa: PLC0415 - an extra

        try:
            if not container.streams.video:
                raise InputError(media, "there is no video stream in this file")
            yield container
        except (av.error.FFmpegError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(media, f"cannot be used ({reason})") from error


def start_of(container: "InputContainer") -> Fraction:
    """The start time of a file, in seconds."""
    return Fraction(container.start_time or 0, _TICKS)


def shown_at(packet: Any) -> Fraction | None:
    """The presentation time of a packet, in seconds; None if unknown."""
    return _seconds(packet.pts, packet.time_base)


def decoded_at(packet: Any) -> Fraction | None:
    """The decoding time of a packet, in seconds; unlike presentation times, it never decreases."""
    return _seconds(packet.dts, packet.time_base)


def seek_key_frame(container: "InputContainer", time: Fraction) -> Fraction | None:
    """Seek to the last key frame at or before a time, or as close before it as possible.

    Without an index, as in MPEG streams, a seek can end after the key frame: then go further back.

    Returns
    -------
    The time of the key frame; None if there is none before the time.
    """
    start = start_of(container)
    for target in (*(max(start, time - back) for back in _BACKTRACK), start):
        timestamp = round(target * _TICKS)
        container.seek(timestamp)
        found = _last_key_frame(container, time)
        container.seek(timestamp)
        if found is not None:
            return found
    return None


def _last_key_frame(container: "InputContainer", time: Fraction) -> Fraction | None:
    found = None
    for packet in container.demux(container.streams.video[0]):
        shown, decoded = shown_at(packet), decoded_at(packet)
        if decoded is not None and decoded > time:
            break
        if shown is not None and shown <= time and packet.is_keyframe:
            found = shown
    return found


def _seconds(ticks: int | None, time_base: Fraction | None) -> Fraction | None:
    return None if ticks is None or time_base is None else ticks * time_base


def quarter_turns(frame: "VideoFrame") -> int:
    """How many quarter turns to the left a frame needs; phones store rotation as metadata."""
    return round(getattr(frame, "rotation", 0) / 90) % 4


def turned(frame: "VideoFrame", quarters: int) -> "VideoFrame":
    """Rotate a frame to the left by quarter turns."""
    import av  # noqa: PLC0415 - an extra
    import numpy as np  # noqa: PLC0415

    pixels = np.rot90(frame.to_ndarray(format="rgb24"), quarters)
    return av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels, np.uint8), format="rgb24")
