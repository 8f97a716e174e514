"""The ``script`` protocol: discovered steps must be correct and in the correct order.

Each discovered step may count as one of several true steps, or as none. The steps recovered are the
longest chain of discovered steps that count as true steps in their global order, each true step
once::

    precision = chain / discovered steps      recall = chain / true steps

The true steps that a discovered step may count as (its *options*) come from one of two sources;
``Score.note`` says which.

*Judged* by people: a discovered step counts as a true step if at least half of its mentions are
relations that one of the true step's rules allows. It may count as several: "take the wheel" may be
taking it off or out.

*By time*: a discovered step that always has the same position in a video coincides with some true
step by chance. The null hypothesis is therefore that only the position in the video matters: the
times of the same step in the *other* videos, rescaled to the length of this one. Video n is a hit
of true step g if any of its times lies in g; under the null hypothesis its probability is

    p_n = share of the other videos whose rescaled times hit g in video n.

The discovered step counts as the true step g with the largest lift Σ_n (hit_n − p_n) among those
whose number of hits has a p-value of at most α/K (independent videos: a Poisson-binomial tail). A
script of random times, in bins or not, recovers nothing this way.

Narrators name a step before they do it, some as they begin and some ten seconds early, so true
steps are extended to the front. Of several such *leads* the one with which most discovered steps
count is taken, for all steps of the script, and α is divided by their number.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import HowstepsError
from howsteps.evaluate.inputs import (
    Predictions,
    Score,
    as_predictions,
    check_truth,
    precision_recall_f1,
)
from howsteps.task import Localisation, Mention, Rule, Script, Step, Truth

JUDGED, BY_TIME = "judged", "by time"
ALPHA = 0.05  # significance level for each discovered step


def script_score(options: Sequence[Collection[int]], order: Sequence[int], note: str = "") -> Score:
    """Return precision and recall of a script in order.

    ``options`` are the true steps that each discovered step may count as (:func:`judged`,
    :func:`by_time`; ``note`` says which), ``order`` the true steps in their global order.
    """
    matching = longest_chain(options, order)
    recovered = sum(step is not None for step in matching)
    return Score(
        *precision_recall_f1(recovered, len(options), len(order)), matching=matching, note=note
    )


def longest_chain(
    options: Sequence[Collection[int]], order: Sequence[int]
) -> tuple[int | None, ...]:
    """Return the true step that each discovered step counts as in the longest chain, or None."""
    position = {step: i for i, step in enumerate(order)}
    for discovered, allowed in enumerate(options):
        for step in allowed:
            if step not in position:
                raise HowstepsError(
                    f"discovered step {discovered} counts as the true step {step!r}, "
                    "which is not in the order"
                )
    # longest[i]: the longest chain so far whose last true step is order[i].
    empty: tuple[tuple[int, int], ...] = ()
    longest: dict[int, tuple[tuple[int, int], ...]] = {}
    for discovered, allowed in enumerate(options):
        # In descending order, so that a discovered step is used once in a chain.
        for i in sorted((position[step] for step in allowed), reverse=True):
            before = max((longest[j] for j in longest if j < i), key=len, default=empty)
            if len(before) + 1 > len(longest.get(i, empty)):
                longest[i] = (*before, (discovered, order[i]))
    best = max(longest.values(), key=len, default=empty)
    true_step = dict(best)
    return tuple(true_step.get(discovered) for discovered in range(len(options)))


def steps_of(
    mention: Mention, rules: Mapping[str, Sequence[Rule]], names: Sequence[str]
) -> list[int]:
    """Return the true steps that a mention may refer to, as indices of ``names``."""
    return [
        step
        for step, name in enumerate(names)
        if any(rule.allows(mention.relation) for rule in rules.get(name, ()))
    ]


def judged(
    steps: Sequence[Step], rules: Mapping[str, Sequence[Rule]], names: Sequence[str]
) -> list[set[int]]:
    """Return the true steps (indices of ``names``) that each discovered step counts as by rules."""
    options = []
    for step in steps:
        allowed = [steps_of(mention, rules, names) for mention in step.mentions]
        options.append(
            {
                true
                for true in range(len(names))
                if allowed and 2 * sum(true in row for row in allowed) >= len(allowed)
            }
        )
    return options


def mention_times(script: Script) -> list[Localisation]:
    """Return the times at which each step of a script is mentioned."""
    return [
        Localisation(mention.video, k, mention.start)
        for k, step in enumerate(script.steps)
        for mention in step.mentions
    ]


class _Times(NamedTuple):
    """When a discovered step is mentioned: videos, and of each time its video and its share."""

    videos: tuple[str, ...]
    video: NDArray[np.int64]  # an index of ``videos``
    share: NDArray[np.float64]  # of the length of the video


def by_time(
    mentions: Predictions,
    truth: Truth,
    steps: int | None = None,
    *,
    leads: Sequence[float] = (0.0,),
) -> list[set[int]]:
    """Return the true step, if any, that each discovered step counts as by time.

    Parameters
    ----------
    mentions
        Times at which each discovered step happens or is mentioned, any number in a video, in a
        form of :mod:`howsteps.evaluate.inputs`; those without a time are ignored.
    leads
        Seconds by which true steps are extended to the front.
    """
    check_truth(truth)
    localisations, steps = as_predictions(mentions, truth, steps, once=False)
    timed = [(at.video, at.step, at.time) for at in localisations if at.time is not None]
    lengths = _lengths(timed, truth)
    times_by_step = []
    for step in range(steps):
        shares = [(video, time / lengths[video]) for video, k, time in timed if k == step]
        videos = tuple(dict.fromkeys(video for video, _ in shares))
        places = np.array([videos.index(video) for video, _ in shares], dtype=np.int64)
        times_by_step.append(_Times(videos, places, np.array([share for _, share in shares])))
    level = ALPHA / (len(truth.steps) * len(leads)) if truth.steps else ALPHA
    found: list[list[set[int]]] = []
    for lead in leads:
        intervals: dict[tuple[str, int], list[tuple[float, float]]] = {}
        for a in truth.annotations:
            intervals.setdefault((a.video, a.step), []).append((a.start - lead, a.end))
        options = []
        for times in times_by_step:
            lifts = {}
            for true in range(len(truth.steps)):
                hits, null = _hits(times, true, intervals, lengths)
                if poisson_binomial_tail(int(hits.sum()), null) <= level:
                    lifts[true] = float((hits - null).sum())
            options.append({max(lifts, key=lambda true: lifts[true])} if lifts else set())
        found.append(options)
    return max(found, key=lambda options: len(set().union(*options)))


def poisson_binomial_tail(count: int, probabilities: NDArray[np.float64]) -> float:
    """Return the probability that at least ``count`` of several independent things happen."""
    distribution = np.ones(1)
    for p in probabilities:
        distribution = np.convolve(distribution, (1 - p, p))
    return float(distribution[count:].sum())


def _lengths(timed: Sequence[tuple[str, int, float]], truth: Truth) -> dict[str, float]:
    """Return the length of every video; if unknown, its last annotation or mention."""
    last = dict.fromkeys(truth.durations, 1.0)
    ends = [*((a.video, a.end) for a in truth.annotations), *((v, time) for v, _, time in timed)]
    for video, end in ends:
        last[video] = max(last[video], end)
    return {video: known or last[video] for video, known in truth.durations.items()}


def _hits(
    times: _Times,
    true: int,
    intervals: Mapping[tuple[str, int], Sequence[tuple[float, float]]],
    lengths: Mapping[str, float],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return whether each video with the discovered step is a hit, and the probabilities p_n."""
    videos = len(times.videos)
    if videos < 2:  # no other video to compare with
        return np.zeros(videos), np.ones(videos)
    hits, null = np.zeros(videos), np.zeros(videos)
    for n, video in enumerate(times.videos):
        seconds = times.share * lengths[video]
        inside = np.zeros(len(seconds), dtype=bool)
        for start, end in intervals.get((video, true), ()):
            inside |= (start <= seconds) & (seconds <= end)
        hit = np.bincount(times.video[inside], minlength=videos) > 0
        hits[n], null[n] = hit[n], (hit.sum() - hit[n]) / (videos - 1)
    return hits, null
