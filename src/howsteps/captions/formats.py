"""Which format a file is in, by what it holds and never by its name."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from howsteps.captions import subrip, table, timed, ttml, webvtt, whisper, xml, youtube
from howsteps.captions.cue import Flaw, Parsed, UnreadableError


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name, how it is recognised, and its parser."""

    name: str
    recognises: Callable[[Any], bool]
    parse: Callable[[Any], Parsed]


# In each family the first format that recognises the file reads it.
JSON = (
    Format("YouTube json3", youtube.is_json3, youtube.json3),
    Format("Whisper JSON", whisper.recognises, whisper.parse),
    Format("whisper.cpp JSON", whisper.recognises_cpp, whisper.parse_cpp),
    Format("timed JSON list", timed.recognises, timed.parse),
    Format("timed JSON columns", timed.recognises_columns, timed.parse_columns),
)
XML = (
    Format("YouTube srv", youtube.is_srv, youtube.srv),
    Format("TTML", ttml.recognises, ttml.parse),
)
TEXT = (
    Format("WebVTT", webvtt.recognises, webvtt.parse),
    Format("SubRip", subrip.recognises, subrip.parse),
    Format("table", table.recognises, table.parse),
)


def parse(text: str) -> tuple[str, Parsed, list[Flaw]]:
    """Name the format of ``text``, and give its cues and what was wrong with the file as a whole.

    Raises
    ------
    UnreadableError
        No format recognises the text, or it is broken JSON or XML.
    """
    opening = text.lstrip()[:1]
    if opening in {"{", "["}:
        value = load_json(text)
        found = _first(JSON, value, "is JSON, but not of captions")
        return found.name, found.parse(value), []
    if opening == "<":
        root, flaws = xml.parse(text)
        found = _first(XML, root, f"is XML (<{root.name}>), but not captions")
        return found.name, found.parse(root), flaws
    found = _first(TEXT, text, "no caption format is recognised in it")
    return found.name, found.parse(text), []


def load_json(text: str) -> Any:
    """Read JSON, saying where it is broken."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UnreadableError(f"the JSON is broken here ({error.msg})", error.lineno) from None
    except RecursionError:
        raise UnreadableError("the JSON is nested too deeply") from None
    except ValueError:  # Python refuses numbers of more than 4,300 digits
        raise UnreadableError("the JSON holds a number of thousands of digits") from None


def _first(formats: Sequence[Format], content: Any, otherwise: str) -> Format:
    for candidate in formats:
        if candidate.recognises(content):
            return candidate
    raise UnreadableError(otherwise)
