"""The decision: place every step where it is most likely, with extent, certainty and evidence.

A step goes where it is most probably being done. The cues that are collected on the way give the
probability that it is in the video and that the place is correct
(:mod:`howsteps.localise.certainty`); a step that is probably not in the video is absent.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from howsteps.localise.certainty import CUES, estimate_certainty
from howsteps.localise.evidence import SegmentPrior, reading_middles
from howsteps.localise.features import Floats, Mask, Places
from howsteps.localise.self_training import FeatureKind
from howsteps.task import BETWEEN, LIKE_SAID, LIKELY, READ, SAID, Localisation

NEAR = 2.5  # seconds: a place is correct within this distance
EXTENT_SHARE = 0.1  # of the height of a probability: its flanks are flat where borders are unsure
NAMED_LOG_ODDS = 0.5  # least log-odds of the mentions at a place that counts as named
GUESS = LIKELY - 0.01  # the highest confidence of a guess
ALIKE_PEAK = 0.5  # least posterior of a place that counts as like those of other videos


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
        The probability that the place is correct (:func:`decide`); 0 where it was not assessed.
    evidence
        One of :data:`howsteps.task.EVIDENCE`; empty where the step is absent.
    presence
        The probability that the step is in the video.
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

    def in_seconds(self, videos: Sequence[str], seconds: float) -> tuple[Localisation, ...]:
        """Return one localisation per video and step; intervals last ``seconds``."""
        found = []
        for n, video in enumerate(videos):
            for k, interval in enumerate(self.intervals[n].tolist()):
                at = Localisation(video, k, None, presence=float(self.presence[n, k]))
                if interval >= 0:
                    at = replace(
                        at,
                        time=(interval + 0.5) * seconds,
                        start=float(self.first[n, k]) * seconds,
                        end=float(self.last[n, k] + 1) * seconds,
                        confidence=float(self.confidence[n, k]),
                        evidence=str(self.evidence[n, k]),
                    )
                found.append(at)
        return tuple(found)


def decide(
    prior: SegmentPrior,
    scores: Sequence[Floats],
    kind: FeatureKind,
    *,
    coarsening: int,
    lengths: Sequence[int],
    named: Mask | None = None,
    support: Floats | None = None,
    absent: bool = True,
) -> StepIntervals:
    """Place every step where it is most probably being done, with extent, certainty and evidence.

    Parameters
    ----------
    prior, scores
        What is known about the steps, and their scores, T×K per video, on the coarse grid.
    kind
        Of the features.
    coarsening
        Number of intervals of the fine grid in one of the coarse grid.
    lengths
        T_n on the fine grid, which the result is on.
    named
        N×K: the steps that the script's own mentions name. Others are near-mentions, and their
        evidence is *like what others say*. None: all are of the script.
    support
        N×K: share of the videos that name each step, where it is known.
    absent
        Leave out the steps that are probably not in a video.
    """
    shape = len(scores), prior.steps
    places, cues, doing = np.zeros(shape, np.int64), np.zeros((*shape, len(CUES))), []
    for n, (score, length) in enumerate(zip(scores, lengths, strict=True)):
        places[n], likely, cues[n] = _locate(prior, n, score, kind, coarsening, length)
        doing.append(likely)
    if support is not None:
        cues[:, :, CUES.index("support")] = support
    read = np.array([prior.read(n) is not None for n in range(len(scores))])
    said = cues[:, :, CUES.index("said")]
    kinds = [
        kind.evidence(said=bool(said[n].any()), read=bool(read[n])) for n in range(len(scores))
    ]
    certainty = estimate_certainty(cues, kinds)
    left_out = certainty.absent & absent
    places[left_out] = -1
    unsaid = np.False_ if support is None else support == 0  # nothing but the order speaks for it
    said_here = cues[:, :, CUES.index("said here")] >= NAMED_LOG_ODDS
    evidence = np.select(
        [
            left_out,
            unsaid,
            said_here & read[:, None],
            said_here & (np.True_ if named is None else named),
            said_here,
            cues[:, :, CUES.index("peak")] >= ALIKE_PEAK,
        ],
        ["", BETWEEN, READ, SAID, LIKE_SAID, kind.alike],
        BETWEEN,
    )
    highest = np.select([left_out, unsaid], [0.0, GUESS], 1.0)
    confidence = np.minimum(certainty.confidence, highest)
    first, last = places.copy(), places.copy()
    for n, length in enumerate(lengths):
        by_time = np.argsort(places[n], kind="stable")
        fine_doing = np.repeat(doing[n][:, by_time], coarsening, axis=0)[:length]
        first[n, by_time], last[n, by_time] = extents(places[n, by_time], fine_doing, EXTENT_SHARE)
    # The scores around a guess are nearly flat, and say nothing about its extent.
    radius = round(NEAR * coarsening / prior.seconds)
    longest = np.where(evidence == BETWEEN, radius, max(lengths))
    first, last = np.maximum(first, places - longest), np.minimum(last, places + longest)
    return StepIntervals(places, first, last, confidence, evidence, certainty.presence, cues)


def _locate(
    prior: SegmentPrior, video: int, score: Floats, kind: FeatureKind, coarsening: int, length: int
) -> tuple[Places, Floats, Floats]:
    """Return the places in one video, the probability of doing (T×K, coarse), and the cues (K×S).

    The support is not known here.
    """
    doing, presence = prior.located(video, score)
    places = doing.argmax(axis=0) * coarsening + coarsening // 2
    if (rows := prior.read(video)) is not None and not kind.seen:
        places, doing = _as_read(rows, places, doing, coarsening / prior.seconds, coarsening)
    places = np.minimum(places, length - 1)
    at, columns = places // coarsening, np.arange(prior.steps)
    log_odds = prior.log_odds(video)
    cues = {
        "said here": log_odds[at, columns],
        "said": log_odds.max(axis=0),
        "presence": np.clip(np.log(presence / (1.0 - presence)), -6.0, 6.0),
        "peak": doing[at, columns],
        "best score": score.max(axis=0),
        "support": np.full(prior.steps, np.nan),
    }
    return separate(places, length), doing, np.column_stack([cues[cue] for cue in CUES])


def _as_read(
    readings: Floats, places: Places, doing: Floats, rate: float, coarsening: int
) -> tuple[Places, Floats]:
    """Return places and probabilities of doing where a reading of the words is exact.

    A step is in the middle of the reading that is nearest to its place, and done throughout.
    """
    middles = (reading_middles(readings) * rate).astype(np.int64)
    steps = readings[:, 2].astype(np.int64)
    places, doing = places.copy(), doing.copy()
    nearest_last = np.argsort(-np.abs(middles - places[steps]), kind="stable")
    for (start, end, _), k, middle in zip(
        readings[nearest_last], steps[nearest_last], middles[nearest_last], strict=True
    ):
        places[k], doing[:, k] = middle, 0.0
        first, last = (int(second * rate / coarsening) for second in (start, end))
        doing[first : last + 1, k] = 1.0
    return places, doing


def extents(places: Places, scores: Floats, share: float = 0.5) -> tuple[Places, Places]:
    """Return the first and last interval of every step of one video.

    The extent of a step is the run of intervals around its place whose score stays above a share of
    its height over the median of the video. Where two neighbours overlap, the border between them
    maximises the sum of the scores.
    """
    first, last = places.copy(), places.copy()
    for k in np.flatnonzero(places >= 0):
        score = scores[:, k]
        floor = float(np.median(score))
        height = score[places[k]] - floor
        low = np.flatnonzero(score < min(score[places[k]], floor + share * height))
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


def separate(places: Places, length: int) -> Places:
    """Shift places so that no two steps share an interval; ``length`` is at least K.

    The order of the steps stays the same.
    """
    rank = np.arange(len(places))
    by_time = np.argsort(places, kind="stable")
    earliest = np.maximum.accumulate(places[by_time] - rank)
    separated = np.empty_like(places)
    separated[by_time] = np.minimum(earliest, length - len(places)) + rank
    return separated
