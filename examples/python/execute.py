"""Executes a notebook in place, and forgets when: `python execute.py race.ipynb`."""

import sys

import nbformat
from nbclient import NotebookClient

for file in sys.argv[1:]:
    notebook = nbformat.read(file, as_version=4)
    NotebookClient(notebook, kernel_name="python3", timeout=300).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata.language_info = {"name": "python"}
    nbformat.write(notebook, file)
