"""Inputs that a call changes or uses up: found by the pilot, before anything is timed."""

from __future__ import annotations

import io
import json
import queue
import random
import subprocess
import sys
import threading
from array import array
from collections import deque

import pytest
from conftest import environment

import deadheat
from deadheat._inputs import State, is_used_up, one_shot

FEW = {"max_replicates": 6, "blocks": 6, "seed": 7}
# Benchmarks whose candidate `new` changes what it is given, and what that is.
CHANGING = {
    "sort": ("list(range(9, 0, -1))", "x.sort()", "list"),
    "pop": ("list(range(9))", "[x.pop() for _ in range(3)]", "list"),
    "dict": ("{'a': 1}", "x.update(b=2)", "dict"),
    "deque": ("__import__('collections').deque([1, 2])", "x.rotate()", "deque"),
    "nested": ("([3, 1], {})", "x[0].sort()", "tuple"),
    "array": ("__import__('array').array('d', [2, 1])", "x.reverse()", "array"),
    "random": ("__import__('random').Random(seed)", "x.random()", "Random"),
    "queue": ("queued()", "x.get()", "Queue"),
}
FILE = """
import queue
def queued():
    found = queue.Queue()
    found.put(1)
    return found
def make(seed): return {make}
def new(x): {change}
@deadheat.benchmark(input=make, candidates=[new]{more})
def old(x): return None
"""


def piloted(worker, text: str, name: str = "old") -> dict:
    """What the pilot says of a benchmark."""
    spoken = worker(text)
    spoken.heard()
    spoken.prepare(name)
    reply = spoken.ask("calibrate", seed=3, least_ns=1_000)
    assert "calibrated" in reply, reply
    return reply["calibrated"]


def refused(worker, text: str, name: str = "old") -> str:
    spoken = worker(text)
    spoken.heard()
    spoken.prepare(name)
    reply = spoken.ask("calibrate", seed=3, least_ns=1_000)
    return reply["failed"]["problem"]["refused"]


@pytest.mark.parametrize("case", CHANGING)
def test_an_input_that_a_call_changes_is_renewed_for_every_call_with_a_note(worker, case):
    make, change, kind = CHANGING[case]
    told = piloted(worker, FILE.format(make=make, change=change, more=""))
    assert told["input_per_call"] is True
    assert told["most_iterations"] == 4_096
    (note,) = told["notes"]
    assert note.startswith(f"'new' changes its input ({kind}), so every call gets its own input")


@pytest.mark.parametrize(
    ("make", "use"),
    [
        ("[3, 1, 2]", "sorted(x)"),
        ("{'a': [1]}", "x['a'].count(1)"),
        ("(lambda: 1, __import__('threading').Lock())", "x[0]()"),
        ("__import__('io').StringIO('abc')", "x.getvalue()"),
        ("seed", "x + 1"),
    ],
)
def test_an_input_that_is_only_read_is_shared(worker, make, use):
    told = piloted(worker, FILE.format(make=make, change=f"return {use}", more=""))
    assert "notes" not in told
    assert "input_per_call" not in told
    assert "most_iterations" not in told


def test_who_says_so_shares_an_input_that_is_changed(worker):
    told = piloted(
        worker,
        FILE.format(make="[3, 1]", change="x.sort()", more=", input_per_call=False"),
    )
    assert "input_per_call" not in told
    (note,) = told["notes"]
    assert note.startswith("'new' changes its input (list), which all calls share")


def test_a_change_that_no_pickle_shows_is_found_by_the_second_call(worker):
    text = """
import threading
class Opaque:
    def __init__(self): self.lock, self.left = threading.Lock(), 3
    def __reduce_ex__(self, protocol): raise TypeError
    def take(self):
        self.left -= 3
        return [1] * (self.left + 3)
def make(seed): return Opaque()
def new(x): return x.take()
@deadheat.benchmark(input=make, candidates=[new])
def old(x): return [1]
"""
    told = piloted(worker, text)
    assert told["input_per_call"] is True
    assert "'new' changes its input (Opaque)" in told["notes"][0]


ITERATORS = {
    "(i for i in range(9))": "a generator",
    "map(str, range(9))": "a map",
    "filter(None, range(9))": "a filter",
    "zip('ab', 'cd')": "a zip",
    "iter([1, 2])": "an iterator (list_iterator)",
    "(1, iter(b'abc'))": "an iterator (bytes_iterator)",
    "__import__('csv').reader(['a,b'])": "an iterator (reader)",
    "__import__('re').finditer('a', 'aa')": "an iterator (callable_iterator)",
}


@pytest.mark.parametrize("make", ITERATORS)
def test_an_iterator_as_input_is_refused_by_name(worker, make):
    said = refused(worker, FILE.format(make=make, change="return len(list(x))", more=""))
    assert said.startswith("cannot be raced: its input ")
    assert f" {ITERATORS[make]}, which the first call uses up" in said
    assert "make a list of it in `input`" in said
    assert "input_per_call=True" in said
    # With an input for every call there is nothing wrong with it.
    told = piloted(
        worker,
        FILE.format(make=make, change="return len(list(x))", more=", input_per_call=True"),
    )
    assert "notes" not in told


@pytest.mark.parametrize("make", ["io.StringIO('a b')", "open(__file__)", "io.BytesIO(b'ab')"])
def test_an_open_file_as_input_is_refused_unless_it_is_rewound(worker, make):
    made = make.replace("io.", "__import__('io').")
    said = refused(worker, FILE.format(make=made, change="return x.read()", more=""))
    assert "its input is an open file" in said
    assert "input_per_call=True" in said
    rewound = "x.seek(0); return x.read()"
    assert "notes" not in piloted(worker, FILE.format(make=made, change=rewound, more=""))


ARGUMENTS = """
@deadheat.benchmark(args={{"x": [{value}]}}, name="old")
def old(x): return {use}
"""


@pytest.mark.parametrize(
    ("value", "use", "words"),
    [
        ("[3, 1, 2]", "x.sort()", "its argument 'x' (list) is changed"),
        ("[3, 1, 2]", "x.clear()", "its argument 'x' (list) is used up by the first call"),
        ("list(range(99))", "x.pop()", "its argument 'x' (list) shrinks with every call"),
        ("map(str, [1, 2])", "list(x)", "its argument 'x' (map) is used up by the first call"),
        ("{1: 2}", "x.update({3: 4})", "its argument 'x' (dict) is changed"),
    ],
)
def test_an_argument_that_is_changed_is_refused(worker, value, use, words):
    spoken = worker(ARGUMENTS.format(value=value, use=use))
    spoken.heard()
    name = spoken.ask("list")["listed"]["benchmarks"][0]["name"]
    spoken.prepare(name)
    said = spoken.ask("calibrate", seed=3, least_ns=1_000)["failed"]["problem"]["refused"]
    assert words in said
    assert "make it in `input`, one for every call (input_per_call=True)" in said


def test_arguments_that_are_to_be_written_to_are_shared_if_that_is_said(worker):
    text = """
from array import array
@deadheat.benchmark(args={{"x": [array("d", [2, 1])]}}, name="old"{more})
def old(x): x.reverse()
"""
    name = "old/array('d', [2.0, 1.0])"
    said = refused(worker, text.format(more=""), name)
    assert "with input_per_call=False, all calls share the changed one" in said
    (note,) = piloted(worker, text.format(more=", input_per_call=False"), name)["notes"]
    assert note.startswith("'old' changes its argument 'x' (array), which all calls share")


CAPTURED = """
import collections, io, itertools
held = {value}
@deadheat.benchmark
def old(): {use}
"""


@pytest.mark.parametrize(
    ("value", "use", "words"),
    [
        ("(i for i in range(9))", "return sum(held)", "(generator) is used up"),
        ("zip('ab', 'cd')", "return list(held)", "(zip) is used up"),
        ("io.StringIO('abc')", "return held.read()", "(StringIO) is used up"),
        ("collections.deque('abc')", "held.clear()", "(deque) is used up"),
        ("set(range(99))", "return held.pop()", "(set) shrinks with every call"),
        ("[3, 1, 2]", "held.sort()", "(list) is changed by a call"),
    ],
)
def test_what_a_function_captured_and_uses_up_is_refused(worker, value, use, words):
    said = refused(worker, CAPTURED.format(value=value, use=use))
    assert f"the global 'held' {words}" in said


@pytest.mark.parametrize(
    ("value", "use"),
    [
        ("itertools.count()", "return next(held)"),
        ("itertools.cycle('ab')", "return next(held)"),
        ("{}", "held['memo'] = 1"),
        ("{'calls': 0}", "held['calls'] += 1"),
        ("[0]", "held[0] += 1"),
        ("io.StringIO()", "held.write('x')"),
        ("[1, 2, 3]", "return sum(held)"),
    ],
)
def test_what_a_function_captured_and_does_not_use_up_is_left_to_it(worker, value, use):
    assert "notes" not in piloted(worker, CAPTURED.format(value=value, use=use))


@pytest.mark.parametrize(
    ("value", "use", "words"),
    [
        ("bytearray(b'ab')", "held[0] ^= 1", "changes the global 'held' (bytearray)"),
        ("[]", "held.append(1)", "(list) grows with every call"),
    ],
)
def test_what_a_function_captured_and_changes_is_noted(worker, value, use, words):
    (note,) = piloted(worker, CAPTURED.format(value=value, use=use))["notes"]
    assert words in note


def test_what_works_off_something_that_cannot_be_seen_is_refused(worker):
    said = refused(
        worker,
        """
class Stack:
    def __init__(self): self.left = [1, 2, 3]
    def take(self):
        taken, self.left = self.left, []
        return taken
stack = Stack()
@deadheat.benchmark
def old(): return stack.take()
""",
    )
    assert "its first call returns a list of 3 and its second an empty one" in said


def test_the_other_processes_are_told_to_renew_the_input(worker, tmp_path):
    spoken = worker(FILE.format(make="[3, 1]", change="assert x == [3, 1]; x.sort()", more=""))
    spoken.heard()
    rest = {"clock": "os", "cpu_overhead_ns": 0, "heap_bytes": 0, "stack_bytes": 0}
    spoken.ask("prepare", benchmark="old", contender=None, input_per_call=True, **rest)
    spoken.block([0, 1, 1, 0], iterations=5)
    assert "block" in spoken.heard()


def data(seed):
    return [index * seed % 1_009 for index in range(300)]


def copying(numbers):
    return sorted(numbers)


def in_place(numbers):
    numbers.sort()
    return numbers


def test_a_race_of_a_sort_in_place_is_of_unsorted_inputs_and_says_so():
    result = deadheat.race(copying, in_place, input=data, check_outputs=True, **FEW)
    note = "'in_place' changes its input (list), so every call gets its own input"
    assert any(note in warning for warning in result.warnings)
    assert note in str(result).replace("\n", " ").replace("         ", "")
    (told,) = [
        one for one in result.json["benchmarks"][0]["warnings"] if "in_place" in one["message"]
    ]
    assert told["code"] == "worker-note"
    shared = deadheat.race(copying, in_place, input=data, input_per_call=False, **FEW)
    # Sorting what is sorted takes a third of the time.
    assert shared.candidate.typical < 0.8 * result.candidate.typical


def test_an_iterator_as_input_of_a_race_is_an_error_in_plain_words():
    with pytest.raises(deadheat.DeadheatError, match=r"its input is an iterator.*input_per_call"):
        deadheat.race(sum, max, input=lambda seed: iter(range(1_000)), **FEW)


def changed(value, change) -> bool:
    before = State(value)
    assert before == State(value)
    change(value)
    return before != State(value)


def queued(*items):
    found = queue.Queue()
    for item in items:
        found.put(item)
    return found


class Slotted:
    __slots__ = ("items", "lock")

    def __init__(self):
        self.items, self.lock = [1], threading.Lock()


@pytest.mark.parametrize(
    ("value", "change"),
    [
        ([3, 1], list.sort),
        (list(range(500_000, 0, -1)), list.sort),
        (list(range(500_000)), list.pop),
        (queued(1, 2), queue.Queue.get),
        (deque([1, 2]), deque.rotate),
        (bytearray(b"ab"), bytearray.reverse),
        (array("d", [2, 1]), array.reverse),
        (array("d", range(3_000_000)), array.reverse),
        (io.BytesIO(b"abc"), io.BytesIO.read),
        (random.Random(1), random.Random.random),
        (([1], queued(1), lambda: 1), lambda value: value[1].get()),
        (Slotted(), lambda value: value.items.append(2)),
    ],
)
def test_a_state_differs_after_a_change(value, change):
    assert changed(value, change)
    assert not changed(value, lambda value: None)


def test_arrays_and_frames_are_compared_by_what_they_hold():
    numpy = pytest.importorskip("numpy")
    assert changed(numpy.arange(9.0)[::-1].copy(), lambda value: value.sort())
    assert changed(numpy.arange(3_000_000), lambda value: value[::-1].sort())
    assert changed(numpy.array([[1], {}], dtype=object), lambda value: value[0].append(2))
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [2, 1], "b": [1, 1]})
    assert not changed(frame, lambda frame: frame.groupby("b").sum())
    assert changed(frame, lambda frame: frame.insert(0, "c", 1))


def test_iterators_have_names_and_files_none():
    assert one_shot(iter([])) == "an iterator (list_iterator)"
    assert one_shot(enumerate([])) == "an enumerate"
    assert one_shot([]) is None
    assert one_shot(io.StringIO()) is None
    used = iter([1])
    assert not is_used_up(used)
    list(used)
    assert is_used_up(used)


def test_of_two_builds_both_get_an_input_for_every_call_if_one_of_them_changes_it(tmp_path):
    (tmp_path / "bench_it.py").write_text("""
import sys, deadheat
changes = "changes" in sys._xoptions
@deadheat.benchmark(input=lambda seed: [3, 1, 2])
def f(numbers):
    # Every function gets the input as it was made.
    assert numbers == [3, 1, 2]
    if changes: numbers.sort()
deadheat.suite()
""")
    commands = [f"{sys.executable} bench_it.py", f"{sys.executable} -X changes bench_it.py"]
    few = ["--max-replicates=2", "--blocks=4", "--json", "-n", "old", "-n", "new"]
    done = subprocess.run(
        [sys.executable, "-m", "deadheat", "bench", *commands, *few, "--save=run.jsonl"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
    )
    (told,) = json.loads(done.stdout)["benchmarks"]
    notes = [one["message"] for one in told["warnings"] if one["code"] == "worker-note"]
    note = "new: 'f' changes its input (list), so every call gets its own input"
    assert notes[0].startswith(note)
    (planned,) = json.loads((tmp_path / "run.jsonl").read_text().split("\n")[0])["plan"][
        "benchmarks"
    ]
    assert planned["input_per_call"] is True
    assert planned["notes"] == notes
