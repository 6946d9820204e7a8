"""As much of torch as a race needs, on the simulated device."""

from __future__ import annotations

import device as simulated

from . import cuda

__version__ = "0.simulated"
uint8 = "uint8"
device = simulated.device
OutOfMemoryError = cuda.OutOfMemoryError


class Type(str):
    @property
    def is_floating_point(self):
        return self.startswith("float")

    @property
    def is_complex(self):
        return self.startswith("complex")

    @property
    def itemsize(self):
        import numpy

        return numpy.dtype(str(self)).itemsize


float16, float32, float64, int64 = map(Type, ("float16", "float32", "float64", "int64"))


class Place:
    """Which device a tensor is on."""

    def __init__(self, words):
        self.type, _, number = words.partition(":")
        self.index = int(number or device.chosen) if self.type == "cuda" else None


class Tensor:
    """An array of numbers on the device."""

    is_leaf = True
    grad = None

    def __init__(self, values, dtype=None, place="cuda"):
        import numpy

        self.values = numpy.asarray(values, dtype)
        self.device, self.shape = Place(place), self.values.shape
        self.dtype = Type(self.values.dtype)
        self.counted = self.values.nbytes
        try:
            device.allocate(self.counted)
        except MemoryError as error:
            self.counted = 0
            raise OutOfMemoryError(f"CUDA out of memory. {error}") from None

    @property
    def is_cuda(self):
        return self.device.type == "cuda"

    def data_ptr(self):
        return self.values.__array_interface__["data"][0]

    def launch(self, ns):
        if self.is_cuda:
            device.launch(ns, index=self.device.index)

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

    def to(self, _, kind):
        return self if kind == self.dtype else Tensor(self.values.astype(str(kind)))

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

    def backward(self):
        """Adds to the gradient, as that of a sum does."""
        device.launch(2_000)
        ones = 0 * self.values + 1
        self.grad = Tensor(ones if self.grad is None else self.grad.values + ones)

    def zero_(self):
        # Two terabytes a second.
        self.launch(self.values.nbytes / 2_000)
        return self

    def add_(self, number):
        self.launch(2_000)
        self.values += number
        return self


class Host:
    def __init__(self, values):
        self.values, self.dtype = values, Type(values.dtype)

    def float(self):
        return Host(self.values.astype("float32"))

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


def tensor(values, device="cuda", dtype="float64"):
    return Tensor(values, str(dtype), device)


def manual_seed(seed):
    check_generator()


def randn(count, device="cuda"):
    check_generator()
    return Tensor([0.5] * count)


def check_generator():
    """The message of torch, if a capture that failed has left its mark."""
    if device.is_generator_spoilt:
        raise RuntimeError("Offset increment outside graph capture encountered unexpectedly.")


def promote_types(one, other):
    import numpy

    return Type(numpy.promote_types(str(one), str(other)))


def isclose(one, other, rtol, atol, equal_nan):
    import numpy

    close = numpy.isclose(one.values, other.values, rtol=rtol, atol=atol, equal_nan=equal_nan)
    return Tensor(close)


RECOMPILE_LIMIT = 8


def compile(function):
    """Compiles for every shape, and gives up after RECOMPILE_LIMIT shapes."""
    from ._dynamo import convert_frame, utils

    shapes = []

    def compiled(given):
        if given.shape not in shapes:
            why = f"tensor 'given' size mismatch at index 0. expected {shapes}"
            if len(shapes) >= RECOMPILE_LIMIT:
                convert_frame.give_up(function, why)
            else:
                shapes.append(given.shape)
                utils.compiled(why if len(shapes) > 1 else None)
        return function(given)

    return compiled


def launch(ns, name=""):
    """Launches a kernel that takes so many nanoseconds; only here."""
    device.launch(ns, name)
