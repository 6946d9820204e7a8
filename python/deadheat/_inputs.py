"""Detects changes that a call makes to its input, its arguments and its captured variables.

Only the pilot imports this module.
"""

from __future__ import annotations

import copyreg
import io
import sys
import types
from collections import deque
from pickle import Pickler
from time import perf_counter_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from deadheat._benchmarks import Benchmark

# At most this many bytes of a pickle are compared, and pickling may take this long. 1 MiB of small
# objects takes 10 to 50 ms.
MOST_BYTES, MOST_NS = 1 << 20, 200_000_000
# Of longer lists and buffers, this many elements and pieces are compared as well.
ELEMENTS, PIECES = 1_000, 64
# The most items of a container that are checked one by one.
MOST_ITEMS = 16

# Calls do not change these, or a pickle would not show the change.
BY_IDENTITY = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)
CONTAINERS = (list, dict, set, deque, bytearray)


class Cut(Exception):
    """The pickle of a value exceeds the limit on its size or its time."""


class Hashed:
    """A file to pickle to, which keeps only a hash of the bytes written."""

    def __init__(self) -> None:
        self.value, self.length = 0, 0
        self.is_slow = False
        self._until = perf_counter_ns() + MOST_NS

    def write(self, data: Any) -> int:
        piece = bytes(memoryview(data)[: MOST_BYTES - self.length])
        self.value = hash((self.value, piece))
        self.length += len(piece)
        if self.length >= MOST_BYTES:
            raise Cut
        if perf_counter_ns() > self._until:
            self.is_slow = True
            raise Cut
        return len(piece)


class Digest(Pickler):
    """Pickles any value. For an object that cannot be pickled, it writes the bytes, the number of
    items or the file position, or else only the identity."""

    def __init__(self) -> None:
        self.hashed = Hashed()
        # True if an object is represented by its identity alone, so a change may go unseen.
        self.is_blind = False
        super().__init__(self.hashed, 5)

    def reducer_override(self, value: Any) -> Any:
        if is_on_gpu(value):
            return str, (digest_of(value),)
        if type(value) in copyreg.dispatch_table or has_path(value):
            return NotImplemented
        if isinstance(value, BY_IDENTITY):
            return id, (id(value),)
        try:
            return value.__reduce_ex__(5)
        except Exception:
            return str, (self.outside(value),)

    def outside(self, value: Any) -> str:
        """The bytes, length, position or identity of an object that cannot be pickled."""
        for look in (bytes_of, lambda value: value.qsize(), lambda value: value.tell()):
            try:
                return repr(look(value))
            except Exception:
                continue
        self.is_blind = True
        return str(id(value))


def is_on_gpu(value: Any) -> bool:
    """Returns whether a value is an array in the memory of a GPU."""
    kind = type(value)
    # A tensor has the interface of CUDA arrays wherever it is.
    if hasattr(kind, "is_cuda"):
        return value.is_cuda is True
    return hasattr(kind, "__cuda_array_interface__")


def digest_of(array: Any) -> str:
    """Hashes of pieces of an array of a GPU, as `bytes_of` has them of a buffer."""
    from deadheat._gpu_arrays import pieces_of

    kind = f"{getattr(array, 'dtype', '')} {tuple(array.shape)}"
    # Only a leaf of torch has a gradient, which `backward` adds to. Others warn if asked for it.
    gradient = array.grad if getattr(array, "is_leaf", False) else None
    added = "" if gradient is None else digest_of(gradient)
    pieces = [hash(piece) for piece in pieces_of(array, PIECES, MOST_BYTES // PIECES)]
    return f"{kind} {pieces}{added}"


def has_path(value: Any) -> bool:
    """Returns whether a class or a function is pickled as its import path."""
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    return getattr(module, getattr(value, "__qualname__", None) or "", None) is value


def bytes_of(value: Any) -> list[int]:
    """Hashes of pieces of a buffer: the whole of a short buffer, else pieces spread evenly."""
    view = memoryview(value)
    if "O" in view.format:
        raise TypeError("an array of objects cannot be compared by its pointers")
    whole = view.cast("B")
    size = MOST_BYTES // PIECES
    step = max(size, len(whole) // PIECES)
    starts = [*range(0, len(whole), step), max(0, len(whole) - size)]
    return [hash(bytes(whole[start : start + size])) for start in starts]


def length_of(value: Any) -> int | None:
    for look in (len, lambda value: value.qsize()):
        try:
            return int(look(value))
        except Exception:
            continue
    return None


class State:
    """A snapshot of a value. Two snapshots are equal if the value did not change in between."""

    def __init__(self, value: Any) -> None:
        self.length = length_of(value)
        self.is_blind = False
        self._seen: list[Any] = [self.length, *self._digests(value)]

    def _digests(self, value: Any) -> Iterator[Any]:
        try:
            yield bytes_of(value)
            return
        except Exception:
            pass
        yield self._digest(value)
        if isinstance(value, (list, tuple)) and len(value) > ELEMENTS:
            step = len(value) // ELEMENTS
            yield self._digest([*value[::step], value[-1]])

    def _digest(self, value: Any) -> int | None:
        digest, is_known = Digest(), True
        try:
            digest.dump(value)
        except Cut:
            # A cut by size is repeatable; a cut by time is not.
            is_known = not digest.hashed.is_slow
        except Exception:
            is_known = False
        self.is_blind |= digest.is_blind or not is_known
        return digest.hashed.value if is_known else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self._seen == other._seen

    __hash__ = None  # type: ignore[assignment]


def one_shot(value: Any) -> str | None:
    """Describes an iterator or a coroutine, which can be used only once. None for other values;
    also for files and cursors, because a function can rewind them."""
    kind = type(value)
    if isinstance(value, io.IOBase) or hasattr(kind, "seek") or hasattr(kind, "execute"):
        return None
    name = kind.__name__
    if hasattr(kind, "__next__") or hasattr(kind, "__anext__"):
        if name in ("generator", "map", "filter", "zip", "enumerate", "reversed"):
            return f"a {name}" if name != "enumerate" else "an enumerate"
        return "an async generator" if name == "async_generator" else f"an iterator ({name})"
    return "a coroutine" if name == "coroutine" else None


def is_rewindable(value: Any) -> bool:
    """Returns whether a value is a file or a cursor, which a function can rewind."""
    kind = type(value)
    return (
        isinstance(value, io.IOBase)
        or hasattr(kind, "execute")
        or (hasattr(kind, "seek") and hasattr(kind, "read"))
    )


def within(value: Any) -> list[Any]:
    """A value and, if it is a container, its first items."""
    if isinstance(value, (tuple, list)):
        return [value, *value[:MOST_ITEMS]]
    if isinstance(value, dict) and len(value) <= MOST_ITEMS:
        return [value, *value.values()]
    return [value]


def is_used_up(iterator: Any) -> bool:
    """Returns whether an iterator is exhausted. May consume one item."""
    for frame in ("gi_frame", "ag_frame", "cr_frame"):
        if hasattr(iterator, frame):
            return getattr(iterator, frame) is None
    hint = getattr(iterator, "__length_hint__", None)
    if hint is not None:
        return bool(hint() == 0)
    try:
        next(iterator)
    except StopIteration:
        return True
    except Exception:
        return False
    return False


def has_rest(value: Any) -> bool:
    """Returns whether a file has more to read, and restores its position."""
    try:
        if not value.readable() or not value.seekable():
            return False
        place = value.tell()
        rest = value.read(1)
        value.seek(place)
    except Exception:
        return False
    return bool(rest)


class Part:
    """A value that all calls of a function share and may change."""

    def __init__(self, label: str, value: Any, is_given: bool) -> None:
        self.label = label
        self.value = value
        # True for an input or an argument; false for a captured variable or a global.
        self.is_given = is_given
        self.had_rest = has_rest(value)
        self.before = State(value)

    def named(self) -> str:
        return f"{self.label} ({type(self.value).__name__})"

    @property
    def is_sequence(self) -> bool:
        return isinstance(self.value, (list, deque))

    @property
    def is_plain(self) -> bool:
        """Whether it is a container or a buffer, not an object that may cache results."""
        if isinstance(self.value, CONTAINERS) or hasattr(self.value, "qsize"):
            return True
        try:
            memoryview(self.value)
        except TypeError:
            return False
        return True


def parts_of(benchmark: Benchmark, function: Callable[..., Any]) -> list[Part]:
    """The arguments and captured variables of a function, without its input."""
    found: list[Part] = []
    seen: set[int] = set()

    def add(label: str, value: Any, is_given: bool) -> None:
        if id(value) in seen or isinstance(value, (str, bytes, int, float, type(None), type)):
            return
        seen.add(id(value))
        known = isinstance(value, CONTAINERS) or one_shot(value) or is_rewindable(value)
        if is_given or known or hasattr(value, "qsize") or hasattr(type(value), "tobytes"):
            found.append(Part(label, value, is_given))

    if benchmark.input is None:
        for name, value in benchmark.arguments.items():
            add(f"its argument {name!r}", value, True)
    while hasattr(function, "func") and hasattr(function, "args"):  # A partial.
        for place, value in enumerate(function.args):
            add(f"its argument {place + 1}", value, True)
        for name, value in (getattr(function, "keywords", None) or {}).items():
            add(f"its argument {name!r}", value, True)
        function = function.func
    owner = getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType):
        is_builtin = not hasattr(function, "__func__")
        add("its object", owner, is_builtin)
    inner: Any = getattr(function, "__func__", function)
    code = getattr(inner, "__code__", None)
    if code is None:
        return found
    for name, cell in zip(code.co_freevars, inner.__closure__ or ()):
        try:
            add(f"the variable {name!r}", cell.cell_contents, False)
        except ValueError:
            continue  # The variable is not assigned yet.
    for value in inner.__defaults__ or ():
        add("a default value", value, False)
    for name in code.co_names:
        if name in inner.__globals__:
            add(f"the global {name!r}", inner.__globals__[name], False)
    return found
