from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from training.arborescence import best_tree


def value(scores, heads):
    return sum(scores[word, head] for word, head in enumerate(heads, 1))


def leads_to_root(heads):
    for word in range(1, len(heads) + 1):
        node, steps = word, 0
        while node:
            node, steps = heads[node - 1], steps + 1
            if steps > len(heads):
                return False
    return True


def naive(scores):
    """The best of all trees with one root, found by trying them."""
    size = len(scores) - 1
    every = product(range(size + 1), repeat=size)
    one_root = (heads for heads in every if heads.count(0) == 1 and leads_to_root(heads))
    return max(value(scores, heads) for heads in one_root)


@given(
    st.integers(1, 4).flatmap(
        lambda n: arrays(float, (n + 1, n + 1), elements=st.integers(-20, 20).map(float))
    )
)
def test_no_tree_is_better(scores):
    heads = tuple(best_tree(scores)[1:].tolist())
    assert leads_to_root(heads)
    assert heads.count(0) == 1
    assert value(scores, heads) == pytest.approx(naive(scores))


def test_two_words_that_want_each_other_are_parted():
    scores = np.array([[0.0, 0, 0], [1, 0, 9], [2, 9, 0]])
    assert best_tree(scores).tolist() == [-1, 2, 0]
