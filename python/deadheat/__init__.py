"""Races of Python functions: is B faster than A, by how much, how sure?

    result = deadheat.race(old=sorted, new=my_sort, input=make)
    result.verdict, result.change, result.interval

The manual is docs/python.md.
"""

from __future__ import annotations

__version__ = "0.1.0"

from deadheat._benchmarks import benchmark, suite
from deadheat._errors import (
    CannotTravel,
    DeadheatError,
    ProgramNotFound,
    RaceFailed,
    TooSlow,
    UsageError,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from deadheat._race import race
    from deadheat._result import Result, Side

__all__ = [
    "CannotTravel",
    "DeadheatError",
    "ProgramNotFound",
    "RaceFailed",
    "Result",
    "Side",
    "TooSlow",
    "UsageError",
    "benchmark",
    "race",
    "suite",
]


def __getattr__(name: str) -> object:
    # What a worker does not need is imported when it is: a replicate is to start soon.
    if name == "race":
        from deadheat._race import race

        return race
    if name in ("Result", "Side"):
        from deadheat import _result

        return getattr(_result, name)
    raise AttributeError(f"module 'deadheat' has no attribute {name!r}")
