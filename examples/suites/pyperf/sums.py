"""A suite of pyperf, with benchmarks of every kind that it has, and some that go wrong: a chain of
arithmetic, of so many steps in a hundred. docs/suites.md races it as it is."""

import sys
import time

import pyperf


def add_steps(command, args):
    """Hands an option of this script on, to the workers that pyperf itself starts."""
    command.extend(("--steps", str(args.steps)))


runner = pyperf.Runner(add_cmdline_args=add_steps)
runner.argparser.add_argument("--steps", type=int, default=100)
share = runner.parse_args().steps


def chain(steps):
    total = 1
    for step in range(steps * share // 100):
        total = (total ^ step) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF
    return total


def chains(loops, steps):
    """Times itself, and ten chains in every loop."""
    start = time.perf_counter()
    for _ in range(loops):
        for _ in range(10):
            chain(steps)
    return time.perf_counter() - start


async def waits(steps):
    chain(steps)


def fails():
    raise ValueError("out of luck")


def words(loops):
    return loops * len("no time")


print("what a script prints is no result: 3 us")
runner.bench_func("plain", chain, 1000)
runner.bench_func("odd/name with \"quotes\" (and) [a-z]* $'", chain, 500)
for size in (100, 1000):
    runner.bench_func(f"sized/{size}", chain, size)
runner.bench_time_func("ten at once", chains, 100, inner_loops=10)
runner.bench_async_func("async", waits, 500)
runner.timeit("timeit", "chain(500)", globals=globals())
runner.bench_command("command", [sys.executable, "-S", "-c", f"sum(range({share * 20_000}))"])
runner.bench_func("fails", fails)
runner.bench_time_func("words", words, metadata={"unit": "byte"})
if share == 100:
    runner.bench_func("gone", chain, 1000)
