"""Pictures of the steps: one small WebP for each place, decoded from the video (PyAV)."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from howsteps.io.files import write_atomically
from howsteps.report.video_files import opened, quarter_turns, seek_key_frame, start_of, turned
from howsteps.task import Video

if TYPE_CHECKING:
    from av import VideoFrame
    from av.container import InputContainer

WIDTH = 320  # pixels: sharp in the grid on a screen of double density
QUALITY = 70  # of WebP, out of 100
_TALLEST = 4 * WIDTH
# Decoding on is cheaper than seeking when the next picture is this close, in seconds.
_NEAR = 4.0


def thumbnail_name(video: str, time: float) -> str:
    """The file of the picture at a time: readable, and different for different videos."""
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", video).strip("-")[:40]
    mark = hashlib.sha256(video.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"{readable or 'video'}-{mark}-{time:.2f}.webp"


def kept_thumbnails(video: Video, times: Sequence[float], folder: Path) -> dict[float, str]:
    """The pictures of a video that are in a folder: file names by time."""
    names = {time: thumbnail_name(video.id, time) for time in sorted(set(times))}
    return {time: name for time, name in names.items() if (folder / name).is_file()}


def take_thumbnails(video: Video, times: Sequence[float], folder: Path) -> dict[float, str]:
    """Put the pictures of a video at some times into a folder; returns :func:`kept_thumbnails`.

    A picture that is there already and younger than the video stays as it is. Of a video that is
    gone, the pictures of an earlier time are all there is.

    Raises
    ------
    InputError
        The video is there and cannot be decoded.
    MissingExtra
        PyAV is not installed.
    """
    if video.media is not None and video.media.is_file():
        filmed = video.media.stat().st_mtime
        places = {time: folder / thumbnail_name(video.id, time) for time in sorted(set(times))}
        wanted = [time for time, path in places.items() if not _is_younger(path, filmed)]
        for time, picture in thumbnails_at(video.media, wanted):
            write_atomically(places[time], picture)
    return kept_thumbnails(video, times, folder)


def thumbnails_at(media: Path, times: Sequence[float]) -> Iterator[tuple[float, bytes]]:
    """The frame that is shown at each time, as WebP, upright and in its true proportions.

    ``times`` go up and count from the start of the file; after the end, the last frame is shown.

    Raises
    ------
    InputError
        The file cannot be decoded, or has no picture.
    MissingExtra
        PyAV is not installed.
    """
    if not times:
        return
    with opened(media) as container:
        proportions = container.streams.video[0].sample_aspect_ratio or Fraction(1)
        for time, frame in _frames_at(container, times):
            yield time, _webp(frame, proportions)


def _frames_at(
    container: "InputContainer", times: Sequence[float]
) -> "Iterator[tuple[float, VideoFrame]]":
    """The last frame that begins at or before each time; the first, where none does."""
    container.streams.video[0].thread_type = "AUTO"
    first = start_of(container)
    frames = _decoded(container)
    shown = following = next(frames, None)
    for time in times:
        if following is None or time - _seconds(following, first) > _NEAR:
            seek_key_frame(container, Fraction(time) + first)
            frames = _decoded(container)
            shown = following = next(frames, shown)
        while following is not None and _seconds(following, first) <= time:
            shown, following = following, next(frames, None)
        if shown is not None:
            yield time, shown


def _decoded(container: "InputContainer") -> "Iterator[VideoFrame]":
    """The frames from here on; a packet that is damaged is left out."""
    import av  # noqa: PLC0415 - an extra

    for packet in container.demux(container.streams.video[0]):
        with suppress(av.error.FFmpegError):
            yield from packet.decode()


def _seconds(frame: "VideoFrame", first: Fraction) -> float:
    return (frame.time or 0.0) - float(first)


def _webp(frame: "VideoFrame", proportions: Fraction) -> bytes:
    """A frame as a small picture; ``proportions`` is the width of a pixel over its height."""
    import av  # noqa: PLC0415 - an extra

    height = max(2, 2 * round(WIDTH * frame.height / (frame.width * proportions) / 2))
    # A file can claim any proportions; a picture stays one that can be held and looked at.
    small = frame.reformat(
        width=WIDTH, height=min(height, _TALLEST), format="rgb24", interpolation="AREA"
    )
    picture = turned(small, quarter_turns(frame)).reformat(format="yuv420p")
    picture.pts = 0
    encoder = av.CodecContext.create("libwebp", "w")
    encoder.width, encoder.height = picture.width, picture.height
    encoder.pix_fmt, encoder.time_base = "yuv420p", Fraction(1, 1)
    encoder.options = {"quality": str(QUALITY)}
    return b"".join(bytes(packet) for packet in [*encoder.encode(picture), *encoder.encode(None)])


def _is_younger(picture: Path, filmed: float) -> bool:
    return picture.is_file() and picture.stat().st_mtime >= filmed
