"""Benchmarks of a file: the decorator, and what ends the file."""

from __future__ import annotations

import os
import sys

from deadheat import _channel
from deadheat._errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, TypedDict, TypeVar, overload

    from typing_extensions import Unpack

    Function = TypeVar("Function", bound=Callable[..., Any])

    class Options(TypedDict, total=False):
        """The options of `benchmark`, without the functions and their arguments."""

        input: Callable[..., Any] | None
        input_per_call: bool | None
        drain: bool | Callable[[Any], Any] | None
        check_outputs: bool | Callable[[Any, Any], bool]
        rtol: float
        atol: float
        gc: bool
        device: str | None
        cache: str
        bytes: int | None
        items: int | None
        ignored: bool
else:
    # Importing `collections` would import five more modules.
    from _collections import deque

    # Importing `typing` would cost every worker some milliseconds.
    def overload(function):
        return function


# The pipes to deadheat if this process is a worker. Claimed before the rest of the file runs.
channel = _channel.claim()

CO_COROUTINE = 0x80
# The file, sent with the functions of `race`, that lists the names they use.
REACHED = "reached.pickle"
# The most inputs made for a sample if every call needs its own.
MOST_INPUTS = 4_096


class Benchmark:
    """A named task, the functions that do it, and what they are called with."""

    def __init__(
        self,
        name: str,
        contenders: dict[str, Callable[..., Any]],
        *,
        input: Callable[..., Any] | None = None,
        input_per_call: bool | None = None,
        drain: bool | Callable[[Any], Any] | None = None,
        arguments: dict[str, Any] | None = None,
        check_outputs: bool | Callable[[Any, Any], bool] = False,
        rtol: float = 0.0,
        atol: float = 0.0,
        gc: bool = True,
        device: str | None = None,
        cache: str = "warm",
        bytes: int | None = None,
        items: int | None = None,
        ignored: bool = False,
        times_itself: bool = False,
        inner_loops: int = 1,
        loop_factory: Callable[[], Any] | None = None,
    ) -> None:
        self.name = name
        self.contenders = contenders
        self.input = input
        # None lets the pilot decide.
        self.input_per_call = input_per_call
        self.most_iterations = MOST_INPUTS if input_per_call else 2**40
        self.drain = exhaust if drain is True else drain
        # True for a test of pytest: its messages give other advice.
        self.is_test = False
        # Whether it is a function of a pyperf script.
        self.is_script = False
        # The file that lists the names the functions use in the user's process.
        self.reached: str | None = None
        self.arguments = arguments or {}
        self.check_outputs = check_outputs
        self.tolerance = (rtol, atol)
        self.gc = gc
        self.throughput = {"bytes": bytes} if bytes else {"items": items} if items else None
        self.ignored = ignored
        # The number of the CUDA device; None for functions of the CPU.
        self.gpu: int | None = None
        self.is_cold = cache == "cold"
        if device is not None or cache != "warm":
            from deadheat._gpu import index_of, refuse_cache

            refuse_cache(cache, device)
            self.gpu = index_of(device)
        # If true, each function takes a number of calls, times them and returns seconds.
        self.times_itself = times_itself
        # Iterations of the work in one call.
        self.inner_loops = inner_loops
        self._loop_factory = loop_factory
        kinds = {is_coroutine_function(function) for function in contenders.values()}
        if len(kinds) > 1:
            raise UsageError(f"benchmark {name!r}: async functions race only against async ones")
        self.is_async = kinds == {True}
        if input_per_call and input is None:
            raise UsageError(f"benchmark {name!r}: input_per_call needs an input")
        if any(self.tolerance) and check_outputs is not True:
            raise UsageError(f"benchmark {name!r}: rtol and atol need check_outputs=True")
        if drain is True and check_outputs:
            raise UsageError(
                f"benchmark {name!r}: drain=True leaves no outputs for check_outputs to compare; "
                "drain=list does"
            )
        self._run: Callable[[Any], Any] | None = None

    def renew_for_every_call(self) -> None:
        """Gives every call its own input, because the pilot found that calls change theirs."""
        if self.input is not None and not self.input_per_call:
            self.input_per_call, self.most_iterations = True, MOST_INPUTS

    def run(self, sampled: Any) -> Any:
        """Runs a timing loop and returns its result; runs an async one in a private event loop."""
        if not self.is_async:
            return sampled
        if self._run is None:
            import asyncio

            make = self._loop_factory or asyncio.new_event_loop
            self._run = make().run_until_complete
        return self._run(sampled)

    def label(self, name: str) -> str:
        """The name of a contender in a note; for a test, the function name without its file."""
        has_file = self.is_test and not self.is_script
        return repr(name_of(self.contenders[name]) if has_file else name)

    def listed(self) -> dict[str, Any]:
        """The benchmark as the protocol lists it."""
        parameters = [[name, text_of(value)] for name, value in self.arguments.items()]
        listed: dict[str, Any] = {"name": self.name, "contenders": list(self.contenders)}
        listed |= {"parameters": parameters, "ignored": self.ignored}
        if self.throughput:
            listed["throughput"] = self.throughput
        return listed

    def function_names(self) -> set[str]:
        """The names of the contenders and of the input function."""
        functions = [*self.contenders.values(), *([self.input] if self.input else [])]
        return {name_of(function) for function in functions}


def is_coroutine_function(function: Callable[..., Any]) -> bool:
    # Replaces the function of `inspect`, which takes ten milliseconds to import.
    code = getattr(getattr(function, "func", function), "__code__", None)
    return code is not None and bool(code.co_flags & CO_COROUTINE)


def exhaust(output: Any) -> None:
    """Exhausts an iterator and discards its items."""
    deque(output, 0)


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else getattr(value, "__name__", None) or repr(value)


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function, of what a partial calls, or of the class of a callable."""
    inner = getattr(function, "func", function)
    return str(getattr(inner, "__name__", None) or type(inner).__name__)


def named(functions: Iterable[Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """Functions by their names; a number tells those of one name apart."""
    found: dict[str, Callable[..., Any]] = {}
    for function in functions:
        name = own = name_of(function)
        number = 2
        while name in found:
            name, number = f"{own} #{number}", number + 1
        found[name] = function
    return found


def combinations(args: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Every choice of one value for each name, the last name changing fastest."""
    chosen: list[dict[str, Any]] = [{}]
    for name, values in args.items():
        if not name.isidentifier():
            raise UsageError(f"{name!r} is not an argument name")
        chosen = [{**before, name: value} for before in chosen for value in values]
    return chosen


benchmarks: dict[str, Benchmark] = {}


@overload
def benchmark(function: Function, /) -> Function: ...
@overload
def benchmark(  # noqa: F811
    function: None = None,
    /,
    *,
    name: str | None = None,
    candidates: Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]] = (),
    args: Mapping[str, Sequence[Any]] | None = None,
    **options: Unpack[Options],
) -> Callable[[Function], Function]: ...


def benchmark(  # noqa: F811
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    candidates: Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]] = (),
    args: Mapping[str, Sequence[Any]] | None = None,
    **options: Unpack[Options],
) -> Callable[..., Any]:
    """Adds a function to the benchmarks of this file, and returns it unchanged.

    name: the name of the benchmark; by default the name of the function.
    candidates: functions with the same task, raced against this one; a mapping gives them names.
    args: values by name. Every combination is a benchmark; the values are passed by name to
        `input`, or to the functions if there is no `input`.
    input: makes the input from a seed, an integer from 0 to 2⁵³ − 1. Its time is not measured. The
        functions take the input as their only argument.
    input_per_call: True makes an input for every call, which may change it; False gives all calls
        of a block one input; None lets the pilot decide.
    drain: how to compute a lazy output within the timed call. True exhausts an iterator, `list`
        makes a list of it; False times only the creation of the lazy output.
    check_outputs: `True` compares the outputs of the candidates with that of the baseline by `==`,
        where NaN equals NaN. Otherwise pass a function that takes two outputs and returns whether
        they agree.
    rtol, atol: with `check_outputs=True`, numbers agree if they differ by at most
        `atol + rtol * abs(number of the baseline)`.
    gc: collect garbage while calls are timed, as it is by default.
    device: `"cuda"` or `"cuda:1"` times the calls on that GPU, by events of torch, CuPy or Numba;
        then every benchmark of the file needs a device. `"cpu"` is the default.
    cache: `"cold"` empties the L2 cache of the GPU before every call, `"warm"` leaves it.
    bytes, items: how many of them one call processes; the report then shows a rate per second.
    ignored: race this benchmark only with `--ignored` or `--include-ignored`.
    """
    if function is None:
        return lambda function: added(function, name, candidates, args, options)
    return added(function, name, candidates, args, options)


def added(
    function: Callable[..., Any],
    name: str | None,
    candidates: Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]],
    args: Mapping[str, Sequence[Any]] | None,
    options: Options,
) -> Callable[..., Any]:
    if not callable(function):
        raise UsageError(f"a benchmark is a function, not {type(function).__name__}")
    if isinstance(candidates, dict):
        contenders = {name_of(function): function, **candidates}
        if len(contenders) != len(candidates) + 1:
            raise UsageError(f"a candidate has the name of the baseline, {name_of(function)!r}")
    else:
        contenders = named([function, *candidates])
    for arguments in combinations(args or {}):
        full = "/".join([name or name_of(function), *map(text_of, arguments.values())])
        if full in benchmarks:
            raise UsageError(f"there are two benchmarks named {full!r}")
        made = Benchmark(full, contenders, arguments=arguments, **options)
        if any((other.gpu is None) != (made.gpu is None) for other in benchmarks.values()):
            raise UsageError(
                f"benchmark {full!r}: all benchmarks of a file run on a GPU or none, because they "
                "have the same metrics; put those of the CPU into another file"
            )
        benchmarks[full] = made
    return function


def suite() -> None:
    """Races the benchmarks of the file that it ends, and ends the process.

    Started by hand, the file is handed to `deadheat bench` with all arguments. Started by
    deadheat, it serves. Imported by another module, it does nothing.
    """
    if sys._getframe(1).f_globals.get("__name__") != "__main__":
        return
    if channel is not None:
        from deadheat._worker import serve

        serve(channel, benchmarks)
    from deadheat._program import find_program, quoted

    own = len(sys.orig_argv) - len(sys.argv) + 1
    command = quoted([sys.executable, *sys.orig_argv[1:own]])
    program = find_program()
    os.execv(program, [program, "bench", command, *sys.argv[1:]])
