"""Collection of garbage while functions are timed: as users have it, and what it takes."""

from __future__ import annotations

import sys

import pytest
from test_inputs import piloted

import deadheat
from deadheat._collection import Collections, note_of

FEW = {"max_replicates": 6, "blocks": 6, "seed": 7}
CPYTHON = pytest.mark.skipif(sys.implementation.name == "pypy", reason="tells of no collections")
CYCLES = """
import gc
class Node: pass
def lists():
    for _ in range(200):
        found = []
        found.append(found)
def nodes():
    for _ in range(100):
        one, other = Node(), Node()
        one.other, other.other = other, one
def dicts():
    for _ in range(100):
        found = {}
        found["me"] = found
def none():
    for _ in range(200): found = [1]
"""


def contenders(text: str) -> str:
    return f"{CYCLES}\n@deadheat.benchmark(candidates=[{text}], name='it')\ndef base(): none()\n"


@CPYTHON
@pytest.mark.parametrize("name", ["lists", "nodes", "dicts"])
def test_what_the_collector_takes_is_noted_with_its_share(worker, name):
    (note,) = piloted(worker, contenders(name), "it")["notes"]
    assert note.startswith("Garbage collection takes ")
    assert f"of the CPU time of '{name}' (once in " in note
    assert "and none of the time of 'base'" in note


class Simulated(Collections):
    """A contender whose calls take the given times, with the collector on and off."""

    def __init__(self, label: str, with_it: list[float], without: list[float]) -> None:
        self.label, self.call_ns, self.waits, self.per_call = label, 1_000.0, 1.0, 1.0
        self._shares = [0.5]
        self._with_it, self._without = iter(with_it), iter(without)

    def trial(self) -> float:
        return next(self._with_it)

    def without(self, calls: int) -> float:
        return next(self._without)


@pytest.mark.parametrize(
    ("with_it", "without", "said"),
    [
        ([300.0] * 7, [100.0] * 7, " 'lists' takes 1.00 times as long as 'base'"),
        # The trials overlap, so the change may be chance.
        ([300.0] * 6 + [90.0], [100.0] * 7, ""),
        ([102.0] * 7, [100.0] * 7, ""),
    ],
)
def test_a_setting_that_clearly_changes_the_answer_is_noted(with_it, without, said):
    base = Simulated("'base'", [100.0] * 7, [100.0] * 7)
    note = note_of([base, Simulated("'lists'", with_it, without)], iterations=1)
    assert (f"Without garbage collection (gc=False),{said}" in note) == bool(said)
    assert ("Without garbage" in note) == bool(said)
    assert ("with it, 3.00 times" in note) == bool(said)


@pytest.mark.parametrize("name", ["none", "lambda: sorted([3, 1])", "lambda: {'a': [1]}"])
def test_what_makes_no_garbage_has_no_note(worker, name):
    assert "notes" not in piloted(worker, contenders(name), "it")


def test_without_collection_there_is_none_and_no_note(worker):
    text = contenders("lists").replace("name='it'", "name='it', gc=False")
    assert "notes" not in piloted(worker, text, "it")


@pytest.mark.parametrize(
    ("first", "option", "is_on"),
    [("", "", True), ("", ", gc=False", False), ("gc.disable()", "", False)],
)
def test_the_collector_is_on_in_samples_unless_somebody_turns_it_off(worker, first, option, is_on):
    spoken = worker(f"""
import gc
{first}
@deadheat.benchmark(name="it", input=lambda seed: seed{option})
def it(seed): assert gc.isenabled() is {is_on}
""")
    spoken.heard()
    spoken.prepare("it")
    assert "calibrated" in spoken.ask("calibrate", seed=1, least_ns=1_000)
    spoken.block([0, 0], iterations=20)
    assert "block" in spoken.heard()


@CPYTHON
def test_a_sample_of_what_makes_garbage_has_some_collections(worker):
    rare = contenders("lists").replace("range(200)", "range(2)")
    told = piloted(worker, rare, "it")
    # A collection comes after 700 containers, or 2,000.
    assert told["iterations"] >= 4 * 700 // 2 // 2


def cycles():
    for _ in range(200):
        found: list = []
        found.append(found)


def no_cycles():
    for _ in range(200):
        found: list = []
        found.append(1)


@CPYTHON
def test_a_race_of_what_makes_cycles_counts_their_collection():
    result = deadheat.race(no_cycles, cycles, **FEW)
    assert result.verdict == "slower"
    assert any("Garbage collection takes" in warning for warning in result.warnings)
    without = deadheat.race(no_cycles, cycles, gc=False, **FEW)
    assert not any("Garbage" in warning for warning in without.warnings)
    assert without.change < result.change
