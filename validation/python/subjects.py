"""Functions that race copies of themselves, and themselves with 1 % more work.

The table copies this file: a copy is the same text as another module, and the one with more work
says so in its first assignment.
"""

import json
import random
import re

# Which of two inputs is worked through: the first, or one of 1 % more.
SIDE = 0

KINDS = ["add", "sub", "mul", "div", "neg", "jump", "load", "store", "call", "ret"]
HANDLERS = {kind: number for number, kind in enumerate(KINDS)}


def both(seed, make, size):
    draw = random.Random(seed)
    big = make(draw, size + size // 100)
    return big[:size], big


def words(draw, size):
    return ["".join(draw.choices("abcdef", k=6)) for _ in range(size)]


def numbers(draw, size):
    return [draw.randrange(10**6) for _ in range(size)]


def records(draw, size):
    return [{"name": word, "at": [len(word), 2.5]} for word in words(draw, size)]


def floats(draw, size):
    # Imported here: it is part of one function and not of the start of all.
    import numpy

    return numpy.random.default_rng(draw.getrandbits(32)).random(size)


def few(seed):
    return both(seed, numbers, 100)


def adds(given):
    return given[SIDE][0] + 1


def looks_up(given, table={"a": 1, "b": 2, "c": 3}):  # noqa: B006
    given[SIDE]
    return table["a"] + table["b"] + table["c"]


def short_text(seed):
    return tuple(map(" ".join, both(seed, words, 100)))


def matches(given, pattern=re.compile("[ab]+c")):
    return pattern.findall(given[SIDE])


def some(seed):
    return both(seed, numbers, 900)


def loops(given):
    total = 0
    for number in given[SIDE]:
        total += number & 7
    return total


def an_array(seed):
    return both(seed, floats, 10_000)


def sines(given):
    import numpy

    return numpy.sin(given[SIDE]).sum()


def json_text(seed):
    return tuple(map(json.dumps, both(seed, records, 100)))


def parses(given):
    return json.loads(given[SIDE])


def few_records(seed):
    return both(seed, records, 100)


def dumps(given):
    return json.dumps(given[SIDE])


def many(seed):
    return both(seed, numbers, 2_000)


def sorts(given):
    return sorted(given[SIDE])


def many_words(seed):
    return both(seed, words, 3_000)


def counts(given):
    found = {}
    for word in given[SIDE]:
        found[word] = found.get(word, 0) + 1
    return found


def multiplies(given):
    rows = given[SIDE]
    return [[x * y % 97 for y in range(100)] for x in rows]


def kinds(seed):
    return both(seed, lambda draw, size: draw.choices(KINDS, k=size), 200)


def dispatches(given, handlers=HANDLERS):
    """Its time hangs on the hash seed: that decides which kinds collide in the dict."""
    total = 0
    for kind in given[SIDE]:
        total += handlers[kind]
    return total


# The input of each function, from a seed.
INPUTS = {
    "adds": few,
    "looks_up": few,
    "matches": short_text,
    "loops": some,
    "sines": an_array,
    "parses": json_text,
    "dumps": few_records,
    "sorts": many,
    "counts": many_words,
    "multiplies": many,
    "dispatches": kinds,
}
