"""The Dockerfile, checked without Docker: a container cannot be built where the tests run."""

import json
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
TEXT = (ROOT / "Dockerfile").read_text("utf-8")
LINES = re.sub(r"\\\n", " ", TEXT).splitlines()
STEPS = [tuple(line.split(maxsplit=1)) for line in LINES if line and not line.startswith("#")]
NAMES = ("FROM", "COPY", "RUN", "ENV", "USER", "WORKDIR", "EXPOSE", "ENTRYPOINT", "CMD")


def arguments(name: str) -> list[str]:
    return [argument for step, argument in STEPS if step == name]


def test_every_instruction_is_known() -> None:
    assert {step for step, _ in STEPS} <= set(NAMES)
    assert STEPS[0][0] == "FROM"


def test_it_is_small_and_of_a_supported_python() -> None:
    build, final = arguments("FROM")
    assert build.endswith(" AS build")
    image, version = re.fullmatch(r"(python):(3\.\d+)-slim", final).groups()
    assert f"Programming Language :: {image.title()} :: {version}" in PROJECT["classifiers"]
    assert "--no-cache-dir" in TEXT


def test_the_extras_that_it_installs_exist() -> None:
    [names] = re.findall(r'"/source\[(.*?)\]"', TEXT)
    assert set(names.split(",")) <= PROJECT["optional-dependencies"].keys()


def test_it_runs_as_nobody_special() -> None:
    order = [step for step, _ in STEPS]
    assert arguments("USER") == ["1000"]
    assert order.index("USER") > max(n for n, step in enumerate(order) if step == "RUN")


def test_it_starts_howsteps_without_a_shell() -> None:
    assert [json.loads(each) for each in arguments("ENTRYPOINT")] == [["howsteps"]]
    assert [json.loads(each) for each in arguments("CMD")] == [["--help"]]


@pytest.mark.parametrize(
    "name", ["pyproject.toml", "constraints.txt", "README.md", "LICENSE", "src"]
)
def test_what_the_build_needs_is_sent_and_nothing_else(name: str) -> None:
    first, *kept = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert first == "*"
    assert f"!{name}" in kept
    assert (ROOT / name).exists()
    assert "!.git" not in kept


def test_the_options_in_its_examples_exist() -> None:
    from howsteps._cli.app import commands

    examples = re.findall(r"^# docker run .* howsteps (\w+) (.*)$", TEXT, re.M)
    assert [name for name, _ in examples] == ["run", "serve"]
    for name, rest in examples:
        known = {option for each in commands()[name].params for option in each.opts}
        assert set(re.findall(r"--[\w-]+", rest)) <= known
    [port] = arguments("EXPOSE")
    assert f"-p {port}:{port}" in TEXT
    assert f"--port {port}" in TEXT
