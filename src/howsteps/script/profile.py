"""The ordered profile: K groups of like mentions, met in the same order by every narration.

A step k is the mentions gathered in it so far. What a mention s would add to it is

    g(s, k) = (likeness of s to the mentions of k, on average, − θ) · exp(−z²/4)

where the average counts one unlike mention more than there are, θ is the least likeness that
counts, and z is how many standard deviations the relative time of s lies from that of the step (a
likeness below θ is not weighted by time). A narration is placed by one dynamic programme: at most
one of its mentions in each step, in the order of the steps, all others nowhere,

    F(s, k) = max { F(s − 1, k),  F(s, k − 1),  F(s − 1, k − 1) + g(s, k) },

and the profile is worth the sum over the narrations. Unlike the slots of the alignment, a step may
hold mentions that merely resemble each other, and what is said between the steps costs nothing.

Steps are found greedily: of all seeds (a frequent saying and what is like it; its earlier and its
later half) and all places in the order, the one that adds most is put in; then mentions and steps
are fitted to each other until nothing moves. At the end every step in turn is taken out and the
best one put in. Nothing is left to chance.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from howsteps.compiled import compiled

LEAST_SIMILARITY = 0.1  # θ
USUAL_SPREAD, SPREAD_WEIGHT = 0.25, 3  # of the time of a step, before its mentions are seen
LEAST_SPREAD = 0.05
SEEDS = 40
SEED_SIMILARITY = 0.4
SEED_SPREAD = 0.15  # of times, from which on a saying may be two steps
SAME = 0.2  # mean likeness from which on two steps say the same thing
TWICE = 0.7  # share of narrators who must then say both
FITS, QUICK_FITS, ROUNDS = 6, 2, 2
NOBODY = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Narrations:
    """Mentions of all narrations end to end: which saying each is, and when (0 … 1).

    Narration n owns the mentions first[n] … first[n + 1] − 1. ``alike`` is the D×D likeness,
    which is symmetric.
    """

    sayings: NDArray[np.int64]
    times: NDArray[np.float64]
    first: NDArray[np.int64]
    alike: csr_array

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """The narration of every mention."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    @property
    def fewest(self) -> int:
        """Mentions that make a step: two, but a single narration has only its own."""
        return min(2, len(self.first) - 1)

    def of(self, heard: Sequence[bool]) -> "Narrations":
        """Only the narrations that are to be heard."""
        kept = np.asarray(heard)[self.owner]
        sizes = np.diff(self.first)[np.asarray(heard)]
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return Narrations(self.sayings[kept], self.times[kept], first, self.alike)


@dataclass(frozen=True, eq=False)
class Gathered:
    """A step: its mentions, how often each saying is among them, when it is spoken of.

    ``gain`` is what each mention of the narrations would add to it. A step that others are to hear
    brings no mentions along.
    """

    members: NDArray[np.int64]
    counts: NDArray[np.int64]
    time: float
    spread: float
    gain: NDArray[np.float64]


def gather(narrations: Narrations, members: NDArray[np.int64]) -> Gathered:
    """The step that holds the given mentions."""
    times = narrations.times[members]
    variance = ((times - times.mean()) ** 2).sum() + SPREAD_WEIGHT * USUAL_SPREAD**2
    spread = float(np.sqrt(variance / (len(times) + SPREAD_WEIGHT)))
    counts = np.bincount(narrations.sayings[members], minlength=narrations.alike.shape[0])
    time, spread = float(times.mean()), max(spread, LEAST_SPREAD)
    return Gathered(members, counts, time, spread, gains(narrations, counts, time, spread))


def gains(
    narrations: Narrations, counts: NDArray[np.int64], time: float, spread: float
) -> NDArray[np.float64]:
    """g(s, k) for all mentions s of the given narrations and one step k."""
    mean = (narrations.alike @ counts) / (counts.sum() + 1.0)
    gain = mean[narrations.sayings] - LEAST_SIMILARITY
    z = (narrations.times - time) / spread
    weighted: NDArray[np.float64] = np.where(gain > 0, gain * np.exp(-0.25 * z**2), gain)
    return weighted


@compiled
def _place(first: Any, gain: Any, step: Any) -> Any:
    """Write the step of every mention (−1: none); return what the profile is worth."""
    many = len(gain)
    worth = 0.0
    for n in range(len(first) - 1):
        begin, size = first[n], first[n + 1] - first[n]
        best = np.zeros((size + 1, many + 1))
        for s in range(1, size + 1):
            for k in range(1, many + 1):
                joined = best[s - 1, k - 1] + gain[k - 1, begin + s - 1]
                best[s, k] = max(best[s - 1, k], best[s, k - 1], joined)
        worth += best[size, many]
        s, k = size, many
        step[begin : begin + size] = -1
        while s > 0 and k > 0:
            if best[s, k] == best[s - 1, k]:
                s -= 1
            elif best[s, k] == best[s, k - 1]:
                k -= 1
            else:
                s, k = s - 1, k - 1
                step[begin + s] = k
    return worth


@compiled
def _try_seeds(first: Any, gain: Any, seeds: Any, worth: Any) -> None:
    """Add up what the profile is worth with each seed at each place of the order.

    With F the value of the mentions before s in the steps before p, and B that of those after:
    the seed joins at max_s F(s, p) + seed(s) + B(s + 1, p), or nowhere at max_s F(s, p) + B(s, p).
    """
    many = len(gain)
    for n in range(len(first) - 1):
        begin, size = first[n], first[n + 1] - first[n]
        before = np.zeros((size + 1, many + 1))
        after = np.zeros((size + 1, many + 1))
        for s in range(1, size + 1):
            for k in range(1, many + 1):
                joined = before[s - 1, k - 1] + gain[k - 1, begin + s - 1]
                before[s, k] = max(before[s - 1, k], before[s, k - 1], joined)
        for s in range(size - 1, -1, -1):
            for k in range(many - 1, -1, -1):
                joined = after[s + 1, k + 1] + gain[k, begin + s]
                after[s, k] = max(after[s + 1, k], after[s, k + 1], joined)
        for p in range(many + 1):
            without = 0.0
            for s in range(size + 1):
                without = max(without, before[s, p] + after[s, p])
            for c in range(len(seeds)):
                best = without
                for s in range(size):
                    added = seeds[c, begin + s]
                    if added > 0:
                        best = max(best, before[s, p] + added + after[s + 1, p])
                worth[c, p] += best


def place(narrations: Narrations, steps: Sequence[Gathered]) -> tuple[float, NDArray[np.int64]]:
    """What the steps are worth together, and the step of every mention (−1: none)."""
    step = np.empty(len(narrations.sayings), dtype=np.int64)
    return float(_place(narrations.first, _gains(narrations, steps), step)), step


def _gains(narrations: Narrations, steps: Sequence[Gathered]) -> NDArray[np.float64]:
    found = np.array([step.gain for step in steps], dtype=np.float64)
    return found.reshape(len(steps), len(narrations.sayings))


def fit(
    narrations: Narrations, steps: list[Gathered], rounds: int = FITS
) -> tuple[float, list[Gathered]]:
    """Place mentions and gather steps in turn; a step that keeps too few is dropped."""
    last: NDArray[np.int64] | None = None
    for _ in range(rounds):
        _, step = place(narrations, steps)
        if last is not None and np.array_equal(step, last):
            break
        last = step
        members = [np.flatnonzero(step == k) for k in range(len(steps))]
        steps = [
            old if np.array_equal(old.members, own) else gather(narrations, own)
            for old, own in zip(steps, members, strict=True)
            if len(own) >= narrations.fewest
        ]
    return place(narrations, steps)[0], steps


def repeats(narrations: Narrations, steps: Sequence[Gathered]) -> bool:
    """Whether two steps say the same thing without narrators who say it twice.

    Words that narrators return to at any time are one step; "tighten the nuts" is two where a good
    part of those who say it say it at both places.
    """
    _, belongs = place(narrations, steps)
    shares = np.array([step.counts / step.counts.sum() for step in steps])
    said = np.zeros((len(steps), len(narrations.first) - 1), dtype=np.int64)
    said[belongs[belongs >= 0], narrations.owner[belongs >= 0]] = 1
    both = said @ said.T
    fewer = np.minimum.outer(both.diagonal(), both.diagonal())
    same = shares @ (narrations.alike @ shares.T) > SAME
    np.fill_diagonal(same, False)
    return bool((same & (both < TWICE * fewer)).any())


def seeds_of(narrations: Narrations, most: int) -> list[Gathered]:
    """The steps that frequent sayings would make, whole and in an earlier and a later half."""
    heard = np.unique(np.stack([narrations.sayings, narrations.owner]), axis=1)[0]
    videos = np.bincount(heard, minlength=narrations.alike.shape[0])
    found = []
    for saying in np.argsort(-videos, kind="stable")[: max(SEEDS, most)]:
        if videos[saying] < narrations.fewest:
            break
        alike = narrations.alike[[saying]].toarray()[0]
        own = np.flatnonzero(alike[narrations.sayings] >= SEED_SIMILARITY)
        parts = [own]
        times = narrations.times[own]
        if len(own) >= 6 and times.std() > SEED_SPREAD:
            early = times <= np.median(times)
            parts += [own[early], own[~early]]
        # The words of the title are not even like themselves; the median may be the last time.
        found += [gather(narrations, part) for part in parts if len(part)]
    return found


def learn(
    everyone: Narrations, witnesses: Sequence[bool], most: int, rounds: int = ROUNDS
) -> list[Gathered]:
    """Steps as :func:`profile` finds them with the witnesses, heard by everyone."""
    return [
        replace(step, members=NOBODY, gain=gains(everyone, step.counts, step.time, step.spread))
        for step in profile(everyone.of(witnesses), most, rounds)
    ]


def profile(narrations: Narrations, most: int, rounds: int = ROUNDS) -> list[Gathered]:
    """At most ``most`` steps, in order; every one is exchanged in each of so many ``rounds``."""
    seeds = seeds_of(narrations, most)
    if not seeds:
        return []
    seed_gains = _gains(narrations, seeds)

    def promise(steps: list[Gathered], banned: NDArray[np.bool_]) -> NDArray[np.float64]:
        worth = np.zeros((len(seeds), len(steps) + 1))
        _try_seeds(narrations.first, _gains(narrations, steps), seed_gains, worth)
        worth[banned] = -np.inf
        return worth

    def grow(steps: list[Gathered], worth: float) -> tuple[float, list[Gathered]]:
        banned = np.zeros(len(seeds), dtype=np.bool_)
        promised = promise(steps, banned)
        while len(steps) < most and not banned.all():
            seed, at = divmod(int(promised.argmax()), len(steps) + 1)
            more, longer = fit(narrations, [*steps[:at], seeds[seed], *steps[at:]])
            if more <= worth:
                break
            if len(longer) <= len(steps) or repeats(narrations, longer):
                banned[seed], promised[seed] = True, -np.inf
            else:
                worth, steps = more, longer
                promised = promise(steps, banned)
        return worth, steps

    worth, steps = grow([], 0.0)
    for _ in range(rounds):
        before = worth
        for k in range(len(steps)):
            if k < len(steps):
                less, fewer = fit(narrations, steps[:k] + steps[k + 1 :], QUICK_FITS)
                more, other = grow(fewer, less)
                if more > worth and len(other) >= len(steps):
                    worth, steps = more, other
        if worth == before:
            break
    return steps
