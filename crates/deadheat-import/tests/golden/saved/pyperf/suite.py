import os
import sys

import pyperf

EXTRA = int(os.environ.get("EXTRA", "0"))

def sort_numbers():
    sorted(range(200 + EXTRA), key=lambda n: -n)

def join_words():
    " ".join(["word"] * 300)

def sum_inner(loops):
    start = pyperf.perf_counter()
    for _ in range(loops):
        sum(range(100))
        sum(range(100))
    return pyperf.perf_counter() - start


runner = pyperf.Runner()
runner.metadata["description"] = "three small functions"
runner.bench_func("sort numbers", sort_numbers)
runner.bench_func("join words", join_words)
runner.bench_time_func("sum twice", sum_inner, inner_loops=2)
