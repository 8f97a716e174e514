"""Open videos for the page and the exports (PyAV), in worker processes; make thumbnails.

``python -m howsteps.report.decoding`` runs one job on one video (see
:mod:`howsteps.io.worker_process`): a video that crashes or hangs its decoder, or exhausts memory,
affects only itself.
"""

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from howsteps.errors import InputError, MissingExtra, Problem
from howsteps.io.files import Folder
from howsteps.io.media import open_media
from howsteps.io.worker_process import answer, limit_memory, run_in_worker, serve
from howsteps.task import Video

if TYPE_CHECKING:
    from av import VideoFrame
    from av.container import InputContainer

USUAL_RATE = Fraction(25)  # frames per second
_TICKS = 1_000_000  # per second, in container timestamps
# Seconds to go further back in search of a key frame, before going to the start of the file.
_BACKTRACK = (0, 5, 30)


@contextmanager
def open_video(media: Path) -> "Iterator[InputContainer]":
    """Open a file with a video stream; errors raised while it is open name the file."""
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


def seek_key_frame(container: "InputContainer", time: Fraction) -> None:
    """Seek to the last key frame at or before a time, or as close before it as possible.

    Without an index, as in MPEG streams, a seek can end after the key frame: then go further back.
    """
    start = start_of(container)
    for target in (*(max(start, time - back) for back in _BACKTRACK), start):
        timestamp = round(target * _TICKS)
        container.seek(timestamp)
        found = _has_key_frame(container, time)
        container.seek(timestamp)
        if found:
            return


def _has_key_frame(container: "InputContainer", time: Fraction) -> bool:
    """Whether there is a key frame before a time."""
    for packet in container.demux(container.streams.video[0]):
        shown, decoded = shown_at(packet), decoded_at(packet)
        if shown is not None and shown <= time and packet.is_keyframe:
            return True
        if decoded is not None and decoded > time:
            break
    return False


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


THUMBNAIL_WIDTH = 320  # pixels: sharp in the grid on a high-density screen
_QUALITY = 70  # of WebP, out of 100
THUMBNAIL = re.compile(r"[A-Za-z0-9_-]{1,40}-[0-9a-f]{6}-\d+\.\d\d\.webp")
_TALLEST = 4 * THUMBNAIL_WIDTH
# Decoding is cheaper than seeking if the next frame is this close, in seconds.
_DECODE_AHEAD = 4.0


def thumbnail_name(video: str, time: float) -> str:
    """The file name of the thumbnail at a time: readable, and unique for each video."""
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", video).strip("-")[:40]
    digest = hashlib.sha256(video.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"{readable or 'video'}-{digest}-{time:.2f}.webp"


def remove_unused(folder: Folder, used: Collection[str]) -> None:
    """Remove the thumbnails that are no longer used; other files in the folder stay."""
    for name in folder.names():
        if name not in used and THUMBNAIL.fullmatch(name):
            folder.remove(name)


def existing_thumbnails(video: Video, times: Sequence[float], folder: Path) -> dict[float, str]:
    """The existing thumbnails of a video in a folder: file names by time."""
    names = {time: thumbnail_name(video.id, time) for time in sorted(set(times))}
    return {time: name for time, name in names.items() if (folder / name).is_file()}


class Pictures:
    """Makes thumbnails in a folder; a video that cannot be decoded is one problem.

    ``unreadable`` video files are not opened. Without PyAV there are none, and ``advice`` says so.
    """

    def __init__(self, folder: Folder, unreadable: Collection[Path] = ()) -> None:
        self.folder = folder
        self.problems: list[Problem] = []
        self.advice = ""
        self._unreadable = set(unreadable)

    def make(self, video: Video, times: Sequence[float]) -> dict[float, str]:
        """Make the thumbnails of a video at some times; return :func:`existing_thumbnails`.

        An existing thumbnail that is newer than the video is kept, and any if the video is gone.
        """
        media = video.media
        if not self.advice and media is not None and media not in self._unreadable:
            try:
                self._make(video.id, media, times)
            except InputError as error:
                self.problems.append(error.problem)
                self._unreadable.add(media)
            except MissingExtra as error:
                self.advice = f"There are no thumbnails: {error}"
                self.problems.append(Problem(self.folder.path, self.advice, harmless=True))
        return existing_thumbnails(video, times, self.folder.path)

    def _make(self, video: str, media: Path, times: Sequence[float]) -> None:
        if not media.is_file():
            return
        modified = media.stat().st_mtime
        names = {time: thumbnail_name(video, time) for time in sorted(set(times))}
        own = self.folder.path
        wanted = [[t, n] for t, n in names.items() if not _is_newer(own / n, modified)]
        if wanted:
            run(media, "thumbnails", self.folder, names=wanted)


def thumbnails_at(media: Path, times: Sequence[float]) -> Iterator[tuple[float, bytes]]:
    """Yield the frame at each time as WebP, upright and with the right aspect ratio.

    ``times`` are increasing, in seconds from the start of the file; after the end, the last frame
    is used.
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
        if following is None or time - _time_of(following, first) > _DECODE_AHEAD:
            seek_key_frame(container, Fraction(time) + first)
            frames = _decoded(container)
            shown = following = next(frames, shown)
        while following is not None and _time_of(following, first) <= time:
            shown, following = following, next(frames, None)
        if shown is not None:
            yield time, shown


def _decoded(container: "InputContainer") -> "Iterator[VideoFrame]":
    """Yield the following frames, skipping damaged packets."""
    import av  # noqa: PLC0415 - an extra

    for packet in container.demux(container.streams.video[0]):
        with suppress(av.error.FFmpegError):
            yield from packet.decode()


def _time_of(frame: "VideoFrame", first: Fraction) -> float:
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


MEMORY = 2 * 2**30  # bytes that one video may use, on top of the libraries
_THREADS = 2


def rate_of(media: Path | None) -> Fraction:
    """The frame rate of a video; 25 if it cannot be read, or without PyAV."""
    if media is None or not media.is_file():
        return USUAL_RATE
    stat = media.stat()
    return _rate(media, stat.st_mtime_ns, stat.st_size)


@cache
def _rate(media: Path, modified: int, size: int) -> Fraction:
    try:
        return Fraction(run(media, "rate")["rate"])
    except (InputError, MissingExtra):
        return USUAL_RATE


def run(media: Path, action: str, folder: Folder | None = None, **job: object) -> dict[str, Any]:
    """Do something with a video in a worker process: take its ``thumbnails`` or its ``rate``.

    ``chapters`` and ``clip`` are the functions of :mod:`howsteps.report.exports.video_copies`,
    with the arguments ``job``.
    """
    try:
        import av  # noqa: F401, PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("vision", "reading videos") from error
    what = {"do": action, "media": str(media.absolute()), "memory": MEMORY, "arguments": job}
    if folder is not None:
        what |= {"root": str(folder.root.absolute()), "parts": folder.parts}
    return run_in_worker("howsteps.report.decoding", what, threads=_THREADS)


def _work(job: dict[str, Any]) -> dict[str, object]:
    """Do what is asked in the worker process."""
    from howsteps.report.exports import video_copies  # noqa: PLC0415 - imports this module

    limit_memory(job["memory"])
    media, arguments = Path(job["media"]), job["arguments"]
    folder = Folder(Path(job.get("root", "")), tuple(job.get("parts", ())))
    match job["do"]:
        case "thumbnails":
            names = dict(arguments["names"])
            for time, thumbnail in thumbnails_at(media, list(names)):
                folder.write(names[time], thumbnail)
                answer({"seconds": time})
        case "rate":
            with open_video(media) as container:
                return {"rate": str(container.streams.video[0].average_rate or USUAL_RATE)}
        case "chapters":
            answer({"seconds": max((end for _, end, _ in arguments["chapters"]), default=0.0)})
            video_copies.with_chapters(media, folder, **arguments)
        case "clip":
            answer({"seconds": arguments["end"]})
            video_copies.cut_clip(media, folder, **arguments)
    return {}


if __name__ == "__main__":
    serve(_work)
