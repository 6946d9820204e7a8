"""The worker: answers what deadheat asks, as docs/protocol.md has it."""

from __future__ import annotations

import gc
import os
import sys
from time import perf_counter_ns, sleep

from deadheat import __version__
from deadheat._channel import IS_PYPY, Channel, PeerGone, drawn, hold_heap
from deadheat._errors import Refused, UsageError
from deadheat._forks import CAN_FORK, request_in_child
from deadheat._growth import (
    CONFIRMATIONS,
    CONFIRMED,
    PAUSE,
    SHOWN,
    advice,
    rises,
    times_as_long,
)
from deadheat._timing import METRICS, Contender, Instruments, cpu_overhead, has_children

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from functools import partial
    from typing import Any, NoReturn

    from deadheat._benchmarks import Benchmark

    Reply = tuple[str, dict[str, Any]]
else:
    # `functools` itself imports three modules more.
    from _functools import partial

# The shortest sample: reading the instruments takes some 10 µs of its own.
LEAST_NS = 50_000
# The warm-up of a JIT, at least and at most, and a round of it, which has an input of its own. On
# PyPy a function of 25 µs came to 2 µs at once, to 1.1 after 32 ms and to 0.5 after 128 ms.
JIT_LEAST_NS, JIT_MOST_NS, JIT_ROUND_NS = 300_000_000, 2_000_000_000, 20_000_000
# CPython 3.10 keeps what the names of a function stand for from so many calls on; later ones
# specialise after few. And the time that this may take.
OPCACHE_CALLS, OPCACHE_MOST_NS = 1_024 if sys.version_info < (3, 11) else 0, 50_000_000
# If the first call takes this long, it counts as a sample of one call and is not repeated.
LONG_NS = 5_000_000
# No warm-up if the first call exceeds the second by at most GAIN, and the calls of all contenders
# take LONG_ROUND_NS together, because a warm-up would then be a single round.
GAIN, LONG_ROUND_NS = 0.01, 10_000_000
# An input is slow to make if making it takes this many times as long as the samples on it.
LONG_INPUT = 10
# The most characters of a message, and the most frames of a traceback.
MOST_SAID, FRAMES = 2_000, 4


def has_jit() -> bool:
    """Returns whether this Python compiles what it has called for a while; CPython may since 3.13,
    where `PYTHON_JIT` has it do so."""
    jit = getattr(sys, "_jit", None)
    return IS_PYPY or (jit is not None and bool(jit.is_enabled()))


HAS_JIT = has_jit()


def serve(channel: Channel, benchmarks: Mapping[str, Benchmark]) -> NoReturn:
    """Answers requests until there are no more, and ends the process."""
    if any(benchmark.gpu is not None for benchmark in benchmarks.values()):
        from deadheat._gpu_session import serve_gpu

        serve_gpu(channel, benchmarks)
    greet(channel)
    request = channel.request()
    if request[0] == "import":
        request = request_in_child(channel)
    answer_all(channel, Session(channel, benchmarks), request)
    channel.end()


def greet(channel: Channel, metrics: Sequence[str] = METRICS, can_fork: bool = CAN_FORK) -> None:
    hello: dict[str, Any] = {"protocol": 2, "worker": worker_name(), "metrics": metrics}
    if can_fork:
        hello["forks"] = True
    channel.reply("hello", hello)


def answer_all(channel: Channel, session: Session, request: tuple[str, dict[str, Any]]) -> None:
    """Answers a request and those that follow, until there are no more or one fails."""
    kind, asked = request
    while kind != "bye":
        try:
            reply = session.answer(kind, asked)
        except PeerGone:
            reply = session.failed({"peer_gone": {}})
        except Refused as refused:
            reply = session.failed({"refused": str(refused)})
        # `sys.exit` and Ctrl-C are no exceptions of the usual kind.
        except BaseException as error:
            reply = session.failed(session.problem(error))
        channel.reply(*reply)
        if reply[0] == "failed":
            return
        kind, asked = channel.request()


def serve_packed(file: str) -> NoReturn:
    """Races the functions in a file that `deadheat.race` has packed."""
    from deadheat._benchmarks import REACHED, Benchmark, channel

    if channel is None:
        raise UsageError("this file is for workers of deadheat")
    if IS_PYPY:
        from pickle import load

        import deadheat._travel  # noqa: F401, as it knows how to import cloudpickle there.
    else:
        # `pickle` itself imports re.
        from _pickle import load
    with open(file, "rb") as packed:
        state = load(packed)
        if state:
            from deadheat._interpreter import apply

            # Loading the functions may depend on these settings.
            apply(state)
        modules = load(packed)
        # In either order: what is imported second finds other places of the heap free.
        for module in modules if drawn() % 2 else reversed(modules):
            __import__(module)
        found = load(packed)
    if state:
        # Imported modules may have changed these settings, so apply them again.
        apply(state)
    functions, name = found["functions"], found["benchmark"]
    make = functions.pop("input", None)
    contenders = dict(zip(found["names"], functions.values()))
    benchmark = Benchmark(name, contenders, input=make, **found["options"])
    benchmark.reached = os.path.join(os.path.dirname(file), REACHED)
    serve(channel, {name: benchmark})


def add_sources(listed: list[dict[str, Any]], benchmarks: Mapping[str, Benchmark]) -> None:
    """Adds the sources to each benchmark of a file; functions sent by `race` have none."""
    file = getattr(sys.modules["__main__"], "__file__", None)
    if file is None or os.path.dirname(os.path.abspath(file)) == os.path.dirname(__file__):
        return
    from pathlib import Path

    from deadheat._sources import Sources

    sources = Sources(os.getcwd())
    functions = {name: benchmark.function_names() for name, benchmark in benchmarks.items()}
    others = {name for names in functions.values() for name in names}
    for one in listed:
        one["sources"] = sources.of_function(Path(file), functions[one["name"]], others)


def worker_name() -> str:
    system = sys.implementation.name
    version = ".".join(map(str, sys.version_info[:3]))
    return f"deadheat for Python {__version__} ({system} {version})"


def failed(problem: dict[str, Any], contender: int | None = None) -> Reply:
    """The reply `failed`, with the reason; Python raises where other languages panic."""
    said = {"contender": contender, "problem": problem}
    return "failed", {**said, "verb": "raised"} if "panicked" in problem else said


def described(error: BaseException, seed: int | None) -> str:
    """The error, the last lines of its traceback, and the seed of the input."""
    import traceback

    said = " ".join("".join(traceback.format_exception_only(type(error), error)).split())
    if isinstance(error, SystemExit):
        said = repr(error)
    # Functions sent by value lack the name of their file.
    where = [
        f"{frame.filename}:{frame.lineno} in {frame.name}".replace("<dynamic-code>:", "line ")
        for frame in traceback.extract_tb(error.__traceback__)
        if os.path.dirname(frame.filename) != os.path.dirname(__file__)
        and frame.filename != "<deadheat sample>"
    ]
    whence = "".join(f", at {place}" for place in reversed(where[-FRAMES:]))
    given = "" if seed is None else f" (input of seed {seed})"
    return f"{said[:MOST_SAID]}{given}{whence}"


class Session:
    """The one benchmark of a process, and the state of its race."""

    # The metric that is checked for calls that take longer and longer.
    growing = METRICS.index("cpu_ns")

    def __init__(self, channel: Channel, benchmarks: Mapping[str, Benchmark]) -> None:
        self._channel = channel
        self._benchmarks = benchmarks
        self._benchmark: Benchmark | None = None
        self._contenders: list[Contender] = []
        self._tools = Instruments()
        self._called: set[int] = set()
        self._calling: int | None = None
        self._names: list[str] = []
        # The notes of the pilot's check of the first calls; None before that check.
        self._notes: list[str] | None = None
        self._collects = True
        self._given: Any = None
        self._ready: int | None = None
        # By contender, the nanoseconds of the calls that the pilot checked; and whether the first
        # call of every contender was as fast as its second.
        self._looked_ns: dict[int, list[int]] = {}
        self._warm = False
        self._input_ns = 0
        self._held: list[Any] = []
        self.seed: int | None = None

    def failed(self, problem: dict[str, Any]) -> Reply:
        return failed(problem, self._calling)

    def problem(self, error: BaseException) -> dict[str, Any]:
        """An error as the protocol has it."""
        return {"panicked": described(error, self.seed)}

    def answer(self, kind: str, asked: dict[str, Any]) -> Reply:
        if kind == "list":
            listed = [benchmark.listed() for benchmark in self._benchmarks.values()]
            add_sources(listed, self._benchmarks)
            return "listed", {"benchmarks": listed}
        if kind == "prepare" and self._benchmark is None:
            return self.prepare(asked)
        action = {
            "calibrate": self.calibrate,
            "warm_up": self.warm_up,
            "block": self.block,
            "smoke": self.smoke,
        }.get(kind)
        if self._benchmark is None or action is None:
            return self.failed({"out_of_turn": {}})
        reply = action(asked)
        return self.checked(self._benchmark) or reply

    def prepare(self, asked: dict[str, Any]) -> Reply:
        benchmark = self._benchmarks.get(asked["benchmark"])
        wanted = asked.get("contender")
        contenders = benchmark.contenders if benchmark else {}
        functions = [f for name, f in contenders.items() if wanted in (None, name)]
        if not benchmark or not functions:
            return self.failed({"unknown": {}})
        self._benchmark = benchmark
        self._names = [name for name in contenders if wanted in (None, name)]
        self._held = hold_heap(asked.get("heap_bytes", 0))
        if asked.get("input_per_call"):
            benchmark.renew_for_every_call()
        self.make_contenders(benchmark, functions, asked.get("heap_bytes", 0) % 2 == 1)
        # If the program has turned its collector off, it stays off.
        self._collects = benchmark.gc and gc.isenabled()
        # The objects that exist now are not garbage, and later collections need not scan them.
        gc.collect()
        if not IS_PYPY:  # PyPy lacks `gc.freeze`.
            gc.freeze()
        said = {"renews_input": benchmark.input is not None}
        return "prepared", {**said, **self._channel.of_process}

    def make_contenders(
        self, benchmark: Benchmark, functions: Sequence[Callable[..., Any]], in_order: bool
    ) -> None:
        overhead = cpu_overhead(benchmark, self._tools)
        drain = benchmark.drain if callable(benchmark.drain) else None
        # In a random order, from the draw of deadheat.
        numbers = list(range(len(functions)))
        made = {
            number: Contender(number, functions[number], benchmark, self._tools, overhead, drain)
            for number in (numbers if in_order else reversed(numbers))
        }
        self._contenders = [made[number] for number in numbers]

    def make_input(self, seed: int) -> None:
        benchmark = self._benchmark
        assert benchmark is not None
        self._given, self.seed, self._calling = None, None, None
        self._channel.note(None)
        # Before the input is made, so that it has not to be looked through.
        gc.enable()
        gc.collect()
        if benchmark.input is not None:
            self.seed = seed
            make, arguments = benchmark.input, benchmark.arguments
            if benchmark.input_per_call:
                self._given = lambda: make(seed, **arguments)
            else:
                begun = perf_counter_ns()
                self._given = make(seed, **arguments)
                self._input_ns = perf_counter_ns() - begun
        if self._collects:
            # Moves the input to the oldest generation, so that young collections do not scan it.
            gc.collect(1)
        else:
            gc.disable()

    def sample(self, number: int, iterations: int) -> list[int]:
        self._calling = number
        self._channel.note(number)
        contender = self._contenders[number]
        if number not in self._called:
            self._called.add(number)
            first = self.call_once(contender)
            if iterations == 1 and first[0] >= LONG_NS:
                return first
        values = contender.sample(self._given, iterations)
        if not (self._benchmark and self._benchmark.check_outputs):
            contender.kept = None
        return values

    def call_once(self, contender: Contender) -> list[int]:
        """Makes the first call of a function, as a sample. Fails if a forked child returns from it.

        A function that forks, and whose child returns, would double the number of processes with
        every call.
        """
        process = os.getpid()
        came_back, tell = os.pipe()
        os.set_blocking(came_back, False)
        try:
            values = contender.sample(self._given, 1)
        finally:
            if os.getpid() != process:
                os.write(tell, b"\1")
                os._exit(1)
        forked = False
        if has_children():
            sleep(0.1)
            try:
                forked = bool(os.read(came_back, 1))
            except BlockingIOError:
                pass
        os.close(came_back)
        os.close(tell)
        if forked:
            raise RuntimeError("the function forks, and its child returns from the call")
        return values

    def examine(self, seed: int) -> None:
        """Checks the first calls, once per session, and then makes the input of this seed."""
        benchmark = self._benchmark
        assert benchmark is not None
        if self._notes is not None:
            return self.make_input(seed)
        from deadheat._pilot import Examination

        def make() -> Any:
            number = self._calling
            self.make_input(seed)
            self._calling = number
            return self._given

        def call(number: int) -> Any:
            self._calling = number
            self._channel.note(number)
            contender = self._contenders[number]
            contender.watch(partial(found.saw, self._names[number]))
            try:
                if number in self._called:
                    values = contender.sample(self._given, 1)
                else:
                    self._called.add(number)
                    values = self.call_once(contender)
            finally:
                contender.watch(None)
            self._looked_ns.setdefault(number, []).append(values[0])
            output, contender.kept = contender.kept, None
            return output

        found = Examination(benchmark, call, make)
        functions = [benchmark.contenders[name] for name in self._names]
        changes = False
        for number, function in enumerate(functions):
            self._calling = number
            changes |= found.look(number, self._names[number], function)
        for number, name in enumerate(self._names):
            self._calling = number
            found.refuse_lazy(name)
        found.note_kinds()
        self._notes = found.notes + notes_on_modules(benchmark)
        if changes:
            benchmark.renew_for_every_call()
            self._looked_ns.clear()
            self.make_contenders(benchmark, functions, True)
        if changes or not found.is_fresh:
            self.make_input(seed)

    def calibrate(self, asked: dict[str, Any]) -> Reply:
        assert self._benchmark is not None
        was_shared = not self._benchmark.input_per_call
        self.examine(asked["seed"])
        least = max(LEAST_NS, asked["least_ns"])
        most = self._benchmark.most_iterations
        call_ns, iterations = self.call_times(least, most)
        if HAS_JIT:
            # What was timed so far was interpreted.
            self.compile_all(asked["seed"], range(len(call_ns)), iterations)
            self.make_input(asked["seed"])
            call_ns, iterations = self.call_times(least, most)
        iterations = self.watch_collections(call_ns, iterations, most)
        inner = self._benchmark.inner_loops
        calibrated: dict[str, Any] = {"iterations": iterations * inner}
        calibrated["call_ns"] = [ns / inner for ns in call_ns]
        # A test has run to its end before, so its first call here is not the first of its process.
        is_first = self._benchmark.input is None and not self._benchmark.is_test
        if self._warm and is_first and sum(call_ns) > LONG_ROUND_NS:
            calibrated["warm_at_once"] = True
        if self._benchmark.input_per_call:
            calibrated["most_iterations"] = most * inner
            if was_shared:
                calibrated["input_per_call"] = True
        elif self._benchmark.input is not None:
            calibrated["input_ns"] = self._input_ns
        if self._notes:
            calibrated["notes"] = self._notes
        return "calibrated", calibrated

    def watch_collections(self, call_ns: list[float], iterations: int, most: int) -> int:
        """Notes the cost of garbage collection, and returns the calls that a sample needs."""
        from deadheat._collection import Collections, is_watched, note_of

        benchmark = self._benchmark
        if not is_watched() or benchmark is None:
            return iterations
        found = []
        for number, ns in enumerate(call_ns):
            label = benchmark.label(self._names[number])
            sample = partial(self.sample, number)
            found.append(Collections(label, self._contenders[number], sample, ns, most))
        note = note_of(found, iterations)
        if note is not None and self._notes is not None:
            self._notes.append(note)
        needed = max(each.needed() for each in found)
        return min(most, max(iterations, needed))

    def call_times(self, least: int, most: int) -> tuple[list[float], int]:
        """Nanoseconds of a call of each contender, and the number of calls of which a sample lasts
        at least `least` nanoseconds."""
        call_ns = []
        self._warm = not HAS_JIT
        for contender in self._contenders:
            number, iterations = contender.number, 1
            looked = iter(self._looked_ns.pop(number, ()))
            took = next(looked, None) or self.sample(number, 1)[0]
            if took >= LONG_NS:
                again = next(looked, None) or self.sample(number, 1)[0]
                self._warm &= again >= took * (1 - GAIN)
                call_ns.append(float(again))
                continue
            self._warm = False
            while took < least and iterations < most:
                iterations *= 2
                took = self.sample(number, iterations)[0]
            call_ns.append(self.steady(number, iterations) / iterations)
        return call_ns, min(1 + int(least / max(min(call_ns), 0.1)), most)

    def steady(self, number: int, iterations: int) -> float:
        """The shortest of a few samples. Fails if their CPU time rises steadily."""
        if self._benchmark is not None and self._benchmark.input_per_call:
            return min(self.sample(number, iterations)[0] for _ in range(3))
        samples = [self.sample(number, iterations) for _ in range(SHOWN)]
        times: list[float] = [values[self.growing] for values in samples]
        if rises(times) and (later := self.confirmed_growth(number, iterations, times)):
            raise Refused(advice(min(times) / iterations, later / iterations))
        return min(values[0] for values in samples)

    def confirmed_growth(self, number: int, iterations: int, times: list[float]) -> float:
        """The time of the last samples, or 0 if some are as short as the first again."""
        later = 0.0
        for _ in range(CONFIRMATIONS):
            sleep(PAUSE)
            more: list[float] = []
            more += [self.sample(number, iterations)[self.growing] for _ in range(CONFIRMED)]
            later = min(more)
            if not times_as_long(times, [later]):
                return 0.0
        return later

    def calls_of(self, iterations: int) -> int:
        """The calls that make this many iterations, if each call makes several."""
        inner = self._benchmark.inner_loops if self._benchmark is not None else 1
        return max(1, round(iterations / inner))

    def warm_up(self, asked: dict[str, Any]) -> Reply:
        warm_all = self.compile_all if HAS_JIT else self.specialise_all
        rounds = warm_all(asked["seed"], asked["order"], self.calls_of(asked["iterations"]))
        self._ready = asked["seed"] if rounds == 1 or self.seed == asked["seed"] else None
        return "warm", {"rounds": rounds, "ready": self._ready}

    def specialise_all(self, seed: int, order: Sequence[int], iterations: int) -> int:
        """Calls the contenders until they get no faster, and returns the number of rounds."""
        rounds, idle, took, best, making = 0, 0, 0, float("inf"), 0
        while idle < 2 and rounds < 50 and took < 10_000_000:
            # If an input is slow to make, one serves all rounds.
            if making < LONG_INPUT * took or rounds == 0:
                begun = perf_counter_ns()
                self.make_input(seed + rounds)
                making = perf_counter_ns() - begun
            took = sum(self.sample(n, iterations)[0] for n in order)
            rounds, idle = rounds + 1, 0 if took < 0.99 * best else idle + 1
            best = min(best, took)
        missing = OPCACHE_CALLS - rounds * iterations
        # Where every call has an input, making so many may take long.
        per_call = self._benchmark is not None and self._benchmark.input_per_call
        if missing > 0 and missing * best / iterations < OPCACHE_MOST_NS and not per_call:
            for n in order:
                self.sample(n, missing)
        return rounds

    def compile_all(self, seed: int, order: Sequence[int], iterations: int) -> int:
        """The same where a JIT compiles what was called often enough, in steps that are far
        apart: until they have got no faster for half of the time, within bounds."""
        begun, passed, improved = perf_counter_ns(), 0, 0
        rounds, best = 0, float("inf")
        while passed < max(JIT_LEAST_NS, 2 * improved) and passed < JIT_MOST_NS:
            self.make_input(seed + rounds)
            took = passes = 0
            until = perf_counter_ns() + JIT_ROUND_NS
            while not passes or perf_counter_ns() < until:
                took += sum(self.sample(n, iterations)[0] for n in order)
                passes += 1
            rounds, passed = rounds + 1, perf_counter_ns() - begun
            if took / passes < 0.99 * best:
                best, improved = took / passes, passed
        return rounds

    def keeps_input(self, seed: int) -> bool:
        """Returns whether the input of the previous block has this seed and can be used again.
        deadheat repeats the seed if making an input takes long."""
        per_call = self._benchmark is not None and self._benchmark.input_per_call
        return self._ready is None and self.seed == seed and not per_call

    def block(self, asked: dict[str, Any]) -> Reply:
        if self.keeps_input(asked["seed"]):
            gc.collect()
        elif self._ready != asked["seed"]:
            self.make_input(asked["seed"])
        self._ready = None
        self._tools.keep_waiting()
        channel, turns = self._channel, asked["turns"]
        own = [turn is not None for turn in turns]
        values: list[int] = []
        calls = self.calls_of(asked["iterations"])
        if channel.takes_turns and not own[0]:
            channel.pass_baton()  # The input is ready.
        # Behind the last turn the baton comes in once more.
        for place, turn in enumerate([*turns, None]):
            is_own = place < len(own) and own[place]
            was_own = place > 0 and own[place - 1]
            if channel.takes_turns and not was_own and (is_own or place == len(own)):
                channel.take_baton()
            if turn is None:
                continue
            if place < asked.get("unrecorded", 0):
                self.sample(turn, self.calls_of(asked["unrecorded_iterations"]))
            else:
                values += self.sample(turn, calls)
            if channel.takes_turns and not (place + 1 < len(own) and own[place + 1]):
                channel.pass_baton()
        keep_waiting = self._tools.keep_waiting()
        if self._benchmark is not None and self._benchmark.times_itself:
            # The thread may have waited outside of the interval that the function timed.
            keep_waiting = "unread"
        made = calls * (self._benchmark.inner_loops if self._benchmark is not None else 1)
        if made != asked["iterations"]:
            # The other side makes another number of iterations in a call.
            values = [value * asked["iterations"] // made for value in values]
        return "block", {"values": values, "keep_waiting": keep_waiting}

    def smoke(self, asked: dict[str, Any]) -> Reply:
        self.examine(asked["seed"])
        for contender in self._contenders:
            self.sample(contender.number, 1)
        return "sound", {}

    def checked(self, benchmark: Benchmark) -> Reply | None:
        """The failure of a candidate that did not return what the baseline returned."""
        baseline, *candidates = self._contenders
        if benchmark.check_outputs:
            from deadheat._outputs import Tolerance, describe, difference

            tolerance, names = Tolerance(*benchmark.tolerance), list(benchmark.contenders)
            for candidate in candidates:
                self._calling = candidate.number
                outputs = baseline.kept, candidate.kept
                found = difference(benchmark.check_outputs, tolerance, *outputs)
                if found:
                    both = names[baseline.number], names[candidate.number]
                    detail = describe(found, both, outputs, self.seed)
                    return self.failed({"output_differs": {"detail": detail}})
        for contender in self._contenders:
            contender.kept = None
        return None


def notes_on_modules(benchmark: Benchmark) -> list[str]:
    """Notes on changes that the user's process made to modules at run time."""
    if benchmark.reached is None:
        return []
    from pickle import load

    from deadheat._patched import differences

    with open(benchmark.reached, "rb") as names:
        return differences(load(names))
