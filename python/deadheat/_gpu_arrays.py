"""Arrays of torch, CuPy and Numba: their bytes, and where two of them first differ."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def library_of(array: Any) -> str:
    return type(array).__module__.partition(".")[0]


def is_array(value: Any) -> bool:
    """Returns whether a value is an array, and not a number type or a module of these libraries."""
    return hasattr(value, "shape") and hasattr(value, "dtype")


def index_of_device(array: Any) -> int | None:
    """The number of the GPU that an array is on; None if its library does not tell."""
    device = getattr(array, "device", None)
    found = getattr(device, "index" if library_of(array) == "torch" else "id", None)
    return found if isinstance(found, int) else None


def address_of(array: Any) -> int:
    """The address of the memory of an array; 0 if it has none."""
    if hasattr(array, "data_ptr"):
        return int(array.data_ptr())
    for interface in ("__cuda_array_interface__", "__array_interface__"):
        if hasattr(array, interface):
            return int(getattr(array, interface)["data"][0])
    return 0


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
    libraries = {library_of(baseline), library_of(candidate)}
    if libraries == {"torch"}:
        return first_apart_of_torch(baseline, candidate, rtol, atol)
    is_of_cupy = libraries == {"cupy"}
    library: Any = import_module("cupy" if is_of_cupy else "numpy")
    if not is_of_cupy:
        baseline, candidate = on_host(baseline), on_host(candidate)
    one, other = map(widened, (baseline, candidate))
    close = library.isclose(other, one, rtol=rtol, atol=atol, equal_nan=True)
    if not (rtol or atol):
        # Without a tolerance, `isclose` compares floats, in which integers beyond 2^53 are rounded.
        close &= (other == one) | (other != other)
    apart = library.argwhere(~library.asarray(close))
    return tuple(int(place) for place in apart[0]) if len(apart) else None


def first_apart_of_torch(
    baseline: Any, candidate: Any, rtol: float, atol: float
) -> tuple[int, ...] | None:
    import torch

    kind = torch.promote_types(baseline.dtype, candidate.dtype)
    is_real = not kind.is_complex
    if kind.is_floating_point and kind.itemsize < 4:
        # A tolerance is not rounded to the eight bits of a bfloat16.
        kind = torch.float32
    elif (rtol or atol) and is_real and not kind.is_floating_point:
        kind = torch.float64
    one, other = (each.detach().to(baseline.device, kind) for each in (baseline, candidate))
    if rtol or atol:
        close = torch.isclose(other, one, rtol=rtol, atol=atol, equal_nan=True)
    else:
        close = (other == one) | ((other != other) & (one != one))
    apart = (~close).nonzero()
    return tuple(apart[0].tolist()) if len(apart) else None


def on_host(array: Any) -> Any:
    """The array as one of numpy."""
    if library_of(array) == "torch":
        array = array.detach().cpu()
        # numpy has no bfloat16.
        is_short = array.dtype.is_floating_point and array.dtype.itemsize < 4
        return (array.float() if is_short else array).numpy()
    for method in ("copy_to_host", "get"):
        if hasattr(array, method):
            return getattr(array, method)()
    return array


def widened(array: Any) -> Any:
    """The array with numbers of 32 bits in place of 16, so that a tolerance is not rounded."""
    is_short = array.dtype.kind == "f" and array.dtype.itemsize < 4
    return array.astype("float32") if is_short else array


def element(array: Any, at: tuple[int, ...]) -> Any:
    """A number of an array, in the memory of the host."""
    found = array[at] if at else array
    for method in ("item", "tolist"):
        if hasattr(found, method):
            return getattr(found, method)()
    return found
