"""Benchmarks whose cost grows with every call are failed by name in their pilot."""

from __future__ import annotations

import random

import pytest

from deadheat._growth import rises, times_as_long

STEADY = [10.0, 10.2, 9.9, 10.1, 10.0, 9.8, 10.3, 10.1, 9.9, 10.0, 10.2, 10.1]


def test_times_that_rise_are_told_from_those_that_scatter():
    assert rises([float(at) for at in range(10, 22)])
    assert rises([*range(10, 15), 900, *range(16, 22)]), "one that was disturbed"
    assert not rises(STEADY)
    assert not rises([10 + at / 10 for at in range(12)]), "a drift"
    assert not rises([*range(22, 10, -1)]), "warming up"
    assert not rises([10.0] * 11 + [90.0])
    assert not times_as_long(STEADY, [11.0])
    scattered = random.Random(7)
    found = sum(rises([scattered.lognormvariate(0, 0.3) for _ in range(12)]) for _ in range(2_000))
    assert found <= 20, "and four more samples have to confirm it"


@pytest.mark.parametrize(
    "text",
    [
        "held = []\n@deadheat.benchmark\ndef grows():\n    held.append(1)\n    sum(held)",
        "held = ['']\n@deadheat.benchmark\ndef grows():\n"
        "    held[0] += 'abcdefgh' * 99\n    held[0].count('abcdefx')",
        "held = {}\n@deadheat.benchmark\ndef grows():\n"
        "    held[len(held)] = 1\n    dict(held)",
    ],
    ids=["a list", "a text", "a dict"],
)  # fmt: skip
def test_a_function_that_adds_to_what_it_works_on_fails_by_name(worker, text):
    spoken = worker(text)
    spoken.heard()
    spoken.prepare("grows")
    failed = spoken.ask("calibrate", seed=1, least_ns=50_000)["failed"]
    assert failed["contender"] == 0
    assert "take longer and longer on the same input" in failed["problem"]["refused"]
    assert "input_per_call=True" in failed["problem"]["refused"]


@pytest.mark.parametrize(
    "text",
    [
        "@deadheat.benchmark\ndef f(): sum(range(100))",
        "@deadheat.benchmark(input=lambda seed: [3, 1], input_per_call=True)\n"
        "def f(held):\n    held.append(1)\n    sorted(held)",
        "held = {}\n@deadheat.benchmark\ndef f(): held[len(held) % 50] = 1",
        "import time\n@deadheat.benchmark\ndef f(): time.sleep(0.006)",
    ],
    ids=["nothing held", "an input by call", "a cache that is full", "slow"],
)  # fmt: skip
def test_others_do_not(worker, text):
    spoken = worker(text)
    spoken.heard()
    spoken.prepare("f")
    assert "calibrated" in spoken.ask("calibrate", seed=1, least_ns=50_000)


def test_slow_functions_are_piloted_in_three_calls_and_need_no_warm_up(worker, tmp_path):
    text = """
import os, time
log = os.open("log", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
def b(): os.write(log, b"b"); time.sleep(0.05)
@deadheat.benchmark(candidates=[b])
def a(): os.write(log, b"a"); time.sleep(0.05)
"""
    spoken = worker(text)
    spoken.heard()
    spoken.prepare("a")
    calibrated = spoken.ask("calibrate", seed=1, least_ns=50_000)["calibrated"]
    # The third is to look for collections of garbage.
    assert sorted((tmp_path / "log").read_text()) == ["a", "a", "a", "b", "b", "b"]
    assert calibrated["iterations"] == 1
    assert all(5e7 <= ns < 2e8 for ns in calibrated["call_ns"])
    spoken = worker(text)
    spoken.heard()
    spoken.prepare("a")
    (tmp_path / "log").write_text("")
    spoken.block([0, 1], iterations=1)
    assert len(spoken.heard()["block"]["values"]) % 2 == 0
    assert (tmp_path / "log").read_text() == "ab"


MADE = """
import os, time
log = os.open("log", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
def made(seed):
    os.write(log, f"{seed} ".encode())
    time.sleep(0.03)
    return seed
@deadheat.benchmark(input=made)
def f(number): number + 1
@deadheat.benchmark(input=made, input_per_call=True)
def g(number): number + 1
"""


def test_an_input_that_takes_long_is_made_once_for_a_warm_up_and_blocks_of_its_seed(
    worker, tmp_path
):
    spoken = worker(MADE)
    spoken.heard()
    spoken.prepare("f")
    calibrated = spoken.ask("calibrate", seed=1, least_ns=50_000)["calibrated"]
    assert calibrated["input_ns"] >= 3e7
    warm = spoken.ask("warm_up", seed=7, order=[0], iterations=100)["warm"]
    assert warm["ready"] == 7
    for seed in (7, 7, 7, 8, 7):
        spoken.block([0, 0], seed=seed)
        spoken.heard()
    assert (tmp_path / "log").read_text().split() == ["1", "7", "8", "7"]


def test_inputs_of_calls_are_made_however_long_they_take(worker, tmp_path):
    spoken = worker(MADE)
    spoken.heard()
    spoken.prepare("g")
    for _ in range(2):
        spoken.block([0], iterations=1)
        spoken.heard()
    assert len((tmp_path / "log").read_text().split()) == 3, "one for the first call of all"
