"""A kernel of Numba against its copy."""

import numpy

# numba-cuda 0.28 looks for a function that numpy 2.5 has no more.
if not hasattr(numpy, "row_stack"):
    numpy.row_stack = numpy.vstack
from numba import cuda

import deadheat


@cuda.jit
def scale(source, target):
    place = cuda.grid(1)
    if place < source.size:
        target[place] = 2 * source[place]


def vectors(seed):
    source = numpy.random.default_rng(seed).standard_normal(1 << 22)
    return cuda.to_device(source), cuda.device_array_like(source)


def scaled(both):
    scale[1 << 14, 256](*both)
    return both[1]


# The pilot would give every call an input of its own, since a call writes to its target.
@deadheat.benchmark(
    name="numba",
    candidates={"new": lambda both: scaled(both)},
    input=vectors,
    input_per_call=False,
    device="cuda",
    check_outputs=True,
)
def old(both):
    return scaled(both)


deadheat.suite()
