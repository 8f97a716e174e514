"""Experiments: methods × numbers of steps × seeds on tasks, scored by protocols."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import starmap
from pathlib import Path
from statistics import fmean
from traceback import extract_tb
from typing import Any

import numpy as np

from howsteps.datasets import read_labelled
from howsteps.datasets.annotations import Labelled
from howsteps.errors import HowstepsError, unknown_name
from howsteps.evaluate.inputs import t_interval
from howsteps.evaluate.methods import METHODS, SCRIPT_BASELINES, Method, Sample
from howsteps.evaluate.protocols import (
    PROTOCOLS,
    SCRIPT_PROTOCOLS,
    Bars,
    Prediction,
    Reference,
    Rules,
)
from howsteps.task import Task, Video


@dataclass(frozen=True, slots=True)
class Plan:
    """The grid of an experiment: methods by name, values of K, names of protocols, seeds.

    Each seed has a subsample of so many ``videos``; None: all videos, and seeds only affect the
    methods. The baselines of scripts are run too if scripts are scored.
    """

    methods: Mapping[str, Method] = field(default_factory=lambda: METHODS)
    steps: tuple[int, ...] = (10,)
    protocols: tuple[str, ...] = ("paper-f1", "script")
    seeds: int = 1
    videos: int | None = None
    bars: Bars = Bars.videos

    def __post_init__(self) -> None:
        if unknown := [name for name in self.protocols if name not in PROTOCOLS]:
            raise HowstepsError(unknown_name("protocol", unknown[0], PROTOCOLS))
        if min(self.steps, default=0) < 1 or self.seeds < 1:
            raise HowstepsError("at least one step and one seed are needed")

    @property
    def runs(self) -> dict[str, Method]:
        """The methods, with the script baselines if scripts are scored."""
        baselines = SCRIPT_BASELINES if self.script_protocols else {}
        return {**self.methods, **{k: v for k, v in baselines.items() if k not in self.methods}}

    @property
    def script_protocols(self) -> tuple[str, ...]:
        """The protocols that score scripts."""
        return tuple(name for name in self.protocols if name in SCRIPT_PROTOCOLS)

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
    """Means over some ``seeds``; ``over_seeds`` is the confidence interval of the mean F1."""

    seeds: int
    over_seeds: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class NoScore:
    """A method that could not be run or scored, with the reason; ``error`` has the traceback."""

    task: str
    method: str
    protocol: str
    reason: str
    seed: int
    error: Exception = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every score, and what could not be scored; printed as a table of means over ``seeds``."""

    rows: tuple[Row, ...]
    unscored: tuple[NoScore, ...]
    seeds: int = 1

    @property
    def summaries(self) -> list[Summary]:
        """The means over seeds."""
        return summarise(self.rows)

    @property
    def reasons(self) -> list[str]:
        """What could not be scored, one line for all methods with the same reason."""
        seeds: dict[tuple[str, str], dict[str, set[int]]] = {}
        for each in self.unscored:
            methods = seeds.setdefault((each.protocol, each.reason), {})
            methods.setdefault(each.method, set()).add(each.seed)
        return [
            f"not measured by {protocol}: {', '.join(starmap(self._with_seeds, methods.items()))}"
            f" ({reason})"
            for (protocol, reason), methods in seeds.items()
        ]

    def _with_seeds(self, method: str, failed: Collection[int]) -> str:
        """A method that failed, with the number of seeds unless it did so on all."""
        some = f" on {len(failed)} of {self.seeds} seeds" if len(failed) < self.seeds else ""
        return f"{method}{some}"

    def __str__(self) -> str:
        lines = (
            f"{row.task}  {row.protocol}  K={row.steps}  {row.method:12}"
            f"  P {row.precision:.3f}  R {row.recall:.3f}  F1 {row.f1:.3f}"
            + f"  {row.seeds} of {self.seeds} seeds"
            * (row.seeds < self.seeds)
            for row in self.summaries
        )
        return "\n".join((*lines, *self.reasons))


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
) -> Comparison:
    """Run the plan on one task.

    ``narrated`` is the result of :func:`with_narrations`, and ``rules`` say which relations name
    which true step, for the protocol ``script-judged``. ``progress`` is called after every
    prediction.
    """
    scores: list[Row | NoScore] = []
    sample: Sample | None = None
    for seed in range(plan.seeds):
        if sample is None or plan.videos is not None:
            names = subsampled(labelled, plan.videos, seed)
            sample = Sample(labelled, narrated, names)
            supervised: dict[str, Prediction] = {}
        reference = Reference(sample.truth, rules, plan.bars, seed)
        for steps in plan.steps:
            for name, method in plan.runs.items():
                prediction = supervised.get(name) or _predict(name, method, sample, steps, seed)
                if isinstance(prediction, Prediction) and prediction.known_steps:
                    # It does not depend on K, and is kept for all seeds of the subsample.
                    supervised[name] = prediction
                protocols = plan.protocols if name in plan.methods else plan.script_protocols
                scores += _score(prediction, name, steps, seed, protocols, reference)
                progress()
    return Comparison(
        tuple(score for score in scores if isinstance(score, Row)),
        tuple(score for score in scores if isinstance(score, NoScore)),
        plan.seeds,
    )


def subsampled(labelled: Labelled, videos: int | None, seed: int) -> list[str]:
    """Return the names of a random subsample of the annotated videos, in the order of the task."""
    names = [video.id for video in labelled.task.videos]
    if videos is None or videos >= len(names):
        return names
    names = [name for name in names if name in labelled.truth.durations]
    chosen = np.random.default_rng(seed).permutation(len(names))[:videos]
    return [names[n] for n in sorted(chosen)]


def _predict(
    name: str, method: Method, sample: Sample, steps: int, seed: int
) -> Prediction | Exception:
    """Return what a method found, or what it raised: a bad method must not lose the others."""
    try:
        found = method(sample, steps, seed)
    except Exception as error:
        return error
    try:
        lengths = {video.id: video.duration for video in sample.task.videos}
        return Prediction.of(found, replace(sample.truth, durations=lengths))
    except HowstepsError as error:
        return HowstepsError(f"what the method {name!r} returned: {error}")


def _score(
    prediction: Prediction | Exception,
    method: str,
    steps: int,
    seed: int,
    protocols: Sequence[str],
    reference: Reference,
) -> Iterator[Row | NoScore]:
    for protocol in protocols:
        try:
            if isinstance(prediction, Exception):
                raise prediction
            score = PROTOCOLS[protocol](prediction, reference)
        except Exception as error:
            yield NoScore(reference.truth.task, method, protocol, _reason(error), seed, error)
            continue
        found = score.f1, score.precision, score.recall, score.low, score.high
        yield Row(reference.truth.task, method, steps, protocol, *found, seed)


def _reason(error: Exception) -> str:
    """The message of an error; for those that are not ours, with its type and its line."""
    if isinstance(error, HowstepsError):
        return str(error)
    where = [frame for frame in extract_tb(error.__traceback__) if frame.filename != __file__]
    line = f", {Path(where[-1].filename).name}:{where[-1].lineno}" if where else ""
    return f"{type(error).__name__}: {error}{line}"


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
            seeds=len(group),
            over_seeds=_seeds_interval([row.f1 for row in group]),
        )
        for key, group in groups.items()
    ]


def _seeds_interval(values: Sequence[float]) -> tuple[float, float] | None:
    found = t_interval(values)
    return found and (max(found[0], 0.0), min(found[1], 1.0))


def _mean_if_all_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if len(known) == len(values) else None


def compare(
    data: Path | str | Labelled | Iterable[Labelled],
    methods: Mapping[str, Method] = METHODS,
    *,
    protocols: Sequence[str] = ("paper-f1",),
    steps: int | Sequence[int] = (10,),
    rules: Rules | None = None,
    **options: Any,
) -> Comparison:
    """Run methods on a data set with ground truth, and score them.

    Parameters
    ----------
    data
        A path that :func:`howsteps.datasets.read_labelled` reads, or what it returns.
    methods
        Functions by name: one's own beside those of :data:`~howsteps.evaluate.METHODS` and
        :data:`howsteps.paper.methods.METHODS`. Each is called as ``method(sample, steps, seed)``,
        and finds at most so many steps in the :class:`~howsteps.evaluate.Sample`: ``sample.videos``
        are the ids, ``sample.truth.durations`` the lengths, ``sample.task.videos`` have the
        captions, ``sample.narrated().videos`` also the mentions, and ``sample.features`` are
        T_n×d arrays. It returns the times of all steps by video, localisations, a script, or a
        result. What it raises is listed under ``unscored``, and the others are still scored.
    protocols, steps, options
        Names of protocols, values of K, and other fields of a :class:`Plan`.
    rules
        Which relations name which true step, for the protocol ``script-judged``.

    Examples
    --------
    >>> def first_said(sample, steps, seed):
    ...     return {v.id: [m.start for m in v.mentions[:steps]] for v in sample.narrated().videos}
    >>> print(compare("tire.json", {**METHODS, "mine": first_said}, steps=7))  # doctest: +SKIP
    """
    if not isinstance(methods, Mapping):
        raise HowstepsError(f"'methods' are functions by name, not {methods!r:.60}")
    ks = (steps,) if isinstance(steps, int) else tuple(steps)
    names = (protocols,) if isinstance(protocols, str) else tuple(protocols)
    plan = Plan(dict(methods), ks, names, **options)
    if isinstance(data, Path | str):
        data = read_labelled(data)
    found = [
        run_plan(labelled, with_narrations(labelled, plan), plan, rules=rules)
        for labelled in ([data] if isinstance(data, Labelled) else data)
    ]
    return Comparison(
        tuple(row for each in found for row in each.rows),
        tuple(reason for each in found for reason in each.unscored),
        plan.seeds,
    )
