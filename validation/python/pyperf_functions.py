"""Three functions for pyperf, as one would write them."""

import json

import pyperf

runner = pyperf.Runner()
things = {str(number): [number, str(number)] for number in range(200)}
runner.bench_func("dumps", json.dumps, things)
runner.bench_func("sorts", sorted, list(range(1_000, 0, -1)))
runner.timeit("loops", "sum(number * number for number in numbers)", "numbers = range(500)")
