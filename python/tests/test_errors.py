"""Errors: one line each, in the words of Python and not of a command line."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from conftest import environment

import deadheat
from deadheat import _settings


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_replicate": 3}, "race() has no setting 'max_replicate'; did you mean 'max_repl"),
        ({"check_output": True}, "did you mean 'check_outputs'?"),
        ({"json": True}, "race() has no setting 'json'"),
        ({"save": "x.jsonl"}, "race() has no setting 'save'"),
        ({"fail_on": "slower"}, "race() does not use 'fail_on': look at result.verdict"),
        ({"max_replicates": "x"}, "max_replicates must be a whole number, not 'x'"),
        ({"max_replicates": True}, "max_replicates must be a whole number, not True"),
        ({"seed": -1}, "seed must not be negative"),
        ({"blocks": 0}, "blocks must be at least 1, not 0"),
        ({"control": "yes"}, "control must be True or False, not 'yes'"),
        ({"budget": -3}, "budget must be a number of seconds above 0, not -3"),
        ({"budget": [3]}, "budget must be a number of seconds, not [3]"),
        ({"timeout": "abc"}, "timeout: 'abc'"),
        ({"margin": "much"}, "margin: 'much'"),
        ({"margin": -1}, "margin: must be above 0"),
        ({"alpha": 3}, "alpha: must be above 0"),
        ({"metric": "nothing"}, 'metric="nothing": '),
        ({"pin": "x"}, "pin"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_words_of_python(settings, words):
    with pytest.raises(deadheat.UsageError) as refused:
        deadheat.race(abs, len, **settings)
    said = str(refused.value)
    assert words in said
    assert "\n" not in said
    for foreign in ("--", "tip:", "error:", "help", "Usage"):
        assert foreign not in said


def test_every_setting_is_an_option_of_the_program():
    help_text = subprocess.run(
        [sys.executable, "-m", "deadheat", "bench", "--help"],
        env=environment(),
        capture_output=True,
        text=True,
    ).stdout
    options = set(re.findall(r"--([a-z-]+)", help_text))
    assert {name.replace("_", "-") for name in _settings.NAMES} <= options


def test_what_the_program_says_of_its_options_is_said_of_settings():
    said = "error: --max-replicates 3 is too few (--quantile); see --no-such\nhelp: x"
    expected = "max_replicates 3 is too few (quantile); see --no-such"
    assert _settings.error_in_python_words(said) == expected
    clap = "note: a\nerror: invalid value 'x' for '--sample-time <TIME>': no\nhelp: write 30s"
    assert _settings.error_in_python_words(clap) == "sample_time: no"
    assert _settings.error_in_python_words("killed") == "killed"
    advice = "Raise --budget, or continue\nwith deadheat bench --resume FILE. Try --pin auto."
    assert _settings.in_python_words(advice) == 'Raise budget. Try pin="auto".'


def test_a_time_out_is_named_as_the_setting():
    import time

    with pytest.raises(deadheat.RaceFailed, match=r"within 1s \(timeout\) and was killed"):
        deadheat.race(abs, lambda n: time.sleep(60), input=int, timeout=1, max_replicates=6)


def test_warnings_name_settings(script):
    done = script(
        "import deadheat\n"
        "result = deadheat.race(lambda: 1, lambda: 2, max_replicates=2, blocks=2)\n"
        "print(result.warnings, str(result))\n"
    )
    assert done.returncode == 0, done.stderr
    assert "max_replicates" in done.stdout
    assert "--" not in done.stdout


FILES = {
    "no suite": ("import deadheat\n@deadheat.benchmark\ndef f(): pass", "without deadheat.suite()"),
    "nothing at all": ("", "ends without deadheat.suite()"),
    "no such module": ("import no_such_module", "raised ModuleNotFoundError: No module named"),
    "syntax": ("def f(:", "raised SyntaxError: "),
    "fails at import": ("import deadheat\n{}['x']", "raised KeyError: 'x', at "),
    "races itself": ("import deadheat\ndeadheat.race(abs, len)", "raised deadheat.UsageError: "),
}


@pytest.mark.parametrize("what", FILES)
def test_a_file_that_lists_no_benchmarks_is_named_with_what_it_did(what, tmp_path):
    text, words = FILES[what]
    (tmp_path / "bench_it.py").write_text(text + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "deadheat", "bench", f"{sys.executable} bench_it.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 3
    assert done.stderr.startswith("error: 'bench_it.py' ")
    assert words in done.stderr
    assert "hello" not in done.stderr
    more = done.stderr.splitlines()[1:]
    assert len(more) <= 1
    assert all(line.startswith("help: ") for line in more)


def test_python_raises_and_does_not_panic():
    def leaves():
        sys.exit("two\nlines")

    def divides():
        return 1 // 0

    def speaks():
        raise ValueError("first\nsecond")

    for function, words in [
        (leaves, "'leaves' raised SystemExit("),
        (divides, "'divides' raised ZeroDivisionError: "),
        (speaks, "'speaks' raised ValueError: first second"),
    ]:
        with pytest.raises(deadheat.RaceFailed) as failed:
            deadheat.race(list, function, max_replicates=6)
        assert words in str(failed.value)
        assert "panicked" not in str(failed.value)


def test_a_function_that_no_fresh_process_has_is_named(script, tmp_path):
    (tmp_path / "made.py").write_text("def old(): return 1\n")
    done = script("""
import deadheat, made
exec("def new(): return 2", made.__dict__)
try:
    deadheat.race(made.old, made.new)
except deadheat.RaceFailed as error:
    print(error)
""")
    begin = "the worker process raised AttributeError: Can't get attribute 'new' on <module 'made'"
    assert done.stdout.startswith(begin), done.stdout + done.stderr
    assert len(done.stdout.splitlines()) == 1
