"""The program: which Python it starts, and where it races without a record."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import environment

from deadheat._program import find_program

FILE = """\
import sys
import deadheat
sys.stderr.write(sys.prefix + "\\n")
@deadheat.benchmark
def f(): pass
deadheat.suite()
"""
FEW = ["--max-replicates", "6", "--blocks", "4", "--nocapture"]


@pytest.fixture
def own(tmp_path):
    """An environment with a link to the program."""
    folder = tmp_path / "own"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (folder / "bin/deadheat").symlink_to(find_program())
    (tmp_path / "who.py").write_text(FILE)
    return folder


def prefixes(command: list[str | Path], folder: Path, **more: str) -> set[str]:
    done = subprocess.run(
        [*command, *FEW], cwd=folder, env=environment(**more), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return {line for line in done.stderr.splitlines() if line.startswith("/")}


def test_the_program_of_an_environment_starts_the_python_of_that(own, tmp_path):
    program = own / "bin/deadheat"
    for command in (
        [program, "bench", "who.py"],
        [program, "bench", "./who.py"],
        [Path("own/bin/deadheat"), "bench", tmp_path / "who.py"],
    ):
        assert prefixes(command, tmp_path) == {str(own)}
    path = os.pathsep.join([str(own / "bin"), os.environ["PATH"]])
    assert prefixes(["deadheat", "bench", "who.py"], tmp_path, PATH=path) == {str(own)}


def test_the_user_may_name_another_python(own, tmp_path):
    command = [own / "bin/deadheat", "bench", "who.py", "--python", sys.executable]
    assert prefixes(command, tmp_path) == {sys.prefix}


def test_a_program_elsewhere_starts_the_python_of_the_path(own, tmp_path):
    # Next to it there is none.
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/deadheat").symlink_to(find_program())
    (own / "bin/deadheat").unlink()
    path = os.pathsep.join([str(own / "bin"), os.environ["PATH"]])
    found = prefixes(["elsewhere/deadheat", "bench", "who.py"], tmp_path, PATH=path)
    # An environment that holds the program itself, as one where a wheel is installed, comes first.
    holds = Path(find_program()).resolve().parent.parent
    assert found == {str(holds if (holds / "pyvenv.cfg").exists() else own)}


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="not even root may write there")
def test_a_suite_in_a_read_only_folder_races_without_a_record(tmp_path):
    (tmp_path / "bench_it.py").write_text(FILE)
    done = subprocess.run(
        [sys.executable, tmp_path / "bench_it.py", *FEW],
        cwd="/sys/kernel",
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "not recorded" in done.stdout
    assert "warning: cannot write .deadheat" in done.stderr
