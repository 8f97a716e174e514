"""Run on a Ray cluster (extra ``ray``).

All machines see the same files under the same paths, and have the same howsteps installed. Results
and cache are the same as on one machine.
"""

import logging
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from howsteps.engine.executor import THREADS, Failure, Item, Outcome, Value, attempt
from howsteps.errors import HowstepsError
from howsteps.extras import CLUSTER

_GIGABYTE = 1 << 30
TRIES = 3  # one more than for a process, as a machine that dies takes other items with it
_AHEAD = 2  # items under way for each core


@dataclass(frozen=True)
class RayExecutor:
    """Maps over items on the machines of a Ray cluster.

    Every item is a Ray task with a core, memory (unless it waits for others) and, where the device
    is ``cuda``, a GPU of its own. At most twice as many as there are cores are under way, so that
    neither items nor outcomes pile up. An item whose worker or machine dies is tried again
    elsewhere, three times at most.

    Parameters
    ----------
    address
        Of the head of the cluster. None: the cluster on this machine, or a new one.
    memory
        Bytes that one item may need.
    """

    address: str | None = None
    memory: int = 2 * _GIGABYTE
    takes_tasks: ClassVar[bool] = True

    def map(
        self,
        function: Callable[[Item], Value],
        items: Sequence[Item],
        *,
        device: str = "cpu",
        nested: bool = False,
    ) -> Iterator[Outcome[Value]]:
        """Apply a function to every item; outcomes come as they are done.

        Raises
        ------
        HowstepsError
            Ray is not installed, or the cluster cannot be reached.
        """
        ray = connected(self.address)
        task = ray.remote(attempt).options(
            num_cpus=1,
            num_gpus=1 if device == "cuda" else 0,
            # A waiting task gives its core back, but not its memory, and would block the tasks it
            # waits for.
            memory=0 if nested else self.memory,
            max_retries=0,  # tries are counted here, with a reason at the end
        )
        waiting = deque((place, 1) for place in range(len(items)))
        pending: dict[Any, tuple[int, int]] = {}
        try:
            while waiting or pending:
                while waiting and len(pending) < _AHEAD * _cores(ray):
                    place, tries = waiting.popleft()
                    pending[task.remote(function, place, items[place])] = (place, tries)
                [done], _ = ray.wait(list(pending))
                place, tries = pending.pop(done)
                try:
                    yield ray.get(done)
                except ray.exceptions.RayError as error:
                    if tries < TRIES:
                        waiting.append((place, tries + 1))
                    else:
                        yield Outcome(place, failure=_why(error))
        finally:
            for reference in pending:  # Ctrl-C, or the caller stopped
                ray.cancel(reference, force=True)


def connected(address: str | None) -> Any:
    """The module ``ray``, connected to the cluster."""
    if CLUSTER.missing:
        raise HowstepsError(f"a run on {CLUSTER.purpose} needs an extra: {CLUSTER.command}")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no statistics are sent
    import ray  # noqa: PLC0415 - an extra, and slow to import

    if not ray.is_initialized():
        try:
            ray.init(
                address=address,
                log_to_driver=False,
                logging_level=logging.ERROR,
                # Otherwise each library starts a thread per core in each worker.
                runtime_env={"env_vars": dict.fromkeys(THREADS, "1")},
            )
        except (ConnectionError, ValueError, RuntimeError) as error:
            where = address or "this machine"
            raise HowstepsError(f"no Ray cluster can be reached at {where}: {error}") from error
    return ray


def _cores(ray: Any) -> int:
    """The cores of the cluster now; machines come and go."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _why(error: Exception) -> Failure:
    first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return Failure(f"the worker or machine that works on it dies every time ({first})")
