"""One small job and its undisturbed run, for the tests that disturb others."""

import shutil
from pathlib import Path

import pytest

from howsteps.pipeline.run import run
from tests.pipeline.jobs import captions


@pytest.fixture(scope="session")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return captions(tmp_path_factory.mktemp("job") / "wash a cat", ("ann", "bob", "eve"))


@pytest.fixture(scope="session")
def done(job: Path) -> Path:
    """The work folder of a run without faults."""
    run(job, job.parent / "done")
    return job.parent / "done"


@pytest.fixture
def out(done: Path, tmp_path: Path) -> Path:
    """A copy of it, for tests that change it."""
    return Path(shutil.copytree(done, tmp_path / "out"))
