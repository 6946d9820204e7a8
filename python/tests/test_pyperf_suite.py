"""The worker that holds a pyperf script, spoken to by hand as docs/protocol.md has it."""

from __future__ import annotations

import pytest
from conftest import Worker

pytest.importorskip("pyperf")

SCRIPT = """
import atexit, pathlib, sys, tempfile, time
import pyperf
runner = pyperf.Runner()
runner.argparser.add_argument("--steps", type=int, default=1_000)
steps = runner.parse_args().steps
print("a script may print")

def times_itself(loops, nanoseconds):
    return loops * nanoseconds / 1e9

async def waits(steps):
    sum(range(steps))

def fails():
    raise ValueError("out of luck")

runner.bench_func(" plain ", sum, range(steps))
runner.bench_func("ten", sum, range(steps), inner_loops=10)
runner.bench_time_func("timed", times_itself, 5_000)
runner.bench_time_func("timed by tens", times_itself, 5_000, inner_loops=10)
runner.bench_async_func("async", waits, steps)
runner.timeit("timeit", "sum(things)", setup="things = range(500)")
runner.bench_command("command", [sys.executable, "-S", "-c", "pass"])
runner.bench_func("fails", fails)
runner.bench_time_func("words", times_itself, 1, metadata={"unit": "byte"})
with tempfile.TemporaryDirectory(dir=".", prefix="kept-") as folder:
    path = pathlib.Path(folder, "file")
    path.write_text("text")
    runner.bench_func("file", path.read_text)
"""
NAMES = ["plain", "ten", "timed", "timed by tens", "async", "timeit", "command", "fails", "words"]


@pytest.fixture
def start(tmp_path):
    started = []

    def start(*words: str, text: str = SCRIPT) -> Worker:
        file = tmp_path / "bench.py"
        file.write_text(text)
        started.append(Worker(file, *words, module="deadheat.pyperf_suite"))
        return started[-1]

    yield start
    for each in started:
        each.remove()


def per_call(spoken: Worker, name: str) -> float:
    """Nanoseconds of a call, by a block of the benchmark."""
    metrics = spoken.heard()["hello"]["metrics"]
    assert metrics[0] == "wall_ns"
    assert "cpu_ns" not in metrics
    assert "prepared" in spoken.prepare(name)
    iterations = spoken.ask("calibrate", seed=1, least_ns=1_000)["calibrated"]["iterations"]
    spoken.block([0, 0], iterations=iterations)
    values = spoken.heard()["block"]["values"]
    assert len(values) == 2 * len(metrics)
    spoken.ask("smoke", seed=1)
    spoken.send("bye")
    spoken.end()
    return min(values[0], values[len(metrics)]) / iterations


def test_benchmarks_of_every_kind_are_listed_and_none_is_run(start):
    spoken = start()
    spoken.heard()
    listed = spoken.ask("list")["listed"]["benchmarks"]
    assert [benchmark["name"] for benchmark in listed] == [*NAMES, "file"]


@pytest.mark.parametrize("name", ["plain", "ten", "async", "timeit", "command", "file"])
def test_functions_are_called_in_the_worker(start, tmp_path, name):
    assert per_call(start(), name) > 0
    # The script continues to the line that removes its temporary files.
    assert not list(tmp_path.glob("kept-*"))


def test_a_function_that_times_itself_is_believed(start):
    assert per_call(start(), "timed") == pytest.approx(5_000)
    assert per_call(start(), "timed by tens") == pytest.approx(500)


def test_a_sample_is_as_long_whatever_a_call_iterates(start):
    call = "bench_time_func('it', lambda n: n * 1e-5, inner_loops=100)"
    text = f"import pyperf\npyperf.Runner().{call}\n"
    spoken = start(text=text)
    spoken.heard()
    spoken.prepare("it")
    calibrated = spoken.ask("calibrate", seed=1, least_ns=1_000)["calibrated"]
    # Samples last 50 µs, and each call says that it took 10 for 100 iterations.
    assert calibrated["iterations"] < 1_000
    assert calibrated["iterations"] % 100 == 0
    assert calibrated["call_ns"] == [pytest.approx(100)]
    for iterations, calls in [(300, 3), (250, 2), (30, 1)]:
        spoken.block([0], iterations=iterations)
        values = spoken.heard()["block"]["values"]
        # A number that the calls cannot make is scaled.
        assert values[0] / iterations == pytest.approx(100, rel=0.01), calls


def test_an_argument_that_a_function_changes_is_noted_and_its_benchmark_raced(start):
    text = "import pyperf\nthings = [3, 1, 2]\npyperf.Runner().bench_func('sort', things.sort)\n"
    spoken = start(text=text)
    spoken.heard()
    spoken.prepare("sort")
    (note,) = spoken.ask("calibrate", seed=1, least_ns=1_000)["calibrated"]["notes"]
    assert "finds it changed" in note
    assert "pedantic" not in note


def test_an_output_that_is_not_computed_is_refused_with_a_way_out(start):
    text = "import pyperf\npyperf.Runner().bench_func('map', lambda: map(str, [1, 2]))\n"
    spoken = start(text=text)
    spoken.heard()
    spoken.prepare("map")
    refused = spoken.ask("calibrate", seed=1, least_ns=1_000)["failed"]["problem"]["refused"]
    assert "--harness pyperf" in refused
    assert "drain" not in refused


def test_arguments_of_the_script_reach_it(start):
    assert per_call(start("--steps", "100000"), "plain") > 3 * per_call(start(), "plain")


@pytest.mark.parametrize(
    "words", [["-n5"], ["--values=5"], ["-l", "8"], ["--rigorous"], ["--val=5"]]
)
def test_options_that_a_worker_would_ignore_are_refused(start, words):
    spoken = start(*words)
    spoken.heard()
    spoken.send("list")
    assert not spoken.replies.readline()
    assert "only pyperf itself supports --" in spoken.process.stderr.read().decode()
    assert spoken.end() == 1


def test_failures_and_other_units_cost_their_benchmark(start):
    spoken = start()
    spoken.heard()
    spoken.prepare("fails")
    failed = spoken.ask("calibrate", seed=1, least_ns=1_000)["failed"]
    assert "ValueError: out of luck" in failed["problem"]["panicked"]
    spoken = start()
    spoken.heard()
    assert "'byte'" in spoken.prepare("words")["failed"]["problem"]["skipped"]
    spoken = start()
    spoken.heard()
    assert spoken.prepare("nowhere")["failed"]["problem"] == {"unknown": {}}


def test_a_script_that_fails_and_names_that_repeat_are_told(start):
    spoken = start(text="import pyperf\nrunner = pyperf.Runner()\n1 / 0\n")
    spoken.heard()
    assert "ZeroDivisionError" in spoken.prepare("any")["failed"]["problem"]["panicked"]
    again = "import pyperf\nr = pyperf.Runner()\nfor _ in range(2): r.bench_func('x', int)\n"
    spoken = start(text=again)
    spoken.heard()
    spoken.send("list")
    assert not spoken.replies.readline()
    assert "two benchmarks named 'x'" in spoken.process.stderr.read().decode()


def test_a_script_that_ends_by_sys_exit_has_ended(start):
    text = "import pyperf, sys\npyperf.Runner().bench_func('x', int)\nsys.exit(0)\n"
    spoken = start(text=text)
    spoken.heard()
    assert spoken.ask("list")["listed"]["benchmarks"] == [{"name": "x"}]
