"""Ten calls of orjson, in the manner of its README."""

import random
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

import orjson

import deadheat


@dataclass
class Member:
    id: int
    active: bool
    name: str


class Money:
    def __init__(self, cents):
        self.cents = cents


def words(draw, size):
    return ["".join(draw.choices("abcdefgh é", k=8)) for _ in range(size)]


def document(seed):
    draw = random.Random(seed)
    return [
        {"type": "job", "id": draw.randrange(10**9), "at": draw.random(), "tags": words(draw, 4)}
        for _ in range(100)
    ]


def numbers(seed):
    draw = random.Random(seed)
    return [draw.uniform(-180, 180) for _ in range(1_000)]


def members(seed):
    draw = random.Random(seed)
    return [Member(draw.randrange(10**6), draw.random() < 0.5, name) for name in words(draw, 200)]


def times(seed):
    draw = random.Random(seed)
    first = datetime(2001, 2, 3, 4, 5, 6, tzinfo=timezone.utc)
    return [first + timedelta(seconds=draw.randrange(10**9)) for _ in range(200)]


def identities(seed):
    draw = random.Random(seed)
    return [uuid.UUID(int=draw.getrandbits(128)) for _ in range(200)]


def by_number(seed):
    return {number: str(number) for number in random.Random(seed).sample(range(10**6), 200)}


def sums(seed):
    return [Money(cents) for cents in random.Random(seed).sample(range(10**6), 200)]


def cents_of(money):
    return money.cents


@deadheat.benchmark(input=document)
def dumps(document):
    return orjson.dumps(document)


@deadheat.benchmark(input=document)
def dumps_indented(document):
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)


@deadheat.benchmark(input=document)
def dumps_sorted(document):
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS)


@deadheat.benchmark(input=members)
def dumps_dataclasses(members):
    return orjson.dumps(members)


@deadheat.benchmark(input=times)
def dumps_times(times):
    return orjson.dumps(times, option=orjson.OPT_NAIVE_UTC)


@deadheat.benchmark(input=identities)
def dumps_uuids(identities):
    return orjson.dumps(identities)


@deadheat.benchmark(input=by_number)
def dumps_other_keys(by_number):
    return orjson.dumps(by_number, option=orjson.OPT_NON_STR_KEYS)


@deadheat.benchmark(input=sums)
def dumps_by_default(sums):
    return orjson.dumps(sums, default=cents_of)


@deadheat.benchmark(input=lambda seed: orjson.dumps(document(seed)))
def loads(text):
    return orjson.loads(text)


@deadheat.benchmark(input=lambda seed: orjson.dumps(numbers(seed)))
def loads_numbers(text):
    return orjson.loads(text)


deadheat.suite()
