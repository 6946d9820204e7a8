"""One start for many benchmarks, spoken to by hand as docs/protocol.md has it."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "darwin", reason="forks are not for macOS")

TWO = """
import os
imported = os.getpid()
state = []
@deadheat.benchmark(input=lambda seed: state)
def grows(held):
    held.append(1)
@deadheat.benchmark
def stands():
    assert not state and os.getpid() != imported
"""


def importing(worker, text, names, **options):
    spoken = worker(text, **options)
    assert spoken.heard()["hello"]["forks"] is True
    return spoken, spoken.ask("import", benchmarks=names)["imported"]


def serve(spoken, name):
    """Has a benchmark served by a child of its own, and returns the number of that."""
    prepared = spoken.prepare(name)["prepared"]
    assert "calibrated" in spoken.ask("calibrate", seed=1, least_ns=1)
    spoken.block([0, 0])
    assert "block" in spoken.heard()
    return prepared["process"]


def is_gone(process):
    return not Path(f"/proc/{process}").exists()


def test_each_benchmark_is_served_by_a_child_that_finds_nothing_of_the_others(worker):
    spoken, imported = importing(worker, TWO, ["grows", "stands"])
    assert imported == {}
    children = []
    for name in ("grows", "stands", "grows"):
        children.append(serve(spoken, name))
        assert spoken.ask("bye") == {"over": {}}
        assert is_gone(children[-1])
    assert len({spoken.process.pid, *children}) == 4
    spoken.send("bye")
    assert spoken.end() in (0, -signal.SIGKILL)


def test_small_objects_of_the_heap_are_drawn_for_each_child(worker):
    where = "id([object() for _ in range(1_000)][-1])"
    text = f"@deadheat.benchmark\ndef where(): raise SystemExit({where})\n"
    spoken, _ = importing(worker, text + "@deadheat.benchmark\ndef g(): ...", ["where", "g"])
    found = set()
    for heap in range(0, 4_000, 333):
        spoken.ask("prepare", benchmark="where", contender=None, heap_bytes=heap)
        found.add(spoken.ask("smoke", seed=1)["failed"]["problem"]["panicked"])
        assert spoken.heard() == {"over": {}}
    assert len(found) > 3


SEEDED = """
import random
random.seed(42)
state = random.getstate()
@deadheat.benchmark
def first(): assert random.getstate() == state
@deadheat.benchmark
def second(): assert random.getstate() == state
"""


def test_a_seed_of_the_file_holds_in_each_child(worker):
    spoken, _ = importing(worker, SEEDED, ["first", "second"])
    for name in ("first", "second"):
        assert "prepared" in spoken.prepare(name)
        assert spoken.ask("smoke", seed=1) == {"sound": {}}
        assert spoken.ask("bye") == {"over": {}}


def test_without_an_import_nothing_is_forked(worker):
    spoken = worker("import os\nown = os.getpid()\n@deadheat.benchmark\n"
                    "def f(): assert os.getpid() == own")  # fmt: skip
    spoken.heard()
    assert "process" not in spoken.prepare("f")["prepared"]
    assert spoken.ask("smoke", seed=1) == {"sound": {}}


def test_a_failure_costs_one_benchmark_and_the_next_is_served(worker):
    spoken, _ = importing(
        worker,
        "@deadheat.benchmark\ndef fails(): raise KeyError(7)\n"
        "@deadheat.benchmark\ndef works(): ...",
        ["fails", "works"],
    )
    spoken.prepare("fails")
    assert "KeyError: 7" in spoken.ask("smoke", seed=1)["failed"]["problem"]["panicked"]
    assert spoken.heard() == {"over": {}}
    assert "unknown" in spoken.prepare("missing")["failed"]["problem"]
    assert spoken.heard() == {"over": {}}
    serve(spoken, "works")


@pytest.mark.parametrize(
    ("body", "end"),
    [
        ("os._exit(3)", 3),
        ("os._exit(0)", 0),
        ("os.kill(os.getpid(), signal.SIGSEGV)", -signal.SIGSEGV),
        ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
        ("signal.signal(signal.SIGTERM, signal.SIG_DFL); os.kill(os.getpid(), signal.SIGTERM)",
         -signal.SIGTERM),
        ("os.abort()", -signal.SIGABRT),
    ],
)  # fmt: skip
def test_the_process_ends_as_its_child_has_ended(worker, body, end):
    text = f"import os, signal\n@deadheat.benchmark\ndef f(): {body}\n"
    spoken, _ = importing(worker, text + "@deadheat.benchmark\ndef g(): ...", ["f", "g"])
    spoken.prepare("f")
    spoken.send("smoke", seed=1)
    assert spoken.replies.readline() == ""
    assert spoken.end() == end


def test_what_a_benchmark_leaves_running_is_gone_before_the_next(worker, tmp_path):
    text = """
import os, subprocess
@deadheat.benchmark
def leaves():
    if not os.path.exists("left"):
        found = subprocess.Popen(["sleep", "600"])
        with open("left", "w") as file:
            file.write(str(found.pid))
@deadheat.benchmark
def g(): ...
"""
    spoken, _ = importing(worker, text, ["leaves", "g"])
    spoken.prepare("leaves")
    assert "sound" in spoken.ask("smoke", seed=1)
    assert spoken.ask("bye") == {"over": {}}
    left = int((tmp_path / "left").read_text())
    until = time.monotonic() + 5
    while Path(f"/proc/{left}").exists() and time.monotonic() < until:
        state = Path(f"/proc/{left}/stat").read_text().rpartition(") ")[2][:1]
        if state == "Z":
            break
        time.sleep(0.01)
    else:
        assert is_gone(left)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone ends children with their parent")
def test_a_child_that_hangs_ends_with_the_process(worker):
    text = "import time\n@deadheat.benchmark\ndef hangs(): time.sleep(600)\n"
    spoken, _ = importing(worker, text + "@deadheat.benchmark\ndef g(): ...", ["hangs", "g"])
    child = spoken.prepare("hangs")["prepared"]["process"]
    spoken.send("smoke", seed=1)
    spoken.process.kill()
    spoken.process.wait()
    until = time.monotonic() + 5
    while not is_gone(child) and time.monotonic() < until:
        time.sleep(0.01)
    assert is_gone(child)


@pytest.mark.parametrize(
    ("started", "many"),
    [
        ("threading.Thread(target=time.sleep, args=(600,), daemon=True).start()", "a thread"),
        ("[threading.Thread(target=time.sleep, args=(600,), daemon=True).start() "
         "for _ in range(2)]", "2 threads"),
        ("import concurrent.futures as c; pool = c.ThreadPoolExecutor(1); pool.submit(int)",
         "a thread"),
    ],
)  # fmt: skip
def test_a_process_with_threads_says_so_and_serves_one_benchmark_itself(worker, started, many):
    text = f"import threading, time\n{started}\n" + TWO.replace("!= imported", "== imported")
    spoken, imported = importing(worker, text, ["grows", "stands"])
    assert imported["unforked"].startswith(many + " ")
    assert "process" not in spoken.prepare("stands")["prepared"]
    assert spoken.ask("smoke", seed=1) == {"sound": {}}
    spoken.send("bye")
    assert spoken.end() in (0, -signal.SIGKILL)


def test_a_thread_that_ended_while_the_file_was_imported_is_none(worker):
    text = "import threading\nt = threading.Thread(target=int)\nt.start()\nt.join()\n" + TWO
    assert importing(worker, text, ["grows", "stands"])[1] == {}


def test_the_baton_is_handed_over_by_each_child(worker):
    spoken, _ = importing(worker, TWO, ["grows", "stands"], in_turns=True)
    for name in ("grows", "stands"):
        spoken.prepare(name)
        spoken.block([None, 0, 0, None])
        assert os.read(spoken.baton_out, 1) == b"\1"
        os.write(spoken.baton_in, b"\1")
        assert os.read(spoken.baton_out, 1) == b"\1"
        os.write(spoken.baton_in, b"\1")
        assert "block" in spoken.heard()
        assert spoken.ask("bye") == {"over": {}}


def test_the_end_of_the_requests_ends_process_and_child(worker):
    spoken, _ = importing(worker, TWO, ["grows", "stands"])
    child = spoken.prepare("grows")["prepared"]["process"]
    spoken.close()
    assert spoken.end() in (0, -signal.SIGKILL)
    assert is_gone(child)
