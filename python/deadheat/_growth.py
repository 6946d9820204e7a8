"""Calls that take longer and longer, as those of a function do that adds to what it works on."""

from __future__ import annotations

# Samples that show whether calls take longer and longer, and those that confirm it.
SHOWN, CONFIRMED = 12, 4
# Later samples take so many times as long as the first third of them. Those of a call whose time
# is proportional to the calls before take 3.6 times as long. At 1.25, by wall time, a loop over 100
# numbers was refused while compilers had both cores.
GROWTH = 1.5
# Parts of all pairs of samples of which the later is the longer. One sample that was disturbed
# spoils a sixth of them.
RISING = 0.8


def rises(times: list[float]) -> bool:
    """Returns whether the times of samples rise steadily, by more than machines drift."""
    pairs = [(one, other) for at, one in enumerate(times) for other in times[at + 1 :]]
    longer = sum(other > one for one, other in pairs)
    third = len(times) // 3
    return longer >= RISING * len(pairs) and times_as_long(times, times[-third:])


def times_as_long(times: list[float], later: list[float]) -> bool:
    """Returns whether later samples took that much longer than the first third of these."""
    first = sorted(times[: len(times) // 3])
    return sorted(later)[len(later) // 2] > GROWTH * first[len(first) // 2]


def advice(first_ns: float, last_ns: float) -> str:
    return (
        f"its calls take longer and longer on the same input, {last_ns / 1e3:.3g} µs after "
        f"{first_ns / 1e3:.3g} µs, as where each adds to a list: give every call an input of its "
        "own (input_per_call=True, or benchmark.pedantic with a setup)"
    )
