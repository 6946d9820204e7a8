"""A file of benchmarks and a script as users write them, for mypy --strict and pyright: what is
right has no error, and what is wrong has one, or `type: ignore` would be reported as unused."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import deadheat

if TYPE_CHECKING:
    from typing_extensions import assert_type


def words(seed: int) -> list[str]:
    return [str(seed)] * 50


def joined(given: list[str]) -> str:
    return "".join(given)


@deadheat.benchmark(input=words, candidates=[joined], check_outputs=True, rtol=1e-9)
def added(given: list[str]) -> str:
    text = ""
    for word in given:
        text += word
    return text


@deadheat.benchmark
def alone() -> int:
    return 1


async def other(n: int) -> int:
    return n + 1


@deadheat.benchmark(args={"n": [1, 2]}, candidates={"other": other}, items=3)
async def awaited(n: int) -> int:
    return n


def decorated() -> None:
    # The decorator returns the function as it was.
    assert_type(alone(), int)
    assert_type(added(["a"]), str)
    function: Callable[[list[str]], str] = added
    del function


def scripted() -> None:
    result = deadheat.race(
        added, joined, lambda seed: [str(seed)], check_outputs=True, budget=10, pin="none"
    )
    assert_type(result, deadheat.Result)
    assert_type(result.verdict, Literal["faster", "slower", "equivalent", "inconclusive"] | None)
    assert_type(result.change, float | None)
    assert_type(result.interval, tuple[float, float] | None)
    assert_type(result.baseline, deadheat.Side)
    assert_type(result.baseline.typical, float | None)
    assert_type(result.samples, deadheat.Samples)
    assert_type(result.warnings, list[str])
    assert_type(result.sentence, str)
    settings: deadheat.Settings = {"margin": 0.02, "max_replicates": 12}
    deadheat.race("operator:neg", abs, int, **settings)
    verdict: deadheat.Verdict = "slower"
    if result.verdict == verdict:
        raise deadheat.TooSlow(str(result))


def wrong() -> None:
    deadheat.race(added, joined, max_replicate=3)  # type: ignore[call-arg]
    deadheat.race(added, joined, max_replicates="3")  # type: ignore[arg-type]
    deadheat.race(added, joined, waiting="sometimes")  # type: ignore[arg-type]
    deadheat.race(added, 3)  # type: ignore[arg-type]
    deadheat.benchmark(candidate=[joined])  # type: ignore[call-overload]
    deadheat.benchmark(inputs=words)  # type: ignore[call-overload]
    alone("a")  # type: ignore[call-arg]


deadheat.suite()
