from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tests.training.trees import DO_NOT, LOWER_IT, is_tree, trees
from training.passages import line_breaks, one_pass
from training.treebanks import Document


def text(passage):
    return [" ".join(token.form for token in tree) for tree in passage]


def test_a_pass_holds_every_sentence_once():
    document = Document("d", "answers", (LOWER_IT, DO_NOT) * 40)
    passes = one_pass([document], Random(3))
    assert sum(len(passage) for passage in passes) == 80
    assert max(len(passage) for passage in passes) <= 12


def test_passes_differ_and_a_seed_repeats_them():
    document = Document("d", "answers", (LOWER_IT, DO_NOT) * 10)
    random = Random(1)
    first, second = one_pass([document], random), one_pass([document], random)
    assert first != second
    assert first == one_pass([document], Random(1))


@given(st.lists(trees(), max_size=4), st.integers(0, 1000).map(Random))
def test_line_breaks_cut_the_ends_of_a_passage_and_nothing_between(passage, random):
    broken = line_breaks(passage, random)
    whole, left = " ".join(text(passage)), " ".join(text(broken))
    assert left in whole
    assert broken[1:-1] == passage[1:-1]
    assert len(broken) == len(passage)
    assert all(map(is_tree, broken))


def test_line_breaks_fall_everywhere_but_inside_a_word():
    seen = {" ".join(text(line_breaks([DO_NOT], Random(seed)))) for seed in range(300)}
    assert "Do n't drop it ." in seen
    assert "drop it" in seen
    assert not any(line.startswith("n't") or line == "Do" for line in seen)
