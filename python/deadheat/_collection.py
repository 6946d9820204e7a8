"""Counts and times garbage collections while functions run. Only the pilot imports this."""

from __future__ import annotations

import gc
from math import log
from time import thread_time_ns

from deadheat._channel import IS_PYPY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from deadheat._timing import Contender, Instruments

# How long the pilot calls a function to count and time its collections, in nanoseconds.
WATCHED_NS = 5_000_000
# Below this share of a function's CPU time, collections are not reported.
LEAST_SHARE = 0.01
# If collections matter, a sample contains at least this many, up to this many nanoseconds. If
# samples had one collection or none, their median would be the time of calls without any.
LEAST_COLLECTIONS, MOST_SAMPLE_NS = 4, 20_000_000
# The smallest change of the ratio of two functions (as a logarithm) that the pilot reports, and
# the number of trials with collection and without. By chance, all trials of one kind exceed all of
# the other in one pilot of 1,716.
LEAST_CHANGE, TRIALS = 0.03, 7
# If wall time exceeds CPU time by this factor, the function mostly waits and is not tried.
MOST_WAITS = 4.0


class Watch:
    """Instruments that also count and time the collections between two readings.

    If every call has its own input, the inputs are made before the first reading. Collections are
    timed by the CPU time of the thread, because other processes may use the core.
    """

    def __init__(self, tools: Instruments | Watch) -> None:
        self.tools = tools
        self._spent = self._begun = 0
        self._readings: list[tuple[int, int, int]] = []

    def around(self) -> list[int]:
        self._readings.append((collections(), self._spent, thread_time_ns()))
        return self.tools.around()

    def __call__(self, phase: str, _: dict[str, Any]) -> None:
        if phase == "start":
            self._begun = thread_time_ns()
        else:
            self._spent += thread_time_ns() - self._begun

    def last(self) -> tuple[int, float]:
        """The number of collections in the last sample, and their share of its CPU time."""
        before, after = self._readings[-2:]
        count, spent, all_of_it = (now - then for then, now in zip(before, after))
        return count, min(1.0, spent / max(all_of_it, 1))


class Collections:
    """The collections during calls of one contender."""

    def __init__(
        self,
        label: str,
        contender: Contender,
        sample: Callable[[int], list[int]],
        call_ns: float,
        most: int,
    ) -> None:
        self.label = label
        self._contender = contender
        self._sample = sample
        self.call_ns = call_ns
        self._calls = max(1, min(most, int(WATCHED_NS / max(call_ns, 1.0))))
        # The lowest ratio of wall time to CPU time; high if the function waits or lacks a core.
        self.waits = float("inf")
        _, count, share = self._watched()
        self.per_call = count / self._calls
        self._shares = [share]

    def _watched(self) -> tuple[int, int, float]:
        """The CPU time of a sample in nanoseconds, the number of collections, and their share."""
        watch = Watch(self._contender.tools)
        self._contender.tools = watch
        gc.callbacks.append(watch)
        try:
            return self._cpu_ns(self._calls), *watch.last()
        finally:
            gc.callbacks.remove(watch)
            self._contender.tools = watch.tools

    def _cpu_ns(self, calls: int) -> int:
        wall, cpu = self._sample(calls)[:2]
        self.waits = min(self.waits, wall / max(cpu, 1))
        return cpu

    def trial(self) -> float:
        """CPU time of a call in nanoseconds, including the collections that it causes."""
        took, _, share = self._watched()
        self._shares.append(share)
        return took / self._calls

    def without(self, calls: int) -> float:
        """CPU time of a call, from a sample taken while the collector is off."""
        return self._cpu_ns(calls) / calls

    @property
    def share(self) -> float:
        """The median share of CPU time that collections take."""
        return median(self._shares)

    def needed(self) -> int:
        """The number of calls that a sample needs to contain some collections."""
        if self.share < LEAST_SHARE or not self.per_call:
            return 1
        most = MOST_SAMPLE_NS / max(self.call_ns, 1.0)
        return max(1, int(min(LEAST_COLLECTIONS / self.per_call, most)))

    def told(self) -> str:
        if not self.per_call:
            return f"none of the time of {self.label}"
        often = (
            f"{self.per_call:.1f} times in a call"
            if self.per_call >= 1
            else f"once in {1 / self.per_call:.0f} calls"
        )
        return f"{100 * self.share:.0f}% of the CPU time of {self.label} ({often})"


def collections() -> int:
    """The number of collections in this process so far."""
    return sum(generation["collections"] for generation in gc.get_stats())


def is_watched() -> bool:
    """Returns whether the collector is on and reports its collections."""
    return gc.isenabled() and not IS_PYPY and hasattr(gc, "callbacks")


def note_of(found: list[Collections], iterations: int) -> str | None:
    """The note on the collections of all contenders; None if they take too little time."""
    if not any(each.per_call for each in found):
        return None
    are_short = all(each.call_ns <= WATCHED_NS and each.waits < MOST_WAITS for each in found)
    with_it: list[list[float]] = []
    if are_short:
        # Only the pilot has these imports, so its collections must not scan them.
        gc.collect()
        gc.freeze()
        with_it = trials(found, lambda each: each.trial())
    if max(each.share for each in found) < LEAST_SHARE:
        return None
    told = [each.told() for each in sorted(found, key=lambda each: -each.share)]
    note = f"Garbage collection takes {', and '.join(told)}."
    if len(found) != 2 or not are_short:
        return note
    gc.disable()
    try:
        without = trials(found, lambda each: each.without(iterations))
    finally:
        gc.enable()
        gc.collect()
    return note + another_answer(found[0], found[1], ratios(with_it), ratios(without))


def trials(found: list[Collections], time: Callable[[Collections], float]) -> list[list[float]]:
    """Times all contenders in turns, `TRIALS` times."""
    taken = []
    for _ in range(TRIALS):
        # As before each block of a race.
        gc.collect()
        taken.append([time(each) for each in found])
    return taken


def ratios(taken: list[list[float]]) -> list[float]:
    return [max(candidate, 1.0) / max(baseline, 1.0) for baseline, candidate in taken]


def another_answer(
    baseline: Collections, candidate: Collections, with_it: list[float], without: list[float]
) -> str:
    """The two ratios, in words, if collection clearly changes them; empty otherwise."""
    kept, left = median(with_it), median(without)
    apart = min(with_it) > max(without) or max(with_it) < min(without)
    if not apart or abs(log(left / kept)) < LEAST_CHANGE:
        return ""
    return (
        f" Without garbage collection (gc=False), {candidate.label} takes {left:.2f} times as long "
        f"as {baseline.label} in the calibration run; with it, {kept:.2f} times."
    )


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
