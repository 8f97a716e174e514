"""Predictions and truth, validated, as objects of howsteps or plain lists; and scores."""

import math
import operator
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import HowstepsError
from howsteps.io.checked import LATEST
from howsteps.task import Annotation, Localisation, Truth

Predictions: TypeAlias = (
    Iterable[Localisation | Mapping[str, Any] | Sequence[Any]]
    | Mapping[str, Sequence[float | None]]
)
TruthLike: TypeAlias = (
    Truth
    | Iterable[Annotation | Mapping[str, Any] | Sequence[Any]]
    | Mapping[str, Iterable[Sequence[Any]]]
)

# Memory must not follow the value of a label: a step is smaller than this number, and a table of
# discovered and true steps has at most so many cells.
MAX_STEPS = 100_000
_MAX_CELLS = 50_000_000


class EvaluationError(HowstepsError, ValueError):
    """Predictions and truth cannot be compared; the message names the video and the step."""


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
        Any form listed in the module. A :class:`~howsteps.task.Truth` is checked and returned.
    steps
        Names of the steps of a plain truth. None: the names in order of first appearance, or one
        for each number up to the largest.
    durations
        Durations of the videos of a plain truth in seconds, None if unknown. Videos that are listed
        here alone have no steps.

    Raises
    ------
    EvaluationError
        If an annotation has an unknown step or video, or its times are not an interval.
    """
    if not isinstance(truth, Truth):
        rows = list(_annotation_rows(truth))
        if steps is None:
            steps = _step_names([row[1] for row in rows])
        index = {name: k for k, name in enumerate(steps)}
        videos = dict.fromkeys([*(durations or {}), *(truth if isinstance(truth, Mapping) else ())])
        videos.update(dict.fromkeys(str(row[0]) for row in rows))
        truth = Truth(
            "",
            tuple(steps),
            tuple(
                Annotation(
                    str(video), index.get(step, -1) if isinstance(step, str) else step, start, end
                )
                for video, step, start, end in rows
            ),
            {video: (durations or {}).get(video) for video in videos},
        )
    for video, duration in truth.durations.items():
        if duration is not None and not (_is_finite(duration) and 0 <= duration <= LATEST):
            raise EvaluationError(f"video {video!r} has the impossible length {duration!r}")
    for a in truth.annotations:
        if a.video not in truth.durations:
            raise EvaluationError(f"video {a.video!r} is annotated but not among the videos")
        check_step(a.step, len(truth.steps), a.video)
        if not (_is_finite(a.start) and _is_finite(a.end) and a.start <= a.end):
            raise EvaluationError(
                f"step {a.step} in video {a.video!r}: "
                f"{a.start} to {a.end} is not an interval of time"
            )
    return truth


def as_predictions(
    predictions: Predictions, truth: Truth, steps: int | None = None, *, once: bool = True
) -> tuple[tuple[Localisation, ...], int]:
    """Check predictions against a truth, and return them as localisations, with K_pred.

    Parameters
    ----------
    predictions
        Any form listed in the module.
    steps
        K_pred, the number of discovered steps. None: the largest predicted step plus one.
    once
        Refuse a step that is predicted more than once in a video.

    Raises
    ------
    EvaluationError
        If a video is not in the truth (:func:`in_truth` removes such videos), a step is not one of
        0 … K_pred − 1, a time is not finite, or a step is predicted twice.
    """
    localisations = tuple(_localisation(row) for row in _prediction_rows(predictions))
    if steps is None:
        numbers = [p.step for p in localisations if is_integer(p.step)]
        steps = min(max((step + 1 for step in numbers), default=0), MAX_STEPS)
    seen: set[tuple[str, int]] = set()
    for p in localisations:
        if not isinstance(p.video, Hashable) or p.video not in truth.durations:
            raise EvaluationError(f"video {p.video!r} is predicted but not in the truth")
        check_step(p.step, steps, p.video)
        check_times((p.time, p.start, p.end), p.step, p.video)
        if once and p.time is not None:
            if (p.video, p.step) in seen:
                raise EvaluationError(f"step {p.step} is predicted twice in video {p.video!r}")
            seen.add((p.video, p.step))
    return localisations, steps


def in_truth(predictions: Iterable[Localisation], truth: Truth) -> tuple[Localisation, ...]:
    """Return the predictions for videos that are in the truth; the others cannot be scored."""
    return tuple(p for p in predictions if p.video in truth.durations)


def _prediction_rows(predictions: Predictions) -> Iterable[Any]:
    if isinstance(predictions, Mapping):
        return [
            Localisation(video, step, time)
            for video, times in predictions.items()
            for step, time in enumerate(_listed(times, video))
        ]
    try:
        return list(predictions)
    except TypeError:
        raise EvaluationError(f"predictions must be a list, not {predictions!r}") from None


def _listed(rows: Any, video: str) -> list[Any]:
    """Return the entries of a video as a list."""
    try:
        return list(rows)
    except TypeError:
        raise EvaluationError(f"video {video!r}: expected a list, not {rows!r}") from None


def _localisation(row: Any) -> Localisation:
    if isinstance(row, Localisation):
        return row
    try:
        if isinstance(row, Mapping):
            return Localisation(
                row["video"], row["step"], row["time"], row.get("start"), row.get("end")
            )
        video, step, time = row
    except (KeyError, TypeError, ValueError):
        raise EvaluationError(
            f"a prediction has a video, a step and a time, unlike {row!r}"
        ) from None
    return Localisation(video, step, time)


def _annotation_rows(truth: Any) -> Iterable[tuple[Any, Any, Any, Any]]:
    rows = (
        [(video, row) for video, rows in truth.items() for row in _listed(rows, video)]
        if isinstance(truth, Mapping)
        else [(None, row) for row in truth]
    )
    for video, row in rows:
        try:
            if isinstance(row, Annotation):
                yield row.video, row.step, row.start, row.end
            elif isinstance(row, Mapping):
                name = row["video"] if video is None else video
                yield name, row["step"], row["start"], row["end"]
            elif video is None:
                name, step, start, end = row
                yield name, step, start, end
            else:
                step, start, end = row
                yield video, step, start, end
        except (KeyError, TypeError, ValueError):
            raise EvaluationError(
                f"an annotation has a video, a step, a start and an end, unlike {row!r}"
            ) from None


def _step_names(steps: Sequence[Any]) -> tuple[str, ...]:
    if any(isinstance(step, str) for step in steps):
        return tuple(dict.fromkeys(str(step) for step in steps))
    count = max((step + 1 for step in steps if is_integer(step)), default=0)
    return tuple(str(k) for k in range(min(count, MAX_STEPS)))


def check_step(step: Any, steps: int, video: str) -> None:
    """Refuse a step that is not one of 0 … ``steps`` − 1."""
    if not is_integer(step) or not 0 <= step < steps:
        raise EvaluationError(
            f"step {step!r} in video {video!r}: steps are the numbers 0 … {steps - 1}"
            if steps
            else f"step {step!r} in video {video!r}, but there are no steps"
        )


def check_times(times: Iterable[Any], step: int, video: str) -> None:
    """Refuse times that are neither None nor finite."""
    for time in times:
        if time is not None and not _is_finite(time):
            raise EvaluationError(
                f"step {step} in video {video!r} has the time {time}, not a finite number"
            )


def check_table(steps: int, true_steps: int, videos: int = 1) -> None:
    """Refuse a table of discovered and true steps that is too large to be made."""
    if steps * max(true_steps, 1) * max(videos, 1) > _MAX_CELLS:
        raise EvaluationError(
            f"{steps:,} discovered and {true_steps:,} true steps are too many to compare: "
            "number the steps 0, 1, 2 … without gaps"
        )


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

    Attributes
    ----------
    low, high
        Ends of the error bar of F1, in protocols that have one.
    frames
        Share of correct frames (mean over frames, MoF), in protocols that have it.
    matching
        True step of each discovered step, or None, if one matching holds for the task.
    note
        How the matching was found.
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

    Parameters
    ----------
    gain
        K_pred×K: gain of matching a row (discovered step) with a column (true step).

    Returns
    -------
    The column of each row, or −1 for an unmatched row.
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - slow to import

    rows, columns = linear_sum_assignment(gain, maximize=True)
    matched = np.full(len(gain), -1, dtype=np.int64)
    matched[rows] = columns
    return matched


def as_columns(matching: Matching, steps: int, true_steps: int) -> NDArray[np.int64]:
    """Return a given matching as an array, with −1 in place of None.

    Raises
    ------
    EvaluationError
        If it has fewer than ``steps`` entries, or names a true step that does not exist.
    """
    if len(matching) < steps:
        raise EvaluationError(f"the matching has {len(matching)} steps, the prediction {steps}")
    for step in matching:
        if step is not None and not (is_integer(step) and 0 <= step < true_steps):
            raise EvaluationError(
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
    level: float = LEVEL,
    seed: int = 0,
) -> tuple[float, float]:
    """Return the percentile interval of a score over bootstrap samples of the videos.

    Parameters
    ----------
    score
        The score of some videos, given by their indices, which may repeat.
    videos
        N: the number of videos, and of draws with replacement in each sample.
    resamples
        Number of bootstrap samples.
    level
        Confidence level of the interval.
    seed
        Seed of the draws.
    """
    rng = np.random.default_rng(seed)
    samples = rng.integers(videos, size=(resamples, videos))
    low, high = np.quantile(
        [score(indices) for indices in samples], ((1 - level) / 2, (1 + level) / 2)
    )
    return float(low), float(high)


def t_interval(values: Sequence[float], *, level: float = LEVEL) -> tuple[float, float] | None:
    """Return Student's confidence interval of the mean, x̄ ± t·s/√n; None for a single value."""
    if len(values) < 2:
        return None
    from scipy.stats import t  # noqa: PLC0415 - slow to import

    mean, deviation = float(np.mean(values)), float(np.std(values, ddof=1))
    half = float(t.ppf((1 + level) / 2, len(values) - 1)) * deviation / sqrt(len(values))
    return mean - half, mean + half
