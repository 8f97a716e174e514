"""What tells that two acts are one step, and that an act is a step at all: signs as numbers.

Signs of a pair: the meaning of the verbs (WordNet, :mod:`.verb_classes`) and of the nouns, how much
the verbs and nouns tell by themselves, and what the videos of the job say: close together more
often than by chance, in the same company, in the same videos, at the same place, in a fixed order,
at the same spot ("in the pan"). Signs of an act: who says it, where in the video, and how.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from howsteps.script import background
from howsteps.script.act_table import ActTable, Matrix
from howsteps.script.similarity import noun_similarity, opposites, tells, verb_similarity
from howsteps.script.verb_classes import are_opposite, is_helper, shared_class
from howsteps.script.word_vectors import vectors_of
from howsteps.task import Mention
from howsteps.wordnet import WordNet

CLASS = 0.7  # the similarity of two verbs of one class
USUAL_SPREAD, SPREAD_WEIGHT = 0.25, 3  # of the place of an act, before its mentions are seen
FALLOFF = 8.0  # how fast nearness in place falls
RAREST = 0.003


def forbidden_pairs(table: ActTable, wordnet: WordNet) -> NDArray[np.bool_]:
    """Pairs of acts that are never one step: one undoes the other."""
    verbs = [(act.verb, act.particle) for act in table.acts]
    distinct = sorted(set(verbs))
    place = {verb: at for at, verb in enumerate(distinct)}
    undo = np.array([[are_opposite(a, b) for b in distinct] for a in distinct], dtype=np.bool_)
    undo = undo.reshape(len(distinct), len(distinct)) | opposites([v for v, _ in distinct], wordnet)
    own = [place[verb] for verb in verbs]
    return np.asarray(undo[np.ix_(own, own)])


def pair_features(
    table: ActTable, mentions: Sequence[Mention], wordnet: WordNet
) -> dict[str, Matrix]:
    """The signs of all pairs of acts by name, each n×n and symmetric."""
    verbs = [(act.verb, act.particle) for act in table.acts]
    nouns = [act.noun for act in table.acts]
    found = _meaning(verbs, nouns, wordnet) | _company(table, mentions)
    near, gap = np.clip(found["near lift"], -1.0, 2.0), found["gap"]
    same_noun, same_verb = found["same noun"], found["same verb"]
    telling, helper = found["telling"], found["helper"]
    class_, verb, noun = found["same class"], found["verb"], found["noun"]
    close = np.exp(-FALLOFF * gap)
    common = np.where(same_noun > 0, _outer(np.maximum, found.pop("noun share")), 0.0)
    return found | {
        "close": close,
        "verb × noun": verb * noun,
        "verb × telling": verb * telling,
        "class × same noun": class_ * same_noun,
        "class × telling": class_ * telling,
        "other class × same noun": found["other class"] * same_noun,
        "same noun, common": common,
        "same noun, near": same_noun * near,
        "other noun, near": (1 - same_noun) * near,
        "verb × near": verb * near,
        "near × gap": near * gap,
        "helper × same noun": helper * same_noun,
        "helper × near": helper * near,
        "same verb × telling": same_verb * telling,
        "same common verb, other noun": same_verb * (1 - telling) * (1 - noun),
        "same noun × close": same_noun * close,
        "phrase cosine × near": found["phrase cosine"] * near,
        "verb × noun cosine": verb * found["noun cosine"],
    }


def _meaning(
    verbs: Sequence[tuple[str, str]], nouns: Sequence[str], wordnet: WordNet
) -> dict[str, Matrix]:
    bare = np.array([verb for verb, _ in verbs])
    particle = np.array([particle for _, particle in verbs])
    has = particle != ""
    same_particle = has[:, None] & (particle[:, None] == particle[None, :])
    class_ = shared_class(verbs)
    listed = class_.diagonal() > 0
    undo = np.array([[are_opposite(a, b) for b in verbs] for a in verbs], dtype=np.float64)
    undo = undo.reshape(len(verbs), len(verbs))
    synonyms = np.asarray(verb_similarity(verbs, wordnet), dtype=np.float64)
    usual = np.array([background.share(verb) for verb, _ in verbs])
    verb_rows, noun_rows = vectors_of([verb for verb, _ in verbs]), vectors_of(nouns)
    across = verb_rows @ noun_rows.T
    return {
        "verb cosine": verb_rows @ verb_rows.T,
        "noun cosine": noun_rows @ noun_rows.T,
        "phrase cosine": cosines(verb_rows + noun_rows),
        "verb–noun cosine": (across + across.T) / 2,
        "synonyms": synonyms,
        "same verb": (bare[:, None] == bare[None, :]).astype(np.float64),
        "same noun": (np.array(nouns)[:, None] == np.array(nouns)[None, :]).astype(np.float64),
        "noun": np.asarray(noun_similarity(nouns, wordnet), dtype=np.float64),
        "same particle": same_particle.astype(np.float64),
        "other particle": (has[:, None] & has[None, :] & ~same_particle).astype(np.float64),
        "one particle": (has[:, None] != has[None, :]).astype(np.float64),
        "same class": class_,
        "other class": (listed[:, None] & listed[None, :] & (class_ == 0)).astype(np.float64),
        "undo": undo,
        "verb": np.maximum(synonyms, CLASS * class_) * (1 - undo),
        "helper": _outer(np.maximum, np.array([is_helper(*verb) for verb in verbs], float)),
        "telling": _outer(np.minimum, np.array([tells(verb) for verb, _ in verbs])),
        "rarer verb": _outer(np.minimum, usual),
        "commoner verb": _outer(np.maximum, usual),
    }


def _company(table: ActTable, mentions: Sequence[Mention]) -> dict[str, Matrix]:
    """What the videos of the job say of a pair."""
    many = max(len(table.lengths), 1)
    said = (table.counts > 0).astype(np.float64)
    both = said @ said.T
    fewer = np.maximum(_outer(np.minimum, table.videos), 1.0)
    company = np.log1p(table.near / (table.near_by_chance + 0.5))
    np.fill_diagonal(company, 0.0)
    first = _median_times(table)
    before = np.zeros_like(both)
    for video in range(len(table.lengths)):
        own = np.flatnonzero(said[:, video])
        before[np.ix_(own, own)] += first[own, video][:, None] < first[own, video][None, :]
    middle = np.array([np.median(table.place[own]) for own in table.members])
    spread = np.array([spread_of(table.place[own]) for own in table.members])
    share = np.log(np.maximum(table.videos, 1.0) / many)
    nouns = Counter(act.noun for act in table.acts)
    return {
        "near lift": np.log((table.near + 0.5) / (table.near_by_chance + 0.5)),
        "near, of both": table.near / (both + 1.0),
        "near, of fewer": table.near / fewer,
        "together": np.log((both + 0.5) / (np.outer(table.videos, table.videos) / many + 0.5)),
        "both": np.log1p(both),
        "company": cosines(company),
        "gap": np.abs(middle[:, None] - middle[None, :]),
        "fixed order": np.abs(2 * (before + 1) / (both + 2) - 1),
        "narrower": _outer(np.minimum, spread),
        "wider": _outer(np.maximum, spread),
        "rarer": _outer(np.minimum, share),
        "commoner": _outer(np.maximum, share),
        "same spot": cosines(_spots(table, mentions)),
        "noun share": np.array([nouns[act.noun] / len(table.acts) for act in table.acts]),
    }


def _median_times(table: ActTable) -> Matrix:
    found = np.full((len(table.acts), len(table.lengths)), np.nan)
    for act, own in enumerate(table.members):
        # Mentions stand video by video.
        videos, first = np.unique(table.video[own], return_index=True)
        for video, times in zip(videos, np.split(table.time[own], first[1:]), strict=True):
            found[act, video] = np.median(times)
    return found


def _spots(table: ActTable, mentions: Sequence[Mention]) -> Matrix:
    """How often each act is done at each place or with each tool (acts × nouns)."""
    number: dict[str, int] = {}
    rows: list[tuple[int, int]] = []
    for act, own in enumerate(table.members):
        for at in own:
            mention = mentions[at]
            nouns = (*(place.noun for place in mention.places), *mention.tools)
            rows += ((act, number.setdefault(noun, len(number))) for noun in nouns)
    found = np.zeros((len(table.acts), max(len(number), 1)))
    for act, noun in rows:
        found[act, noun] += 1.0
    return found


def act_features(
    table: ActTable,
    mentions: Sequence[Mention],
    title: Collection[str],
    odds: Mapping[str, Mapping[str, float]],
) -> dict[str, Matrix]:
    """The signs of every act by name.

    Parameters
    ----------
    title
        The words of the title.
    odds
        Log-odds of work against talk, by verb and by noun.
    """
    many = max(len(table.lengths), 1)
    acts = table.acts
    own = [[mentions[at] for at in members] for members in table.members]
    place = [table.place[members] for members in table.members]
    share = table.videos / many
    usual = np.array([background.share(act.verb) for act in acts])

    def mean(values: Sequence[Sequence[float]]) -> Matrix:
        return np.array([float(np.mean(row)) if len(row) else 0.0 for row in values])

    return {
        "share": np.log(np.maximum(share, 1 / many)),
        "repeated": np.log(np.array([len(row) for row in own]) / np.maximum(table.videos, 1.0)),
        "spread": np.array([spread_of(values) for values in place]),
        "place": mean([list(values) for values in place]),
        "early": mean([list(values < 0.1) for values in place]),
        "late": mean([list(values > 0.9) for values in place]),
        "usual verb": np.log(usual + RAREST),
        "lift": np.log(np.maximum(share, 1 / many) / (usual + RAREST)),
        "verb of the title": np.array([act.verb in title for act in acts], float),
        "noun of the title": np.array([act.noun in title for act in acts], float),
        "particle": np.array([act.particle != "" for act in acts], float),
        "helper": np.array([is_helper(act.verb, act.particle) for act in acts], float),
        "pronoun": mean([[m.resolved for m in row] for row in own]),
        "passive": mean([[m.passive for m in row] for row in own]),
        "modal": mean([[m.modal != "" for m in row] for row in own]),
        "at a place": mean([[bool(m.places) for m in row] for row in own]),
        "with a tool": mean([[bool(m.tools) for m in row] for row in own]),
        "no object": mean([[m.noun == "" for m in row] for row in own]),
        "work": mean([[m.work for m in row] for row in own]),
        "work of the verb": np.array([odds["verbs"].get(act.verb, 0.0) for act in acts]),
        "work of the noun": np.array([odds["nouns"].get(act.noun, 0.0) for act in acts]),
    }


def spread_of(places: Matrix) -> float:
    """The spread of the places of mentions, drawn towards the usual one where they are few."""
    squares = float(((places - places.mean()) ** 2).sum()) if len(places) else 0.0
    prior = SPREAD_WEIGHT * USUAL_SPREAD**2
    return float(np.sqrt((squares + prior) / (len(places) + SPREAD_WEIGHT)))


def cosines(rows: Matrix) -> Matrix:
    """The cosine of every two rows; nil for a row of zeros."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = rows / np.where(length > 0, length, 1.0)
    return np.asarray(unit @ unit.T)


def _outer(function: np.ufunc, values: Matrix) -> Matrix:
    return np.asarray(function.outer(values, values), dtype=np.float64)
