"""deadheat.race, in scripts that are run and killed as people run and kill them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import environment

import deadheat

# PyPy sends locks, generators and frames.
CPYTHON = pytest.mark.skipif(sys.implementation.name == "pypy", reason="travels on PyPy")
FEW = {"max_replicates": 6, "blocks": 6, "seed": 7}


def thousand():
    return sum(range(1_000))


def two_thousand():
    return sum(range(2_000))


def of_input(numbers):
    return sorted(numbers)


@pytest.fixture(scope="module")
def result():
    return deadheat.race(thousand, two_thousand, max_replicates=8, blocks=20)


def test_twice_the_work_is_slower(result):
    assert result.verdict == "slower"
    assert 0.2 < result.change < 1.6
    assert result.interval[0] < result.change < result.interval[1]
    assert result.baseline.name == "thousand"
    assert result.candidate.name == "two_thousand"
    assert result.baseline.typical < result.candidate.typical
    assert result.json["schema"] == "deadheat.analysis/1"
    assert "'two_thousand' is slower" in str(result)
    assert "'two_thousand' is slower than 'thousand': " in repr(result)


def test_every_sample_is_a_row(result):
    assert {row["contender"] for row in result.samples} == {"thousand", "two_thousand"}
    assert len(result.samples) == result.baseline.samples + result.candidate.samples
    row = result.samples[0]
    assert row["role"] in ("baseline", "candidate")
    assert row["wall_ns"] > 1_000
    assert isinstance(row["replicate"], int)
    assert len(result.effects()) == result.replicates


def test_samples_become_tables_of_pandas_and_arrow(result):
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = result.samples.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["wall_ns"].sum() == sum(row["wall_ns"] for row in result.samples)
    table = result.samples.to_arrow()
    assert table.schema.field("wall_ns").type == pyarrow.int64()


def test_the_page_and_the_run_file_are_files_of_deadheat(result, tmp_path):
    result.page(tmp_path / "race.html")
    assert "two_thousand" in (tmp_path / "race.html").read_text()
    result.save(tmp_path / "race.jsonl")
    again = subprocess.run(
        [sys.executable, "-m", "deadheat", "analyze", tmp_path / "race.jsonl", "--format=terse"],
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert "'two_thousand' is slower" in again.stdout


def test_notebooks_are_shown_a_plot_in_which_names_are_no_tags():
    hostile = '<script>alert("x")</script>'
    result = deadheat.race(thousand, two_thousand, names=(hostile, "b'&"), name=hostile, **FEW)
    shown = result._repr_html_()
    assert "<svg" in shown
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
    assert "nan" not in shown


def test_functions_of_modules_may_be_named_by_their_path():
    result = deadheat.race("operator:neg", "operator.abs", input="builtins:int", **FEW)
    assert (result.baseline.name, result.candidate.name) == ("neg", "abs")


def test_inputs_are_made_anew_and_outputs_compared():
    with pytest.raises(deadheat.RaceFailed, match="returns a different output"):
        deadheat.race(
            lambda n: n % 2, lambda n: 2, input=lambda seed: seed, check_outputs=True, **FEW
        )


def test_a_function_that_fails_is_told_with_its_line_and_seed():
    def divides(number):
        return number // 0

    with pytest.raises(deadheat.RaceFailed) as failed:
        deadheat.race(of_input, divides, input=lambda seed: [seed], **FEW)
    assert "'divides' raised TypeError" in str(failed.value)
    assert "(input of seed " in str(failed.value)
    assert "in divides" in str(failed.value)


def test_a_crash_in_c_is_told():
    def crashes():
        import ctypes

        ctypes.string_at(8)

    with pytest.raises(deadheat.RaceFailed, match=r"'crashes' .*SIGSEGV"):
        deadheat.race(thousand, crashes, **FEW)


def test_a_hang_is_told():
    def sleeps():
        time.sleep(60)

    with pytest.raises(deadheat.RaceFailed, match="sleeps"):
        deadheat.race(thousand, sleeps, timeout=1, **FEW)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"marginn": 1}, r"no setting 'marginn'; did you mean 'margin'\?"),
        ({"save": "x"}, "no setting 'save'"),
        ({"margin": "much"}, "much"),
        ({"names": ("a", "a")}, "two names"),
        ({"input_per_call": True}, "needs an input"),
        ({"fail_on": "slower"}, "look at result.verdict"),
        ({"plot": True}, "result.page"),
        ({"verbose": True}, r"print\(result\)"),
        ({"shard": "1/2"}, "does not use 'shard'"),
        ({"markdown": True}, "markdown='FILE'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(arguments, words):
    with pytest.raises(deadheat.UsageError, match=words):
        deadheat.race(thousand, two_thousand, **arguments)


@pytest.mark.parametrize("path", ["nothing:here", "operator:no_such", "operator", "math:pi", ""])
def test_a_path_that_leads_nowhere_is_refused(path):
    with pytest.raises(deadheat.UsageError):
        deadheat.race(path, thousand)


def generator():
    yield 1


TRAVELLERS = {
    "an open file": (lambda: Path(os.devnull).open("w"), "open file"),  # noqa: SIM115
    "a file to read": (lambda: Path(__file__).open(), "open file"),  # noqa: SIM115
    "a lock": (lambda: __import__("threading").Lock(), "make the lock in"),
    "a generator": (generator, "make a list of it"),
    "a frame": (sys._getframe, "make it in `input`"),
}


@CPYTHON
@pytest.mark.parametrize("what", TRAVELLERS)
def test_what_cannot_travel_is_told_by_name_with_a_way_out(what):
    make, words = TRAVELLERS[what]
    held = make()
    with pytest.raises(deadheat.CannotTravel) as refused:
        deadheat.race(old=lambda: held, new=thousand)
    assert "old: " in str(refused.value)
    assert "the variable 'held'" in str(refused.value)
    assert words in str(refused.value)
    if hasattr(held, "close"):
        held.close()


@CPYTHON
def test_what_a_method_belongs_to_must_travel_too():
    class Holder:
        def __init__(self):
            self.lock = __import__("threading").Lock()

        def call(self):
            pass

    with pytest.raises(deadheat.CannotTravel, match="its object"):
        deadheat.race(Holder().call, thousand)


SCRIPT = """
import deadheat
print("main")
factor = 3
def old(n): return n * factor
def make(seed): return seed
result = deadheat.race(old, lambda n: n + n + n, input=make, max_replicates=6, blocks=4)
print(result.verdict is not None)
"""


def test_a_script_needs_no_main_guard_and_is_not_run_again(script, tmp_path):
    done = script(SCRIPT)
    assert done.stdout == "main\nTrue\n", done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["script.py"]


def test_a_script_that_races_is_no_worker_and_says_so(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    raced = subprocess.run(
        [sys.executable, "-m", "deadheat", "bench", f"{sys.executable} script.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert raced.returncode != 0
    assert "deadheat.suite()" in raced.stderr


def test_without_the_program_the_error_says_how_to_get_it(script):
    done = script(
        "import os, sys, sysconfig\n"
        "os.environ['PATH'] = ''\n"
        "import deadheat._program as program\n"
        "sysconfig.get_path = lambda *_: '/nowhere'\n"
        "program.find_program()\n"
    )
    assert "ProgramNotFound" in done.stderr
    assert "install the package deadheat" in done.stderr


def test_the_module_is_the_program(script):
    done = subprocess.run(
        [sys.executable, "-m", "deadheat", "--version"],
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith(f"deadheat {deadheat.__version__} (")


def test_functions_of_a_module_that_no_other_process_finds_travel_by_value(script, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/hidden.py").write_text("def f(): return g()\ndef g(): return 1\n")
    done = script("""
import importlib.util, sys, deadheat
spec = importlib.util.spec_from_file_location("hidden", "elsewhere/hidden.py")
hidden = sys.modules["hidden"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hidden)
print(deadheat.race(hidden.f, hidden.g, max_replicates=6, blocks=4).candidate.name)
""")
    assert done.stdout == "g\n", done.stderr


def test_modules_of_functions_are_imported_in_either_order(script, tmp_path):
    log = tmp_path / "log"
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text(
            f"import os\nopen({str(log)!r}, 'a').write(f'{{os.getpid()}} {name}\\n')\n"
            "def f():\n    return sum(range(100))\n"
        )
    text = "import deadheat\ndeadheat.race('first:f', 'second:f', names=('1', '2'), seed=7)\n"
    assert script(text).returncode == 0
    # Workers start ahead of their turn, so several import at once.
    imported: dict[str, list[str]] = {}
    for line in log.read_text().splitlines():
        process, name = line.split()
        imported.setdefault(process, []).append(name)
    orders = {tuple(names) for names in imported.values() if len(names) == 2}
    assert orders == {("first", "second"), ("second", "first")}


def test_a_check_of_outputs_must_travel_too():
    log = Path(os.devnull).open("w")  # noqa: SIM115
    with log, pytest.raises(deadheat.CannotTravel, match="check_outputs: "):
        deadheat.race(thousand, two_thousand, check_outputs=lambda a, b: print(a, file=log) or True)


def test_a_function_that_calls_itself_travels():
    def factorial(n):
        return n * factorial(n - 1) if n else 1

    result = deadheat.race(factorial, abs, input=lambda seed: seed % 50, **FEW)
    assert result.verdict is not None
