"""The interpreter of a worker: started and set as that of the process that races."""

from __future__ import annotations

import asyncio
import decimal
import os
import subprocess
import sys

import pytest
from conftest import environment

import deadheat
from deadheat import _interpreter
from deadheat._patched import differences, reached

# The module whose functions are raced says what the worker is like.
PROBE = """
import sys, os, warnings, decimal
def told():
    with open(os.environ["LOG"], "a") as log:
        print({what}, file=log)
def nothing(): pass
"""
SCRIPT = """
import sys, deadheat, probe
{first}
print({what})
deadheat.race(probe.told, probe.nothing, max_replicates=2, blocks=2, budget=2)
"""
FLAGS = "[sys.flags.optimize, sys.flags.utf8_mode, sys.flags.dev_mode, sys.flags.bytes_warning, "
FLAGS += "sys.flags.isolated, sys.flags.no_user_site, sys.flags.ignore_environment, "
FLAGS += "sys.dont_write_bytecode, sorted(sys._xoptions.items(), key=str)]"


@pytest.fixture
def both(tmp_path):
    """Runs a script, and returns what it and what its workers say of themselves."""

    def run(options: list[str], what: str, first: str = "", **variables: str):
        (tmp_path / "probe.py").write_text(PROBE.format(what=what))
        (tmp_path / "script.py").write_text(
            # -I and -P leave out the folder of the script, -E the path of the package.
            f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {environment()['PYTHONPATH']!r}]\n"
            + SCRIPT.format(what=what, first=first)
        )
        log = tmp_path / "log"
        log.write_text("")
        done = subprocess.run(
            [sys.executable, *options, "script.py"],
            cwd=tmp_path,
            env=environment(LOG=str(log), **variables),
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip(), set(log.read_text().splitlines())

    return run


@pytest.mark.parametrize(
    "options",
    [
        ["-O"],
        ["-OO", "-B"],
        ["-X", "utf8", "-X", "dev"],
        ["-X", "utf8=0"],
        ["-bb", "-s"],
        ["-E", "-X", "mine=3"],
        ["-I"],
    ],
    ids=" ".join,
)
def test_options_of_the_interpreter_are_those_of_the_workers(both, options):
    here, there = both(options, FLAGS)
    assert there == {here}


def test_warnings_are_as_here_by_option_by_variable_and_by_filter(both):
    what = "[(one[0], one[2].__name__, one[4]) for one in warnings.filters]"
    for options, first, variables in (
        (["-W", "error"], "import warnings", {}),
        (["-W", "ignore::DeprecationWarning"], "import warnings", {}),
        ([], "import warnings", {"PYTHONWARNINGS": "always"}),
        ([], "import warnings; warnings.simplefilter('error', UserWarning)", {}),
        ([], "import warnings; warnings.filterwarnings('ignore', 'a.*', FutureWarning, 'b')", {}),
    ):
        here, there = both(options, what, first, **variables)
        assert there == {here}


STATES = {
    "recursion limit": ("sys.setrecursionlimit(4321)", "sys.getrecursionlimit()"),
    "switch interval": ("sys.setswitchinterval(0.25)", "sys.getswitchinterval()"),
    "threshold": ("import gc; gc.set_threshold(123, 4, 5)", "__import__('gc').get_threshold()"),
    "collector": ("import gc; gc.disable()", "__import__('gc').isenabled()"),
    "stack": (
        "import threading; threading.stack_size(1 << 20)",
        # Asked for its value, it sets the usual one.
        "(lambda size: (__import__('threading').stack_size(size), size)[1])"
        "(__import__('threading').stack_size())",
    ),
    "precision": ("import decimal; decimal.getcontext().prec = 99", "decimal.getcontext().prec"),
    "traps": (
        "import decimal; decimal.getcontext().traps[decimal.Inexact] = True",
        "decimal.getcontext().traps[decimal.Inexact]",
    ),
    "folder": ("import os; os.mkdir('x'); os.chdir('x')", "os.getcwd()"),
    "variable": ("import os; os.environ['MINE'] = 'x'", "os.environ.get('MINE')"),
}


@pytest.mark.parametrize("state", STATES)
def test_what_was_set_at_run_time_is_set_in_the_workers(both, state):
    first, what = STATES[state]
    here, there = both([], what, first)
    assert there == {here}


def test_a_locale_is_that_of_the_workers(both):
    names = subprocess.run(["locale", "-a"], capture_output=True, text=True).stdout.split()
    usable = [name for name in names if "utf8" in name.lower() and not name.startswith("C.")]
    name = usable[0] if usable else "C.UTF-8"
    what = "__import__('locale').setlocale(6, None)"
    here, there = both([], what, f"import locale; locale.setlocale(locale.LC_ALL, {name!r})")
    assert there == {here}


def test_the_errors_of_numpy_are_handled_as_here(both):
    pytest.importorskip("numpy")
    first = "import numpy; numpy.seterr(divide='raise', under='print')"
    here, there = both([], "sorted(__import__('numpy').geterr().items())", first)
    # The module that is raced does not import it before it is called.
    assert "raise" in here
    first = first.replace("import numpy;", "import numpy; probe.numpy = numpy;")
    with_import = (
        "(lambda: __import__('numpy'))() and sorted(sys.modules['numpy'].geterr().items())"
    )
    here, there = both([], with_import, first)
    assert len(there) == 1


def test_a_state_as_python_starts_with_is_none():
    script = "from deadheat._interpreter import *; print(options(), state(True))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment(PYTHONDONTWRITEBYTECODE="", PYTHONWARNINGS=""),
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "[] {}", done.stderr


class Policy(asyncio.DefaultEventLoopPolicy):
    """As `uvloop.install()` sets one."""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_policy_of_event_loops_is_carried_for_async_functions():
    asyncio.set_event_loop_policy(Policy())
    try:
        path = f"{Policy.__module__}:Policy"
        assert _interpreter.state(True)["policy"] == path
        assert "policy" not in _interpreter.state(False)
        asyncio.set_event_loop_policy(None)
        _interpreter.apply({"policy": path})
        assert type(asyncio.get_event_loop_policy()).__name__ == "Policy"
    finally:
        asyncio.set_event_loop_policy(None)
    assert "policy" not in _interpreter.state(True)


def test_a_context_is_applied_only_where_it_differs(monkeypatch):
    with decimal.localcontext() as context:
        context.prec = 77
        wanted = _interpreter.decimal_context()
    assert wanted["prec"] == 77
    with decimal.localcontext():
        _interpreter.apply({"decimal": wanted})
        assert decimal.getcontext().prec == 77
        monkeypatch.setattr(decimal, "setcontext", lambda _: pytest.fail("it is so already"))
        _interpreter.apply({"decimal": wanted})


MODULE = """
from functools import lru_cache, singledispatch
REGISTRY = {{"len": len}}
HOOKS = [len]
LIMIT = 3
state = None
def helper(n): return sum(range(n))
@lru_cache
def cached(n): return n
@singledispatch
def shown(x): return str(x)
class Kind:
    def method(self): return helper(10)
    @classmethod
    def made(cls): return cls()
def f():
    global state
    state = cached(3)
    return helper(100), Kind.made().method(), REGISTRY["len"]("x"), HOOKS, LIMIT, shown(1)
def g(): return 1
"""
CHANGES = {
    "nothing": ("", None),
    "a function": ("changed.helper = lambda n: 1", "changed.helper"),
    "a method": ("changed.Kind.method = lambda self: 1", "changed.Kind.method"),
    "a class method": ("changed.Kind.made = classmethod(lambda c: c())", "changed.Kind.made"),
    "a class": ("changed.Kind = type('Kind', (changed.Kind,), {})", "changed.Kind"),
    "a mock": ("mock.patch('changed.helper').start()", "changed.helper"),
    "a registry": ("changed.REGISTRY['x'] = abs", "changed.REGISTRY"),
    "hooks": ("changed.HOOKS.append(abs)", "changed.HOOKS"),
    "a dispatch": ("changed.shown.register(int, hex)", "changed.shown"),
    "a constant": ("changed.LIMIT = 4", "changed.LIMIT"),
    "a module of Python": ("json.dumps = lambda x: 'x'", "json.dumps"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_in_a_module_is_told_in_one_line(script, tmp_path, change):
    statement, name = CHANGES[change]
    (tmp_path / "changed.py").write_text(MODULE.format() + "import json\n")
    text = f"""
import deadheat, json, changed
from unittest import mock
def dumped(): return json.dumps("x"), changed.f()
changed.f()
{statement}
result = deadheat.race(dumped, changed.g, max_replicates=2, blocks=2, budget=2)
for warning in result.warnings:
    if "run time" in warning: print(warning)
"""
    done = script(text)
    assert done.returncode == 0, done.stderr
    module = (name or "").partition(".")[0]
    told = f"module `{module}` was changed at run time ({name}); the workers have the original.\n"
    if change == "a class":
        # With its methods, which are those of another class.
        assert done.stdout.startswith("module `changed` was changed at run time (changed.Kind")
    else:
        assert done.stdout == (told if name else "")


def test_libraries_as_they_are_have_no_differences():
    import json
    import urllib.request
    from xml.etree import ElementTree

    functions = [json.dumps, urllib.request.urlopen, ElementTree.fromstring, deadheat.race]
    found = reached(functions, lambda module: True)
    assert sum(map(len, found.values())) > 500
    assert differences(found) == []


def test_a_file_of_benchmarks_keeps_the_options_of_its_python(tmp_path):
    (tmp_path / "bench_it.py").write_text(
        "import os, sys, deadheat\n"
        "@deadheat.benchmark\ndef f():\n"
        "    print(sys.flags.optimize, sys.flags.dev_mode, file=open('log', 'a'))\n"
        "deadheat.suite()\n"
    )
    subprocess.run(
        [sys.executable, "-O", "-X", "dev", "bench_it.py", "--max-replicates=1", "--blocks=1"],
        cwd=tmp_path,
        env=environment(),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    assert set((tmp_path / "log").read_text().splitlines()) == {"1 True"}


def test_a_suite_of_pytest_keeps_the_options_of_its_python(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import sys\ndef test_it(benchmark):\n    benchmark(told)\n"
        "def told():\n"
        "    print(sys.flags.optimize, sys.flags.dev_mode, file=open('log', 'a'))\n"
    )
    subprocess.run(
        [
            sys.executable,
            "-O",
            "-X",
            "dev",
            "-m",
            "deadheat.pytest_suite",
            "-p",
            "no:cacheprovider",
        ],
        cwd=tmp_path,
        env={**environment(), "DEADHEAT_MAX": "1", "PATH": path_with_few(tmp_path)},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    assert set((tmp_path / "log").read_text().splitlines()) == {"1 True"}


def path_with_few(folder) -> str:
    """A PATH with a program that races little: the suite hands it no options of its own."""
    from deadheat._program import find_program

    wrapper = folder / "bin" / "deadheat"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nexec {find_program()} "$@" --max-replicates=1 --blocks=1\n')
    wrapper.chmod(0o755)
    return f"{wrapper.parent}{os.pathsep}{os.environ['PATH']}"
