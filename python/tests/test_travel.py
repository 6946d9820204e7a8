"""What travels to a fresh process, and what is refused by name."""

from __future__ import annotations

import functools
import sys
import threading
from fractions import Fraction

import pytest

import deadheat
from deadheat import _travel

CPYTHON = pytest.mark.skipif(sys.implementation.name == "pypy", reason="travels on PyPy")

# Everything is defined in `__main__`. The fresh process that unpacks it has none of it.
SCRIPT = """
import functools, math, operator, re, subprocess, sys
from deadheat._travel import packed, script_for

@functools.lru_cache(maxsize=7, typed=True)
def fib(n):
    "Fibonacci's numbers."
    return n if n < 2 else fib(n - 1) + fib(n - 2)

@functools.cache
def twice(n): return helper(n)
def helper(n): return n + n

@functools.singledispatch
def kind(value): return "any"
@kind.register
def _(value: int): return f"int, {kind(None)}"
@kind.register(list)
def _(value): return [kind(each) for each in value]
kind.noted = 5

def traced(function):
    @functools.wraps(function)
    def wrapper(*args): return function(*args)
    return wrapper

@traced
def decorated(n): return n - 1

class Scale:
    def __init__(self, factor): self.factor = factor
    def __call__(self, n): return self.factor * n
    def scaled(self, n): return self.factor * n
    @classmethod
    def of_class(cls, n): return (cls.__name__, n)
    @staticmethod
    def of_none(n): return -n
    @functools.lru_cache
    def kept(self, n): return self.factor * n
    @functools.cached_property
    def square(self): return self.factor ** 2
    def area(self, n): return self.square + n
    @functools.singledispatchmethod
    def told(self, value): return "any"
    @told.register
    def _(self, value: int): return "int"
    class Inner:
        @functools.cache
        def deep(n): return n + 100

def late():
    @functools.lru_cache
    def inner(n): return n * 10 if n < 10 else inner(n - 1)
    return inner

async def awaited(n): return n

fib(30), twice(4)
functions = {
    "cache": (fib, 10), "cache that calls": (twice, 21), "uses a cache": (lambda n: fib(n), 10),
    "inner cache": (late(), 12), "cache of C": (functools.cache(math.sqrt), 16),
    "partial of a cache": (functools.partial(fib), 10),
    "cache of a partial": (functools.lru_cache(functools.partial(helper)), 6),
    "dispatch": (kind, [1, "x"]), "partial of dispatch": (functools.partial(kind, 2), None),
    "decorated": (decorated, 3), "decorated twice": (traced(traced(fib)), 10),
    "instance": (Scale(3), 4), "method": (Scale(3).scaled, 4), "class": (Scale.of_class, 4),
    "static": (Scale.of_none, 4), "cached method": (Scale(3).kept, 4),
    "cached property": (Scale(3).area, 4), "method by type": (Scale(3).told, 4),
    "nested": (Scale.Inner.deep, 4), "builtin": (abs, -4), "of C": (math.sqrt, 16),
    "method of a text": ("-".join, "ab"), "item": (operator.itemgetter(1), "ab"),
    "pattern": (re.compile("b").search, "a"), "type": (int, "4"),
}
try:
    import numpy
    functions["ufunc"] = (numpy.negative, 4)
    functions["vectorized"] = (numpy.vectorize(fib), 10)
except ImportError:
    pass
for name, (function, argument) in functions.items():
    open("race.pickle", "wb").write(packed({"f": function}, {"options": {}, "a": argument}))
    fresh = '''
import pickle, sys
sys.path[:] = {path!r}
file = open("race.pickle", "rb")
for _ in range(2):  # The state of the interpreter, and the modules.
    pickle.load(file)
told = pickle.load(file)
function = told["functions"]["f"]
if hasattr(function, "cache_info"): assert function.cache_info().currsize == 0
print(function(*([] if told["a"] is None else [told["a"]])))
'''.format(path=sys.path[1:])
    done = subprocess.run([sys.executable, "-c", fresh], capture_output=True, text=True)
    here = function(*([] if argument is None else [argument]))
    there = done.stdout + done.stderr
    print("ok" if there == f"{here}\\n" else f"{name}: {there}, not {here}")
"""


def test_callables_of_a_script_do_in_a_fresh_process_what_they_do_here(script):
    done = script(SCRIPT)
    assert set(done.stdout.splitlines()) == {"ok"}, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) >= 25


def test_a_copied_cache_keeps_its_settings_and_none_of_its_results():
    @functools.lru_cache(maxsize=7, typed=True)
    def doubled(n):
        """Twice n."""
        return 2 * n

    doubled.note = "here"
    doubled(1)
    make, arguments, state = _travel.parts_of(doubled)
    copy = make(*arguments)
    _travel.set_state(copy, state)
    assert copy.cache_parameters() == {"maxsize": 7, "typed": True}
    assert (copy.__doc__, copy.note, copy.cache_info().currsize) == ("Twice n.", "here", 0)


def test_a_cache_races_against_the_function_that_it_caches(script):
    done = script("""
import functools, deadheat
def plain(n): return n if n < 2 else plain(n - 1) + plain(n - 2)
@functools.lru_cache(maxsize=None)
def cached(n): return n if n < 2 else cached(n - 1) + cached(n - 2)
few = {"max_replicates": 6, "blocks": 4}
print(deadheat.race(plain, cached, input=lambda seed: 10, **few).candidate.name)
print(deadheat.race(cached, cached.__wrapped__, input=lambda seed: 10, **few).baseline.name)
""")
    assert done.stdout == "cached\nold\n", done.stderr


def test_functions_of_modules_go_by_their_path():
    import json
    import shutil
    import textwrap

    for function in (
        json.dumps,
        shutil.copyfile,
        textwrap.TextWrapper.wrap,
        Fraction.from_float,
        abs,
    ):
        assert _travel.by_path(function), function
    assert _travel.by_path(functools.partial(json.dumps, indent=1))
    assert not _travel.by_path(lambda: 1)
    assert not _travel.by_path(functools.lru_cache(abs))
    assert not _travel.by_path("-".join)


class Holder:
    def __init__(self):
        self.guard = threading.Lock()

    def call(self):
        return self.guard

    def __call__(self):
        return self.guard


LOCK = threading.Lock()


def locked():
    with LOCK:
        return 1


def cached():
    @functools.cache
    def keeps():
        return LOCK

    return keeps


def dispatching():
    held = (each for each in "ab")

    @functools.singledispatch
    def kind(value):
        return value

    @kind.register(int)
    def of_int(value):
        return held

    return kind


def wrapped():
    def calls():
        return inner()

    def inner():
        return locked_too()

    def locked_too():
        return LOCK

    return calls


@CPYTHON
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (cached, "keeps uses the global 'LOCK'"),
        (lambda: Holder().call, "the attribute 'guard' of its object"),
        (Holder, "the attribute 'guard' of its object"),
        (lambda: functools.partial(print, LOCK), "argument 1"),
        (dispatching, "of_int uses the variable 'held'"),
        (wrapped, "locked_too uses the global 'LOCK'"),
    ],
)
def test_what_cannot_be_sent_is_found_in_what_a_function_calls(make, words, monkeypatch):
    # As if no fresh process found this file.
    importable = _travel.importable
    found = functools.cache(lambda module: module != __name__ and importable(module))
    monkeypatch.setattr(_travel, "importable", found)
    with pytest.raises(deadheat.CannotTravel) as refused:
        _travel.packed({"old": make()}, {"options": {}})
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@CPYTHON
def test_a_function_of_c_whose_module_no_fresh_process_finds_is_refused(monkeypatch):
    import math

    found = functools.cache(lambda module: module != "math")
    monkeypatch.setattr(_travel, "importable", found)
    with pytest.raises(deadheat.CannotTravel, match="cannot import its module, 'math'"):
        _travel.packed({"old": math.sqrt}, {"options": {}})


def test_other_users_of_cloudpickle_find_its_settings_as_they_left_them(script):
    text = """
import sys, types, cloudpickle, deadheat
module = types.ModuleType("made_here")
exec("def f(): return 1\\ndef g(): return 1", vars(module))
sys.modules["made_here"] = module
before = cloudpickle.list_registry_pickle_by_value()
from deadheat._travel import packed
packed({"old": module.f, "new": module.g}, {"options": {}})
assert cloudpickle.list_registry_pickle_by_value() == before
print("as before")
"""
    done = script(text)
    assert done.stdout == "as before\n", done.stderr
