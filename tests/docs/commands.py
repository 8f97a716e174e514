"""Commands in the docs: run, or at least checked."""

import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from typer.testing import CliRunner

from howsteps._cli.app import app, commands

from .pages import ROOT

_COMMANDS = commands()
_EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]
_TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def command_lines(text: str) -> Iterator[list[str]]:
    """The commands of a block as lists of words, without comments and leading variables."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            words = words[1:]
        if words:
            yield words


def run(words: list[str]) -> None:
    """Run a howsteps command in this process; it must succeed."""
    check(words)
    if words[0] == "cp":
        shutil.copy(*words[1:])
    if words[0] != "howsteps":
        return
    done = CliRunner().invoke(app, words[1:])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, f"{shlex.join(words)}\n{done.output}"


def check(words: list[str]) -> None:
    """Check without running it that a command and its options exist."""
    program, *rest = words
    assert program in _CHECKS, f"what is {program}?"
    _CHECKS[program](rest)


def _howsteps(words: list[str]) -> None:
    if words[0].startswith("-"):
        return
    name = " ".join(words[: 2 if words[0] == "evaluate" else 1])
    assert name in _COMMANDS, f"there is no command {name}"
    options = {"--help"}
    for parameter in _COMMANDS[name].params:
        options.update(parameter.opts, parameter.secondary_opts)
    unknown = [word for word in words[1:] if word.startswith("-") and word not in options]
    assert unknown == [], f"howsteps {name} has no {unknown}"


def _pip(words: list[str]) -> None:
    assert words[0] == "install"
    named = {extra for word in words for extra in _extras(word)}
    assert named <= set(_EXTRAS), f"there is no extra {named - set(_EXTRAS)}"


def _extras(requirement: str) -> list[str]:
    found = re.fullmatch(r"(?:howsteps|\.)\[([\w,]+)\]", requirement)
    return found[1].split(",") if found else []


def _make(words: list[str]) -> None:
    missing = {word for word in words if "=" not in word and not word.startswith("-")} - _TARGETS
    assert missing == set(), f"the Makefile has no {missing}"


def _python(words: list[str]) -> None:
    assert words[0] == "-m", "only modules are run"
    spec = find_spec(words[1])
    assert spec is not None, f"there is no module {words[1]}"
    assert spec.origin is not None
    source = Path(spec.origin).read_text("utf-8")
    unknown = [word for word in words[2:] if word.startswith("--") and word not in source]
    assert unknown == [], f"{words[1]} has no {unknown}"


_CHECKS = {
    "howsteps": _howsteps,
    "pip": _pip,
    "make": _make,
    "python": _python,
    "cp": lambda words: None,
    "git": lambda words: None,
    "pre-commit": lambda words: None,
}
