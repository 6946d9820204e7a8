"""`race`: two functions of a script or a notebook, each replicate in a fresh process."""

from __future__ import annotations

import json
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from deadheat._benchmarks import REACHED, Benchmark, channel, name_of
from deadheat._errors import RaceFailed, UsageError
from deadheat._interpreter import options as options_of_python
from deadheat._patched import reached
from deadheat._program import quoted, run
from deadheat._refused_settings import refuse_without_effect
from deadheat._result import Result, rows_of
from deadheat._travel import importable, packed, resolved, script_for

# Options of the program that this function sets itself, or whose answer it could not read.
RESERVED = {"json", "format", "save", "resume", "list", "quiet", "export_csv", "csv_exact", "help"}
# Settings that are times, in seconds.
TIMES = {"budget", "timeout", "sample_time"}


def race(
    old: Callable[..., Any] | str,
    new: Callable[..., Any] | str,
    input: Callable[..., Any] | str | None = None,
    *,
    input_per_call: bool | None = None,
    drain: bool | Callable[[Any], Any] | None = None,
    check_outputs: bool | Callable[[Any, Any], bool] = False,
    gc: bool = True,
    name: str | None = None,
    names: tuple[str, str] | None = None,
    **settings: Any,
) -> Result:
    """Races two functions and returns the answer: is `new` faster than `old`?

    Functions may be given by import path, as `"package.module:function"`. Where `input` is given it
    makes an input from a seed, and the functions take that as their only argument; else they take
    none. `input_per_call`, `drain`, `check_outputs` and `gc` are those of `deadheat.benchmark`.

    `name` is that of the benchmark and `names` those of the two, in the answer. `settings` are the
    options of `deadheat bench`: `margin=0.02`, `max_replicates=40`, `budget=10` (seconds).

    Raises `CannotTravel` where a function holds what cannot be sent to another process,
    `RaceFailed` where one of them fails, and `UsageError` for settings that make no sense.
    """
    if channel is not None:
        raise UsageError("a worker of deadheat cannot race: end the file with deadheat.suite()")
    functions = {"old": resolved(old, "old"), "new": resolved(new, "new")}
    if names is None:
        names = names_of(functions["old"], functions["new"])
    if len(set(names)) != 2:
        raise UsageError(f"two names are needed, and not {names!r}")
    if input is not None:
        functions["input"] = resolved(input, "input")
    name = name or f"{names[0]} and {names[1]}"
    options: dict[str, Any] = {"input_per_call": input_per_call, "drain": drain, "gc": gc}
    options["check_outputs"] = check_outputs
    contenders = dict(zip(names, [functions["old"], functions["new"]]))
    # Refuses what makes no sense, before anything is started.
    Benchmark(name, contenders, input=functions.get("input"), **options)
    rest = {"benchmark": name, "names": names, "options": options}
    with tempfile.TemporaryDirectory(prefix="deadheat-") as folder:
        paths = {
            file: os.path.join(folder, file) for file in ("race.pickle", "race.py", "csv", "run")
        }
        with open(paths["race.pickle"], "wb") as file:
            file.write(packed(functions, rest))
        with open(paths["race.py"], "w", encoding="utf-8") as script:
            script.write(script_for(paths["race.pickle"]))
        with open(os.path.join(folder, REACHED), "wb") as file:
            pickle.dump(reached(functions.values(), importable), file)
        command = quoted([sys.executable, *options_of_python(), paths["race.py"]])
        fixed = ["--json", "--quiet", "--no-config", "--save", paths["run"]]
        fixed += ["--export-csv", paths["csv"], "--csv-exact"]
        answer = json.loads(run(["bench", command, *fixed, *as_options(settings)]))
        if "failure" in answer or "failures" in answer:
            failures = [failed["message"] for failed in answer.get("failures", [])]
            raise RaceFailed("; ".join(failures) or answer["failure"])
        with open(paths["run"], "rb") as recorded:
            record = recorded.read()
        return Result(answer, rows_of(paths["csv"]), record)


def names_of(old: Callable[..., Any], new: Callable[..., Any]) -> tuple[str, str]:
    """The names of two functions, or `old` and `new` where these tell nothing."""
    found = name_of(old), name_of(new)
    return ("old", "new") if found[0] == found[1] or "<lambda>" in found else found


def as_options(settings: dict[str, Any]) -> list[str]:
    """Settings as options of the program: `max_replicates=40` is `--max-replicates=40`."""
    options = []
    refuse_without_effect(settings)
    if settings.get("markdown") is True:
        raise UsageError("race returns its answer: markdown='FILE' writes a comment to a file")
    for name, value in settings.items():
        if name in RESERVED:
            raise UsageError(f"race has no setting {name!r}")
        option = "--" + name.replace("_", "-")
        if name in TIMES and not isinstance(value, str):
            value = f"{value}s"
        if value is True:
            options.append(option)
        elif value is not None and value is not False:
            options.append(f"{option}={value}")
    return options
