"""The worker: answers what deadheat asks, as docs/protocol.md has it."""

from __future__ import annotations

import gc
import os
import sys
from time import perf_counter_ns, sleep

from deadheat import __version__
from deadheat._channel import IS_PYPY, Channel, PeerGone, drawn, hold_heap
from deadheat._errors import UsageError
from deadheat._forks import CAN_FORK, request_in_child
from deadheat._growth import CONFIRMED, SHOWN, advice, rises, times_as_long
from deadheat._timing import METRICS, Contender, Instruments, cpu_overhead, has_children

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, NoReturn

    from deadheat._benchmarks import Benchmark

    Reply = tuple[str, dict[str, Any]]

# The shortest sample: reading the instruments takes some 10 µs of its own.
LEAST_NS = 50_000
# The warm-up of a JIT, at least and at most, and a round of it, which has an input of its own. On
# PyPy a function of 25 µs came to 2 µs at once, to 1.1 after 32 ms and to 0.5 after 128 ms.
JIT_LEAST_NS, JIT_MOST_NS, JIT_ROUND_NS = 300_000_000, 2_000_000_000, 20_000_000
# CPython 3.10 keeps what the names of a function stand for from so many calls on; later ones
# specialise after few. And the time that this may take.
OPCACHE_CALLS, OPCACHE_MOST_NS = 1_024 if sys.version_info < (3, 11) else 0, 50_000_000
# A sample of one call that takes so long is not taken again: a first call of it counts.
LONG_NS = 5_000_000
# A first call that is slower than the second by no more than this needs no warm-up, if both
# contenders together are so slow that this would be one round.
GAIN, LONG_ROUND_NS = 0.01, 10_000_000
# An input takes long that takes so many times as long as the samples on it.
LONG_INPUT = 10
# Characters of a message at most, and frames of a traceback.
MOST_SAID, FRAMES = 2_000, 4


def has_jit() -> bool:
    """Returns whether this Python compiles what it has called for a while; CPython may since 3.13,
    where `PYTHON_JIT` has it do so."""
    jit = getattr(sys, "_jit", None)
    return IS_PYPY or (jit is not None and bool(jit.is_enabled()))


HAS_JIT = has_jit()


def serve(channel: Channel, benchmarks: Mapping[str, Benchmark]) -> NoReturn:
    """Answers requests until there are no more, and ends the process."""
    greet(channel)
    request = channel.request()
    if request[0] == "import":
        request = request_in_child(channel)
    answer_all(channel, Session(channel, benchmarks), request)
    channel.end()


def greet(channel: Channel) -> None:
    hello: dict[str, Any] = {"protocol": 2, "worker": worker_name(), "metrics": METRICS}
    if CAN_FORK:
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
        # `sys.exit` and Ctrl-C are no exceptions of the usual kind.
        except BaseException as error:
            reply = session.failed({"panicked": described(error, session.seed)})
        channel.reply(*reply)
        if reply[0] == "failed":
            return
        kind, asked = channel.request()


def serve_packed(file: str) -> NoReturn:
    """Races the functions that a file brings, packed by `deadheat.race`."""
    from deadheat._benchmarks import Benchmark, channel

    if channel is None:
        raise UsageError("this file is for workers of deadheat")
    if IS_PYPY:
        from pickle import load

        import deadheat._travel  # noqa: F401, as it knows how to import cloudpickle there.
    else:
        # `pickle` itself imports re.
        from _pickle import load
    with open(file, "rb") as packed:
        modules = load(packed)
        # In either order: what is imported second finds other places of the heap free.
        for module in modules if drawn() % 2 else reversed(modules):
            __import__(module)
        found = load(packed)
    functions, name = found["functions"], found["benchmark"]
    make = functions.pop("input", None)
    contenders = dict(zip(found["names"], functions.values()))
    serve(channel, {name: Benchmark(name, contenders, input=make, **found["options"])})


def worker_name() -> str:
    system = sys.implementation.name
    version = ".".join(map(str, sys.version_info[:3]))
    return f"deadheat for Python {__version__} ({system} {version})"


def described(error: BaseException, seed: int | None) -> str:
    """The error, the last lines of its traceback, and the seed of the input."""
    import traceback

    said = "".join(traceback.format_exception_only(type(error), error)).strip()
    if isinstance(error, SystemExit):
        said = f"sys.exit({error.code!r})"
    # Functions that were sent by value have lost the name of their file.
    where = [
        f"{frame.filename}:{frame.lineno} in {frame.name}".replace("<dynamic-code>:", "line ")
        for frame in traceback.extract_tb(error.__traceback__)
        if os.path.dirname(frame.filename) != os.path.dirname(__file__)
        and frame.filename != "<deadheat sample>"
    ]
    whence = "".join(f", at {place}" for place in reversed(where[-FRAMES:]))
    given = "" if seed is None else f" (input of seed {seed})"
    return f"with {said[:MOST_SAID]}{given}{whence}"


class Session:
    """The one benchmark of a process, and the state of its race."""

    def __init__(self, channel: Channel, benchmarks: Mapping[str, Benchmark]) -> None:
        self._channel = channel
        self._benchmarks = benchmarks
        self._benchmark: Benchmark | None = None
        self._contenders: list[Contender] = []
        self._tools = Instruments()
        self._called: set[int] = set()
        self._calling: int | None = None
        self._given: Any = None
        self._ready: int | None = None
        # Whether the first call of each contender was as fast as the second.
        self._warm = False
        self._held: list[Any] = []
        self.seed: int | None = None

    def failed(self, problem: dict[str, Any]) -> Reply:
        return "failed", {"contender": self._calling, "problem": problem}

    def answer(self, kind: str, asked: dict[str, Any]) -> Reply:
        if kind == "list":
            listed = [benchmark.listed() for benchmark in self._benchmarks.values()]
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
        self._held = hold_heap(asked.get("heap_bytes", 0))
        overhead = cpu_overhead(benchmark, self._tools)
        # Set up in either order, as drawn.
        numbers = list(range(len(functions)))
        made = {
            number: Contender(number, functions[number], benchmark, self._tools, overhead)
            for number in (numbers if asked.get("heap_bytes", 0) % 2 else reversed(numbers))
        }
        self._contenders = [made[number] for number in numbers]
        # What is there now is no garbage, and need not be looked through again.
        gc.collect()
        if not IS_PYPY:  # Its collector has no such thing.
            gc.freeze()
        said = {"renews_input": benchmark.input is not None}
        return "prepared", {**said, **self._channel.of_process}

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
                self._given = make(seed, **arguments)
        if not benchmark.gc:
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
        """The first call of a function, from which only this process may come back, as a sample.

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
        if hasattr(contender.kept, "__await__"):
            raise TypeError("the function is not async itself, and returns what must be awaited")
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
            raise RuntimeError("the function forks, and its child comes back from the call")
        return values

    def calibrate(self, asked: dict[str, Any]) -> Reply:
        begun = perf_counter_ns()
        self.make_input(asked["seed"])
        input_ns = perf_counter_ns() - begun
        assert self._benchmark is not None
        least = max(LEAST_NS, asked["least_ns"])
        most = self._benchmark.most_iterations
        call_ns, iterations = self.call_times(least, most)
        if HAS_JIT:
            # What was timed so far was interpreted.
            self.compile_all(asked["seed"], range(len(call_ns)), iterations)
            self.make_input(asked["seed"])
            call_ns, iterations = self.call_times(least, most)
        calibrated: dict[str, Any] = {"iterations": iterations, "call_ns": call_ns}
        if self._warm and self._benchmark.input is None and sum(call_ns) > LONG_ROUND_NS:
            calibrated["warm_at_once"] = True
        if self._benchmark.input_per_call:
            calibrated["most_iterations"] = most
        elif self._benchmark.input is not None:
            calibrated["input_ns"] = input_ns
        return "calibrated", calibrated

    def call_times(self, least: int, most: int) -> tuple[list[float], int]:
        """Nanoseconds of a call of each contender, and the calls of a sample that lasts at least
        so long."""
        call_ns = []
        self._warm = not HAS_JIT
        for contender in self._contenders:
            number, iterations = contender.number, 1
            took = self.sample(number, 1)[0]
            if took >= LONG_NS:
                again = self.sample(number, 1)[0]
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
        """The shortest of a few samples, which must not take longer and longer."""
        if self._benchmark is not None and self._benchmark.input_per_call:
            return min(self.sample(number, iterations)[0] for _ in range(3))
        times: list[float] = [self.sample(number, iterations)[0] for _ in range(SHOWN)]
        if rises(times):
            more: list[float] = [self.sample(number, iterations)[0] for _ in range(CONFIRMED)]
            if times_as_long(times, [min(more)]):
                raise UsageError(advice(min(times) / iterations, min(more) / iterations))
        return min(times)

    def warm_up(self, asked: dict[str, Any]) -> Reply:
        if HAS_JIT:
            rounds = self.compile_all(asked["seed"], asked["order"], asked["iterations"])
        else:
            rounds = self.specialise_all(asked["seed"], asked["order"], asked["iterations"])
        self._ready = asked["seed"] if rounds == 1 or self.seed == asked["seed"] else None
        return "warm", {"rounds": rounds, "ready": self._ready}

    def specialise_all(self, seed: int, order: Sequence[int], iterations: int) -> int:
        """Calls the contenders until they get no faster, and returns the number of rounds."""
        rounds, idle, took, best, making = 0, 0, 0, float("inf"), 0
        while idle < 2 and rounds < 50 and took < 10_000_000:
            # An input that takes long to make is enough for all rounds.
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
        """Returns whether the input of this seed is there still, from the block before: deadheat
        asks for one again where making it takes long."""
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
                self.sample(turn, asked["unrecorded_iterations"])
            else:
                values += self.sample(turn, asked["iterations"])
            if channel.takes_turns and not (place + 1 < len(own) and own[place + 1]):
                channel.pass_baton()
        return "block", {"values": values, "keep_waiting": self._tools.keep_waiting()}

    def smoke(self, asked: dict[str, Any]) -> Reply:
        self.make_input(asked["seed"])
        for contender in self._contenders:
            self.sample(contender.number, 1)
        return "sound", {}

    def checked(self, benchmark: Benchmark) -> Reply | None:
        """The failure of a candidate that did not return what the baseline returned."""
        baseline, *candidates = self._contenders
        if benchmark.check_outputs:
            for candidate in candidates:
                self._calling = candidate.number
                if not agree(benchmark.check_outputs, baseline.kept, candidate.kept):
                    return self.failed({"output_differs": {}})
        for contender in self._contenders:
            contender.kept = None
        return None


def agree(check: Any, one: Any, other: Any) -> bool:
    """Returns whether two outputs are equal, by `==` or by the function of the user."""
    equal = one == other if check is True else check(one, other)
    # Arrays compare element by element.
    return bool(equal.all() if hasattr(equal, "all") else equal)
