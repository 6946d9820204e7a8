"""Comparisons of outputs on a GPU."""

from __future__ import annotations

import pytest

from deadheat._outputs import Tolerance, first_difference

numpy = pytest.importorskip("numpy")
pytestmark = pytest.mark.usefixtures("device")
HUGE = 2**60


def of_torch(values, kind):
    import torch

    return torch.tensor(values, dtype=kind)


class OfNumba:
    """An array of Numba: it has no arithmetic, and is copied to the host."""

    def __init__(self, values, kind):
        self.values = numpy.asarray(values, kind)
        self.shape, self.dtype = self.values.shape, self.values.dtype

    def copy_to_host(self):
        return self.values

    def __getitem__(self, at):
        return self.values[at]


class OfCupy(numpy.ndarray):
    __module__ = "cupy"


def of_cupy(values, kind):
    """An array of numpy, whose functions are those of CuPy."""
    import cupy

    for name in ("isclose", "argwhere", "asarray"):
        setattr(cupy, name, getattr(numpy, name))
    return numpy.asarray(values, kind).view(OfCupy)


@pytest.mark.parametrize("array", [of_torch, of_cupy, OfNumba])
@pytest.mark.parametrize(
    ("kind", "baseline", "candidate", "tolerance", "differs"),
    [
        ("int64", [100, 200], [100, 201], (0.01, 0.0), False),
        ("int64", [100, 200], [100, 203], (0.01, 0.0), True),
        ("int64", [100, 200], [100, 201], (0.0, 0.0), True),
        ("int64", [1, HUGE], [1, HUGE + 1], (0.0, 0.0), True),
        ("int64", [1, HUGE], [1, HUGE], (0.0, 0.0), False),
        ("float64", [1.0, float("nan")], [1.0, float("nan")], (0.0, 0.0), False),
        # The tolerance is 1.9997, which is 2 in 16 bits.
        ("float16", [1.0, 2_048.0], [1.0, 2_050.0], (0.000_976_4, 0.0), True),
        ("float16", [1.0, 2_048.0], [1.0, 2_050.0], (0.000_977, 0.0), False),
    ],
)
def test_numbers_differ_by_more_than_the_tolerance(
    array, kind, baseline, candidate, tolerance, differs
):
    pair = array(baseline, kind), array(candidate, kind)
    found = first_difference(*pair, Tolerance(*tolerance))
    assert (found and found.place) == ("[1]" if differs else None)


def test_arrays_of_two_libraries_are_compared():
    pair = of_torch([1, 2], "int64"), numpy.array([1, 2])
    assert first_difference(*pair, Tolerance()) is None
    assert first_difference(pair[0], OfNumba([1, 3], "int64"), Tolerance()).place == "[1]"
