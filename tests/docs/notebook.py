"""The notebook of the guide, executed: ``python -m tests.docs.notebook`` writes its outputs."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

from .pages import DOCS

NOTEBOOK = DOCS / "guide" / "first-steps.ipynb"


def executed(path: Path = NOTEBOOK) -> nbformat.NotebookNode:
    """The notebook with the outputs of its cells; a cell that fails raises its error.

    Only what people read is kept: no times of execution, nothing said on stderr.
    """
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3", record_timing=False).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [each for each in cell.outputs if each.get("name") != "stderr"]
    notebook.metadata.language_info = {"name": "python"}
    return notebook


if __name__ == "__main__":
    nbformat.write(executed(), NOTEBOOK)
