"""Methods × numbers of steps × seeds on a task, scored by protocols; one row for each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from howsteps.datasets.labelled import Labelled, select_videos
from howsteps.errors import HowstepsError, unknown_name
from howsteps.evaluate.bootstrap import over_seeds
from howsteps.evaluate.methods import METHODS, SCRIPT_BASELINES
from howsteps.evaluate.protocols import (
    PROTOCOLS,
    SCRIPT_PROTOCOLS,
    Bars,
    NotMeasured,
    Prediction,
    Reference,
    Rules,
    measure,
    reference,
)
from howsteps.evaluate.subsample import Subsample
from howsteps.narration.features import Kind
from howsteps.task import Task, Video


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be measured.

    ``videos`` is the size of the subsample of each seed; None: all videos, and seeds only change
    what is random in the methods. ``narration`` names the features of the narration that stand in
    for those of the video: ``words`` or ``meaning``. ``search_seconds`` is the effort of each
    search for a script.
    """

    methods: tuple[str, ...] = tuple(METHODS)
    steps: tuple[int, ...] = (10,)
    protocols: tuple[str, ...] = ("paper-f1", "script")
    seeds: int = 1
    videos: int | None = None
    bars: Bars = Bars.videos
    narration: Kind = "words"
    search_seconds: float = 5.0

    def __post_init__(self) -> None:
        for what, asked, known in (
            ("method", self.methods, METHODS),
            ("protocol", self.protocols, PROTOCOLS),
        ):
            if unknown := [name for name in asked if name not in known]:
                raise HowstepsError(unknown_name(what, unknown[0], known))
        if min(self.steps, default=0) < 1 or self.seeds < 1:
            raise HowstepsError("at least one step and one seed are needed")

    @property
    def runs(self) -> list[str]:
        """The methods, and the baselines of scripts where scripts are scored."""
        scripts = any(name in SCRIPT_PROTOCOLS for name in self.protocols)
        return [*self.methods, *(SCRIPT_BASELINES if scripts else ())]

    def __len__(self) -> int:
        """How many predictions are made for a task."""
        return len(self.runs) * len(self.steps) * self.seeds


@dataclass(frozen=True, slots=True)
class _Scored:
    """A score, and what it is of; ``low`` and ``high`` are the ends of its error bar."""

    task: str
    method: str
    steps: int
    protocol: str
    f1: float
    precision: float
    recall: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Row(_Scored):
    """One score of one run."""

    seed: int


@dataclass(frozen=True, slots=True)
class Summary(_Scored):
    """Means over seeds; ``over_seeds`` is the interval of the mean F1, for several seeds."""

    over_seeds: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class NoScore:
    """A method that could not be run or scored, and why."""

    task: str
    method: str
    protocol: str
    reason: str


def with_narrations(
    labelled: Labelled, plan: Plan, progress: Callable[[Video], None] | None = None
) -> dict[str, Task]:
    """The videos of a plan with the mentions of each mode; empty without narrations.

    Every caption is parsed once, whatever the number of methods and seeds.
    """
    names = {name for seed in range(plan.seeds) for name in subsampled(labelled, plan.videos, seed)}
    task = select_videos(labelled, list(names)).task
    if any(video.mentions for video in task.videos):
        return dict.fromkeys(("paper", "default"), task)
    if not any(video.captions for video in task.videos):
        return {}
    from howsteps.narration.extraction import extract_relations_by_mode  # noqa: PLC0415 - loads spaCy

    return extract_relations_by_mode(task, ("paper", "default"), progress=progress)


def run_plan(
    labelled: Labelled,
    narrated: Mapping[str, Task],
    plan: Plan,
    *,
    rules: Rules | None = None,
    progress: Callable[[], None] = lambda: None,
) -> Iterator[Row | NoScore]:
    """Run the plan on one task; what cannot be measured comes back with its reason.

    Parameters
    ----------
    labelled, narrated
        The task, and what :func:`with_narrations` made of it.
    rules
        Which relations name which true step, for the protocol ``script-judged``.
    progress
        Called after every prediction.
    """
    sample: Subsample | None = None
    for seed in range(plan.seeds):
        if sample is None or plan.videos is not None:
            names = subsampled(labelled, plan.videos, seed)
            sample = Subsample(
                labelled,
                narrated,
                names,
                narration=plan.narration,
                search_seconds=plan.search_seconds,
            )
            once: dict[str, Prediction] = {}
        against = reference(sample.truth, rules, bars=plan.bars, seed=seed)
        for steps in plan.steps:
            for method in plan.runs:
                found = once.get(method) or _predicted(method, sample, steps, seed)
                if isinstance(found, Prediction) and found.known_steps:
                    once[method] = (
                        found  # the same for every number of steps and every seed of the subsample
                    )
                yield from _scored(found, method, steps, seed, plan.protocols, against)
                progress()


def subsampled(labelled: Labelled, videos: int | None, seed: int) -> list[str]:
    """Names of the videos of a subsample, in the order of the task."""
    names = [video.id for video in labelled.task.videos]
    if videos is None or videos >= len(names):
        return names
    chosen = np.random.default_rng(seed).permutation(len(names))[:videos]
    return [names[n] for n in sorted(chosen)]


def _predicted(method: str, sample: Subsample, steps: int, seed: int) -> Prediction | NotMeasured:
    try:
        return {**METHODS, **SCRIPT_BASELINES}[method](sample, steps, seed)
    except HowstepsError as error:
        return NotMeasured(str(error))


def _scored(
    found: Prediction | NotMeasured,
    method: str,
    steps: int,
    seed: int,
    protocols: Sequence[str],
    against: Reference,
) -> Iterator[Row | NoScore]:
    for protocol in protocols:
        if (method in SCRIPT_BASELINES) and protocol not in SCRIPT_PROTOCOLS:
            continue
        try:
            if isinstance(found, NotMeasured):
                raise found
            score = measure(protocol, found, against)
        except NotMeasured as reason:
            yield NoScore(against.truth.task, method, protocol, str(reason))
            continue
        yield Row(
            task=against.truth.task,
            method=method,
            steps=steps,
            protocol=protocol,
            f1=score.f1,
            precision=score.precision,
            recall=score.recall,
            low=score.low,
            high=score.high,
            seed=seed,
        )


def summarise(rows: Sequence[Row]) -> list[Summary]:
    """One line for each task, method, number of steps and protocol."""
    groups: dict[tuple[str, str, int, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.task, row.method, row.steps, row.protocol), []).append(row)
    return [
        Summary(
            *key,
            f1=fmean(row.f1 for row in same),
            precision=fmean(row.precision for row in same),
            recall=fmean(row.recall for row in same),
            low=_mean_of_known([row.low for row in same]),
            high=_mean_of_known([row.high for row in same]),
            over_seeds=over_seeds([row.f1 for row in same]),
        )
        for key, same in groups.items()
    ]


def _mean_of_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if len(known) == len(values) else None
