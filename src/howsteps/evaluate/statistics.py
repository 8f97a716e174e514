"""Statistics of a data set: how regularly a task is done, independent of any method.

With g_n annotated and u_n distinct steps in video n, and l_n the length of the longest common
subsequence of its steps and the global order::

    order error = 1 − Σl/Σu      missing = 1 − Σu/(K·N)      repetition = 1 − Σu/Σg

Annotators differ in whether a step that is interrupted and continued is one row or two;
``repetition_in_turn`` counts consecutive rows of the same step as one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from howsteps.evaluate.inputs import EvaluationError, TruthLike, as_truth
from howsteps.evaluate.order import agreement, find_order
from howsteps.evaluate.score import ratio
from howsteps.evaluate.script_protocols import steps_of
from howsteps.task import Mention, Rule, Truth


@dataclass(frozen=True, slots=True)
class Statistics:
    """The statistics of one task; shares are in [0, 1], lengths in seconds."""

    task: str
    videos: int
    steps: int
    annotated: int
    order: tuple[int, ...]
    order_proved: bool
    order_error: float
    missing: float
    repetition: float
    repetition_in_turn: float
    step_length: float
    video_length: float | None
    covered: float | None


def statistics(truth: TruthLike, order: Sequence[int] | None = None) -> Statistics:
    """Return the statistics of a task.

    Parameters
    ----------
    truth
        In a form of :mod:`howsteps.evaluate.inputs`.
    order
        The global order of the steps. None: the one that agrees best with the videos;
        ``order_proved`` then says whether it is proved to be optimal.
    """
    truth = as_truth(truth)
    sequences = [[a.step for a in annotations] for annotations in truth.by_video.values()]
    proved = True
    if order is None:
        found = find_order(sequences, len(truth.steps))
        order, proved = found.steps, found.proved
    elif sorted(order) != list(range(len(truth.steps))):
        raise EvaluationError(f"the order has to have each of the {len(truth.steps)} steps once")
    annotated = sum(map(len, sequences))
    distinct = sum(len(set(sequence)) for sequence in sequences)
    turns = sum(1 for sequence in sequences for _ in groupby(sequence))
    lengths = [a.end - a.start for a in truth.annotations]
    known = [duration for duration in truth.durations.values() if duration is not None]
    return Statistics(
        task=truth.task,
        videos=len(sequences),
        steps=len(truth.steps),
        annotated=annotated,
        order=tuple(order),
        order_proved=proved,
        order_error=1 - ratio(sum(agreement(order, sequences)), distinct) if distinct else 0.0,
        missing=1 - ratio(distinct, len(truth.steps) * len(sequences)),
        repetition=1 - ratio(distinct, annotated) if annotated else 0.0,
        repetition_in_turn=1 - ratio(distinct, turns) if turns else 0.0,
        step_length=float(np.median(lengths)) if lengths else 0.0,
        video_length=float(np.median(known)) if known else None,
        covered=_covered(truth),
    )


def _covered(truth: Truth) -> float | None:
    """Return the share of time in which any step is done, over videos of known duration."""
    total, covered = 0.0, 0.0
    for video, annotations in truth.by_video.items():
        duration = truth.durations[video]
        if duration is None:
            continue
        total += duration
        last_end = 0.0
        for a in annotations:
            covered += max(0.0, a.end - max(a.start, last_end))
            last_end = max(last_end, a.end)
    return covered / total if total else None


def narration_leads(
    mentions: Sequence[Mention], rules: Mapping[str, Sequence[Rule]], truth: Truth
) -> list[float]:
    """Return the seconds from mentions to the starts of their steps; negative if named later.

    For every mention that the rules assign to a true step in its video: the time from the mention
    to the nearest start of that step.
    """
    starts: dict[tuple[str, int], list[float]] = {}
    for a in truth.annotations:
        starts.setdefault((a.video, a.step), []).append(a.start)
    leads = []
    for mention in mentions:
        times = [
            start - mention.start
            for step in steps_of(mention, rules, truth.steps)
            for start in starts.get((mention.video, step), ())
        ]
        if times:
            leads.append(min(times, key=abs))
    return leads
