"""What the tests share: where things are, and a worker that is spoken to by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest
from gpu_races import SIMULATED

import deadheat

REPOSITORY = Path(__file__).resolve().parents[2]


@cache
def library() -> tempfile.TemporaryDirectory:
    """A folder with the package that is tested and no other. Made when it is asked for: workers
    import the tests too, to race their functions, and are killed."""
    folder = tempfile.TemporaryDirectory(prefix="deadheat-tested-")
    Path(folder.name, "deadheat").symlink_to(Path(deadheat.__file__).parent)
    return folder


def environment(**more: str) -> dict[str, str]:
    """That of a process, of whatever Python, which has the package that is tested."""
    return {**os.environ, "PYTHONPATH": library().name, "NO_COLOR": "1", **more}


def descendants(marker: str) -> list[int]:
    """The processes whose environment holds a text."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                environment = (entry / "environ").read_bytes()
            except OSError:
                continue
            if marker.encode() in environment:
                found.append(int(entry.name))
    return found


class Worker:
    """A worker process: the test is its coordinator, and holds the other ends of the baton."""

    def __init__(
        self, file: Path, *words: str, module: str = "", in_turns: bool = False, **variables: str
    ) -> None:
        requests, self._ask = os.pipe()
        replies, theirs = os.pipe()
        self.notes, notes = os.pipe()
        self.baton_out, baton_out = os.pipe()
        baton_in, self.baton_in = os.pipe()
        inherited = [requests, theirs, notes] + ([baton_in, baton_out] if in_turns else [])
        variables["DEADHEAT_WORKER"] = f"{requests},{theirs},{notes}"
        if in_turns:
            variables["DEADHEAT_BATON"] = f"{baton_in},{baton_out}"
        through = ["-m", module] if module else []
        self.process = subprocess.Popen(
            [sys.executable, *through, str(file), *words],
            pass_fds=inherited,
            env=environment(**variables),
            cwd=file.parent,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for descriptor in (requests, theirs, notes, baton_in, baton_out):
            os.close(descriptor)
        self.replies = os.fdopen(replies)

    def heard(self) -> dict[str, dict]:
        line = self.replies.readline()
        assert line, "the worker is gone: " + self.process.stderr.read().decode()
        return json.loads(line)

    def ask(self, kind: str, **said: object) -> dict[str, dict]:
        self.send(kind, **said)
        return self.heard()

    def send(self, kind: str, **said: object) -> None:
        os.write(self._ask, json.dumps({kind: said}).encode() + b"\n")

    def prepare(self, benchmark: str, contender: str | None = None) -> dict[str, dict]:
        rest = {"clock": "os", "cpu_overhead_ns": 0, "heap_bytes": 777, "stack_bytes": 5}
        return self.ask("prepare", benchmark=benchmark, contender=contender, **rest)

    def block(self, turns: list[int | None], seed: int = 7, iterations: int = 3) -> None:
        self.send("block", seed=seed, iterations=iterations, turns=turns,
                  unrecorded=0, unrecorded_iterations=1)  # fmt: skip

    def close(self) -> None:
        os.close(self._ask)

    def end(self) -> int:
        return self.process.wait(timeout=20)

    def remove(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        self.replies.close()


@pytest.fixture
def worker(tmp_path):
    """Starts a worker of a bench file with this text."""
    started = []

    def start(text: str, **options: object) -> Worker:
        file = tmp_path / "bench_it.py"
        file.write_text("import deadheat\n" + text + "\ndeadheat.suite()\n")
        found = Worker(file, **options)
        started.append(found)
        return found

    yield start
    for each in started:
        each.remove()


@pytest.fixture
def script(tmp_path):
    """Runs a script of this text in a folder of its own."""

    def run(text: str, *arguments: str, name: str = "script.py", **more: object):
        (tmp_path / name).write_text(text)
        return subprocess.run(
            [sys.executable, name, *arguments],
            cwd=tmp_path,
            env=environment(TMPDIR=str(tmp_path)),
            capture_output=True,
            text=True,
            timeout=120,
            **more,
        )

    return run


@pytest.fixture
def device(monkeypatch):
    """Sets up the simulated device; called with its settings."""
    names = ("torch", "cupy", "numba", "device", "pynvml")
    kept = {name: module for name, module in sys.modules.items() if name.split(".")[0] in names}
    for name in kept:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(SIMULATED))

    def simulate(**settings):
        monkeypatch.setenv("SIMULATED_GPU", json.dumps(settings))

    simulate()
    yield simulate
    for name in [name for name in sys.modules if name.split(".")[0] in names]:
        del sys.modules[name]
    sys.modules.update(kept)
