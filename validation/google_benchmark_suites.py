#!/usr/bin/env python3
"""Races public C++ suites by `deadheat rev --cmake`: each against itself, and between two releases.

    google_benchmark_suites.py measure NAME CHECKOUT OLD NEW TARGET [--configure WORDS] [--filter NAME]...
    google_benchmark_suites.py tried NAME OLD NEW TARGET ROWS RESULT [--configure WORDS]
    google_benchmark_suites.py page

`tried` adds a suite that was built and raced by hand, and what came of it. `measure` appends to validation/data/google_benchmark_suites.jsonl. CHECKOUT is a clone of the project with the tags OLD
and NEW; nothing is fetched, so WORDS name local copies of what the project would. With --compare-py CHECKOUT of
google/benchmark, the same rows are compared by its compare.py, too: 10 repetitions, interleaved at random, of executables
with Google Benchmark's own library. Nothing else may run on the machine. `page` writes
docs/validation/google_benchmark.md.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from math import comb
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "validation" / "data" / "google_benchmark_suites.jsonl"
PAGE = ROOT / "docs" / "validation" / "google_benchmark.md"
DEADHEAT = os.environ.get("DEADHEAT", str(ROOT / "target" / "release" / "deadheat"))
# The budget of a race, in seconds a row.
SECONDS_PER_ROW = 5
ALPHA = 0.05


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    measured = commands.add_parser("measure")
    for name in ["name", "checkout", "old", "new", "target"]:
        measured.add_argument(name)
    measured.add_argument("--folder", default=".", help="of the CMake project, if it is not the root of the checkout")
    measured.add_argument("--configure", default="")
    measured.add_argument("--filter", action="append", default=[])
    measured.add_argument("--build", default="", help="how the project builds: the way to the library")
    measured.add_argument("--compare-py", metavar="CHECKOUT")
    measured.add_argument("--own-configure", default="", help="of executables with Google Benchmark's own library")
    tried = commands.add_parser("tried")
    for name in ["name", "old", "new", "target", "rows", "result"]:
        tried.add_argument(name)
    tried.add_argument("--configure", default="")
    commands.add_parser("page")
    options = parser.parse_args()
    if options.command == "page":
        PAGE.write_text(page([json.loads(line) for line in DATA.read_text().splitlines()]))
    elif options.command == "tried":
        add({
            "suite": options.name,
            "old": options.old,
            "new": options.new,
            "target": options.target,
            "configure": generic(options.configure),
            "filter": [],
            "rows": options.rows,
            "tried": options.result,
        })
    else:
        measure(options)


def measure(options):
    record = {
        "suite": options.name,
        "old": options.old,
        "new": options.new,
        "target": options.target,
        "configure": generic(options.configure),
        "filter": options.filter,
        "build": options.build,
    }
    rows = len(listed(options))
    if rows == 0:
        sys.exit("no benchmarks")
    budget = f"{SECONDS_PER_ROW * rows}s"
    record["copies"] = raced(options, options.new, options.new, budget)
    record["releases"] = raced(options, options.old, options.new, budget)
    if options.compare_py:
        record["compare_py"] = compared(options)
    add(record)


def add(record):
    with DATA.open("a") as data:
        data.write(json.dumps(record) + "\n")


def generic(words):
    """Without the folders of this machine."""
    return " ".join(
        word.split("=", 1)[0] + "=…" if "=" in word and "/" in word.split("=", 1)[1] else word
        for word in shlex.split(words)
    )


def rev(options, old, new, *words):
    command = [DEADHEAT, "rev", f"{old}..{new}", "--cmake", options.target, "--no-config", *words]
    if options.configure:
        command.append(f"--configure={options.configure}")
    folder = Path(options.checkout) / options.folder
    return subprocess.run([*command, *options.filter], cwd=folder, text=True, capture_output=True)


def listed(options):
    done = rev(options, options.old, options.new, "--list")
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout.splitlines()


def raced(options, old, new, budget):
    """Both sides are built before, by `listed` or for the race before."""
    built = rev(options, old, new, "--no-run")
    if built.returncode != 0:
        sys.exit(built.stderr)
    start = time.monotonic()
    done = rev(options, old, new, "--json", "--budget", budget)
    seconds = time.monotonic() - start
    if not done.stdout:
        sys.exit(done.stderr)
    answer = json.loads(done.stdout)
    rows = [
        {
            "row": row["benchmark"],
            "verdict": row["verdict"],
            "provisional": row["provisional"],
            "change": row["change"],
            "ci": row["ci"],
            "scope": row.get("scope"),
        }
        for row in answer["benchmarks"]
    ]
    return {"seconds": round(seconds, 1), "own_library": "launch by launch" in done.stderr, "rows": rows}


def compared(options):
    """By compare.py: the rows whose real times it tells apart at 5%."""
    with tempfile.TemporaryDirectory() as folder:
        old, new = (own_executable(options, commit, Path(folder) / name)
                    for commit, name in [(options.old, "old"), (options.new, "new")])
        copy = Path(folder) / "copy"
        shutil.copy2(new, copy)
        return {"copies": told_apart(options, new, copy), "releases": told_apart(options, old, new)}


def own_executable(options, commit, build):
    source = build.with_suffix(".source")
    subprocess.run(["git", "worktree", "add", "--quiet", "--detach", source, commit],
                   cwd=options.checkout, check=True)
    try:
        words = shlex.split(options.configure) + shlex.split(options.own_configure)
        quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(["cmake", "-S", source / options.folder, "-B", build, "-DCMAKE_BUILD_TYPE=Release", *words], **quiet)
        subprocess.run(["cmake", "--build", build, "--target", options.target, "-j2"], **quiet)
        return next(path for path in build.rglob(options.target) if path.is_file() and os.access(path, os.X_OK))
    finally:
        subprocess.run(["git", "worktree", "remove", "--force", source], cwd=options.checkout, check=True)


def told_apart(options, old, new):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        words = ["--benchmark_repetitions=10", "--benchmark_enable_random_interleaving=true"]
        if options.filter:
            words.append("--benchmark_filter=" + "|".join(options.filter))
        start = time.monotonic()
        script = Path(options.compare_py) / "tools" / "compare.py"
        subprocess.run([sys.executable, script, "-d", out.name, "benchmarks", old, new, *words],
                       check=True, stdout=subprocess.DEVNULL)
        seconds = time.monotonic() - start
        rows = json.loads(Path(out.name).read_text())
    tests = [row for row in rows if row.get("utest")]
    return {
        "seconds": round(seconds, 1),
        "rows": len(tests),
        "called": sum(row["utest"]["time_pvalue"] < ALPHA for row in tests),
    }


def count(rows, *verdicts):
    return sum(row["verdict"] in verdicts for row in rows)


def upper_bound(hits, of):
    """Of the rate, by Clopper and Pearson, 95% one-sided."""
    if hits == of:
        return 1.0
    low, high = hits / of, 1.0
    for _ in range(60):
        rate = (low + high) / 2
        at_most = sum(comb(of, k) * rate**k * (1 - rate) ** (of - k) for k in range(hits + 1))
        low, high = (rate, high) if at_most > 0.05 else (low, rate)
    return high


def percent(change):
    return f"{100 * change:+.1f}%".replace("-", "−")


def page(records):
    tried = [record for record in records if "tried" in record]
    measured = list({record["suite"]: record for record in records if "copies" in record}.values())
    lines = [
        "# Public C++ suites",
        "",
        "Written by `validation/google_benchmark_suites.py` from `validation/data/google_benchmark_suites.jsonl`.",
        "",
        "The suites of these public projects race without a changed line, by one command: `deadheat rev OLD..NEW --cmake TARGET`.",
        "This command compiles them with",
        "[deadheat's implementation of Google Benchmark's interface](../google_benchmark.md#deadheats-own-library).",
        "",
        "## Suites that were tried",
        "",
        "| suite | target | commits | benchmarks | result |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {record['suite']} | {code(record['target'])} | {record['old']} → {record['new']} | {record['rows']} | {record['tried']} |"
        for record in tried
    ]
    lines += measured_part(measured) if measured else []
    lines += ["", "## Commands", "", "```sh"]
    seen = set()
    for record in tried + measured:
        words = ["deadheat", "rev", f"{record['old']}..{record['new']}", "--cmake", record["target"], *record["filter"]]
        configure = f" --configure={shlex.quote(record['configure'])}" if record["configure"] else ""
        line = f"{shlex.join(words)}{configure}   # {record['suite']}"
        if line not in seen and record["target"] != "–":
            lines.append(line)
        seen.add(line)
    lines += ["```", "", "`…` is a local copy of what the project would download.", ""]
    return "\n".join(lines)


def table_row(cells):
    return "| " + " | ".join(map(str, cells)) + " |"


def code(target):
    return "–" if target == "–" else f"`{target}`"


def measured_part(records):
    has_compare_py = any("compare_py" in record for record in records)
    lines = [
        "",
        "## Copies and releases",
        "",
        "In the columns of copies, the newer release races against itself, so every row that is called faster or slower is a",
        f"false positive. A race takes at most {SECONDS_PER_ROW} s per benchmark.",
        "",
    ]
    columns = ["suite", "rows", "copies: called", "dead heats", "time", "releases", "faster, slower", "time"]
    if has_compare_py:
        columns += ["compare.py: copies called", "releases called"]
        lines += [
            "The last two columns are results of `compare.py`, the script of Google Benchmark. The script compares executables with",
            "the library that the project names, by 10 repetitions, interleaved at random. A row counts as called if the real times",
            "differ at the 5% level.",
            "",
        ]
    lines += [table_row(columns), table_row(["---"] * len(columns))]
    all_rows, all_called, all_equal = 0, 0, 0
    for record in records:
        copies, releases = record["copies"], record["releases"]
        rows = copies["rows"]
        called, equal = count(rows, "faster", "slower"), count(rows, "equivalent")
        all_rows += len(rows)
        all_called += called
        all_equal += equal
        moved = releases["rows"]
        cells = [
            f"{record['suite']} `{record['target']}`",
            len(rows),
            called,
            equal,
            f"{copies['seconds']:.0f} s",
            f"{record['old']} → {record['new']}",
            f"{count(moved, 'faster')}, {count(moved, 'slower')}",
            f"{releases['seconds']:.0f} s",
        ]
        if has_compare_py:
            theirs = record.get("compare_py")
            cells += [f"{theirs[kind]['called']} of {theirs[kind]['rows']}" if theirs else "–" for kind in ["copies", "releases"]]
        lines.append(table_row(cells))
    lines += [
        "",
        f"In the copies of all suites, {all_called} of {all_rows} rows were called faster or slower. The 95% one-sided upper bound is "
        f"{100 * upper_bound(all_called, all_rows):.1f}%, and the target is 5%. {all_equal} rows were dead heats "
        f"({100 * all_equal / all_rows:.0f}%; target: 90%).",
    ]
    changed = []
    for record in records:
        for row in record["releases"]["rows"]:
            if row["verdict"] in ("faster", "slower"):
                low, high = map(percent, row["ci"])
                changed.append(f"| {record['suite']} | `{row['row']}` | {percent(row['change'])} | [{low}, {high}] |")
    if changed:
        head = ["", "### Rows that the releases changed", "", "| suite | row | change | 95% CI |", "| --- | --- | --- | --- |"]
        lines += head + changed
    return lines


if __name__ == "__main__":
    main()
