"""Read the tasks in a file or folder, downloads of yt-dlp among them, and list all problems."""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from howsteps.captions import CaptionFile
from howsteps.captions.cues import printable, seconds
from howsteps.captions.json_formats import load_json
from howsteps.captions.reading import (
    CaptionText,
    is_english,
    not_english,
    parse_text,
    read_caption_text,
    why_uncertain,
)
from howsteps.datasets.annotations import Found
from howsteps.datasets.names import Names, split_language
from howsteps.datasets.task_file import KEYS, is_task, task_of_json
from howsteps.errors import InputError, Problem
from howsteps.io.files import read_bounded
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
_UNFINISHED = re.compile(r".*(?:\.part(?:-Frag\d+)?|\.ytdl|\.temp\.[a-z0-9]{2,4})", re.IGNORECASE)
_LIVE_CHAT = re.compile(r".*\.live_chat\.json", re.IGNORECASE)
_ONE_FORMAT = re.compile(r"(?P<stem>.+ \[[^\[\]]+\])\.f\d+(?:-\w+)?")


def skipped(name: str) -> str | None:
    """Return why a file is skipped, if its name is that of a by-product of a download."""
    if _UNFINISHED.fullmatch(name):
        return "skipped: a download that is not finished"
    return "skipped: a live chat, not captions" if _LIVE_CHAT.fullmatch(name) else None


def without_format(stem: str) -> str:
    """Remove the format code of an unmerged stream: ``"Title [id].f137"`` → ``"Title [id]"``."""
    found = _ONE_FORMAT.fullmatch(stem)
    return found["stem"] if found else stem


def with_details(video: Video, stem: str, info: Path | None) -> tuple[Video, list[Problem]]:
    """Return a video with the metadata in its name and its ``.info.json``, if any."""
    if named := _NAMED.fullmatch(stem):
        title = printable(named["title"].translate(_LOOKALIKES))
        video = replace(video, title=title, youtube=named["id"])
    if info is None:
        return video, []
    try:
        value = json.loads(read_bounded(info, _LARGEST, "an .info.json"))
    except InputError as error:
        return video, [replace(error.problem, harmless=True)]
    except (ValueError, RecursionError):  # ValueError: not JSON, or not text
        value = None
    if not isinstance(value, dict):
        return video, [Problem(info, "is not JSON as yt-dlp writes it; ignored", harmless=True)]
    return _with_info(video, value), []


def _with_info(video: Video, value: dict[str, Any]) -> Video:
    """Return a video with the metadata in an ``.info.json``; it is as long as its captions."""
    site, video_id = value.get("extractor_key"), value.get("id")
    length = seconds(value.get("duration"))
    youtube = video.youtube
    if isinstance(site, str):
        is_youtube = site.lower().startswith("youtube")
        is_valid = isinstance(video_id, str) and _ID.fullmatch(video_id)
        youtube = video_id if is_youtube and is_valid else None
    language = value.get("language")
    return replace(
        video,
        title=_title(value.get("title")) or video.title,
        youtube=youtube,
        duration=max(length, video.length) if length and 0 < length <= LATEST else None,
        language=language if isinstance(language, str) and _LANGUAGE.fullmatch(language) else "",
        chapters=_chapters(value.get("chapters")),
    )


def _chapters(value: Any) -> tuple[Chapter, ...]:
    found = []
    for entry in (value if isinstance(value, list) else [])[:_MOST_CHAPTERS]:
        start = seconds(entry.get("start_time")) if isinstance(entry, dict) else None
        if start is not None and start >= 0 and (title := _title(entry.get("title"))):
            found.append(Chapter(start, title))
    return tuple(sorted(found, key=lambda chapter: chapter.start))


def _title(value: object) -> str:
    text = " ".join(printable(value).split()) if isinstance(value, str) else ""
    return text[:_LONGEST_TITLE]


_VIDEO_SUFFIXES = frozenset(
    {".3gp", ".avi", ".flv", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".mts", ".ogv"}
    | {".ts", ".webm", ".wmv"}
)
# Never captions; files with any other name are opened.
_OTHER_SUFFIXES = (
    *(".jpg", ".jpeg", ".png", ".webp", ".gif", ".svg", ".pdf", ".html", ".md", ".py", ".log"),
    *(".mp3", ".m4a", ".wav", ".flac", ".ogg", ".opus", ".aac", ".npy", ".npz", ".zip"),
    *(".toml", ".description", ".annotations.xml", ".url", ".webloc", INFO),
)
# A file with another suffix that no reader knows is no loss, such as notes.txt.
_CAPTION_SUFFIXES = frozenset(
    ".ass .csv .dfxp .json .json3 .sbv .srt .srv1 .srv2 .srv3 .ssa .tsv .ttml .vtt .xml".split()
)
STEPS_TABLE = "steps.csv"  # ground truth of the folder

# The file that marks a work folder, whose exports must not be read as captions.
WORK_FOLDER = ".howsteps"


Collection: TypeAlias = Found[Task]


def read_tasks(
    path: Path | str, watch: Callable[[int], Callable[[Path], None]] = lambda _: lambda _: None
) -> Collection:
    """Read the tasks under ``path``.

    A caption file is a task of one video; a task file is a task. In a folder and its sub-folders,
    every task file is a task, and the caption and video files of each folder are one task with the
    name of the folder. Narrations that are not in English are skipped. A file that cannot be read
    is listed as a problem; the others are still used.

    In a folder, ``watch`` is called with the number of files that may be captions or tasks; the
    function that it returns is called after each of them.
    """
    path = Path(path)
    if (path / WORK_FOLDER).is_file():
        raise InputError(path, "is a work folder of howsteps; give the folder of the videos")
    found = _read_folder(path, watch) if path.is_dir() else _read_file(path)
    tasks: list[Task] = []
    problems: list[Problem] = []
    names = Names("task")
    for source, task, task_problems in found:
        videos = tuple(video for video in task.videos if video.length <= LONGEST)
        problems += task_problems
        for video in task.videos:
            if (hours := video.length / 3600) > LONGEST / 3600:
                lasts = f"{video.id} lasts {hours:,.0f} hours, by its captions or its metadata"
                reason = f"not used: {lasts}; at most 24 do"
                problems.append(Problem(video.media or source, reason))
        if not videos:
            if not (task.videos or task_problems):
                problems.append(Problem(source, "contains no video"))
            continue
        name, changed = names.give(task.name)
        if changed:
            problems.append(Problem(source, changed, harmless=True))
        tasks.append(replace(task, name=name, videos=videos))
    if not tasks:
        problems.append(Problem(path, "no videos or captions were found here"))
    return Found(tuple(tasks), tuple(problems))


_Found: TypeAlias = tuple[Path, Task, list[Problem]]


def _read_file(path: Path) -> Iterator[_Found]:
    """Read a single file, with what has the same name beside it."""
    name, stems = split_language(path.stem)[0], {path.stem, without_format(path.stem)}
    beside = sorted(p for p in path.parent.iterdir() if p.is_file()) if path.is_file() else []
    videos = {p.stem: p for p in reversed(beside) if is_video(p)}
    if is_video(path):
        media = [path]
        reads = {
            p: _read(p)
            for p in beside
            if _may_be_captions(p)
            and {p.stem, split_language(p.stem)[0]} & stems
            and (p.stem == path.stem or p.stem not in videos)
        }
        files = {p: read for p, read in reads.items() if _task_in(read) is None}
    else:
        files = {path: _read(path)}
        if (value := _task_in(files[path])) is not None:
            yield path, *task_of_json(value, path)
            return
        # A video file may itself be called "a.en".
        media = [videos[stem] for stem in (path.stem, name) if stem in videos][:1]
    infos = [info] if (info := path.with_name(f"{name}{INFO}")).is_file() else []
    task, problems = _task_of_files(name, files, media, infos)
    if not task.videos:
        fault = problems[0]
        raise InputError(fault.path, fault.reason, fault.line)
    yield path, task, problems


def _may_be_captions(path: Path) -> bool:
    """Whether a file may contain captions, by its name."""
    name = path.name.lower()
    is_other = name.startswith(".") or name == STEPS_TABLE or name.endswith(_OTHER_SUFFIXES)
    return not (is_other or is_video(path) or skipped(path.name))


def _walk(
    root: Path, on_error: Callable[[OSError], None], on_empty: Callable[[Path], None]
) -> Iterator[tuple[Path, list[Path]]]:
    """Yield every folder with its files, without hidden ones and work folders."""
    for directory, folders, names in os.walk(root, onerror=on_error):
        folder = Path(directory)
        if not (folders or names or folder == root):
            on_empty(folder)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and not (folder / name / WORK_FOLDER).is_file()
        )
        yield folder, [folder / name for name in sorted(names) if not name.startswith(".")]


def _read_folder(root: Path, watch: Callable[[int], Callable[[Path], None]]) -> Iterator[_Found]:
    unusable: list[Problem] = []

    def note(error: OSError) -> None:
        unusable.append(Problem(Path(error.filename), f"cannot be read: {error.strerror}"))

    def note_empty(folder: Path) -> None:
        unusable.append(Problem(folder, "this folder is empty", harmless=True))

    folders = list(_walk(root, note, note_empty))
    on_file = watch(sum(_may_be_captions(path) for _, paths in folders for path in paths))
    for folder, paths in folders:
        ignored = {path: reason for path in paths if (reason := skipped(path.name))}
        media = [path for path in paths if is_video(path) and path not in ignored]
        infos = [path for path in paths if path.name.lower().endswith(INFO)]
        files: dict[Path, _Read] = {}
        for path in filter(_may_be_captions, paths):
            read = _read(path)
            value = _task_in(read)
            if value is None:
                files[path] = read
            else:
                yield path, *task_of_json(value, path)
                on_file(path)
        if files or media or ignored:
            name = folder.resolve().name
            task, problems = _task_of_files(name, files, media, infos, on_file)
            remarks = [Problem(path, reason, harmless=True) for path, reason in ignored.items()]
            yield folder, task, [*remarks, *problems]
    if unusable:
        yield root, Task("", ()), unusable


def is_video(path: Path) -> bool:
    """Whether a file has the suffix of a video."""
    return path.suffix.lower() in _VIDEO_SUFFIXES


# The text of a file, which is read once, or why it cannot be read.
_Read: TypeAlias = CaptionText | InputError


def _read(path: Path) -> _Read:
    try:
        return read_caption_text(path)
    except InputError as error:
        return error


def _task_in(read: _Read) -> Any:
    """Return the JSON of a task file; None for any other file, which is then read as captions."""
    if isinstance(read, InputError):
        return None
    # Captions are parsed once, by their reader, which limits them.
    text = read.text
    if text.lstrip()[:1] not in {"{", "["} or not any(f'"{key}"' in text for key in KEYS):
        return None
    try:
        value = load_json(text)
    except InputError:
        return None
    return value if is_task(value) else None


def _task_of_files(
    name: str,
    files: Mapping[Path, _Read],
    media: Sequence[Path],
    infos: Iterable[Path] = (),
    on_file: Callable[[Path], None] = lambda _: None,
) -> tuple[Task, list[Problem]]:
    """Build a task from caption and video files; a video needs only one of the two.

    ``files`` are the caption files with their text, ``infos`` the ``.info.json`` files beside them.
    """
    videos = []
    problems: list[Problem] = []
    names = Names("video")
    unusable = {path: reason for path in media if (reason := _why_unusable(path))}
    problems += [Problem(path, f"not used: {reason}") for path, reason in unusable.items()]
    media = [path for path in media if path not in unusable]
    media_of = {without_format(path.stem): path for path in reversed(media)}
    media_of |= {path.stem: path for path in reversed(media) if path.stem in media_of}
    problems += [
        Problem(path, f"not used: the video is read from {used.name}", harmless=True)
        for path in media
        if path != (used := media_of[without_format(path.stem)])
    ]
    info_of = {path.name[: -len(INFO)]: path for path in infos}
    by_video: dict[str, list[Path]] = {stem: [] for stem in media_of}
    for path in files:
        # A video file may itself be called "a.en"; then that is its name and not a language.
        stem = path.stem if path.stem in media_of else split_language(path.stem)[0]
        by_video.setdefault(stem, []).append(path)
    for stem, candidates in sorted(by_video.items()):
        chosen, caption_problems = _choose({path: files[path] for path in candidates})
        if chosen is None and stem not in media_of:
            caption_problems = [_if_stray(problem) for problem in caption_problems]
        problems += caption_problems
        for path in candidates:
            on_file(path)
        if chosen is None and stem not in media_of:
            continue
        video, changed = names.give(stem)
        if changed:
            source = candidates[0] if candidates else media_of[stem]
            problems.append(Problem(source, changed, harmless=True))
        captions = chosen.captions if chosen else ()
        found = Video(video, captions, media=media_of.get(stem))
        found, info_problems = with_details(found, stem, info_of.get(stem))
        problems += info_problems
        videos.append(found)
    problems += [
        Problem(path, "there are no captions and no video of this name", harmless=True)
        for stem, path in info_of.items()
        if stem not in by_video and with_details(Video(stem), stem, path)[0].duration
    ]
    return Task(name, tuple(videos)), problems


def _if_stray(problem: Problem) -> Problem:
    """A remark instead of a problem, if by its name the file is not captions."""
    if problem.path.suffix.lower() in _CAPTION_SUFFIXES:
        return problem
    return replace(problem, harmless=True)


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


def _choose(candidates: Mapping[Path, _Read]) -> tuple[CaptionFile | None, list[Problem]]:
    """Read the best caption file: English, readable, preferably with word times."""
    problems: list[Problem] = []
    for rank in sorted({_rank(path) for path in candidates}):
        files: dict[Path, CaptionFile] = {}
        for path in (path for path in candidates if _rank(path) == rank):
            try:
                files[path] = _english(path, candidates[path])
            except InputError as error:
                problems.append(error.problem)
        if files:
            break
    else:
        return None, problems
    chosen = max(files, key=lambda path: any(line.words for line in files[path].captions))
    unread = set(candidates) - {problem.path for problem in problems} - {chosen}
    reason = f"not used: the captions of this video are read from {chosen.name}"
    problems += [Problem(path, reason, harmless=True) for path in sorted(unread)]
    return files[chosen], [*problems, *files[chosen].problems]


def _english(path: Path, read: _Read) -> CaptionFile:
    if isinstance(read, InputError):
        raise read
    found = parse_text(read)
    language = split_language(path.stem)[1]
    if not is_english(found.captions):
        raise InputError(path, not_english(language))
    if not language.startswith("en") and (doubt := why_uncertain(found.captions)):
        remark = Problem(path, doubt, harmless=True)
        found = replace(found, problems=(*found.problems, remark))
    return found


def _rank(path: Path) -> int:
    """Rank a file by its language code: English, regional English, none, then the others."""
    language = split_language(path.stem)[1]
    if language in {"en", "eng"}:
        return 0
    return 1 if language.startswith("en-") else 3 if language else 2
