"""Arrays of torch, CuPy and Numba: their bytes, and where two of them first differ.

Only the pilot and comparisons of outputs import this module.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def library_of(array: Any) -> str:
    return type(array).__module__.partition(".")[0]


def is_array(value: Any) -> bool:
    """Returns whether a value is an array, and not a number type or a module of these libraries."""
    return hasattr(value, "shape") and hasattr(value, "dtype")


def pieces_of(array: Any, count: int, size: int) -> list[bytes]:
    """Pieces of at most `size` bytes, spread evenly; the whole of a short array."""
    if library_of(array) == "torch":
        import torch

        flat = array.detach().contiguous().reshape(-1).view(torch.uint8)
    elif hasattr(array, "copy_to_host"):
        flat = array.copy_to_host().reshape(-1).view("uint8")
    else:
        flat = array.reshape(-1).view("uint8")
    whole = flat.shape[0]
    step = max(size, whole // count)
    starts = [*range(0, whole, step), max(0, whole - size)]
    return [fetched(flat[start : start + size]) for start in starts]


def fetched(piece: Any) -> bytes:
    """The bytes of a piece, in the memory of the host."""
    for method in ("cpu", "get"):
        if hasattr(piece, method):
            piece = getattr(piece, method)()
    return bytes(memoryview(piece.numpy() if hasattr(piece, "numpy") else piece))


def first_apart(baseline: Any, candidate: Any, rtol: float, atol: float) -> tuple[int, ...] | None:
    """The index of the first two numbers that differ by more than `atol + rtol · |baseline|`; None
    if all agree. NaN agrees with NaN."""
    if library_of(baseline) == library_of(candidate) == "torch":
        import torch

        kind = torch.promote_types(baseline.dtype, candidate.dtype)
        one, other = (each.detach().to(baseline.device, kind) for each in (baseline, candidate))
        if (rtol or atol) and (kind.is_floating_point or kind.is_complex):
            close = torch.isclose(other, one, rtol=rtol, atol=atol, equal_nan=True)
        else:
            close = (other == one) | ((other != other) & (one != one))
        apart = (~close).nonzero()
        return tuple(apart[0].tolist()) if len(apart) else None
    import numpy

    both = [
        each.copy_to_host() if hasattr(each, "copy_to_host") else each
        for each in (baseline, candidate)
    ]
    library: Any = numpy
    if library_of(both[0]) == library_of(both[1]) == "cupy":
        import cupy

        library = cupy
    close = library.isclose(both[1], both[0], rtol=rtol, atol=atol, equal_nan=True)
    apart = library.argwhere(~library.asarray(close))
    return tuple(int(place) for place in apart[0]) if len(apart) else None


def element(array: Any, at: tuple[int, ...]) -> Any:
    """A number of an array, in the memory of the host."""
    found = array[at] if at else array
    for method in ("item", "tolist"):
        if hasattr(found, method):
            return getattr(found, method)()
    return found
