"""The settings of `race`, and their translation into options of the program."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Literal, TypedDict

from deadheat._errors import UsageError


class Settings(TypedDict, total=False):
    """Settings of a race. Times are seconds, or strings with a unit such as `"200ms"`."""

    margin: float | str
    """The smallest change in time worth acting on, as a fraction: 0.01 (the default), or `"1%"`."""
    alpha: float
    """The accepted probability of a wrong verdict, above 0 and at most 0.5 (default 0.05)."""
    metric: str
    """The metric to judge: `"wall"` (the default; `"gpu"` with a device), `"cpu"`, …"""
    quantile: float | str
    """Judge this quantile of single calls, above 0 and below 1, instead of their typical time."""
    max_replicates: int
    """The largest number of replicates; each is a fresh process."""
    blocks: int
    """Blocks in a replicate, of four samples each. A calibration run chooses them by default."""
    control: bool
    """Race the baseline against a copy of itself as well."""
    budget: float | str
    """Start no block after this time, in seconds."""
    sample_time: float | str
    """The shortest duration of a sample, in seconds. A calibration run chooses it by default."""
    timeout: float | str
    """Kill a worker whose sample takes longer, in seconds (default 60), or `"none"`."""
    pin: int | str
    """Cores for the workers: `"auto"` (a random core per replicate), `"none"`, or `"2,3"`."""
    waiting: Literal["auto", "keep"]
    """Scheduling delay: `"auto"` subtracts it unless the race caused it, `"keep"` does not."""
    seed: int
    """The seed of all random choices, from 0 to 2⁶⁴ − 1. Random by default."""
    callgrind: bool
    """Count instructions by callgrind and judge them, instead of times."""
    html: str | os.PathLike[str]
    """Write a page with every plot, figure and warning to this file."""
    junit: str | os.PathLike[str]
    """Write the verdicts to this file as JUnit test cases, for CI services."""
    svg: str | os.PathLike[str]
    """Write every plot as an SVG into this folder."""
    png: str | os.PathLike[str]
    """Write every plot as a PNG into this folder."""
    export_json: str | os.PathLike[str]
    """Write summaries and all times to this file, in hyperfine's JSON format."""
    export_hdr: str | os.PathLike[str]
    """Write the wall times to this file, as an HDR histogram log."""
    export_markdown: str | os.PathLike[str]
    """Write the answer to this file, as a table of Markdown."""
    export_google_benchmark: str | os.PathLike[str]
    """Write the candidate to this file, in Google Benchmark's JSON format."""
    export_google_baseline: str | os.PathLike[str]
    """Write the baseline to this file, in Google Benchmark's JSON format."""
    export_go: str | os.PathLike[str]
    """Write every sample to this file, as Go's benchmarks print them."""
    export_smaller_is_better: str | os.PathLike[str]
    """Write the candidate to this file, for github-action-benchmark."""
    export_bmf: str | os.PathLike[str]
    """Write the candidate to this file, in the Bencher Metric Format."""


# What to do instead of a setting that would do nothing for a returned result.
VERDICT = "look at result.verdict, or assert in a test: race(old, new).not_slower('2%')"
PRINTS = "print(result) prints the answer, and result.page(FILE) writes the full report"
ONE_PAIR = "race() has one benchmark; files of benchmarks have several (deadheat.benchmark)"
WITHOUT_EFFECT = {
    "fail_on": VERDICT,
    "allow_unjudged": VERDICT,
    "confirm": f"race again if the verdict matters; {VERDICT}",
    "markdown": "race returns its answer: export_markdown='FILE' writes a table of it",
    "verbose": PRINTS,
    "figures": "result.json has the secondary figures",
    "plot": "a notebook shows a plot, and result.page(FILE) writes all plots",
    "color": PRINTS,
    "nocapture": "call the function itself to see what it prints",
    "skip": ONE_PAIR,
    "exact": ONE_PAIR,
    "ignored": ONE_PAIR,
    "include_ignored": ONE_PAIR,
    "harness": "race() calls functions of Python",
    "python": "workers run this Python; `deadheat bench FILE --python OLD --python NEW` races two",
    "config": "give the margin itself: margin=0.02",
    "arrangement": "only launches of programs are arranged",
    "placement": "functions of Python are not linked",
    "shard": "parts of a race are merged from run files: `deadheat bench FILE --shard 1/4`",
    "shard_by": "parts of a race are merged from run files: `deadheat bench FILE --shard 1/4`",
}

NAMES = frozenset(Settings.__annotations__)
WHOLE_NUMBERS = {"max_replicates", "blocks", "seed"}
FLAGS = {"control", "callgrind"}
TIMES = {"budget", "timeout", "sample_time"}
# The other arguments of `race`, to suggest if the user misspells one.
ARGUMENTS = ["input", "input_per_call", "check_outputs", "rtol", "atol", "gc", "name", "names"]
ARGUMENTS += ["device", "cache"]


def as_options(settings: Mapping[str, Any]) -> list[str]:
    """Translates settings to options: `max_replicates=40` becomes `--max-replicates=40`."""
    options = []
    for name, value in settings.items():
        refuse_what_is_wrong(name, value)
        option = "--" + name.replace("_", "-")
        if name in TIMES and not isinstance(value, str):
            value = f"{value}s"
        if value is True:
            options.append(option)
        elif value is not None and value is not False:
            options.append(f"{option}={os.fspath(value) if is_path(value) else value}")
    return options


def is_path(value: Any) -> bool:
    return isinstance(value, os.PathLike)


def refuse_what_is_wrong(name: str, value: Any) -> None:
    if name in WITHOUT_EFFECT:
        raise UsageError(f"race() does not use {name!r}: {WITHOUT_EFFECT[name]}")
    if name not in NAMES:
        alike = get_close_matches(name, [*NAMES, *ARGUMENTS], 1)
        advice = f"; did you mean {alike[0]!r}?" if alike else ""
        raise UsageError(f"race() has no setting {name!r}{advice}")
    if value is None:
        return
    if name in FLAGS and not isinstance(value, bool):
        raise UsageError(f"{name} must be True or False, not {value!r}")
    if name in WHOLE_NUMBERS and (not isinstance(value, int) or isinstance(value, bool)):
        raise UsageError(f"{name} must be a whole number, not {value!r}")
    if name in WHOLE_NUMBERS and value < 0:
        raise UsageError(f"{name} must not be negative: {value!r}")
    if name in TIMES and not isinstance(value, (int, float, str)):
        raise UsageError(f"{name} must be a number of seconds, not {value!r}")
    if name in TIMES and not isinstance(value, str) and not 0 < value < 10**8:
        raise UsageError(f"{name} must be a number of seconds above 0, not {value!r}")


OPTION = re.compile(r"--([a-z][a-z-]*[a-z])( <[A-Z]+>)?(?![a-z-])")
WITH_VALUE = re.compile(r"--(metric|pin) ([a-z-]+)(?![a-z])")
# `race` keeps no run file that could be resumed.
RESUME = re.compile(r",?\s+or\s+continue\s+with\s+deadheat\s+bench\s+--resume\s+FILE")


def in_python_words(text: str) -> str:
    """Replaces options in a message of the program by settings: `--max-replicates` becomes
    `max_replicates`, `--pin auto` becomes `pin="auto"`. Keeps other options."""
    text = WITH_VALUE.sub(r'\1="\2"', RESUME.sub("", text))

    def setting(option: re.Match[str]) -> str:
        name = option[1].replace("-", "_")
        return name if name in NAMES else option[0]

    return OPTION.sub(setting, text)


REFUSED_VALUE = re.compile(r"invalid value '.*?' for '(\w+)': ")


def error_in_python_words(said: str) -> str:
    """The error that the program wrote to standard error, as one line. Drops its advice on the
    command line, because the user did not type one."""
    lines = said.strip().splitlines()
    begins = [n for n, line in enumerate(lines) if re.match(r"error: ", line)]
    lines = lines[begins[-1] :] if begins else lines
    kept: list[str] = []
    for line in lines:
        line = line.strip()
        if not line or line.startswith("help: "):
            break
        kept.append(line)
    text = re.sub(r"^(error: )?", "", " ".join(kept))
    return REFUSED_VALUE.sub(r"\1: ", in_python_words(text))
