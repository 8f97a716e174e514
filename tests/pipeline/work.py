"""Functions that run in the workers of these tests; a separate module that is fast to import."""

import os
import signal
import time
from pathlib import Path

from howsteps.errors import HowstepsError, InputError
from howsteps.pipeline.executor import Executor


def half(number: int) -> float:
    """Halve; 3 raises an input error, 5 an expected error, 7 an unexpected one, 9 has no memory."""
    if number == 3:
        raise InputError(Path("three.mp4"), "is odd")
    if number == 5:
        raise HowstepsError("no halves today")
    if number == 7:
        raise ZeroDivisionError("oops")
    if number == 9:
        raise MemoryError
    return number / 2


def die_once(marker: str) -> str:
    """Die, as if out of memory, on the first call."""
    path = Path(marker)
    if not path.exists():
        path.write_text("been here")
        os.kill(os.getpid(), signal.SIGKILL)
    return "alive"


def die_always(marker: str) -> str:
    if marker == "deadly":
        os.kill(os.getpid(), signal.SIGKILL)
    return "alive"


def process(_: int) -> int:
    return os.getpid()


def threads(_: int) -> str:
    return os.environ["OMP_NUM_THREADS"]


def wait(folder: str) -> None:
    """Record the process id in a folder, and wait."""
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(60)


def note(folder: str) -> None:
    (Path(folder) / str(time.monotonic_ns())).touch()


def halves(cluster: Executor) -> list[float]:
    return sorted(outcome.value for outcome in cluster.map(half, [1, 2]))


def threads_of_libraries(_: int) -> str:
    return os.environ["OPENBLAS_NUM_THREADS"] + os.environ["NUMBA_NUM_THREADS"]


def imported_click(_: int) -> str:
    import click

    return str(click.__file__)
