"""Dictionary forms, with the fine tag where spelling is not enough."""

import pytest

from howsteps.narration.lemmas import lemma
from howsteps.wordnet import WordNet

WORDNET = WordNet.load()


@pytest.mark.parametrize(
    ("word", "part", "tag", "expected"),
    [
        ("needs", "VERB", "VBZ", "need"),
        ("saw", "VERB", "VB", "saw"),
        ("saw", "VERB", "VBD", "see"),
        ("ground", "VERB", "VB", "ground"),
        ("ground", "VERB", "VBN", "grind"),
        ("tires", "NOUN", "NNS", "tire"),
        ("lugnuts", "NOUN", "NNS", "lugnut"),
        ("pliers", "NOUN", "NNS", "pliers"),
        ("'s", "AUX", "VBZ", "be"),
        ("'ve", "AUX", "VBP", "have"),
        ("the", "DET", "DT", "the"),
    ],
)
def test_lemma(word: str, part: str, tag: str, expected: str) -> None:
    assert lemma(WORDNET, word, part, tag) == expected
