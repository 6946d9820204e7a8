"""Kernels against copies of themselves and against more work. `GPU_CASES` is JSON: a list of cases,
each of a kernel, a cache, the number of its work in WORK, and a number that tells cases apart."""

import json
import os

import torch

import deadheat

SIMULATED = hasattr(torch, "launch")
# What the candidate works on, in parts of what the baseline works on. A product of matrices is cut
# into tiles of 64, so only some sizes take as much longer as they have more work.
WORK = {
    "add": [1.0, 1.01, 1.02],
    "softmax": [1.0, 1.01, 1.02],
    "matmul": [1.0, 8_256 / 8_192, 8_320 / 8_192],
    "short": [1.0, 1.01, 1.02],
}
# Nanoseconds of each kernel in the simulation.
SIMULATED_NS = {"add": 69_000, "softmax": 60_000, "matmul": 400_000, "short": 3_000}


def seeded(seed, *shape, dtype=None):
    generator = torch.Generator("cuda").manual_seed(seed)
    return torch.randn(*shape, device="cuda", dtype=dtype, generator=generator)


def vectors(seed):
    return seeded(seed, 17_112_760), seeded(seed + 1, 17_112_760)


def rows(seed):
    return seeded(seed, 8_356, 4_096, dtype=torch.bfloat16)


def matrices(seed):
    left = seeded(seed, 4_096, 8_320, dtype=torch.bfloat16)
    return left, seeded(seed + 1, 8_320, 4_096, dtype=torch.bfloat16)


def add_of(part):
    length = int(16_777_216 * part)
    return lambda both: both[0][:length] + both[1][:length]


def softmax_of(part):
    count = int(8_192 * part)
    return lambda table: torch.softmax(table[:count], 1)


def matmul_of(part):
    depth = round(8_192 * part)

    def multiply(both):
        return both[0][:, :depth] @ both[1][:depth]

    return multiply


def short_of(part):
    cycles = int(5_000 * part)

    def spin(_):
        torch.cuda._sleep(cycles)

    return spin


KERNELS = {
    "add": (vectors, add_of),
    "softmax": (rows, softmax_of),
    "matmul": (matrices, matmul_of),
    "short": (int, short_of),
}


def simulated_of(kernel, name):
    def make(part):
        ns = SIMULATED_NS[kernel] * part

        def launch(_):
            torch.launch(ns, name)

        return launch

    return make


def add_case(number, kernel, cache, work):
    part = WORK[kernel][work]
    make, function_of = KERNELS[kernel]
    old_of = new_of = function_of
    if SIMULATED:
        make = int
        old_of, new_of = (simulated_of(kernel, f"{number} {side}") for side in ("old", "new"))
    name = f"{kernel}/{cache}/{work}/{number}"
    add = deadheat.benchmark(
        name=name, candidates={"new": new_of(part)}, input=make, device="cuda", cache=cache
    )
    add(old_of(1.0))


if __name__ == "__main__":
    for case in json.loads(os.environ["GPU_CASES"]):
        add_case(*case)
    deadheat.suite()
