"""Rare acts join the step that they are most similar to, or none."""

import pytest

from howsteps.narration.wordnet import WordNet
from howsteps.reader.dialogue import nearest_steps
from howsteps.script.acts import Act


@pytest.fixture(scope="module")
def wordnet() -> WordNet:
    return WordNet.load()


STEPS = [[Act("raise", "", "car")], [Act("lower", "", "car"), Act("take", "off", "wheel")]]


def step_of(wordnet: WordNet, verb: str, noun: str, particle: str = "") -> int | None:
    act = Act(verb, particle, noun)
    return nearest_steps([act], STEPS, wordnet).get(act)


def test_synonyms_join(wordnet: WordNet) -> None:
    assert step_of(wordnet, "lift", "car") == 0
    assert step_of(wordnet, "raise", "automobile") == 0


def test_opposites_and_other_nouns_do_not(wordnet: WordNet) -> None:
    assert step_of(wordnet, "lower", "car") == 1
    assert step_of(wordnet, "raise", "bread") is None
    assert step_of(wordnet, "take", "wheel", "out") is None


def test_an_act_without_an_object_says_too_little(wordnet: WordNet) -> None:
    assert step_of(wordnet, "raise", "") is None


def test_without_rare_acts_or_steps_nothing_joins(wordnet: WordNet) -> None:
    assert nearest_steps([], STEPS, wordnet) == {}
    assert nearest_steps([Act("raise", "", "car")], [[Act("wait", "", "")]], wordnet) == {}
