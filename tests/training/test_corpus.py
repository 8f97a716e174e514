import pytest
import spacy

from tests.training.trees import DO_NOT, LOWER_IT
from training.corpus import norms, to_doc, to_trees, untagged


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


def test_trees_survive_the_way_through_spacy(nlp):
    assert to_trees(to_doc(nlp, [LOWER_IT, DO_NOT])) == [LOWER_IT, DO_NOT]


def test_clitics_get_the_norm_that_they_have_in_running_text(nlp):
    words = ["we", "ca", "n't", "stop", "."]
    spaces = [True, False, True, False, True]
    text = nlp("we can't stop.")
    assert [token.text for token in text] == words
    assert norms(nlp, words, spaces) == [token.norm_ for token in text]


def test_only_words_are_given_to_the_parser(nlp):
    doc = untagged(to_doc(nlp, [DO_NOT]))
    assert [token.text for token in doc] == ["Do", "n't", "drop", "it", "."]
    assert [token.norm_ for token in doc][:2] == ["do", "not"]
    assert not doc.has_annotation("TAG")
    assert not doc.has_annotation("DEP")
