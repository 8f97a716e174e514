"""Similarity of verbs and nouns, and the specificity of verbs."""

import pytest

from howsteps.narration.wordnet import WordNet
from howsteps.script import background
from howsteps.script.similarity import noun_similarity, specificity, verb_similarity


@pytest.fixture(scope="module")
def wordnet() -> WordNet:
    return WordNet.load()


def verbs(wordnet: WordNet, one: str, two: str) -> float:
    """The similarity of two verbs, each with its particle if it has one."""
    split = [(verb, particle) for verb, _, particle in (one.partition(" "), two.partition(" "))]
    return float(verb_similarity(split, wordnet)[0, 1])


def test_synonyms_are_similar_and_opposites_are_not(wordnet: WordNet) -> None:
    assert verbs(wordnet, "raise", "lift") == pytest.approx(0.6)
    assert verbs(wordnet, "raise", "lower") == 0
    assert verbs(wordnet, "tighten", "loosen") == 0


def test_a_particle_makes_another_verb(wordnet: WordNet) -> None:
    assert verbs(wordnet, "take off", "take out") == 0
    assert verbs(wordnet, "take off", "take") == pytest.approx(0.5)
    assert verbs(wordnet, "take off", "take off") == 1


def test_nouns_are_similar_when_they_share_a_sense(wordnet: WordNet) -> None:
    table = noun_similarity(["car", "automobile", "bread"], wordnet)
    assert table[0].tolist() == pytest.approx([1.0, 0.6, 0.0])


def test_a_verb_of_many_how_to_videos_is_not_specific() -> None:
    assert background.share("put") > background.share("pour") > background.share("torque")
    assert specificity("put") == 0
    assert specificity("nosuchverb") == 1
