"""The one way in: a caption file → its captions, its format, and what was wrong with it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from howsteps.captions import encoding, formats
from howsteps.captions.cue import Cue, Flaw, Parsed, UnreadableError
from howsteps.captions.mending import mend
from howsteps.errors import InputError, Problem
from howsteps.io.files import read_bounded
from howsteps.task import Caption


@dataclass(frozen=True, slots=True)
class CaptionFile:
    """What a caption file holds: captions in order of time, its format, and its problems."""

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
    return read_bytes(read_bounded(path, encoding.LARGEST, "captions"), path)


def read_bytes(data: bytes, path: Path | str) -> CaptionFile:
    """Read captions from the bytes of a file; ``path`` is only named in problems."""
    path = Path(path)
    try:
        text, flaws = encoding.decode(data)
        name, parsed, more = formats.parse(text)
        captions, rest = settle(parsed)
    except UnreadableError as error:
        raise InputError(path, error.reason, error.line) from None
    problems = summarise([*flaws, *more, *rest], path)
    if not captions:
        why, line = (f": {problems[0].reason}", problems[0].line) if problems else ("", None)
        raise InputError(path, f"is {name}, but holds no captions{why}", line)
    return CaptionFile(captions, name, problems)


def settle(parsed: Parsed) -> tuple[tuple[Caption, ...], list[Flaw]]:
    """Part what a parser yields into cues and flaws, and mend the cues."""
    flaws: list[Flaw] = []
    cues: list[Cue] = []
    for item in parsed:
        if isinstance(item, Cue):
            cues.append(item)
        else:
            flaws.append(item)
    captions, mended = mend(cues)
    return captions, flaws + mended


def summarise(flaws: Iterable[Flaw], path: Path) -> tuple[Problem, ...]:
    """One problem for each kind of flaw, at its first place, with the number of the others.

    A file whose every line is wrong is one thing to tell, not ten thousand.
    """
    kinds: dict[str, list[Flaw]] = {}
    for flaw in flaws:
        kinds.setdefault(flaw.reason, []).append(flaw)
    return tuple(_problem(kind, path) for kind in kinds.values())


def _problem(kind: list[Flaw], path: Path) -> Problem:
    first = min(kind, key=lambda flaw: (flaw.line or 0, flaw.entry or 0))
    reason = first.reason if first.entry is None else f"entry {first.entry}: {first.reason}"
    if len(kind) > 1:
        reason += f" (and {len(kind) - 1:,} more like it)"
    return Problem(path, reason, first.line)
