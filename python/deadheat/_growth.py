"""Detects calls that take longer and longer, as those of a function that appends to a list."""

from __future__ import annotations

# The number of samples checked for a rise, and the number that must confirm it.
SHOWN, CONFIRMED = 12, 4
# The number of times that it must be confirmed, and the pause before each, in seconds. A core that
# other work slowed for some milliseconds made calls of 40 ns take 1.7 times as long.
CONFIRMATIONS, PAUSE = 3, 0.02
# Growth is reported if later samples take this many times as long as the first third of samples. If
# the time of a call is proportional to the number of earlier calls, they take 3.6 times as long. A
# limit of 1.25 on wall time refused a loop over 100 numbers while compilers used both cores.
GROWTH = 1.5
# Growth is reported if the later sample is longer in this share of all pairs. One disturbed sample
# spoils a sixth of the pairs.
RISING = 0.8


def rises(times: list[float]) -> bool:
    """Returns whether the times of samples rise steadily, by more than machine drift explains."""
    pairs = [(one, other) for at, one in enumerate(times) for other in times[at + 1 :]]
    longer = sum(other > one for one, other in pairs)
    third = len(times) // 3
    return longer >= RISING * len(pairs) and times_as_long(times, times[-third:])


def times_as_long(times: list[float], later: list[float]) -> bool:
    """Returns whether the median of `later` is `GROWTH` times that of the first third."""
    first = sorted(times[: len(times) // 3])
    return sorted(later)[len(later) // 2] > GROWTH * first[len(first) // 2]


def advice(first_ns: float, last_ns: float) -> str:
    return (
        "cannot be raced: its calls take longer and longer on the same input, "
        f"{last_ns / 1e3:.3g} µs after {first_ns / 1e3:.3g} µs, perhaps because each call adds to "
        "the input: give every call its own input (input_per_call=True, or benchmark.pedantic with "
        "a setup)"
    )
