"""Folders as yt-dlp leaves them: ``Title [id].en.vtt``, ``Title [id].info.json``, unfinished files.

The ``.info.json`` beside a video says what its publisher says of it. It comes from outside: all of
it is checked, and what is wrong is left out.
"""

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from howsteps.captions.repair import printable
from howsteps.captions.timing import LATEST, seconds
from howsteps.errors import InputError, Problem
from howsteps.io.files import read_bounded
from howsteps.task import Chapter, Video

INFO = ".info.json"
_LARGEST = 2**26  # bytes; most of such a file are addresses that expire
_LONGEST_TITLE = 300  # characters
_MOST_CHAPTERS = 1000

_ID = re.compile(r"[A-Za-z0-9_-]{11}")
_NAMED = re.compile(rf"(?P<title>.*?)\s*\[(?P<id>{_ID.pattern})\]")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
# yt-dlp writes characters that no file name may have as others that look like them.
_LOOKALIKES = str.maketrans("：？｜＂＊＜＞⧸⧹", ':?|"*<>/\\')
_UNFINISHED = re.compile(r".*(?:\.part(?:-Frag\d+)?|\.ytdl|\.temp\.[a-z0-9]{2,4})", re.IGNORECASE)
_LIVE_CHAT = re.compile(r".*\.live_chat\.json", re.IGNORECASE)
_ONE_FORMAT = re.compile(r"(?P<stem>.+ \[[^\[\]]+\])\.f\d+(?:-\w+)?")


@dataclass(frozen=True, slots=True)
class Details:
    """What is known of a video besides its captions and frames."""

    title: str = ""
    youtube: str | None = None
    duration: float | None = None
    language: str = ""
    chapters: tuple[Chapter, ...] = ()

    def of(self, video: Video) -> Video:
        """The video with these details; it lasts at least as long as its captions."""
        said = max((caption.end for caption in video.captions), default=0.0)
        return replace(
            video,
            title=self.title,
            youtube=self.youtube,
            duration=None if self.duration is None else max(self.duration, said),
            language=self.language,
            chapters=self.chapters,
        )


def skipped(name: str) -> str | None:
    """Why a file of this name is not looked at, if it is one that a download leaves."""
    if _UNFINISHED.fullmatch(name):
        return "skipped: a download that is not finished"
    return "skipped: a live chat, not captions" if _LIVE_CHAT.fullmatch(name) else None


def without_format(stem: str) -> str:
    """``"Title [id].f137"``, sound and picture not yet joined, is ``"Title [id]"``."""
    found = _ONE_FORMAT.fullmatch(stem)
    return found["stem"] if found else stem


def details_of(stem: str, info: Path | None) -> tuple[Details, list[Problem]]:
    """The details of a video, from its name and from the ``.info.json`` beside it, if any."""
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
    except (ValueError, RecursionError):  # also of bytes that are no text
        value = None
    if not isinstance(value, dict):
        return found, [Problem(info, "is not JSON as yt-dlp writes it; ignored", harmless=True)]
    return _told(value, found), []


def _told(value: dict[str, Any], named: Details) -> Details:
    site, own, length = value.get("extractor_key"), value.get("id"), seconds(value.get("duration"))
    is_youtube = isinstance(site, str) and site.lower().startswith("youtube")
    youtube = named.youtube
    if isinstance(site, str):
        youtube = own if is_youtube and isinstance(own, str) and _ID.fullmatch(own) else None
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
