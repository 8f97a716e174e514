"""Errors and problems, with messages that a person can act on."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


class HowstepsError(Exception):
    """Base of every error that howsteps raises on purpose."""


class MissingExtra(HowstepsError):
    """An optional part of howsteps is needed and not installed."""

    def __init__(self, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs an extra: pip install 'howsteps[{extra}]'")
        self.extra = extra


class CannotWrite(HowstepsError):
    """A file or folder cannot be written, or the disk is full: the next task would fail too."""


def unknown_name(kind: str, name: object, choices: Iterable[str]) -> str:
    """The message for a name that is not one of the choices."""
    return f"unknown {kind} {name!r}: choose one of {', '.join(choices)}"


def shown(text: str) -> str:
    r"""Text for one line of a terminal: control characters are written as ``\x1b``.

    Messages repeat names of files and values out of them, which come from outside.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the input that was repaired or set aside, and where it is.

    A ``harmless`` problem is a remark: nothing is lost.
    """

    path: Path
    reason: str
    line: int | None = None
    harmless: bool = False

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else str(self.path)
        return shown(f"{place}: {self.reason}")


class InputError(HowstepsError):
    """An input file cannot be used at all; the message names the file, and the line if any."""

    def __init__(self, path: Path, reason: str, line: int | None = None) -> None:
        self.problem = Problem(path, reason, line)
        super().__init__(str(self.problem))
