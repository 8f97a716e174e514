"""The notebook of the guide runs from top to bottom."""

import pytest

from .notebook import executed


@pytest.mark.slow
def test_the_notebook_runs_and_every_cell_that_prints_does() -> None:
    cells = [cell for cell in executed().cells if cell.cell_type == "code"]
    assert all(cell.outputs for cell in cells if "print(" in cell.source)
