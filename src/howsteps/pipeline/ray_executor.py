"""Run on a Ray cluster (extra ``ray``).

All machines must see the same files under the same paths, and have the same version of howsteps.
Results and cache are the same as on one machine.
"""

import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import howsteps
from howsteps.errors import CLUSTER, HowstepsError
from howsteps.io.worker_process import ISOLATED, THREADS
from howsteps.pipeline.executor import Failure, Item, Outcome, Value, attempt

_GIGABYTE = 1 << 30
TRIES = 3  # one more than for a process, as a dying machine takes other items with it
_TASKS_PER_CORE = 2  # in flight
_CONNECT_TIMEOUT = 10.0  # seconds for the head node to answer
_INSTALLED = Path(howsteps.__file__).parents[1]  # the folder that howsteps is imported from


@dataclass(frozen=True)
class RayExecutor:
    """Maps over items on the machines of a Ray cluster.

    Every item is a Ray task with one core, memory (unless nested) and, for device ``cuda``, a GPU.
    At most twice as many tasks as cores are in flight, so that neither items nor outcomes pile up.
    An item whose worker or machine dies is retried elsewhere, at most three attempts in all.

    Parameters
    ----------
    address
        Address of the head node. None: the cluster on this machine, or a new one.
    memory
        Bytes that one item may need.
    """

    address: str | None = None
    memory: int = 2 * _GIGABYTE
    takes_tasks: ClassVar[bool] = True

    def check(self) -> None:
        """Connect to the cluster, so that a missing one is reported at once.

        Raises ``HowstepsError`` if Ray is not installed, or the cluster cannot be reached.
        """
        connected(self.address)

    def map(
        self,
        function: Callable[[Item], Value],
        items: Sequence[Item],
        *,
        device: str = "cpu",
        nested: bool = False,
    ) -> Iterator[Outcome[Value]]:
        """Apply a function to every item; yield outcomes as they complete.

        Raises ``HowstepsError`` if Ray is not installed, or the cluster cannot be reached.
        """
        ray = connected(self.address)
        task = ray.remote(attempt).options(
            num_cpus=1,
            num_gpus=1 if device == "cuda" else 0,
            # A waiting task releases its core but not its memory, and could block the tasks it
            # waits for.
            memory=0 if nested else self.memory,
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
                    if tries < TRIES:
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
