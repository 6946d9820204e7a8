"""What the timing loop costs a call, beside the same calls in one row without a loop: nanoseconds,
of an empty function and of a type."""

import json
from statistics import median
from time import perf_counter_ns

from deadheat._benchmarks import Benchmark
from deadheat._timing import Contender, Instruments

CALLS, ROUNDS = 4_096, 2_000


def nothing():
    pass


cost = {}
for function in (nothing, int):
    contender = Contender(0, function, Benchmark("none", {"none": function}), Instruments())
    calls = "; ".join(["function()"] * CALLS)
    source = f"def row(function, clock):\n begun = clock()\n {calls}\n return clock() - begun"
    namespace = {}
    exec(source, namespace)
    # In turns, so that both meet the same machine.
    pairs = [
        (
            contender.sample(None, CALLS)[0] / CALLS,
            namespace["row"](function, perf_counter_ns) / CALLS,
        )
        for _ in range(ROUNDS)
    ]
    loop, row = (median(side) for side in zip(*pairs))
    cost[function.__name__] = loop - row
print(json.dumps(cost))
