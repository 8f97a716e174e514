"""How alike two mentions are, between 0 and 1: what steps are gathered by.

The likeness of two mentions (verb, particle, noun) is the product of how alike the verbs are and
how alike the nouns are:

* the same word is 1, and words that share one of their two first WordNet senses are 0.6;
* a verb with a particle is a verb of its own: "take off" and "take out" are unlike, "take off" and
  a bare "take" are 0.5, "take off" and "remove" are as alike as WordNet says;
* opposites ("raise", "lower") are never alike, whatever their other senses;
* a verb that few how-to videos use ("loosen", "whisk") tells what is done by itself, so its nouns
  need not agree: "lower the car", "lower the jack". How few is counted over many jobs
  (:mod:`howsteps.script.background`).
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from howsteps.script import background
from howsteps.wordnet import PartOfSpeech, WordNet
from howsteps.wordnet.matching import word_matches

SENSES = 2
SYNONYM = 0.6
BARE = 0.5  # one of two equal verbs has a particle, the other none
TELLING = 0.7  # the likeness of unlike nouns under a verb that no other job uses
COMMON = 0.15  # share of how-to videos from which on a verb tells nothing by itself
OPPOSITE_SENSES = 4


class Phrase(NamedTuple):
    """A verb with its particle, and what it is done to."""

    verb: str
    particle: str
    noun: str


def similarity(
    sayings: Sequence[Phrase], wordnet: WordNet, title: Collection[str] = ()
) -> csr_array:
    """The D×D likeness of D sayings; few pairs of verbs are alike, so it is sparse.

    The words of the ``title`` tell nothing by themselves: all of the job is done by its verb.
    """
    verbs = sorted({(saying.verb, saying.particle) for saying in sayings})
    nouns = sorted({saying.noun for saying in sayings})
    verb_place = {verb: place for place, verb in enumerate(verbs)}
    noun_place = {noun: place for place, noun in enumerate(nouns)}
    verb = np.array([verb_place[saying.verb, saying.particle] for saying in sayings], dtype=np.intp)
    noun = np.array([noun_place[saying.noun] for saying in sayings], dtype=np.intp)
    of_verb = csr_array((np.ones(len(verb)), (np.arange(len(verb)), verb)))
    pairs = coo_array(of_verb @ csr_array(verb_similarity(verbs, wordnet)) @ of_verb.T)
    telling = np.array([0.0 if word in title else tells(word) for word, _ in verbs])
    row, column = pairs.coords
    nouns_alike = np.maximum(
        noun_similarity(nouns, wordnet)[noun[row], noun[column]],
        TELLING * np.minimum(telling[verb[row]], telling[verb[column]]),
    )
    alike = coo_array((pairs.data * nouns_alike, (row, column)), shape=pairs.shape).tocsr()
    alike.eliminate_zeros()
    return csr_array(alike)


def tells(verb: str) -> float:
    """How much a verb says by itself: 1 where no other job uses it, 0 where many videos do."""
    return max(0.0, 1.0 - background.share(verb) / COMMON)


def noun_similarity(nouns: Sequence[str], wordnet: WordNet) -> NDArray[np.float32]:
    """1 for the same noun, 0.6 for synonyms."""
    return _synonyms(nouns, "noun", wordnet)


def verb_similarity(verbs: Sequence[tuple[str, str]], wordnet: WordNet) -> NDArray[np.float32]:
    """Likeness of verbs with particles."""
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
