"""Read a caption file: captions, format, and problems; and tell English from other languages."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howsteps.captions import (
    cues,
    subtitles,
    tabular,
    whisper,
    xml,
    youtube,
)
from howsteps.captions.cues import (
    MOST_CUES,
    MOST_PARTS,
    MOST_WORDS,
    Cue,
    Issue,
    ParsedCues,
    UnreadableError,
    limited,
    repair,
)
from howsteps.captions.words import words_of
from howsteps.captions.xml import root_of
from howsteps.errors import InputError, Problem
from howsteps.io.files import read_bounded
from howsteps.task import Caption, Word

NOT_ENGLISH = "the narration is not English; skipped"


def not_english(language: str) -> str:
    """Return why a narration is skipped; ``language`` is the code in its file name, if any."""
    named = language and language.partition("-")[0] not in {"en", "eng"}
    return f"the narration is not English but '{language}'; skipped" if named else NOT_ENGLISH


# Words that are frequent in English and rare in other languages. "In", "an", "so", "of", "was" and
# "me" are left out: they are also Dutch, German or Spanish.
_COMMON_WORDS = """
about after again all and any are back because been before but can could did does doesn't don't
down for from get going got had has have he'll here his how i'll i'm i've if into isn't it
it'll it's its just know let's like little make more my need not now off okay one only or our
out over put right she should some than that that's the their them then there there's these they
they're this those up use very want we'll we're we've well were what what's when where which who
will with would you you'll you're you've your
"""
_COMMON = frozenset(_COMMON_WORDS.split())
# Minimum share of common words; how-to videos have 0.14 to 0.5.
_MIN_SHARE = 0.1
# Pseudo-counts: ten words, three of them common.
_PRIOR, _PRIOR_COMMON = 10, 3
_SAMPLE = 200  # captions that are checked


def looks_english(words: Iterable[Word]) -> bool:
    """Whether ``words`` are English, by their smoothed share of common words.

    The share is (c + 3) / (n + 10) for c common words among n.
    """
    common = total = 0
    for word in words:
        total += 1
        common += word.text.strip('.,!?;:…"“”()').replace("’", "'").lower() in _COMMON
    return (common + _PRIOR_COMMON) / (total + _PRIOR) >= _MIN_SHARE


def is_english(captions: Sequence[Caption]) -> bool:
    """Whether the captions are English, by the first 200 of them."""
    return looks_english(words_of(captions[:_SAMPLE]))


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
    CaptionFormat("TTML", xml.is_ttml, xml.parse_ttml),
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


@dataclass(frozen=True, slots=True)
class CaptionText:
    """The decoded text of a file that may be captions, and what was repaired in it."""

    path: Path
    text: str
    issues: tuple[Issue, ...] = ()


def read_captions(path: Path | str) -> CaptionFile:
    """Read a caption file of any known format and encoding.

    Raises
    ------
    InputError
        The file cannot be used at all; the message names the file, and the line if there is one.
    """
    return parse_text(read_caption_text(Path(path)))


def read_caption_text(path: Path) -> CaptionText:
    """Read and decode a file; raise an ``InputError`` if it is too large, binary or empty."""
    return _decode(read_bounded(path, cues.LARGEST_FILE, "captions"), path)


def parse_captions(data: bytes, path: Path | str) -> CaptionFile:
    """Parse captions from the bytes of a file; ``path`` is only used in messages."""
    return parse_text(_decode(data, Path(path)))


def _decode(data: bytes, path: Path) -> CaptionText:
    try:
        text, issues = cues.decode(data)
    except UnreadableError as error:
        raise InputError(path, error.reason, error.line) from None
    return CaptionText(path, text, tuple(issues))


def parse_text(found: CaptionText) -> CaptionFile:
    """Parse captions from the text of a file; raise an ``InputError`` if there are none."""
    path = found.path
    try:
        name, parsed = _parse(found.text)
        captions, cue_issues = repair_parsed(parsed)
    except UnreadableError as error:
        raise InputError(path, error.reason, error.line) from None
    problems = problems_of_issues([*found.issues, *cue_issues], path)
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
