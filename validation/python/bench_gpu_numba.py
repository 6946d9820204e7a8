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
    source = cuda.to_device(numpy.random.default_rng(seed).standard_normal(1 << 22))
    return source, cuda.device_array_like(source), cuda.device_array_like(source)


def scaled(source, target):
    scale[1 << 14, 256](source, target)
    return target


# The pilot would give every call an input of its own, since a call writes to its target. Each side
# has a target of its own, because one target would be compared with itself.
@deadheat.benchmark(
    name="numba",
    candidates={"new": lambda given: scaled(given[0], given[2])},
    input=vectors,
    input_per_call=False,
    device="cuda",
    check_outputs=True,
)
def old(given):
    return scaled(given[0], given[1])


deadheat.suite()
