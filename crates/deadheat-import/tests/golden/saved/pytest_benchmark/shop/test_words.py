import os

import pytest

EXTRA = int(os.environ.get("EXTRA", "0"))


@pytest.mark.parametrize("count", [10, 100])
def test_join(benchmark, count):
    benchmark.group = "words"
    benchmark.extra_info["separator"] = "comma"
    benchmark(",".join, ["word"] * (count + EXTRA))


def test_small(benchmark):
    benchmark(str.upper, "small")


@pytest.mark.benchmark(group="words")
@pytest.mark.parametrize(("text", "times"), [("ab", 3), ("c d", 5)], ids=["short", "with space"])
def test_repeat(benchmark, text, times):
    benchmark.pedantic(lambda: text * times, rounds=6, iterations=200, warmup_rounds=1)


def test_that_fails(benchmark):
    benchmark(int, "no number")
