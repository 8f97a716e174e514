"""Protocols by name, all for the same type of prediction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import HowstepsError
from howsteps.evaluate.frame_protocols import (
    frame_f1,
    kukleva,
    per_video,
    predicted_frames,
    true_frames,
)
from howsteps.evaluate.inputs import (
    Matching,
    Score,
    as_predictions,
    bootstrap_interval,
    in_truth,
)
from howsteps.evaluate.point_protocols import Variant, hit_table, known_steps_score
from howsteps.evaluate.script_protocols import (
    BY_TIME,
    JUDGED,
    by_time,
    judged,
    mention_times,
    script_score,
)
from howsteps.evaluate.statistics import find_order, sequences_of
from howsteps.task import Localisation, Rule, Script, Truth

LEADS = (2.0, 5.0, 10.0)  # seconds by which narrators name a step before they do it

Rules: TypeAlias = Mapping[str, Sequence[Rule]]
Localisations: TypeAlias = tuple[Localisation, ...]


class NotMeasured(HowstepsError):
    """A method cannot run on the data, or cannot be scored by a protocol; the message says why."""


class Bars(StrEnum):
    """What error bars are computed over: a bootstrap of videos, or the solver's roundings."""

    videos = "videos"
    roundings = "roundings"


@dataclass(frozen=True, slots=True)
class Prediction:
    """The prediction of a method for a task, with K_pred discovered ``steps``.

    There is at most one localisation for each video and step; none if the method does not localise.
    ``roundings`` (other solutions) and ``folds`` (F1 of each) are for the paper's error bars. A
    script is scored by ``mention_times``, the times at which each step is mentioned.
    ``known_steps``: step k is step k of the truth, because the method was given the list of steps.
    """

    steps: int
    localisations: Localisations = ()
    roundings: tuple[Localisations, ...] = ()
    folds: tuple[float, ...] = ()
    script: Script | None = None
    mention_times: Localisations = ()
    known_steps: bool = False

    @classmethod
    def of(cls, found: Any, truth: Truth) -> "Prediction":
        """Return what a method found as a prediction.

        ``found`` is a prediction, a result, a script, or localisations in a form of
        :mod:`howsteps.evaluate.inputs`.
        """
        if isinstance(found, Prediction):
            return found
        script = found if isinstance(found, Script) else getattr(found, "script", None)
        if script is None:
            localisations, steps = as_predictions(found, truth)
            return cls(steps, localisations)
        localisations = () if script is found else found.localisations
        times = tuple(mention_times(script))
        return cls(len(script.steps), localisations, script=script, mention_times=times)


@dataclass(frozen=True)
class Reference:
    """The truth that predictions are compared with, and options of the comparison.

    ``rules`` has for each true step the rules of the relations that name it, as people judged;
    ``seed`` is that of the bootstrap.
    """

    truth: Truth
    rules: Rules | None = None
    bars: Bars = Bars.videos
    seed: int = 0

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The true steps in the global order that agrees best with the videos."""
        return find_order(sequences_of(self.truth), len(self.truth.steps))


Protocol: TypeAlias = Callable[[Prediction, Reference], Score]
# The score of some videos, given by their indices, by the best or a given matching.
_Scorer: TypeAlias = Callable[[NDArray[np.int64], Matching | None], Score]


def _barred(
    scorer_of: Callable[[Prediction, Reference], _Scorer], *, roundings: bool = False
) -> Protocol:
    """Return a protocol with error bars, of a function that returns the scorer of a prediction.

    The bar is over a bootstrap of videos, with a fixed matching. If bars are over roundings, it is
    the paper's, from the worst to the best F1 of the folds, or of the prediction and the other
    solutions; it need not be symmetric. Protocols other than the paper's have none then.
    """

    def protocol(prediction: Prediction, reference: Reference) -> Score:
        scorer, truth = scorer_of(prediction, reference), reference.truth
        every = np.arange(len(truth.durations))
        score = scorer(every, None)
        if reference.bars == Bars.videos:
            low, high = bootstrap_interval(
                lambda videos: scorer(videos, score.matching).f1, len(every), seed=reference.seed
            )
            return replace(score, low=low, high=high)
        found = list(prediction.folds) if roundings else []
        if roundings and prediction.roundings and not found:
            others = (replace(prediction, localisations=each) for each in prediction.roundings)
            found = [scorer_of(other, reference)(every, None).f1 for other in others]
            found.append(score.f1)
        if not found:
            return replace(score, low=None, high=None)
        return replace(score, low=min(found), high=max(found))

    return protocol


def _paper(variant: Variant) -> Protocol:
    def scorer_of(prediction: Prediction, reference: Reference) -> _Scorer:
        found = _localisations(prediction, reference)
        table = hit_table(found, reference.truth, prediction.steps)
        return lambda videos, matching: table.of(videos).score(variant, matching)

    return _barred(scorer_of, roundings=True)


def _script(prediction: Prediction, reference: Reference) -> Score:
    if not prediction.mention_times:
        raise NotMeasured("without a script to compare")
    mentions = in_truth(prediction.mention_times, reference.truth)
    options = by_time(mentions, reference.truth, prediction.steps, leads=LEADS)
    return script_score(options, reference.order, BY_TIME)


def _script_judged(prediction: Prediction, reference: Reference) -> Score:
    if reference.rules is None:
        raise NotMeasured("no file of judged relations is given")
    if prediction.script is None:
        raise NotMeasured("has no words to judge" if prediction.mention_times else "has no script")
    options = judged(prediction.script.steps, reference.rules, reference.truth.steps)
    return script_score(options, reference.order, JUDGED)


def _crosstask(prediction: Prediction, reference: Reference) -> _Scorer:
    if not prediction.known_steps:
        raise NotMeasured("discovers steps, but this protocol needs known steps")
    truth = reference.truth
    localisations = in_truth(prediction.localisations, truth)
    table = hit_table(localisations, truth, len(truth.steps), whole_seconds=True)
    return lambda videos, _: known_steps_score(table.of(videos))


def _frames(score_frames: Callable[[Any, Any, int, Matching | None], Score]) -> Protocol:
    def scorer_of(prediction: Prediction, reference: Reference) -> _Scorer:
        localisations, truth = _localisations(prediction, reference), reference.truth
        if any(duration is None for duration in truth.durations.values()):
            raise NotMeasured("the length of the videos is not known")
        predicted = list(predicted_frames(localisations, truth).values())
        true = list(true_frames(truth).values())
        return lambda videos, matching: score_frames(
            [predicted[n] for n in videos], [true[n] for n in videos], prediction.steps, matching
        )

    return _barred(scorer_of)


PROTOCOLS: Mapping[str, Protocol] = {
    "paper-f1": _paper(Variant.paper),
    "paper-f1-made": _paper(Variant.made),
    "paper-f1-authors": _paper(Variant.authors),
    "script": _script,
    "script-judged": _script_judged,
    "kukleva": _frames(kukleva),
    "per-video": _frames(lambda p, t, *_: per_video(p, t, background=False)),
    "per-video-background": _frames(lambda p, t, *_: per_video(p, t, background=True)),
    "crosstask-recall": _barred(_crosstask),
    "frame-f1": _frames(lambda p, t, _, matching: frame_f1(p, t, matching)),
}
SCRIPT_PROTOCOLS = ("script", "script-judged")


def _localisations(prediction: Prediction, reference: Reference) -> Localisations:
    if not prediction.localisations:
        raise NotMeasured("localises no steps")
    return in_truth(prediction.localisations, reference.truth)
