"""Decode videos for the page and the exports, in worker processes with limits.

``python -m howsteps.report.decoding`` runs one job on one video (see
:mod:`howsteps.io.worker_process`): a video that crashes or hangs its decoder, or exhausts memory,
affects only itself.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from howsteps.errors import InputError, MissingExtra
from howsteps.io.files import write_atomically
from howsteps.io.worker_process import Failed, answer, limit_memory, run_in_worker, serve
from howsteps.report.video_files import USUAL_RATE

if TYPE_CHECKING:
    from howsteps.report.exports.spans import Chapter

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
    from howsteps.report.exports.spans import Chapter  # noqa: PLC0415
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
