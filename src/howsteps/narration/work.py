"""Classify acts as work (part of the job, done now) or talk."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from howsteps.narration import grammar
from howsteps.narration.acts import Act

if TYPE_CHECKING:
    from spacy.tokens import Token

REACH = 8  # size of the window around the verb, in words on either side
# Length of the opening and ending of a video: as a share of it, and in seconds.
EDGE = 0.03
GREETING = 15.0
_SUBJECTS = frozenset({"nsubj", "nsubj:pass", "nsubjpass", "expl", "csubj"})
_CLAUSES = frozenset({"advcl", "acl", "acl:relcl", "relcl", "ccomp", "csubj", "parataxis"})
_MAX_DEPTH = 5  # governing verbs that are considered
_SUBJECT_CLASSES = {
    "i": "i", "me": "i", "you": "you", "we": "we", "'s": "we", "us": "we", "it": "thing",
    "this": "thing", "that": "thing", "these": "thing", "those": "thing", "they": "they",
    "them": "they", "he": "they", "she": "they", "people": "they", "who": "who", "which": "who",
    "there": "there", "everybody": "they", "someone": "they", "somebody": "they",
}  # fmt: skip

_OTHERS = frozenset({"subject=thing", "subject=they", "subject=who"})


def act_features(act: Act, *, negated: bool) -> set[str]:
    """Return the features of one act, except for those of its position in the video."""
    verb = act.verb
    features = {f"verb={verb.lemma_}", f"tag={verb.tag_}", f"dep={verb.dep_}"}
    if act.noun is not None:
        features.add(f"noun={act.noun.lemma_}")
    features |= set(_object_features(act))
    features |= set(_clause_features(act))
    features |= set(_window_features(act))
    if negated:
        features.add("negated")
    return features


def _object_features(act: Act) -> Iterator[str]:
    """Yield features of the object, places and tools of an act."""
    if act.noun is None:
        yield "no object" if act.spoken is None else "object unclear"
    elif act.resolved:
        yield f"object={act.spoken.lower_}" if act.spoken is not None else "object left out"
    else:
        determiners = [
            child.lower_
            for child in act.noun.lefts
            if child.dep_ in {"det", "nmod:poss", "poss", "nummod"}
        ]
        determiner = determiners[0] if determiners else "none"
        yield f"determiner={'number' if determiner[:1].isdigit() else determiner}"
        if act.noun.tag_ in {"NNS", "NNPS"}:
            yield "plural"
    if act.places:
        yield "placed"
        yield f"place={act.places[0].preposition}"
    if act.tools:
        yield "tool"
    if act.passive:
        yield "passive"
    if act.lets:
        yield "lets"


def _clause_features(act: Act) -> Iterator[str]:
    """Yield features of the subject, and of the governing verbs and clauses up to the main verb."""
    verb, subject, depth = act.verb, "", 0
    while True:
        subject = subject or _subject(verb)
        yield from _dependent_features(verb, is_act=not depth)
        head = verb.head
        if head == verb or depth >= _MAX_DEPTH:
            break
        if verb.dep_ in grammar.COMPLEMENT:
            yield f"under={head.lemma_}"
        elif verb.dep_ in _CLAUSES:
            yield f"in={verb.dep_}"
            # A new clause has a subject of its own, even if it is not expressed.
            subject = subject or "none"
        elif verb.dep_ != "conj":
            yield f"below={verb.dep_}"
            break
        verb, depth = head, depth + 1
        if head.pos_ not in {"VERB", "AUX", "ADJ"}:
            break
    subject = subject or "none"
    yield f"subject={subject}"
    yield f"subject={subject} tag={act.verb.tag_}"
    if subject == "none" and act.verb.tag_ in {"VB", "VBP"} and not depth:
        yield "imperative"


def done_by_others(features: set[str]) -> bool:
    """Whether a thing or somebody else does the act: "it protects you", "they build nests"."""
    return not _OTHERS.isdisjoint(features) and features.isdisjoint({"passive", "lets"})


def _subject(verb: Token) -> str:
    """The class of a verb's subject, or "" if it has none."""
    for child in grammar.children(verb, _SUBJECTS):
        return _SUBJECT_CLASSES.get(child.lower_, "noun")
    return ""


def _dependent_features(verb: Token, *, is_act: bool) -> Iterator[str]:
    """Yield features of the function words and adverbs that depend on a verb."""
    for child in verb.children:
        dep, word = child.dep_, child.lower_
        if dep == "mark" and word != "to":
            yield f"mark={word}"
        elif dep == "mark" and is_act:
            yield "to"
        elif dep == "advmod" and child.i < verb.i:
            yield f"adverb={word}"
        elif dep.startswith("aux"):
            yield f"aux={word}"
        elif word in {"not", "n't", "never"}:
            yield "not"
        elif dep == "cc" and is_act:
            yield f"cc={word}"


def _window_features(act: Act) -> Iterator[str]:
    """Yield the words of the sentence that are close to the verb."""
    doc, index = act.verb.doc, act.verb.i
    sentence = act.verb.sent
    for token in doc[max(sentence.start, index - REACH) : min(sentence.end, index + REACH + 1)]:
        if token.i != index:
            yield f"near={token.lower_}"


def position_features(start: float, end: float, duration: float) -> Iterator[str]:
    """Yield features of the position of an act in its video: openings and endings are mostly talk.

    All times are in seconds.
    """
    share = start / duration if duration > 0 else 0.0
    yield f"at={min(int(10 * share), 9)}"
    if share < EDGE:
        yield "opening"
    if share > 1 - EDGE:
        yield "ending"
    if start < GREETING:
        yield "greeting"
    if duration - end < GREETING:
        yield "goodbye"


_TABLE = Path(__file__).with_name("work.json")
# Log-odds are clipped to ±_CLIP before smoothing, so that no single act dominates its neighbours.
_CLIP = 3.0


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of the model: the log-odds of work that each feature adds.

    ``pull`` is the weight of the mean log-odds of neighbouring acts; ``reach`` is the time in
    seconds over which the influence of a neighbour falls to 1/e.
    """

    bias: float
    features: Mapping[str, float]
    pull: float
    reach: float


@cache
def shipped() -> Weights:
    """Return the weights that ship with howsteps."""
    table = json.loads(_TABLE.read_text("utf-8"))
    return Weights(table["bias"], table["features"], table["pull"], table["reach"])


def probabilities(
    features: Sequence[set[str]], starts: Sequence[float], weights: Weights | None = None
) -> list[float]:
    """Return the probability of work of each act of a video.

    Parameters
    ----------
    features
        The features of every act.
    starts
        The start of every act in seconds, approximately sorted.
    weights
        By default those that ship.
    """
    if not features:
        return []
    model = shipped() if weights is None else weights
    log_odds = np.array(
        [model.bias + sum(model.features.get(feature, 0.0) for feature in act) for act in features]
    )
    smoothed = log_odds + model.pull * neighbour_mean(
        log_odds, np.asarray(starts, dtype=float), model.reach
    )
    probability: list[float] = (1.0 / (1.0 + np.exp(-smoothed))).tolist()
    return probability


def neighbour_mean(
    log_odds: np.ndarray, starts: np.ndarray, reach: float, width: int = 12
) -> np.ndarray:
    """Return the mean log-odds of the neighbours of each act, weighted by exp(−|Δt|/reach).

    Only ``width`` acts on either side count, so that the cost is linear in the number of acts. The
    mean is shrunk towards zero by a pseudo-count of one half.
    """
    clipped = np.clip(log_odds, -_CLIP, _CLIP)
    total, weight = np.zeros(len(log_odds)), np.full(len(log_odds), 0.5)
    for shift in range(1, min(width, len(log_odds) - 1) + 1):
        closeness = np.exp(-np.abs(starts[shift:] - starts[:-shift]) / reach)
        total[shift:] += closeness * clipped[:-shift]
        total[:-shift] += closeness * clipped[shift:]
        weight[shift:] += closeness
        weight[:-shift] += closeness
    mean: np.ndarray = total / weight
    return mean
