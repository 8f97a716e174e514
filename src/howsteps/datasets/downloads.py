"""Downloads of yt-dlp: ``Title [id].en.vtt``, ``Title [id].info.json``, unfinished files.

The ``.info.json`` beside a video has its metadata. It is untrusted: all of it is validated, and
invalid values are ignored.
"""

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from howsteps.captions.repair import printable
from howsteps.captions.timing import seconds
from howsteps.errors import InputError, Problem
from howsteps.io.checked import LATEST
from howsteps.io.files import read_bounded
from howsteps.task import Chapter, Video

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


@dataclass(frozen=True, slots=True)
class Details:
    """Metadata of a video."""

    title: str = ""
    youtube: str | None = None
    duration: float | None = None
    language: str = ""
    chapters: tuple[Chapter, ...] = ()

    def of(self, video: Video) -> Video:
        """Return the video with these details; its duration is at least that of its captions."""
        captions_end = max((caption.end for caption in video.captions), default=0.0)
        return replace(
            video,
            title=self.title,
            youtube=self.youtube,
            duration=None if self.duration is None else max(self.duration, captions_end),
            language=self.language,
            chapters=self.chapters,
        )


def skipped(name: str) -> str | None:
    """Return why a file is skipped, if its name is that of a by-product of a download."""
    if _UNFINISHED.fullmatch(name):
        return "skipped: a download that is not finished"
    return "skipped: a live chat, not captions" if _LIVE_CHAT.fullmatch(name) else None


def without_format(stem: str) -> str:
    """Remove the format code of an unmerged stream: ``"Title [id].f137"`` → ``"Title [id]"``."""
    found = _ONE_FORMAT.fullmatch(stem)
    return found["stem"] if found else stem


def details_of(stem: str, info: Path | None) -> tuple[Details, list[Problem]]:
    """Return the metadata of a video, from its name and its ``.info.json``, if any."""
    named = _NAMED.fullmatch(stem)
    found = Details()
    if named:
        title = printable(named["title"].translate(_LOOKALIKES))
        found = Details(title=title, youtube=named["id"])
    if info is None:
        return found, []
    try:
        value = json.loads(read_bounded(info, _LARGEST, "an .info.json"))
    except InputError as error:
        return found, [replace(error.problem, harmless=True)]
    except (ValueError, RecursionError):  # ValueError: not JSON, or not text
        value = None
    if not isinstance(value, dict):
        return found, [Problem(info, "is not JSON as yt-dlp writes it; ignored", harmless=True)]
    return _from_info(value, found), []


def _from_info(value: dict[str, Any], named: Details) -> Details:
    """Return the metadata in an ``.info.json``; ``named`` is that of the file name."""
    site, video_id = value.get("extractor_key"), value.get("id")
    length = seconds(value.get("duration"))
    youtube = named.youtube
    if isinstance(site, str):
        is_youtube = site.lower().startswith("youtube")
        is_valid = isinstance(video_id, str) and _ID.fullmatch(video_id)
        youtube = video_id if is_youtube and is_valid else None
    language = value.get("language")
    return Details(
        title=_title(value.get("title")) or named.title,
        youtube=youtube,
        duration=length if length is not None and 0 < length <= LATEST else None,
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
