"""The notebook of the examples runs, and prints what it shows."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.slow

NOTEBOOK = Path(__file__).parents[3] / "examples" / "from_logs_to_a_figure.ipynb"


def results(notebook):
    """Return the results of the cells by type; Inspect's empty display is not one of them."""
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", ()))
    return [output.data for output in outputs if not any("widget" in kind for kind in output.data)]


def test_the_notebook_prints_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    shown = nbformat.read(NOTEBOOK, as_version=4)
    run = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(run, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    texts = [[data["text/plain"] for data in results(notebook)] for notebook in (run, shown)]
    assert texts[0] == texts[1]
    assert sum("image/png" in data for data in results(run)) == 1
