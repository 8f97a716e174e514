from itertools import pairwise
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tests.training.trees import is_projective, is_tree
from training.imperatives import Phrase, instruction, leaf, tree_of
from training.score import pairs

SEEDS = st.integers(0, 100_000)


def test_a_phrase_is_written_out_in_order():
    phrase = Phrase(
        "take",
        "VB/VERB",
        "root",
        (leaf("then", "RB/ADV", "advmod"),),
        (
            Phrase("nut", "NN/NOUN", "obj", (leaf("the", "DT/DET", "det"),)),
            leaf("off", "RP/ADP", "compound:prt"),
        ),
    )
    tree = tree_of(phrase)
    assert [token.form for token in tree] == ["then", "take", "the", "nut", "off"]
    assert [token.head for token in tree] == [1, 1, 3, 1, 1]
    assert [token.xpos for token in tree] == ["RB", "VB", "DT", "NN", "RP"]


@given(SEEDS)
def test_every_instruction_is_a_projective_tree_with_an_object(seed):
    tree = instruction(Random(seed))
    assert is_tree(tree)
    assert is_projective(tree)
    assert pairs(list(tree))


@given(SEEDS)
def test_clitics_lean_on_the_word_before_them(seed):
    tree = instruction(Random(seed))
    for before, after in pairwise(tree):
        assert before.space is (after.form not in {"'re", "n't", "na"})
