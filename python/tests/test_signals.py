"""Scripts that are killed in the middle of a race, and what they leave: nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import descendants, environment

from deadheat._program import find_program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

LONG = """
import deadheat
f, g = lambda: sum(range(10_000)), lambda: sum(range(10_000))
def race():
    # No look settles two that are alike to a millionth.
    deadheat.race(f, g, max_replicates=200, blocks=200, margin=1e-6)
"""
INTERRUPTED = (
    LONG
    + """
try:
    race()
except KeyboardInterrupt:
    print("interrupted")
"""
)
HANDLED = (
    LONG
    + """
import signal, sys
def leave(number, frame):
    print("handled")
    sys.exit(3)
signal.signal(signal.SIGTERM, leave)
race()
"""
)
IGNORED = (
    LONG
    + """
import signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
race()
"""
)
IN_A_THREAD = (
    LONG
    + """
import threading
thread = threading.Thread(target=race)
thread.start()
thread.join()
"""
)
IN_A_CHILD = (
    LONG
    + """
import multiprocessing
multiprocessing.get_context("fork").Process(target=race).start()
import time
time.sleep(60)
"""
)
HANGING = """
import deadheat, time
def sleeps(): time.sleep(60)
deadheat.race(sleeps, sleeps, names=("a", "b"), timeout="none")
"""


class Script:
    """A script of this text, in a folder of its own, that has begun to race."""

    def __init__(self, text: str, folder: Path, processes: int = 3) -> None:
        (folder / "script.py").write_text(text)
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "script.py"],
            cwd=folder,
            env=environment(MARKER=str(folder), TMPDIR=str(folder)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.wait_until(lambda: len(self.living()) >= processes, 20)
        assert len(list(folder.glob("deadheat-*"))) == 1

    def living(self) -> list[int]:
        return descendants(f"MARKER={self.folder}")

    def wait_until(self, holds: Callable[[], bool], seconds: float) -> None:
        until = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < until, (self.living(), list(self.folder.rglob("*")))
            time.sleep(0.05)

    def has_left_nothing(self) -> bool:
        return not self.living() and os.listdir(self.folder) == ["script.py"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL, signal.SIGUSR1])
@pytest.mark.parametrize("text", [LONG + "race()\n", IN_A_THREAD, HANGING])
def test_a_script_that_a_signal_ends_leaves_no_process_and_no_file(tmp_path, text, number):
    script = Script(text, tmp_path)
    script.process.send_signal(number)
    assert script.process.wait(timeout=20) == -number
    script.wait_until(script.has_left_nothing, 10)


def test_a_ctrl_c_is_raised_when_nothing_is_left(tmp_path):
    script = Script(INTERRUPTED, tmp_path)
    script.process.send_signal(signal.SIGINT)
    printed, said = script.process.communicate(timeout=30)
    assert printed == "interrupted\n", said
    assert script.has_left_nothing()


def test_a_handler_of_the_user_is_called_and_may_end_the_race(tmp_path):
    script = Script(HANDLED, tmp_path)
    script.process.send_signal(signal.SIGTERM)
    printed, said = script.process.communicate(timeout=30)
    assert (printed, script.process.returncode) == ("handled\n", 3), said
    assert script.has_left_nothing()


def test_a_signal_that_the_user_ignores_ends_nothing(tmp_path):
    script = Script(IGNORED, tmp_path)
    script.process.send_signal(signal.SIGHUP)
    time.sleep(1)
    assert len(script.living()) >= 3
    script.process.kill()
    script.process.wait()
    script.wait_until(script.has_left_nothing, 10)


def test_a_race_in_a_child_of_multiprocessing_ends_with_that(tmp_path):
    script = Script(IN_A_CHILD, tmp_path, processes=4)
    # The script, the child that races, deadheat and a worker.
    child = int(Path(f"/proc/{script.process.pid}/task/{script.process.pid}/children").read_text())
    os.kill(child, signal.SIGTERM)
    script.wait_until(lambda: len(script.living()) == 1, 10)
    assert os.listdir(tmp_path) == ["script.py"]
    script.process.kill()
    script.process.wait()


def test_a_program_that_is_killed_is_an_error_and_leaves_no_worker(tmp_path):
    script = Script(LONG + "race()\n", tmp_path)
    pids = Path(f"/proc/{script.process.pid}/task/{script.process.pid}/children").read_text()
    os.kill(int(pids), signal.SIGKILL)
    _, said = script.process.communicate(timeout=30)
    assert "RaceFailed: the program deadheat was killed by SIGKILL" in said
    script.wait_until(script.has_left_nothing, 10)


def started_by(owner: int, folder: Path) -> int:
    """The exit code of a program that is owned by this process ID, and whose pipe is closed."""
    alive, held = os.pipe()
    os.close(held)
    try:
        return subprocess.run(
            [find_program(), "run", "-r", "3", "--no-config", "--save", "/dev/null", "sleep 0.1"],
            stdin=alive,
            env=environment(DEADHEAT_OWNER=f"{owner}:{folder}"),
            capture_output=True,
            timeout=60,
        ).returncode
    finally:
        os.close(alive)


def test_a_program_whose_script_is_gone_before_it_starts_ends_as_well(tmp_path):
    gone = subprocess.Popen(["true"])
    gone.wait()
    folder = tmp_path / "deadheat-race"
    folder.mkdir()
    (folder / "race.pickle").touch()
    # By the signal, or by the exit code of a race that a signal ended.
    assert started_by(gone.pid, folder) in (-signal.SIGTERM, 128 + signal.SIGTERM)
    assert not folder.exists()


def test_a_program_that_only_inherits_the_name_of_an_owner_has_none(tmp_path):
    folder = tmp_path / "deadheat-race"
    folder.mkdir()
    assert started_by(os.getppid(), folder) == 0
    assert folder.exists()
