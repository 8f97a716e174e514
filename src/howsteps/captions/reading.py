"""Read a caption file: captions, format, and problems.

The format is detected from the content, never from the file name.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howsteps.captions import encoding, subtitles, tabular, ttml, whisper, youtube
from howsteps.captions.cue import (
    MOST_CUES,
    MOST_PARTS,
    MOST_WORDS,
    Cue,
    Issue,
    ParsedCues,
    UnreadableError,
    limited,
)
from howsteps.captions.repair import repair
from howsteps.captions.xml import root_of
from howsteps.errors import InputError, Problem
from howsteps.io.files import read_bounded
from howsteps.task import Caption


@dataclass(frozen=True, slots=True)
class CaptionFormat:
    """A caption format: its name, a predicate that detects it, and its parser."""

    name: str
    recognises: Callable[[Any], bool]
    parse: Callable[[Any], ParsedCues]


# In each family, the first format that recognises the file is used.
_JSON = (
    CaptionFormat("YouTube json3", youtube.is_json3, youtube.parse_json3),
    CaptionFormat("Whisper JSON", whisper.is_whisper, whisper.parse_whisper),
    CaptionFormat("whisper.cpp JSON", whisper.is_whisper_cpp, whisper.parse_whisper_cpp),
    CaptionFormat("timed JSON list", tabular.is_json_rows, tabular.parse_json_rows),
    CaptionFormat("timed JSON columns", tabular.is_json_columns, tabular.parse_json_columns),
)
_XML = (
    CaptionFormat("YouTube srv", youtube.is_srv, youtube.parse_srv),
    CaptionFormat("TTML", ttml.is_ttml, ttml.parse_ttml),
)
_TEXT = (
    CaptionFormat("WebVTT", subtitles.is_webvtt, subtitles.parse_webvtt),
    CaptionFormat("SubRip", subtitles.is_subrip, subtitles.parse_subrip),
    CaptionFormat("table", tabular.is_table, tabular.parse_table),
)


@dataclass(frozen=True, slots=True)
class CaptionFile:
    """The content of a caption file: captions sorted by time, its format, and its problems."""

    captions: tuple[Caption, ...]
    format: str
    problems: tuple[Problem, ...] = ()


def read_captions(path: Path | str) -> CaptionFile:
    """Read a caption file of any known format and encoding.

    Raises
    ------
    InputError
        The file cannot be used at all; the message names the file, and the line if there is one.
    """
    path = Path(path)
    return parse_captions(read_bounded(path, encoding.LARGEST_FILE, "captions"), path)


def parse_captions(data: bytes, path: Path | str) -> CaptionFile:
    """Parse captions from the bytes of a file; ``path`` is only used in messages."""
    path = Path(path)
    try:
        text, issues = encoding.decode(data)
        name, parsed = _parse(text)
        captions, cue_issues = repair_parsed(parsed)
    except UnreadableError as error:
        raise InputError(path, error.reason, error.line) from None
    problems = problems_of_issues([*issues, *cue_issues], path)
    if not captions:
        why, line = (f": {problems[0].reason}", problems[0].line) if problems else ("", None)
        raise InputError(path, f"is {name}, but contains no captions{why}", line)
    return CaptionFile(captions, name, problems)


def repair_parsed(parsed: ParsedCues) -> tuple[tuple[Caption, ...], list[Issue]]:
    """Repair the cues that a parser yields; return the captions and all issues.

    Raises
    ------
    UnreadableError
        There are more cues or words than captions can have. The parser is stopped there.
    """
    issues: list[Issue] = []
    cues: list[Cue] = []
    n_words = 0
    for item in limited(parsed, MOST_CUES, "cues"):
        if isinstance(item, Cue):
            cues.append(item)
            n_words += len(item.pieces)
            if n_words > MOST_WORDS:
                raise UnreadableError(f"more than {MOST_WORDS:,} words cannot be captions")
        else:
            issues.append(item)
    captions, repaired = repair(cues)
    return captions, issues + repaired


def problems_of_issues(issues: Iterable[Issue], path: Path) -> tuple[Problem, ...]:
    """Return one problem for each kind of issue, at its first position, with a count."""
    by_reason: dict[str, list[Issue]] = {}
    for issue in issues:
        by_reason.setdefault(issue.reason, []).append(issue)
    return tuple(_problem(same_reason, path) for same_reason in by_reason.values())


def load_json(text: str) -> Any:
    """Parse JSON; raise ``UnreadableError`` with the line where it is broken."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UnreadableError(f"the JSON is broken here ({error.msg})", error.lineno) from None
    except RecursionError:
        raise UnreadableError("the JSON is nested too deeply") from None
    except ValueError:  # Python refuses numbers of more than 4,300 digits
        raise UnreadableError("the JSON contains a number of thousands of digits") from None


def _parse(text: str) -> tuple[str, ParsedCues]:
    """Return the name of the format, and its cues.

    Raises
    ------
    UnreadableError
        No format recognises the text, or it is broken JSON or XML.
    """
    opening = text.lstrip()[:1]
    if opening in {"{", "["}:
        # Counted first: the values of JSON take twenty times the memory of the file.
        if (count := text.count("{") + text.count("[")) > MOST_PARTS:
            raise UnreadableError(f"{count:,} lists and objects of JSON cannot be captions")
        value = load_json(text)
        detected = _detect(_JSON, value, "is JSON, but not captions")
        return detected.name, detected.parse(value)
    if opening == "<":
        root = root_of(text)
        detected = _detect(_XML, root, f"is XML (<{root.name}>), but not captions")
        return detected.name, detected.parse(text)
    detected = _detect(_TEXT, text, "is not in a known caption format")
    return detected.name, detected.parse(text)


def _detect(formats: Sequence[CaptionFormat], content: Any, otherwise: str) -> CaptionFormat:
    for candidate in formats:
        if candidate.recognises(content):
            return candidate
    raise UnreadableError(otherwise)


def _problem(same_reason: list[Issue], path: Path) -> Problem:
    first = min(same_reason, key=lambda issue: (issue.line or 0, issue.entry or 0))
    reason = first.reason if first.entry is None else f"entry {first.entry}: {first.reason}"
    if len(same_reason) > 1:
        reason += f" (and {len(same_reason) - 1:,} more like it)"
    return Problem(path, reason, first.line, harmless=not first.lost)
