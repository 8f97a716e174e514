"""Placements with the extent, confidence and evidence of every step."""

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
    """Places, extents, confidence and evidence of the steps, as N×K arrays.

    Attributes
    ----------
    intervals
        The interval of the step, −1 where it is absent.
    first, last
        First and last interval of the extent, both included; −1 where the step is absent. Extents
        do not overlap.
    confidence
        In [0, 1]: the share of the null samples with a lower score (:func:`locate`), or in mode
        ``default`` the probability that the place is correct
        (:func:`howsteps.localise.decision.decide`).
    evidence
        One of :data:`howsteps.task.EVIDENCE`; empty where the step is absent.
    presence
        In mode ``default`` the probability that the step is in the video; otherwise 1 where it is
        placed.
    cues
        N×K×S: the cues that presence and confidence were estimated from
        (:mod:`howsteps.localise.certainty`), if they were.
    """

    intervals: Places
    first: Places
    last: Places
    confidence: Floats
    evidence: NDArray[np.str_]
    presence: Floats
    cues: Floats | None = None

    def in_seconds(
        self, videos: Sequence[str], seconds_per_interval: Sequence[float]
    ) -> tuple[Localisation, ...]:
        """Return one :class:`~howsteps.task.Localisation` per video and step, in seconds."""
        localisations = []
        for n, (video, seconds) in enumerate(zip(videos, seconds_per_interval, strict=True)):
            for k, interval in enumerate(self.intervals[n]):
                if interval < 0:
                    localisations.append(
                        Localisation(video, k, None, presence=float(self.presence[n, k]))
                    )
                    continue
                localisations.append(
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
        return tuple(localisations)


def locate(
    intervals: ArrayLike,
    scores: Sequence[ArrayLike],
    null: ArrayLike,
    windows: Sequence[ArrayLike] | None = None,
    *,
    alike: str = LIKE_SEEN,
) -> StepIntervals:
    """Add extent, confidence and evidence to placements.

    Parameters
    ----------
    intervals
        N×K, −1 where a step is absent.
    scores
        T_n×K per video, by a classifier that was not trained on that video.
    null
        Scores of null samples, of any shape (:mod:`howsteps.localise.null_scores`).
    windows
        T_n×K per video; a step whose window excludes some interval is named by the narration.
    alike
        The evidence of a step that scores higher than nine null samples in ten: *looks
        like the others* or *like what others say*, depending on the features.
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
    presence = (intervals >= 0).astype(np.float64)
    return StepIntervals(intervals, first, last, confidence, evidence, presence)


def extents(places: Places, scores: Floats) -> tuple[Places, Places]:
    """Return the first and last interval of every step of one video.

    The extent of a step is the run of intervals around its place whose score stays above half its
    height over the median of the video. Where two neighbours overlap, the border between them
    maximises the sum of the scores.
    """
    first, last = places.copy(), places.copy()
    for k in np.flatnonzero(places >= 0):
        score = scores[:, k]
        floor = float(np.median(score))
        height = score[places[k]] - floor
        low = np.flatnonzero(score < min(score[places[k]], floor + 0.5 * height))
        i = int(np.searchsorted(low, places[k]))
        first[k] = low[i - 1] + 1 if i > 0 else 0
        last[k] = low[i] - 1 if i < len(low) else len(score) - 1
    present = np.flatnonzero(places >= 0)
    for left, right in pairwise(present):
        if last[left] < first[right] and last[left] < places[right] and first[right] > places[left]:
            continue
        between = slice(places[left], places[right])
        # gain[j]: the left step has the intervals up to j, the right step the rest.
        gain = np.cumsum(scores[between, left] - scores[between, right])
        border = int(places[left] + np.argmax(gain))
        last[left] = min(last[left], border)
        first[right] = max(first[right], border + 1)
    return first, last
