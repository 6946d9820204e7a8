"""A worker whose functions run on a GPU."""

from __future__ import annotations

import sys
from time import perf_counter_ns

from deadheat._channel import Channel
from deadheat._errors import Refused
from deadheat._forks import CAN_FORK, request_in_child
from deadheat._gpu import driver_is_open, library_in_use, opened
from deadheat._gpu_batch import GRAPH_CALLS, GpuContender
from deadheat._gpu_clocks import Clocks, is_unsteady
from deadheat._growth import advice, rises
from deadheat._worker import Session, answer_all, greet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, NoReturn

    from deadheat._benchmarks import Benchmark
    from deadheat._gpu_libraries import Library
    from deadheat._worker import Reply

METRICS = ["wall_ns", "gpu_ns"]
GPU = METRICS.index("gpu_ns")
PEAK_MEMORY = "peak_gpu_memory_bytes"
# The least time of the calls of a sample on the device: events have a resolution of half a
# microsecond. And the most calls, if the cache is emptied before each.
LEAST_NS, MOST_COLD = 500_000, 50
# Functions are called for this long at least before they count, and until they got no faster for
# half of the time: the clocks of a device that was idle rise in steps.
WARM_LEAST_NS, WARM_MOST_NS = 100_000_000, 1_000_000_000
# The part of the free memory that the inputs of a sample may take, if each call has its own.
INPUTS = 0.25
# The number of samples that are checked for calls that take longer and longer.
SHOWN = 12
# The most characters of an error of the device.
MOST_SAID = 300
# Types of errors after which a CUDA context cannot be used.
LOST = {"AcceleratorError", "CUDARuntimeError", "CUDADriverError", "CudaAPIError", "CUresult"}


def serve_gpu(channel: Channel, benchmarks: Mapping[str, Benchmark]) -> NoReturn:
    """Answers requests about benchmarks of a GPU until there are no more, and ends the process."""
    library = library_in_use()
    metrics = [*METRICS, PEAK_MEMORY] if library and library.counts_memory else METRICS
    greet(channel, metrics)
    request = channel.request()
    if request[0] == "import":
        if driver_is_open() or not CAN_FORK:
            said = "its imports have used the GPU, so forked processes could not use it"
            channel.reply("imported", {"unforked": said})
            request = channel.request()
        else:
            request = request_in_child(channel)
    answer_all(channel, GpuSession(channel, benchmarks, library), request)
    channel.end()


class GpuSession(Session):
    """The one benchmark of a process that has a CUDA context."""

    growing = GPU

    def __init__(
        self, channel: Channel, benchmarks: Mapping[str, Benchmark], library: Library | None
    ) -> None:
        super().__init__(channel, benchmarks)
        self._library_or_none = library
        self._clocks = Clocks("")
        # By sample of this block, whether the clocks of the device were unsteady.
        self._unsteady: list[bool] = []
        # The place of the first sample that counts; None outside of a block.
        self._recorded_from: int | None = None
        # Whether calls are replayed from CUDA graphs, and why not; None before it was tried.
        self._graphs: bool | None = None
        self._no_graphs = ""

    @property
    def _library(self) -> Library:
        assert self._library_or_none is not None
        return self._library_or_none

    @property
    def _own_contenders(self) -> list[GpuContender]:
        return [each for each in self._contenders if isinstance(each, GpuContender)]

    def problem(self, error: BaseException) -> dict[str, Any]:
        named = type(error).__name__
        # The lines after the first are advice on how to debug it.
        first = (str(error).strip().splitlines() or [named])[0][:MOST_SAID]
        given = "" if self.seed is None else f" (input of seed {self.seed})"
        if named == "OutOfMemoryError":
            said = f"ran out of GPU memory{given}: {first} Give it a smaller input"
            return {"refused": said}
        if named in LOST or (isinstance(error, RuntimeError) and "CUDA error" in first):
            said = f"lost the GPU{given}: {first}; CUDA_LAUNCH_BLOCKING=1 shows which launch failed"
            return {"refused": said}
        return super().problem(error)

    def prepare(self, asked: dict[str, Any]) -> Reply:
        benchmark = self._benchmarks.get(asked["benchmark"])
        if benchmark is not None:
            index = benchmark.gpu or 0
            opened(self._library_or_none, index)
            self._clocks = Clocks(self._library.address(index))
        return super().prepare(asked)

    def make_contenders(
        self, benchmark: Benchmark, functions: Sequence[Callable[..., Any]], in_order: bool
    ) -> None:
        drain = benchmark.drain if callable(benchmark.drain) else None
        numbers = list(range(len(functions)))
        made = {
            number: GpuContender(number, functions[number], benchmark, self._library, drain)
            for number in (numbers if in_order else reversed(numbers))
        }
        self._contenders = [*map(made.__getitem__, numbers)]

    def make_input(self, seed: int) -> None:
        for contender in self._own_contenders:
            contender.forget()
        super().make_input(seed)
        # The input is on the device before the first turn.
        begun = perf_counter_ns()
        self._library.synchronize()
        self._input_ns += perf_counter_ns() - begun

    # Before the race.

    def calibrate(self, asked: dict[str, Any]) -> Reply:
        benchmark = self._benchmark
        assert benchmark is not None
        was_shared = not benchmark.input_per_call
        self.examine(asked["seed"])
        notes = self._notes
        assert notes is not None
        for contender in self._own_contenders:
            self._calling = contender.number
            if contender.leaves_work(self._given):
                raise Refused(
                    "leaves work on another stream when it returns, which is not timed: have the "
                    "current stream wait for it (torch.cuda.current_stream().wait_stream(other))"
                )
        most = self.most_calls(benchmark)
        least = max(LEAST_NS, asked["least_ns"])
        gpu_ns = [self.call_ns(number, least, most) for number in range(len(self._contenders))]
        iterations = min(1 + int(least / max(min(gpu_ns), 1.0)), most)
        if iterations >= GRAPH_CALLS:
            iterations += -iterations % GRAPH_CALLS if iterations < most else 0
        self.decide_graphs(iterations)
        for contender in self._own_contenders:
            self.refuse_growth(contender.number, iterations)
        notes.extend(self.notes_on_device(benchmark))
        calibrated: dict[str, Any] = {"iterations": iterations, "notes": notes}
        calibrated["call_ns"] = self.turn_ns(iterations)
        if benchmark.input_per_call:
            calibrated["most_iterations"] = most
            if was_shared:
                calibrated["input_per_call"] = True
        elif benchmark.input is not None:
            calibrated["input_ns"] = self._input_ns
        return "calibrated", calibrated

    def most_calls(self, benchmark: Benchmark) -> int:
        """The most calls of a sample: inputs must fit into the memory of the device."""
        most = benchmark.most_iterations
        if benchmark.is_cold:
            most = min(most, MOST_COLD)
        if benchmark.input_per_call:
            before = self._library.used_bytes()
            kept = self._given()
            size = max(1, self._library.used_bytes() - before)
            del kept
            most = min(most, max(1, int(INPUTS * self._library.free_bytes() / size)))
        return most

    def call_ns(self, number: int, least: float, most: int) -> float:
        """Nanoseconds of a call on the device."""
        contender, iterations = self._own_contenders[number], 1
        self._calling = number
        took = contender.gpu_ns(self._given, 1)
        while took < least and iterations < most:
            iterations = min(2 * iterations, most)
            took = contender.gpu_ns(self._given, iterations)
        return min(took, contender.gpu_ns(self._given, iterations)) / iterations

    def turn_ns(self, iterations: int) -> list[float]:
        """What a turn takes by the clock of the host, divided by its calls. The engine plans with
        it how many blocks there is time for."""
        times = []
        for contender in self._contenders:
            begun = perf_counter_ns()
            self.sample(contender.number, iterations)
            times.append((perf_counter_ns() - begun) / iterations)
        return times

    def refuse_growth(self, number: int, iterations: int) -> None:
        if self._benchmark is not None and self._benchmark.input_per_call:
            return
        contender = self._own_contenders[number]
        self._calling = number
        times = [contender.gpu_ns(self._given, iterations) for _ in range(SHOWN)]
        # The clocks of a device may fall for a while. What grows goes on growing.
        if rises(times) and min(
            contender.gpu_ns(self._given, iterations) for _ in range(SHOWN)
        ) > max(times):
            raise Refused(advice(min(times) / iterations, max(times) / iterations))

    def decide_graphs(self, iterations: int) -> None:
        """Captures both functions into CUDA graphs or none, so that they are timed alike. Every
        process decides by the number of calls and by whether capture works."""
        benchmark = self._benchmark
        if self._graphs is not None or benchmark is None:
            return
        self._graphs = False
        for contender in self._own_contenders:
            self._calling = contender.number
            contender.look_whether_it_waits(self._given)
        is_short = iterations >= GRAPH_CALLS and not benchmark.is_cold
        if not is_short or benchmark.input_per_call or not self._library.can_capture:
            return
        for contender in self._own_contenders:
            self._calling = contender.number
            try:
                contender.try_graph(self._given)
            except Exception as error:
                name = benchmark.label(self._names[contender.number])
                said = " ".join(str(error).split())[:200] or type(error).__name__
                self._no_graphs = f"{name} cannot be captured ({said})"
                for other in self._own_contenders:
                    other.has_graph = False
                    other.forget()
                self._library.synchronize()
                return
        self._graphs = True

    def notes_on_device(self, benchmark: Benchmark) -> list[str]:
        """Sentences for the answer about how the functions were timed."""
        state = self._clocks.read()
        device = self._library.described()
        cache = "L2 cache emptied before every call" if benchmark.is_cold else "L2 cache warm"
        told = f"{state}, " if state is not None else ""
        how = "; calls are replayed from CUDA graphs" if self._graphs else ""
        notes = [f"GPU: {device}, {told}{cache}{how}."]
        if self._no_graphs:
            notes.append(f"No CUDA graphs: {self._no_graphs}. Calls are launched one by one.")
        if state is None:
            notes.append(
                f"deadheat cannot see throttling and clock changes: {self._clocks.problem} "
                "(`pip install nvidia-ml-py`)."
            )
        for contender in self._own_contenders:
            if contender.waits:
                notes.append(
                    f"{benchmark.label(self._names[contender.number])} waits for the device within "
                    "a call, or launches more than can be queued, so its GPU time includes the "
                    "gaps between its launches."
                )
        chosen = chosen_by_autotuners(benchmark)
        if chosen:
            notes.append(f"Triton's autotuner chose, once for all replicates: {'; '.join(chosen)}.")
        return notes

    def warm_up(self, asked: dict[str, Any]) -> Reply:
        self.make_input(asked["seed"])
        for number in asked["order"]:
            # What is compiled at the first call cannot be captured.
            self.sample(number, 1)
        self.decide_graphs(asked["iterations"])
        rounds = self.warm(asked["order"], asked["iterations"])
        # Both have met this input, and the first block has the same.
        self._ready = asked["seed"]
        return "warm", {"rounds": rounds, "ready": self._ready}

    def warm(self, order: Sequence[int], iterations: int) -> int:
        """Calls the contenders until they get no faster, and returns the number of rounds."""
        begun, passed, improved, rounds, best = perf_counter_ns(), 0, 0, 0, float("inf")
        while passed < max(WARM_LEAST_NS, 2 * improved) and passed < WARM_MOST_NS:
            took = sum(self.sample(number, iterations)[GPU] for number in order)
            rounds, passed = rounds + 1, perf_counter_ns() - begun
            if took < 0.99 * best:
                best, improved = took, passed
        return rounds

    # In the race.

    def block(self, asked: dict[str, Any]) -> Reply:
        # Turns of another process are null.
        unrecorded = asked["turns"][: asked.get("unrecorded", 0)]
        self._unsteady, self._recorded_from = [], sum(turn is not None for turn in unrecorded)
        kind, said = super().block(asked)
        unsteady = self._unsteady[self._recorded_from :]
        self._recorded_from = None
        return kind, {"values": said["values"], "gpu_clock": unsteady}

    def sample(self, number: int, iterations: int) -> list[int]:
        before, compiled = self._clocks.read(), self._library.compilations()
        values = super().sample(number, iterations)
        if self._recorded_from is None:
            return values
        is_recorded = len(self._unsteady) >= self._recorded_from
        if is_recorded and self._library.compilations() != compiled:
            raise Refused(
                "was compiled again by torch.compile within a sample: make inputs of the same "
                "shapes, types and layouts for every seed, or compile with dynamic=True"
            )
        self._unsteady.append(is_unsteady(before, self._clocks.read()))
        return values


def chosen_by_autotuners(benchmark: Benchmark) -> list[str]:
    """The configurations that autotuners of Triton chose, of kernels that the functions name."""
    tuner = getattr(sys.modules.get("triton.runtime.autotuner"), "Autotuner", None)
    if tuner is None:
        return []
    found: dict[str, Any] = {}
    for function in benchmark.contenders.values():
        code = getattr(function, "__code__", None)
        known = getattr(function, "__globals__", {})
        names = getattr(code, "co_names", ())
        found.update((n, known[n]) for n in names if isinstance(known.get(n), tuner))
    return [f"{name} {getattr(kernel, 'best_config', '?')}" for name, kernel in found.items()]
