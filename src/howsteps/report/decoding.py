"""Open videos for the page and the exports (PyAV), in worker processes with limits.

``python -m howsteps.report.decoding`` runs one job on one video (see
:mod:`howsteps.io.worker_process`): a video that crashes or hangs its decoder, or exhausts memory,
affects only itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from howsteps.errors import InputError, MissingExtra
from howsteps.io.files import write_atomically
from howsteps.io.media import open_media
from howsteps.io.worker_process import Failed, answer, limit_memory, run_in_worker, serve

if TYPE_CHECKING:
    from av import VideoFrame
    from av.container import InputContainer

    from howsteps.report.exports.chapters import Chapter

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


MEMORY = 2 * 2**30  # bytes that one video may use, on top of the libraries
_THREADS = 2


def write_thumbnails(media: Path, paths: Mapping[float, Path]) -> None:
    """Write the frame at each time (in seconds, increasing) to its file.

    Raises
    ------
    InputError
        The video cannot be decoded.
    MissingExtra
        PyAV is not installed.
    """
    if paths:
        _run(media, "thumbnails", paths=[[time, str(path)] for time, path in paths.items()])


def rate_of(media: Path | None) -> Fraction:
    """The frame rate of a video; 25 if it cannot be read, or without PyAV."""
    if media is None or not media.is_file():
        return USUAL_RATE
    stat = media.stat()
    return _rate(media, stat.st_mtime_ns, stat.st_size)


@cache
def _rate(media: Path, modified: int, size: int) -> Fraction:
    try:
        return Fraction(_run(media, "rate")["rate"])
    except (InputError, MissingExtra):
        return USUAL_RATE


def is_readable(media: Path) -> bool:
    """Whether a file is a readable video; always True without PyAV."""
    try:
        _run(media, "rate")
    except InputError:
        return False
    except MissingExtra:
        return True
    return True


def write_with_chapters(media: Path, chapters: "Sequence[Chapter]", target: Path) -> None:
    """Write a copy of a video with chapters (:func:`video_copies.with_chapters`)."""
    values = [[chapter.start, chapter.end, chapter.title] for chapter in chapters]
    _run(media, "chapters", chapters=values, target=str(target))


def write_clip(
    media: Path, start: float, end: float, target: Path, *, precise: bool = False
) -> None:
    """Write a clip of a video (:func:`video_copies.cut_clip`)."""
    _run(media, "clip", start=start, end=end, target=str(target), precise=precise)


def _run(media: Path, action: str, **job: object) -> dict[str, Any]:
    try:
        import av  # noqa: F401, PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("vision", "reading videos") from error
    job |= {"do": action, "media": str(media.absolute()), "memory": MEMORY}
    try:
        return run_in_worker("howsteps.report.decoding", job, threads=_THREADS)
    except Failed as error:
        raise InputError(media, str(error)) from error


def _work(job: dict[str, Any]) -> dict[str, object]:
    """Run one job in the worker process."""
    from howsteps.report.exports import video_copies  # noqa: PLC0415 - imports this module
    from howsteps.report.exports.chapters import Chapter  # noqa: PLC0415
    from howsteps.report.thumbnails import thumbnails_at  # noqa: PLC0415

    limit_memory(job["memory"])
    media = Path(job["media"])
    match job["do"]:
        case "thumbnails":
            paths = {time: Path(path) for time, path in job["paths"]}
            for time, thumbnail in thumbnails_at(media, list(paths)):
                write_atomically(paths[time], thumbnail)
                answer({"seconds": time})
        case "rate":
            return {"rate": str(video_copies.frame_rate(media))}
        case "chapters":
            chapters = [Chapter(*values) for values in job["chapters"]]
            answer({"seconds": max((chapter.end for chapter in chapters), default=0.0)})
            video_copies.with_chapters(media, chapters, Path(job["target"]))
        case "clip":
            answer({"seconds": job["end"]})
            cut, target = video_copies.cut_clip, Path(job["target"])
            cut(media, job["start"], job["end"], target, precise=job["precise"])
    return {}


if __name__ == "__main__":
    serve(_work)
