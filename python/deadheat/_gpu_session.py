"""A worker whose functions run on a GPU."""

from __future__ import annotations

import sys
from functools import partial
from time import perf_counter_ns

from deadheat import _gpu_checks
from deadheat._channel import Channel
from deadheat._errors import Refused
from deadheat._forks import CAN_FORK, request_in_child
from deadheat._gpu import MISSING, driver_is_open, library_in_use, open_device
from deadheat._gpu_batch import GRAPH_CALLS, GpuContender
from deadheat._gpu_clocks import Clocks, State, is_unsteady
from deadheat._gpu_errors import device_problem, reason
from deadheat._gpu_trial import trial
from deadheat._growth import advice, rises
from deadheat._worker import Session, answer_all, greet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, NoReturn

    from deadheat._benchmarks import Benchmark
    from deadheat._gpu_libraries import Library
    from deadheat._gpu_trial import StartedTrial, Trial
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
# The number of samples that the calibration run checks, and their number if each call has an input.
SHOWN, SHOWN_PER_CALL = 12, 3


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
        self._clocks: Clocks | None = None
        # By sample of this block, whether the clocks of the device were unsteady; and the state of
        # the device after the last one.
        self._unsteady: list[bool] = []
        self._state: State | None = None
        # The place of the first sample that counts; None outside of a block.
        self._recorded_from: int | None = None
        self._blocks = 0
        # Whether calls are replayed from CUDA graphs, which are captured for every input.
        self._graphs = False
        self._no_graphs = ""
        # The request that this process was prepared with.
        self._prepared: dict[str, Any] = {}

    @property
    def _library(self) -> Library:
        assert self._library_or_none is not None
        return self._library_or_none

    @property
    def _own_contenders(self) -> list[GpuContender]:
        return [each for each in self._contenders if isinstance(each, GpuContender)]

    def problem(self, error: BaseException) -> dict[str, Any]:
        said = device_problem(error, self.seed)
        return super().problem(error) if said is None else {"refused": said}

    def prepare(self, asked: dict[str, Any]) -> Reply:
        if self._library_or_none is None:
            raise Refused(MISSING)
        self._prepared = asked
        return super().prepare(asked)

    def answer(self, kind: str, asked: dict[str, Any]) -> Reply:
        # Only a `StartedTrial` asks so.
        if kind == "try_graphs":
            return "tried", {"problem": self.try_graphs(asked["seed"])}
        return super().answer(kind, asked)

    def open(self) -> Clocks:
        """Opens the device, before the first input is made."""
        assert self._benchmark is not None
        index = self._benchmark.gpu or 0
        open_device(self._library, index)
        return Clocks(self._library.address(index))

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
        assert self._benchmark is not None
        if self._clocks is None:
            self._calling = None
            self._clocks = self.open()
        if self._benchmark.input is not None:
            for contender in self._own_contenders:
                contender.forget()
        super().make_input(seed)
        # The input is on the device before the first turn, and so are the graphs.
        begun = perf_counter_ns()
        self._library.synchronize()
        if self._graphs:
            self.capture_all()
        self._input_ns += perf_counter_ns() - begun

    # Before the race.

    def calibrate(self, asked: dict[str, Any]) -> Reply:
        benchmark = self._benchmark
        assert benchmark is not None
        if not self.may_use_graphs(benchmark):
            return self.calibrated(asked, benchmark, None)
        seed = asked["seed"]
        requests: list[dict[str, Any]] = [{"prepare": self._prepared}]
        requests += [{"try_graphs": {"seed": seed}}, {"bye": {}}]
        tried = trial(partial(self.try_graphs, seed), requests)
        try:
            return self.calibrated(asked, benchmark, tried)
        finally:
            tried.close()

    def calibrated(
        self, asked: dict[str, Any], benchmark: Benchmark, tried: Trial | StartedTrial | None
    ) -> Reply:
        was_shared = not benchmark.input_per_call
        self.examine(asked["seed"])
        notes = self._notes
        assert notes is not None
        most = self.most_calls(benchmark)
        self.refuse_untimed_work(benchmark, most)
        least = max(LEAST_NS, asked["least_ns"])
        gpu_ns = [self.call_ns(number, least, most) for number in range(len(self._contenders))]
        iterations = min(1 + int(least / max(min(gpu_ns), 1.0)), most)
        calibrated: dict[str, Any] = {}
        # If the other side is in another process, it may need more calls.
        is_one_side = self._prepared["contender"] is not None
        may_be_short = iterations >= GRAPH_CALLS or is_one_side
        if tried is not None and may_be_short and self.may_use_graphs(benchmark):
            self._no_graphs = tried.result()
            if not self._no_graphs:
                iterations += -iterations % GRAPH_CALLS if iterations >= GRAPH_CALLS else 0
            else:
                # Tells all processes of both sides to use no graphs.
                iterations -= iterations % GRAPH_CALLS == 0
                calibrated["most_iterations"] = iterations
        self.decide(iterations)
        for contender in self._own_contenders:
            self.check_samples(contender, benchmark, iterations)
        notes.extend(self.notes_on_device(benchmark))
        calibrated |= {"iterations": iterations, "notes": notes}
        calibrated["call_ns"] = self.turn_ns(iterations)
        if benchmark.input_per_call:
            calibrated["most_iterations"] = most
            if was_shared:
                calibrated["input_per_call"] = True
        elif benchmark.input is not None:
            calibrated["input_ns"] = self._input_ns
        return "calibrated", calibrated

    def refuse_untimed_work(self, benchmark: Benchmark, most: int) -> None:
        """Refuses functions whose work the events of the race do not enclose."""
        index, device = benchmark.gpu or 0, f"cuda:{benchmark.gpu or 0}"
        given = self._given() if benchmark.input_per_call else self._given
        _gpu_checks.refuse_other_devices(given, index)
        del given
        for contender in self._own_contenders:
            self._calling = contender.number
            if _gpu_checks.leaves_work(contender, self._given, 1):
                raise Refused(_gpu_checks.STREAM)
            if _gpu_checks.launches_nothing(contender, self._given, most):
                raise Refused(
                    f"launches nothing on {device}: put its input on {device}, or race by wall "
                    "time with device='cpu'"
                )

    def check_samples(self, contender: GpuContender, benchmark: Benchmark, iterations: int) -> None:
        """Checks samples of the race's number of calls."""
        self._calling = contender.number
        if _gpu_checks.leaves_work(contender, self._given, iterations):
            raise Refused(_gpu_checks.STREAM)
        contender.batches = contender.idle_batches = 0
        count = SHOWN_PER_CALL if benchmark.input_per_call else SHOWN
        times = [contender.gpu_ns(self._given, iterations) for _ in range(count)]
        if benchmark.input_per_call:
            return
        # The clocks of a device may fall for a while. What grows goes on growing.
        if rises(times) and min(
            contender.gpu_ns(self._given, iterations) for _ in range(SHOWN)
        ) > max(times):
            raise Refused(advice(min(times) / iterations, max(times) / iterations))

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

    def may_use_graphs(self, benchmark: Benchmark) -> bool:
        is_given_one = not benchmark.is_cold and not benchmark.input_per_call
        return is_given_one and self._library.can_capture

    def decide(self, iterations: int) -> None:
        """Decides how the calls of a sample are launched. They are replayed from graphs if their
        number is a multiple of GRAPH_CALLS, so all processes of both sides decide alike."""
        assert self._benchmark is not None
        if iterations % GRAPH_CALLS == 0 and self.may_use_graphs(self._benchmark):
            self._graphs = True
            self.capture_all()
        for contender in self._own_contenders:
            self._calling = contender.number
            contender.look_whether_it_waits(self._given, iterations)

    def capture_all(self) -> None:
        for contender in self._own_contenders:
            self._calling = contender.number
            compiled = self._library.compilations()
            contender.capture(self._given)
            # The first block has the input of the warm-up, and later blocks have others.
            if self._blocks > 0:
                self.refuse_compilation(compiled)

    def try_graphs(self, seed: int) -> str:
        """Returns the reason why a function cannot be captured; empty if all can. If one cannot,
        the process is unusable afterwards."""
        assert self._benchmark is not None
        contender = None
        try:
            self.make_input(seed)
            for contender in self._own_contenders:
                # What is compiled at the first call cannot be captured.
                self.sample(contender.number, 1)
                contender.try_graph(self._given)
        except Exception as error:
            if contender is None:
                return f"the process that tries to capture has no input ({reason(error)})"
            name = self._benchmark.label(self._names[contender.number])
            return f"{name} cannot be captured ({reason(error)})"
        return ""

    def notes_on_device(self, benchmark: Benchmark) -> list[str]:
        """Sentences for the answer about how the functions were timed."""
        assert self._clocks is not None
        state = self._clocks.read()
        device = self._library.described()
        cache = "L2 cache emptied before every call" if benchmark.is_cold else "L2 cache warm"
        told = f"{state}, " if str(state or "") else ""
        how = (
            f"; samples of a multiple of {GRAPH_CALLS} calls are replayed from CUDA graphs"
            if self._graphs
            else ""
        )
        notes = [f"GPU: {device}, {told}{cache}{how}."]
        if self._no_graphs:
            notes.append(f"No CUDA graphs: {self._no_graphs}. Calls are launched one by one.")
        if state is None:
            notes.append(
                f"deadheat cannot see throttling and clock changes: {self._clocks.problem}."
            )
        elif state.missing:
            notes.append(
                "deadheat cannot see all throttling and clock changes: NVML does not report "
                f"{', '.join(state.missing)} of this GPU."
            )
        for contender in self._own_contenders:
            name = benchmark.label(self._names[contender.number])
            if contender.waits:
                notes.append(
                    f"{name} waits for the device within a call, or launches more than can be "
                    "queued, so its GPU time includes the gaps between its launches."
                )
            elif contender.idle_batches:
                notes.append(
                    f"In {contender.idle_batches} of {contender.batches} samples of the "
                    f"calibration run, the GPU waited for the host to launch {name}, so its GPU "
                    "time may include gaps between its launches."
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
        self.decide(asked["iterations"])
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
        self._state = None
        kind, said = super().block(asked)
        self._blocks += 1
        unsteady = self._unsteady[self._recorded_from :]
        self._recorded_from = None
        return kind, {"values": said["values"], "gpu_clock": unsteady}

    def sample(self, number: int, iterations: int) -> list[int]:
        assert self._clocks is not None
        before, compiled = self._clocks.read(), self._library.compilations()
        values = super().sample(number, iterations)
        if self._recorded_from is None:
            return values
        if self._blocks > 0 or len(self._unsteady) >= self._recorded_from:
            self.refuse_compilation(compiled)
        after = self._clocks.read()
        # The state after the last sample, because a clock may step between two turns.
        self._unsteady.append(is_unsteady(self._state, before, after))
        self._state = after
        return values

    def refuse_compilation(self, compiled: int) -> None:
        """Refuses a function if the number of compilations is not `compiled` any more."""
        if self._library.compilations() == compiled:
            return
        why = self._library.why_compiled()
        raise Refused(
            f"was compiled again by torch.compile within a sample{f' ({why})' if why else ''}: "
            "make inputs of the same shapes, types and layouts for every seed, or compile with "
            "dynamic=True"
        )

    def checked(self, benchmark: Benchmark) -> Reply | None:
        baseline, *candidates = self._contenders
        if benchmark.check_outputs is True:
            name = benchmark.label(self._names[baseline.number])
            for candidate in candidates:
                self._calling = candidate.number
                _gpu_checks.refuse_vacuous(baseline.kept, candidate.kept, name)
        return super().checked(benchmark)


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
