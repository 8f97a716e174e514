"""Executors: map a function over items, in this process, in others, or on a cluster.

Outcomes come as they are done, and an item that fails does not stop the others. What is computed
never depends on the executor.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic, Protocol, TypeVar

from threadpoolctl import threadpool_limits

from howsteps.errors import CannotWrite, HowstepsError, InputError, Problem
from howsteps.io.worker_process import ISOLATED, THREADS

Item = TypeVar("Item")
Value = TypeVar("Value")

_GIGABYTE = 1 << 30
TRIES = 2


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no value; ``problem`` names the file where there is one.

    ``fatal`` when nothing can be written, so that the other items will fail too.
    """

    reason: str
    problem: Problem | None = None
    fatal: bool = False


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Value]):
    """The value of one item, or its failure; ``place`` is its place in the sequence."""

    place: int
    value: Value | None = None
    failure: Failure | None = None


class Executor(Protocol):
    """Maps functions over items.

    An executor that ``takes_tasks`` is given whole tasks where there are several, and maps over
    the videos of each as well. With the others, tasks run one after another.
    """

    takes_tasks: ClassVar[bool]

    def check(self) -> None:
        """Raise a ``HowstepsError`` if nothing can run."""
        ...

    def map(
        self,
        function: Callable[[Item], Value],
        items: Sequence[Item],
        *,
        device: str = "cpu",
        nested: bool = False,
    ) -> Iterator[Outcome[Value]]:
        """Apply a function to every item; outcomes come as they are done.

        ``device`` is what every item needs to itself: a core, or a GPU. ``nested`` items wait for
        items of their own, and must not hold the resources that those need.
        """
        ...


class _Here:
    """An executor on this machine, which is always there."""

    takes_tasks: ClassVar[bool] = False

    def check(self) -> None:
        """Nothing is to be connected."""


class SerialExecutor(_Here):
    """One item after another, in this process."""

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
class ProcessExecutor(_Here):
    """A pool of processes on this machine.

    Each is spawned, has its share of the cores, ignores Ctrl-C, which the parent handles, and ends
    when the parent does, however that ends. When a process dies, the remaining items are tried one
    by one, each twice at most.

    Parameters
    ----------
    workers
        The most processes; fewer where memory is short.
    memory
        Bytes that one of them may need.
    """

    workers: int
    memory: int = 2 * _GIGABYTE

    def map(
        self,
        function: Callable[[Item], Value],
        items: Sequence[Item],
        *,
        device: str = "cpu",
        nested: bool = False,
    ) -> Iterator[Outcome[Value]]:
        """Apply a function to every item; outcomes come as they are done.

        What needs the GPU runs alone: this machine may have one, and its memory is short.
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
        # Which of them killed its process is not known, so each is now tried alone.
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
        with _environment({**ISOLATED, **dict.fromkeys(THREADS, str(threads))}):
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
                if not finished:  # Ctrl-C, or the caller stopped: do not wait for the rest
                    for child in set(multiprocessing.active_children()) - before:
                        child.terminate()
                pool.shutdown(cancel_futures=True)


@dataclass(frozen=True)
class ThreadExecutor(_Here):
    """Threads, for functions that only wait for a worker process of their own.

    When the caller stops early, threads that are still busy are not waited for.
    """

    workers: int

    def map(
        self,
        function: Callable[[Item], Value],
        items: Sequence[Item],
        *,
        device: str = "cpu",
        nested: bool = False,
    ) -> Iterator[Outcome[Value]]:
        """Apply a function to every item; outcomes come as they are done."""
        pool = ThreadPoolExecutor(max(1, min(self.workers, len(items))))
        finished = False
        try:
            futures = [pool.submit(attempt, function, n, item) for n, item in enumerate(items)]
            for future in as_completed(futures):
                yield future.result()
            finished = True
        finally:
            pool.shutdown(wait=finished, cancel_futures=True)


def local_executor(workers: int) -> Executor:
    """The executor for this many workers on this machine."""
    return ProcessExecutor(workers) if workers > 1 else SerialExecutor()


@contextmanager
def single_threaded() -> Iterator[None]:
    """Let BLAS and OpenMP use one thread, so that sums are the same on every machine.

    The last bits of a product depend on how many threads shared it, and a solver can turn them
    into another answer.
    """
    with threadpool_limits(1):
        yield


def cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_memory() -> int | None:
    """Bytes of memory that are available; None where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        [kilobytes] = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
        return 1024 * int(kilobytes)
    except (OSError, ValueError):
        return None


def fitting(workers: int, each: int, available: int | None) -> int:
    """The number of workers that fit into memory, at least one."""
    return workers if available is None else max(1, min(workers, available // each))


def attempt(function: Callable[[Item], Value], place: int, item: Item) -> Outcome[Value]:
    """Apply the function to one item; an exception becomes a failure."""
    try:
        return Outcome(place, function(item))
    except CannotWrite as error:
        return Outcome(place, failure=Failure(str(error), fatal=True))
    except InputError as error:
        return Outcome(place, failure=Failure(error.problem.reason, error.problem))
    except HowstepsError as error:
        return Outcome(place, failure=Failure(str(error)))
    except Exception as error:
        return Outcome(place, failure=Failure(f"unexpected {type(error).__name__}: {error}"))


def _begin() -> None:
    """Set up a worker process: ignore Ctrl-C, and end when the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables for processes that start meanwhile."""
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
