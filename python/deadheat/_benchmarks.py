"""Benchmarks of a file: the decorator, and what ends the file."""

from __future__ import annotations

import os
import sys

from deadheat import _channel
from deadheat._errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, TypeVar

    Function = TypeVar("Function", bound=Callable[..., Any])

# The pipes to deadheat, where this process is a worker. Taken before the file goes on.
channel = _channel.claim()

CO_COROUTINE = 0x80
# Inputs of a sample at most, where every call has one of its own.
MOST_INPUTS = 4_096


class Benchmark:
    """A named task, the functions that do it, and what they are called with."""

    def __init__(
        self,
        name: str,
        contenders: dict[str, Callable[..., Any]],
        *,
        input: Callable[..., Any] | None = None,
        input_per_call: bool = False,
        arguments: dict[str, Any] | None = None,
        check_outputs: bool | Callable[[Any, Any], bool] = False,
        gc: bool = False,
        bytes: int | None = None,
        items: int | None = None,
        ignored: bool = False,
    ) -> None:
        self.name = name
        self.contenders = contenders
        self.input = input
        self.input_per_call = input_per_call
        self.most_iterations = MOST_INPUTS if input_per_call else 2**40
        self.arguments = arguments or {}
        self.check_outputs = check_outputs
        self.gc = gc
        self.throughput = {"bytes": bytes} if bytes else {"items": items} if items else None
        self.ignored = ignored
        kinds = {is_coroutine_function(function) for function in contenders.values()}
        if len(kinds) > 1:
            raise UsageError(f"benchmark {name!r}: async functions race only against async ones")
        self.is_async = kinds == {True}
        if input_per_call and input is None:
            raise UsageError(f"benchmark {name!r}: input_per_call needs an input")
        self._run: Callable[[Any], Any] | None = None

    def run(self, sampled: Any) -> Any:
        """Returns the result of a loop; that of an async one from an event loop of its own."""
        if not self.is_async:
            return sampled
        if self._run is None:
            import asyncio

            self._run = asyncio.new_event_loop().run_until_complete
        return self._run(sampled)

    def listed(self) -> dict[str, Any]:
        """The benchmark as the protocol lists it."""
        parameters = [[name, text_of(value)] for name, value in self.arguments.items()]
        listed: dict[str, Any] = {"name": self.name, "contenders": list(self.contenders)}
        listed |= {"parameters": parameters, "ignored": self.ignored}
        if self.throughput:
            listed["throughput"] = self.throughput
        return listed

    def function_names(self) -> set[str]:
        """The names of the functions it is made of."""
        functions = [*self.contenders.values(), *([self.input] if self.input else [])]
        return {name_of(function) for function in functions}


def is_coroutine_function(function: Callable[..., Any]) -> bool:
    # That of inspect, which takes ten milliseconds to import.
    code = getattr(getattr(function, "func", function), "__code__", None)
    return code is not None and bool(code.co_flags & CO_COROUTINE)


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
            raise UsageError(f"{name!r} is no name of an argument")
        chosen = [{**before, name: value} for before in chosen for value in values]
    return chosen


benchmarks: dict[str, Benchmark] = {}


def benchmark(
    function: Function | None = None,
    *,
    name: str | None = None,
    candidates: Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]] = (),
    args: Mapping[str, Sequence[Any]] | None = None,
    **options: Any,
) -> Any:
    """Adds a function to the benchmarks of this file, and returns it as it was.

    `name`: of the benchmark; that of the function otherwise.
    `candidates`: functions that do the same, raced against this one; a mapping gives them names.
    `args`: values by name; there is a benchmark for every combination. They are given by name to
    `input` if there is one, and otherwise to the functions.
    `input`: makes the input from a seed, outside the timed region; functions get it as their only
    argument. `input_per_call`: every call gets an input of its own, and may change it.
    `check_outputs`: candidates must return what the baseline returns, by `==` or by a function.
    `gc`: leave the garbage collector on while calls are timed.
    `bytes`, `items`: what one call works through. `ignored`: raced only when asked for.
    """
    if function is None:
        return lambda function: benchmark(
            function, name=name, candidates=candidates, args=args, **options
        )
    if isinstance(candidates, dict):
        contenders = {name_of(function): function, **candidates}
        if len(contenders) != len(candidates) + 1:
            raise UsageError(f"a candidate has the name of the baseline, {name_of(function)!r}")
    else:
        contenders = named([function, *candidates])
    for arguments in combinations(args or {}):
        full = "/".join([name or name_of(function), *map(text_of, arguments.values())])
        if full in benchmarks:
            raise UsageError(f"there are two benchmarks of the name {full!r}")
        benchmarks[full] = Benchmark(full, contenders, arguments=arguments, **options)
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
