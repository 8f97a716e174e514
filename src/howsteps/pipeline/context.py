"""What all stages share: the cache, the executor, and the events, which a callback receives."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeAlias, TypeVar

from howsteps.io.cache import Cache
from howsteps.pipeline.executor import Executor, Failure, LocalExecutor, single_threaded

Job = TypeVar("Job")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class StageBegan:
    """A stage begins on a task; ``total`` is the number of items, or 1 for a whole task."""

    stage: str
    task: str
    total: int


@dataclass(frozen=True, slots=True)
class ItemDone:
    """An item is done; ``cached`` if nothing had to be computed."""

    stage: str
    task: str
    item: str
    cached: bool


@dataclass(frozen=True, slots=True)
class ItemAt:
    """Progress within a video, in seconds of it; ``total`` is its duration, if known."""

    stage: str
    task: str
    item: str
    seconds: float
    total: float | None


@dataclass(frozen=True, slots=True)
class StageEnded:
    """A stage is done; ``cached`` of ``total`` results came from the cache."""

    stage: str
    task: str
    total: int
    cached: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Sends:
    """Questions are about to be sent to a language model, with so many tokens at most."""

    task: str
    what: str
    address: str
    requests: int
    tokens: int


Event: TypeAlias = StageBegan | ItemAt | ItemDone | StageEnded | Sends
Callback: TypeAlias = Callable[[Event], None]


def ignore_event(event: Event) -> None:
    """Do nothing."""


@dataclass(frozen=True)
class Context:
    """The resources of a run.

    Parameters
    ----------
    cache
        Where results are stored.
    executor
        Runs the work for each video.
    callback
        Called with every event.
    redo
        Stages whose cached results are ignored.
    """

    cache: Cache
    executor: Executor = field(default_factory=LocalExecutor)
    callback: Callback = ignore_event
    redo: frozenset[str] = frozenset()

    def cached(self, stage: str, key: str, kind: type[Value]) -> Value | None:
        """The cached result of a stage; None if it has to be computed."""
        return None if stage in self.redo else self.cache.get(stage, key, kind)

    @contextmanager
    def stage(self, name: str, task: str, total: int) -> Iterator["Progress"]:
        """Report the start and the end of a stage."""
        self.callback(StageBegan(name, task, total))
        start = perf_counter()
        progress = Progress(name, task, self.callback)
        yield progress
        seconds = perf_counter() - start
        self.callback(StageEnded(name, task, total, progress.cached, round(seconds, 3)))

    def compute(
        self,
        stage: str,
        task: str,
        key: str,
        kind: type[Value],
        function: Callable[[], Value],
    ) -> Value:
        """Compute one result for a whole task, unless it is cached."""
        with self.stage(stage, task, 1) as progress:
            found = self.cached(stage, key, kind)
            is_cached = found is not None
            if found is None:
                with single_threaded():
                    found = function()
                self.cache.put(stage, key, found)
            progress.done(task, cached=is_cached)
        return found

    def compute_each(
        self,
        stage: str,
        task: str,
        jobs: Sequence[tuple[str, str, Job]],
        function: Callable[[Job], Value],
        kind: type[Value],
        *,
        max_serial: int = 1,
        device: str = "cpu",
    ) -> tuple[dict[str, Value], dict[str, Failure]]:
        """Compute one result per video, unless it is cached.

        Parameters
        ----------
        jobs
            For each video its id, the key of its result, and the argument of the function.
        function
            Turns a job into its result. It may run in another process, so it must be defined at
            module level.
        kind
            The type of a result.
        max_serial
            Up to this many jobs run in this process, as starting others would take longer.
        device
            What every job needs for itself: a core (``cpu``) or a GPU (``cuda``).

        Returns
        -------
        Results and failures, by video id.
        """
        results: dict[str, Value] = {}
        failures: dict[str, Failure] = {}
        if not jobs:
            return results, failures
        with self.stage(stage, task, len(jobs)) as progress:
            missing = []
            for video, key, job in jobs:
                if (found := self.cached(stage, key, kind)) is None:
                    missing.append((video, key, job))
                else:
                    results[video] = found
                    progress.done(video, cached=True)
            executor = self.executor if len(missing) > max_serial else LocalExecutor()
            for outcome in executor.map(function, [job for *_, job in missing], device=device):
                video, key, _ = missing[outcome.index]
                if outcome.failure is not None:
                    failures[video] = outcome.failure
                elif outcome.value is not None:
                    self.cache.put(stage, key, outcome.value)
                    results[video] = outcome.value
                progress.done(video, cached=False)
        return results, failures


@dataclass
class Progress:
    """Counts and reports the finished items of a stage."""

    stage: str
    task: str
    callback: Callback
    cached: int = 0

    def done(self, item: str, *, cached: bool) -> None:
        """Report that an item is done."""
        self.cached += cached
        self.callback(ItemDone(self.stage, self.task, item, cached))
