"""Races of ten functions against copies of themselves, and against 1 % more work.

    python measure/races.py [RACES]

A copy is the same text in another module. Counts by their verdict, and seconds a race.
"""

import importlib
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import perf_counter

import deadheat

SUBJECTS = """
import json
import random
import re

# Which of two inputs is worked through: that of size n, or one of 1 % more.
SIDE = {side}


def both(make, size):
    def pair(seed):
        draw = random.Random(seed)
        big = make(draw, size + size // 100)
        return big[:size], big
    return pair


def words(draw, size):
    return ["".join(draw.choices("abcdef", k=6)) for _ in range(size)]


def numbers(draw, size):
    return [draw.randrange(10**6) for _ in range(size)]


def records(draw, size):
    return [{{"name": word, "at": [len(word), 2.5]}} for word in words(draw, size)]


def adds(given):
    return given[SIDE][0] + 1


def looks_up(given, table={{"a": 1, "b": 2, "c": 3}}):
    given[SIDE]
    return table["a"] + table["b"] + table["c"]


def splits(given):
    return given[SIDE].split(" ")


def loops(given):
    total = 0
    for number in given[SIDE]:
        total += number & 7
    return total


def matches(given, pattern=re.compile("[ab]+c")):
    return pattern.findall(given[SIDE])


def parses(given):
    return json.loads(given[SIDE])


def dumps(given):
    return json.dumps(given[SIDE])


def sorts(given):
    return sorted(given[SIDE])


def counts(given):
    found = {{}}
    for word in given[SIDE]:
        found[word] = found.get(word, 0) + 1
    return found


def multiplies(given):
    rows = given[SIDE]
    return [[x * y % 97 for y in range(100)] for x in rows]


def in_turn(make, then):
    return lambda seed: tuple(map(then, make(seed)))


INPUTS = {{
    "adds": both(numbers, 100),
    "looks_up": both(numbers, 100),
    "splits": in_turn(both(words, 100), " ".join),
    "loops": both(numbers, 200),
    "matches": in_turn(both(words, 100), " ".join),
    "parses": in_turn(both(records, 100), json.dumps),
    "dumps": both(records, 100),
    "sorts": both(numbers, 2_000),
    "counts": both(words, 3_000),
    "multiplies": both(numbers, 2_000),
}}
# The work of these does not grow with the input.
CONSTANT = {{"adds", "looks_up"}}
"""

races = int(sys.argv[1]) if len(sys.argv) > 1 else 5
totals = {"copy_of_it": Counter(), "more_of_it": Counter()}
with tempfile.TemporaryDirectory() as folder:
    for name, side in [("itself", 0), ("copy_of_it", 0), ("more_of_it", 1)]:
        Path(folder, f"{name}.py").write_text(SUBJECTS.format(side=side))
    sys.path.insert(0, folder)
    itself = importlib.import_module("itself")
    for subject in itself.INPUTS:
        for other, total in totals.items():
            if other == "more_of_it" and subject in itself.CONSTANT:
                continue
            verdicts, began, changes = Counter(), perf_counter(), []
            for _ in range(races):
                result = deadheat.race(
                    f"itself:{subject}",
                    f"{other}:{subject}",
                    input=itself.INPUTS[subject],
                    names=("itself", other),
                )
                verdicts[result.verdict] += 1
                changes.append(result.change)
            total.update(verdicts)
            print(
                f"{subject:11}{other:11}{result.baseline.typical:12.1f} ns  "
                f"{(perf_counter() - began) / races:5.1f} s a race  "
                f"{100 * min(changes):+.2f} to {100 * max(changes):+.2f} %  {dict(verdicts)}",
                flush=True,
            )
for other, total in totals.items():
    print(f"{other}: {total.total()} races, {dict(total)}")
