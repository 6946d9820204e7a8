"""The plugin of pytest, in runs of pytest of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from conftest import environment

TESTS = """
def slow(): return sum(range(3_000))
def fast(): return sum(range(1_000))
def test_slow(race): race(fast, slow, max_replicates=6, blocks=8).not_slower("2%")
def test_fast(race): assert race(slow, fast, max_replicates=6, blocks=8).not_slower() is not False
def test_faster(race): race(slow, fast, max_replicates=6, blocks=8).faster("5%")
def other(): return sum(range(1_000))
def test_open(race): race(fast, other, max_replicates=4, blocks=2).not_slower("0.01%")
def test_other(): pass
"""
BROKEN = """
def test_broken(race): race(lambda n: n, lambda n: n / 0, input=lambda seed: seed).not_slower()
"""


@pytest.fixture
def pytest_run(tmp_path):
    def run(text: str, *options: str) -> str:
        (tmp_path / "test_it.py").write_text(text)
        # The plugin is found by its entry point where the package is installed.
        installed = "import deadheat._pytest, importlib.metadata as m; " + (
            "print(any(e.value == 'deadheat._pytest' for e in m.entry_points(group='pytest11')))"
        )
        found = subprocess.run(
            [sys.executable, "-c", installed], env=environment(), capture_output=True, text=True
        )
        plugin = [] if "True" in found.stdout else ["-p", "deadheat._pytest"]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *plugin, *options],
            cwd=tmp_path,
            env=environment(PYTEST_ADDOPTS=""),
            capture_output=True,
            text=True,
        )
        return done.stdout + done.stderr

    return run


def test_races_are_off_unless_asked_for(pytest_run):
    printed = pytest_run(TESTS, "-rs")
    assert "1 passed, 4 skipped" in printed
    assert "--deadheat=full" in printed


def test_smoke_calls_each_function_once(pytest_run):
    assert "5 passed" in pytest_run(TESTS, "--deadheat=smoke")
    assert "ZeroDivisionError" in pytest_run(BROKEN, "--deadheat=smoke")


def test_a_slower_candidate_fails_in_the_words_of_the_verdict(pytest_run, tmp_path):
    printed = pytest_run(TESTS, "--deadheat=full", "--junit-xml=junit.xml")
    assert "1 failed, 4 passed" in printed
    assert "deadheat.TooSlow: 'slow' is slower than 'fast' by" in printed
    assert "= deadheat: open =" in printed
    assert "test_it.py::test_open: " in printed
    junit = (tmp_path / "junit.xml").read_text()
    assert 'name="deadheat"' in junit
    assert os.path.basename(sys.executable)  # The race ran in this interpreter.


def test_a_function_that_fails_is_an_error_of_the_test(pytest_run):
    printed = pytest_run(BROKEN, "--deadheat=full")
    assert "RaceFailed" in printed
    assert "ZeroDivisionError" in printed


def test_it_sits_beside_pytest_benchmark(pytest_run):
    pytest.importorskip("pytest_benchmark")
    both = TESTS + "\ndef test_benchmark(benchmark): benchmark(fast)\n"
    printed = pytest_run(both, "--deadheat=smoke")
    assert "6 passed" in printed
    assert "Name (time in us)" in printed
