"""The decision: place every step where it is most likely, with extent, certainty and evidence.

A step goes where it is most probably being done. The cues that are collected on the way give the
probability that it is in the video and that the place is correct
(:mod:`howsteps.localise.certainty`); a step that is probably not in the video is absent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from howsteps.localise.certainty import CUES, estimate_certainty
from howsteps.localise.evidence import SegmentPrior, reading_middles
from howsteps.localise.features import Floats, Mask, Places
from howsteps.localise.self_training import KINDS, FeatureKind
from howsteps.task import BETWEEN, LIKE_SAID, READ, SAID, Localisation

NEAR = 2.5  # seconds: a place is correct within this distance
EXTENT_SHARE = 0.1  # of the height of a probability: its flanks are flat where borders are unsure
NAMED_LOG_ODDS = 0.5  # least log-odds of the mentions at a place that counts as named
# At a mention and at a reading, where there are no features.
USUAL_SAID_LOG_ODDS, USUAL_READ_LOG_ODDS = 4.0, 6.0
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
        In [0, 1]: the share of the null samples with a lower score (:func:`locate`), or in mode
        ``default`` the probability that the place is correct
        (:func:`decide`).
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


def decide(
    prior: SegmentPrior,
    scores: Sequence[Floats],
    kind: FeatureKind,
    *,
    coarsening: int,
    lengths: Sequence[int],
    support: Floats | None = None,
    of_script: SegmentPrior | None = None,
    narrated: Mask | None = None,
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
    support
        K, or N×K: share of the videos that name each step, where it is known.
    of_script
        The mentions of the script alone. Others are near-mentions, and their evidence is *like what
        others say*. None: all are of the script.
    narrated
        N: which videos have a narration. None: those that name some step.
    absent
        Leave out the steps that are probably not in a video.
    """
    n_videos, n_steps = len(scores), prior.steps
    places = np.full((n_videos, n_steps), -1)
    cues = np.full((n_videos, n_steps, len(CUES)), np.nan)
    by_mention = np.ones((n_videos, n_steps), np.bool_)
    rate, columns = coarsening / prior.seconds, np.arange(n_steps)
    radius = round(NEAR * rate)
    read = np.array([prior.read(n) is not None for n in range(n_videos)])
    named_at_all = np.zeros(n_videos, np.bool_)
    doing: list[Floats] = []
    for n, score in enumerate(scores):
        likely, presence = prior.located(n, score)
        fine = likely.argmax(axis=0) * coarsening + coarsening // 2
        if (rows := prior.read(n)) is not None and not kind.fitted:
            fine, likely = _as_read(rows, fine, likely, rate, coarsening)
        fine = np.minimum(fine, lengths[n] - 1)
        best, log_odds = fine // coarsening, prior.log_odds(n)
        places[n] = separate(fine, lengths[n])
        if of_script is not None:
            by_mention[n] = of_script.log_odds(n)[best, columns] >= NAMED_LOG_ODDS
        named_at_all[n] = log_odds.any()
        cues_by_name = {
            "said here": log_odds[best, columns],
            "said": log_odds.max(axis=0),
            "presence": np.clip(np.log(presence / (1.0 - presence)), -6.0, 6.0),
            "peak": likely[best, columns],
            "best score": score.max(axis=0),
        }
        if support is not None:
            cues_by_name["support"] = np.broadcast_to(support, places.shape)[n]
        for cue, values in cues_by_name.items():
            cues[n, :, CUES.index(cue)] = values
        doing.append(likely)
    narrated = named_at_all if narrated is None else narrated
    certainty = estimate_certainty(cues, kind.certainty_kinds, narrated, read)
    left_out = certainty.absent & absent
    named = cues[:, :, CUES.index("said here")] >= NAMED_LOG_ODDS
    alike = cues[:, :, CUES.index("peak")] >= ALIKE_PEAK
    evidence = np.select(
        [left_out, named & read[:, None], named & by_mention, named, alike],
        ["", READ, SAID, LIKE_SAID, kind.alike],
        BETWEEN,
    )
    places[left_out] = -1
    first, last = places.copy(), places.copy()
    for n, length in enumerate(lengths):
        by_time = np.argsort(places[n], kind="stable")
        fine_doing = np.repeat(doing[n][:, by_time], coarsening, axis=0)[:length]
        first[n, by_time], last[n, by_time] = extents(places[n, by_time], fine_doing, EXTENT_SHARE)
    # The scores around a guess are nearly flat, and say nothing about its extent.
    longest = np.where(evidence == BETWEEN, radius, max(lengths))
    first, last = np.maximum(first, places - longest), np.minimum(last, places + longest)
    confidence = np.where(left_out, 0.0, certainty.confidence)
    return StepIntervals(places, first, last, confidence, evidence, certainty.presence, cues)


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


def with_certainty(located: StepIntervals, read: Mask, *, absent: bool) -> StepIntervals:
    """Return steps that were placed by mentions, readings and order alone, with their certainty.

    ``read`` (N) are the videos that were read; ``absent`` leaves out the steps that are probably
    not in a video.
    """
    log_odds = [USUAL_SAID_LOG_ODDS, USUAL_READ_LOG_ODDS]
    cues = np.full((*located.evidence.shape, len(CUES)), np.nan)
    for cue in ("said here", "said"):
        cues[:, :, CUES.index(cue)] = np.select(
            [located.evidence == SAID, located.evidence == READ], log_odds, 0.0
        )
    certainty = estimate_certainty(cues, KINDS["words"].certainty_kinds, ~read, read)
    left_out = (located.intervals < 0) | (certainty.absent & absent)
    evidence = np.where(left_out, "", located.evidence)
    return StepIntervals(
        np.where(left_out, -1, located.intervals),
        np.where(left_out, -1, located.first),
        np.where(left_out, -1, located.last),
        np.where(left_out, 0.0, certainty.confidence),
        evidence,
        certainty.presence,
    )


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


def fixed_extents(
    places: Places, extent: ArrayLike, rate: float, length: int
) -> tuple[Places, Places]:
    """Return the first and last interval of every step of one video, of a fixed usual duration.

    Parameters
    ----------
    places
        K intervals in ascending order, −1 where a step is absent.
    extent
        Seconds before and after the place, of all steps or of each (2×K); shortened to halfway to
        the neighbouring steps.
    rate
        Intervals per second.
    length
        T.
    """
    first, last = places.copy(), places.copy()
    present = np.flatnonzero(places >= 0)
    at = places[present]
    between = (at[:-1] + at[1:]) // 2
    intervals = np.rint(np.multiply(extent, rate)).astype(np.int64)
    before, after = np.broadcast_to(intervals.reshape(2, -1), (2, len(places)))[:, present]
    first[present] = np.maximum(at - before, np.concatenate([[0], between + 1]))
    last[present] = np.minimum(at + after, np.concatenate([between, [length - 1]])[: len(at)])
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
