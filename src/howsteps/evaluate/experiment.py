"""Experiments: methods × numbers of steps × seeds on tasks, scored by protocols."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from traceback import extract_tb

import numpy as np

from howsteps.datasets import read_labelled
from howsteps.datasets.annotations import Labelled
from howsteps.errors import HowstepsError, unknown_name
from howsteps.evaluate.inputs import Score
from howsteps.evaluate.methods import METHODS, Method, Sample
from howsteps.evaluate.protocols import PROTOCOLS, Prediction, Reference, Rules
from howsteps.task import Task, Video

LEVEL = 0.95  # of the intervals over seeds


@dataclass(frozen=True, slots=True)
class Plan:
    """The grid of an experiment: methods by name, values of K, names of protocols, seeds.

    Each seed has a subsample of so many ``videos``; None: all videos, and seeds only affect the
    methods.
    """

    methods: Mapping[str, Method] = field(default_factory=lambda: METHODS)
    steps: tuple[int, ...] = (10,)
    protocols: tuple[str, ...] = ("paper-f1", "script")
    seeds: int = 1
    videos: int | None = None

    def __post_init__(self) -> None:
        if unknown := [name for name in self.protocols if name not in PROTOCOLS]:
            raise HowstepsError(unknown_name("protocol", unknown[0], PROTOCOLS))
        if min(self.steps, default=0) < 1 or self.seeds < 1:
            raise HowstepsError("at least one step and one seed are needed")

    def __len__(self) -> int:
        """Number of predictions per task."""
        return len(self.methods) * len(self.steps) * self.seeds


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
    """One score of one run; its error bar is over the solutions that the method visited."""

    seed: int


@dataclass(frozen=True, slots=True)
class Summary(_Scored):
    """Means over some ``seeds``; of several, the error bar is a 95 % interval of the mean."""

    seeds: int


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
        methods: dict[tuple[str, str], dict[str, None]] = {}
        for each in self.unscored:
            methods.setdefault((each.protocol, each.reason), {})[each.method] = None
        return [
            f"not measured by {protocol}: {', '.join(names)} ({reason})"
            for (protocol, reason), names in methods.items()
        ]

    def __str__(self) -> str:
        lines = [
            f"{row.task}  {row.protocol}  K={row.steps}  {row.method:12}"
            f"  P {row.precision:.3f}  R {row.recall:.3f}  F1 {row.f1:.3f}"
            + (f"  {row.seeds} of {self.seeds} seeds" if row.seeds < self.seeds else "")
            for row in self.summaries
        ]
        return "\n".join([*lines, *self.reasons])


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
    rows: list[Row] = []
    unscored: list[NoScore] = []
    sample: Sample | None = None
    for seed in range(plan.seeds):
        if sample is None or plan.videos is not None:
            sample = Sample(labelled, narrated, subsampled(labelled, plan.videos, seed))
            reference = Reference(sample.truth, rules)
        for steps in plan.steps:
            for name, method in plan.methods.items():
                prediction = _predict(name, method, sample, steps, seed)
                for protocol in plan.protocols:
                    score = _score(prediction, protocol, reference)
                    task = sample.truth.task
                    if isinstance(score, Exception):
                        why = _reason(score)
                        unscored.append(NoScore(task, name, protocol, why, seed, score))
                    else:
                        found = score.f1, score.precision, score.recall, score.low, score.high
                        rows.append(Row(task, name, steps, protocol, *found, seed))
                progress()
    return Comparison(tuple(rows), tuple(unscored), plan.seeds)


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
    prediction: Prediction | Exception, protocol: str, reference: Reference
) -> Score | Exception:
    """Return the score of a prediction, or why it has none."""
    if isinstance(prediction, Exception):
        return prediction
    try:
        return PROTOCOLS[protocol](prediction, reference)
    except Exception as error:
        return error


def _reason(error: Exception) -> str:
    """The message of an error; for those that are not ours, with its type and its line."""
    if isinstance(error, HowstepsError):
        return str(error)
    where = [frame for frame in extract_tb(error.__traceback__) if frame.filename != __file__]
    line = f", {Path(where[-1].filename).name}:{where[-1].lineno}" if where else ""
    return f"{type(error).__name__}: {error}{line}"


def summarise(rows: Sequence[Row]) -> list[Summary]:
    """Return the means over seeds for each task, method, number of steps and protocol.

    The error bar of one seed is that of its row; of several seeds it is Student's 95 % confidence
    interval of the mean F1, x̄ ± t·s/√n, as far as it is in [0, 1].
    """
    groups: dict[tuple[str, str, int, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.task, row.method, row.steps, row.protocol), []).append(row)
    summaries = []
    for key, group in groups.items():
        f1, precision, recall = (
            fmean(getattr(row, what) for row in group) for what in ("f1", "precision", "recall")
        )
        low, high = group[0].low, group[0].high
        if len(group) > 1:
            half = _half_width([row.f1 for row in group])
            low, high = max(f1 - half, 0.0), min(f1 + half, 1.0)
        summaries.append(Summary(*key, f1, precision, recall, low, high, seeds=len(group)))
    return summaries


def _half_width(values: Sequence[float]) -> float:
    """Half of Student's confidence interval of the mean of several values."""
    from scipy.stats import t  # noqa: PLC0415 - slow to import

    quantile = float(t.ppf((1 + LEVEL) / 2, len(values) - 1))
    return quantile * float(np.std(values, ddof=1)) / math.sqrt(len(values))


def compare(
    data: Path | str | Labelled | Iterable[Labelled],
    methods: Mapping[str, Method] = METHODS,
    *,
    protocols: str | Sequence[str] = ("paper-f1",),
    steps: int | Sequence[int] = (10,),
    seeds: int = 1,
    videos: int | None = None,
    rules: Rules | None = None,
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
    protocols, steps, seeds, videos
        Names of protocols, values of K, and the subsamples, as in a :class:`Plan`.
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
    plan = Plan(dict(methods), ks, names, seeds, videos)
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
