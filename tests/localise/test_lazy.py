"""A sequence whose values are computed on access."""

import pytest

from howsteps.localise.lazy import LazySequence


def test_values_are_computed_on_every_access():
    calls = []
    squares = LazySequence(lambda n: calls.append(n) or n * n, 4)
    assert len(squares) == 4
    assert list(squares) == [0, 1, 4, 9]
    assert (squares[-1], squares[1:3]) == (9, [1, 4])
    assert calls == [0, 1, 2, 3, 3, 1, 2]


@pytest.mark.parametrize("index", [4, -5])
def test_an_index_out_of_range_is_refused(index):
    with pytest.raises(IndexError):
        LazySequence(lambda n: n, 4)[index]
