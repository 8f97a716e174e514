"""WordNet similarity of verbs and of nouns, in [0, 1].

* The same word: 1. Words that share one of their first two senses: 0.6.
* A verb with a particle is a verb of its own: "take off" and "take out" have 0, "take off" and a
  bare "take" 0.5, "take off" and "remove" what WordNet says.
* Antonyms ("raise", "lower"): 0, whatever their other senses.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from howsteps.narration.wordnet import PartOfSpeech, WordNet, word_matches
from howsteps.script import background

SENSES = 2
SYNONYM = 0.6
BARE = 0.5  # factor where one of two equal verbs has a particle and the other none
COMMON_SHARE = 0.15  # of how-to videos, from which on a verb has no specificity
ANTONYM_SENSES = 4


def specificity(verb: str) -> float:
    """How specific a verb is: 1 if no other task uses it ("whisk"), 0 if many videos do.

    Its usage is counted over many tasks (:mod:`howsteps.script.background`).
    """
    return max(0.0, 1.0 - background.share(verb) / COMMON_SHARE)


def noun_similarity(nouns: Sequence[str], wordnet: WordNet) -> NDArray[np.float32]:
    """Similarity of all pairs of nouns: 1 for the same noun, 0.6 for synonyms."""
    return _synonyms(nouns, "noun", wordnet)


def verb_similarity(verbs: Sequence[tuple[str, str]], wordnet: WordNet) -> NDArray[np.float32]:
    """Similarity of all pairs of verbs, each given as (verb, particle or "")."""
    bare = [verb for verb, _ in verbs]
    with_particle = [f"{verb}_{particle}" if particle else verb for verb, particle in verbs]
    particle = np.array([particle for _, particle in verbs])
    has = particle != ""
    one_has = has[:, None] != has[None, :]
    differ = has[:, None] & has[None, :] & (particle[:, None] != particle[None, :])
    # "jack up" may not be in WordNet; then its verb decides.
    by_verb = _synonyms(bare, "verb", wordnet) * np.where(one_has, BARE, 1.0)
    by_verb[differ] = 0.0
    similarity = np.maximum(by_verb, _synonyms(with_particle, "verb", wordnet))
    similarity[opposites(bare, wordnet)] = 0.0
    return np.asarray(similarity, dtype=np.float32)


def opposites(verbs: Sequence[str], wordnet: WordNet) -> NDArray[np.bool_]:
    """Which pairs of verbs are antonyms (n×n)."""
    indices: dict[str, list[int]] = {}
    for index, verb in enumerate(verbs):
        indices.setdefault(verb, []).append(index)
    found = np.zeros((len(verbs), len(verbs)), dtype=np.bool_)
    for verb, rows in indices.items():
        for antonym in wordnet.antonyms(verb, "verb", ANTONYM_SENSES):
            found[np.ix_(rows, indices.get(antonym, []))] = True
    return np.asarray(found | found.T)


def _synonyms(words: Sequence[str], pos: PartOfSpeech, wordnet: WordNet) -> NDArray[np.float32]:
    array = np.array(words)
    same = array[:, None] == array[None, :]
    synonyms = SYNONYM * word_matches(words, pos, wordnet, SENSES)
    return np.where(same, 1.0, synonyms).astype(np.float32)
