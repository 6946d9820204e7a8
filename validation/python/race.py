"""One race by `deadheat.race`: `race.py FUNCTION MODULE` races that of `itself` against that of the
other module, and prints the answer and the seconds from the call to its return."""

import json
import sys
from time import perf_counter

import itself

import deadheat

function, other = sys.argv[1:]
began = perf_counter()
result = deadheat.race(
    f"itself:{function}",
    f"{other}:{function}",
    input=itself.INPUTS[function],
    names=("itself", other),
)
print(json.dumps({"seconds": perf_counter() - began, "answer": result.json}))
