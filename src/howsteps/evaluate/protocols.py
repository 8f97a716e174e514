"""Every protocol by its name, on one kind of prediction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import HowstepsError
from howsteps.evaluate.bootstrap import over_videos
from howsteps.evaluate.frame_protocols import (
    frame_f1,
    kukleva,
    per_video,
    predicted_frames,
    true_frames,
)
from howsteps.evaluate.inputs import in_truth
from howsteps.evaluate.order import find_order
from howsteps.evaluate.point_protocols import Variant, crosstask_recall, hit_table, paper_f1
from howsteps.evaluate.score import Matching, Score
from howsteps.evaluate.script_protocols import BY_TIME, JUDGED, by_time, judged, script_score
from howsteps.task import Annotation, Localisation, Rule, Script, Truth

SCRIPT_LEAD = 2.0  # seconds: narrators name a step shortly before they do it

Rules: TypeAlias = Mapping[str, Sequence[Rule]]
Localisations: TypeAlias = tuple[Localisation, ...]


class NotMeasured(HowstepsError):
    """A method cannot run on the data, or a protocol not on the method; the message says why."""


class Bars(StrEnum):
    """What an error bar goes over: a bootstrap of videos, or the solver's roundings (paper)."""

    videos = "videos"
    roundings = "roundings"


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a method predicts for a task.

    Attributes
    ----------
    steps
        K_pred: how many steps it found.
    localisations
        At most one for each video and step; empty where the method does not localise. Videos that
        are not in the truth are left out when it is scored.
    roundings, folds
        The localisations of other solutions, or the F1 of each fold: what the paper's error bars go
        over.
    script
        The steps in order, where the method has a script of its own.
    mention_times
        When each step is mentioned, for a script that is scored by time.
    known_steps
        Whether step k is step k of the truth, because the method was given the list of steps.
    """

    steps: int
    localisations: Localisations = ()
    roundings: tuple[Localisations, ...] = ()
    folds: tuple[float, ...] = ()
    script: Script | None = None
    mention_times: Localisations = ()
    known_steps: bool = False


@dataclass(frozen=True, slots=True)
class Reference:
    """What predictions are compared with, and how.

    ``order`` are the true steps in the order of the job. ``rules`` say which relations name which
    step, where people judged that.
    """

    truth: Truth
    order: tuple[int, ...]
    rules: Rules | None = None
    bars: Bars = Bars.videos
    seed: int = 0


def reference(
    truth: Truth, rules: Rules | None = None, *, bars: Bars = Bars.videos, seed: int = 0
) -> Reference:
    """A reference whose order of the job is the one that agrees best with the videos."""
    sequences = [[a.step for a in found] for found in truth.by_video.values()]
    return Reference(truth, find_order(sequences, len(truth.steps)).steps, rules, bars, seed)


def measure(protocol: str, prediction: Prediction, against: Reference) -> Score:
    """Score a prediction by the protocol of this name.

    Raises
    ------
    NotMeasured
        The prediction or the truth lacks something that the protocol needs.
    """
    return PROTOCOLS[protocol](prediction, against)


def _paper(variant: Variant) -> "Protocol":
    def protocol(prediction: Prediction, against: Reference) -> Score:
        found, truth = _localisations(prediction, against), against.truth
        if against.bars == Bars.roundings:
            others = [in_truth(rounding, truth) for rounding in prediction.roundings]
            score = paper_f1(
                found, truth, steps=prediction.steps, variant=variant, roundings=others
            )
            if prediction.folds:
                return replace(score, low=min(prediction.folds), high=max(prediction.folds))
            return score
        table = hit_table(found, truth, prediction.steps)
        return _with_bar(
            table.score(variant),
            lambda score, videos: table.of(videos).score(variant, score.matching),
            against,
        )

    return protocol


def _script(prediction: Prediction, against: Reference) -> Score:
    if not prediction.mention_times:
        raise NotMeasured("has no script of its own")
    events = in_truth(prediction.mention_times, against.truth)
    options = by_time(events, against.truth, prediction.steps, lead=SCRIPT_LEAD)
    return script_score(options, against.order, BY_TIME)


def _script_judged(prediction: Prediction, against: Reference) -> Score:
    if against.rules is None:
        raise NotMeasured("no file of judged relations is given")
    if prediction.script is None:
        raise NotMeasured("has no words to judge" if prediction.mention_times else "has no script")
    options = judged(prediction.script.steps, against.rules, against.truth.steps)
    return script_score(options, against.order, JUDGED)


def _crosstask(prediction: Prediction, against: Reference) -> Score:
    if not prediction.known_steps:
        raise NotMeasured("discovers steps, and this protocol is for known steps")
    truth = against.truth
    found, names = in_truth(prediction.localisations, truth), list(truth.durations)

    def resampled(_: Score, videos: NDArray[np.int64]) -> Score:
        return crosstask_recall(*_copied(found, truth, [names[n] for n in videos]))

    return _with_bar(crosstask_recall(found, truth), resampled, against)


def _frames(scored: "_OnFrames") -> "Protocol":
    def protocol(prediction: Prediction, against: Reference) -> Score:
        found, truth = _localisations(prediction, against), against.truth
        if any(duration is None for duration in truth.durations.values()):
            raise NotMeasured("the length of the videos is not known")
        ours = list(predicted_frames(found, truth).values())
        theirs = list(true_frames(truth).values())

        def resampled(score: Score, videos: NDArray[np.int64]) -> Score:
            chosen = [ours[n] for n in videos], [theirs[n] for n in videos]
            return scored(*chosen, prediction.steps, score.matching)

        return _with_bar(scored(ours, theirs, prediction.steps, None), resampled, against)

    return protocol


Protocol: TypeAlias = Callable[[Prediction, Reference], Score]
_OnFrames: TypeAlias = Callable[[Any, Any, int, Matching | None], Score]

PROTOCOLS: Mapping[str, Protocol] = {
    "paper-f1": _paper(Variant.paper),
    "paper-f1-made": _paper(Variant.made),
    "paper-f1-authors": _paper(Variant.authors),
    "script": _script,
    "script-judged": _script_judged,
    "kukleva": _frames(kukleva),
    "per-video": _frames(lambda p, t, *_: per_video(p, t, background=False)),
    "per-video-background": _frames(lambda p, t, *_: per_video(p, t, background=True)),
    "crosstask-recall": _crosstask,
    "frame-f1": _frames(lambda p, t, _, matching: frame_f1(p, t, matching)),
}
SCRIPT_PROTOCOLS = ("script", "script-judged")


def _localisations(prediction: Prediction, against: Reference) -> Localisations:
    if not prediction.localisations:
        raise NotMeasured("localises no steps")
    return in_truth(prediction.localisations, against.truth)


def _with_bar(
    score: Score, resampled: Callable[[Score, NDArray[np.int64]], Score], against: Reference
) -> Score:
    """Add a bootstrap of videos to a score; the matching of all videos is kept in each resample.

    Where bars over roundings are asked for, a score that has none of its own stays without.
    """
    if against.bars == Bars.roundings:
        return replace(score, low=None, high=None)
    videos = len(against.truth.durations)
    low, high = over_videos(lambda chosen: resampled(score, chosen).f1, videos, seed=against.seed)
    return replace(score, low=low, high=high)


def _copied(
    localisations: Sequence[Localisation], truth: Truth, videos: Sequence[str]
) -> tuple[list[Localisation], Truth]:
    """Predictions and truth of videos that may be in the list several times."""
    annotated = truth.by_video
    predicted: dict[str, list[Localisation]] = {video: [] for video in truth.durations}
    for p in localisations:
        predicted[p.video].append(p)
    found: list[Localisation] = []
    annotations: list[Annotation] = []
    durations: dict[str, float | None] = {}
    for n, video in enumerate(videos):
        copy = f"{n} {video}"
        durations[copy] = truth.durations[video]
        found += (replace(p, video=copy) for p in predicted[video])
        annotations += (replace(a, video=copy) for a in annotated[video])
    return found, replace(truth, annotations=tuple(annotations), durations=durations)
