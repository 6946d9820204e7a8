"""A pytest suite as a worker: `python -m deadheat.pytest_suite tests/bench [pytest options]`.

Every test that uses the fixture `benchmark`, of pytest-benchmark or of pytest-codspeed, is a
benchmark under its node id. No line of the suite is changed: pytest collects it, sets its fixtures
up and runs the test; when the test calls `benchmark(function, …)`, a stand-in for the fixture
answers the requests of deadheat with that function, and comes back from the call no more.

Started by hand, it hands itself to `deadheat bench`.
"""

from __future__ import annotations

# First of all: it takes the pipes, before anything of the suite's runs.
from deadheat._benchmarks import Benchmark, channel, is_coroutine_function
from deadheat._errors import UsageError

# isort: split
import os
import sys
from collections.abc import Callable, Generator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from deadheat._channel import Channel, hold_heap
from deadheat._forks import request_in_child
from deadheat._worker import Session, answer_all, described, failed, greet

try:
    import pluggy
    import pytest
except ImportError:
    sys.exit(f"deadheat: pytest is not installed for {sys.executable}: install it there")

Function = Callable[..., Any]

# Fixtures that measure; the last is pytest-codspeed's other name for the first.
FIXTURES = ("benchmark", "benchmark_weave", "codspeed_benchmark")
# Marks by which pytest-codspeed measures the test itself.
MARKS = ("benchmark", "codspeed_benchmark")
STOOD_IN_FOR = ("pytest_benchmark", "pytest_codspeed")
# A file that cannot be collected is listed, as its benchmarks cannot be, with the reason: where one
# side alone lacks what it imports, that is all that is told of it.
NOT_COLLECTED = " (cannot be collected: "
# Characters of that reason in a name, and lines of it in a message.
MOST_NAMED, MOST_LINES = 100, 4


class Over(pytest.skip.Exception):  # type: ignore[misc, name-defined]
    """The end of a race: unwinds the test, so that its fixtures are torn down.

    It counts as a skipped test: pytest took 40 ms to format the traceback of a failed one, and some
    plugins run failed tests again. It is not an `Exception`, so that tests do not catch it.
    """


class Suite:
    """The plugin: collects, runs one test, and answers the requests of deadheat on the way."""

    def __init__(
        self, channel: Channel, request: tuple[str, dict[str, Any]], suite_of: str | None = None
    ) -> None:
        self.channel = channel
        # The side that the suite comes from, if the library comes from the other side.
        self.suite_of = suite_of
        # The request that waits for its reply.
        self.kind, self.asked = request
        # The files of the tests to race, relative to the rootdir; None for all files, to list them.
        self._only: set[str] | None = None
        if self.kind == "prepare":
            self._only = {file_of(self.asked["benchmark"])}
        elif self.kind == "import":
            self._only = set(map(file_of, self.asked["benchmarks"]))
        self.refusal = Refusal()
        self._uncollected: dict[str, str] = {}
        self._prepare: dict[str, Any] = {}
        self._held: list[Any] = []
        # Of the test that runs: whether it is run for its own sake first, how often it has called
        # the fixture, and what pytest reports of it.
        self.rehearses = False
        self.used = 0
        self._problem: dict[str, Any] | None = None

    # What pytest calls while it starts and collects.

    def pytest_addoption(
        self, parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager
    ) -> None:
        if not is_installed("pytest_benchmark"):
            parser.addoption("--benchmark-disable-gc", action="store_true", default=False)
            return
        register = pluginmanager.register

        def register_without_tag(plugin: Any, name: str | None = None) -> str | None:
            # For a default of one option, pytest-benchmark runs git six times: 0.1 s of each start.
            if hasattr(plugin, "get_tag"):
                plugin.get_tag = str
            return register(plugin, name)

        pluginmanager.register = register_without_tag  # type: ignore[method-assign]

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> None:
        self.refusal.end()
        self.turn_off(config)

    def turn_off(self, config: pytest.Config) -> None:
        """Turns off what would share the tests out, and the plugins that this one stands in for.

        They are loaded, as their options may stand in the suite's configuration; but the fixture
        is to be no other than theirs, and what is no benchmark is to be skipped.
        """
        alone: dict[str, Any] = {"numprocesses": None, "dist": "no", "tx": []}
        for name, value in alone.items():
            if hasattr(config.option, name):
                setattr(config.option, name, value)
        for _, plugin in config.pluginmanager.list_name_plugin():
            if getattr(plugin, "__name__", "").partition(".")[0] in STOOD_IN_FOR:
                config.pluginmanager.unregister(plugin)
        for mark in MARKS:
            config.addinivalue_line("markers", f"{mark}: measured by the fixture `benchmark`")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        # Of fixtures of one name that of the last plugin wins.
        session.config.pluginmanager.register(Fixtures(self), "deadheat-benchmark")

    def pytest_ignore_collect(self, collection_path: Path, config: pytest.Config) -> bool | None:
        """Ignores all files except those of the tests to race."""
        if self._only is None or collection_path.is_dir() or collection_path.name == "__init__.py":
            return None
        try:
            below = collection_path.relative_to(config.rootpath).as_posix()
        except ValueError:
            return None
        return True if below not in self._only else None

    def uncollected_name(self, nodeid: str) -> str:
        reason = self._uncollected[nodeid].rpartition("; ")[2]
        return f"{nodeid}{NOT_COLLECTED}{reason[:MOST_NAMED]})"

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            said = str(report.longrepr).strip().splitlines()
            errors = [line[1:].strip() for line in said if line.startswith("E ")]
            self._uncollected[report.nodeid] = "; ".join((errors or said)[-MOST_LINES:])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> NoReturn:
        items = {item.nodeid: item for item in session.items if is_benchmark(item)}
        if self.kind == "list":
            listed: list[dict[str, Any]] = with_sources(items, session.config)
            listed += [{"name": self.uncollected_name(nodeid)} for nodeid in self._uncollected]
            self.reply("listed", {"benchmarks": listed})
            self.next_request()
        if self.kind == "import":
            self.kind, self.asked = request_in_child(self.channel)
        if self.kind == "prepare":
            name = self.asked["benchmark"]
            uncollected = self._uncollected.get(name.partition(NOT_COLLECTED)[0])
            if name in items:
                self.run(items[name])
            elif uncollected is not None:
                self.fail({"panicked": f"UsageError: pytest cannot collect it: {uncollected}"})
            else:
                self.fail({"unknown": {}})
        elif self.kind != "bye":
            self.fail({"out_of_turn": {}})
        self.channel.end()

    # What happens while the one test runs.

    def run(self, item: pytest.Item) -> None:
        """Runs a test: up to the end of the race, or until it is known why there is none."""
        self._prepare = self.asked
        self._held = hold_heap(self.asked.get("heap_bytes", 0))
        item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        if self.rehearses and self._problem is None:
            if self.used == 0:
                unused = UsageError("the test does not call its fixture `benchmark`")
                self._problem = {"panicked": told(unused)}
            elif self.kind == "smoke":
                return self.reply("sound", {})
            else:
                self.rehearses, self.used = False, 0
                item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        if self.kind != "bye":
            self.fail(
                self._problem
                or {"panicked": "UsageError: the test ends without a call to `benchmark`"}
            )

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """The fixtures are there, and the test is about to be called."""
        if self.kind == "prepare":
            self.reply("prepared", self.channel.of_process)
            self.next_request()
            # The pilot and the smoke test run the test to its end once, before they race: only so
            # it is known that it calls the fixture once, and passes.
            self.rehearses = self.kind in ("calibrate", "smoke")
            if self.kind == "bye":
                raise Over

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Races a test that is measured as a whole."""
        if uses_fixture(pyfuncitem):
            return None
        names = pyfuncitem._fixtureinfo.argnames
        arguments = {name: pyfuncitem.funcargs[name] for name in names}
        StandIn(self, pyfuncitem)(pyfuncitem.obj, **arguments)
        return True

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, Any, None]:
        """Remembers why a test did not pass."""
        report = (yield).get_result()
        error = call.excinfo.value if call.excinfo else None
        if report.passed or self._problem is not None or isinstance(error, Over):
            return
        if report.skipped:
            reason = getattr(report, "wasxfail", None)
            if reason is not None:
                reason = f"xfail: {reason}".removesuffix(": ")
            elif isinstance(report.longrepr, tuple):
                reason = report.longrepr[2].removeprefix("Skipped: ")
            self._problem = {"skipped": reason or str(error)}
        else:
            said = f"Failed: {report.longrepr}" if error is None else told(error)
            self._problem = {"panicked": said}
            if self.suite_of is not None:
                # The suite was written for another version of the library.
                reason = f"it fails on one side {said}; both race the suite of '{self.suite_of}'"
                self._problem = {"skipped": reason}

    def race(self, item: pytest.Item, benchmark: Benchmark, once: Callable[[], Any]) -> Any:
        """Races a function, unless the test is run for its own sake: then returns its result."""
        self.used += 1
        if self.used > 1:
            raise UsageError("the test calls its fixture `benchmark` twice: make two tests of it")
        if self.rehearses:
            return once()
        if self.kind not in ("calibrate", "warm_up", "block"):
            raise UsageError("`benchmark` is called in a fixture, before the test")
        session = Session(self.channel, {item.nodeid: benchmark})
        session.answer("prepare", {"benchmark": item.nodeid})
        request = self.kind, self.asked
        self.kind = "bye"  # What comes after it is answered here.
        answer_all(self.channel, session, request)
        raise Over

    # The channel.

    def reply(self, kind: str, said: dict[str, Any]) -> None:
        self.channel.reply(kind, said)

    def fail(self, problem: dict[str, Any]) -> None:
        self.reply(*failed(problem))

    def next_request(self) -> None:
        self.kind, self.asked = self.channel.request()


class Refusal:
    """What pytest says of options that it refuses, its own or those of the suite's configuration:
    it ends with two lines of paths, which are all that would be seen of its words."""

    def __init__(self) -> None:
        self.said = ""
        self._is_over = False
        self._stderr, sys.stderr = sys.stderr, self

    def write(self, text: str) -> int:
        # A handler of `logging` that a conftest has made keeps this object.
        if not self._is_over:
            self.said += text
        return self._stderr.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stderr, name)

    def end(self) -> None:
        self._is_over = True
        sys.stderr = self._stderr

    def lines(self) -> list[str]:
        lines = (line.removeprefix("ERROR: ").strip() for line in self.said.splitlines())
        return [line.partition(": error: ")[2] for line in lines if ": error: " in line]


class StandIn:
    """What a test gets as its fixture `benchmark`."""

    # As with pytest-benchmark that runs functions once: there are no statistics to look at.
    stats: Any = None
    enabled, disabled = True, False

    def __init__(self, suite: Suite, item: pytest.Item) -> None:
        self._suite, self._item = suite, item
        self.name, self.fullname = item.name, item.nodeid
        self.group: str | None = None
        self.extra_info: dict[str, Any] = {}
        callspec = getattr(item, "callspec", None)
        self.param = callspec.id if callspec else None
        self.params = callspec.params if callspec else None

    def __repr__(self) -> str:
        return "benchmark"

    def __call__(self, function: Function, /, *args: Any, **kwargs: Any) -> Any:
        """Times calls of a function with these arguments."""
        called = partial(function, *args, **kwargs) if args or kwargs else function
        return self._race(function, called)

    def pedantic(
        self,
        target: Function,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        setup: Function | None = None,
        teardown: Function | None = None,
        rounds: int = 1,
        warmup_rounds: int = 0,
        iterations: int = 1,
    ) -> Any:
        """Times calls of a function; with a `setup` or `teardown` a sample is one call.

        How many calls make a sample otherwise, and how many samples there are, deadheat decides.
        """
        kwargs = kwargs or {}
        if setup is None and teardown is None:
            return self(target, *args, **kwargs)
        rounds_of_one = Rounds(target, args, kwargs, setup, teardown)
        return self._race(target, call, rounds_of_one)

    def _race(self, given: Function, called: Function, rounds: Rounds | None = None) -> Any:
        if not callable(given):
            raise UsageError(f"`benchmark` needs a function, not {type(given).__name__}")
        if is_coroutine_function(given):
            raise UsageError(
                "`benchmark` is given an async function, whose call makes a coroutine and runs "
                "nothing: give it a function that runs one"
            )
        name = self._item.nodeid
        collects = not disables_collector(self._item)
        if rounds is None:
            benchmark = Benchmark(name, {name: called}, gc=collects)
            benchmark.is_test = True
            return self._suite.race(self._item, benchmark, called)
        benchmark = Benchmark(
            name, {name: called}, input=rounds.next, input_per_call=True, gc=collects
        )
        benchmark.most_iterations = 1
        benchmark.is_test = True
        return self._suite.race(self._item, benchmark, rounds.once)

    def weave(self, *_: Any, **__: Any) -> NoReturn:
        raise UsageError(
            "the test uses benchmark.weave, which measures the calls of other code: call "
            "`benchmark` with the function itself"
        )

    patch = weave


class Rounds:
    """Calls that are set up before and torn down after, one at a time."""

    def __init__(
        self,
        target: Function,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        setup: Function | None,
        teardown: Function | None,
    ) -> None:
        self._target, self._args, self._kwargs = target, args, kwargs
        self._setup, self._teardown = setup, teardown
        self._left: Function | None = None

    def next(self, seed: int = 0) -> Function:
        """Tears down after the call before, sets up, and returns the next call."""
        self.finish()
        args, kwargs = self._args, self._kwargs
        made = self._setup() if self._setup else None
        if made is not None:
            if args or kwargs:
                raise TypeError("pedantic: setup returns args and kwargs, so do not pass any")
            args, kwargs = made
        if self._teardown is not None:
            self._left = partial(self._teardown, *args, **kwargs)
        return partial(self._target, *args, **kwargs)

    def finish(self) -> None:
        left, self._left = self._left, None
        if left is not None:
            left()

    def once(self) -> Any:
        result = self.next()()
        self.finish()
        return result


def call(given: Function) -> Any:
    return given()


class Fixtures:
    """A plugin with the fixtures that stand in for those of pytest-benchmark and codspeed."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite

    @pytest.fixture
    def benchmark(self, request: pytest.FixtureRequest) -> StandIn:
        return StandIn(self._suite, request.node)

    @pytest.fixture
    def codspeed_benchmark(self, benchmark: StandIn) -> StandIn:
        return benchmark

    @pytest.fixture
    def benchmark_weave(self, benchmark: StandIn) -> Function:
        return benchmark.weave


def file_of(name: str) -> str:
    """The file of a test, or the file that could not be collected."""
    return name.partition(NOT_COLLECTED)[0].partition("::")[0]


def uses_fixture(item: pytest.Item) -> bool:
    names = getattr(item, "fixturenames", ())
    return any(name in names for name in FIXTURES)


def is_benchmark(item: pytest.Item) -> bool:
    """Returns whether a test uses the fixture, or is measured as a whole.

    To pytest-benchmark the mark alone holds options of the fixture and measures nothing.
    """
    if uses_fixture(item):
        return True
    is_marked = any(item.get_closest_marker(mark) for mark in MARKS)
    return is_marked and (is_installed("pytest_codspeed") or not is_installed("pytest_benchmark"))


def disables_collector(item: pytest.Item) -> bool:
    """Returns whether the mark of a test or the option of pytest-benchmark turns the garbage
    collector off."""
    mark = item.get_closest_marker("benchmark")
    asked = mark.kwargs.get("disable_gc") if mark else None
    if asked is None:
        asked = item.config.getoption("benchmark_disable_gc", False)
    return bool(asked)


def is_installed(module: str) -> bool:
    return find_spec(module) is not None


def told(error: BaseException) -> str:
    """The error with the places in the suite where it happened, and not those in pytest."""
    pytest_file, pluggy_file = str(pytest.__file__), str(pluggy.__file__)
    runner = os.path.join(os.path.dirname(os.path.dirname(pytest_file)), "_pytest")
    inner = (runner, os.path.dirname(pluggy_file), os.path.dirname(__file__))
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(inner):
        trace = trace.tb_next
    return described(error.with_traceback(trace), None)


def with_sources(items: dict[str, pytest.Item], config: pytest.Config) -> list[dict[str, Any]]:
    """The tests as the protocol lists them, each with its sources."""
    from deadheat._sources import Sources

    sources = Sources(os.getcwd())
    listed: list[dict[str, Any]] = []
    for nodeid, item in items.items():
        names = [getattr(node, "originalname", None) or node.name for node in item.listchain()]
        inner = [
            name
            for node, name in zip(item.listchain(), names)
            if isinstance(node, (pytest.Class, pytest.Function))
        ]
        told = sources.of_test(item.path, inner, config.rootpath)
        listed.append({"name": nodeid, "sources": told})
    return listed


def serve_suite(channel: Channel, words: list[str], suite_of: str | None) -> NoReturn:
    """Races the suite that these arguments of pytest choose, as a worker."""
    # What the suite prints is no answer.
    os.dup2(2, 1)
    greet(channel)
    suite = Suite(channel, channel.request(), suite_of)
    if suite.kind == "bye":
        channel.end()
    # Nothing is captured, as samples are; and a file that does not import costs itself only.
    options = ["--capture=no", "--continue-on-collection-errors"]
    if is_installed("pytest_cov"):
        options.append("--no-cov")
    try:
        end = int(pytest.main([*words, *options], plugins=[suite]))
        refused = "; ".join(suite.refusal.lines())
        problem = refused or f"pytest ends with exit code {end} before it collects tests"
        raised = f"UsageError: {problem}"
    except BaseException as error:
        end = 1
        problem = raised = told(error)
    if suite.kind == "list":
        # There is no benchmark that failed, and the last words are shown.
        print(f"deadheat: pytest: {problem}", file=sys.stderr)
        sys.exit(end or 1)
    suite.fail({"panicked": raised})
    channel.end()


def main(suite_of: str | None = None) -> int:
    # deadheat asks a program that it does not know for a list of Google Benchmark.
    words = [word for word in sys.argv[1:] if not word.startswith("--benchmark_")]
    if "--" in words:
        words.remove("--")  # Behind it stand arguments of the user's.
    if channel is not None:
        serve_suite(channel, words, suite_of)
    from deadheat._errors import ProgramNotFound
    from deadheat._program import find_program, quoted

    try:
        program = find_program()
    except ProgramNotFound as error:
        print(f"deadheat: {error}", file=sys.stderr)
        return 3
    # The options that this Python was started with.
    own = sys.orig_argv[1 : sys.orig_argv.index("-m")] if "-m" in sys.orig_argv else []
    command = quoted([sys.executable, *own, "-m", "deadheat.pytest_suite", *words])
    os.execv(program, [program, "bench", command])


if __name__ == "__main__":
    sys.exit(main())
