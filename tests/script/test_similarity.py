"""Similarity of verbs and nouns: WordNet, verb classes and word vectors."""

import numpy as np
import pytest

from howsteps.narration.wordnet import WordNet
from howsteps.script.acts import background_share
from howsteps.script.similarity import (
    are_opposite,
    classes_of,
    is_helper,
    noun_similarity,
    pieces,
    shared_class,
    sound_alike,
    specificity,
    vectors_of,
    verb_similarity,
)


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
    assert background_share("put") > background_share("pour") > background_share("torque")
    assert specificity("put") == 0
    assert specificity("nosuchverb") == 1


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (("loosen", ""), ("tighten", "")),
        (("put", "on"), ("take", "off")),
        (("raise", ""), ("lower", "")),
        (("fold", "up"), ("fold", "down")),
        (("place", ""), ("remove", "")),
        (("plug", "in"), ("unplug", "")),
        (("pump", "up"), ("deflate", "")),
    ],
)
def test_verbs_that_undo_each_other_are_opposites(
    one: tuple[str, str], two: tuple[str, str]
) -> None:
    assert are_opposite(one, two)
    assert are_opposite(two, one)
    assert not are_opposite(one, one)


def test_verbs_of_one_class_do_the_same_kind_of_thing() -> None:
    shared = shared_class([("whisk", ""), ("beat", ""), ("dig", ""), ("xyzzy", "")])
    assert shared[0, 1] > 0
    assert shared[0, 2] == 0
    assert shared[3, 3] == 0


@pytest.mark.parametrize(
    "verbs", ["glue tape staple", "sand file scrape", "sew stitch knit", "brew steep", "mash grind"]
)
def test_the_classes_reach_beyond_the_kitchen(verbs: str) -> None:
    assert frozenset.intersection(*(classes_of(verb, "") for verb in verbs.split()))


def test_a_neutral_particle_keeps_the_classes_of_the_verb() -> None:
    assert classes_of("whisk", "up") == classes_of("whisk", "") | classes_of("whisk", "up")
    assert classes_of("whisk", "away") == frozenset()


def test_to_take_a_thing_is_a_helper_to_take_it_off_is_not() -> None:
    assert is_helper("take", "")
    assert not is_helper("take", "off")


def test_words_have_vectors_even_if_made_of_pieces() -> None:
    rows = vectors_of(["whisk", "cooktop", "stove", "", "ß"])
    assert np.allclose(np.linalg.norm(rows, axis=1), [1, 1, 1, 0, 0])
    assert pieces("cooktop") == ["cook", "##top"]
    assert rows[1] @ rows[2] > rows[1] @ rows[0]


@pytest.mark.parametrize(
    ("one", "two"),
    [("flower", "flour"), ("source", "sauce"), ("clamp", "clam"), ("pastor", "pasta"),
     ("whole", "hole"), ("stake", "steak"), ("meat", "meet"), ("brake", "break")],
)  # fmt: skip
def test_words_that_recognition_takes_for_one_another_sound_alike(one: str, two: str) -> None:
    assert sound_alike(one, two)
    assert sound_alike(two, one)


@pytest.mark.parametrize(
    ("one", "two"),
    [("beer", "beef"), ("butter", "batter"), ("pan", "pen"), ("pepper", "paper"),
     ("cake", "steak"), ("spot", "pot"), ("glove", "clove"), ("water", "waiter")],
)  # fmt: skip
def test_other_words_do_not_sound_alike(one: str, two: str) -> None:
    assert not sound_alike(one, two)


def test_a_word_of_vowels_has_few_sounds() -> None:
    assert not sound_alike("ea" * 17, "flour")
