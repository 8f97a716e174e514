"""From evidence to places: where each step is, whether it is there, and what speaks for it.

A step goes where it is most likely, within 2.5 s. Signs of its presence and of the place
being right are collected on the way; :mod:`howsteps.localise.certainty` turns them into
probabilities, and a step that is probably not in the video is absent.
"""

from collections.abc import Sequence

import numpy as np

from howsteps.localise.certainty import SIGNS, certainty_of
from howsteps.localise.extents import StepIntervals, extents
from howsteps.localise.oracle import Floats, Mask, Places
from howsteps.localise.order_marginals import marginals
from howsteps.localise.self_training import GAP, LEARNING, Learning, evidence
from howsteps.task import BETWEEN, LIKE_SAID, SAID

NEAR = 2.5  # seconds around a place that count as the place
HERE = 0.5  # log-odds: a place that mentions speak for by less is not where they say
ALIKE = 0.5  # a place is like those of other videos if it is likelier than all others together


def decide(
    scores: Sequence[Floats],
    log_odds: Sequence[Floats],
    how: Learning,
    *,
    seconds: float,
    grid: int,
    lengths: Sequence[int],
    usual: Sequence[Floats] | None = None,
    support: Floats | None = None,
    mentioned: Sequence[Mask] | None = None,
    absent: bool = True,
) -> StepIntervals:
    """Put every step where it is most likely; extent, certainty and evidence beside it.

    Parameters
    ----------
    scores, log_odds
        T×K a video, on the coarse grid: what is seen, and what is said (zero where it is not).
    how
        What the scores were learnt with.
    seconds
        How long an interval of the coarse grid lasts.
    grid
        How many intervals of the fine grid it holds.
    lengths
        T_n of the fine grid, which the answer is on.
    usual
        T×K a video: log-density of where each step usually is; even when None.
    support
        K: the share of the videos that name each step, where it is known.
    mentioned
        T×K a video: where a mention of the script names each step. What is said elsewhere is an
        echo: like what others say, but no mention. None: everything said is a mention.
    absent
        Leave out the steps that are probably not in a video.
    """
    count, steps = len(scores), scores[0].shape[1]
    places = np.full((count, steps), -1)
    signs = np.full((count, steps, len(SIGNS)), np.nan)
    by_mention = np.ones((count, steps), np.bool_)
    reach, columns = round(NEAR / seconds), np.arange(steps)
    for n, found in enumerate(evidence(scores, log_odds, usual)):
        score, said = scores[n], log_odds[n]
        likely, there = marginals(found, round(GAP / seconds), how.order)
        near = around(likely, reach)
        # The nearer the more it counts: a triangle of 2.5 s on either side.
        nearby = np.sum([around(likely, r) for r in range(reach + 1)], axis=0)
        coarse = nearby.argmax(axis=0)
        places[n] = apart(np.minimum(coarse * grid + grid // 2, lengths[n] - 1), lengths[n])
        if mentioned is not None:
            by_mention[n] = mentioned[n][coarse, columns]
        of_sign = {
            "said here": said[coarse, columns],
            "said": said.max(axis=0),
            "presence": np.clip(np.log(there / (1.0 - there)), -6.0, 6.0),
            "peak": near[coarse, columns],
            "score": score[coarse, columns],
            "best score": score.max(axis=0),
            "company": np.full(steps, there.mean()),
        }
        if support is not None:
            of_sign["support"] = support
        for sign, values in of_sign.items():
            signs[n, :, SIGNS.index(sign)] = values
    named = np.array([said.any() for said in log_odds])
    sure = certainty_of(signs, how.kinds, named)
    gone = sure.absent & absent
    here = signs[:, :, SIGNS.index("said here")] >= HERE
    alike = signs[:, :, SIGNS.index("peak")] >= ALIKE
    kinds = np.select(
        [gone, here & by_mention, here, alike], ["", SAID, LIKE_SAID, how.alike], BETWEEN
    )
    places[gone] = -1
    first, last = places.copy(), places.copy()
    for n, length in enumerate(lengths):
        in_time = np.argsort(places[n], kind="stable")
        if how.extent is None:
            fine = np.repeat(scores[n][:, in_time], grid, axis=0)[:length]
            first[n, in_time], last[n, in_time] = extents(places[n, in_time], fine)
        else:
            ends = usual_extents(places[n, in_time], how.extent, grid / seconds, length)
            first[n, in_time], last[n, in_time] = ends
    # The score of a guess hardly rises above that of the whole video, and says nothing of its ends.
    most = np.where(kinds == BETWEEN, reach * grid, max(lengths))
    if how.extent is None:
        first, last = np.maximum(first, places - most), np.minimum(last, places + most)
    confidence = np.where(gone, 0.0, sure.confidence)
    return StepIntervals(places, first, last, confidence, kinds, sure.presence, signs)


def certain_by_mentions(located: StepIntervals, *, absent: bool) -> StepIntervals:
    """Places by mentions and the order alone, with the certainty that such have."""
    how = LEARNING["words"]
    named = located.evidence == SAID
    signs = np.full((*named.shape, len(SIGNS)), np.nan)
    for sign in ("said here", "said"):
        signs[:, :, SIGNS.index(sign)] = np.where(named, how.log_prior, 0.0)
    sure = certainty_of(signs, how.kinds, np.ones(len(named), np.bool_))
    gone = (located.intervals < 0) | (sure.absent & absent)
    return StepIntervals(
        np.where(gone, -1, located.intervals),
        np.where(gone, -1, located.first),
        np.where(gone, -1, located.last),
        np.where(gone, 0.0, sure.confidence),
        np.where(gone, "", located.evidence),
        sure.presence,
    )


def usual_extents(
    places: Places, extent: tuple[float, float], rate: float, length: int
) -> tuple[Places, Places]:
    """First and last interval of every step of one video, in the order of time.

    Parameters
    ----------
    places
        K, −1 where a step is absent.
    extent
        Seconds that a step reaches before and after its place, if its neighbours leave room.
    rate
        Intervals a second.
    length
        T.
    """
    first, last = places.copy(), places.copy()
    there = np.flatnonzero(places >= 0)
    at = places[there]
    between = (at[:-1] + at[1:]) // 2
    first[there] = np.maximum(at - round(extent[0] * rate), np.concatenate([[0], between + 1]))
    last[there] = np.minimum(
        at + round(extent[1] * rate), np.concatenate([between, [length - 1]])[: len(at)]
    )
    return first, last


def around(likely: Floats, reach: int) -> Floats:
    """Sum of each column over the rows within ``reach`` of every row."""
    total = np.vstack([np.zeros((1, likely.shape[1])), np.cumsum(likely, axis=0)])
    at = np.arange(len(likely))
    near: Floats = total[np.minimum(at + reach + 1, len(at))] - total[np.maximum(at - reach, 0)]
    return near


def apart(places: Places, length: int) -> Places:
    """Places that no two steps share, in the order they had; ``length`` is at least K."""
    rank = np.arange(len(places))
    in_time = np.argsort(places, kind="stable")
    free = np.maximum.accumulate(places[in_time] - rank)
    out = np.empty_like(places)
    out[in_time] = np.minimum(free, length - len(places)) + rank
    return out
