"""Synthetic tasks of the size of the paper's: sparse histograms, steps, and narration windows.

Every video is a sequence of scenes; a step is a short segment in which its visual words are mixed
with those of the scene. Some steps are missing or swapped, and mentioned a little early, as in the
paper's data.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SECONDS_PER_INTERVAL = 1 / 3  # ten frames at thirty frames per second
WORDS = (2000, 1000)  # size of the codebooks of motion and appearance
DRAWS = (90, 50)  # visual words per interval, for each
NARRATION_LEAD = 10.0  # seconds; narrators mention a step early by up to this


@dataclass(frozen=True)
class SyntheticTask:
    """Features and windows of every video, and the true intervals of its steps (−1: absent)."""

    features: list[NDArray[np.float32]]
    windows: list[NDArray[np.bool_]]
    truth: NDArray[np.int64]

    @property
    def steps(self) -> int:
        """Number of steps, K."""
        return self.truth.shape[1]

    @property
    def intervals(self) -> int:
        """Number of intervals in all videos, T."""
        return sum(len(x) for x in self.features)


def _word_distribution(
    rng: np.random.Generator, words: int, shared: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Draw a peaked distribution over words, mixed with the frequencies that videos share."""
    return rng.dirichlet(np.full(words, 0.02)) * 0.6 + shared * 0.4


def _histograms(
    rng: np.random.Generator, mixture: NDArray[np.float64], draws: int
) -> NDArray[np.float32]:
    """Draw ``draws`` words for every row of ``mixture``; Hellinger-normalised histograms."""
    rows, words = mixture.shape
    cumulative = np.cumsum(mixture, axis=1)
    cumulative /= cumulative[:, -1:]
    picks = rng.random((rows, draws))
    counts = np.zeros((rows, words), np.float32)
    for row in range(rows):
        np.add.at(counts[row], np.searchsorted(cumulative[row], picks[row]), 1)
    # An interval is described by the thirty frames around it: neighbours overlap by two thirds.
    overlapping = counts.copy()
    overlapping[1:] += counts[:-1]
    overlapping[:-1] += counts[1:]
    return np.sqrt(overlapping / overlapping.sum(axis=1, keepdims=True))


def _places(
    rng: np.random.Generator, length: int, steps: int, missing: float, swapped: float
) -> NDArray[np.int64]:
    """Draw the middle of every step in one video, −1 if the step is missing."""
    margin = length // (4 * steps)
    grid = np.linspace(margin, length - margin - 1, steps)
    places = np.sort(grid + rng.uniform(-margin, margin, steps)).astype(np.int64)
    for step in range(steps - 1):
        if rng.random() < swapped:
            places[[step, step + 1]] = places[[step + 1, step]]
    places[rng.random(steps) < missing] = -1
    return places


def synthetic_task(
    videos: int,
    *,
    steps: int = 10,
    shortest: int = 400,
    longest: int = 550,
    missing: float = 0.27,
    swapped: float = 0.06,
    narrated: float = 0.6,
    seed: int = 0,
    folder: Path | None = None,
) -> SyntheticTask:
    """Draw a task; with a ``folder`` the features are written there and memory-mapped."""
    rng = np.random.default_rng(seed)
    shared = [rng.dirichlet(np.full(words, 0.3)) for words in WORDS]
    looks = [
        [
            _word_distribution(rng, words, common)
            for words, common in zip(WORDS, shared, strict=True)
        ]
        for _ in range(steps)
    ]
    features: list[NDArray[np.float32]] = []
    windows: list[NDArray[np.bool_]] = []
    truth = np.full((videos, steps), -1)
    lead = int(NARRATION_LEAD / SECONDS_PER_INTERVAL)
    for video in range(videos):
        length = int(rng.integers(shortest, longest + 1))
        truth[video] = places = _places(rng, length, steps, missing, swapped)
        allowed = np.ones((length, steps), np.bool_)
        scene_of = np.arange(length) // 60
        blocks = []
        for kind, (words, common) in enumerate(zip(WORDS, shared, strict=True)):
            scenes = np.array(
                [_word_distribution(rng, words, common) for _ in range(scene_of[-1] + 1)]
            )
            mixture = scenes[scene_of]
            for step, place in enumerate(places):
                if place >= 0:
                    segment = slice(max(place - 5, 0), place + 6)
                    mixture[segment] = 0.5 * mixture[segment] + 0.5 * looks[step][kind]
            blocks.append(_histograms(rng, mixture, DRAWS[kind]))
        for step, place in enumerate(places):
            if place >= 0 and rng.random() < narrated:
                spoken = max(place - int(rng.integers(0, lead + 1)), 0)
                allowed[:, step] = False
                allowed[spoken : spoken + lead + 1, step] = True
        x = np.hstack(blocks)
        if folder is not None:
            path = folder / f"{video:04}.npy"
            np.save(path, x)
            x = np.load(path, mmap_mode="r")
        features.append(x)
        windows.append(allowed)
    return SyntheticTask(features, windows, truth)
