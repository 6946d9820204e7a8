"""As much of torch as a race needs, on the simulated device."""

from __future__ import annotations

import device as simulated

from . import cuda

__version__ = "0.simulated"
uint8 = "uint8"
device = simulated.device
OutOfMemoryError = cuda.OutOfMemoryError


class Type(str):
    is_floating_point, is_complex = True, False


class Tensor:
    """An array of numbers on the device."""

    is_cuda = True
    dtype = Type("float64")

    def __init__(self, values, dtype=None):
        import numpy

        self.values = numpy.asarray(values, dtype)
        self.device, self.shape = "cuda:0", self.values.shape
        self.counted = self.values.nbytes
        try:
            device.allocate(self.counted)
        except MemoryError as error:
            self.counted = 0
            raise OutOfMemoryError(f"CUDA out of memory. {error}") from None

    def __del__(self):
        device.allocated -= getattr(self, "counted", 0)

    def __len__(self):
        return len(self.values)

    def __bool__(self):
        if self.values.size != 1:
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        return bool(self.values.item())

    def __getitem__(self, at):
        return Tensor(self.values[at])

    def __invert__(self):
        return Tensor(~self.values)

    def __or__(self, other):
        return Tensor(self.values | other.values)

    def __and__(self, other):
        return Tensor(self.values & other.values)

    def __eq__(self, other):
        return Tensor(self.values == other.values)

    def __ne__(self, other):
        return Tensor(self.values != other.values)

    __hash__ = None

    def nonzero(self):
        import numpy

        return Tensor(numpy.argwhere(self.values))

    def detach(self):
        return self

    def contiguous(self):
        return self

    def to(self, *_):
        return self

    def reshape(self, *shape):
        return Tensor(self.values.reshape(*shape))

    def view(self, kind):
        return Tensor(self.values.view(kind))

    def tolist(self):
        return self.values.tolist()

    def item(self):
        device.wait_until(device.free_at)
        return self.values.item()

    def cpu(self):
        return Host(self.values)

    def zero_(self):
        # Two terabytes a second.
        device.launch(self.values.nbytes / 2_000)
        return self

    def add_(self, number):
        device.launch(2_000)
        self.values += number
        return self


class Host:
    def __init__(self, values):
        self.values = values

    def numpy(self):
        return self.values


class Buffer(Tensor):
    """Memory whose contents do not matter."""

    def __init__(self, count):
        self.count, self.counted = count, count
        device.allocate(count)

    def zero_(self):
        device.launch(self.count / 2_000)
        return self


def empty(count, dtype=None, device=None):
    return Buffer(count)


def tensor(values, device=None):
    return Tensor(values, "float64")


def promote_types(one, _):
    return one


def isclose(one, other, rtol, atol, equal_nan):
    import numpy

    close = numpy.isclose(one.values, other.values, rtol=rtol, atol=atol, equal_nan=equal_nan)
    return Tensor(close)


def launch(ns, name=""):
    """Launches a kernel that takes so many nanoseconds; only here."""
    device.launch(ns, name)
