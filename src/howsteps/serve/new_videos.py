"""New videos uploaded through the page: stored in the work folder, and placed by the model."""

import os
import re
from collections.abc import AsyncIterator, Collection, Iterable
from dataclasses import replace
from pathlib import Path

from howsteps.captions.cues import LARGEST_FILE
from howsteps.datasets.collection import is_video
from howsteps.datasets.names import Names, split_language
from howsteps.errors import Problem
from howsteps.io.files import Folder
from howsteps.pipeline.apply import OTHER_JOB, apply
from howsteps.report.decoding import is_readable
from howsteps.serve.edits import Refused
from howsteps.task import Result, Task

FOLDER = "new-videos"
PLACED = "new-videos-steps"
LARGEST_VIDEO = 4 * 2**30  # bytes
MAX_FILES = 200
_PARTIAL = re.compile(r"\.[0-9a-f]{32}\.part")
_LONGEST_LANGUAGE = 35  # characters, as in RFC 5646
_CAPTIONS = frozenset({".vtt", ".srt", ".ttml", ".srv3", ".json3", ".json", ".tsv", ".csv", ".txt"})


async def keep(folder: Path, name: str, parts: AsyncIterator[bytes]) -> Path:
    """Write an uploaded file into the folder of the new videos, or raise ``Refused``."""
    uploads = Folder(folder) / FOLDER
    target = uploads.path / _file_name(name)
    if not (is_video(target) or target.suffix.lower() in _CAPTIONS):
        raise Refused("is neither a video nor a caption file, by its name")
    if len(uploads.names()) >= MAX_FILES:
        raise Refused(f"is one too many: {MAX_FILES} new files are enough; start a run with them")
    if os.path.lexists(target):
        raise Refused("exists already")
    largest = LARGEST_VIDEO if is_video(target) else LARGEST_FILE
    with uploads.writing(target.name) as file:
        size = 0
        async for block in parts:
            size += len(block)
            if size > largest:
                raise Refused(f"is larger than {largest // 2**20:,} MB")
            file.write(block)
        if not size:
            raise Refused("is empty")
    return target


def _file_name(name: str) -> str:
    """A safe file name. A long stem is shortened; the language and the extension stay."""
    name = Path(name).name.strip()
    stem, _ = os.path.splitext(name)
    video, language = split_language(stem)
    if len(language) > _LONGEST_LANGUAGE:
        video = stem
    safe, _ = Names("video").give(video)
    return safe + name[len(video) :]


def remove_partial(folder: Path) -> None:
    """Remove what uploads left behind when the server was killed; nothing may be uploading."""
    uploads = Folder(folder) / FOLDER
    for name in uploads.names():
        if _PARTIAL.fullmatch(name):
            uploads.remove(name)


def names(folder: Path) -> set[str]:
    """The names of the uploaded files."""
    return {name for name in (Folder(folder) / FOLDER).names() if not name.startswith(".")}


def with_new_videos(
    result: Result, folder: Path, removable: Collection[str] = ()
) -> tuple[Result, dict[str, str], dict[str, str]]:
    """Append the new videos to a result, placed by the model of the work folder.

    ``removable`` are the names of files that this server received itself: unreadable ones are
    removed. A video without captions stays, as they may be uploaded later.

    Returns
    -------
    The result; for each file that could not be placed, the reason; and remarks on files that were.
    """
    done = apply(folder, [folder / FOLDER], folder / PLACED, title=result.task.name, pages=False)
    found = next(iter(done.results.values()), None)
    placed = found.task.videos if found else ()
    refused = _refused(folder / FOLDER, done.problems, {video.id for video in placed}, removable)
    if found is None or len(found.script.steps) != len(result.script.steps):
        return result, refused, {}
    known = Names("video")
    for video in result.task.videos:
        known.give(video.id)
    new_ids = {video.id: known.give(video.id)[0] for video in found.task.videos}
    # Without mentions of their own, so that no edit can refer to them.
    videos = tuple(replace(video, id=new_ids[video.id], mentions=()) for video in found.task.videos)
    places = tuple(replace(place, video=new_ids[place.video]) for place in found.localisations)
    steps = []
    for step, new_step in zip(result.script.steps, found.script.steps, strict=True):
        new_mentions = (replace(m, video=new_ids[m.video]) for m in new_step.mentions)
        steps.append(replace(step, mentions=(*step.mentions, *new_mentions)))
    shown = replace(
        result,
        task=Task(result.task.name, (*result.task.videos, *videos)),
        script=replace(result.script, steps=tuple(steps)),
        localisations=(*result.localisations, *places),
    )
    return shown, refused, _remarks(folder / FOLDER, done.problems)


def _refused(
    uploads: Path, problems: Iterable[Problem], placed: Collection[str], removable: Collection[str]
) -> dict[str, str]:
    """Why files were not placed, by file name; removes unreadable files that are removable."""
    reasons = {}
    for problem in problems:
        is_upload = problem.path.parent == uploads
        path = problem.path if is_upload else _file_of(uploads, problem.path.name)
        if path is None or _belongs_to(path, placed):
            continue
        if problem.harmless and (is_video(path) or not is_upload):
            continue  # a remark; but a file of its own that is no captions is one too
        reason = problem.reason.removeprefix("not used: ")
        unreadable = False
        if not is_video(path):
            unreadable = problem.path == path  # valid captions may only lack their video file
        elif not is_readable(path):
            reason, unreadable = "is not a readable video", True
        elif reason.startswith("has no captions"):
            reason = "has no captions; add them too"
        if unreadable and path.name in removable:
            (Folder(uploads.parent) / uploads.name).remove(path.name)
        reasons[path.name] = reason
    return reasons


def _remarks(uploads: Path, problems: Iterable[Problem]) -> dict[str, str]:
    """Remarks on videos that may show another job, by the name of each of their files."""
    remarks = {}
    for problem in problems:
        if problem.reason == OTHER_JOB:
            is_upload = problem.path.parent == uploads
            video = problem.path.stem if is_upload else problem.path.name
            files = (path for path in uploads.iterdir() if _belongs_to(path, [video]))
            remarks.update({path.name: f"{video}: {problem.reason}" for path in files})
    return remarks


def _file_of(uploads: Path, video: str) -> Path | None:
    """The first file of a video, by name."""
    return next((path for path in sorted(uploads.glob("*")) if _belongs_to(path, [video])), None)


def _belongs_to(path: Path, videos: Iterable[str]) -> bool:
    """Whether a file belongs to one of the videos, by name."""
    return any(path.name.startswith(f"{video}.") for video in videos)
