"""Read the tasks in a file or folder, downloads of yt-dlp among them, and list all problems."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct

from howsteps.captions import CaptionFile
from howsteps.captions.cues import printable
from howsteps.captions.json_formats import load_json
from howsteps.captions.reading import (
    NOT_ENGLISH,
    CaptionText,
    is_english,
    parse_text,
    read_caption_text,
)
from howsteps.datasets.annotations import Found
from howsteps.datasets.names import Names, split_language
from howsteps.datasets.task_file import KEYS, is_task, task_of_json
from howsteps.errors import InputError, Problem
from howsteps.store import read_record
from howsteps.task import LATEST, LONGEST, Chapter, Task, Video

INFO = ".info.json"
_LARGEST = 2**26  # bytes; most of such a file is URLs that expire
_LONGEST_TITLE = 300  # characters
_MOST_CHAPTERS = 1000

_ID = re.compile(r"[A-Za-z0-9_-]{11}")
_NAMED = re.compile(rf"(?P<title>.*?)\s*\[(?P<id>{_ID.pattern})\]")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
# yt-dlp replaces characters that file names cannot contain by similar ones.
_LOOKALIKES = str.maketrans("：？｜＂＊＜＞⧸⧹", ':?|"*<>/\\')
_BY_PRODUCT = re.compile(
    r".*(?:\.part(?:-Frag\d+)?|\.ytdl|\.temp\.[a-z0-9]{2,4}|\.live_chat\.json)", re.IGNORECASE
)
_ONE_FORMAT = re.compile(r"(?P<stem>.+ \[[^\[\]]+\])\.f\d+(?:-\w+)?")


def without_format(stem: str) -> str:
    """Remove the format code of an unmerged stream: ``"Title [id].f137"`` → ``"Title [id]"``."""
    found = _ONE_FORMAT.fullmatch(stem)
    return found["stem"] if found else stem


class _InfoChapter(Struct):
    start_time: float
    title: str | None = None


class _Info(Struct):
    """What is used of an ``.info.json`` of yt-dlp."""

    id: str | int = ""
    title: str | None = None
    duration: float | None = None
    language: str | None = None
    extractor_key: str | None = None
    chapters: list[_InfoChapter] | None = None


def with_details(video: Video, stem: str, info: Path | None) -> tuple[Video, list[Problem]]:
    """Return a video with the metadata in its name and its ``.info.json``, if any.

    It is at least as long as its captions.
    """
    if named := _NAMED.fullmatch(stem):
        title = printable(named["title"].translate(_LOOKALIKES))
        video = replace(video, title=title, youtube=named["id"])
    if info is None:
        return video, []
    try:
        found = read_record(info, _Info, _LARGEST)
    except InputError as error:
        reason = f"ignored: {error.problem.reason}"
        return video, [replace(error.problem, reason=reason, harmless=True)]
    youtube = video.youtube
    if found.extractor_key:
        is_youtube = found.extractor_key.lower().startswith("youtube")
        youtube = str(found.id) if is_youtube and _ID.fullmatch(str(found.id)) else None
    length, language = found.duration or 0.0, found.language or ""
    chapters = [
        Chapter(chapter.start_time, title)
        for chapter in (found.chapters or [])[:_MOST_CHAPTERS]
        if chapter.start_time >= 0 and (title := _title(chapter.title))
    ]
    video = replace(
        video,
        title=_title(found.title) or video.title,
        youtube=youtube,
        duration=max(length, video.length) if 0 < length <= LATEST else None,
        language=language if _LANGUAGE.fullmatch(language) else "",
        chapters=tuple(sorted(chapters, key=lambda chapter: chapter.start)),
    )
    return video, []


def _title(text: str | None) -> str:
    return " ".join(printable(text or "").split())[:_LONGEST_TITLE]


_VIDEO_SUFFIXES = frozenset(
    {".3gp", ".avi", ".flv", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".mts", ".ogv"}
    | {".ts", ".webm", ".wmv"}
)
# Files of any other kind are ignored; those of these hold captions or a task, but for notes.txt.
_CAPTION_SUFFIXES = frozenset(
    {".ass", ".csv", ".dfxp", ".json", ".json3", ".sbv", ".srt", ".srv1", ".srv2", ".srv3"}
    | {".ssa", ".tsv", ".ttml", ".txt", ".vtt", ".xml"}
)
STEPS_TABLE = "steps.csv"  # ground truth of the folder

# The file that marks a work folder, whose exports must not be read as captions.
WORK_FOLDER = ".howsteps"
PROJECT = "howsteps.toml"  # options, of a folder that is given


Collection: TypeAlias = Found[Task]


def read_tasks(path: Path | str) -> Collection:
    """Read the tasks under ``path``.

    A caption file is a task of one video; a task file is a task. In a folder and its sub-folders,
    every task file is a task, and the caption and video files of each folder are one task, named
    after the folder, or its path below ``path`` (``"a steak"``). Narrations that are not in English
    are skipped. A file that cannot be read is listed as a problem; the others are still used.
    """
    path, found = Path(path), _Collected()
    if (path / WORK_FOLDER).is_file():
        raise InputError(path, "is a work folder of howsteps; give the folder of the videos")
    if path.is_dir():
        _read_folder(path, found)
    else:
        _read_file(path, found)
    if not found.tasks:
        found.problems.append(Problem(path, "no videos or captions were found here"))
    return Found(tuple(found.tasks), tuple(found.problems))


def holds_videos(folder: Path) -> bool:
    """Whether files of a folder, not of its sub-folders, are read as videos, captions or a task."""
    found = _Collected()
    _read_job(folder, folder.name, _by_video(folder.glob("[!.]*")), found)
    return bool(found.tasks)


@dataclass
class _Collected:
    """What has been read so far."""

    tasks: list[Task] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    _names: Names = field(default_factory=lambda: Names("task"))

    def add(self, source: Path, task: Task) -> None:
        """Add a task under a name of its own, without videos of an impossible length."""
        videos = tuple(video for video in task.videos if video.length <= LONGEST)
        for video in task.videos:
            if video.length > LONGEST:
                lasts = f"{video.id} lasts {video.length / 3600:,.0f} hours"
                reason = f"not used: {lasts}, by its captions or its metadata; at most 24 do"
                self.problems.append(Problem(video.media or source, reason))
        if not task.videos:
            self.problems.append(Problem(source, "contains no usable video"))
        if videos:
            name, changed = self._names.give(task.name)
            self.tasks.append(replace(task, name=name, videos=videos))
            if changed:
                self.remark(source, changed)

    def remark(self, path: Path, reason: str) -> None:
        """Note something by which nothing is lost."""
        self.problems.append(Problem(path, reason, harmless=True))


@dataclass
class _Files:
    """The files of one video, by their names; any kind may be missing."""

    media: list[Path] = field(default_factory=list)
    captions: list[Path] = field(default_factory=list)
    info: Path | None = None


def _by_video(paths: Iterable[Path]) -> dict[str, _Files]:
    """Group the files of a folder by the name of the video that they belong to."""
    videos: defaultdict[str, _Files] = defaultdict(_Files)
    others = []
    for path in paths:
        if _is_by_product(path):
            continue
        if is_video(path):
            videos[without_format(path.stem)].media.append(path)
        else:
            others.append(path)
    for path in others:
        if path.name.lower().endswith(INFO):
            videos[path.name[: -len(INFO)]].info = path
        elif path.suffix.lower() in _CAPTION_SUFFIXES and path.name.lower() != STEPS_TABLE:
            # A video file may itself be called "a.en"; then that is its name and not a language.
            name = path.stem if path.stem in videos else split_language(path.stem)[0]
            videos[name].captions.append(path)
    return dict(sorted(videos.items()))


def _is_by_product(path: Path) -> bool:
    return _BY_PRODUCT.fullmatch(path.name) is not None


def is_video(path: Path) -> bool:
    """Whether a file has the suffix of a video."""
    return path.suffix.lower() in _VIDEO_SUFFIXES


def _read_file(path: Path, into: _Collected) -> None:
    """Read a single file, with what belongs to the same video beside it."""
    beside = path.parent.iterdir() if path.is_file() else []
    name, files = path.stem, _Files()
    for other, group in _by_video(sorted(beside)).items():
        if path in (*group.media, *group.captions):
            name, files = other, group
    if is_video(path):
        files.media = [path]
    else:
        files.captions = [path]
    _read_job(path, name, {name: files}, into)
    if not into.tasks:
        fault = into.problems[0]
        raise InputError(fault.path, fault.reason, fault.line)


def _read_folder(root: Path, into: _Collected) -> None:
    def note(error: OSError) -> None:
        reason = f"cannot be read: {error.strerror}"
        into.problems.append(Problem(Path(error.filename), reason))

    for directory, folders, names in os.walk(root, onerror=note):
        folder = Path(directory)
        if not (folders or names or folder == root):
            into.remark(folder, "this folder is empty")
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and not (folder / name / WORK_FOLDER).is_file()
        )
        paths = [folder / name for name in sorted(names) if not name.startswith(".")]
        for path in filter(_is_by_product, paths):
            into.remark(path, "skipped: a download that is not finished, or a live chat")
        if folder != root and PROJECT in names:
            into.remark(folder / PROJECT, "not used: only that of the folder that is given is")
        # The whole path below the root, so that no other folder changes the name of a job.
        name = " ".join(folder.relative_to(root).parts) or folder.resolve().name
        _read_job(folder, name, _by_video(paths), into)


def _read_job(source: Path, name: str, groups: Mapping[str, _Files], into: _Collected) -> None:
    """Read the videos of a folder, which are one task, and the task files among them."""
    videos: list[Video] = []
    names = Names("video")
    for stem, files in groups.items():
        texts = _read_texts(files.captions, into)
        captions = _choose(texts, into)
        media = _usable(files.media, stem, into)
        if media is None and captions is None:
            continue
        video_id, changed = names.give(stem)
        if changed:
            into.remark(media or next(iter(texts)), changed)
        video = Video(video_id, captions.captions if captions else (), media=media)
        video, problems = with_details(video, stem, files.info)
        into.problems += problems
        videos.append(video)
    if videos:
        into.add(source, Task(name, tuple(videos)))


def _read_texts(paths: Iterable[Path], into: _Collected) -> dict[Path, CaptionText]:
    """Read the files that may be captions; task files among them are added."""
    texts = {}
    for path in paths:
        try:
            text = read_caption_text(path)
        except InputError as error:
            into.problems.append(_weighed(error))
        else:
            if (value := _task_in(text)) is None:
                texts[path] = text
            else:
                task, problems = task_of_json(value, path)
                into.problems += problems
                into.add(path, task)
    return texts


def _task_in(read: CaptionText) -> Any:
    """Return the JSON of a task file; None for any other file, which is then read as captions."""
    # Captions are parsed once, by their reader, which limits them.
    text = read.text
    if text.lstrip()[:1] not in {"{", "["} or not any(f'"{key}"' in text for key in KEYS):
        return None
    try:
        value = load_json(text)
    except InputError:
        return None
    return value if is_task(value) else None


def _weighed(error: InputError) -> Problem:
    """The problem of a file that cannot be read, which is no loss if it need not be captions."""
    problem = error.problem
    return replace(problem, harmless=problem.path.suffix.lower() == ".txt")


def _usable(media: Sequence[Path], stem: str, into: _Collected) -> Path | None:
    """Choose one of the files of a video; a merged one is preferred to a single stream."""
    usable: list[Path] = []
    for path in sorted(media, key=lambda path: path.stem != stem):
        if reason := _why_unusable(path):
            into.problems.append(Problem(path, f"not used: {reason}"))
        elif usable:
            into.remark(path, f"not used: the video is read from {usable[0].name}")
        else:
            usable.append(path)
    return usable[0] if usable else None


def _why_unusable(media: Path) -> str | None:
    """Return why a video file is not even opened; None if it may be."""
    if not media.is_file():  # reading from a named pipe would block forever
        return "is not a file" if media.exists() else "no such file"
    try:
        str(media.absolute()).encode()
    except UnicodeEncodeError:
        # Results are JSON and pages are HTML: neither can refer to such a file.
        return "its path is not valid UTF-8; rename it"
    return None


def _choose(texts: Mapping[Path, CaptionText], into: _Collected) -> CaptionFile | None:
    """Read the best caption file: English, readable, preferably with word times."""
    read: list[CaptionFile] = []
    for _, same in groupby(sorted(texts, key=_rank), key=_rank):
        for path in same:
            try:
                read.append(_english(texts[path]))
            except InputError as error:
                into.problems.append(_weighed(error))
        if read:
            break
    if not read:
        return None
    chosen = max(read, key=lambda file: any(line.words for line in file.captions))
    into.problems += chosen.problems
    return chosen


def _english(text: CaptionText) -> CaptionFile:
    found = parse_text(text)
    if not is_english(found.captions):
        raise InputError(text.path, NOT_ENGLISH)
    return found


def _rank(path: Path) -> int:
    """Rank a file by its language code: English, regional English, none, then the others."""
    language = split_language(path.stem)[1]
    if language in {"en", "eng"}:
        return 0
    return 1 if language.startswith("en-") else 3 if language else 2
