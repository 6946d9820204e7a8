"""What a race needs of a library for GPUs: torch, CuPy or Numba.

Each class has the same methods. Times are nanoseconds, memory is bytes.
"""

from __future__ import annotations

import logging
import sys

from deadheat._gpu_errors import MOST_SAID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Cycles or steps of the first spin, which shows how long one takes.
TRIAL = 100_000
# Assumed where a device does not tell the size of its L2 cache.
L2_BYTES = 64 << 20

SPIN = """
extern "C" __global__ void spin(long long cycles) {
    long long begun = clock64();
    while (clock64() - begun < cycles) {}
}
"""


class Library:
    """The methods that the libraries share, and those that each must have."""

    name: str
    # Whether the library tells how much memory was allocated at most.
    counts_memory = False
    can_capture = False

    def __init__(self) -> None:
        self.unit_ns = 1.0
        self._buffer: Any = None

    def open(self, index: int) -> None:
        """Chooses the device, makes its context, and measures how long spinning takes."""
        self.use(index)
        self._buffer = self.bytes_on_device(2 * (self.l2_bytes(index) or L2_BYTES))
        self.flush()
        self.spin(TRIAL)
        self.synchronize()
        # The shorter of two: the first has woken the clocks.
        self.unit_ns = min(self._spun(), self._spun()) / TRIAL

    def _spun(self) -> float:
        begun, ended = self.event(), self.event()
        self.record(begun)
        self.spin(TRIAL)
        self.record(ended)
        self.wait(ended)
        return max(self.elapsed(begun, ended), 1.0)

    def spin_for(self, ns: float) -> None:
        """Keeps the device busy for about as long, without touching memory."""
        self.spin(max(1, int(ns / self.unit_ns)))

    # What each library must have.

    def devices(self) -> int:
        raise NotImplementedError

    def use(self, index: int) -> None:
        raise NotImplementedError

    def described(self) -> str:
        """The name of the device, and the version of the library."""
        raise NotImplementedError

    def address(self, index: int) -> str:
        """The address of the device on the PCI bus, or its UUID, as NVML knows it."""
        raise NotImplementedError

    def l2_bytes(self, index: int) -> int:
        raise NotImplementedError

    def bytes_on_device(self, count: int) -> Any:
        raise NotImplementedError

    def flush(self) -> None:
        """Writes twice the size of the L2 cache, so that nothing else is left in it."""
        raise NotImplementedError

    def spin(self, units: int) -> None:
        raise NotImplementedError

    def synchronize(self) -> None:
        raise NotImplementedError

    def event(self) -> Any:
        raise NotImplementedError

    def record(self, event: Any) -> None:
        event.record()

    def wait(self, event: Any) -> None:
        event.synchronize()

    def is_done(self, event: Any) -> bool:
        raise NotImplementedError

    def elapsed(self, begun: Any, ended: Any) -> float:
        raise NotImplementedError

    def free_bytes(self) -> int:
        """Memory that may still be allocated, with what the library keeps for later."""
        raise NotImplementedError

    def used_bytes(self) -> int:
        """Memory of the arrays that exist now."""
        raise NotImplementedError

    # What some have.

    def allocated(self) -> int:
        """The memory in use now, from which the peak is counted anew."""
        return 0

    def peak(self) -> int:
        """The most memory in use since `allocated` was called."""
        return 0

    def captured(self, call: Callable[[], object]) -> Any:
        """A CUDA graph of what a call launches; it has a method `replay`."""
        raise NotImplementedError

    def compilations(self) -> int:
        """How often torch.compile has compiled a function."""
        return 0

    def why_compiled(self) -> str:
        """The reason that torch.compile gives for the last compilation; empty if unknown."""
        return ""

    def compile_limit(self) -> str:
        """What torch.compile said when it compiled a function too often and went on without
        compiling it; empty if it did not."""
        return ""


def one_line(said: object) -> str:
    return " ".join(str(said or "").split())[:MOST_SAID]


class CompileLimit(logging.Handler):
    """Keeps the warning by which torch.compile says that it stops compiling a function. torch has
    no counter of these."""

    def __init__(self) -> None:
        super().__init__()
        self.said = ""
        logging.getLogger("torch._dynamo.convert_frame").addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        said = one_line(record.getMessage())
        if said.startswith("torch._dynamo hit config."):
            self.said = said.partition(" To log all")[0]


class Torch(Library):
    name = "torch"
    counts_memory = can_capture = True

    def __init__(self) -> None:
        super().__init__()
        import torch

        self._torch: Any = torch
        self._stream: Any = None
        self._limit = CompileLimit()

    def devices(self) -> int:
        return int(self._torch.cuda.device_count())

    def use(self, index: int) -> None:
        self._torch.cuda.set_device(index)
        self._torch.cuda.synchronize()

    def described(self) -> str:
        name = self._torch.cuda.get_device_name()
        return f"{name} (torch {self._torch.__version__})"

    def address(self, index: int) -> str:
        about = self._torch.cuda.get_device_properties(index)
        uuid = getattr(about, "uuid", None)
        return f"GPU-{uuid}" if uuid is not None else ""

    def l2_bytes(self, index: int) -> int:
        about = self._torch.cuda.get_device_properties(index)
        return int(getattr(about, "L2_cache_size", 0))

    def bytes_on_device(self, count: int) -> Any:
        return self._torch.empty(count, dtype=self._torch.uint8, device="cuda")

    def flush(self) -> None:
        self._buffer.zero_()

    def spin(self, units: int) -> None:
        self._torch.cuda._sleep(units)

    def synchronize(self) -> None:
        self._torch.cuda.synchronize()

    def event(self) -> Any:
        return self._torch.cuda.Event(enable_timing=True)

    def is_done(self, event: Any) -> bool:
        return bool(event.query())

    def elapsed(self, begun: Any, ended: Any) -> float:
        return float(begun.elapsed_time(ended)) * 1e6

    def free_bytes(self) -> int:
        cuda = self._torch.cuda
        kept = cuda.memory_reserved() - cuda.memory_allocated()
        return int(cuda.mem_get_info()[0]) + int(kept)

    def used_bytes(self) -> int:
        return int(self._torch.cuda.memory_allocated())

    def allocated(self) -> int:
        self._torch.cuda.reset_peak_memory_stats()
        return int(self._torch.cuda.memory_allocated())

    def peak(self) -> int:
        return int(self._torch.cuda.max_memory_allocated())

    def captured(self, call: Callable[[], object]) -> Any:
        # Not `torch.cuda.graph`, which empties the cache of the allocator at every entry.
        cuda = self._torch.cuda
        # One for all graphs: libraries keep memory for every stream that they have seen.
        own = self._stream = self._stream or cuda.Stream()
        graph = cuda.CUDAGraph()
        own.wait_stream(cuda.current_stream())
        with cuda.stream(own):
            call()  # What is made at the first call on a stream cannot be captured.
            own.synchronize()
            graph.capture_begin()
            try:
                call()
            except BaseException:
                try:
                    graph.capture_end()
                except Exception:
                    pass  # It says that the capture failed. The first error says why.
                raise
            graph.capture_end()
        cuda.current_stream().wait_stream(own)
        # The first replay uploads the graph.
        graph.replay()
        self.synchronize()
        return graph

    def compilations(self) -> int:
        dynamo = sys.modules.get("torch._dynamo.utils")
        return 0 if dynamo is None else int(dynamo.counters["stats"]["unique_graphs"])

    def why_compiled(self) -> str:
        dynamo = sys.modules.get("torch._dynamo.utils")
        # Newer versions of torch have this list, and the reason in its items.
        compilations: list[Any] = getattr(dynamo, "get_compilation_metrics", list)()
        return one_line(getattr(compilations[-1], "recompile_reason", "")) if compilations else ""

    def compile_limit(self) -> str:
        return self._limit.said


class Cupy(Library):
    name = "cupy"

    def __init__(self) -> None:
        super().__init__()
        import cupy

        self._cupy: Any = cupy
        self._spin: Any = None

    def devices(self) -> int:
        return int(self._cupy.cuda.runtime.getDeviceCount())

    def use(self, index: int) -> None:
        self._cupy.cuda.Device(index).use()
        self._spin = self._cupy.RawKernel(SPIN, "spin")
        self.synchronize()

    def described(self) -> str:
        device = self._cupy.cuda.Device()
        name = self._cupy.cuda.runtime.getDeviceProperties(device.id)["name"]
        name = name.decode() if isinstance(name, bytes) else name
        return f"{name} (cupy {self._cupy.__version__})"

    def address(self, index: int) -> str:
        return str(self._cupy.cuda.Device(index).pci_bus_id)

    def l2_bytes(self, index: int) -> int:
        return int(self._cupy.cuda.runtime.getDeviceProperties(index).get("l2CacheSize", 0))

    def bytes_on_device(self, count: int) -> Any:
        return self._cupy.empty(count, dtype="uint8")

    def flush(self) -> None:
        self._buffer.fill(0)

    def spin(self, units: int) -> None:
        self._spin((1,), (1,), (units,))

    def synchronize(self) -> None:
        self._cupy.cuda.runtime.deviceSynchronize()

    def event(self) -> Any:
        return self._cupy.cuda.Event()

    def is_done(self, event: Any) -> bool:
        return bool(event.done)

    def elapsed(self, begun: Any, ended: Any) -> float:
        return float(self._cupy.cuda.get_elapsed_time(begun, ended)) * 1e6

    def free_bytes(self) -> int:
        kept = self._cupy.get_default_memory_pool().free_bytes()
        return int(self._cupy.cuda.runtime.memGetInfo()[0]) + int(kept)

    def used_bytes(self) -> int:
        return int(self._cupy.get_default_memory_pool().used_bytes())


class Numba(Library):
    name = "numba"

    def __init__(self) -> None:
        super().__init__()
        from numba import cuda

        self._cuda: Any = cuda
        self._spin: Any = None
        self._fill: Any = None

    def devices(self) -> int:
        return len(self._cuda.gpus) if self._cuda.is_available() else 0

    def use(self, index: int) -> None:
        cuda = self._cuda
        cuda.select_device(index)

        # Each step sleeps for about as many nanoseconds.
        @cuda.jit  # type: ignore[untyped-decorator,unused-ignore]
        def spin(steps: int) -> None:
            for _ in range(steps):
                cuda.nanosleep(1)

        @cuda.jit  # type: ignore[untyped-decorator,unused-ignore]
        def fill(buffer: Any) -> None:
            for place in range(cuda.grid(1), buffer.size, cuda.gridsize(1)):
                buffer[place] = 0

        self._spin, self._fill = spin, fill

    def described(self) -> str:
        name = self._cuda.get_current_device().name
        name = name.decode() if isinstance(name, bytes) else name
        version = getattr(sys.modules.get("numba"), "__version__", "")
        return f"{name} (numba {version})"

    def address(self, index: int) -> str:
        return str(getattr(self._cuda.get_current_device(), "uuid", ""))

    def l2_bytes(self, index: int) -> int:
        return int(getattr(self._cuda.get_current_device(), "L2_CACHE_SIZE", 0) or 0)

    def bytes_on_device(self, count: int) -> Any:
        return self._cuda.device_array(count // 8, dtype="float64")

    def flush(self) -> None:
        self._fill[1_024, 256](self._buffer)

    def spin(self, units: int) -> None:
        self._spin[1, 1](units)

    def synchronize(self) -> None:
        self._cuda.synchronize()

    def event(self) -> Any:
        return self._cuda.event(timing=True)

    def is_done(self, event: Any) -> bool:
        return bool(event.query())

    def elapsed(self, begun: Any, ended: Any) -> float:
        return float(self._cuda.event_elapsed_time(begun, ended)) * 1e6

    def free_bytes(self) -> int:
        return int(self._cuda.current_context().get_memory_info().free)

    def used_bytes(self) -> int:
        about = self._cuda.current_context().get_memory_info()
        return int(about.total) - int(about.free)


BY_NAME: dict[str, type[Library]] = {"torch": Torch, "cupy": Cupy, "numba": Numba}
