"""Caption files side by side, one or more for each video, and the videos themselves.

The id of a video is the name of its file without the language that tools add (``abc.en.vtt``).
"""

from collections.abc import Sequence
from pathlib import Path

from howsteps import captions
from howsteps.captions import CaptionFile
from howsteps.captions.language import NOT_ENGLISH, is_english
from howsteps.datasets.names import Names, split_language
from howsteps.errors import InputError, Problem
from howsteps.task import Task, Video

MEDIA = frozenset(
    {".3gp", ".avi", ".flv", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".mts", ".ogv"}
    | {".ts", ".webm", ".wmv"}
)


def read_caption_files(
    name: str, files: Sequence[Path], media: Sequence[Path]
) -> tuple[Task, list[Problem]]:
    """Make a task of caption files and video files; a video needs only one of the two."""
    videos = []
    problems: list[Problem] = []
    names = Names("video")
    films = {path.stem: path for path in reversed(media)}
    problems += [
        Problem(path, f"not used: the video is read from {films[path.stem].name}", harmless=True)
        for path in media
        if path != films[path.stem]
    ]
    by_video: dict[str, list[Path]] = {stem: [] for stem in films}
    for path in files:
        # A film may be called "a.en" itself; then that is its name and no language.
        stem = path.stem if path.stem in films else split_language(path.stem)[0]
        by_video.setdefault(stem, []).append(path)
    for stem, candidates in sorted(by_video.items()):
        reading, found = _choose(candidates)
        problems += found
        if reading is None and stem not in films:
            continue
        video, changed = names.give(stem)
        if changed:
            named = candidates[0] if candidates else films[stem]
            problems.append(Problem(named, changed, harmless=True))
        lines = reading.captions if reading else ()
        videos.append(Video(video, lines, media=films.get(stem)))
    return Task(name, tuple(videos)), problems


def _choose(candidates: Sequence[Path]) -> tuple[CaptionFile | None, list[Problem]]:
    """Read the file that serves best: in English, able to be read, with word times."""
    problems: list[Problem] = []
    for rank in sorted({_rank(path) for path in candidates}):
        readings: dict[Path, CaptionFile] = {}
        for path in (path for path in candidates if _rank(path) == rank):
            try:
                readings[path] = _english(path)
            except InputError as error:
                problems.append(error.problem)
        if readings:
            break
    else:
        return None, problems
    chosen = max(readings, key=lambda path: any(line.words for line in readings[path].captions))
    unread = set(candidates) - {problem.path for problem in problems} - {chosen}
    reason = f"not used: the captions of this video are read from {chosen.name}"
    problems += [Problem(path, reason, harmless=True) for path in sorted(unread)]
    return readings[chosen], [*problems, *readings[chosen].problems]


def _english(path: Path) -> CaptionFile:
    reading = captions.read_captions(path)
    if not is_english(reading.captions):
        raise InputError(path, NOT_ENGLISH)
    return reading


def _rank(path: Path) -> int:
    """English first, then the English of a place, then no language named, then the others."""
    language = split_language(path.stem)[1]
    if language in {"en", "eng"}:
        return 0
    return 1 if language.startswith("en-") else 3 if language else 2
