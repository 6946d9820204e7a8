"""Samples of a GPU: calls that are queued behind a spinning kernel, between two events."""

from __future__ import annotations

from time import perf_counter_ns

from deadheat._errors import Refused
from deadheat._timing import Contender

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from deadheat._benchmarks import Benchmark
    from deadheat._gpu_libraries import Library

# The device spins for this long, and for as many times as long as the host took to launch the calls
# before, so that all of them are queued when the first begins.
LEAST_LEAD_NS, LEAD = 20_000, 1.5
# The first guess of what a launch takes.
LAUNCH_NS = 15_000
MOST_LEAD_NS = 50_000_000
# If the device ran out of work while the host still launched, the batch is repeated with a longer
# lead, so many times at most.
TRIES = 4
# Calls in a CUDA graph.
GRAPH_CALLS = 32
# A graph that takes a smaller part of the time of its calls has not captured all of their work.
LEAST_OF_GRAPH = 0.2


class GpuContender(Contender):
    """A function whose calls are timed on the device.

    A sample is two batches of the calls. The first is timed by the clock of the host, from before
    the first call until the device has finished the last; the second by events of the device.
    """

    def __init__(
        self,
        number: int,
        function: Callable[..., Any],
        benchmark: Benchmark,
        library: Library,
        drain: Callable[[Any], Any] | None,
    ) -> None:
        from deadheat._timing import Instruments

        super().__init__(number, function, benchmark, Instruments(), 0, drain)
        self.library = library
        self._is_cold = benchmark.is_cold
        self._launch_ns = float(LAUNCH_NS)
        # True if its calls wait for the device, so that nothing can be queued ahead.
        self.waits = False
        # Batches of the events, and those in which the device waited for the host.
        self.batches = self.idle_batches = 0
        self._graph: Any = None

    def sample(self, given: Any, iterations: int) -> list[int]:
        """Returns the metrics of a sample: wall time, GPU time, and the peak of its memory."""
        self.kept = None
        wall, peak = self._wall(given, iterations)
        gpu = self.gpu_ns(given, iterations)
        metrics = [wall, round(gpu)]
        return [*metrics, peak] if self.library.counts_memory else metrics

    def call(self, calls: tuple[Any, ...], clock: Callable[[], int]) -> tuple[int, Any]:
        took = super().call(calls, clock)
        limit = self.library.compile_limit()
        if limit:
            raise Refused(f"runs uncompiled, because torch.compile has given it up ({limit})")
        return took

    def _wall(self, given: Any, iterations: int) -> tuple[int, int]:
        library = self.library
        batches = self._batches(given, iterations)
        before = library.allocated()
        took = 0
        for calls in batches:
            # Otherwise the peak would include the output of the call before.
            self.kept = None
            if self._is_cold:
                library.flush()
            library.synchronize()
            begun = perf_counter_ns()
            _, self.kept = self.call(calls, perf_counter_ns)
            library.synchronize()
            took += perf_counter_ns() - begun
        return took, max(0, library.peak() - before)

    def _batches(self, given: Any, iterations: int) -> list[tuple[Any, ...]]:
        """Calls between which the cache is left alone: all, or single ones."""
        if not self._is_cold:
            return [self.prepared(given, iterations)]
        return [self.prepared(given, 1) for _ in range(iterations)]

    def gpu_ns(self, given: Any, iterations: int) -> float:
        """Nanoseconds that the device takes for so many calls."""
        for attempt in range(TRIES):
            took, was_idle = self._queued(given, iterations, LEAD * 2**attempt)
            if not was_idle or self.waits:
                break
        self.batches += 1
        self.idle_batches += was_idle
        return took

    def look_whether_it_waits(self, given: Any, iterations: int) -> None:
        """Finds out whether a call waits for the device, as `.item()` does, or whether `iterations`
        calls launch more kernels than CUDA can queue."""
        leads = [LEAD * 2**attempt for attempt in range(TRIES)]
        self.waits = any(
            all(self._queued(given, calls, lead)[1] for lead in leads)
            for calls in sorted({1, iterations})
        )

    def _queued(self, given: Any, iterations: int, lead: float) -> tuple[float, bool]:
        """The time of the device, and whether it ran out of work while the host launched."""
        library = self.library
        batches = self._batches(given, iterations)
        events = [(library.event(), library.event()) for _ in batches]
        library.synchronize()
        was_idle = False
        for calls, (begun, ended) in zip(batches, events):
            if self._is_cold:
                library.flush()
            library.spin_for(self._lead(iterations, lead))
            launched = perf_counter_ns()
            self._launch(calls, begun, ended, iterations)
            launched = perf_counter_ns() - launched
            was_idle |= library.is_done(begun)
            per_call = launched / (1 if self._is_cold else iterations)
            self._launch_ns = min(self._launch_ns, per_call) if not was_idle else per_call
        library.wait(events[-1][1])
        return sum(library.elapsed(*both) for both in events), was_idle

    def _lead(self, iterations: int, lead: float) -> float:
        calls = 1 if self._is_cold else iterations
        return min(LEAST_LEAD_NS + lead * self._launch_ns * calls, MOST_LEAD_NS)

    def _launch(self, calls: tuple[Any, ...], begun: Any, ended: Any, iterations: int) -> None:
        record = self.library.record
        if self._graph is not None and iterations % GRAPH_CALLS == 0:
            record(begun)
            for _ in range(iterations // GRAPH_CALLS):
                self._graph.replay()
            record(ended)
            return
        events = iter((begun, ended))

        def mark() -> int:
            record(next(events))
            return 0

        # The last output is dropped before the next batch, as all others are.
        self.call(calls, mark)

    def capture(self, given: Any) -> None:
        """Captures calls on this input into a graph, unless there is a graph."""
        if self._graph is None:
            self._graph = self.library.captured(
                lambda: self.call(self.prepared(given, GRAPH_CALLS), perf_counter_ns)
            )

    def forget(self) -> None:
        """Drops the graph, which holds on to memory of the input that it was captured on."""
        self._graph = None

    def try_graph(self, given: Any) -> None:
        """Captures a graph and compares its time with that of the calls; raises if that fails."""
        single = self.gpu_ns(given, GRAPH_CALLS)
        self.capture(given)
        took = min(self.gpu_ns(given, GRAPH_CALLS) for _ in range(3))
        if took < LEAST_OF_GRAPH * single:
            raise RuntimeError("a CUDA graph of it lacks some of its work")
