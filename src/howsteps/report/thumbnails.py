"""Thumbnails of the steps: one small WebP image per localisation (PyAV).

They are made in a worker process (:mod:`howsteps.report.decoding`).
"""

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from howsteps.errors import InputError
from howsteps.report.decoding import (
    open_video,
    quarter_turns,
    seek_key_frame,
    start_of,
    turned,
    write_thumbnails,
)
from howsteps.task import Video

if TYPE_CHECKING:
    from av import VideoFrame
    from av.container import InputContainer

THUMBNAIL_WIDTH = 320  # pixels: sharp in the grid on a high-density screen
_QUALITY = 70  # of WebP, out of 100
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}-[0-9a-f]{6}-\d+\.\d\d\.webp")
_TALLEST = 4 * THUMBNAIL_WIDTH
# Decoding is cheaper than seeking if the next frame is this close, in seconds.
_DECODE_AHEAD = 4.0


def thumbnail_name(video: str, time: float) -> str:
    """The file name of the thumbnail at a time: readable, and unique for each video."""
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", video).strip("-")[:40]
    digest = hashlib.sha256(video.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"{readable or 'video'}-{digest}-{time:.2f}.webp"


def remove_unused(folder: Path, used: Collection[str]) -> None:
    """Remove the thumbnails that are no longer used; other files in the folder stay."""
    for path in folder.glob("*.webp"):
        if path.name not in used and _NAME.fullmatch(path.name):
            path.unlink()


def existing_thumbnails(video: Video, times: Sequence[float], folder: Path) -> dict[float, str]:
    """The existing thumbnails of a video in a folder: file names by time."""
    names = {time: thumbnail_name(video.id, time) for time in sorted(set(times))}
    return {time: name for time, name in names.items() if (folder / name).is_file()}


def make_thumbnails(video: Video, times: Sequence[float], folder: Path) -> dict[float, str]:
    """Write the thumbnails of a video at some times; return :func:`existing_thumbnails`.

    An existing thumbnail that is newer than the video is kept. If the video is gone, only existing
    thumbnails are returned.

    Raises
    ------
    InputError
        The video exists and cannot be decoded.
    MissingExtra
        PyAV is not installed.
    """
    if video.media is not None and video.media.is_file():
        modified = video.media.stat().st_mtime
        paths = {time: folder / thumbnail_name(video.id, time) for time in sorted(set(times))}
        wanted = {time: path for time, path in paths.items() if not _is_newer(path, modified)}
        write_thumbnails(video.media, wanted)
    return existing_thumbnails(video, times, folder)


def thumbnails_at(media: Path, times: Sequence[float]) -> Iterator[tuple[float, bytes]]:
    """Yield the frame at each time as WebP, upright and with the right aspect ratio.

    ``times`` are increasing, in seconds from the start of the file; after the end, the last frame
    is used.

    Raises
    ------
    InputError
        The file cannot be decoded, or has no video stream.
    MissingExtra
        PyAV is not installed.
    """
    if not times:
        return
    with open_video(media) as container:
        aspect = container.streams.video[0].sample_aspect_ratio or Fraction(1)
        taken = 0
        for time, frame in _frames_at(container, times):
            yield time, _webp(frame, aspect)
            taken += 1
    if not taken:
        raise InputError(media, "none of its frames can be decoded")


def _frames_at(
    container: "InputContainer", times: Sequence[float]
) -> "Iterator[tuple[float, VideoFrame]]":
    """Yield the last frame that begins at or before each time; the first one if none does."""
    container.streams.video[0].thread_type = "AUTO"
    first = start_of(container)
    frames = _decoded(container)
    shown = following = next(frames, None)
    for time in times:
        if following is None or time - _seconds(following, first) > _DECODE_AHEAD:
            seek_key_frame(container, Fraction(time) + first)
            frames = _decoded(container)
            shown = following = next(frames, shown)
        while following is not None and _seconds(following, first) <= time:
            shown, following = following, next(frames, None)
        if shown is not None:
            yield time, shown


def _decoded(container: "InputContainer") -> "Iterator[VideoFrame]":
    """Yield the following frames, skipping damaged packets."""
    import av  # noqa: PLC0415 - an extra

    for packet in container.demux(container.streams.video[0]):
        with suppress(av.error.FFmpegError):
            yield from packet.decode()


def _seconds(frame: "VideoFrame", first: Fraction) -> float:
    return (frame.time or 0.0) - float(first)


def _webp(frame: "VideoFrame", aspect: Fraction) -> bytes:
    """Encode a frame as a small WebP; ``aspect`` is the pixel aspect ratio (width / height)."""
    import av  # noqa: PLC0415 - an extra

    height = max(2, 2 * round(THUMBNAIL_WIDTH * frame.height / (frame.width * aspect) / 2))
    # A file can claim any aspect ratio; limit the height.
    small = frame.reformat(
        width=THUMBNAIL_WIDTH, height=min(height, _TALLEST), format="rgb24", interpolation="AREA"
    )
    upright = turned(small, quarter_turns(frame)).reformat(format="yuv420p")
    upright.pts = 0
    encoder = av.CodecContext.create("libwebp", "w")
    encoder.width, encoder.height = upright.width, upright.height
    encoder.pix_fmt, encoder.time_base = "yuv420p", Fraction(1, 1)
    encoder.options = {"quality": str(_QUALITY)}
    return b"".join(bytes(packet) for packet in [*encoder.encode(upright), *encoder.encode(None)])


def _is_newer(thumbnail: Path, modified: float) -> bool:
    return thumbnail.is_file() and thumbnail.stat().st_mtime >= modified
