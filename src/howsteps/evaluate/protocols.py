"""Every protocol by its name, on one kind of prediction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import HowstepsError
from howsteps.evaluate import cooccurrence, judgement
from howsteps.evaluate.bootstrap import over_videos
from howsteps.evaluate.crosstask_recall import crosstask_recall
from howsteps.evaluate.frame_f1 import frame_f1
from howsteps.evaluate.frames import Labels, label_frames, true_frames
from howsteps.evaluate.kukleva import kukleva
from howsteps.evaluate.matching import Matching
from howsteps.evaluate.order import find_order
from howsteps.evaluate.paper_f1 import Variant, hit_table, paper_f1, paper_f1_with_bar
from howsteps.evaluate.per_video import per_video
from howsteps.evaluate.score import Score
from howsteps.evaluate.script import script_score
from howsteps.task import Annotation, Localisation, Rule, Script, Truth

LEAD = 2.0  # seconds: narrators name a step shortly before they do it
FRAME_RATE = 3.0  # labels a second, for the protocols that compare frames

Judgement: TypeAlias = Mapping[str, Sequence[Rule]]
Places: TypeAlias = tuple[Localisation, ...]


class NotMeasured(HowstepsError):
    """A method cannot run on the data, or a protocol not on the method; the message says why."""


class Bars(StrEnum):
    """What an error bar goes over: a bootstrap of videos, or the solver's roundings (paper)."""

    videos = "videos"
    roundings = "roundings"


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a method says of a task.

    Attributes
    ----------
    steps
        K_pred: how many steps it found.
    places
        At most one for each video and step; empty where it does not place steps.
    later, folds
        The places of other solutions, or the F1 of each fold: what the paper's error bars go over.
    script
        The steps in order, where the method has a script of its own.
    named
        When each step is mentioned, for a script that is scored by time.
    known
        Whether step k is step k of the truth: the method was told the steps.
    """

    steps: int
    places: Places = ()
    later: tuple[Places, ...] = ()
    folds: tuple[float, ...] = ()
    script: Script | None = None
    named: Places = ()
    known: bool = False


@dataclass(frozen=True, slots=True)
class Judge:
    """What predictions are held against, and how.

    ``order`` are the true steps in the order of the job; ``rules`` say which relations name which
    step, where people judged that.
    """

    truth: Truth
    order: tuple[int, ...]
    rules: Judgement | None = None
    bars: Bars = Bars.videos
    seed: int = 0


def judge(
    truth: Truth, rules: Judgement | None = None, *, bars: Bars = Bars.videos, seed: int = 0
) -> Judge:
    """Make ready to judge: the order of the job is the one that agrees best with its videos."""
    sequences = [[a.step for a in found] for found in truth.by_video.values()]
    return Judge(truth, find_order(sequences, len(truth.steps)).steps, rules, bars, seed)


def measure(protocol: str, prediction: Prediction, by: Judge) -> Score:
    """Score a prediction by the protocol of this name.

    Raises
    ------
    NotMeasured
        The prediction or the truth has not what the protocol needs.
    """
    return PROTOCOLS[protocol](prediction, by)


def _paper(variant: Variant) -> "Protocol":
    def protocol(prediction: Prediction, by: Judge) -> Score:
        _need_places(prediction)
        chosen = hit_table(prediction.places, by.truth, prediction.steps)
        if by.bars == Bars.roundings and prediction.folds:
            worst, best = min(prediction.folds), max(prediction.folds)
            return replace(paper_f1(chosen, variant), low=worst, high=best)
        if by.bars == Bars.roundings and prediction.later:
            others = [hit_table(later, by.truth, prediction.steps) for later in prediction.later]
            return paper_f1_with_bar(chosen, others, variant)
        return _with_bar(
            paper_f1(chosen, variant),
            lambda score, videos: paper_f1(chosen.of(videos), variant, score.matching),
            by,
        )

    return protocol


def _script(prediction: Prediction, by: Judge) -> Score:
    if not prediction.named:
        raise NotMeasured("has no script of its own")
    options = cooccurrence.by_time(prediction.named, by.truth, prediction.steps, lead=LEAD)
    return script_score(options, by.order, cooccurrence.NOTE)


def _script_judged(prediction: Prediction, by: Judge) -> Score:
    if by.rules is None:
        raise NotMeasured("no file of judged relations is given")
    if prediction.script is None:
        raise NotMeasured("has no words to judge" if prediction.named else "has no script")
    options = judgement.judged(prediction.script.steps, by.rules, by.truth.steps)
    return script_score(options, by.order, judgement.NOTE)


def _crosstask(prediction: Prediction, by: Judge) -> Score:
    if not prediction.known:
        raise NotMeasured("discovers steps, and this protocol is for steps that are known")
    names = list(by.truth.durations)

    def again(_: Score, videos: NDArray[np.int64]) -> Score:
        return crosstask_recall(*_copied(prediction.places, by.truth, [names[n] for n in videos]))

    return _with_bar(crosstask_recall(prediction.places, by.truth), again, by)


def _frames(scored: "_OnFrames") -> "Protocol":
    def protocol(prediction: Prediction, by: Judge) -> Score:
        _need_places(prediction)
        true = true_frames(by.truth, FRAME_RATE)
        if len(true) < len(by.truth.durations):
            raise NotMeasured("the length of the videos is not known")
        stretches = extended(prediction.places, by.truth.durations)
        ours = [label_frames(stretches[v], len(row), FRAME_RATE) for v, row in true.items()]
        theirs = list(true.values())

        def again(score: Score, videos: NDArray[np.int64]) -> Score:
            chosen = [ours[n] for n in videos], [theirs[n] for n in videos]
            return scored(*chosen, prediction.steps, score.matching)

        return _with_bar(scored(ours, theirs, prediction.steps, None), again, by)

    return protocol


Protocol: TypeAlias = Callable[[Prediction, Judge], Score]
_OnFrames: TypeAlias = Callable[[list[Labels], list[Labels], int, Matching | None], Score]

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


def extended(
    places: Sequence[Localisation], lengths: Mapping[str, float | None]
) -> dict[str, list[Localisation]]:
    """Places with an extent, by video: one without reaches halfway to its neighbours."""
    videos: dict[str, list[Localisation]] = {video: [] for video in lengths}
    for found in places:
        if found.video in videos and found.time is not None:
            videos[found.video].append(found)
    return {video: _halfway(found, lengths[video] or 0.0) for video, found in videos.items()}


def _halfway(places: Sequence[Localisation], length: float) -> list[Localisation]:
    ordered = sorted(places, key=lambda p: p.time or 0.0)
    times = [p.time or 0.0 for p in ordered]
    borders = [0.0, *((a + b) / 2 for a, b in pairwise(times)), length]
    return [
        p if p.start is not None else replace(p, start=borders[n], end=borders[n + 1])
        for n, p in enumerate(ordered)
    ]


def _need_places(prediction: Prediction) -> None:
    if not prediction.places:
        raise NotMeasured("places no steps")


def _with_bar(score: Score, again: Callable[[Score, NDArray[np.int64]], Score], by: Judge) -> Score:
    """Put a bootstrap of videos to a score; the matching of all videos is kept in each draw.

    Where bars over roundings are asked for, a score that has none of its own stays without.
    """
    if by.bars == Bars.roundings:
        return replace(score, low=None, high=None)
    videos = len(by.truth.durations)
    low, high = over_videos(lambda chosen: again(score, chosen).f1, videos, seed=by.seed)
    return replace(score, low=low, high=high)


def _copied(
    places: Sequence[Localisation], truth: Truth, videos: Sequence[str]
) -> tuple[list[Localisation], Truth]:
    """Predictions and truth of videos that may stand in the list several times."""
    annotated = truth.by_video
    placed: dict[str, list[Localisation]] = {video: [] for video in truth.durations}
    for p in places:
        if p.video in placed:
            placed[p.video].append(p)
    found: list[Localisation] = []
    annotations: list[Annotation] = []
    durations: dict[str, float | None] = {}
    for n, video in enumerate(videos):
        copy = f"{n} {video}"
        durations[copy] = truth.durations[video]
        found += (replace(p, video=copy) for p in placed[video])
        annotations += (replace(a, video=copy) for a in annotated[video])
    return found, replace(truth, annotations=tuple(annotations), durations=durations)
