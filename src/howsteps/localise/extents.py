"""Extent, confidence and evidence of every located step."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from howsteps.localise.null_scores import PRESENCE_LEVEL, confidences
from howsteps.localise.oracle import Floats, Places
from howsteps.task import BETWEEN, LIKE_SEEN, SAID, Localisation


@dataclass(frozen=True)
class StepIntervals:
    """Where the steps are, as N×K arrays.

    Attributes
    ----------
    intervals
        The salient interval, −1 where the step is absent.
    first, last
        First and last interval of the step, both included, without overlap; −1 where it is absent.
    confidence
        In [0, 1]: the share of the null samples that the step's score beats (:func:`locate`), or
        in mode ``default`` the probability that the place is right
        (:func:`howsteps.localise.self_training.decide`).
    evidence
        One of :data:`howsteps.task.EVIDENCE`; empty where the step is absent.
    presence
        In mode ``default`` the probability that the step is in the video; the paper's method takes
        it for granted.
    signs
        N×K×S, what both were judged by (:mod:`howsteps.localise.certainty`), if they were.
    """

    intervals: Places
    first: Places
    last: Places
    confidence: Floats
    evidence: NDArray[np.str_]
    presence: Floats
    signs: Floats | None = None

    def in_seconds(
        self, videos: Sequence[str], seconds_per_interval: Sequence[float]
    ) -> tuple[Localisation, ...]:
        """One :class:`~howsteps.task.Localisation` a video and step, in seconds."""
        found = []
        for n, (video, seconds) in enumerate(zip(videos, seconds_per_interval, strict=True)):
            for k, interval in enumerate(self.intervals[n]):
                if interval < 0:
                    gone = Localisation(video, k, None, presence=float(self.presence[n, k]))
                    found.append(gone)
                    continue
                found.append(
                    Localisation(
                        video,
                        k,
                        time=(float(interval) + 0.5) * seconds,
                        start=float(self.first[n, k]) * seconds,
                        end=float(self.last[n, k] + 1) * seconds,
                        confidence=float(self.confidence[n, k]),
                        evidence=str(self.evidence[n, k]),
                        presence=float(self.presence[n, k]),
                    )
                )
        return tuple(found)


def locate(
    intervals: ArrayLike,
    scores: Sequence[ArrayLike],
    null: ArrayLike,
    windows: Sequence[ArrayLike] | None = None,
    *,
    alike: str = LIKE_SEEN,
) -> StepIntervals:
    """Add extent, confidence and evidence to located steps.

    Parameters
    ----------
    intervals
        N×K, −1 where a step is absent.
    scores
        T_n×K a video, by a classifier that was not learnt from that video.
    null
        Scores of null samples, of any shape (:mod:`howsteps.localise.null_scores`).
    windows
        T_n×K a video; a step whose window excludes something is named by the narration.
    alike
        The evidence of a step that scores higher than nine null samples in ten: what the features
        are of decides whether it looks or sounds like the others.
    """
    intervals = np.asarray(intervals, np.int64)
    rows = [np.asarray(score, np.float64) for score in scores]
    confidence = confidences(intervals, rows, np.asarray(null, np.float64))
    first, last = np.full(intervals.shape, -1), np.full(intervals.shape, -1)
    for n, (places, score) in enumerate(zip(intervals, rows, strict=True)):
        first[n], last[n] = extents(places, score)
    named = np.zeros(intervals.shape, np.bool_)
    if windows is not None:
        named = np.array([~np.asarray(window, np.bool_).all(axis=0) for window in windows])
    evidence = np.select(
        [intervals < 0, named, confidence >= PRESENCE_LEVEL], ["", SAID, alike], default=BETWEEN
    )
    there = (intervals >= 0).astype(np.float64)
    return StepIntervals(intervals, first, last, confidence, evidence, there)


def extents(places: Places, scores: Floats) -> tuple[Places, Places]:
    """First and last interval of every step of one video.

    A step reaches from its salient interval as far as its score stays above half its height over
    the median of the video. Where two neighbours meet, the border is put where the scores of what
    lies between them add up best.
    """
    first, last = places.copy(), places.copy()
    for k in np.flatnonzero(places >= 0):
        score = scores[:, k]
        floor = float(np.median(score))
        height = score[places[k]] - floor
        low = np.flatnonzero(score < min(score[places[k]], floor + 0.5 * height))
        at = int(np.searchsorted(low, places[k]))
        first[k] = low[at - 1] + 1 if at > 0 else 0
        last[k] = low[at] - 1 if at < len(low) else len(score) - 1
    present = np.flatnonzero(places >= 0)
    for left, right in pairwise(present):
        if last[left] < first[right] and last[left] < places[right] and first[right] > places[left]:
            continue
        between = slice(places[left], places[right])
        # Border after j intervals: the left step has those before it, the right step the rest.
        gain = np.cumsum(scores[between, left] - scores[between, right])
        border = int(places[left] + np.argmax(gain))
        last[left] = min(last[left], border)
        first[right] = max(first[right], border + 1)
    return first, last
