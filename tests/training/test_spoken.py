from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tests.training.trees import DO_NOT, LOWER_IT, is_projective, is_tree, trees
from training.spoken import (
    FILLERS,
    add_filler,
    cut,
    insert,
    lower,
    projective_head,
    spoken,
    stumble,
    unpunctuate,
    written,
)
from training.treebanks import Token

RANDOM = st.integers(0, 10_000).map(Random)


def forms(tree):
    return [token.form for token in tree]


def test_speech_is_lower_case_and_has_no_punctuation():
    assert forms(lower(unpunctuate(LOWER_IT))) == ["lower", "the", "car"]


def test_writing_a_bare_sentence_down():
    assert forms(written(lower(unpunctuate(DO_NOT)))) == ["Do", "n't", "drop", "it", "."]
    assert [token.space for token in written(unpunctuate(LOWER_IT))] == [True, True, False, True]


@given(trees(), st.data())
def test_an_inserted_word_crosses_no_arc_and_moves_no_other(tree, data):
    gap = data.draw(st.integers(0, len(tree)))
    word = Token("um", "um", "INTJ", "UH", projective_head(tree, gap), "discourse")
    longer = insert(tree, gap, word)
    assert longer[gap].form == "um"
    assert is_tree(longer)
    assert is_projective(longer)
    without = [t for place, t in enumerate(longer) if place != gap]
    assert [longer[t.head].form for t in without] == [tree[t.head].form for t in tree]


@given(trees(), RANDOM)
def test_fillers_leave_a_projective_tree(tree, random):
    longer = add_filler(tree, random)
    assert is_tree(longer)
    assert is_projective(longer)
    assert sum(token.form in FILLERS for token in longer) == 1


@given(RANDOM)
def test_a_filler_never_parts_a_clitic_from_its_word(random):
    words = forms(add_filler(unpunctuate(DO_NOT), random))
    assert words[words.index("n't") - 1] == "Do"


@given(trees(), RANDOM)
def test_a_stumble_says_a_small_word_twice(tree, random):
    longer = stumble(tree, random)
    assert is_tree(longer)
    assert is_projective(longer)
    small = [token for token in tree if token.upos in {"DET", "PRON"}]
    assert len(longer) == len(tree) + bool(small)
    for place, token in enumerate(longer):
        if token.deprel == "reparandum":
            assert token.form == longer[place + 1].form
            assert token.head == place + 1


def test_a_sentence_cut_short_keeps_what_it_can():
    assert forms(cut(LOWER_IT, 0, 2)) == ["Lower", "the"]
    assert [(t.head, t.deprel) for t in cut(LOWER_IT, 0, 2)] == [(0, "root"), (0, "dep")]


def test_an_object_whose_verb_is_cut_away_becomes_the_root():
    assert [(t.form, t.head, t.deprel) for t in cut(LOWER_IT, 1, 3)] == [
        ("the", 1, "det"),
        ("car", 1, "root"),
    ]


@given(trees(), st.data())
def test_a_cut_leaves_a_projective_tree_and_makes_no_relation_up(tree, data):
    start = data.draw(st.integers(0, len(tree) - 1))
    stop = data.draw(st.integers(start + 1, len(tree)))
    part = cut(tree, start, stop)
    assert is_tree(part)
    assert is_projective(part)
    assert forms(part) == forms(tree[start:stop])
    for new, old in zip(part, tree[start:stop], strict=True):
        if new.deprel not in {"root", "dep"} or old.deprel == new.deprel == "root":
            assert part[new.head].form == tree[old.head].form


@given(trees(), RANDOM)
def test_whatever_is_done_a_tree_remains(tree, random):
    result = spoken(tree, random)
    assert result == () or (is_tree(result) and is_projective(result))
    assert all(token.upos != "PUNCT" for token in result)
