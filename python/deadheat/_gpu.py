"""The setting `device`, and the library whose streams and events time a GPU.

Both functions race in one process per replicate, as all functions of Python do: they share a CUDA
context and the state of its clocks, and only the worker differs from that of the CPU. The plan, the
turns and the statistics are the engine's.
"""

from __future__ import annotations

import os
import sys

from deadheat._errors import Refused, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from deadheat._gpu_libraries import Library

WARM, COLD = "warm", "cold"
# In the order in which they are looked for.
LIBRARIES = ("torch", "cupy", "numba")
WAY_OUT = "to race by wall time on the CPU, set device='cpu'"
MISSING = (
    "finds no CUDA device: torch, cupy or numba is needed to reach one, and this Python has none "
    f"of them; {WAY_OUT}"
)


def index_of(device: str | None) -> int | None:
    """The number of a CUDA device: 1 for `cuda:1`. None for the CPU."""
    if device is None or device == "cpu":
        return None
    kind, colon, number = str(device).partition(":")
    if kind != "cuda" or (colon and not number.isdecimal()):
        raise UsageError(f"device must be 'cuda', 'cuda:1' or alike, or 'cpu', not {device!r}")
    return int(number or 0)


def refuse_cache(cache: str, device: str | None) -> None:
    if cache not in (WARM, COLD):
        raise UsageError(f"cache must be 'warm' or 'cold', not {cache!r}")
    if cache == COLD and index_of(device) is None:
        raise UsageError("cache='cold' needs device='cuda': it empties the L2 cache of a GPU")


def library_in_use() -> Library | None:
    """The library for GPUs that the functions have imported, or else the first that is installed.

    All libraries launch on the default stream of the process unless told otherwise, so the events
    of any of them time the kernels of all.
    """
    from importlib import import_module

    from deadheat import _gpu_libraries

    loaded = [name for name in LIBRARIES if name in sys.modules]
    for name in loaded or LIBRARIES:
        try:
            import_module("numba.cuda" if name == "numba" else name)
        except ImportError:
            continue
        return _gpu_libraries.BY_NAME[name]()
    return None


def open_device(library: Library, index: int) -> None:
    """Makes the CUDA context of this process, on this device."""
    try:
        devices, why = library.devices(), ""
    except Exception as error:
        devices, why = 0, f" ({' '.join(str(error).split())})"
    if devices == 0:
        raise Refused(f"finds no CUDA device: {library.name} sees none{why}; {WAY_OUT}")
    if index >= devices:
        others = "cuda:0" if devices == 1 else f"cuda:0 to cuda:{devices - 1}"
        raise Refused(f"finds no cuda:{index}: {library.name} sees {others}")
    library.open(index)


def driver_is_open() -> bool:
    """Returns whether this process has used a GPU; a process forked from it cannot."""
    try:
        numbers = os.listdir("/proc/self/fd")
    except OSError:
        return False
    for number in numbers:
        try:
            if os.readlink(f"/proc/self/fd/{number}").startswith("/dev/nvidia"):
                return True
        except OSError:
            continue  # That of the folder itself is closed by now.
    return False
