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
    from deadheat._result import Result, Samples, Side, Verdict
    from deadheat._settings import Settings

__all__ = [
    "CannotTravel",
    "DeadheatError",
    "ProgramNotFound",
    "RaceFailed",
    "Result",
    "Samples",
    "Settings",
    "Side",
    "TooSlow",
    "UsageError",
    "Verdict",
    "benchmark",
    "race",
    "suite",
]


def __getattr__(name: str) -> object:
    # Workers use none of these, and importing them would delay every replicate.
    if name == "race":
        from deadheat._race import race

        return race
    if name in ("Result", "Samples", "Side", "Verdict"):
        from deadheat import _result

        return getattr(_result, name)
    if name == "Settings":
        from deadheat._settings import Settings

        return Settings
    raise AttributeError(f"module 'deadheat' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
