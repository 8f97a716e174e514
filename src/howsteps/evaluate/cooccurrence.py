"""Which true step each discovered step is, found from when things happen.

A discovered step that always comes at the same part of a video falls into some true step by chance
alone. So its times are compared with those it would have if only their place in the video counted:
the times of the same step in the *other* videos, stretched to the length of this one. Video n is a
hit of true step g when any of its own times lies in g; by chance it is one with probability

    p_n = share of the other videos whose stretched times hit g in video n.

The discovered step counts as the true step g with the largest lift Σ_n (hit_n − p_n) among those
where so many hits have a probability of at most α/K under chance (independent videos: a
Poisson-binomial tail). A script of random times, in bins or not, is thereby worth nothing.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.task import Localisation, Script, Truth

NOTE = "by time"
ALPHA = 0.05

_Times: TypeAlias = Mapping[str, NDArray[np.float64]]


def events_of(script: Script) -> list[Localisation]:
    """When each step of a script is mentioned."""
    return [
        Localisation(mention.video, step, mention.start)
        for step, found in enumerate(script.steps)
        for mention in found.mentions
    ]


def by_time(
    events: Sequence[Localisation],
    truth: Truth,
    steps: int,
    *,
    lead: float = 0.0,
    alpha: float = ALPHA,
) -> list[set[int]]:
    """The true step, if any, that each discovered step counts as.

    Parameters
    ----------
    events
        When each discovered step happens or is mentioned, any number of times in a video; those
        without a time, or in a video that nobody annotated, are left out.
    steps
        The number of discovered steps.
    lead
        How many seconds before its begin a step is taken to have begun already: narrators name a
        step shortly before they do it.
    alpha
        How often a discovered step may be taken for a true one by chance.
    """
    lengths = _lengths(events, truth)
    intervals: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for a in truth.annotations:
        intervals.setdefault((a.video, a.step), []).append((a.start - lead, a.end))
    found = []
    for step in range(steps):
        times = _relative(events, step, lengths)
        lifts = {}
        for true in range(len(truth.steps)):
            hits, chances = _hits(times, true, intervals, lengths)
            if tail(int(hits.sum()), chances) <= alpha / len(truth.steps):
                lifts[true] = float((hits - chances).sum())
        found.append({max(lifts, key=lambda true: lifts[true])} if lifts else set())
    return found


def tail(count: int, chances: NDArray[np.float64]) -> float:
    """P(at least ``count`` of independent events happen), given their probabilities."""
    distribution = np.ones(1)
    for p in chances:
        distribution = np.convolve(distribution, (1 - p, p))
    return float(distribution[count:].sum())


def _lengths(events: Sequence[Localisation], truth: Truth) -> dict[str, float]:
    """The length of every video; where it is unknown, the last thing that happens in it."""
    last = dict.fromkeys(truth.durations, 1.0)
    for a in truth.annotations:
        last[a.video] = max(last[a.video], a.end)
    for event in events:
        if event.time is not None and event.video in last:
            last[event.video] = max(last[event.video], event.time)
    return {video: known or last[video] for video, known in truth.durations.items()}


def _relative(events: Sequence[Localisation], step: int, lengths: Mapping[str, float]) -> _Times:
    """The times of one discovered step in each video, as parts of its length."""
    times: dict[str, list[float]] = {}
    for event in events:
        if event.step == step and event.time is not None and event.video in lengths:
            times.setdefault(event.video, []).append(event.time / lengths[event.video])
    return {video: np.array(found) for video, found in times.items()}


def _hits(
    times: _Times,
    true: int,
    intervals: Mapping[tuple[str, int], Sequence[tuple[float, float]]],
    lengths: Mapping[str, float],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Whether each video with the discovered step is a hit, and the probability by chance."""
    if len(times) < 2:  # nothing to compare with
        return np.zeros(len(times)), np.ones(len(times))
    moments = np.concatenate(list(times.values()))
    owners = np.repeat(np.arange(len(times)), [len(found) for found in times.values()])
    hits, chances = [], []
    for n, video in enumerate(times):
        inside = np.zeros(len(moments), dtype=bool)
        for start, end in intervals.get((video, true), ()):
            seconds = moments * lengths[video]
            inside |= (start <= seconds) & (seconds <= end)
        hit = np.bincount(owners[inside], minlength=len(times)) > 0
        hits.append(float(hit[n]))
        chances.append((hit.sum() - hit[n]) / (len(times) - 1))
    return np.array(hits), np.array(chances)
