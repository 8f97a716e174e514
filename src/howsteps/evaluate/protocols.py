"""Protocols by name, all for the same type of prediction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

from howsteps.errors import HowstepsError
from howsteps.evaluate.frame_protocols import (
    frame_f1,
    kukleva,
    per_video,
    predicted_frames,
    true_frames,
)
from howsteps.evaluate.inputs import Score, as_predictions, in_truth
from howsteps.evaluate.point_protocols import Variant, crosstask_recall, paper_f1
from howsteps.evaluate.script_protocols import by_time, judged, script_score
from howsteps.evaluate.statistics import find_order, sequences_of
from howsteps.task import Localisation, Rule, Script, Truth

LEADS = (2.0, 5.0, 10.0)  # seconds by which narrators name a step before they do it

Rules: TypeAlias = Mapping[str, Sequence[Rule]]
Localisations: TypeAlias = tuple[Localisation, ...]


@dataclass(frozen=True, slots=True)
class Prediction:
    """The prediction of a method for a task, with K_pred discovered ``steps``.

    There is at most one localisation for each video and step; none if the method does not localise.
    ``roundings`` are other solutions, for the paper's error bars. ``known_steps``: step k is step k
    of the truth, because the method was given the list of steps.
    """

    steps: int
    localisations: Localisations = ()
    roundings: tuple[Localisations, ...] = ()
    script: Script | None = None
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
        return cls(len(script.steps), localisations, script=script)

    def localised(self, truth: Truth) -> Localisations:
        """Return the localisations in the videos of the truth."""
        if not self.localisations:
            raise HowstepsError("localises no steps")
        return in_truth(self.localisations, truth)


@dataclass(frozen=True)
class Reference:
    """The truth that predictions are compared with.

    ``rules`` has for each true step the rules of the relations that name it, as people judged.
    """

    truth: Truth
    rules: Rules | None = None

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The true steps in the global order that agrees best with the videos."""
        return find_order(sequences_of(self.truth), len(self.truth.steps))


Protocol: TypeAlias = Callable[[Prediction, Reference], Score]


def _paper(variant: Variant) -> Protocol:
    """Return a variant of the paper's protocol.

    Its error bar, as in the paper, is from the worst to the best of all solutions that the method
    visited; it need not be symmetric.
    """

    def protocol(prediction: Prediction, reference: Reference) -> Score:
        truth, steps = reference.truth, prediction.steps
        score = paper_f1(prediction.localised(truth), truth, steps=steps, variant=variant)
        if not prediction.roundings:
            return score
        visited = (in_truth(rounding, truth) for rounding in prediction.roundings)
        f1 = [paper_f1(one, truth, steps=steps, variant=variant).f1 for one in visited]
        return replace(score, low=min(score.f1, *f1), high=max(score.f1, *f1))

    return protocol


def _script(prediction: Prediction, reference: Reference) -> Score:
    if prediction.script is None:
        raise HowstepsError("without a script to compare")
    options = by_time(prediction.script.steps, reference.truth, leads=LEADS)
    return script_score(options, reference.order)


def _script_judged(prediction: Prediction, reference: Reference) -> Score:
    if reference.rules is None:
        raise HowstepsError("no file of judged relations is given")
    if prediction.script is None:
        raise HowstepsError("without a script to compare")
    options = judged(prediction.script.steps, reference.rules, reference.truth.steps)
    return script_score(options, reference.order)


def _crosstask(prediction: Prediction, reference: Reference) -> Score:
    if not prediction.known_steps:
        raise HowstepsError("discovers steps, but this protocol needs known steps")
    return crosstask_recall(prediction.localised(reference.truth), reference.truth)


def _frames(score_frames: Callable[[Any, Any, int], Score]) -> Protocol:
    def protocol(prediction: Prediction, reference: Reference) -> Score:
        truth = reference.truth
        predicted = predicted_frames(prediction.localised(truth), truth)
        return score_frames(predicted, true_frames(truth), prediction.steps)

    return protocol


PROTOCOLS: Mapping[str, Protocol] = {
    "paper-f1": _paper(Variant.paper),
    "paper-f1-made": _paper(Variant.made),
    "paper-f1-authors": _paper(Variant.authors),
    "script": _script,
    "script-judged": _script_judged,
    "kukleva": _frames(kukleva),
    "per-video": _frames(lambda p, t, _: per_video(p, t)),
    "per-video-background": _frames(lambda p, t, _: per_video(p, t, background=True)),
    "crosstask-recall": _crosstask,
    "frame-f1": _frames(lambda p, t, _: frame_f1(p, t)),
}
SCRIPT_PROTOCOLS = ("script", "script-judged")
