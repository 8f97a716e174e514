"""Predictions and truth, validated, as objects of howsteps or plain lists; and scores.

=============  ======================================================================
predictions    a ``Result``; ``Localisation``s; dictionaries with ``video``, ``step``, ``time``
               (and ``start``, ``end``); tuples (video, step, time); or the times of all
               steps by video, None where one is absent
truth          a ``Truth``; ``Annotation``s; dictionaries with ``video``, ``step``, ``start``,
               ``end``; tuples (video, step, start, end); or (step, start, end) by video
=============  ======================================================================

A step of a truth is a number from 0 on, or a name. What cannot be compared raises an
:class:`HowstepsError` that names the video and the step.
"""

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import HowstepsError
from howsteps.task import LATEST, Annotation, Localisation, Result, Truth

Predictions: TypeAlias = (
    Result
    | Iterable[Localisation | Mapping[str, Any] | Sequence[Any]]
    | Mapping[str, Iterable[float | None]]
)
TruthLike: TypeAlias = (
    Truth
    | Iterable[Annotation | Mapping[str, Any] | Sequence[Any]]
    | Mapping[str, Iterable[Sequence[Any]]]
)

MAX_STEPS = 5_000  # memory follows the largest label


def as_truth(
    truth: TruthLike,
    *,
    steps: Sequence[str] | None = None,
    durations: Mapping[str, float | None] | None = None,
) -> Truth:
    """Return a validated truth, built from plain annotations if necessary.

    Parameters
    ----------
    truth
        In any form of this module.
    steps
        Names of the steps of a plain truth. None: the names in order of first appearance, or one
        for each number up to the largest.
    durations
        Durations of the videos of a plain truth in seconds, None if unknown. Videos that are listed
        here alone have no steps.
    """
    if not isinstance(truth, Truth):
        truth = _plain_truth(truth, steps, durations or {})
    for video, duration in truth.durations.items():
        if duration is not None and not (_is_finite(duration) and 0 <= duration <= LATEST):
            raise HowstepsError(f"video {video!r} has the impossible length {duration!r}")
    for a in truth.annotations:
        if a.video not in truth.durations:
            raise HowstepsError(f"video {a.video!r} is annotated but not among the videos")
        check_step(a.step, len(truth.steps), a.video)
        if not (_is_finite(a.start) and _is_finite(a.end) and a.start <= a.end):
            interval = f"{a.start} to {a.end} is not an interval of time"
            raise HowstepsError(f"step {a.step} in video {a.video!r}: {interval}")
    return truth


def _plain_truth(
    truth: Any, steps: Sequence[str] | None, durations: Mapping[str, float | None]
) -> Truth:
    rows = list(_rows(truth, Annotation, ("video", "step", "start", "end")))
    named = any(isinstance(a.step, str) for a in rows)
    if steps is None and named:
        steps = tuple(dict.fromkeys(str(a.step) for a in rows))
    elif steps is None:
        steps = tuple(map(str, range(_count(a.step for a in rows))))
    index: dict[Any, int] = {name: k for k, name in enumerate(steps)} if named else {}
    videos = [*durations, *(truth if isinstance(truth, Mapping) else ()), *(a.video for a in rows)]
    return Truth(
        "",
        tuple(steps),
        tuple(Annotation(a.video, index.get(a.step, a.step), a.start, a.end) for a in rows),
        {video: durations.get(video) for video in videos},
    )


def as_predictions(
    predictions: Predictions, truth: Truth, steps: int | None = None, *, once: bool = True
) -> tuple[tuple[Localisation, ...], int]:
    """Check predictions against a truth, and return them as localisations, with K_pred.

    Parameters
    ----------
    predictions
        In any form of this module. Of a ``Result``, the videos that are in the truth count; others
        can be removed by :func:`in_truth`.
    steps
        K_pred, the number of discovered steps. None: those of the result, or the largest predicted
        step plus one.
    once
        Refuse a step that is predicted more than once in a video.
    """
    if isinstance(predictions, Result):
        steps = len(predictions.script.steps) if steps is None else steps
        localisations = in_truth(predictions.localisations, truth)
        if predictions.localisations and not localisations:
            raise HowstepsError("no video of the result is in the truth")
    elif isinstance(predictions, Mapping):
        localisations = tuple(
            Localisation(video, step, time)
            for video, times in predictions.items()
            for step, time in enumerate(times)
        )
    else:
        localisations = tuple(_rows(predictions, Localisation, ("video", "step", "time")))
    steps = _count(p.step for p in localisations) if steps is None else steps
    if steps > MAX_STEPS:
        raise HowstepsError(f"{steps:,} steps are too many to compare: number them 0, 1, 2 …")
    seen: set[tuple[str, int]] = set()
    for p in localisations:
        if p.video not in truth.durations:
            raise HowstepsError(f"video {p.video!r} is predicted but not in the truth")
        check_step(p.step, steps, p.video)
        for time in (p.time, p.start, p.end):
            if time is not None and not _is_finite(time):
                what = f"has the time {time}, not a finite number"
                raise HowstepsError(f"step {p.step} in video {p.video!r} {what}")
        if once and p.time is not None:
            if (p.video, p.step) in seen:
                raise HowstepsError(f"step {p.step} is predicted twice in video {p.video!r}")
            seen.add((p.video, p.step))
    return localisations, steps


def in_truth(predictions: Iterable[Localisation], truth: Truth) -> tuple[Localisation, ...]:
    """Return the predictions for videos that are in the truth; the others cannot be scored."""
    return tuple(p for p in predictions if p.video in truth.durations)


def _rows(rows: Any, kind: type, names: Sequence[str]) -> Iterator[Any]:
    """Yield ``kind(*values)`` for every row: an object, a dictionary or a tuple of ``names``."""
    if isinstance(rows, Mapping):
        rows = [
            {"video": video, **row} if isinstance(row, Mapping) else (video, *row)
            for video, found in rows.items()
            for row in found
        ]
    for row in rows:
        try:
            if isinstance(row, kind):
                yield row
            elif isinstance(row, Mapping):
                extent = {} if kind is Annotation else {k: row.get(k) for k in ("start", "end")}
                yield kind(*(row[name] for name in names), **extent)
            else:
                yield kind(*(value for _, value in zip(names, row, strict=True)))
        except (KeyError, TypeError, ValueError):
            what = f"has {', '.join(names[:-1])} and {names[-1]}, unlike {row!r}"
            raise HowstepsError(f"a row {what}") from None


def _count(steps: Iterable[Any]) -> int:
    """Return the largest step plus one."""
    return min(max((step + 1 for step in steps if is_integer(step)), default=0), MAX_STEPS)


def check_step(step: Any, steps: int, video: str) -> None:
    """Refuse a step that is not one of 0 … ``steps`` − 1."""
    if not is_integer(step) or not 0 <= step < steps:
        known = f": steps are the numbers 0 … {steps - 1}" if steps else ", but there are no steps"
        raise HowstepsError(f"step {step!r} in video {video!r}{known}")


def is_integer(step: Any) -> bool:
    """Return whether a step is an integer, also one of NumPy."""
    try:
        operator.index(step)
    except TypeError:
        return False
    return not isinstance(step, bool)


def _is_finite(time: Any) -> bool:
    try:
        return math.isfinite(time)
    except (TypeError, OverflowError):  # OverflowError: an integer of hundreds of digits
        return False


Matching: TypeAlias = Sequence[int | None]


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall and F1, where 0/0 is 0.

    ``low`` and ``high`` are the ends of the error bar of F1, and ``frames`` the share of correct
    frames (mean over frames, MoF), in protocols that have them. ``matching`` is the true step of
    each discovered step, or None, if one matching holds for the task; ``note`` says how it was
    found.
    """

    precision: float
    recall: float
    f1: float
    low: float | None = None
    high: float | None = None
    frames: float | None = None
    matching: tuple[int | None, ...] = ()
    note: str = ""


def ratio(part: float, total: float) -> float:
    """Return part/total, where 0/0 is 0."""
    return float(part / total) if total else 0.0


def f1_of(precision: float, recall: float) -> float:
    """Return F1 = 2PR/(P+R)."""
    return ratio(2 * precision * recall, precision + recall)


def precision_recall_f1(
    correct: float, predicted: float, true: float
) -> tuple[float, float, float]:
    """Return precision, recall and F1 from the numbers of correct, predicted and true items."""
    precision, recall = ratio(correct, predicted), ratio(correct, true)
    return precision, recall, f1_of(precision, recall)


def match(gain: NDArray[Any]) -> NDArray[np.int64]:
    """Return the one-to-one matching with the largest sum of gains (Hungarian method).

    ``gain`` is K_pred×K, discovered by true steps. Returns the column of each row, −1 for none.
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - slow to import

    rows, columns = linear_sum_assignment(gain, maximize=True)
    matched = np.full(len(gain), -1, dtype=np.int64)
    matched[rows] = columns
    return matched


def as_columns(matching: Matching, steps: int, true_steps: int) -> NDArray[np.int64]:
    """Return a given matching of at least ``steps`` as an array, with −1 in place of None."""
    if len(matching) < steps:
        raise HowstepsError(f"the matching has {len(matching)} steps, the prediction {steps}")
    for step in matching:
        if step is not None and not (is_integer(step) and 0 <= step < true_steps):
            raise HowstepsError(
                f"the matching names the true step {step!r}; there are {true_steps}, from 0 on"
            )
    return np.array([-1 if step is None else step for step in matching], dtype=np.int64)


def as_steps(matched: NDArray[np.int64]) -> tuple[int | None, ...]:
    """Return a matching as a tuple, with None in place of −1."""
    return tuple(None if step < 0 else int(step) for step in matched)


RESAMPLES = 500
LEVEL = 0.95


def bootstrap_interval(
    score: Callable[[NDArray[np.int64]], float],
    videos: int,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[float, float]:
    """Return the percentile interval of a score over bootstrap samples of the videos.

    ``score`` is that of some videos, given by their indices, which may repeat; each sample has N
    (``videos``) of them.
    """
    rng = np.random.default_rng(seed)
    samples = rng.integers(videos, size=(resamples, videos))
    values = [score(indices) for indices in samples]
    low, high = np.quantile(values, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return float(low), float(high)


def t_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return Student's confidence interval of the mean, x̄ ± t·s/√n; None for a single value."""
    if len(values) < 2:
        return None
    from scipy.stats import t  # noqa: PLC0415 - slow to import

    mean, deviation = float(np.mean(values)), float(np.std(values, ddof=1))
    half = float(t.ppf((1 + LEVEL) / 2, len(values) - 1)) * deviation / math.sqrt(len(values))
    return mean - half, mean + half
