"""What all stages share: the cache, the executor, and the callback that is given every event."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any, TypeVar

from howsteps.engine.cache import Cache
from howsteps.engine.events import Callback, ItemDone, Noted, StageBegan, StageEnded, ignore_event
from howsteps.engine.executor import Executor, Failure, SerialExecutor
from howsteps.errors import HowstepsError, Problem

Job = TypeVar("Job")
Value = TypeVar("Value")

# What readers raise on values that are not of their kind.
_SENSELESS = (
    *(ValueError, KeyError, IndexError, TypeError, AttributeError, ArithmeticError, RecursionError),
    HowstepsError,
)


@dataclass(frozen=True)
class Context:
    """The surroundings of a run.

    Parameters
    ----------
    cache
        Where results are stored.
    executor
        Computes what is computed for each video.
    callback
        Called with every event.
    redo
        Stages whose cached results are ignored and computed again.
    workers
        The most processes at once.
    """

    cache: Cache
    executor: Executor = field(default_factory=SerialExecutor)
    callback: Callback = ignore_event
    redo: frozenset[str] = frozenset()
    workers: int = 1

    def cached(self, stage: str, key: str, read: Callable[[Any], Value]) -> Value | None:
        """The cached result of a stage; None when there is none, or it is to be computed again.

        An entry that ``read`` cannot make sense of was not written by this stage: it is named, and
        computed again.
        """
        if stage in self.redo:
            return None
        value, found = self.cache.json(stage, key), None
        if value is not None:
            try:
                found = read(value)
            except _SENSELESS as error:
                self.cache.refuse(stage, key, "json", str(error))
        self.note(self.cache.take_refused())
        return found

    def note(self, problems: Sequence[Problem]) -> None:
        """Report problems as events."""
        for problem in problems:
            self.callback(Noted(problem))

    @contextmanager
    def stage(self, name: str, task: str, total: int) -> Iterator["Progress"]:
        """Report that a stage begins, and that it ended."""
        self.callback(StageBegan(name, task, total))
        start = perf_counter()
        progress = Progress(name, task, self.callback)
        yield progress
        seconds = perf_counter() - start
        self.callback(StageEnded(name, task, total, progress.cached, round(seconds, 3)))

    def each(
        self,
        stage: str,
        task: str,
        jobs: Sequence[tuple[str, str, Job]],
        function: Callable[[Job], Any],
        read: Callable[[str, Any], Value],
        *,
        few: int = 1,
        device: str = "cpu",
    ) -> tuple[dict[str, Value], dict[str, Failure]]:
        """Compute one result for each video, except for those that are cached.

        Parameters
        ----------
        jobs
            For each video its id, the key of its result, and the argument of the function.
        function
            Turns a job into what JSON can hold. It may run in another process, so it must be a
            function of a module.
        read
            Makes a value of the id of the video and what the function returned; raises an error
            where that does not make sense.
        few
            Up to so many jobs run in this process, as others would take longer to start.
        device
            What every job needs to itself: a core or a GPU.

        Returns
        -------
        Results and failures by the id of the video.
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
            executor = self.executor if len(missing) > few else SerialExecutor()
            for outcome in executor.map(function, [job for *_, job in missing], device=device):
                video, key, _ = missing[outcome.place]
                if outcome.failure is not None:
                    failures[video] = outcome.failure
                else:
                    self.cache.put_json(stage, key, outcome.value)
                    results[video] = read(video, outcome.value)
                progress.done(video, cached=False)
        return results, failures


@dataclass
class Progress:
    """Counts and reports the items of a stage that are done."""

    stage: str
    task: str
    callback: Callback
    cached: int = 0

    def done(self, item: str, *, cached: bool) -> None:
        """Report that an item is done."""
        self.cached += cached
        self.callback(ItemDone(self.stage, self.task, item, cached))
