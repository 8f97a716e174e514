"""Executors: map a function over items, in this process, in others, or on a cluster.

Outcomes are yielded as they complete, and an item that fails does not stop the others. Results
never depend on the executor.
"""

import logging
import multiprocessing
import os
import signal
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from threadpoolctl import threadpool_limits

import howsteps
from howsteps.errors import CLUSTER, CannotWrite, HowstepsError, InputError
from howsteps.io.worker_process import ISOLATED, THREADS

Item = TypeVar("Item")
Value = TypeVar("Value")

RAY_TRIES = 3  # attempts per item: a machine that dies takes other items with it
_TASKS_PER_CORE = 2  # in flight
_CONNECT_TIMEOUT = 10.0  # seconds for the head node to answer
_INSTALLED = Path(howsteps.__file__).parents[1]  # the folder that howsteps is imported from


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an item has no value; ``fatal`` if nothing can be written, so all others fail too."""

    reason: str
    fatal: bool = False


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Value]):
    """The value of one item, or its failure; ``index`` is its position in the sequence."""

    index: int
    value: Value | None = None
    failure: Failure | None = None


class Executor(Protocol):
    """Maps functions over items: the videos of a task and, on a cluster, whole tasks too."""

    def map(
        self,
        function: Callable[[Item], Value],
        items: Sequence[Item],
        *,
        device: str = "cpu",
    ) -> Iterator[Outcome[Value]]:
        """Apply a function to every item; yield outcomes as they complete.

        ``device`` is what every item needs for itself: a core (``cpu``) or a GPU (``cuda``).
        """
        ...


@dataclass(frozen=True)
class LocalExecutor:
    """Processes on this machine; with one worker, this process.

    Processes are spawned, share the cores, leave Ctrl-C to the parent, and end with the parent,
    even if it is killed. If a process dies, each remaining item is tried in a process of its own.

    Parameters
    ----------
    workers
        The maximum number of processes; fewer if memory is short.
    memory
        Bytes that one process may need.
    """

    workers: int = 1
    memory: int = 2 * 2**30

    def map(
        self,
        function: Callable[[Item], Value],
        items: Sequence[Item],
        *,
        device: str = "cpu",
    ) -> Iterator[Outcome[Value]]:
        """Apply a function to every item; yield outcomes as they complete.

        On a GPU, items run one at a time, because its memory is limited.
        """
        limit = 1 if device == "cuda" else min(self.workers, len(items))
        workers = workers_that_fit(limit, self.memory, available_memory())
        if workers <= 1:
            yield from (attempt(function, index, item) for index, item in enumerate(items))
            return
        remaining = dict(enumerate(items))
        for outcome in self._pooled(function, remaining, workers):
            del remaining[outcome.index]
            yield outcome
        # It is unknown which item killed its process, so each is now tried alone.
        for index, item in remaining.items():
            died = Failure("its worker process dies every time (out of memory?)")
            outcome = Outcome(index, failure=died)
            yield next(self._pooled(function, {index: item}, 1), outcome)

    @staticmethod
    def _pooled(
        function: Callable[[Item], Value], items: dict[int, Item], workers: int
    ) -> Iterator[Outcome[Value]]:
        """Yield the outcomes of a new pool, until all are done or one of its processes dies."""
        before = set(multiprocessing.active_children())
        threads = max(1, cores() // workers)
        with _environment({**ISOLATED, **dict.fromkeys(THREADS, str(threads))}):
            spawn = multiprocessing.get_context("spawn")
            pool = ProcessPoolExecutor(workers, spawn, initializer=_set_up_worker)
            finished = False
            try:
                futures: list[Future[Outcome[Value]]] = [
                    pool.submit(attempt, function, index, item) for index, item in items.items()
                ]
                for future in as_completed(futures):
                    try:
                        yield future.result()
                    except BrokenProcessPool:
                        return
                finished = True
            finally:
                if not finished:  # Ctrl-C, or the caller stopped iterating: do not wait
                    for child in set(multiprocessing.active_children()) - before:
                        child.terminate()
                pool.shutdown(cancel_futures=True)


@dataclass(frozen=True)
class RayExecutor:
    """The machines of a Ray cluster (extra ``ray``).

    All machines must see the same files under the same paths, and have the same version of
    howsteps. Results and cache are the same as on one machine.

    Every item is a Ray task with one core and, for device ``cuda``, a GPU. At most twice as many
    tasks as cores are in flight, so that neither items nor outcomes pile up. An item whose worker
    or machine dies is retried elsewhere, at most three attempts in all.

    Parameters
    ----------
    address
        Address of the head node. None: the cluster on this machine, or a new one.

    Raises
    ------
    HowstepsError
        Ray is not installed, or the cluster cannot be reached.
    """

    address: str | None = None

    def __post_init__(self) -> None:
        """Connect to the cluster, so that a missing one is reported at once."""
        connected(self.address)

    def map(
        self,
        function: Callable[[Item], Value],
        items: Sequence[Item],
        *,
        device: str = "cpu",
    ) -> Iterator[Outcome[Value]]:
        """Apply a function to every item; yield outcomes as they complete."""
        ray = connected(self.address)
        task = ray.remote(attempt).options(
            num_cpus=1,
            num_gpus=1 if device == "cuda" else 0,
            max_retries=0,  # retries are counted here, to report a reason at the end
        )
        waiting = deque((index, 1) for index in range(len(items)))
        pending: dict[Any, tuple[int, int]] = {}
        try:
            while waiting or pending:
                while waiting and len(pending) < _TASKS_PER_CORE * _cores(ray):
                    index, tries = waiting.popleft()
                    pending[task.remote(function, index, items[index])] = (index, tries)
                [done], _ = ray.wait(list(pending))
                index, tries = pending.pop(done)
                try:
                    yield ray.get(done)
                except ray.exceptions.RayError as error:
                    if tries < RAY_TRIES:
                        waiting.append((index, tries + 1))
                    else:
                        yield Outcome(index, failure=_failure(error))
        finally:
            for reference in pending:  # Ctrl-C, or the caller stopped iterating
                ray.cancel(reference, force=True)


def connected(address: str | None) -> Any:
    """The module ``ray``, connected to the cluster."""
    if CLUSTER.missing:
        raise HowstepsError(f"a run on {CLUSTER.purpose} needs an extra: {CLUSTER.command}")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # send no statistics
    import ray  # noqa: PLC0415 - an extra, and slow to import

    if not ray.is_initialized():
        where = address or "this machine"
        _check_address(address)
        # Otherwise every library would start one thread per core in every worker.
        environment = {**ISOLATED, **dict.fromkeys(THREADS, "1")}
        try:
            # The current folder comes first on the import path of Ray's workers, and must not
            # contain, say, a ``click.py``.
            with chdir(_INSTALLED):
                ray.init(
                    address=address,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                    runtime_env={"env_vars": environment},
                )
        except (OSError, ValueError, RuntimeError) as error:
            raise HowstepsError(f"no Ray cluster can be reached at {where}: {error}") from error
    return ray


def _check_address(address: str | None) -> None:
    """Raise an error if nothing listens at HOST:PORT; Ray itself would retry for minutes."""
    host, _, port = (address or "").rpartition("://")[2].rpartition(":")
    if not (host and port.isdecimal()):
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_TIMEOUT).close()
    except (OSError, OverflowError) as error:
        reason = f"nothing answers there ({error})"
        raise HowstepsError(f"no Ray cluster can be reached at {address}: {reason}") from error


def _cores(ray: Any) -> int:
    """The current number of cores of the cluster; machines come and go."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _failure(error: Exception) -> Failure:
    first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return Failure(f"its worker or machine dies every time ({first})")


def map_in_threads(
    function: Callable[[Item], Value], items: Sequence[Item], workers: int
) -> Iterator[Outcome[Value]]:
    """Map a function that only waits for a process of its own; yield outcomes as they complete.

    If the caller stops early, busy threads are not waited for.
    """
    pool = ThreadPoolExecutor(max(1, min(workers, len(items))))
    finished = False
    try:
        futures = [pool.submit(attempt, function, i, item) for i, item in enumerate(items)]
        for future in as_completed(futures):
            yield future.result()
        finished = True
    finally:
        pool.shutdown(wait=finished, cancel_futures=True)


@contextmanager
def single_threaded() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread, so that results are the same on every machine.

    The last bits of a matrix product depend on the number of threads, and a solver can amplify
    them into a different solution.
    """
    # SciPy has a BLAS of its own: loaded later, it would take every core.
    import scipy.linalg  # noqa: F401, PLC0415

    with threadpool_limits(1):
        yield


def cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_memory() -> int | None:
    """The available memory in bytes; None if unknown."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        [kilobytes] = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
        return 1024 * int(kilobytes)
    except (OSError, ValueError):
        return None


def workers_that_fit(workers: int, memory: int, available: int | None) -> int:
    """The number of workers that fit into memory (bytes per worker, in all), at least one."""
    return workers if available is None else max(1, min(workers, available // memory))


def attempt(function: Callable[[Item], Value], index: int, item: Item) -> Outcome[Value]:
    """Apply a function to one item; an exception becomes a failure."""
    try:
        return Outcome(index, function(item))
    except CannotWrite as error:
        return Outcome(index, failure=Failure(str(error), fatal=True))
    except InputError as error:
        return Outcome(index, failure=Failure(error.problem.reason))
    except HowstepsError as error:
        return Outcome(index, failure=Failure(str(error)))
    except MemoryError:
        return Outcome(index, failure=Failure("not enough memory"))
    except Exception as error:
        return Outcome(index, failure=Failure(f"unexpected {type(error).__name__}: {error}"))


def _set_up_worker() -> None:
    """Set up a worker process: ignore Ctrl-C, and end when the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_exit_with, args=(parent,), daemon=True).start()


def _exit_with(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables for the processes started inside the context."""
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
