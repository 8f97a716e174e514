"""Experiments: methods × numbers of steps × seeds on a task, scored by protocols."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from howsteps.datasets.annotations import Labelled
from howsteps.errors import HowstepsError, unknown_name
from howsteps.evaluate.inputs import t_interval
from howsteps.evaluate.methods import METHODS, SCRIPT_BASELINES, Subsample
from howsteps.evaluate.protocols import (
    PROTOCOLS,
    SCRIPT_PROTOCOLS,
    Bars,
    NotMeasured,
    Prediction,
    Reference,
    Rules,
    make_reference,
    measure,
)
from howsteps.narration.features import Kind
from howsteps.task import Task, Video


@dataclass(frozen=True, slots=True)
class Plan:
    """The grid of an experiment.

    Attributes
    ----------
    methods, steps, protocols
        Names of methods, values of K, and names of protocols.
    seeds
        Number of seeds.
    videos
        Size of the subsample of each seed. None: all videos, and seeds only affect the methods.
    bars
        What error bars are computed over.
    narration
        Features of the narration to use where the videos have none: ``words`` or ``meaning``.
    search_seconds
        Effort of each search for a script.
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
        for what, names, known in (
            ("method", self.methods, METHODS),
            ("protocol", self.protocols, PROTOCOLS),
        ):
            if unknown := [name for name in names if name not in known]:
                raise HowstepsError(unknown_name(what, unknown[0], known))
        if min(self.steps, default=0) < 1 or self.seeds < 1:
            raise HowstepsError("at least one step and one seed are needed")

    @property
    def runs(self) -> list[str]:
        """The methods, with the script baselines if scripts are scored."""
        scripts = any(name in SCRIPT_PROTOCOLS for name in self.protocols)
        return [*self.methods, *(SCRIPT_BASELINES if scripts else ())]

    def __len__(self) -> int:
        """Number of predictions per task."""
        return len(self.runs) * len(self.steps) * self.seeds


@dataclass(frozen=True, slots=True)
class _Scored:
    """A score and what it belongs to; ``low`` and ``high`` are the ends of its error bar."""

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
    """Means over seeds; ``over_seeds`` is the confidence interval of the mean F1, if several."""

    over_seeds: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class NoScore:
    """A method that could not be run or scored, with the reason."""

    task: str
    method: str
    protocol: str
    reason: str


def with_narrations(
    labelled: Labelled, plan: Plan, progress: Callable[[Video], None] | None = None
) -> dict[str, Task]:
    """Return the videos of a plan with the mentions of each mode; empty without narrations.

    Every caption is parsed once for all methods and seeds.
    """
    names = {name for seed in range(plan.seeds) for name in subsampled(labelled, plan.videos, seed)}
    task = labelled.of(names).task
    if any(video.mentions for video in task.videos):
        return dict.fromkeys(("paper", "default"), task)
    if not any(video.captions for video in task.videos):
        return {}
    from howsteps.narration.mentions import extract_relations_by_mode  # noqa: PLC0415 - loads spaCy

    return extract_relations_by_mode(task, ("paper", "default"), progress=progress)


def run_plan(
    labelled: Labelled,
    narrated: Mapping[str, Task],
    plan: Plan,
    *,
    rules: Rules | None = None,
    progress: Callable[[], None] = lambda: None,
) -> Iterator[Row | NoScore]:
    """Run the plan on one task; yield a row per score, or the reason why there is none.

    Parameters
    ----------
    labelled, narrated
        The task, and the result of :func:`with_narrations` for it.
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
            supervised: dict[str, Prediction] = {}
        reference = make_reference(sample.truth, rules, bars=plan.bars, seed=seed)
        for steps in plan.steps:
            for method in plan.runs:
                prediction = supervised.get(method) or _predict(method, sample, steps, seed)
                if isinstance(prediction, Prediction) and prediction.known_steps:
                    # It does not depend on K, and is kept for all seeds of the subsample.
                    supervised[method] = prediction
                yield from _score(prediction, method, steps, seed, plan.protocols, reference)
                progress()


def subsampled(labelled: Labelled, videos: int | None, seed: int) -> list[str]:
    """Return the names of the videos of a random subsample, in the order of the task."""
    names = [video.id for video in labelled.task.videos]
    if videos is None or videos >= len(names):
        return names
    chosen = np.random.default_rng(seed).permutation(len(names))[:videos]
    return [names[n] for n in sorted(chosen)]


def _predict(method: str, sample: Subsample, steps: int, seed: int) -> Prediction | NotMeasured:
    try:
        return {**METHODS, **SCRIPT_BASELINES}[method](sample, steps, seed)
    except HowstepsError as error:
        return NotMeasured(str(error))


def _score(
    prediction: Prediction | NotMeasured,
    method: str,
    steps: int,
    seed: int,
    protocols: Sequence[str],
    reference: Reference,
) -> Iterator[Row | NoScore]:
    for protocol in protocols:
        if method in SCRIPT_BASELINES and protocol not in SCRIPT_PROTOCOLS:
            continue
        try:
            if isinstance(prediction, NotMeasured):
                raise prediction
            score = measure(protocol, prediction, reference)
        except NotMeasured as reason:
            yield NoScore(reference.truth.task, method, protocol, str(reason))
            continue
        yield Row(
            task=reference.truth.task,
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
    """Return the means over seeds for each task, method, number of steps and protocol."""
    groups: dict[tuple[str, str, int, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.task, row.method, row.steps, row.protocol), []).append(row)
    return [
        Summary(
            *key,
            f1=fmean(row.f1 for row in group),
            precision=fmean(row.precision for row in group),
            recall=fmean(row.recall for row in group),
            low=_mean_if_all_known([row.low for row in group]),
            high=_mean_if_all_known([row.high for row in group]),
            over_seeds=t_interval([row.f1 for row in group]),
        )
        for key, group in groups.items()
    ]


def _mean_if_all_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if len(known) == len(values) else None
