"""The ``script`` protocol: discovered steps must be correct and in the correct order.

Each discovered step may count as one of several true steps, or as none. The steps recovered are the
longest chain of discovered steps that count as true steps in their global order, each true step
once::

    precision = chain / discovered steps      recall = chain / true steps

The true steps that a discovered step may count as (its *options*) come from one of two sources.

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

import numpy as np
from numpy.typing import NDArray

from howsteps.evaluate.inputs import Score, check_truth, precision_recall_f1
from howsteps.task import Annotation, Mention, Rule, Step, Truth

ALPHA = 0.05  # significance level for each discovered step


def script_score(options: Sequence[Collection[int]], order: Sequence[int]) -> Score:
    """Return precision and recall of a script in order.

    ``options`` are the true steps that each discovered step may count as (:func:`judged`,
    :func:`by_time`), ``order`` the true steps in their global order.
    """
    matching = longest_chain(options, order)
    recovered = sum(step is not None for step in matching)
    return Score(*precision_recall_f1(recovered, len(options), len(order)), matching=matching)


def longest_chain(
    options: Sequence[Collection[int]], order: Sequence[int]
) -> tuple[int | None, ...]:
    """Return the true step that each discovered step counts as in the longest chain, or None."""
    position = {step: i for i, step in enumerate(order)}
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


def judged(
    steps: Sequence[Step], rules: Mapping[str, Sequence[Rule]], names: Sequence[str]
) -> list[set[int]]:
    """Return the true steps (indices of ``names``) that each discovered step counts as by rules."""

    def counts_as(step: Step, name: str) -> bool:
        allowed = [any(r.allows(m.relation) for r in rules.get(name, ())) for m in step.mentions]
        return bool(allowed) and 2 * sum(allowed) >= len(allowed)

    return [{k for k, name in enumerate(names) if counts_as(step, name)} for step in steps]


def by_time(
    steps: Sequence[Step], truth: Truth, *, leads: Sequence[float] = (0.0,)
) -> list[set[int]]:
    """Return the true step, if any, that each discovered step counts as by time.

    A discovered step is at the starts of its mentions; those in videos without annotations are left
    out. ``leads`` are seconds by which true steps are extended to the front.
    """
    check_truth(truth)
    spoken = [[m for m in step.mentions if m.video in truth.durations] for step in steps]
    lengths = _lengths([m for mentions in spoken for m in mentions], truth)
    level = ALPHA / max(1, len(truth.steps) * len(leads))
    done: dict[tuple[str, int], list[Annotation]] = {}
    for a in truth.annotations:
        done.setdefault((a.video, a.step), []).append(a)
    found: list[list[set[int]]] = []
    for lead in leads:
        options: list[set[int]] = []
        for mentions in spoken:
            lifts = {}
            for true in range(len(truth.steps)):
                hits, null = _hits(mentions, true, done, lead, lengths)
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


def _lengths(mentions: Sequence[Mention], truth: Truth) -> dict[str, float]:
    """Return the length of every video; if unknown, its last annotation or mention."""
    last = dict.fromkeys(truth.durations, 1.0)
    ends = [(one.video, one.end) for one in truth.annotations]
    for video, end in ends + [(m.video, m.end) for m in mentions]:
        last[video] = max(last[video], end)
    return {video: known or last[video] for video, known in truth.durations.items()}


def _hits(
    mentions: Sequence[Mention],
    true: int,
    done: Mapping[tuple[str, int], Sequence[Annotation]],
    lead: float,
    lengths: Mapping[str, float],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return whether each video with the discovered step is a hit, and the probabilities p_n."""
    videos = list(dict.fromkeys(m.video for m in mentions))
    if len(videos) < 2:  # no other video to compare with
        return np.zeros(len(videos)), np.ones(len(videos))
    shares = np.array([m.start / lengths[m.video] for m in mentions])
    video_of = np.array([videos.index(m.video) for m in mentions])
    hits, null = np.zeros(len(videos)), np.zeros(len(videos))
    for n, video in enumerate(videos):
        seconds = shares * lengths[video]
        inside = np.zeros(len(seconds), dtype=bool)
        for a in done.get((video, true), ()):
            inside |= (a.start - lead <= seconds) & (seconds <= a.end)
        hit = np.bincount(video_of[inside], minlength=len(videos)) > 0
        hits[n], null[n] = hit[n], (hit.sum() - hit[n]) / (len(videos) - 1)
    return hits, null
