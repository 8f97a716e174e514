"""The decision: place every step where it is most likely, with extent, certainty and evidence.

By words, a step goes where its posterior probability within 2.5 s is highest; by video, where it is
most probably being done. The cues that are collected on
the way give the probability that it is in the video and that the place is correct
(:mod:`howsteps.localise.certainty`); a step that is probably not in the video is absent.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from howsteps.localise.certainty import CUES, estimate_certainty, unsure
from howsteps.localise.features import Floats, Mask, Places
from howsteps.localise.order import Marginals
from howsteps.localise.self_training import LEARNING_OPTIONS, LearningOptions
from howsteps.localise.word_evidence import reading_middles
from howsteps.task import BETWEEN, LIKE_SAID, READ, SAID, Localisation

NEAR = 2.5  # seconds: a place is correct within this distance
EXTENT_SHARE = 0.1  # of the height of a probability: its flanks are flat where borders are unsure
NAMED_LOG_ODDS = 0.5  # least log-odds of the mentions at a place that counts as named
USUAL_READ_LOG_ODDS = 6.0  # of a reading, where there are no features
ALIKE_PEAK = 0.5  # least posterior near a place that counts as like those of other videos


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
    located: Iterable[Marginals],
    scores: Sequence[Floats],
    log_odds: Sequence[Floats],
    options: LearningOptions,
    *,
    seconds: float,
    coarsening: int,
    lengths: Sequence[int],
    support: Floats | None = None,
    mentioned: Sequence[Mask] | None = None,
    narrated: Mask | None = None,
    readings: Sequence[Floats | None] | None = None,
    absent: bool = True,
) -> StepIntervals:
    """Place every step where it is most likely, with extent, certainty and evidence.

    Parameters
    ----------
    located
        Where each step is, for each video (:func:`howsteps.localise.self_training.locate`).
    scores, log_odds
        T×K per video, on the coarse grid: classifier scores, and the log-odds of the mentions (zero
        where nothing is said).
    options
        The options that the scores were learnt with.
    seconds
        Duration of an interval of the coarse grid.
    coarsening
        Number of intervals of the fine grid in one of the coarse grid.
    lengths
        T_n on the fine grid, which the result is on.
    support
        K, or N×K: share of the videos that name each step, where it is known.
    mentioned
        T×K per video: where a mention of the script names each step. Other log-odds come from
        near-mentions, and their evidence is *like what others say*. None: all are of the script.
    narrated
        N: which videos have a narration. None: those that name some step.
    readings
        S×3 per video that was read: start and end in seconds, and the step; its log-odds are those
        of the readings. None: no video was read.
    absent
        Leave out the steps that are probably not in a video.
    """
    n_videos, n_steps = len(scores), scores[0].shape[1]
    places = np.full((n_videos, n_steps), -1)
    cues = np.full((n_videos, n_steps, len(CUES)), np.nan)
    by_mention = np.ones((n_videos, n_steps), np.bool_)
    radius, columns, rate = round(NEAR / seconds), np.arange(n_steps), coarsening / seconds
    readings = readings or [None] * n_videos
    read = np.array([rows is not None for rows in readings])
    likely: list[Floats] = []  # T×K per video: a place at t is right
    for n, (posterior, presence) in enumerate(located):
        best, right = _most_likely(posterior, radius, segments=options.window is None)
        likely.append(right)
        fine = np.minimum(best * coarsening + coarsening // 2, lengths[n] - 1)
        if (rows := readings[n]) is not None and options.extent is not None:
            # Words were read exactly: the middle of a reading, not of a coarse interval.
            step, middle = rows[:, 2].astype(np.int64), (reading_middles(rows) * rate).astype(int)
            exact = np.abs(middle - fine[step]) <= radius * coarsening
            fine[step[exact]] = np.minimum(middle[exact], lengths[n] - 1)
        places[n] = separate(fine, lengths[n])
        if mentioned is not None:
            by_mention[n] = mentioned[n][best, columns]
        cues_by_name = {
            "said here": log_odds[n][best, columns],
            "said": log_odds[n].max(axis=0),
            "presence": np.clip(np.log(presence / (1.0 - presence)), -6.0, 6.0),
            "peak": likely[n][best, columns],
            "score": scores[n][best, columns],
            "best score": scores[n].max(axis=0),
            "company": np.full(n_steps, presence.mean()),
        }
        if support is not None:
            cues_by_name["support"] = np.broadcast_to(support, places.shape)[n]
        for cue, values in cues_by_name.items():
            cues[n, :, CUES.index(cue)] = values
    if narrated is None:
        narrated = np.array([odds.any() for odds in log_odds])
    certainty = estimate_certainty(cues, options.certainty_kinds, narrated, read)
    left_out = certainty.absent & absent
    named = cues[:, :, CUES.index("said here")] >= NAMED_LOG_ODDS
    alike = cues[:, :, CUES.index("peak")] >= ALIKE_PEAK
    kinds = np.select(
        [left_out, named & read[:, None], named & by_mention, named, alike],
        ["", READ, SAID, LIKE_SAID, options.alike],
        BETWEEN,
    )
    places[left_out] = -1
    first, last = places.copy(), places.copy()
    for n, length in enumerate(lengths):
        by_time = np.argsort(places[n], kind="stable")
        if options.extent is None:
            fine = np.repeat(likely[n][:, by_time], coarsening, axis=0)[:length]
            ends = extents(places[n, by_time], fine, EXTENT_SHARE)
        else:
            extent = np.tile(options.extent, (n_steps, 1))
            if (rows := readings[n]) is not None:
                extent = _read_extents(places[n] / rate, rows, extent)
            ends = fixed_extents(places[n, by_time], extent[by_time].T, rate, length)
        first[n, by_time], last[n, by_time] = ends
    if options.extent is None:
        # The scores around a guess are nearly flat, and say nothing about its extent.
        longest = np.where(kinds == BETWEEN, radius * coarsening, max(lengths))
        first, last = np.maximum(first, places - longest), np.minimum(last, places + longest)
    confidence = _stated(certainty.confidence, kinds)
    return StepIntervals(places, first, last, confidence, kinds, certainty.presence, cues)


def _most_likely(posterior: Floats, radius: int, *, segments: bool) -> tuple[Places, Floats]:
    """Return the best place of each step (K), and the probability that a place is right (T×K)."""
    if segments:
        return posterior.argmax(axis=0), posterior
    # A triangular kernel, as a sum of boxes.
    smoothed = np.sum([moving_sum(posterior, r) for r in range(radius + 1)], axis=0)
    return smoothed.argmax(axis=0), moving_sum(posterior, radius)


def with_certainty(located: StepIntervals, read: Mask, *, absent: bool) -> StepIntervals:
    """Return steps that were placed by mentions, readings and order alone, with their certainty.

    ``read`` (N) are the videos that were read; ``absent`` leaves out the steps that are probably
    not in a video.
    """
    options = LEARNING_OPTIONS["words"]
    log_odds = [options.log_prior, USUAL_READ_LOG_ODDS]
    cues = np.full((*located.evidence.shape, len(CUES)), np.nan)
    for cue in ("said here", "said"):
        cues[:, :, CUES.index(cue)] = np.select(
            [located.evidence == SAID, located.evidence == READ], log_odds, 0.0
        )
    certainty = estimate_certainty(cues, options.certainty_kinds, ~read, read)
    left_out = (located.intervals < 0) | (certainty.absent & absent)
    evidence = np.where(left_out, "", located.evidence)
    return StepIntervals(
        np.where(left_out, -1, located.intervals),
        np.where(left_out, -1, located.first),
        np.where(left_out, -1, located.last),
        _stated(certainty.confidence, evidence),
        evidence,
        certainty.presence,
    )


def _stated(confidence: Floats, evidence: NDArray[np.str_]) -> Floats:
    """Return the confidence of every place: 0 without one, never *sure* by the order alone."""
    by_evidence = np.where(evidence == BETWEEN, unsure(confidence), confidence)
    return np.where(evidence == "", 0.0, by_evidence)


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


def _read_extents(times: Floats, readings: Floats, usual: Floats) -> Floats:
    """Return seconds before and after each place, K×2: those of the reading that it is in.

    ``times`` (K) are in seconds; ``usual`` (K×2) is for steps that are in none.
    """
    extent = usual.copy()
    for start, end, step in readings:
        k = int(step)
        if start <= times[k] + 0.5 and times[k] - 0.5 <= end:
            extent[k] = max(times[k] - start, 0.0), max(end - times[k], 0.0)
    return extent


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


def moving_sum(values: Floats, radius: int) -> Floats:
    """Return the sum of each column over the rows within ``radius`` of every row."""
    total = np.vstack([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
    row = np.arange(len(values))
    sums: Floats = (
        total[np.minimum(row + radius + 1, len(row))] - total[np.maximum(row - radius, 0)]
    )
    return sums


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
