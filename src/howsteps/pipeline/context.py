"""What all stages share: the cache, the executor, and the event callback."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any, TypeVar

from howsteps.errors import HowstepsError, Problem
from howsteps.pipeline.cache import Cache
from howsteps.pipeline.events import (
    Callback,
    ItemDone,
    Noted,
    StageBegan,
    StageEnded,
    ignore_event,
)
from howsteps.pipeline.executor import Executor, Failure, SerialExecutor

Job = TypeVar("Job")
Value = TypeVar("Value")

# What readers raise on invalid values.
_INVALID_VALUE = (
    *(ValueError, KeyError, IndexError, TypeError, AttributeError, ArithmeticError, RecursionError),
    HowstepsError,
)


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
    workers
        The maximum number of processes.
    """

    cache: Cache
    executor: Executor = field(default_factory=SerialExecutor)
    callback: Callback = ignore_event
    redo: frozenset[str] = frozenset()
    workers: int = 1

    def cached(self, stage: str, key: str, read: Callable[[Any], Value]) -> Value | None:
        """The cached result of a stage; None if it has to be computed.

        An entry that ``read`` rejects was not written by this stage: it is reported as a remark.
        """
        if stage in self.redo:
            return None
        value, found = self.cache.json(stage, key), None
        if value is not None:
            try:
                found = read(value)
            except _INVALID_VALUE as error:
                self.cache.refuse(stage, key, "json", str(error))
        self.note(self.cache.pop_refused())
        return found

    def note(self, problems: Sequence[Problem]) -> None:
        """Report problems as events."""
        for problem in problems:
            self.callback(Noted(problem))

    @contextmanager
    def stage(self, name: str, task: str, total: int) -> Iterator["Progress"]:
        """Report the start and the end of a stage."""
        self.callback(StageBegan(name, task, total))
        start = perf_counter()
        progress = Progress(name, task, self.callback)
        yield progress
        seconds = perf_counter() - start
        self.callback(StageEnded(name, task, total, progress.cached, round(seconds, 3)))

    def compute_each(
        self,
        stage: str,
        task: str,
        jobs: Sequence[tuple[str, str, Job]],
        function: Callable[[Job], Any],
        read: Callable[[str, Any], Value],
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
            Turns a job into a JSON value. It may run in another process, so it must be defined at
            module level.
        read
            Makes the result from the video id and the JSON value; raises an error if that is
            invalid.
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
                if (found := self.cached(stage, key, partial(read, video))) is None:
                    missing.append((video, key, job))
                else:
                    results[video] = found
                    progress.done(video, cached=True)
            executor = self.executor if len(missing) > max_serial else SerialExecutor()
            for outcome in executor.map(function, [job for *_, job in missing], device=device):
                video, key, _ = missing[outcome.index]
                if outcome.failure is not None:
                    failures[video] = outcome.failure
                else:
                    self.cache.put_json(stage, key, outcome.value)
                    results[video] = read(video, outcome.value)
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
