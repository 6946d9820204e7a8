"""Samples: a batch of calls, timed as one, and what the system tells of it."""

from __future__ import annotations

import gc
import os
import sys
from itertools import repeat
from time import perf_counter_ns, process_time_ns, thread_time_ns

from deadheat._channel import IS_PYPY, c_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from deadheat._benchmarks import Benchmark
    from deadheat._collection import Watch

try:
    import resource

    # Only Linux counts by threads. PyPy does so too, and has no name for it.
    RUSAGE_THREAD = 1 if sys.platform == "linux" else None
except ImportError:
    RUSAGE_THREAD = None

METRICS = ["wall_ns", "cpu_ns"]
if RUSAGE_THREAD is not None:
    METRICS += ["minor_faults", "major_faults", "voluntary_switches", "involuntary_switches"]
    METRICS += ["run_delay_ns"]

# PyPy has no `os.waitid`; these are the numbers of Linux.
PYPY_WAITID: Callable[..., int] | None = None
WEXITED_NOHANG_NOWAIT = 0x1000005
if IS_PYPY and sys.platform == "linux":
    PYPY_WAITID = c_function("waitid", "int", "unsigned int", "unsigned long", "int")


# Calls per iteration of the loop.
UNROLLED = 16

# The last call is the one whose answer is kept, and dropped when the time is taken.
LOOP = """
{define} sample(function, given, last, rounds, rest, clock{names}):
    begun = clock()
    for _ in rounds:
        {calls}
    for {each} in rest:
        {call}
    kept = {call_last}
    return clock() - begun, kept
"""


def loop_for(benchmark: Benchmark, drains: bool) -> Callable[..., Any]:
    """Compiles the loop that calls a contender.

    Every contender gets one of its own: the interpreter specialises calls by what it has seen
    called at a place, and two functions in turns at one place would undo that for each other.
    """
    given, last = ("given", "last") if benchmark.input else ("", "")
    names = [] if benchmark.input else list(benchmark.arguments)
    by_name = ", ".join(f"{name}=arg_{name}" for name in names)
    wait = "await " if benchmark.is_async else ""
    before, after = (f"drain({wait}", ")") if drains else (wait, "")
    call = f"{before}function({given}{by_name}){after}"
    source = LOOP.format(
        define="async def" if benchmark.is_async else "def",
        names="".join(f", arg_{name}" for name in names) + (", drain" if drains else ""),
        calls="; ".join([call] * UNROLLED),
        call=call,
        call_last=f"{before}function({last}{by_name}){after}",
        each="given" if benchmark.input_per_call else "_",
    )
    namespace: dict[str, Any] = {}
    exec(compile(source, "<deadheat sample>", "exec"), namespace)
    loop: Callable[..., Any] = namespace["sample"]
    return loop


class RunDelay:
    """Nanoseconds that this thread has waited for a core."""

    def __init__(self) -> None:
        self.unread = False
        self._waited = 0
        self._switches = -1
        try:
            self._file = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._file = -1

    def read(self, switches: int) -> int:
        """Returns them; reads the file only if the thread has left its core since the last time."""
        if switches == self._switches:
            return self._waited
        self._switches = switches
        try:
            ran, waited, _ = map(int, os.pread(self._file, 96, 0).split())
        except (OSError, ValueError):
            ran = waited = 0
        # A kernel that keeps no account writes zeros.
        if ran > 0 and waited >= self._waited:
            self._waited = waited
        else:
            self.unread = True
        return self._waited


class Instruments:
    """What is read before and after the calls of a sample."""

    def __init__(self) -> None:
        self._delay = RunDelay()
        self._begun: tuple[int, int] | None = None

    def around(self) -> list[int]:
        """The metrics behind `cpu_ns`, as they stand now."""
        if RUSAGE_THREAD is None:
            return []
        usage = resource.getrusage(RUSAGE_THREAD)
        switches = usage.ru_nvcsw + usage.ru_nivcsw
        counts = [usage.ru_minflt, usage.ru_majflt, usage.ru_nvcsw, usage.ru_nivcsw]
        return [*counts, self._delay.read(switches)]

    def keep_waiting(self) -> str | None:
        """Why the time that this thread waited for a core must count since the first time this was
        asked: other threads or child processes may be what it waited for."""
        if RUSAGE_THREAD is None:
            return None
        # The thread first: time that passes in between counts as that of others.
        own = thread_time_ns()
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        others = max(0, process_time_ns() - own)
        others += int(1e9 * (children.ru_utime + children.ru_stime))
        if self._begun is None:
            self._begun = own, others
        own_before, others_before = self._begun
        if others - others_before > 100_000 + (own - own_before) // 1_000 or has_children():
            return "concurrent"
        return "unread" if self._delay.unread else None


def has_children() -> bool:
    """Returns whether this process has a child, running or ended, that it did not wait for."""
    if PYPY_WAITID is not None:
        return PYPY_WAITID(0, 0, 0, WEXITED_NOHANG_NOWAIT) == 0
    # Windows has none, nor has macOS before Python 3.13.
    if not hasattr(os, "waitid"):
        return False
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


class Contender:
    """A function with the loop that calls it."""

    def __init__(
        self,
        number: int,
        function: Callable[..., Any],
        benchmark: Benchmark,
        tools: Instruments | Watch,
        cpu_overhead: int = 0,
        drain: Callable[[Any], Any] | None = None,
    ) -> None:
        self.number = number
        self.kept: Any = None
        self._function = function
        self._arguments: tuple[Any, ...] = ()
        if not benchmark.input:
            self._arguments = tuple(benchmark.arguments.values())
        self._drain = drain
        if drain is not None:
            self._arguments += (drain,)
        self._loop = loop_for(benchmark, drain is not None)
        self._per_call = benchmark.input_per_call
        self._run = benchmark.run
        self._times_itself = benchmark.times_itself
        self.tools: Instruments | Watch = tools
        self._cpu_overhead = cpu_overhead

    def watch(self, saw: Callable[[Any], None] | None) -> None:
        """Passes outputs to `saw` before they are drained; None stops this."""
        drain = self._drain
        if drain is None:
            return
        if saw is None:
            self._arguments = (*self._arguments[:-1], drain)
            return

        def watched(output: Any) -> Any:
            saw(output)
            return drain(output)

        self._arguments = (*self._arguments[:-1], watched)

    def sample(self, given: Any, iterations: int) -> list[int]:
        """Calls the function `iterations` times and returns the metrics of the sample.

        `given` is the input, or makes one if every call has its own.
        """
        calls = self.prepared(given, iterations)
        # A call that finds its last answer still there works in other memory than the one before,
        # and the first of a block in new pages of the system.
        self.kept = None
        before = self.tools.around()
        cpu = thread_time_ns()
        if self._times_itself:
            wall = round(1e9 * self._function(iterations))
        else:
            wall, self.kept = self.call(calls, perf_counter_ns)
        cpu = thread_time_ns() - cpu
        after = self.tools.around()
        counts = [now - then for then, now in zip(before, after)]
        return [wall, max(0, cpu - self._cpu_overhead), *counts]

    def prepared(self, given: Any, iterations: int) -> tuple[Any, ...]:
        """What the loop needs for so many calls: the input, that of the last call, and iterators
        over the calls in rows and over the others."""
        rounds, rest = divmod(iterations - 1, UNROLLED)
        if not self._per_call:
            return given, given, repeat(None, rounds), repeat(None, rest)
        inputs = [given() for _ in range(iterations)]
        if gc.isenabled():
            # So that young collections during the calls do not scan the inputs.
            gc.collect(1)
        return given, inputs.pop(), repeat(None, 0), iter(inputs)

    def call(self, calls: tuple[Any, ...], clock: Callable[[], int]) -> tuple[int, Any]:
        """Makes calls; returns what the clock advanced by and the last output."""
        took: tuple[int, Any] = self._run(
            self._loop(self._function, *calls, clock, *self._arguments)
        )
        return took


def cpu_overhead(benchmark: Benchmark, tools: Instruments) -> int:
    """Measures the CPU time that the instruments show of themselves, on calls of nothing."""

    def nothing(*_: Any, **__: Any) -> None: ...

    async def nothing_async(*_: Any, **__: Any) -> None: ...

    def no_time(_: int) -> float:
        return 0.0

    function: Callable[..., Any] = nothing_async if benchmark.is_async else nothing
    if benchmark.times_itself:
        function = no_time
    empty = Contender(0, function, benchmark, tools)
    return sorted(empty.sample(nothing, 1)[1] for _ in range(21))[10]
