"""The worker that holds a pytest suite, spoken to by hand as docs/protocol.md has it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent

import pytest

import deadheat

# A folder with the package that is tested and no other.
LIBRARY = tempfile.TemporaryDirectory(prefix="suite-tested-")
Path(LIBRARY.name, "deadheat").symlink_to(Path(deadheat.__file__).parent)

# With the plugin of pytest-benchmark, where it is installed, and without it.
PLUGINS = pytest.mark.parametrize("without", [[], ["-p", "no:benchmark"]], ids=["with", "without"])


class Suite:
    """A folder with tests, and the workers that are started there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._started: list[Worker] = []

    def write(self, name: str, text: str) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text), encoding="utf-8")

    def start(self, *words: str) -> Worker:
        worker = Worker(self.folder, words)
        self._started.append(worker)
        return worker

    def names(self, *words: str) -> list[str]:
        listed = self.start(*words).ask("list")["listed"]["benchmarks"]
        return [benchmark["name"] for benchmark in listed]

    def race(self, name: str, *words: str) -> dict:
        """Prepares a benchmark, and returns the pilot's answer or the failure."""
        worker = self.start(*words)
        prepared = worker.prepare(name)
        if "failed" in prepared:
            return prepared["failed"]["problem"]
        piloted = worker.ask("calibrate", seed=1, least_ns=1_000)
        if "failed" in piloted:
            return piloted["failed"]["problem"]
        block = worker.block(iterations=min(3, piloted["calibrated"].get("most_iterations", 3)))
        assert len(block["block"]["values"]) == 4 * len(worker.metrics)
        worker.end()
        return piloted["calibrated"]

    def end(self) -> None:
        for worker in self._started:
            worker.kill()


class Worker:
    def __init__(self, folder: Path, words: tuple[str, ...]) -> None:
        requests, self._ask = os.pipe()
        replies, theirs = os.pipe()
        notes_read, notes = os.pipe()
        inherited = [requests, theirs, notes]
        variables = {
            "DEADHEAT_WORKER": ",".join(map(str, inherited)),
            "PYTHONPATH": LIBRARY.name,
            "PYTEST_ADDOPTS": "",
        }
        self._said = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", "deadheat.pytest_suite", *words],
            pass_fds=inherited,
            env={**os.environ, **variables},
            cwd=folder,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._said,
        )
        for descriptor in (*inherited, notes_read):
            os.close(descriptor)
        self._replies = os.fdopen(replies)
        self.metrics = self.heard()["hello"]["metrics"]

    def said(self) -> str:
        self._said.seek(0)
        return self._said.read().decode()

    def heard(self) -> dict[str, dict]:
        line = self._replies.readline()
        assert line, "the worker is gone: " + self.said()
        return json.loads(line)

    def ask(self, kind: str, **said: object) -> dict[str, dict]:
        os.write(self._ask, json.dumps({kind: said}).encode() + b"\n")
        return self.heard()

    def prepare(self, name: str) -> dict[str, dict]:
        return self.ask("prepare", benchmark=name, contender=None, heap_bytes=777)

    def block(self, iterations: int = 3) -> dict[str, dict]:
        return self.ask("block", seed=7, iterations=iterations, turns=[0, 0, 0, 0],
                        unrecorded=0, unrecorded_iterations=1)  # fmt: skip

    def end(self) -> None:
        os.write(self._ask, b'{"bye":{}}\n')
        self._process.wait(timeout=20)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
        self._replies.close()
        self._said.close()
        os.close(self._ask)


@pytest.fixture
def suite(tmp_path):
    found = Suite(tmp_path)
    yield found
    found.end()


@PLUGINS
def test_benchmarks_are_the_tests_that_use_the_fixture(suite, without):
    suite.write("pytest.ini", "[pytest]\naddopts = --strict-markers\n")
    suite.write(
        "bench/conftest.py",
        """
        import pytest
        @pytest.fixture
        def timed(benchmark): return benchmark
    """,
    )
    suite.write(
        "bench/test_it.py",
        """
        import pytest
        def test_plain(): pass
        def test_sum(benchmark): benchmark(sum, [1])
        def test_through_another(timed): timed(sum, [1])
        @pytest.mark.parametrize("x", [1, "a::b [c]"])
        class TestClass:
            @pytest.mark.benchmark(group="some")
            def test_method(self, benchmark, x): benchmark(str, x)
    """,
    )
    expected = ["test_sum", "test_through_another"]
    expected += ["TestClass::test_method[1]", "TestClass::test_method[a::b [c]]"]
    names = [f"bench/test_it.py::{name}" for name in expected]
    assert suite.names("bench", *without) == names
    # As deadheat starts a program that it does not know yet, with options of the user's.
    words = ["bench", "--benchmark_list_tests=true", "--", "-k", "method"]
    assert suite.names(*words, *without) == names[2:]
    for name in names:
        assert suite.race(name, "bench", *without)["iterations"] >= 1, name


@PLUGINS
def test_a_worker_lists_and_races_in_one_process_too(suite, without):
    suite.write("test_it.py", "def test_sum(benchmark): assert benchmark(sum, [1, 2]) == 3\n")
    worker = suite.start(*without)
    (listed,) = worker.ask("list")["listed"]["benchmarks"]
    assert listed["name"] == "test_it.py::test_sum"
    assert [file for file, *_ in listed["sources"]] == ["test_it.py"]
    assert worker.prepare("test_it.py::test_sum") == {"prepared": {}}
    assert worker.ask("warm_up", seed=1, order=[0], iterations=2)["warm"]["rounds"] >= 1
    assert "block" in worker.block()
    worker.end()
    other = suite.start(*without)
    assert other.prepare("test_it.py::test_sum") == {"prepared": {}}
    assert other.ask("smoke", seed=1) == {"sound": {}}
    assert suite.race("test_it.py::test_none", *without) == {"unknown": {}}


@PLUGINS
def test_fixtures_of_all_scopes_are_set_up_and_torn_down_around_the_race(suite, without):
    suite.write(
        "conftest.py",
        """
        import pytest
        def scoped(scope):
            @pytest.fixture(scope=scope)
            def fixture():
                with open("log", "a") as log: log.write(f"+{scope} ")
                yield scope
                with open("log", "a") as log: log.write(f"-{scope} ")
            return fixture
        session, module, klass = map(scoped, ["session", "module", "class"])
        function = scoped("function")
    """,
    )
    suite.write(
        "test_it.py",
        """
        def called():
            with open("log", "a") as log: log.write("call ")
        def test_it(benchmark, session, module, klass, function, tmp_path):
            (tmp_path / "made").mkdir()
            benchmark(called)
    """,
    )
    log = suite.folder / "log"
    worker = suite.start(*without)
    assert worker.prepare("test_it.py::test_it") == {"prepared": {}}
    up = ["+session", "+module", "+class", "+function"]
    assert log.read_text().split() == up
    # Not the first request of a pilot: the test is not run before.
    worker.block(iterations=2)
    calls = log.read_text().split()[len(up) :]
    assert set(calls) == {"call"}
    worker.end()
    down = ["-function", "-class", "-module", "-session"]
    assert log.read_text().split() == [*up, *calls, *down]
    log.write_text("")
    # A pilot runs the test to its end first, with fixtures of its own.
    suite.race("test_it.py::test_it", *without)
    assert log.read_text().split()[:10] == [*up, "call", *down, *up][:10]
    assert log.read_text().split()[-4:] == down


@PLUGINS
def test_pedantic_sets_up_before_every_call_and_a_sample_is_one_call(suite, without):
    suite.write(
        "test_it.py",
        """
        log = []
        def setup():
            log.append("setup")
            return ([3, 1, 2],), {"reverse": True}
        def work(numbers, reverse):
            log.append("work")
            numbers.sort(reverse=reverse)
        def finish(numbers, reverse):
            assert numbers == [3, 2, 1]
            log.append("finish")
        def test_it(benchmark):
            try:
                benchmark.extra_info["some"] = 1
                benchmark.pedantic(work, setup=setup, teardown=finish, rounds=5)
            finally:
                with open("log", "w") as file: file.write(" ".join(log))
        def test_plain(benchmark):
            assert benchmark.pedantic(sorted, ([2, 1],), {"reverse": False}, rounds=2) == [1, 2]
    """,
    )
    calibrated = suite.race("test_it.py::test_it", *without)
    assert (calibrated["iterations"], calibrated["most_iterations"]) == (1, 1)
    worker = suite.start(*without)
    worker.prepare("test_it.py::test_it")
    worker.block(iterations=1)
    worker.end()
    log = (suite.folder / "log").read_text().split()
    assert log[:3] == ["setup", "work", "finish"]
    # The first call of a function in a process is one of its own.
    assert log.count("work") == log.count("setup") == 5
    assert "iterations" in suite.race("test_it.py::test_plain", *without)


FAILING = {
    "never": ("pass", "does not call its fixture"),
    "twice": ("benchmark(sum, [1]); benchmark(sum, [2])", "calls its fixture `benchmark` twice"),
    "wrong": ("assert benchmark(sum, [1]) == 2", "assert 1 == 2"),
    "raising": ("benchmark(lambda: 1 / 0)", "ZeroDivisionError: division by zero"),
    "woven": ("benchmark.weave(sum)", "benchmark.weave"),
    "nothing": ("benchmark(3)", "needs a function, not int"),
    "async": ("async def f(): pass\n    benchmark(f)", "async function"),
}


@PLUGINS
@pytest.mark.parametrize("kind", FAILING)
def test_what_cannot_be_raced_is_told_by_name(suite, kind, without):
    body, expected = FAILING[kind]
    suite.write("test_it.py", f"def test_it(benchmark):\n    {body}\n")
    problem = suite.race("test_it.py::test_it", *without)
    assert expected in problem["panicked"]
    if kind in ("wrong", "raising"):
        # Places in the suite, and not in pytest.
        assert f"{suite.folder / 'test_it.py'}:2" in problem["panicked"]
        assert "_pytest" not in problem["panicked"]


def test_the_collector_is_on_unless_a_mark_or_an_option_says_otherwise(suite):
    suite.write(
        "test_it.py",
        """
        import gc, pytest
        def work(is_on): assert gc.isenabled() is is_on
        def test_on(benchmark): benchmark(lambda: work(True))
        def test_off(benchmark): benchmark(lambda: work(False))
        @pytest.mark.benchmark(disable_gc=True)
        def test_marked(benchmark): benchmark.pedantic(work, setup=lambda: ((False,), {}))
    """,
    )
    assert suite.race("test_it.py::test_on")["iterations"] >= 1
    worker = suite.start("--benchmark-disable-gc")
    worker.prepare("test_it.py::test_off")
    assert "warm" in worker.ask("warm_up", seed=1, order=[0], iterations=2)
    marked = suite.start()
    marked.prepare("test_it.py::test_marked")
    assert "block" in marked.block(iterations=1)


WRONG = {
    "generator": (
        "lambda: (i for i in range(9))",
        "returns a generator, with nothing computed yet",
    ),
    "map": ("map, str, [1, 2]", "compute it in the function, as list() does"),
    "iterator": ("list, iter([1, 2])", "its argument 1 (list_iterator) is used up by the first"),
    "file": ("lambda: opened.read()", "the variable 'opened' (TextIOWrapper) is used up"),
    "popped": ("numbers.pop", "its object (list) shrinks with every call"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_would_be_timed_of_nothing_is_refused_by_name(suite, kind):
    call, expected = WRONG[kind]
    suite.write(
        "test_it.py",
        f"def test_it(benchmark):\n    opened, numbers = open(__file__), list(range(9))\n"
        f"    benchmark({call})\n",
    )
    assert expected in suite.race("test_it.py::test_it")["refused"]


def test_what_a_test_changes_is_noted_with_the_way_out(suite):
    suite.write(
        "test_it.py",
        """
        def work(numbers): numbers.sort()
        def test_sorted(benchmark):
            numbers = [3, 1, 2]
            benchmark(numbers.sort)
        def test_argument(benchmark): benchmark(work, [3, 1, 2])
        def test_appended(benchmark):
            kept = []
            benchmark(lambda: kept.append(1))
        def test_pedantic(benchmark):
            benchmark.pedantic(work, setup=lambda: (([3, 1, 2],), {}))
    """,
    )
    (changed,) = suite.race("test_it.py::test_sorted")["notes"]
    assert changed.startswith("'sort' changes its object (list), which all calls share")
    assert "benchmark.pedantic" in changed
    (changed,) = suite.race("test_it.py::test_argument")["notes"]
    assert changed.startswith("'work' changes its argument 1 (list), which all calls share")
    (grown,) = suite.race("test_it.py::test_appended")["notes"]
    assert grown.startswith("the variable 'kept' (list) grows with every call")
    assert "notes" not in suite.race("test_it.py::test_pedantic")


@PLUGINS
def test_what_is_skipped_or_broken_costs_itself_only(suite, without):
    suite.write(
        "test_it.py",
        """
        import pytest
        @pytest.fixture
        def broken(): raise OSError("no database")
        @pytest.mark.skip(reason="not today")
        def test_marked(benchmark): pass
        def test_within(benchmark): pytest.skip("no GPU")
        @pytest.mark.xfail(reason="known")
        def test_known(benchmark): assert benchmark(sum, [1]) == 2
        def test_setup(benchmark, broken): benchmark(sum, [1])
        def test_good(benchmark): benchmark(sum, [1])
    """,
    )
    suite.write("test_broken.py", "import no_such_module\ndef test_x(benchmark): pass\n")
    *names, broken = suite.names(*without)
    assert len(names) == 5
    missing = "ModuleNotFoundError: No module named 'no_such_module'"
    assert broken == f"test_broken.py (cannot be collected: {missing})"
    problems = {name: suite.race(name, *without) for name in [*names, broken]}
    told = [problem for name, problem in problems.items() if name.startswith("test_it")]
    reasons = ["not today", "no GPU", "xfail: known"]
    assert told[:3] == [{"skipped": reason} for reason in reasons]
    assert "OSError: no database" in told[3]["panicked"]
    assert told[4]["iterations"] >= 1
    assert missing in problems[broken]["panicked"]


def test_marked_tests_are_measured_as_a_whole_where_codspeed_would(suite):
    suite.write(
        "test_it.py",
        """
        import pytest
        @pytest.fixture
        def number(): return 3
        @pytest.mark.benchmark
        def test_marked(number): assert number == 3
    """,
    )
    names = suite.names()
    if find_spec("pytest_benchmark") and not find_spec("pytest_codspeed"):
        # To pytest-benchmark the mark alone holds options of the fixture.
        assert names == []
    else:
        assert names == ["test_it.py::test_marked"]
        assert suite.race(names[0])["iterations"] >= 1


def test_the_suites_output_is_no_answer_and_other_plugins_stay_out_of_the_way(suite):
    suite.write("pytest.ini", "[pytest]\naddopts = -ra --benchmark-skip --benchmark-only\n")
    suite.write(
        "test_it.py",
        """
        import os
        def test_it(benchmark):
            print("printed")
            os.write(1, b"written")
            benchmark(sum, [1])
    """,
    )
    pytest.importorskip("pytest_benchmark")
    worker = suite.start()
    assert worker.prepare("test_it.py::test_it") == {"prepared": {}}
    worker.block()
    worker.end()
    assert "printed" in worker.said()
    assert "written" in worker.said()
    assert worker._process.stdout.read() == b""


def test_a_start_runs_no_git_and_its_end_is_no_failed_test(suite, monkeypatch):
    pytest.importorskip("pytest_benchmark")
    git = suite.folder / "bin" / "git"
    suite.write("bin/git", f"#!/bin/sh\necho ran >> {suite.folder}/git-ran\n")
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{git.parent}:{os.environ['PATH']}")
    suite.write(
        "conftest.py",
        """
        def pytest_runtest_logreport(report):
            with open("outcomes", "a") as log:
                log.write(f"{report.when} {report.outcome}\\n")
        """,
    )
    suite.write("test_it.py", "def test_it(benchmark): benchmark(sum, [1])\n")
    worker = suite.start()
    worker.prepare("test_it.py::test_it")
    worker.block()
    worker.end()
    assert (suite.folder / "outcomes").read_text().splitlines() == [
        "setup passed",
        "call skipped",
        "teardown passed",
    ]
    assert not (suite.folder / "git-ran").exists()


def test_options_that_pytest_refuses_are_told_at_last(suite):
    worker = suite.start("--no-such-option")
    with pytest.raises(AssertionError):
        worker.ask("list")
    last = worker.said().splitlines()[-1]
    assert last == "deadheat: pytest: unrecognized arguments: --no-such-option"


FORKS = pytest.mark.skipif(sys.platform == "darwin", reason="forks are not for macOS")


@FORKS
def test_one_start_collects_the_files_that_are_wanted_and_serves_each_test_in_a_child(suite):
    for name in ("a", "b", "c"):
        suite.write(
            f"test_{name}.py",
            f"""
            import os
            import pytest
            with open("imported", "a") as log:
                log.write("{name}")
            @pytest.fixture(scope="session")
            def made():
                with open("fixtures", "a") as log:
                    log.write("+")
                yield [1]
                with open("fixtures", "a") as log:
                    log.write("-")
            def test_one(benchmark, made):
                assert made == [1]
                benchmark(made.append, 2)
            @pytest.mark.skip(reason="not today")
            def test_skips(benchmark): ...
            """,
        )
    wanted = ["test_a.py::test_one", "test_a.py::test_skips", "test_c.py::test_one"]
    worker = suite.start()
    assert worker.ask("import", benchmarks=wanted) == {"imported": {}}
    assert (suite.folder / "imported").read_text() == "ac"
    children = set()
    for name in (wanted[0], wanted[2], wanted[0]):
        children.add(worker.prepare(name)["prepared"]["process"])
        worker.ask("calibrate", seed=1, least_ns=1)
        assert "block" in worker.block()
        assert worker.ask("bye") == {"over": {}}
    assert len(children) == 3
    assert (suite.folder / "imported").read_text() == "ac"
    # The pilot runs the test to its end once, but does not set the session up anew.
    made = (suite.folder / "fixtures").read_text()
    assert made == "+-" * (len(made) // 2)
    assert len(made) >= 6
    assert worker.prepare(wanted[1])["failed"]["problem"] == {"skipped": "not today"}
    assert worker.heard() == {"over": {}}
    assert "process" in worker.prepare(wanted[2])["prepared"]


@FORKS
def test_a_file_that_is_broken_costs_its_tests_and_no_others(suite):
    suite.write("test_good.py", "def test_it(benchmark): benchmark(sum, [1])")
    suite.write("test_bad.py", "import missing_module\ndef test_it(benchmark): ...")
    names = suite.names()
    worker = suite.start()
    assert worker.ask("import", benchmarks=names) == {"imported": {}}
    failed = [name for name in names if "failed" in worker.prepare(name)
              and worker.heard() == {"over": {}}]  # fmt: skip
    assert [name.partition(" ")[0] for name in failed] == ["test_bad.py"]


@FORKS
def test_a_suite_with_threads_is_started_for_each_test(suite):
    suite.write(
        "test_it.py",
        """
        import threading, time
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
        def test_it(benchmark): benchmark(sum, [1])
        """,
    )
    worker = suite.start()
    imported = worker.ask("import", benchmarks=["test_it.py::test_it", "test_it.py::test_x"])
    assert imported["imported"]["unforked"].startswith("a thread ")
    assert worker.prepare("test_it.py::test_it") == {"prepared": {}}


def test_a_call_after_a_whole_test_does_not_tell_whether_the_first_is_slower(suite):
    suite.write(
        "test_it.py",
        """
        import time
        known = []
        def loads_once():
            if not known:
                known.append(time.sleep(0.2))
            time.sleep(0.05)
        def test_it(benchmark): benchmark(loads_once)
        """,
    )
    assert "warm_at_once" not in suite.race("test_it.py::test_it")
