"""New videos that are dropped onto the page: kept in the work folder, and placed by the model."""

from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from howsteps.captions.encoding import LARGEST_FILE
from howsteps.datasets.collection import is_video
from howsteps.datasets.names import Names
from howsteps.errors import CannotWrite, HowstepsError, Problem
from howsteps.pipeline.apply import apply
from howsteps.report.decoding import is_readable
from howsteps.task import Result, Task

FOLDER = "new-videos"
PLACED = "new-videos-steps"
LARGEST_VIDEO = 4 * 2**30  # bytes
MOST_FILES = 200
_CAPTIONS = frozenset({".vtt", ".srt", ".ttml", ".srv3", ".json3", ".json", ".tsv", ".csv", ".txt"})


class Refused(HowstepsError):
    """A file that is not taken; the message says why."""


async def keep(folder: Path, name: str, parts: AsyncIterator[bytes]) -> Path:
    """Write a file that comes in parts into the folder of the new videos.

    Raises
    ------
    Refused
        Its name is of no video and no captions, it is too large, or there are too many.
    """
    home = folder / FOLDER
    safe, _ = Names("video").give(Path(name).name)
    target = home / safe
    if not (is_video(target) or target.suffix.lower() in _CAPTIONS):
        raise Refused("is neither a video nor captions, by its name")
    if home.is_dir() and sum(1 for _ in home.iterdir()) >= MOST_FILES:
        raise Refused(f"{MOST_FILES} new files are enough; begin a run with them")
    if target.exists():
        raise Refused("is there already")
    largest = LARGEST_VIDEO if is_video(target) else LARGEST_FILE
    part = home / f".{uuid4().hex}.part"
    try:
        home.mkdir(exist_ok=True)
        with part.open("wb") as file:
            size = 0
            async for piece in parts:
                size += len(piece)
                if size > largest:
                    raise Refused(f"is larger than {largest // 2**20:,} MB")
                file.write(piece)
        if not size:
            raise Refused("is empty")
        part.replace(target)
    except OSError as error:
        raise CannotWrite(f"cannot write {target}: {error.strerror}") from error
    finally:
        with suppress(OSError):
            part.unlink()
    return target


def names(folder: Path) -> set[str]:
    """The files that were dropped and are kept."""
    home = folder / FOLDER
    found = home.iterdir() if home.is_dir() else ()
    return {path.name for path in found if not path.name.startswith(".")}


def with_new_videos(result: Result, folder: Path) -> tuple[Result, dict[str, str]]:
    """A result with the new videos after its own, placed by the model of the work folder.

    Returns
    -------
    The result, and for each file that no place came of, the reason. One that nothing can ever come
    of is removed; a film without captions stays, as they may be dropped after it.

    Raises
    ------
    HowstepsError
        There is no model, or it cannot be used.
    """
    done = apply(folder, [folder / FOLDER], folder / PLACED, title=result.task.name, pages=False)
    found = next(iter(done.results.values()), None)
    placed = found.task.videos if found else ()
    refused = _refused(folder / FOLDER, done.problems, {video.id for video in placed})
    if found is None or len(found.script.steps) != len(result.script.steps):
        return result, refused
    known = Names("video")
    for video in result.task.videos:
        known.give(video.id)
    new = {video.id: known.give(video.id)[0] for video in found.task.videos}
    videos = tuple(replace(video, id=new[video.id], mentions=()) for video in found.task.videos)
    places = tuple(replace(place, video=new[place.video]) for place in found.localisations)
    task = Task(result.task.name, (*result.task.videos, *videos))
    # Without them among its own mentions, no edit can be about those of a new video.
    steps = tuple(
        replace(own, mentions=own.mentions + tuple(replace(m, video=new[m.video]) for m in heard))
        for own, heard in zip(
            result.script.steps, (step.mentions for step in found.script.steps), strict=True
        )
    )
    script = replace(result.script, steps=steps)
    shown = replace(
        result, task=task, script=script, localisations=(*result.localisations, *places)
    )
    return shown, refused


def _refused(home: Path, problems: Iterable[Problem], placed: Collection[str]) -> dict[str, str]:
    """Why files were not placed, by their names; what cannot be read at all is removed."""
    found = {}
    for problem in problems:
        path = problem.path if problem.path.parent == home else _of_video(home, problem.path.name)
        if problem.harmless or path is None or _is_of(path, placed):
            continue
        reason = problem.reason.removeprefix("set aside: ")
        if not is_video(path):
            # Captions of a video whose film is missing may be whole; those that fail are not.
            if problem.path == path:
                path.unlink(missing_ok=True)
        elif not is_readable(path):
            reason = "is not a video that can be read"
            path.unlink(missing_ok=True)
        elif reason.startswith("has no captions"):
            reason = "has no captions; drop them too"
        found[path.name] = reason
    return found


def _of_video(home: Path, video: str) -> Path | None:
    """A file of a video, by the name of the video."""
    return next((path for path in sorted(home.glob("*")) if _is_of(path, [video])), None)


def _is_of(path: Path, videos: Iterable[str]) -> bool:
    """Whether a file is of one of some videos, by its name."""
    return any(path.name.startswith(f"{video}.") for video in videos)
