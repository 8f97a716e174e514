"""``script``: the discovered steps must be right, and in the right order.

Each discovered step may count as one of several true steps, or as none. The longest chain of
discovered steps that count as true steps in the order of the job, each true step once, is what was
recovered::

    precision = chain / discovered steps      recall = chain / true steps

Which true steps a discovered step may count as (its *options*) comes from one of two sources, and
``Score.note`` says which.

*Judged* by people: a discovered step counts as a true step when at least half of its mentions are
relations that one of the true step's rules allows. It may count as several, as "take the wheel" may
be taking it off or out.

*By time*: a discovered step that always comes at the same part of a video falls into some true step
at random. So its times are compared with those it would have if only the position in the video
counted: the times of the same step in the *other* videos, stretched to the length of this one.
Video n is a hit of true step g when any of its own times lies in g; under the null hypothesis it is
one with probability

    p_n = share of the other videos whose stretched times hit g in video n.

The discovered step counts as the true step g with the largest lift Σ_n (hit_n − p_n) among those
where so many hits have a probability of at most α/K under the null hypothesis (independent videos:
a Poisson-binomial tail). A script of random times, in bins or not, recovers nothing this way.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.evaluate.inputs import (
    EvaluationError,
    Predictions,
    TruthLike,
    as_predictions,
    as_truth,
)
from howsteps.evaluate.score import Score, counted
from howsteps.task import Localisation, Mention, Rule, Script, Step, Truth

JUDGED, BY_TIME = "judged", "by time"
ALPHA = 0.05

_Times: TypeAlias = Mapping[str, NDArray[np.float64]]


def script_score(options: Sequence[Collection[int]], order: Sequence[int], note: str = "") -> Score:
    """Precision and recall of a script in order.

    Parameters
    ----------
    options
        The true steps that each discovered step may count as (:func:`judged`, :func:`by_time`).
    order
        The true steps in the order of the job.
    note
        Where ``options`` come from.

    Raises
    ------
    EvaluationError
        When a discovered step counts as one that is not in ``order``.
    """
    counts = chain(options, order)
    recovered = sum(step is not None for step in counts)
    return Score(*counted(recovered, len(options), len(order)), matching=counts, note=note)


def chain(options: Sequence[Collection[int]], order: Sequence[int]) -> tuple[int | None, ...]:
    """The longest chain: for each discovered step the true step it counts as, or None."""
    position = {step: at for at, step in enumerate(order)}
    for discovered, allowed in enumerate(options):
        for step in allowed:
            if step not in position:
                raise EvaluationError(
                    f"discovered step {discovered} counts as the true step {step!r}, "
                    "which is not in the order"
                )
    # longest[at]: the longest chain so far whose last true step is at that position of the order.
    nothing: tuple[tuple[int, int], ...] = ()
    longest: dict[int, tuple[tuple[int, int], ...]] = {}
    for discovered, allowed in enumerate(options):
        # From the last position to the first: a discovered step counts once in a chain.
        for at in sorted((position[step] for step in allowed), reverse=True):
            before = max((longest[p] for p in longest if p < at), key=len, default=nothing)
            if len(before) + 1 > len(longest.get(at, nothing)):
                longest[at] = (*before, (discovered, order[at]))
    best = max(longest.values(), key=len, default=nothing)
    counts = dict(best)
    return tuple(counts.get(discovered) for discovered in range(len(options)))


def steps_of(
    mention: Mention, rules: Mapping[str, Sequence[Rule]], names: Sequence[str]
) -> list[int]:
    """The true steps that a mention may be of, counted in ``names``."""
    return [
        step
        for step, name in enumerate(names)
        if any(rule.allows(mention.relation) for rule in rules.get(name, ()))
    ]


def judged(
    steps: Sequence[Step], rules: Mapping[str, Sequence[Rule]], names: Sequence[str]
) -> list[set[int]]:
    """The true steps that each discovered step counts as by rules, counted in ``names``."""
    options = []
    for step in steps:
        allowed = [steps_of(mention, rules, names) for mention in step.mentions]
        options.append(
            {
                true
                for true in range(len(names))
                if allowed and 2 * sum(true in found for found in allowed) >= len(allowed)
            }
        )
    return options


def mention_times(script: Script) -> list[Localisation]:
    """When each step of a script is mentioned."""
    return [
        Localisation(mention.video, step, mention.start)
        for step, found in enumerate(script.steps)
        for mention in found.mentions
    ]


def by_time(
    events: Predictions,
    truth: TruthLike,
    steps: int | None = None,
    *,
    lead: float = 0.0,
    alpha: float = ALPHA,
) -> list[set[int]]:
    """The true step, if any, that each discovered step counts as by time.

    Parameters
    ----------
    events
        When each discovered step happens or is mentioned, any number of times in a video, as
        :mod:`howsteps.evaluate.inputs` lists; those without a time do not count.
    truth
        As :mod:`howsteps.evaluate.inputs` lists.
    steps
        The number of discovered steps. None: as many as the events count up to.
    lead
        How many seconds before its start a step is taken to have begun: narrators name a step
        shortly before they do it.
    alpha
        Probability of taking a discovered step for a true one at random.
    """
    truth = as_truth(truth)
    found, steps = as_predictions(events, truth, steps, once=False)
    lengths = _lengths(found, truth)
    intervals: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for a in truth.annotations:
        intervals.setdefault((a.video, a.step), []).append((a.start - lead, a.end))
    options = []
    for step in range(steps):
        times = _relative(found, step, lengths)
        lifts = {}
        for true in range(len(truth.steps)):
            hits, null = _hits(times, true, intervals, lengths)
            if tail(int(hits.sum()), null) <= alpha / len(truth.steps):
                lifts[true] = float((hits - null).sum())
        options.append({max(lifts, key=lambda true: lifts[true])} if lifts else set())
    return options


def tail(count: int, probabilities: NDArray[np.float64]) -> float:
    """P(at least ``count`` of independent events happen), given their probabilities."""
    distribution = np.ones(1)
    for p in probabilities:
        distribution = np.convolve(distribution, (1 - p, p))
    return float(distribution[count:].sum())


def _lengths(events: Sequence[Localisation], truth: Truth) -> dict[str, float]:
    """The length of every video; where it is unknown, the last thing that happens in it."""
    last = dict.fromkeys(truth.durations, 1.0)
    for a in truth.annotations:
        last[a.video] = max(last[a.video], a.end)
    for event in events:
        if event.time is not None:
            last[event.video] = max(last[event.video], event.time)
    return {video: known or last[video] for video, known in truth.durations.items()}


def _relative(events: Sequence[Localisation], step: int, lengths: Mapping[str, float]) -> _Times:
    """The times of one discovered step in each video, as shares of its length."""
    times: dict[str, list[float]] = {}
    for event in events:
        if event.step == step and event.time is not None:
            times.setdefault(event.video, []).append(event.time / lengths[event.video])
    return {video: np.array(found) for video, found in times.items()}


def _hits(
    times: _Times,
    true: int,
    intervals: Mapping[tuple[str, int], Sequence[tuple[float, float]]],
    lengths: Mapping[str, float],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Whether each video with the discovered step is a hit, and its probability p_n."""
    if len(times) < 2:  # nothing to compare with
        return np.zeros(len(times)), np.ones(len(times))
    moments = np.concatenate(list(times.values()))
    owners = np.repeat(np.arange(len(times)), [len(found) for found in times.values()])
    hits, null = [], []
    for n, video in enumerate(times):
        inside = np.zeros(len(moments), dtype=bool)
        for start, end in intervals.get((video, true), ()):
            seconds = moments * lengths[video]
            inside |= (start <= seconds) & (seconds <= end)
        hit = np.bincount(owners[inside], minlength=len(times)) > 0
        hits.append(float(hit[n]))
        null.append((hit.sum() - hit[n]) / (len(times) - 1))
    return np.array(hits), np.array(null)
