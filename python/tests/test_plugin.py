"""The plugin of pytest, in runs of pytest of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise

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
    assert "deadheat.TooSlow: 'slow' is slower than 'fast': " in printed
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
    assert "Name (time in " in printed


TRACED = """
import json, os, time
import deadheat
undisturbed = deadheat.race
def traced(*arguments, **settings):
    begun = time.monotonic()
    result = undisturbed(*arguments, **settings)
    with open("spans", "a") as spans:
        spans.write(json.dumps([begun, time.monotonic(), os.getpid()]) + "\\n")
    return result
deadheat.race = traced
"""


def test_races_of_two_xdist_processes_take_place_one_after_the_other(pytest_run, tmp_path):
    pytest.importorskip("xdist")
    (tmp_path / "conftest.py").write_text(TRACED)
    printed = pytest_run(TESTS, "--deadheat=full", "--junit-xml=junit.xml", "-n", "2")
    assert "1 failed, 4 passed" in printed
    assert "deadheat.TooSlow: 'slow' is slower than 'fast': " in printed
    assert "test_it.py::test_open: " in printed
    assert (tmp_path / "junit.xml").read_text().count('name="deadheat"') == 4
    spans = [json.loads(line) for line in (tmp_path / "spans").read_text().splitlines()]
    assert len(spans) == 4
    assert len({process for _, _, process in spans}) == 2
    spans.sort()
    assert all(end <= begun for (_, end, _), (begun, _, _) in pairwise(spans))


UNASSERTED = """
import pytest
def a(): return sum(range(100))
def b(): return sum(range(200))
def test_forgotten(race):
    race(a, b)
def test_forgotten_at_last(race):
    race(b, a, max_replicates=4, blocks=2).not_slower("90%")
    race(a, b)
@pytest.fixture
def raced(race):
    yield race(b, a, max_replicates=4, blocks=2)
@pytest.fixture
def asserted(raced):
    yield
    raced.not_slower("90%")
def test_asserted_by_a_fixture(asserted): pass
def test_forgotten_by_a_fixture(raced): pass
def test_that_fails_before_it_asserts(race):
    wanted = race(a, b)
    assert 1 == 2
    wanted.not_slower()
def test_that_races_nothing(race): pass
"""


@pytest.mark.parametrize("options", [["--deadheat=smoke"], ["--deadheat=full", "-n", "2"]])
def test_a_race_without_an_assertion_fails_its_test_with_the_line_to_add(pytest_run, options):
    if "-n" in options:
        pytest.importorskip("xdist")
    printed = pytest_run(UNASSERTED, *options)
    assert "3 failed, 3 passed" in printed
    assert "1 error" in printed
    assert printed.count("race(a, b) has no assertion, so nothing was raced") >= 2
    assert 'race(a, b, …).not_slower("2%")' in printed
    for name in ("test_forgotten", "test_forgotten_at_last", "test_that_fails_before_it_asserts"):
        assert f"FAILED test_it.py::{name} " in printed
    assert "ERROR test_it.py::test_forgotten_by_a_fixture" in printed
    assert "ERROR test_it.py::test_that_fails" not in printed


def test_a_race_without_an_assertion_is_skipped_where_races_are_off(pytest_run):
    assert "6 skipped" in pytest_run(UNASSERTED)


LAZY = """
def lazy(): return map(str, range(9))
def eager(): return [1]
def test_lazy(race): race(eager, lazy).not_slower()
def test_drained(race): race(eager, lazy, drain=list).not_slower()
def test_made(race): race(eager, lazy, drain=False).not_slower()
"""


def test_smoke_refuses_an_output_that_is_not_computed(pytest_run):
    printed = pytest_run(LAZY, "--deadheat=smoke")
    assert "1 failed, 2 passed" in printed
    assert "'lazy' returns a map, with nothing computed yet: drain=True" in printed


MANNERS = """
import unittest
import pytest
@pytest.fixture(scope="module")
def table(): return list(range(100))
@pytest.fixture(params=["up", "down"])
def way(request): return request.param
def test_of_a_wider_scope(race, table, way):
    race(lambda: sorted(table), lambda: sorted(table), max_replicates=4, blocks=2).not_slower("9%")
class TestUnit(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def has_race(self, race): self.race = race
    def test_unit(self):
        self.race(sum, len, input=lambda seed: range(9), max_replicates=4, blocks=2).not_slower()
"""


@pytest.mark.skipif(
    sys.implementation.name == "pypy" and sys.implementation.version < (8,),
    reason="functions with variables around them do not travel under PyPy 7.3",
)
def test_races_in_classes_of_unittest_and_with_fixtures_and_parameters(pytest_run, tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --deadheat=full\n")
    printed = pytest_run(MANNERS, "-v")
    assert "3 passed" in printed
    assert "test_of_a_wider_scope[down] PASSED" in printed


@pytest.mark.parametrize("option", ["--collect-only", "--benchmark-only", "--deadheat=off"])
def test_what_runs_no_tests_races_none(pytest_run, tmp_path, option):
    if option == "--benchmark-only":
        pytest.importorskip("pytest_benchmark")
    (tmp_path / "conftest.py").write_text(TRACED)
    printed = pytest_run(TESTS + MANNERS, "--deadheat=full", option)
    assert "error" not in printed.lower()
    assert not (tmp_path / "spans").exists()
