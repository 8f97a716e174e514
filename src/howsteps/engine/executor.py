"""Many videos at once: who does the work, and what becomes of a video that fails.

An :class:`Executor` maps a function over items and gives the outcomes as they come. A pool of
processes on this machine is one; a cluster can be another. What is computed never depends on it.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic, Protocol, TypeVar

from howsteps.errors import HowstepsError, InputError, Problem

Item = TypeVar("Item")
Value = TypeVar("Value")

_GIGABYTE = 1 << 30
TRIES = 2
THREADS = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"),
    "VECLIB_MAXIMUM_THREADS",
)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no value: a reason for people, and the file it names where there is one."""

    reason: str
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Value]):
    """What became of one item: a value, or a failure."""

    place: int
    value: Value | None = None
    failure: Failure | None = None


class Executor(Protocol):
    """Who does the work.

    Whoever takes tasks is given whole tasks where there are several, and does the videos of each
    with itself; the others do one task after another.
    """

    takes_tasks: ClassVar[bool]

    def map(
        self,
        function: Callable[[Item], Value],
        items: Sequence[Item],
        *,
        device: str = "cpu",
        nested: bool = False,
    ) -> Iterator[Outcome[Value]]:
        """Apply a function to every item; outcomes come as they are done, each with its place.

        ``device`` is what every item needs to itself, where there are several: a core, or a GPU.
        ``nested`` items wait for items of their own, and must not hold what those need.
        """
        ...


class SerialExecutor:
    """One item after another, in this process."""

    takes_tasks: ClassVar[bool] = False

    def map(
        self,
        function: Callable[[Item], Value],
        items: Sequence[Item],
        *,
        device: str = "cpu",
        nested: bool = False,
    ) -> Iterator[Outcome[Value]]:
        """Apply a function to every item, in order."""
        for place, item in enumerate(items):
            yield attempt(function, place, item)


@dataclass(frozen=True)
class ProcessExecutor:
    """A pool of processes on this machine.

    Each starts afresh (spawn), computes with its share of the cores, ignores Ctrl-C, which is the
    business of the parent, and ends when the parent does, however that ends. When a process dies,
    the items that are left are tried alone, each twice at most.

    Parameters
    ----------
    workers
        How many at most; fewer where memory is short.
    memory
        Bytes that one of them may need.
    """

    workers: int
    memory: int = 2 * _GIGABYTE
    takes_tasks: ClassVar[bool] = False

    def map(
        self,
        function: Callable[[Item], Value],
        items: Sequence[Item],
        *,
        device: str = "cpu",
        nested: bool = False,
    ) -> Iterator[Outcome[Value]]:
        """Apply a function to every item; outcomes come as they are done.

        What needs the GPU has it to itself: this machine may have one, and its memory is short.
        """
        most = 1 if device == "cuda" else min(self.workers, len(items))
        workers = fitting(most, self.memory, available_memory())
        if workers <= 1:
            yield from SerialExecutor().map(function, items)
            return
        left = dict(enumerate(items))
        for outcome in self._pooled(function, left, workers):
            del left[outcome.place]
            yield outcome
        # Which of them brought its process down is not known, so each is now tried alone.
        for place, item in left.items():
            tries = (next(self._pooled(function, {place: item}, 1), None) for _ in range(TRIES))
            died = Failure("the process that works on it dies every time (is memory short?)")
            yield next(filter(None, tries), Outcome(place, failure=died))

    @staticmethod
    def _pooled(
        function: Callable[[Item], Value], items: dict[int, Item], workers: int
    ) -> Iterator[Outcome[Value]]:
        """Outcomes of a fresh pool, until all are done or one of its processes dies."""
        before = set(multiprocessing.active_children())
        threads = max(1, cores() // workers)
        with _environment(dict.fromkeys(THREADS, str(threads))):
            pool = ProcessPoolExecutor(
                workers, multiprocessing.get_context("spawn"), initializer=_begin
            )
            finished = False
            try:
                futures: list[Future[Outcome[Value]]] = [
                    pool.submit(attempt, function, place, item) for place, item in items.items()
                ]
                for future in as_completed(futures):
                    try:
                        yield future.result()
                    except BrokenProcessPool:
                        return
                finished = True
            finally:
                if not finished:  # Ctrl-C, or nobody wants the rest: nobody waits for it either
                    for child in set(multiprocessing.active_children()) - before:
                        child.terminate()
                pool.shutdown(cancel_futures=True)


def local_executor(workers: int) -> Executor:
    """Whoever does the work of so many workers on this machine."""
    return ProcessExecutor(workers) if workers > 1 else SerialExecutor()


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_memory() -> int | None:
    """Bytes of memory that are free or can be made so; None where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        [kilobytes] = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
        return 1024 * int(kilobytes)
    except (OSError, ValueError):
        return None


def fitting(workers: int, each: int, available: int | None) -> int:
    """How many workers fit into memory; one always does."""
    return workers if available is None else max(1, min(workers, available // each))


def attempt(function: Callable[[Item], Value], place: int, item: Item) -> Outcome[Value]:
    """Do one item; what goes wrong with it is its own business and becomes a reason."""
    try:
        return Outcome(place, function(item))
    except InputError as error:
        return Outcome(place, failure=Failure(error.problem.reason, error.problem))
    except HowstepsError as error:
        return Outcome(place, failure=Failure(str(error)))
    except Exception as error:
        return Outcome(place, failure=Failure(f"unexpected {type(error).__name__}: {error}"))


def _begin() -> None:
    """Set up a worker: deaf to Ctrl-C, and gone when its parent is."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Environment variables for processes that start meanwhile."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
