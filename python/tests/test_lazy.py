"""Outputs that are not computed yet, and what drains them."""

from __future__ import annotations

import pytest
from test_inputs import piloted, refused

import deadheat
from deadheat._benchmarks import Benchmark
from deadheat._errors import Refused
from deadheat._lazy import lazy
from deadheat._pilot import Examination

FEW = {"max_replicates": 6, "blocks": 6, "seed": 7}
FILE = """
import concurrent.futures
async def later(): return 1
async def many(): yield 1
def new(): return [1, 2]
@deadheat.benchmark(candidates=[new]{more})
def old(): return {output}
"""
LAZY = {
    "(i for i in range(9))": "a generator",
    "map(str, range(9))": "a map",
    "filter(None, range(9))": "a filter",
    "zip('ab', 'cd')": "a zip",
    "enumerate('ab')": "an enumerate",
    "(1, iter([1]))": "a tuple with an iterator (list_iterator) in it",
    "later()": "a coroutine",
    "many()": "an async generator",
    "concurrent.futures.Future()": "a future",
}


@pytest.mark.parametrize("output", LAZY)
def test_an_output_that_is_not_computed_is_refused_by_name(worker, output):
    said = refused(worker, FILE.format(output=output, more=""))
    assert said.startswith(f"returns {LAZY[output]}, with nothing computed yet")
    assert "while 'new' returns a list" in said
    assert "drain" in said or "make the function async" in said


@pytest.mark.parametrize("drain", ["True", "list", "sum", "lambda output: len(list(output))"])
def test_an_output_is_drained_within_the_call_and_other_kinds_are_noted(worker, drain):
    told = piloted(worker, FILE.format(output="(i for i in range(9))", more=f", drain={drain}"))
    (note,) = told["notes"]
    assert "'old' returns a generator and 'new' returns a list" in note


def test_the_making_of_an_iterator_is_raced_if_that_is_what_is_wanted(worker):
    told = piloted(worker, FILE.format(output="map(str, range(9))", more=", drain=False"))
    assert "notes" not in told


def test_a_drain_that_leaves_an_iterator_is_refused(worker):
    said = refused(worker, FILE.format(output="map(str, [1])", more=", drain=iter"))
    assert said.startswith("cannot be raced: drain leaves a map, with nothing computed")


def test_async_functions_are_drained_when_they_were_awaited(worker):
    text = """
async def new(): return [1]
@deadheat.benchmark(candidates=[new], drain=list)
async def old(): return map(str, [1])
"""
    told = piloted(worker, text)
    assert "'old' returns a map and 'new' returns a list" in told["notes"][0]


def test_drain_with_nothing_left_has_nothing_to_compare():
    with pytest.raises(deadheat.UsageError, match="drain=list"):
        deadheat.race(thousands, listed, drain=True, check_outputs=True)


def thousands():
    return (number for number in range(2_000))


def listed():
    return list(range(2_000))


def test_a_race_of_a_generator_against_a_list_times_what_it_computes():
    with pytest.raises(deadheat.DeadheatError, match=r"returns a generator.*drain=True"):
        deadheat.race(listed, thousands, **FEW)
    result = deadheat.race(listed, thousands, drain=list, check_outputs=True, **FEW)
    assert result.verdict == "slower"
    assert any("deadheat applies drain to all" in warning for warning in result.warnings)


class Frame:
    pass


def named(name: str, module: str) -> object:
    """An object of a class of this name, without the package that has one."""
    return type(name, (Frame,), {"__module__": module})()


@pytest.mark.parametrize(
    ("name", "module", "what"),
    [
        ("LazyFrame", "polars.lazyframe.frame", "a lazy frame"),
        ("Query", "sqlalchemy.orm.query", "a query"),
        ("QuerySet", "django.db.models.query", "a query"),
        ("DuckDBPyRelation", "duckdb", "a relation of DuckDB"),
        ("DataFrame", "pyspark.sql.dataframe", "a plan of Spark"),
    ],
)
def test_plans_of_packages_are_known_by_their_class(name, module, what):
    found = lazy(named(name, module))
    assert found is not None
    assert found.what == what
    assert found.way_out.startswith("drain=")
    assert lazy(named(name, "mine")) is None


def test_a_query_that_has_its_rows_is_computed():
    rows = named("QuerySet", "django.db.models.query")
    rows._result_cache = [1]
    assert lazy(rows) is None


def test_real_plans_are_known():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [1]})
    assert lazy(frame) is None
    assert lazy(frame.lazy()).way_out == "drain=polars.LazyFrame.collect"


def test_a_query_is_not_computed_by_the_look_at_it():
    class QuerySet:
        _result_cache = None

        def __len__(self):
            self._result_cache = [1]
            return 1

    QuerySet.__module__ = "django.db.models.query"
    benchmark = Benchmark("it", {"it": QuerySet})
    found = Examination(benchmark, lambda _: QuerySet(), lambda: None)
    found.look(0, "it", QuerySet)
    with pytest.raises(Refused, match="a query"):
        found.refuse_lazy("it")
