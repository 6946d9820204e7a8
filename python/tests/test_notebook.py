"""The notebook of the examples, executed anew."""

from __future__ import annotations

import os
import sys
import time

import pytest
from conftest import REPOSITORY, descendants, environment

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


LONG = """
import deadheat
f, g = lambda: sum(range(10_000)), lambda: sum(range(10_001))
deadheat.race(f, g, max_replicates=200, blocks=200, margin="0.01%")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_an_interrupted_cell_leaves_no_process_and_no_file_and_the_next_one_runs(tmp_path):
    manager = pytest.importorskip("jupyter_client").KernelManager(kernel_name="python3")
    pytest.importorskip("ipykernel")
    marker = f"MARKER={tmp_path}"
    manager.start_kernel(env=environment(MARKER=str(tmp_path), TMPDIR=str(tmp_path)))
    kernel = manager.client()
    kernel.start_channels()
    try:
        kernel.wait_for_ready(timeout=60)
        message = kernel.execute(LONG)
        for _ in range(200):
            if len(descendants(marker)) >= 3:
                break
            time.sleep(0.05)
        assert len(descendants(marker)) >= 3
        manager.interrupt_kernel()
        assert answer_to(kernel, message)["ename"] == "KeyboardInterrupt"
        assert len(descendants(marker)) == 1
        assert os.listdir(tmp_path) == []
        assert answer_to(kernel, kernel.execute("1 + 1"))["status"] == "ok"
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)


CACHED = """
import deadheat, functools
@functools.cache
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
@functools.singledispatch
def kind(value): return fib(value)
class Scale:
    def __init__(self, factor): self.factor = factor
    def scaled(self, n): return self.factor * n
for function in (fib, kind, Scale(3).scaled, functools.partial(fib)):
    deadheat.race(function, abs, input=lambda seed: 9, max_replicates=6, blocks=4)
"""


def test_caches_and_methods_of_a_notebook_race(tmp_path):
    manager = pytest.importorskip("jupyter_client").KernelManager(kernel_name="python3")
    pytest.importorskip("ipykernel")
    manager.start_kernel(env=environment(TMPDIR=str(tmp_path)), cwd=str(tmp_path))
    kernel = manager.client()
    kernel.start_channels()
    try:
        kernel.wait_for_ready(timeout=60)
        answer = answer_to(kernel, kernel.execute(CACHED))
        assert answer["status"] == "ok", answer
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)


def answer_to(kernel, message: str) -> dict:
    while True:
        answer = kernel.get_shell_msg(timeout=60)
        if answer["parent_header"].get("msg_id") == message:
            return answer["content"]
