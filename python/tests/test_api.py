"""What the package shows of itself: names, types, settings."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import environment

import deadheat
from deadheat import _settings

TYPED = Path(__file__).with_name("typed")


def test_all_and_dir_list_what_is_public_and_what_is_imported_late():
    for name in ("race", "Result", "Samples", "Side", "Settings", "Verdict", "benchmark", "suite"):
        assert name in deadheat.__all__
        assert name in dir(deadheat)
        assert getattr(deadheat, name) is not None
    for name in deadheat.__all__:
        assert getattr(deadheat, name) is not None
    with pytest.raises(AttributeError, match="no_such"):
        _ = deadheat.no_such


def test_a_star_import_brings_everything(script):
    done = script("from deadheat import *\nprint(race.__name__, Result.__name__, TooSlow.__name__)")
    assert done.stdout == "race Result TooSlow\n", done.stderr


def test_a_worker_imports_no_types_and_none_of_what_only_races_need(worker):
    spoken = worker(
        "import sys\n"
        "late = {'typing', 'typing_extensions', 'cloudpickle', 'subprocess', 'deadheat._race',\n"
        "        'deadheat._settings', 'deadheat._outputs', 'reprlib'} & sys.modules.keys()\n"
        "@deadheat.benchmark(name=' '.join(sorted(late)) or 'none')\n"
        "def f(): pass"
    )
    spoken.heard()
    listed = spoken.ask("list")["listed"]["benchmarks"]
    assert [benchmark["name"] for benchmark in listed] == ["none"]


def test_every_public_name_says_what_it_is():
    for name in deadheat.__all__:
        if name != "Verdict":
            assert getattr(deadheat, name).__doc__, name
    body = ast.parse(inspect.getsource(_settings.Settings)).body[0].body[1:]
    for setting, words in zip(body[::2], body[1::2]):
        assert isinstance(setting, ast.AnnAssign)
        assert isinstance(words.value.value, str), setting.target.id
    assert len(body) == 2 * len(_settings.NAMES)


@pytest.mark.parametrize("value", [1, "f", [abs]])
def test_what_cannot_be_called_is_no_benchmark(value):
    with pytest.raises(deadheat.UsageError, match="a benchmark is a function, not"):
        deadheat.benchmark(value)


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="no mypy")
def test_mypy_finds_the_types_of_what_users_write(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path, TYPED / "sample.py"],
        env={**environment(), "MYPYPATH": environment()["PYTHONPATH"]},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
