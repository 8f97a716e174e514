"""POA and progressive alignment: valid alignments, never better than the search."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from howsteps.paper.aligners import partial_order_alignment, progressive_alignment
from howsteps.paper.alignment import align
from tests.paper import naive

ALIGNERS = [partial_order_alignment, progressive_alignment]


@pytest.mark.parametrize("aligner", ALIGNERS)
def test_identical_narrations_share_all_slots(aligner) -> None:
    found = aligner([[0, 1, 2]] * 4, np.eye(3, dtype=bool))
    assert len(set(found.slots)) == 1
    assert found.objective == found.bound == -3 * 16


@pytest.mark.parametrize("aligner", ALIGNERS)
@pytest.mark.parametrize("sequences", [[], [[]], [[0, 1]], [[], [0]]])
def test_little_to_align(aligner, sequences) -> None:
    found = aligner(sequences, np.eye(2, dtype=bool))
    assert [len(slots) for slots in found.slots] == [len(row) for row in sequences]
    assert found.objective == -found.tokens


@pytest.mark.slow
@pytest.mark.parametrize("aligner", ALIGNERS)
@settings(max_examples=10)
@given(seed=st.integers(0, 10_000))
def test_the_result_is_valid_and_never_better_than_the_search(aligner, seed: int) -> None:
    sequences, match = naive.random_instance(seed, sequences=6, longest=8, relations=6)
    found = aligner(sequences, match)
    assert all(naive.increasing(slots) for slots in found.slots)
    assert found.objective == naive.objective(sequences, match, found.slots)
    assert align(sequences, match).objective <= found.objective
