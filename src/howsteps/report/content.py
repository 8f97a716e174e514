"""The content of the page as JSON values, independent of HTML: text, colours, rows."""

import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from html import escape
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote

from howsteps.narration.features import AFTER, BEFORE
from howsteps.report.agreed import Narrations, Told, verbatim
from howsteps.task import (
    Localisation,
    Mention,
    Relation,
    Result,
    Step,
    Video,
    of_another_job,
)

# Characters with a meaning in Markdown inside a line, and at the end of a heading.
_SPECIAL = re.compile(r"[\\`*_\[\]~]|#+$")


def capitalised(text: str) -> str:
    """Text with a capital first letter, as labels and titles are shown."""
    return text[:1].upper() + text[1:]


def title_of(task: str) -> str:
    """The name of a task as a title: folders are often named like ``fix_a_flat_tire``."""
    return capitalised(task if " " in task else task.replace("_", " ").strip())


def one_line(text: str) -> str:
    """Text without line breaks and other control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split()) or "step"


def step_label(step: Step) -> str:
    """The label of a step, in one line."""
    return capitalised(one_line(step.label))


def markdown(text: str) -> str:
    """Escape text as one line of Markdown.

    HTML characters become entities, because not every Markdown parser accepts a backslash there.
    """
    return escape(_SPECIAL.sub(r"\\\g<0>", one_line(text)), quote=False)


def angled(text: str) -> str:
    """Text for formats in which brackets are forbidden or mean markup, and have no escape."""
    return text.replace("<", "‹").replace(">", "›")


LocalisationRow = Sequence[Localisation | None]


def localisation_rows(result: Result) -> dict[str, list[Localisation | None]]:
    """For each video id, the localisation of every step in order; None if there is none."""
    rows: dict[str, list[Localisation | None]] = {
        video.id: [None] * len(result.script.steps) for video in result.task.videos
    }
    for place in result.localisations:
        rows[place.video][place.step] = place
    return rows


def has_levels(result: Result) -> bool:
    """Whether the localisations have confidence levels; external ones may not."""
    return any(place.level for place in result.localisations)


def video_length(video: Video, row: LocalisationRow) -> float:
    """The length in seconds; if the duration is unknown, up to the end of the last place."""
    if video.duration is not None:
        return video.duration
    ends = (place.end or place.time or 0.0 for place in row if place is not None)
    return max(video.length, *ends, 0.0)


def window(mention: Mention) -> tuple[float, float]:
    """The window that a mention from a to b allows for its step: [max(0, a − Δb), b + Δa]."""
    return max(0.0, mention.start - BEFORE), mention.end + AFTER


_OTHER_PHRASES = 3
_YOUTUBE = re.compile(r"[A-Za-z0-9_-]{11}")
_MAX_LEVELS_UP = 2  # folders above the page from which videos are linked by relative paths

Thumbnails = Mapping[tuple[str, int], str]


def content(
    result: Result,
    folder: Path,
    thumbnails: Thumbnails,
    *,
    playable: Callable[[Path], Path | None] | None = None,
) -> dict[str, Any]:
    """Return everything that is shown on the page of a result.

    Parameters
    ----------
    folder
        The folder of the page: links to videos are relative to it if possible.
    thumbnails
        Paths of thumbnails by video id and step, where they exist.
    playable
        The page is not on disk but served by ``howsteps serve``, which plays the files for which
        this is not None, and addresses videos by number.
    """
    usual = [step.relations[0][0] if step.mentions else None for step in result.script.steps]
    rows = localisation_rows(result)
    steps = result.script.steps
    step_of_mention = _step_of_mention(steps)
    titles = _distinct_titles(result.task.videos)
    read = result.read_videos
    unread = {video.id for video in result.task.videos} - read if read else set()
    videos = [
        {
            **_video(video, rows[video.id], usual, step_of_mention.get(video.id, {}), thumbnails),
            "title": titles[index],
            "source": _source(video, f"videos/{index}", folder, playable),
            **({"unread": True} if video.id in unread else {}),
        }
        for index, video in enumerate(result.task.videos)
    ]
    narrations = Narrations(result)
    return {
        "task": result.task.name,
        "title": title_of(result.task.name),
        "steps": [_summary(step, narrations.told(k), list(rows)) for k, step in enumerate(steps)],
        "videos": videos,
        # What a click can do: play a file, or only show the transcript and a link to YouTube.
        "filmed": any(video["file"] for video in videos),
        "playable": any(video["source"] for video in videos),
        "linked": any(video["youtube"] and not video["source"] for video in videos),
        "served": playable is not None,
        "of_another_job": of_another_job(result.set_aside),
        "set_aside_because": Counter(each.reason for each in result.set_aside).most_common(),
        "set_aside": [
            {
                "id": video.video,
                "title": video.title or video.video,
                "reason": video.because,
            }
            for video in result.set_aside
        ],
        "silent": not any(video.mentions for video in result.task.videos)
        and not any(step.learnt_from for step in steps),
        "editor": result.script.editor,
        "changes": list(result.script.changes),
        "located": bool(result.localisations),
        "confident": has_levels(result),
        "has_thumbnails": bool(thumbnails),
    }


def address(media: Path, folder: Path, levels: int = _MAX_LEVELS_UP) -> str:
    """The link from the page to a video: a relative path if it is close, else a file URI.

    It is close if it is below a folder at most ``levels`` above the page.
    """
    media, folder = Path(os.path.abspath(media)), Path(os.path.abspath(folder))
    try:
        relative = Path(os.path.relpath(media, folder))
    except ValueError:  # another drive
        return media.as_uri()
    if relative.parts.count("..") > levels:
        return media.as_uri()
    # Quote the bytes: a file name need not be UTF-8.
    return quote(os.fsencode(relative.as_posix()))


def youtube_id(video: Video) -> str | None:
    """The YouTube id of a video, if it is known and well-formed: it becomes part of a link."""
    id_ = video.youtube
    return id_ if id_ and _YOUTUBE.fullmatch(id_) else None


def _summary(step: Step, told: Told, ids: Sequence[str]) -> dict[str, Any]:
    """A step without its counts, which the page makes (``withCounts`` in ``edits.js``)."""
    spoken = step.relations[0][0] if step.mentions else None
    others = Counter(m.phrase for m in step.mentions if m.noun and m.relation != spoken)
    return {
        "label": capitalised(step.label),
        "read": [n for n, video in enumerate(ids) if video in step.read_in],
        "learnt": step.learnt_from,  # videos of the original run that mention it (with ``apply``)
        "optional": step.optional,
        "alternative": step.alternative,
        "other": [phrase for phrase, _ in others.most_common(_OTHER_PHRASES)],
        # What a narrator says of it, in its words if one does.
        "example": next(chain((quote.text for quote in told.quotes), step.examples), ""),
    }


def _distinct_titles(videos: Sequence[Video]) -> list[str]:
    """Return the titles of the videos; equal ones are numbered."""
    titles = [video.title or video.id for video in videos]
    counts, used = Counter(titles), Counter[str]()
    for index, title in enumerate(titles):
        used[title] += 1
        if counts[title] > 1:
            titles[index] = f"{title} ({used[title]})"
    return titles


def _video(
    video: Video,
    row: LocalisationRow,
    usual: Sequence[Relation | None],
    step_of_mention: Mapping[Mention, int],
    thumbnails: Thumbnails,
) -> dict[str, Any]:
    return {
        "id": video.id,
        "file": video.media.name if video.media else None,
        "youtube": youtube_id(video),
        "length": round(video_length(video, row), 2),
        "places": [_place(place, thumbnails) for place in row],
        "mentions": [
            {
                "id": index,
                "step": step,
                "phrase": mention.phrase,
                "quote": verbatim(mention, video.sentences),
                "usual": step >= 0 and mention.relation == usual[step],
                "start": round(mention.start, 2),
                "window": [round(second, 2) for second in window(mention)],
            }
            # In temporal order, each with its step or −1.
            for index, mention in sorted(enumerate(video.mentions), key=lambda pair: pair[1].start)
            for step in [step_of_mention.get(mention, -1)]
        ],
        "said": [[round(sentence.start, 2), sentence.text] for sentence in video.sentences],
    }


def _source(
    video: Video, served: str, folder: Path, playable: Callable[[Path], Path | None] | None
) -> str | None:
    """The URL of a video for the page; None if there is no file."""
    if video.media is None:
        return None
    if playable is not None:
        return served if playable(video.media) else None
    return address(video.media, folder) if video.media.is_file() else None


def _place(place: Localisation | None, thumbnails: Thumbnails) -> dict[str, Any] | None:
    if place is None:
        return None
    if place.time is None:
        return {"time": None} | ({"evidence": place.evidence} if place.evidence else {})
    return {
        "time": round(place.time, 2),
        "start": round(place.time if place.start is None else place.start, 2),
        "end": round(place.time if place.end is None else place.end, 2),
        "confidence": round(_finite(place.confidence), 4),
        "level": place.level,
        "evidence": place.evidence,
        "thumbnail": thumbnails.get((place.video, place.step)),
    }


def _step_of_mention(steps: Sequence[Step]) -> dict[str, dict[Mention, int]]:
    """For each video id, the step of every mention that has one."""
    found: defaultdict[str, dict[Mention, int]] = defaultdict(dict)
    for k, step in enumerate(steps):
        for mention in step.mentions:
            found[mention.video][mention] = k
    return found


def _finite(value: float) -> float:
    """Replace NaN and infinity, which JSON does not have, by 0."""
    return value if math.isfinite(value) else 0.0
