"""The notebook of the examples, executed anew."""

from __future__ import annotations

import pytest
from conftest import REPOSITORY, environment

NOTEBOOK = REPOSITORY / "examples/python/race.ipynb"


def html_of(notebook) -> list[str]:
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [output.data["text/html"] for output in outputs if "text/html" in output.get("data", {})]


def test_the_notebook_of_the_examples_runs_and_shows_plots(tmp_path, monkeypatch):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert sum("<svg" in shown for shown in html_of(notebook)) == 2
    nbclient.NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=300,
        resources={"metadata": {"path": str(tmp_path)}},
    ).execute()
    assert sum("<svg" in shown for shown in html_of(notebook)) == 2
    assert "make the lock in the function" in str(notebook.cells[-1].outputs)
    assert list(tmp_path.iterdir()) == []
