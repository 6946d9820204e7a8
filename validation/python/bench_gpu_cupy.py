"""A kernel of CuPy against its copy."""

import cupy

import deadheat


def vector(seed):
    return cupy.random.RandomState(seed % 2**32).standard_normal(1 << 22)


@deadheat.benchmark(
    name="cupy",
    candidates={"new": lambda vector: vector * 2.0},
    input=vector,
    device="cuda",
    check_outputs=True,
)
def old(vector):
    return vector * 2.0


deadheat.suite()
