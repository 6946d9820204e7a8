"""Checks whether the events of a race enclose the work of a function, and whether a comparison of
its outputs can fail."""

from __future__ import annotations

from functools import partial
from time import perf_counter_ns

from deadheat._errors import Refused
from deadheat._gpu_arrays import address_of, index_of_device, is_array
from deadheat._gpu_batch import LEAST_LEAD_NS
from deadheat._inputs import is_on_gpu, within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from deadheat._gpu_batch import GpuContender
    from deadheat._gpu_libraries import Library

# A device that is busy for longer than this after the last event has work on another stream.
TAIL_NS = 50_000
# Calls that add no more than this to an empty pair of events have launched nothing: the shortest
# kernel takes a microsecond, and events have a resolution of half a microsecond.
NOTHING_NS = 1_000
# The time of the host for the calls of such a check, and the most calls.
CHECK_NS, MOST_CALLS = 10_000_000, 32
# The longest time that the device spins while the host makes these calls.
MOST_SPIN_NS = 4_000_000_000
TRIES = 3

STREAM = (
    "leaves work on another stream when it returns, which is not timed: have the current stream "
    "wait for it (torch.cuda.current_stream().wait_stream(other))"
)


def leaves_work(contender: GpuContender, given: Any, calls: int) -> bool:
    """Returns whether calls leave work on another stream, which the events do not enclose."""
    library = contender.library
    tails = []
    for _ in range(TRIES):
        prepared, ended = contender.prepared(given, calls), library.event()
        contender.call(prepared, perf_counter_ns)
        library.record(ended)
        library.wait(ended)
        begun = perf_counter_ns()
        library.synchronize()
        tails.append(perf_counter_ns() - begun)
    return min(tails) > TAIL_NS


def launches_nothing(contender: GpuContender, given: Any, most: int) -> bool:
    """Returns whether calls add nothing to the time between two events of the device."""
    library = contender.library
    prepared = contender.prepared(given, 1)
    begun = perf_counter_ns()
    contender.call(prepared, perf_counter_ns)
    library.synchronize()
    host_ns = perf_counter_ns() - begun
    calls = max(1, min(CHECK_NS // max(host_ns, 1), MOST_CALLS, most))
    # If the spinning ended before the calls, the events would show the time of the host.
    spin_ns = min(LEAST_LEAD_NS + 2 * host_ns * calls, MOST_SPIN_NS)
    empty_ns = min(between(library, lambda: None, LEAST_LEAD_NS) for _ in range(TRIES))
    for _ in range(TRIES):
        call = partial(contender.call, contender.prepared(given, calls), perf_counter_ns)
        if between(library, call, spin_ns) > empty_ns + NOTHING_NS:
            return False
    return True


def between(library: Library, call: Callable[[], object], spin_ns: float) -> float:
    """Nanoseconds between an event before and an event after a call."""
    begun, ended = library.event(), library.event()
    library.synchronize()
    library.spin_for(spin_ns)
    library.record(begun)
    call()
    library.record(ended)
    library.wait(ended)
    return library.elapsed(begun, ended)


def refuse_other_devices(given: Any, index: int) -> None:
    """Refuses an input on another GPU than the one that is timed."""
    for value in within(given):
        found = index_of_device(value) if is_on_gpu(value) else None
        if found not in (None, index):
            raise Refused(
                f"gets an input on cuda:{found}, but the race times cuda:{index}: make the input "
                f"on cuda:{index}, or race with device='cuda:{found}'"
            )


def refuse_vacuous(baseline: Any, candidate: Any, name: str) -> None:
    """Refuses to compare outputs that are equal whatever the functions compute."""
    if baseline is None and candidate is None:
        raise Refused(
            f"returns None, as {name} does, so check_outputs=True compares nothing: return the "
            "output"
        )
    both = [
        {address_of(value) for value in within(output) if is_array(value)} - {0}
        for output in (baseline, candidate)
    ]
    if both[1] and both[1] <= both[0]:
        raise Refused(
            f"returns the memory that {name} returns, so check_outputs=True compares it with "
            "itself: let each function write to an output of its own, or return a copy"
        )
