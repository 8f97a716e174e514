"""The equations of the paper are found by their symbols, where the map of the folder says."""

from importlib import import_module
from inspect import getsource

import pytest

from howsteps import paper

WHERE = {
    "Tr(UᵀBU)": "paper.alignment_problem",
    "C_o": "paper.alignment_problem",
    "AZ ≥ R": "paper.windows",
    "Δb": "paper.windows",
    "Δa": "paper.windows",
    "h(Z)": "paper.clustering_problem",
    "W*": "localise.ridge",
    "Tr(CᵀZ)": "localise.order",
}


@pytest.mark.parametrize("symbol", WHERE)
def test_a_symbol_is_in_the_map_and_in_its_module(symbol: str) -> None:
    assert symbol in (paper.__doc__ or "")
    assert symbol in getsource(import_module(f"howsteps.{WHERE[symbol]}"))
