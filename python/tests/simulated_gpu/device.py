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
"""

from __future__ import annotations

import json
import os
import random

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


class Device:
    def __init__(self) -> None:
        self.draws = random.Random(os.environ.get("PYTHONHASHSEED", "0"))
        self.host = self.free_at = 0.0
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
        self.error: Exception | None = None

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

    def launch(self, ns: float, name: str = "") -> None:
        """Launches a kernel that takes so many nanoseconds at full clock."""
        if self.capture is not None:
            self.capture.append((ns, name))
            return
        self.host += LAUNCH_NS
        self.run(ns, name, GAP_NS)

    def run(self, ns: float, name: str, gap: float) -> None:
        begun = max(self.host, self.free_at)
        speed = FULL / self.clock(begun) * self.factor(begun) * self.process
        self.free_at = begun + ns * speed * self.function(name) + gap

    def spin(self, ns: float) -> None:
        self.host += LAUNCH_NS
        self.free_at = max(self.host, self.free_at) + ns

    def replay(self, kernels: list[tuple[float, str]]) -> None:
        self.host += LAUNCH_NS
        for ns, name in kernels:
            self.run(ns, name, GAP_IN_GRAPH_NS)

    def event(self) -> float:
        """When the work that is queued now is done."""
        self.host += CALL_NS
        return max(self.host, self.free_at)

    def wait_until(self, time: float) -> None:
        if self.capture is not None:
            raise RuntimeError("CUDA error: operation not permitted when stream is capturing")
        self.host = max(self.host + CALL_NS, time)
        if self.error is not None:
            raise self.error

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
