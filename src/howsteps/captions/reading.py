"""Read a caption file: captions, format, and problems; and tell English from other languages."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from howsteps.captions import cues, subtitles
from howsteps.captions.cues import Cue, ParsedCues, unreadable
from howsteps.captions.json_formats import parse_json
from howsteps.captions.tabular import is_table, parse_table
from howsteps.captions.words import words_of
from howsteps.captions.xml import parse_xml
from howsteps.errors import InputError, Problem
from howsteps.io.files import read_bounded
from howsteps.task import Caption, Word

# Lines, tags, lists and objects, which take far more memory when they are parsed. A day of speech
# with the times of its words has 700,000.
MOST_PARTS = 1_000_000

NOT_ENGLISH = "the narration is not English; skipped"


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
_LATIN = re.compile("[a-z]")
_SAMPLE = 200  # captions that are checked


def looks_english(words: Iterable[Word]) -> bool:
    """Whether ``words`` are English, by their letters and their smoothed share of common words.

    The share is (c + 3) / (n + 10) for c common words among n.
    """
    plain = [word.text.strip('.,!?;:…"“”()').replace("’", "'").lower() for word in words]
    spelt = [word for word in plain if any(map(str.isalpha, word))]
    if 2 * sum(_LATIN.search(word) is None for word in spelt) > len(spelt):
        return False  # in other letters, even if they are few
    common = sum(word in _COMMON for word in plain)
    return (common + _PRIOR_COMMON) / (len(plain) + _PRIOR) >= _MIN_SHARE


def is_english(captions: Sequence[Caption]) -> bool:
    """Whether the captions are English, by the first 200 of them."""
    return looks_english(words_of(captions[:_SAMPLE]))


@dataclass(frozen=True, slots=True)
class CaptionText:
    """The decoded text of a file that may be captions, and what was repaired in it."""

    path: Path
    text: str
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class CaptionFile:
    """The content of a caption file: captions sorted by time, its format, and its problems."""

    captions: tuple[Caption, ...]
    format: str
    problems: tuple[Problem, ...] = ()


def read_captions(path: Path | str) -> CaptionFile:
    """Read a caption file of any known format and encoding."""
    return parse_text(read_caption_text(Path(path)))


def parse_captions(data: bytes, path: Path | str) -> CaptionFile:
    """Parse captions from the bytes of a file; ``path`` is only used in messages."""
    return parse_text(_decode(data, Path(path)))


def read_caption_text(path: Path) -> CaptionText:
    """Read and decode a file; raise an ``InputError`` if it is too large, binary or empty."""
    return _decode(read_bounded(path, cues.LARGEST_FILE, "captions"), path)


def _decode(data: bytes, path: Path) -> CaptionText:
    try:
        text, problems = cues.decode(data)
    except InputError as error:
        raise InputError(path, error.problem.reason, error.problem.line) from None
    return CaptionText(path, text, tuple(replace(problem, path=path) for problem in problems))


def parse_text(content: CaptionText) -> CaptionFile:
    """Parse captions from the text of a file; raise an ``InputError`` if there are none."""
    path = content.path
    try:
        name, parsed = _parse(content.text)
        captions, found = captions_of(parsed)
    except InputError as error:
        raise InputError(path, error.problem.reason, error.problem.line) from None
    by_entry = content.text.lstrip()[:1] in {"{", "[", "<"}
    problems = (*content.problems, *summarised(found, path, by_entry=by_entry))
    if not captions:
        why, line = (f": {problems[0].reason}", problems[0].line) if problems else ("", None)
        raise InputError(path, f"is {name}, but contains no captions{why}", line)
    return CaptionFile(captions, name, problems)


def _parse(text: str) -> tuple[str, ParsedCues]:
    """Return the name of the format and its cues; the format is detected from the content."""
    parts = sum(map(text.count, "\n<{["))
    if parts > MOST_PARTS:  # counted before they are parsed
        raise unreadable(f"{parts:,} lines, tags and lists cannot be captions")
    match text.lstrip()[:1]:
        case "{" | "[":
            return parse_json(text)
        case "<":
            return parse_xml(text)
    if subtitles.is_webvtt(text):
        return "WebVTT", subtitles.parse_webvtt(text)
    if subtitles.is_subrip(text):
        return "SubRip", subtitles.parse_subrip(text)
    if is_table(text):
        return "table", parse_table(text)
    raise unreadable("is in no known caption format, such as SubRip, WebVTT or JSON")


def captions_of(parsed: ParsedCues) -> tuple[tuple[Caption, ...], list[Problem]]:
    """Repair the cues that a parser yields; return the captions and all problems.

    The parser is stopped if there are more cues than captions can have.
    """
    problems: list[Problem] = []
    found: list[Cue] = []
    for item in parsed:
        if len(found) + len(problems) == cues.MOST_CUES:
            raise unreadable(f"more than {cues.MOST_CUES:,} cues cannot be captions")
        if isinstance(item, Cue):
            found.append(item)
        else:
            problems.append(item)
    captions, repaired = cues.repair(found)
    return captions, problems + repaired


def summarised(problems: Iterable[Problem], path: Path, *, by_entry: bool) -> tuple[Problem, ...]:
    """Return one problem for each reason, at its first position, with a count.

    The positions in JSON and XML are entries, in other files lines.
    """
    by_reason: dict[str, list[Problem]] = {}
    for problem in problems:
        by_reason.setdefault(problem.reason, []).append(problem)
    summary = []
    for reason, same in by_reason.items():
        first = min(same, key=lambda problem: problem.line or 0)
        where = f"entry {first.line}: " if by_entry and first.line else ""
        more = f" (and {len(same) - 1:,} more like it)" if len(same) > 1 else ""
        line = None if where else first.line
        summary.append(Problem(path, f"{where}{reason}{more}", line, first.harmless))
    return tuple(summary)
