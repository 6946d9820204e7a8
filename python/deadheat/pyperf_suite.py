"""A pyperf script as a worker: `python -m deadheat.pyperf_suite bench.py [arguments]`.

The script runs unchanged, but this module replaces `pyperf.Runner` with a class that does not
measure. That class lists the functions that the script passes to it, and calls the function that
deadheat asks for in this process, block by block. It refuses options that only pyperf implements,
such as `--values`; deadheat then starts pyperf's own workers instead.

If a user starts this module by hand, it runs `deadheat bench` on itself.
"""

from __future__ import annotations

# Imported first, because it must claim the pipes before the script runs.
from deadheat._benchmarks import Benchmark, channel

# isort: split
import os
import runpy
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from deadheat._channel import Channel
from deadheat._timing import METRICS
from deadheat._worker import Session, answer_all, described, greet

if TYPE_CHECKING:
    from deadheat._worker import Reply

try:
    import pyperf
except ImportError:
    sys.exit(f"deadheat: pyperf is not installed in {sys.prefix}: install it there")

# Options of pyperf that do not affect the measurement.
HARMLESS = {"verbose", "quiet", "inherit_environ", "copy_env", "metadata"}
# CPU time is left out, as in pyperf: a function that times itself or starts a command also spends
# CPU time outside of the interval that it reports.
CPU = METRICS.index("cpu_ns")


class Over(BaseException):
    """Ends a race by unwinding the script, so that the script closes its files.

    Derived from BaseException, so that `except Exception` in the script does not catch it.
    """


class OptionOfPyperf(Exception):
    """The script was given an option that the worker does not implement."""


class WallSession(Session):
    """Leaves the CPU time out of every sample that it sends."""

    def block(self, asked: dict[str, Any]) -> Reply:
        kind, said = super().block(asked)
        del said["values"][CPU :: len(METRICS)]
        return kind, said


class Script:
    """The benchmarks of the running script, and the request of deadheat that it serves."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.kind, self.asked = channel.request()
        self.names: list[str] = []

    def meet(self, benchmark: Benchmark, unit: str) -> None:
        """Records the name of a benchmark, and races it if deadheat asks for it."""
        if benchmark.name in self.names:
            raise ValueError(f"there are two benchmarks named {benchmark.name!r}")
        self.names.append(benchmark.name)
        benchmark.is_test = benchmark.is_script = True
        if self.kind != "prepare" or self.asked["benchmark"] != benchmark.name:
            return
        request, self.kind = (self.kind, self.asked), "bye"
        if unit != "second":
            problem = f"its values are not times: their unit is '{unit}'"
            self.fail({"skipped": problem})
        else:
            session = WallSession(self.channel, {benchmark.name: benchmark})
            answer_all(self.channel, session, request)
        raise Over

    def fail(self, problem: dict[str, Any]) -> None:
        self.channel.reply("failed", {"contender": None, "problem": problem})

    def run(self, path: str, words: list[str]) -> None:
        """Runs the script to its end; `sys.exit(0)` counts as a normal end."""
        sys.argv = [path, *words]
        # `-P` and `-I` leave the folder of the script out.
        if not (getattr(sys.flags, "safe_path", False) or sys.flags.isolated):
            sys.path[0] = os.path.dirname(os.path.abspath(path))
        try:
            runpy.run_path(path, run_name="__main__")
        except SystemExit as end:
            if end.code not in (None, 0):
                raise


running: Script


class Runner(pyperf.Runner):  # type: ignore[misc]
    """Replaces `pyperf.Runner`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._own_options = list(self.argparser._actions)

    def bench_func(self, name: str, func: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        self._meet_function(name, func, args, **kwargs)

    def bench_async_func(
        self, name: str, func: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> None:
        loop_factory = kwargs.pop("loop_factory", None)
        self._meet_function(name, func, args, loop_factory=loop_factory, **kwargs)

    def _meet_function(
        self,
        name: str,
        func: Callable[..., Any],
        args: tuple[Any, ...],
        inner_loops: int | None = None,
        metadata: dict[str, Any] | None = None,
        loop_factory: Callable[[], Any] | None = None,
    ) -> None:
        self._check_options()
        called = partial(func, *args) if args else func
        name = name.strip()
        benchmark = Benchmark(
            name, {name: called}, inner_loops=inner_loops or 1, loop_factory=loop_factory
        )
        running.meet(benchmark, (metadata or {}).get("unit", "second"))

    def _main(self, task: Any) -> None:
        """Replaces the method by which pyperf runs functions that time themselves, and commands."""
        self._check_options()
        benchmark = Benchmark(
            task.name,
            {task.name: partial(task.task_func, task)},
            inner_loops=task.inner_loops or 1,
            times_itself=True,
        )
        running.meet(benchmark, task.metadata.get("unit", "second"))

    def _check_options(self) -> None:
        known = set(self.argparser._option_string_actions)
        for option in self._own_options:
            if option.dest not in HARMLESS and is_given(option.option_strings, known):
                raise OptionOfPyperf(f"only pyperf itself supports {option.option_strings[-1]}")


def is_given(names: list[str], known: set[str]) -> bool:
    """Returns whether an option stands on the command line: `--values=5`, `--val=5`, `-n 5` or
    `-n5`."""
    for word in sys.argv[1:]:
        given = word.partition("=")[0]
        if given in names:
            return True
        is_short = not word.startswith("--") and any(
            word.startswith(name) for name in names if len(name) == 2
        )
        # argparse accepts the beginning of a long option.
        is_abbreviated = len(given) > 2 and given.startswith("--") and given not in known
        if is_short or (is_abbreviated and any(name.startswith(given) for name in names)):
            return True
    return False


def serve_script(channel: Channel, path: str, words: list[str]) -> NoReturn:
    """Races the functions of a script, as a worker."""
    global running
    # Output of the script goes to standard error, so that it cannot mix with replies.
    os.dup2(2, 1)
    metrics = [metric for metric in METRICS if metric != METRICS[CPU]]
    greet(channel, metrics, can_fork=False)
    running = Script(channel)
    pyperf.Runner = Runner
    problem: dict[str, Any] = {"unknown": {}}
    try:
        running.run(path, words)
    except Over:
        channel.end()
    except BaseException as error:
        if running.kind == "list":
            if isinstance(error, OptionOfPyperf):
                print(f"deadheat: pyperf: {error}", file=sys.stderr)
                sys.exit(1)
            raise
        problem = {"panicked": described(error, None)}
    if running.kind == "list":
        channel.reply("listed", {"benchmarks": [{"name": name} for name in running.names]})
    elif running.kind != "bye":
        running.fail(problem)
    channel.end()


def main() -> int:
    # deadheat probes unknown programs with options of Google Benchmark; ignore these.
    words = [word for word in sys.argv[1:] if not word.startswith("--benchmark_")]
    if "--" in words:
        words.remove("--")  # The arguments after it are the user's.
    if not words:
        print("deadheat: name a script: python -m deadheat.pyperf_suite bench.py", file=sys.stderr)
        return 2
    if channel is not None:
        serve_script(channel, words[0], words[1:])
    from deadheat._errors import ProgramNotFound
    from deadheat._program import find_program, quoted

    try:
        program = find_program()
    except ProgramNotFound as error:
        print(f"deadheat: {error}", file=sys.stderr)
        return 3
    command = quoted([sys.executable, "-m", "deadheat.pyperf_suite", *words])
    os.execv(program, [program, "bench", command])


if __name__ == "__main__":
    sys.exit(main())
