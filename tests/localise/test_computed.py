"""A sequence that keeps nothing: every value is computed when it is looked at."""

import pytest

from howsteps.localise.computed import Computed


def test_values_are_computed_whenever_they_are_looked_at():
    asked = []
    squares = Computed(lambda n: asked.append(n) or n * n, 4)
    assert len(squares) == 4
    assert list(squares) == [0, 1, 4, 9]
    assert (squares[-1], squares[1:3]) == (9, [1, 4])
    assert asked == [0, 1, 2, 3, 3, 1, 2]


@pytest.mark.parametrize("number", [4, -5])
def test_there_are_no_others(number):
    with pytest.raises(IndexError):
        Computed(lambda n: n, 4)[number]
