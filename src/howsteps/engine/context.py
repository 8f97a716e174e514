"""What all stages share: where results are kept, who computes, and who is told."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, TypeVar

from howsteps.engine.cache import Cache
from howsteps.engine.events import Callback, ItemDone, Noted, StageBegan, StageEnded, ignore_event
from howsteps.engine.executor import Executor, Failure, SerialExecutor
from howsteps.errors import Problem

Job = TypeVar("Job")


@dataclass(frozen=True)
class Context:
    """The surroundings of a run.

    Parameters
    ----------
    store
        Where results are kept.
    executor
        Who computes what is done for each video.
    tell
        Called with every event.
    redo
        Stages whose kept results are not believed, and made again.
    workers
        How many processes may work at once.
    """

    cache: Cache
    executor: Executor = field(default_factory=SerialExecutor)
    callback: Callback = ignore_event
    redo: frozenset[str] = frozenset()
    workers: int = 1

    def kept(self, stage: str, key: str) -> Any | None:
        """What a stage kept; None when there is nothing, or it is to be made again."""
        return None if stage in self.redo else self.cache.json(stage, key)

    def note(self, problems: Sequence[Problem]) -> None:
        """Tell of what was mended or set aside."""
        for problem in problems:
            self.callback(Noted(problem))

    @contextmanager
    def stage(self, name: str, task: str, total: int) -> Iterator["Progress"]:
        """Tell that a stage begins, and how it went when it ends."""
        self.callback(StageBegan(name, task, total))
        start = perf_counter()
        progress = Progress(name, task, self.callback)
        yield progress
        seconds = perf_counter() - start
        self.callback(StageEnded(name, task, total, progress.kept, round(seconds, 3)))

    def each(
        self,
        stage: str,
        task: str,
        jobs: Sequence[tuple[str, str, Job]],
        function: Callable[[Job], Any],
        *,
        few: int = 1,
        device: str = "cpu",
    ) -> tuple[dict[str, Any], dict[str, Failure]]:
        """Do one job for each video, but for those whose result is kept.

        Parameters
        ----------
        jobs
            For each video its id, the key of its result, and what the function is given.
        function
            From a job to what JSON can say. It may run in another process, so it is a function of
            a module.
        few
            So many jobs are done here sooner than other processes have started.
        device
            What every job needs to itself, a core or a GPU.

        Returns
        -------
        Results and failures by the id of the video.
        """
        results: dict[str, Any] = {}
        failures: dict[str, Failure] = {}
        if not jobs:
            return results, failures
        with self.stage(stage, task, len(jobs)) as progress:
            missing = []
            for video, key, job in jobs:
                if (found := self.kept(stage, key)) is None:
                    missing.append((video, key, job))
                else:
                    results[video] = found
                    progress.done(video, kept=True)
            executor = self.executor if len(missing) > few else SerialExecutor()
            for outcome in executor.map(function, [job for *_, job in missing], device=device):
                video, key, _ = missing[outcome.place]
                if outcome.failure is not None:
                    failures[video] = outcome.failure
                else:
                    self.cache.put_json(stage, key, outcome.value)
                    results[video] = outcome.value
                progress.done(video, kept=False)
        return results, failures


@dataclass
class Progress:
    """Counts what a stage has done, and tells of it."""

    stage: str
    task: str
    callback: Callback
    kept: int = 0

    def done(self, item: str, *, kept: bool) -> None:
        """Tell that an item is done."""
        self.kept += kept
        self.callback(ItemDone(self.stage, self.task, item, kept))
