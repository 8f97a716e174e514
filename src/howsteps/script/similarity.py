"""How similar two verbs, or two nouns, are by WordNet: between 0 and 1.

* The same word is 1, and words that share one of their two first senses are 0.6.
* A verb with a particle is a verb of its own: "take off" and "take out" are at 0, "take off" and a
  bare "take" at 0.5, "take off" and "remove" as WordNet says.
* Opposites ("raise", "lower") are at 0, whatever their other senses.
* A verb that few how-to videos use ("loosen", "whisk") tells what is done by itself. How few is
  counted over many jobs (:mod:`howsteps.script.background`).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from howsteps.script import background
from howsteps.wordnet import PartOfSpeech, WordNet
from howsteps.wordnet.matching import word_matches

SENSES = 2
SYNONYM = 0.6
BARE = 0.5  # one of two equal verbs has a particle, the other none
COMMON = 0.15  # share of how-to videos from which on a verb tells nothing by itself
OPPOSITE_SENSES = 4


def tells(verb: str) -> float:
    """How much a verb says by itself: 1 where no other job uses it, 0 where many videos do."""
    return max(0.0, 1.0 - background.share(verb) / COMMON)


def noun_similarity(nouns: Sequence[str], wordnet: WordNet) -> NDArray[np.float32]:
    """1 for the same noun, 0.6 for synonyms."""
    return _synonyms(nouns, "noun", wordnet)


def verb_similarity(verbs: Sequence[tuple[str, str]], wordnet: WordNet) -> NDArray[np.float32]:
    """Similarity of verbs, each with its particle or an empty text."""
    bare = [verb for verb, _ in verbs]
    whole = [f"{verb}_{particle}" if particle else verb for verb, particle in verbs]
    particle = np.array([particle for _, particle in verbs])
    has = particle != ""
    one_has = has[:, None] != has[None, :]
    clash = has[:, None] & has[None, :] & (particle[:, None] != particle[None, :])
    # "jack up" may be no word of WordNet's; then it goes by its verb.
    by_verb = _synonyms(bare, "verb", wordnet) * np.where(one_has, BARE, 1.0)
    by_verb[clash] = 0.0
    alike = np.maximum(by_verb, _synonyms(whole, "verb", wordnet))
    alike[opposites(bare, wordnet)] = 0.0
    return np.asarray(alike, dtype=np.float32)


def opposites(verbs: Sequence[str], wordnet: WordNet) -> NDArray[np.bool_]:
    """Which verbs are antonyms of one another."""
    places: dict[str, list[int]] = {}
    for place, verb in enumerate(verbs):
        places.setdefault(verb, []).append(place)
    found = np.zeros((len(verbs), len(verbs)), dtype=np.bool_)
    for verb, own in places.items():
        for other in wordnet.antonyms(verb, "verb", OPPOSITE_SENSES):
            found[np.ix_(own, places.get(other, []))] = True
    return np.asarray(found | found.T)


def _synonyms(words: Sequence[str], pos: PartOfSpeech, wordnet: WordNet) -> NDArray[np.float32]:
    known = np.array(words)
    same = known[:, None] == known[None, :]
    return np.where(same, 1.0, SYNONYM * word_matches(words, pos, wordnet, SENSES)).astype(
        np.float32
    )
