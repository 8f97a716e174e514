"""The match matrix of relations, by which narrations are aligned."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from howsteps.task import Relation
from howsteps.wordnet.database import WordNet
from howsteps.wordnet.storage import PartOfSpeech


def match_matrix(
    relations: Sequence[Relation], wordnet: WordNet, senses: int | None = None
) -> npt.NDArray[np.bool_]:
    """Return the D×D matrix of matches: the −1 entries of the cost C_o.

    Two relations match when their verbs match and their nouns match. Two words match when they are
    the same string or share a synset in the right part of speech.

    Parameters
    ----------
    relations
        The D distinct relations, as lemmas.
    wordnet
        The source of the synsets.
    senses
        Use only the first ``senses`` senses of every word. Rare senses give spurious matches:
        *bread* and *sugar* are both slang for money.

    Returns
    -------
    A symmetric boolean matrix with a true diagonal.
    """
    verbs = word_matches([relation.verb for relation in relations], "verb", wordnet, senses)
    nouns = word_matches([relation.noun for relation in relations], "noun", wordnet, senses)
    return verbs & nouns


def word_matches(
    words: Sequence[str], pos: PartOfSpeech, wordnet: WordNet, senses: int | None
) -> npt.NDArray[np.bool_]:
    """Return which of the words match each other.

    With M the incidence of distinct words and synsets, two words share (M Mᵀ)_ij synsets.
    """
    vocabulary = sorted(set(words))
    synsets = [wordnet.synset_ids(word, pos, senses) for word in vocabulary]
    rows = np.repeat(np.arange(len(vocabulary)), [len(ids) for ids in synsets])
    _, columns, word_counts = np.unique(
        np.concatenate([np.empty(0, np.int32), *synsets]), return_inverse=True, return_counts=True
    )
    shared = word_counts[columns] > 1  # most synsets belong to only one word
    incidence = np.zeros((len(vocabulary), len(word_counts)), dtype=np.float32)
    incidence[rows[shared], columns[shared]] = 1
    incidence = incidence[:, word_counts > 1]
    matches = (incidence @ incidence.T > 0) | np.eye(len(vocabulary), dtype=np.bool_)
    row_of = {word: row for row, word in enumerate(vocabulary)}
    index = np.array([row_of[word] for word in words], dtype=np.intp)
    return np.asarray(matches[np.ix_(index, index)])
