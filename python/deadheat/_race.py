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
from deadheat._result import Result, rows_of
from deadheat._settings import as_options, in_python_words
from deadheat._travel import importable, packed, resolved, script_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Unpack

    from deadheat._settings import Settings


def race(
    old: Callable[..., Any] | str,
    new: Callable[..., Any] | str,
    input: Callable[[int], Any] | str | None = None,
    *,
    input_per_call: bool | None = None,
    drain: bool | Callable[[Any], Any] | None = None,
    check_outputs: bool | Callable[[Any, Any], bool] = False,
    rtol: float = 0.0,
    atol: float = 0.0,
    gc: bool = True,
    device: str | None = None,
    cache: str = "warm",
    name: str | None = None,
    names: tuple[str, str] | None = None,
    **settings: Unpack[Settings],
) -> Result:
    """Races two functions and returns the answer: is `new` faster than `old`?

    old, new: functions, or their import paths, as `"package.module:function"`. They take the input
        as their only argument, or nothing without `input`.
    input: makes the input from a seed, an integer from 0 to 2⁵³ − 1. Its time is not measured.
    input_per_call: True makes an input for every call, which may change it; False gives all calls
        of a block one input; None lets the pilot decide.
    drain: what computes an output that is not computed yet, within the timed call: True exhausts
        an iterator, `list` makes a list of it.
    check_outputs: `True` compares the outputs by `==`, where NaN equals NaN; a function of two
        outputs returns whether they agree.
    rtol, atol: with `check_outputs=True`, numbers agree if they differ by at most
        `atol + rtol * abs(number of old)`.
    gc: collect garbage while calls are timed, as it is by default.
    device: `"cuda"` or `"cuda:1"` times the calls on that GPU, by events of torch, CuPy or Numba,
        and judges `metric="gpu"`; `"cpu"` (the default) times them by the clock of the host.
    cache: `"cold"` empties the L2 cache of the GPU before every call, `"warm"` leaves it.
    name, names: the name of the benchmark and those of the two functions, for the answer.
    settings: see `deadheat.Settings`; `margin=0.02`, `max_replicates=40`, `budget=10` (seconds).

    Raises `CannotTravel` if a function holds what cannot be sent to another process, `RaceFailed`
    if a function fails, and `UsageError` if the settings make no sense.
    """
    if channel is not None:
        raise UsageError("a worker of deadheat cannot race: end the file with deadheat.suite()")
    functions = {"old": resolved(old, "old"), "new": resolved(new, "new")}
    if names is None:
        names = names_of(functions["old"], functions["new"])
    if len(set(names)) != 2:
        raise UsageError(f"names must be two names, not {names!r}")
    if input is not None:
        functions["input"] = resolved(input, "input")
    name = name or f"{names[0]} and {names[1]}"
    chosen = as_options(settings)
    options: dict[str, Any] = {"input_per_call": input_per_call, "drain": drain, "gc": gc}
    options |= {"check_outputs": check_outputs, "rtol": rtol, "atol": atol}
    options |= {"device": device, "cache": cache}
    contenders = dict(zip(names, [functions["old"], functions["new"]]))
    # Refuses what makes no sense, before anything is started.
    planned = Benchmark(name, contenders, input=functions.get("input"), **options)
    if planned.gpu is not None and settings.get("callgrind"):
        raise UsageError("callgrind counts instructions of the CPU: leave device out, or callgrind")
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
        answer = json.loads(run(["bench", command, *fixed, *chosen], folder))
        if "failure" in answer or "failures" in answer:
            failures = [failed["message"] for failed in answer.get("failures", [])]
            raise RaceFailed(in_python_words("; ".join(failures) or answer["failure"]))
        with open(paths["run"], "rb") as recorded:
            record = recorded.read()
        return Result(answer, rows_of(paths["csv"]), record)


def names_of(old: Callable[..., Any], new: Callable[..., Any]) -> tuple[str, str]:
    """The names of two functions, or `old` and `new` where these tell nothing."""
    found = name_of(old), name_of(new)
    return ("old", "new") if found[0] == found[1] or "<lambda>" in found else found
