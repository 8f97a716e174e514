"""Errors and problems, with messages that a person can act on; and the optional dependencies.

A message names an argument in backticks, as Python has it: ```keep_all=True```. The command line
shows its own option instead: ``--keep-all``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path


class HowstepsError(Exception):
    """Base class of all errors that howsteps raises deliberately."""


class MissingExtra(HowstepsError):
    """An optional dependency (extra) is needed but not installed."""

    def __init__(self, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs an extra: pip install 'howsteps[{extra}]'")
        self.extra = extra


class CannotWrite(HowstepsError):
    """A file or folder cannot be written, or the disk is full; all other tasks would fail too."""


def unknown_name(kind: str, name: object, choices: Iterable[str]) -> str:
    """The message for a name that is not one of the choices."""
    return f"unknown {kind} {name!r}: choose one of {', '.join(choices)}"


def shown(text: str) -> str:
    r"""Make text safe for a terminal: control characters are escaped, as in ``\x1b``.

    Messages contain file names and values from files, which are untrusted.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the input that was repaired or set aside, and where.

    A ``harmless`` problem is a remark: nothing was lost.
    """

    path: Path
    reason: str
    line: int | None = None
    harmless: bool = False

    def __str__(self) -> str:
        location = f"{self.path}:{self.line}" if self.line else str(self.path)
        return shown(f"{location}: {self.reason}")


class InputError(HowstepsError):
    """An input file cannot be used at all; the message names the file, and the line if any."""

    def __init__(self, path: Path, reason: str, line: int | None = None) -> None:
        self.problem = Problem(path, reason, line)
        super().__init__(str(self.problem))


def problem_of(error: HowstepsError, path: Path) -> Problem:
    """Return an error as a problem with ``path``, or with the file that it names itself."""
    return error.problem if isinstance(error, InputError) else Problem(path, str(error))


@dataclass(frozen=True, slots=True)
class Extra:
    """An extra: what it is for, and the modules that it installs."""

    name: str
    purpose: str
    modules: tuple[str, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """The modules that are not installed."""
        return tuple(module for module in self.modules if find_spec(module) is None)

    @property
    def command(self) -> str:
        """The command that installs it."""
        return f"pip install 'howsteps[{self.name}]'"


VISION = Extra(
    "vision",
    "looking at the videos",
    ("av", "onnxruntime"),
)
GPU = Extra("gpu", "VGG-16, the network of modes paper and authors", ("torch",))
PAPER = Extra("paper", "the features of modes paper and authors", ("cv2", "sklearn"))
SPEECH = Extra("asr", "transcribing videos without captions", ("av", "faster_whisper"))
PLOTS = Extra("plots", "drawing figures for papers", ("matplotlib",))
CLUSTER = Extra("ray", "many machines", ("ray",))
DEMO = Extra("demo", "drawing the videos of the demo", ("av", "cv2", "onnxruntime"))
SERVE = Extra("serve", "editing in the page (howsteps serve)", ("starlette", "uvicorn"))
EXTRAS = (VISION, GPU, PAPER, SPEECH, PLOTS, SERVE, CLUSTER)
