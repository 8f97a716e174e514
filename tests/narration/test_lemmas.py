"""Lemmatisation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.narration.wordnet import PARTS_OF_SPEECH, PartOfSpeech, WordNet, is_well_spelt

WORDNET = WordNet.load()
LEMMAS = {pos: list(WORDNET.words(pos)) for pos in PARTS_OF_SPEECH}
parts_of_speech = st.sampled_from(PARTS_OF_SPEECH)


@pytest.mark.parametrize(
    ("word", "lemma"),
    [
        ("needs", "need"),
        ("need", "need"),
        ("tires", "tire"),
        ("lying", "lie"),
        ("taken", "take"),
        ("used", "use"),
        ("using", "use"),
        ("left", "leave"),
        ("found", "find"),
        ("ground", "grind"),
        ("goes", "go"),
        ("passes", "pass"),
        ("visited", "visit"),
        ("opened", "open"),
        ("unscrewed", "unscrew"),
        ("feed", "feed"),
        ("Removing", "remove"),
    ],
)
def test_lemma_of_verbs(word: str, lemma: str) -> None:
    assert WORDNET.lemma(word, "verb") == lemma


@pytest.mark.parametrize(
    ("word", "lemma"),
    [
        ("wheels", "wheel"),
        ("jacks", "jack"),
        ("lugs", "lug"),
        ("tires", "tire"),
        ("glasses", "glass"),
        ("leaves", "leaf"),
        ("knives", "knife"),
        ("brushes", "brush"),
        ("batteries", "battery"),
        ("pliers", "pliers"),
        ("scissors", "scissors"),
        ("gas", "gas"),
        ("brass", "brass"),
    ],
)
def test_lemma_of_nouns(word: str, lemma: str) -> None:
    assert WORDNET.lemma(word, "noun") == lemma


@pytest.mark.parametrize(
    ("word", "lemma", "other"),
    [
        ("taped", "tape", "tap"),
        ("tapes", "tape", "tap"),
        ("planes", "plane", "plan"),
        ("planing", "plane", "plan"),
        ("cubed", "cube", "cub"),
    ],
)
def test_spelling_takes_precedence_over_frequency(word: str, lemma: str, other: str) -> None:
    assert set(WORDNET.lemmas(word, "verb")) == {lemma, other}
    assert WORDNET.lemma(word, "verb") == lemma
    assert is_well_spelt(word, lemma)
    assert not is_well_spelt(word, other)


def test_lemma_of_adjectives_and_adverbs() -> None:
    assert WORDNET.lemma("tighter", "adj") == "tight"
    assert WORDNET.lemma("bigger", "adj") == "big"
    assert WORDNET.lemma("further", "adv") == "far"


def test_lemma_of_a_phrase() -> None:
    assert WORDNET.lemma("took off", "verb") == "take_off"
    assert WORDNET.lemma("fire engines", "noun") == "fire_engine"


@pytest.mark.parametrize("word", ["", " ", "xyzzy", "ñandúes", "数", "_", "s", "ing", "🔧s"])
def test_lemma_of_an_unknown_word_is_the_word(word: str) -> None:
    for pos in PARTS_OF_SPEECH:
        if not WORDNET.lemmas(word, pos):
            assert WORDNET.lemma(word, pos) == word.strip()


@given(parts_of_speech.flatmap(lambda p: st.tuples(st.sampled_from(LEMMAS[p]), st.just(p))))
def test_a_lemma_is_among_its_own_candidates(lemma: tuple[str, PartOfSpeech]) -> None:
    assert WORDNET.lemmas(*lemma)[0] == lemma[0]


@given(st.text(st.characters(), max_size=12), parts_of_speech)
def test_any_text_has_a_lemma(word: str, pos: PartOfSpeech) -> None:
    lemma = WORDNET.lemma(word, pos)
    assert WORDNET.knows(lemma, pos) == bool(WORDNET.lemmas(word, pos))
