"""Races as tests: the fixture `race` and the option `--deadheat`.

pytest imports this in every run, so it imports the rest of the package only where a test races.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from deadheat import Result
    from deadheat._benchmarks import Benchmark

Function = Callable[..., Any]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("deadheat")
    group.addoption(
        "--deadheat",
        choices=["off", "smoke", "full"],
        default="off",
        help="tests that race: skip them (off), call each function once (smoke), or race (full)",
    )


def pytest_terminal_summary(terminalreporter: Any) -> None:
    # Properties come along from the processes of xdist as well.
    races = [
        f"{report.nodeid}: {told['deadheat']}"
        for report in terminalreporter.stats.get("passed", [])
        if "deadheat" in (told := dict(report.user_properties)) and told["deadheat-open"]
    ]
    if races:
        terminalreporter.section("deadheat: open")
        for line in races:
            terminalreporter.write_line(line)


# The races of a test that lack an assertion so far: its own, and those of its fixtures, which may
# still assert during teardown.
OPEN = pytest.StashKey[list["Race"]]()
OF_FIXTURES = pytest.StashKey[list["Race"]]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    item.stash[OF_FIXTURES] = item.stash.get(OPEN, [])
    item.stash[OPEN] = []


class AfterCall:
    """Fails an otherwise passing test whose own race has no assertion."""

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        refuse_unasserted(item.stash[OPEN])


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(AfterCall(), "deadheat-after-call")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    if call.excinfo is not None:
        # The test failed, possibly before the line with the assertion.
        item.stash[OPEN] = item.stash[OF_FIXTURES] = []


def refuse_unasserted(races: list[Race]) -> None:
    if races:
        pytest.fail(races[0].missing_line(), pytrace=False)


@pytest.fixture
def race(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Callable[..., Race]]:
    """Races two functions: `race(baseline, candidate, input=…).not_slower("2%")`.

    Everything else is handed on to `deadheat.race`.
    """
    if request.config.getoption("--deadheat") == "off":
        pytest.skip("races are off; --deadheat=full races, --deadheat=smoke calls once")
    yield partial(Race, request)
    refuse_unasserted(request.node.stash.get(OF_FIXTURES, []))


@contextmanager
def alone(request: pytest.FixtureRequest) -> Generator[None]:
    """Waits until no other process of pytest-xdist races, and has them wait."""
    if not hasattr(request.config, "workerinput"):
        yield
        return
    import fcntl

    # Each process has a folder of its own in that of the session.
    folder = request.getfixturevalue("tmp_path_factory").getbasetemp().parent
    with open(folder / "deadheat.lock", "w") as lock:
        # Closing the file gives it back, however this process ends.
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def refuse_lazy(name: str, output: Any, benchmark: Benchmark) -> None:
    """Refuses an uncomputed output of a function that is called once, as a race would."""
    from deadheat import UsageError
    from deadheat._lazy import lazy

    if callable(benchmark.drain):
        output = benchmark.drain(output)
    found = lazy(output)
    if found is not None and benchmark.drain is not False:
        raise UsageError(
            f"{name!r} returns {found.what}, with nothing computed yet: {found.way_out}"
        )


class Race:
    """A race that runs when the test asserts something about it."""

    def __init__(
        self,
        request: pytest.FixtureRequest,
        baseline: Function,
        candidate: Function,
        input: Function | None = None,
        **settings: Any,
    ) -> None:
        self._request = request
        self._functions = [baseline, candidate]
        self._input = input
        self._settings = settings
        request.node.stash.setdefault(OPEN, []).append(self)

    def missing_line(self) -> str:
        """The error of a test that asserts nothing about a race, so that the race never ran."""
        from deadheat._benchmarks import name_of

        old, new = map(name_of, self._functions)
        return (
            f"race({old}, {new}) has no assertion, so nothing was raced; "
            "add an assertion:\n"
            f'    race({old}, {new}, …).not_slower("2%")'
        )

    def not_slower(self, margin: str | float = "1%") -> Result | None:
        """Fails the test if the candidate is slower and no dead heat within the margin, with the
        sentence of the verdict. Returns the result, or None where functions are called once."""
        __tracebackhide__ = True
        return self._judge(margin, {"slower"})

    def faster(self, margin: str | float = "1%") -> Result | None:
        """Fails the test if the candidate is slower, or a dead heat within the margin."""
        __tracebackhide__ = True
        return self._judge(margin, {"slower", "equivalent"})

    def _judge(self, margin: str | float, broken: set[str]) -> Result | None:
        __tracebackhide__ = True
        for races in (OPEN, OF_FIXTURES):
            kept = [one for one in self._request.node.stash.get(races, []) if one is not self]
            self._request.node.stash[races] = kept
        from deadheat import TooSlow, race
        from deadheat._benchmarks import Benchmark, named

        node, config = self._request.node, self._request.config
        if config.getoption("--deadheat") == "smoke":
            drain = self._settings.get("drain")
            both = Benchmark(node.name, named(self._functions), drain=drain)
            for name, function in both.contenders.items():
                output = both.run(function(*([self._input(0)] if self._input else [])))
                refuse_lazy(name, output, both)
            return None
        baseline, candidate = self._functions
        with alone(self._request):
            result = race(baseline, candidate, self._input, margin=margin, **self._settings)
        is_open = result.verdict in (None, "inconclusive")
        node.user_properties += [("deadheat", result.sentence), ("deadheat-open", is_open)]
        if result.verdict in broken:
            raise TooSlow(result.sentence)
        return result
