"""Queries of WordNet: synsets, hypernyms and lemmas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from howsteps.narration.wordnet import (
    PARTS_OF_SPEECH,
    PartOfSpeech,
    WordNet,
    is_well_spelt,
    match_matrix,
)
from howsteps.task import Relation

WORDNET = WordNet.load()
FREQUENT: dict[PartOfSpeech, list[str]] = {
    pos: [w for w in WORDNET.words(pos) if WORDNET.tag_counts(w, pos).sum() > 3]
    for pos in PARTS_OF_SPEECH
}
parts_of_speech = st.sampled_from(PARTS_OF_SPEECH)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[str, str, PartOfSpeech]:
    """Two frequent lemmas of one part of speech."""
    pos = draw(parts_of_speech)
    word = st.sampled_from(FREQUENT[pos])
    return draw(word), draw(word), pos


class TestSenses:
    def test_spelling_variants_share_a_synset(self) -> None:
        [tire] = WORDNET.synset_ids("tire", "noun").tolist()
        tyre_the_city, tyre = WORDNET.synset_ids("tyre", "noun").tolist()
        assert tire == tyre != tyre_the_city

    def test_the_first_sense_comes_first(self) -> None:
        counts = WORDNET.tag_counts("take", "verb")
        assert len(counts) == len(WORDNET.synset_ids("take", "verb")) == 42
        assert counts[0] == counts.max()

    def test_senses_limits_the_number_of_senses(self) -> None:
        every = WORDNET.synset_ids("jack", "noun")
        assert WORDNET.synset_ids("jack", "noun", senses=2).tolist() == every[:2].tolist()
        assert WORDNET.synset_ids("jack", "noun", senses=999).tolist() == every.tolist()

    @pytest.mark.parametrize("spelling", ["take_off", "take off", "Take Off", "  TAKE\toff "])
    def test_a_lemma_may_be_a_phrase(self, spelling: str) -> None:
        assert WORDNET.knows(spelling, "verb")
        assert WORDNET.synset_ids(spelling, "verb").size == 9


class TestEntries:
    @pytest.mark.parametrize("pos", PARTS_OF_SPEECH)
    def test_every_lemma_is_found(self, pos: PartOfSpeech) -> None:
        lemmas = list(WORDNET.words(pos))
        assert lemmas == sorted(set(lemmas))
        numbers = WORDNET.entries[pos]
        assert all(
            WORDNET._entry(lemma, pos) == number
            for lemma, number in zip(lemmas[::7], numbers[::7], strict=True)
        )


class TestSharedSynset:
    @pytest.mark.parametrize(
        ("a", "b", "pos", "shared"),
        [
            ("put", "place", "verb", True),
            ("fasten", "tighten", "verb", True),
            ("car", "automobile", "noun", True),
            ("tighten", "loosen", "verb", False),
            ("tire", "wheel", "noun", False),
            ("car", "automobile", "verb", False),
        ],
    )
    def test_synonyms_share_one(self, a: str, b: str, pos: PartOfSpeech, shared: bool) -> None:
        assert WORDNET.shared_synset(a, b, pos) is shared

    def test_rare_senses_give_spurious_synonyms(self) -> None:
        assert WORDNET.shared_synset("bread", "sugar", "noun")  # both are slang for money
        assert not WORDNET.shared_synset("bread", "sugar", "noun", senses=1)


class TestAncestors:
    @given(pairs())
    @settings(max_examples=200, deadline=None)
    def test_against_a_naive_search(self, pair: tuple[str, str, PartOfSpeech]) -> None:
        word, _, pos = pair
        for synset in WORDNET.synset_ids(word, pos).tolist():
            assert WORDNET.ancestors(synset) == naive_ancestors(synset)


def naive_ancestors(synset: int) -> dict[int, int]:
    """The ancestors by their smallest number of links."""
    tables = WORDNET.tables
    found = [{synset}]
    while found[-1]:
        above = {
            int(h)
            for s in found[-1]
            for h in tables.hypernyms[tables.hypernym_starts[s] : tables.hypernym_starts[s + 1]]
        }
        found.append(above.difference(*found))
    return {ancestor: links for links, level in enumerate(found) for ancestor in level}


class TestMatchMatrix:
    def test_unknown_words_match_only_themselves(self) -> None:
        relations = [Relation("xyzzy", "frob"), Relation("xyzzy", "car"), Relation("plugh", "car")]
        assert (match_matrix(relations, WORDNET) == np.eye(3, dtype=bool)).all()

    @given(
        st.lists(
            st.builds(
                Relation,
                st.sampled_from([*FREQUENT["verb"][:150], "xyzzy", ""]),
                st.sampled_from([*FREQUENT["noun"][:150], "xyzzy", ""]),
            ),
            max_size=25,
        ),
        st.sampled_from([None, 1, 3]),
    )
    @settings(deadline=None)
    def test_equals_the_definition(self, relations: list[Relation], senses: int | None) -> None:
        def same(a: str, b: str, pos: PartOfSpeech) -> bool:
            return a == b or WORDNET.shared_synset(a, b, pos, senses)

        expected = [
            [same(d.verb, e.verb, "verb") and same(d.noun, e.noun, "noun") for e in relations]
            for d in relations
        ]
        assert match_matrix(relations, WORDNET, senses).tolist() == expected


class TestUnknownWords:
    @pytest.mark.parametrize("word", ["", " ", "xyzzy", "数", "a" * 10_000, "take\x00off"])
    def test_an_unknown_word(self, word: str) -> None:
        for pos in PARTS_OF_SPEECH:
            assert not WORDNET.knows(word, pos)
            assert WORDNET.synset_ids(word, pos).size == 0
            assert not WORDNET.shared_synset(word, word, pos)


LEMMAS = {pos: list(WORDNET.words(pos)) for pos in PARTS_OF_SPEECH}


FORMS: dict[PartOfSpeech, str] = {
    "verb": "needs need, need need, tires tire, lying lie, taken take, used use, using use, "
    "left leave, found find, ground grind, goes go, passes pass, visited visit, opened open, "
    "unscrewed unscrew, feed feed, Removing remove, took_off take_off",
    "noun": "wheels wheel, jacks jack, lugs lug, tires tire, glasses glass, leaves leaf, "
    "knives knife, brushes brush, batteries battery, pliers pliers, scissors scissors, gas gas, "
    "brass brass, fire_engines fire_engine",
    "adj": "tighter tight, bigger big",
    "adv": "further far",
}


@pytest.mark.parametrize("pos", FORMS)
def test_lemmas(pos: PartOfSpeech) -> None:
    wanted = dict(pair.split() for pair in FORMS[pos].split(", "))
    assert {form: WORDNET.lemma(form.replace("_", " "), pos) for form in wanted} == wanted


@pytest.mark.parametrize(
    ("word", "lemma", "other"),
    [("taped", "tape", "tap"), ("planes", "plane", "plan"), ("planing", "plane", "plan")],
)
def test_spelling_takes_precedence_over_frequency(word: str, lemma: str, other: str) -> None:
    assert set(WORDNET.lemmas(word, "verb")) == {lemma, other}
    assert WORDNET.lemma(word, "verb") == lemma
    assert is_well_spelt(word, lemma)
    assert not is_well_spelt(word, other)


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
