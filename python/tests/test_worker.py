"""The worker, spoken to by hand as docs/protocol.md has it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import environment

from deadheat import _worker

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone")
# Contenders that say in a file when they are called.
TRACED = """
import os
log = os.open("log", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
def drawn(seed):
    os.write(log, f"input {seed}\\n".encode())
    return seed % 1000
def b(number): os.write(log, b"b\\n")
@deadheat.benchmark(name="traced", input=drawn, candidates=[b])
def a(number): os.write(log, b"a\\n")
@deadheat.benchmark(args={"x": [1, 2], "kind": ["c"]}, bytes=8, ignored=True)
def quick(x, kind): assert x in (1, 2) and kind == "c"
"""


def calls(folder: Path) -> str:
    lines = (folder / "log").read_text().split("\n")
    (folder / "log").write_text("")
    return "".join(line for line in lines if len(line) == 1)


def test_the_worker_speaks_the_whole_protocol(worker, tmp_path):
    spoken = worker(TRACED)
    hello = spoken.heard()["hello"]
    assert hello["protocol"] == 2
    assert hello["metrics"][:2] == ["wall_ns", "cpu_ns"]
    traced, one, two = spoken.ask("list")["listed"]["benchmarks"]
    assert traced["name"] == "traced"
    assert traced["contenders"] == ["a", "b"]
    assert (one["name"], two["name"]) == ("quick/1/c", "quick/2/c")
    assert one["parameters"] == [["x", "1"], ["kind", "c"]]
    assert one["throughput"] == {"bytes": 8}
    assert one["ignored"]
    assert spoken.prepare("traced") == {"prepared": {"renews_input": True}}
    calibrated = spoken.ask("calibrate", seed=1, least_ns=100_000)["calibrated"]
    assert calibrated["iterations"] >= 1
    assert len(calibrated["call_ns"]) == 2
    assert all(ns > 0 for ns in calibrated["call_ns"])
    warm = spoken.ask("warm_up", seed=2, order=[1, 0], iterations=3)["warm"]
    assert 1 <= warm["rounds"] <= 50
    calls(tmp_path)
    spoken.send("block", seed=9, iterations=2, turns=[1, 0, 0, 1, 1, 0], unrecorded=2,
                unrecorded_iterations=1)  # fmt: skip
    values = spoken.heard()["block"]["values"]
    assert len(values) == 4 * len(hello["metrics"])
    assert calls(tmp_path) == "b" + "a" + "aabbbbaa"
    assert spoken.ask("smoke", seed=3) == {"sound": {}}
    assert calls(tmp_path) in ("ab", "aabb")
    spoken.send("bye")
    assert spoken.end() in (0, -signal.SIGKILL)


def test_one_contender_is_number_0_and_may_have_arguments_in_place_of_an_input(worker):
    spoken = worker(TRACED)
    spoken.heard()
    assert spoken.prepare("quick/2/c", "quick") == {"prepared": {"renews_input": False}}
    assert "calibrated" in spoken.ask("calibrate", seed=1, least_ns=1)
    spoken.block([0, 0], iterations=40)
    assert "block" in spoken.heard()


def test_calls_are_as_many_as_were_asked_for_however_they_are_unrolled(worker, tmp_path):
    spoken = worker(TRACED)
    spoken.heard()
    spoken.prepare("traced", "b")
    spoken.ask("smoke", seed=1)
    for iterations in (1, 2, 16, 17, 18, 33, 100):
        calls(tmp_path)
        spoken.block([0], iterations=iterations)
        spoken.heard()
        assert calls(tmp_path) == "b" * iterations


def test_the_baton_is_handed_over_as_the_protocol_has_it(worker):
    spoken = worker(TRACED, in_turns=True)
    spoken.heard()
    spoken.prepare("traced", "a")
    spoken.block([None, 0, 0, None])
    assert os.read(spoken.baton_out, 1) == b"\1"  # Its input is ready.
    os.write(spoken.baton_in, b"\1")
    assert os.read(spoken.baton_out, 1) == b"\1"  # Its turns are over.
    os.write(spoken.baton_in, b"\1")
    assert "block" in spoken.heard()
    spoken.block([0, None])
    os.write(spoken.baton_in, b"\1")
    assert os.read(spoken.baton_out, 1) == b"\1"
    os.write(spoken.baton_in, b"\1")
    assert "block" in spoken.heard()
    os.close(spoken.baton_in)
    spoken.block([0, None])
    assert spoken.heard()["failed"]["problem"] == {"peer_gone": {}}


@pytest.mark.parametrize(
    ("kind", "said", "problem"),
    [
        ("prepare", {"benchmark": "none"}, "unknown"),
        ("prepare", {"benchmark": "traced", "contender": "c"}, "unknown"),
        ("block", {"seed": 1, "turns": [0]}, "out_of_turn"),
        ("dance", {}, "out_of_turn"),
    ],
)
def test_requests_that_make_no_sense_are_answered(worker, kind, said, problem):
    spoken = worker(TRACED)
    spoken.heard()
    assert problem in spoken.ask(kind, **said)["failed"]["problem"]


def test_an_exception_is_told_with_its_seed_and_its_place(worker):
    spoken = worker("@deadheat.benchmark(input=lambda seed: seed)\ndef f(n):\n    return [n][n]")
    spoken.heard()
    spoken.prepare("f")
    failed = spoken.ask("smoke", seed=77)["failed"]
    assert failed["contender"] == 0
    said = failed["problem"]["panicked"]
    assert said.startswith("IndexError: list index out of range (input of seed 77), at ")
    assert "bench_it.py:4 in f" in said
    assert "deadheat/" not in said


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("sys.exit(3)", "SystemExit(3)"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("os.fork()", "its child returns from the call"),
        ("raise Exception('x' * 10**7)", "Exception: xxx"),
    ],
)
def test_what_ends_a_program_is_told_and_ends_nothing_else(worker, body, words):
    spoken = worker(f"import os, sys\n@deadheat.benchmark\ndef f(): {body}")
    spoken.heard()
    spoken.prepare("f")
    said = spoken.ask("smoke", seed=1)["failed"]["problem"]["panicked"]
    assert words in said
    assert len(said) < 5_000
    spoken.end()


def test_an_input_that_cannot_be_made_is_nobodys_fault(worker):
    spoken = worker("@deadheat.benchmark(input=lambda seed: 1 // 0)\ndef f(n): pass")
    spoken.heard()
    spoken.prepare("f")
    failed = spoken.ask("smoke", seed=5)["failed"]
    assert failed["contender"] is None
    assert "input of seed 5" in failed["problem"]["panicked"]


def test_a_child_that_a_function_waits_for_is_no_fault_but_counts_as_company(worker):
    spoken = worker(
        "import subprocess\n@deadheat.benchmark\ndef f(): subprocess.run(['sleep', '0.01'])"
    )
    spoken.heard()
    spoken.prepare("f")
    spoken.block([0], iterations=1)
    spoken.heard()
    spoken.block([0], iterations=1)
    assert spoken.heard()["block"]["keep_waiting"] in (None, "concurrent")


@LINUX
def test_a_thread_that_works_beside_is_told(worker):
    spoken = worker("""
import threading
@deadheat.benchmark
def f():
    if threading.active_count() == 1:
        threading.Thread(target=lambda: [i for i in range(10**12)]).start()
    return sum(range(10**6))
""")
    spoken.heard()
    spoken.prepare("f")
    for _ in range(2):
        spoken.block([0], iterations=2)
        kept = spoken.heard()["block"]["keep_waiting"]
    assert kept == "concurrent"
    spoken.send("bye")
    spoken.end()  # The thread is not waited for.


@LINUX
def test_a_child_that_is_left_running_ends_with_the_worker(worker, tmp_path):
    spoken = worker("""
import subprocess
@deadheat.benchmark
def f():
    global left
    left = subprocess.Popen(["sleep", "300"])
    with open("pid", "w") as file: file.write(str(left.pid))
""")
    spoken.heard()
    spoken.prepare("f")
    spoken.block([0], iterations=1)
    assert spoken.heard()["block"]["keep_waiting"] == "concurrent"
    spoken.close()
    spoken.end()
    left = int((tmp_path / "pid").read_text())
    time.sleep(0.2)
    assert not runs(left)


def runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_megabytes_of_output_do_not_come_between_replies(worker):
    spoken = worker("@deadheat.benchmark\ndef f(): print('x' * 1_000_000)")
    spoken.heard()
    spoken.prepare("f")
    spoken.block([0, 0], iterations=5)
    assert "block" in spoken.heard()


def test_descriptors_and_variables_are_not_handed_on(worker, tmp_path):
    spoken = worker("""
import subprocess, sys
@deadheat.benchmark
def f():
    ask = "import os; print(len(os.listdir('/proc/self/fd')), list(os.environ))"
    subprocess.run([sys.executable, "-c", ask], stdout=open("seen", "w"), close_fds=False)
""")
    spoken.heard()
    spoken.prepare("f")
    spoken.ask("smoke", seed=1)
    count, variables = (tmp_path / "seen").read_text().split(" ", 1)
    assert int(count) <= 5
    assert "DEADHEAT_WORKER" not in variables


@LINUX
def test_a_worker_that_hangs_in_c_ends_with_deadheat(tmp_path):
    hangs = """
import ctypes, os, deadheat
@deadheat.benchmark
def f():
    with open("hanging", "w") as file: file.write(str(os.getpid()))
    # Holds the interpreter as it never comes back to it. PyPy has none that holds it.
    getattr(ctypes, "PyDLL", ctypes.CDLL)(None).pause()
deadheat.suite()
"""
    (tmp_path / "bench_it.py").write_text(hangs)
    race = subprocess.Popen(
        [sys.executable, "bench_it.py"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    written = tmp_path / "hanging"
    for _ in range(400):
        if written.exists() and written.read_text():
            break
        time.sleep(0.05)
    hanging = int(written.read_text())
    assert runs(hanging)
    race.kill()
    race.wait()
    for _ in range(100):
        if not runs(hanging):
            break
        time.sleep(0.05)
    assert not runs(hanging)


# Options of a race that is over soon.
FEW = ["--max-replicates=6", "--blocks=4", "--format=terse"]


def test_outputs_that_differ_stop_the_benchmark(worker):
    spoken = worker("""
def b(n): return n // 2 * 2
@deadheat.benchmark(input=lambda seed: seed, candidates=[b], check_outputs=True)
def a(n): return n
""")
    spoken.heard()
    spoken.prepare("a")
    assert spoken.ask("smoke", seed=4) == {"sound": {}}
    failed = spoken.ask("smoke", seed=5)["failed"]
    detail = failed["problem"]["output_differs"]["detail"]
    assert failed["contender"] == 1
    assert "returned" in detail


@pytest.mark.parametrize(("option", "held"), [("False", 0), ("True", 1)])
def test_answers_are_dropped_before_the_next_call(worker, tmp_path, option, held):
    log = tmp_path / "held"
    it = worker(f"""
log = open({str(log)!r}, "w", buffering=1)

class Answer:
    alive = {{"a": 0, "b": 0}}

    def __init__(self, of):
        print(Answer.alive[of], file=log)
        self.of = of
        Answer.alive[of] += 1

    def __del__(self):
        Answer.alive[self.of] -= 1

    def __eq__(self, other):
        return True

def b(seed):
    return Answer("b")

@deadheat.benchmark(input=lambda seed: seed, candidates=[b], check_outputs={option})
def a(seed):
    # Of the other one, whose answer stays only where it is to be compared.
    print("beside", Answer.alive["b"], file=log)
    return Answer("a")
""")
    it.heard()
    it.prepare("a")
    it.block([0, 1, 1, 0], iterations=1)
    assert "block" in it.heard()
    lines = log.read_text().splitlines()
    assert {line for line in lines if "beside" not in line} == {"0"}
    assert lines[-2] == f"beside {held}"


def test_outputs_are_compared_by_a_function_of_the_user(worker):
    spoken = worker("""
import math
@deadheat.benchmark(candidates={"b": lambda: 0.1 + 0.2}, check_outputs=math.isclose)
def a(): return 0.3
""")
    spoken.heard()
    spoken.prepare("a")
    assert spoken.ask("smoke", seed=4) == {"sound": {}}


def test_every_call_has_an_input_of_its_own_where_it_may_change_it(worker):
    spoken = worker("""
@deadheat.benchmark(input=lambda seed: [seed], input_per_call=True)
def f(given): given.pop()
""")
    spoken.heard()
    spoken.prepare("f")
    assert spoken.ask("calibrate", seed=1, least_ns=1e9)["calibrated"]["most_iterations"] == 4_096
    spoken.block([0, 0], iterations=50)
    assert "block" in spoken.heard()


def test_async_functions_are_awaited_in_one_loop(worker):
    spoken = worker("""
import asyncio
loops = set()
async def b(n): await asyncio.sleep(0)
@deadheat.benchmark(input=lambda seed: seed, candidates=[b])
async def a(n):
    loops.add(asyncio.get_running_loop())
    assert len(loops) == 1
""")
    spoken.heard()
    spoken.prepare("a")
    for _ in range(2):
        spoken.block([0, 1, 1, 0], iterations=20)
        assert "block" in spoken.heard()


@pytest.mark.parametrize(("option", "collecting"), [("False", "False"), ("True", "True")])
def test_the_garbage_collector_is_off_within_samples_unless_asked(worker, option, collecting):
    spoken = worker(f"""
import gc
@deadheat.benchmark(gc={option})
def f(): assert gc.isenabled() is {collecting}
""")
    spoken.heard()
    spoken.prepare("f")
    assert spoken.ask("smoke", seed=4) == {"sound": {}}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("@deadheat.benchmark\ndef f(): pass\n" * 2, "two benchmarks named 'f'"),
        ("@deadheat.benchmark(input_per_call=True)\ndef f(): pass", "needs an input"),
        ("async def g(): pass\n@deadheat.benchmark(candidates=[g])\ndef f(): pass", "async"),
        ("@deadheat.benchmark(args={'a b': [1]})\ndef f(): pass", "is not an argument name"),
        ("@deadheat.benchmark(candidates={'f': print})\ndef f(): pass", "name of the baseline"),
    ],
)
def test_benchmarks_that_make_no_sense_are_refused(script, text, words):
    done = script("import deadheat\n" + text)
    assert done.returncode == 1
    assert words in done.stderr


def test_a_bench_file_that_is_imported_does_nothing(script, tmp_path):
    bench = "import deadheat\n@deadheat.benchmark\ndef f(): return 5\ndeadheat.suite()\n"
    (tmp_path / "bench_it.py").write_text(bench)
    done = script("import bench_it; print(bench_it.f())")
    assert done.stdout == "5\n"


def test_a_bench_file_started_by_hand_hands_its_arguments_on(script):
    done = script(
        "import deadheat\n@deadheat.benchmark\ndef f(): pass\n"
        "@deadheat.benchmark\ndef g(): pass\ndeadheat.suite()\n",
        *["--list", "f"],
    )
    assert "f" in done.stdout
    assert "g" not in done.stdout.split()


def test_a_file_with_a_first_line_for_the_shell_is_a_program_with_benchmarks(tmp_path):
    file = tmp_path / "bench_it"
    file.write_text(
        f"#!{sys.executable}\nimport deadheat\n@deadheat.benchmark\ndef f(): pass\n"
        "deadheat.suite()\n"
    )
    file.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-m", "deadheat", "bench", "./bench_it", "./bench_it", *FEW],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "'./bench_it'" in done.stdout
    assert "95% CI" in done.stdout


@LINUX
def test_two_interpreters_share_a_hash_seed_in_a_race(tmp_path):
    (tmp_path / "bench_it.py").write_text(
        "import os\nimport deadheat\n"
        "with open('hashes', 'a') as log: print(hash('x'), os.getpid(), file=log)\n"
        "@deadheat.benchmark\ndef f(): pass\ndeadheat.suite()\n"
    )
    command = f"{sys.executable} bench_it.py"
    subprocess.run(
        [sys.executable, "-m", "deadheat", "bench", command, command, *FEW],
        cwd=tmp_path,
        env=environment(),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    hashes = [line.split()[0] for line in (tmp_path / "hashes").read_text().splitlines()]
    shared = [number for number in set(hashes) if hashes.count(number) >= 2]
    # Six replicates and a pilot; the processes that list benchmarks draw for themselves.
    assert len(shared) >= 5
    assert sum(hashes.count(number) for number in shared) >= 14


def test_an_environment_without_the_package_is_told(tmp_path):
    (tmp_path / "bench_it.py").write_text("import deadheat\n")
    done = subprocess.run(
        # Nothing of this process's environment and no packages that were installed.
        [sys.executable, "-m", "deadheat", "bench", f"{sys.executable} -I -S bench_it.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert f"'{sys.executable}' ended its process with exit code 1" in done.stderr
    assert "a Python without the package deadheat" in done.stderr


def test_a_file_with_line_ends_of_windows_is_raced(tmp_path):
    text = "import deadheat\r\n@deadheat.benchmark\r\ndef f(): pass\r\ndeadheat.suite()\r\n"
    (tmp_path / "bench_it.py").write_bytes(text.encode())
    done = subprocess.run(
        [sys.executable, "bench_it.py", *FEW],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert "'f' was measured alone" in done.stdout, done.stderr


def test_what_returns_a_coroutine_and_is_not_async_is_refused(worker):
    spoken = worker("async def a(): pass\n@deadheat.benchmark\ndef f(): return a()")
    spoken.heard()
    spoken.prepare("f")
    said = spoken.ask("smoke", seed=1)["failed"]["problem"]["refused"]
    assert "returns a coroutine, with nothing computed yet" in said
    assert "make the function async" in said


class Simulated(_worker.Session):
    """A session whose one contender takes what is said, by the nanoseconds that have passed."""

    def __init__(self, call_ns):
        super().__init__(None, {})
        self.passed, self.calls, self.call_ns = 0, 0, call_ns

    def make_input(self, seed):
        self.passed += 5_000_000

    def sample(self, number, iterations):
        took = iterations * self.call_ns(self.passed)
        self.passed += took
        self.calls += iterations
        return [took]


@pytest.mark.parametrize(
    ("call_ns", "least", "most"),
    [
        (lambda passed: 25_000, 0.3, 0.4),
        (lambda passed: 25_000 if passed < 250e6 else 2_000, 0.5, 0.6),
        (lambda passed: 25_000 - passed // 100_000, 2.0, 2.1),
        (lambda passed: 400_000_000, 0.8, 0.9),
        (lambda passed: 3_000_000_000, 3.0, 3.1),
    ],
    ids=["at once", "late", "never", "long", "longer than the bound"],
)
def test_a_jit_is_warm_when_calls_got_no_faster_for_half_of_the_time(
    monkeypatch, call_ns, least, most
):
    session = Simulated(call_ns)
    monkeypatch.setattr(_worker, "perf_counter_ns", lambda: session.passed)
    session.compile_all(1, [0], 1)
    assert least * 1e9 <= session.passed <= most * 1e9


@pytest.mark.parametrize(
    ("call_ns", "cached_from", "least", "most"),
    [(5_000, 0, 30, 60), (5_000, 1_024, 1_024, 1_050), (5_000_000, 1_024, 10, 10)],
    ids=["specialised", "cached", "cached too late"],
)
def test_short_functions_are_called_until_the_interpreter_keeps_their_names(
    monkeypatch, call_ns, cached_from, least, most
):
    session = Simulated(lambda passed: call_ns)
    monkeypatch.setattr(_worker, "OPCACHE_CALLS", cached_from)
    session.specialise_all(1, [0], 10)
    assert least <= session.calls <= most


def test_where_there_is_a_jit_the_pilot_and_every_process_warm_up_for_it(worker, tmp_path):
    spoken = worker("import deadheat._worker\ndeadheat._worker.HAS_JIT = True\n" + TRACED)
    spoken.heard()
    spoken.prepare("traced")
    assert spoken.ask("calibrate", seed=3, least_ns=1_000)["calibrated"]["iterations"] >= 1
    inputs = (tmp_path / "log").read_text().count("input ")
    assert inputs >= 3
    assert spoken.ask("warm_up", seed=4, order=[1, 0], iterations=3)["warm"]["rounds"] >= 2
