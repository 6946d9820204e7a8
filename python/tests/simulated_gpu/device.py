"""A GPU that exists in simulated time, below the modules of this folder.

A kernel starts when the host has launched it and the device is free, as on a real device, so gaps
between launches are there, and a queue that is full hides them. Everything that differs from one
process to the next follows from `PYTHONHASHSEED`, which deadheat draws for each replicate.

The variable `SIMULATED_GPU` is JSON with any of these fields:

devices: how many there are (1).
process, side: the spread of times between processes, and of each function within a process, as a
    fraction (0).
drift: the step of a random walk of all times, per millisecond (0).
noise: the spread of times from one millisecond to the next (0).
steps: how often a second the clock changes between 1,980 and 1,755 MHz (0).
throttled: how often a second the device is throttled to 1,410 MHz for 20 ms (0).
memory: bytes that can be allocated (10^9).
queue: how many kernels can be queued before a launch waits (no limit).
unsupported: names of functions of NVML that the device lacks ([]).
lost_readings: the number of readings after which NVML fails (never).
mig: 1 if the device is an instance of MIG (0).
"""

from __future__ import annotations

import json
import os
import random
from collections import deque
from time import perf_counter_ns

SETTINGS = json.loads(os.environ.get("SIMULATED_GPU", "{}"))
# Nanoseconds of the host for a launch, and of an event or a call of the driver.
LAUNCH_NS, CALL_NS = 6_000.0, 1_000.0
# Between kernels that are queued one by one, and within a graph.
GAP_NS, GAP_IN_GRAPH_NS = 1_000.0, 300.0
RESOLUTION_NS = 500.0
FULL, STEPPED, THROTTLED = 1_980, 1_755, 1_410
EPISODE_NS = 20e6
MILLISECOND = 1e6


def setting(name: str, default: float = 0.0) -> float:
    return float(SETTINGS.get(name, default))


class Stream:
    """Kernels that run one after the other."""

    def __init__(self) -> None:
        self.free_at = 0.0


class Device:
    def __init__(self) -> None:
        # The device that the process has chosen, and the process that has opened it.
        self.chosen = 0
        self.process_id: int | None = None
        self.default = self.stream = Stream()
        self.streams = [self.default]
        # When the kernels that are queued end.
        self.queue: deque[float] = deque()
        self.draws = random.Random(os.environ.get("PYTHONHASHSEED", "0"))
        self.host = 0.0
        self.process = 1 + self.draws.gauss(0, setting("process"))
        self.of_function: dict[str, float] = {}
        # By millisecond: the factor of all times.
        self.factors: list[float] = []
        self.walk = 1.0
        self.changes_at = self.until("steps", 0.0)
        self.is_stepped = False
        self.throttled_from = self.until("throttled", 0.0)
        self.allocated = self.peak = 0
        # Kernels that are being captured, or None.
        self.capture: list[tuple[float, str]] | None = None
        # A capture in which a call failed, and the generator that such a capture leaves behind.
        self.is_invalid = self.is_generator_spoilt = False
        self.error: Exception | None = None

    @property
    def free_at(self) -> float:
        """When the current stream is done."""
        return self.stream.free_at

    @free_at.setter
    def free_at(self, time: float) -> None:
        self.stream.free_at = time

    def open(self) -> None:
        """Refuses a process that was forked after the device was opened, as CUDA does."""
        self.process_id = self.process_id or os.getpid()
        if self.process_id != os.getpid():
            raise RuntimeError("CUDA error: initialization error")

    def until(self, name: str, now: float) -> float:
        rate = setting(name)
        return now + self.draws.expovariate(rate) * 1e9 if rate > 0 else float("inf")

    def factor(self, now: float) -> float:
        while len(self.factors) <= now / MILLISECOND:
            self.walk *= 1 + self.draws.gauss(0, setting("drift"))
            self.factors.append(self.walk * (1 + self.draws.gauss(0, setting("noise"))))
        return self.factors[int(now / MILLISECOND)]

    def clock(self, now: float) -> int:
        while now >= self.changes_at:
            self.is_stepped = not self.is_stepped
            self.changes_at = self.until("steps", self.changes_at)
        if now >= self.throttled_from + EPISODE_NS:
            self.throttled_from = self.until("throttled", now)
        if now >= self.throttled_from:
            return THROTTLED
        return STEPPED if self.is_stepped else FULL

    def function(self, name: str) -> float:
        if name not in self.of_function:
            self.of_function[name] = 1 + self.draws.gauss(0, setting("side"))
        return self.of_function[name]

    def launch(self, ns: float, name: str = "", index: int | None = None) -> None:
        """Launches a kernel that takes so many nanoseconds at full clock."""
        self.open()
        if self.capture is not None:
            self.capture.append((ns, name))
            return
        if index not in (None, self.chosen):
            return  # Another device is busy.
        self.host += LAUNCH_NS
        if len(self.queue) >= setting("queue", float("inf")):
            self.host = max(self.host, self.queue.popleft())
        self.run(ns, name, GAP_NS)
        if "queue" in SETTINGS:
            self.queue.append(self.free_at)

    def run(self, ns: float, name: str, gap: float) -> None:
        begun = max(self.host, self.free_at)
        speed = FULL / self.clock(begun) * self.factor(begun) * self.process
        self.free_at = begun + ns * speed * self.function(name) + gap

    def spin(self, ns: float) -> None:
        self.open()
        self.host += LAUNCH_NS
        self.free_at = max(self.host, self.free_at) + ns

    def replay(self, kernels: list[tuple[float, str]]) -> None:
        self.host += LAUNCH_NS
        for ns, name in kernels:
            self.run(ns, name, GAP_IN_GRAPH_NS)

    def event(self) -> float:
        """When the work that is queued now is done."""
        self.open()
        self.host += CALL_NS
        return max(self.host, self.free_at)

    def wait_until(self, time: float) -> None:
        self.open()
        if self.capture is not None:
            self.is_invalid = True
            raise RuntimeError("CUDA error: operation not permitted when stream is capturing")
        self.host = max(self.host + CALL_NS, time)
        if self.error is not None:
            raise self.error

    def synchronize(self) -> None:
        """Waits for all streams. The host really waits for those of the function, because deadheat
        reads its own clock for this."""
        self.wait_until(self.default.free_at)
        others = max(stream.free_at for stream in self.streams)
        if others > self.host:
            until = perf_counter_ns() + others - self.host
            while perf_counter_ns() < until:
                pass
            self.wait_until(others)

    def begin_capture(self) -> None:
        self.capture, self.is_invalid = [], False

    def end_capture(self) -> list[tuple[float, str]]:
        kernels, self.capture = self.capture, None
        if self.is_invalid:
            # Issue 171263 of PyTorch.
            self.is_generator_spoilt = True
            raise RuntimeError(
                "CUDA error: operation failed due to a previous error during capture"
            )
        return kernels

    def between(self, begun: float, ended: float) -> float:
        """Milliseconds, as coarse as those of a real device."""
        phase = self.draws.random()
        return (int((ended - begun) / RESOLUTION_NS + phase)) * RESOLUTION_NS / 1e6

    def allocate(self, count: int) -> None:
        limit = int(setting("memory", 1e9))
        if self.allocated + count > limit:
            raise MemoryError(f"Tried to allocate {count} bytes of {limit}")
        self.allocated += count
        self.peak = max(self.peak, self.allocated)


device = Device()
