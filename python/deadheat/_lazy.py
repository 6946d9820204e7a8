"""Recognises outputs that are not computed yet. Only the pilot imports this module."""

from __future__ import annotations

from deadheat._inputs import one_shot, within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Classes that represent a computation not yet begun: package, class, description, and the setting
# that makes a race compute it.
PLANS = [
    ("polars", "LazyFrame", "a lazy frame", "drain=polars.LazyFrame.collect"),
    ("dask", "DaskMethodsMixin", "a graph of dask", "drain=lambda output: output.compute()"),
    ("xarray", "Dataset", "a lazy dataset", "drain=lambda output: output.compute()"),
    ("xarray", "DataArray", "a lazy array", "drain=lambda output: output.compute()"),
    ("ibis", "Expr", "an expression of ibis", "drain=lambda output: output.execute()"),
    ("narwhals", "LazyFrame", "a lazy frame", "drain=lambda output: output.collect()"),
    ("datafusion", "DataFrame", "a plan of datafusion", "drain=lambda output: output.collect()"),
    ("pyspark", "DataFrame", "a plan of Spark", "drain=lambda output: output.collect()"),
    ("pyspark", "RDD", "a plan of Spark", "drain=lambda output: output.collect()"),
    (
        "duckdb",
        "DuckDBPyRelation",
        "a relation of DuckDB",
        "drain=lambda output: output.fetchall()",
    ),
    (
        "_duckdb",
        "DuckDBPyRelation",
        "a relation of DuckDB",
        "drain=lambda output: output.fetchall()",
    ),
    ("sqlalchemy", "Query", "a query", "drain=list"),
    ("django", "QuerySet", "a query", "drain=list"),
    ("peewee", "BaseQuery", "a query", "drain=list"),
]
EXHAUST = "drain=True exhausts it within the timed call, and drain=list makes a list of it"


class Lazy:
    """An output that is not computed yet: its description, and advice on computing it."""

    def __init__(
        self, what: str, way_out: str, is_iterator: bool = False, is_own: bool = False
    ) -> None:
        self.what = what
        self.way_out = way_out
        self.is_iterator = is_iterator
        # An iterator of a class outside of Python itself, such as a lexer: making one may be the
        # work.
        self.is_own = is_own


def lazy(output: Any) -> Lazy | None:
    """Finds an uncomputed output: the output itself, or an item if it is a container."""
    for place, item in enumerate(within(output)):
        found = lazy_itself(item)
        if found is not None and place > 0:
            kind = type(output).__name__
            way_out = "give drain= a function that computes all of it"
            return Lazy(f"a {kind} with {found.what} in it", way_out)
        if found is not None:
            return found
    return None


def lazy_itself(output: Any) -> Lazy | None:
    kind = type(output)
    name = one_shot(output)
    if name in ("a coroutine", "an async generator"):
        return Lazy(name, "make the function async, and await what it calls")
    if hasattr(kind, "__await__"):
        return Lazy(f"an awaitable ({kind.__name__})", "make the function async, and await it")
    if name is not None:
        is_own = kind.__module__ not in ("builtins", "itertools")
        return Lazy(name, EXHAUST, is_iterator=True, is_own=is_own)
    if hasattr(kind, "add_done_callback") and not output.done():
        return Lazy("a future", "drain=lambda output: output.result()")
    if hasattr(kind, "block_until_ready"):
        return Lazy("an array that may not be computed yet", "drain=jax.block_until_ready")
    for each in kind.__mro__:
        for package, named, what, way_out in PLANS:
            if each.__name__ == named and each.__module__.partition(".")[0] == package:
                return Lazy(what, way_out) if is_open(package, output) else None
    return None


def is_open(package: str, output: Any) -> bool:
    """Returns whether an object of a possibly lazy class is not computed yet."""
    if package == "xarray":
        return output.__dask_graph__() is not None
    # A Django query caches its rows after it has run.
    return getattr(output, "_result_cache", None) is None


def kind_of(output: Any) -> str:
    """The kind of an output, for a message: "a list", "None"."""
    found = lazy(output)
    if found is not None:
        return found.what
    if output is None:
        return "None"
    name = type(output).__name__
    return f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"
