"""Each extra missing in turn: one line with the command that installs it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from howsteps.errors import EXTRAS
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import run
from tests.cli import without
from tests.films import film
from tests.pipeline.jobs import captions

pytestmark = pytest.mark.slow


class Case(NamedTuple):
    missing: str
    arguments: str  # JOB: captions and a film; OUT: a work folder of them; NEW: one to be made
    code: int
    extra: str  # whose command is told; empty: nothing is told, because nothing needs it


RUN = "run JOB --out OUT --quiet --workers 1"
LOOK = "features JOB --out NEW --quiet --workers 1"
CASES = (
    Case("av onnxruntime", RUN, 0, "vision"),  # goes on without looking
    Case("av", LOOK, 2, "vision"),
    Case("onnxruntime", LOOK, 2, "vision"),
    Case("torch", f"{LOOK} --mode paper", 2, "paper"),
    Case("cv2", f"{LOOK} --mode paper", 2, "paper"),
    Case("sklearn", f"{LOOK} --mode paper", 2, "paper"),
    Case("faster_whisper", "narration FILM", 1, "asr"),
    Case("ray", f"{RUN} --no-vision --ray local", 2, "ray"),
    Case("starlette", "serve OUT --no-browser", 2, "serve"),
    Case("uvicorn", "serve OUT --no-browser", 2, "serve"),
    Case("av", "export OUT --format clips", 2, "vision"),
    Case("av", "export OUT --format page", 0, ""),
    Case("matplotlib", "evaluate methods JOB --figure f1.pdf", 2, "plots"),
    Case(" ".join(m for extra in EXTRAS for m in extra.modules), "doctor", 0, "ray"),
)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    """The outcome of each case."""
    folder = tmp_path_factory.mktemp("extras")
    job = captions(folder / "wash a cat", ("ann", "bob", "eve"))
    film(job / "ann.mp4", 2.0, sound=True)
    run(job, folder / "out", RunOptions(vision=False))
    alone = film(folder / "alone.mp4", 2.0, sound=True)  # has no captions beside it
    names = {"JOB": job, "FILM": alone, "OUT": folder / "out", "NEW": folder / "new"}
    places = {name: str(path) for name, path in names.items()}
    cases = [
        [case.missing.split(), [places.get(word, word) for word in case.arguments.split()]]
        for case in CASES
    ]
    program = [sys.executable, str(Path(without.__file__))]
    answer = subprocess.run(  # noqa: S603 - our own program
        program,
        input=json.dumps(cases),
        env={**os.environ, "COLUMNS": "200"},
        text=True,
        check=True,
        capture_output=True,
    )
    found: list[dict[str, object]] = json.loads(answer.stdout)
    return found


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{c[0]}: {c[1]}" for c in CASES])
def test_one_line_names_the_command(ended, number) -> None:
    case, (code, said) = CASES[number], ended[number].values()
    assert "Traceback" not in said
    assert code == case.code
    assert ("pip install" in said) == bool(case.extra)
    if case.extra:
        assert f"pip install 'howsteps[{case.extra}]'" in said
    if code:
        assert len([line for line in said.splitlines() if "pip install" in line]) == 1


def test_every_module_of_every_extra_is_covered() -> None:
    tried = {name for case in CASES[:-1] for name in case.missing.split()}
    assert tried == {name for extra in EXTRAS for name in extra.modules}
