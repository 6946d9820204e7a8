#!/usr/bin/env python3
"""Builds Google Benchmark's own tests against include/google_benchmark/benchmark and runs them as its CMakeLists.txt says.

    google_benchmark_api.py head=CHECKOUT v1.9.4=CHECKOUT ...   writes docs/validation/google_benchmark_api.md
    google_benchmark_api.py --show TEST head=CHECKOUT           prints what the compiler and the test say

Fetches nothing: every CHECKOUT is a folder with the files of one release of google/benchmark. Test files are copied
unchanged. Of the library's own sources they see what the test helpers need (check.h, re.h, log.h and what those
include), never its implementation. A test that fails is tried with the library of the first checkout as well, since
the output has changed from release to release. With --results, verdicts are kept in a file and not sought again.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OURS = ROOT / "include" / "google_benchmark" / "benchmark"
PAGE = ROOT / "docs" / "validation" / "google_benchmark_api.md"
CXX = os.environ.get("CXX", "g++")
WARNINGS = ["-Wall", "-Wextra", "-Wno-unused-variable", "-Wno-deprecated-declarations"]
# Macros of earlier releases that the current one has no longer, but old tests use.
OLD_MACROS = ["-DBENCHMARK_OVERRIDE=override", "-DBENCHMARK_NOEXCEPT=noexcept", "-DBENCHMARK_NOEXCEPT_OP(x)=noexcept(x)"]
ASSERTIONS = ["-UNDEBUG", "-DTEST_BENCHMARK_LIBRARY_HAS_NO_ASSERTIONS", "-DBENCHMARK_STATIC_DEFINE", *OLD_MACROS]

# The test helpers ask the library's internals for one thing: the options of a console reporter without color.
OUR_INTERNALS = f"""\
#include "benchmark/benchmark.h"
#include "{OURS}/src/options.h"
namespace benchmark {{
namespace internal {{
inline ConsoleReporter::OutputOptions GetOutputOptions(bool) {{
  return options().counters_tabular ? ConsoleReporter::OO_Tabular : ConsoleReporter::OO_None;
}}
}}  // namespace internal
}}  // namespace benchmark
"""
THEIR_INTERNALS = """\
#include "benchmark/benchmark.h"
namespace benchmark {
namespace internal {
ConsoleReporter::OutputOptions GetOutputOptions(bool force_no_color = false);
}  // namespace internal
}  // namespace benchmark
"""

INTERNAL = "GoogleTest unit test of the library's internals"
REASONS = {
    "perf_counters_test": "needs libpfm, as with the library itself",
    "cxx03_test": "C++03; our header needs C++11, as the library does since 1.8",
}


class Library:
    """A library to build tests against: ours, or that of a checkout."""

    def __init__(self, name, include, sources, main, internals, work):
        self.name, self.include, self.internals = name, include, internals
        self.folder = work / f"library {name}"
        self.folder.mkdir()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            objects = list(pool.map(self.compile, sources))
        self.archive("libbenchmark.a", objects)
        self.archive("libbenchmark_main.a", [self.compile(main)])

    def compile(self, source):
        """As users build it: optimized and without assertions."""
        target = self.folder / f"{source.stem}.o"
        run([CXX, "-std=c++17", "-O2", "-DNDEBUG", "-DBENCHMARK_STATIC_DEFINE", "-w", "-c", source, "-o", target,
             "-I", self.include], check=True)
        return target

    def archive(self, name, objects):
        run(["ar", "rcs", self.folder / name, *objects], check=True)

    @staticmethod
    def ours(work):
        main = OURS / "src" / "main.cc"
        sources = [file for file in sorted((OURS / "src").glob("*.cc")) if file != main]
        return Library("ours", OURS.parent, sources, main, OUR_INTERNALS, work)

    @staticmethod
    def theirs(name, checkout, work):
        main = checkout / "src" / "benchmark_main.cc"
        sources = [file for file in sorted((checkout / "src").glob("*.cc")) if file != main]
        return Library(name, checkout / "include", sources, main, THEIR_INTERNALS, work)


class Tests:
    """The tests of one release, to be built against one library."""

    def __init__(self, release, checkout, library, work):
        self.release, self.checkout, self.library = release, checkout, library
        self.lists = (checkout / "test" / "CMakeLists.txt").read_text()
        self.folder = work / f"{release} with {library.name}"
        for name in ("test", "src"):
            shutil.copytree(checkout / name, self.folder / name)
        (self.folder / "src" / "benchmark_api_internal.h").write_text(library.internals)
        self.build_helpers()

    def names(self):
        return sorted(file.stem for file in (self.folder / "test").glob("*.cc") if file.stem != "output_test_helper")

    def source(self, test):
        return self.folder / "test" / f"{test}.cc"

    def is_internal(self, test):
        return test.endswith("_gtest") and '"../src/' in self.source(test).read_text()

    def build_helpers(self):
        """What the tests call besides the API."""
        helpers = [self.source("output_test_helper")]
        check = self.folder / "src" / "check.cc"
        if self.library.name == "ours" and check.exists():
            helpers.append(check)
        objects = []
        for source in helpers:
            target = self.folder / f"{source.stem}.o"
            run([CXX, "-std=c++17", "-O1", *ASSERTIONS, "-w", "-c", source, "-o", target, "-I", self.library.include],
                check=True)
            objects.append(target)
        run(["ar", "rcs", self.folder / "libhelpers.a", *objects], check=True)

    def commands(self, test):
        """The arguments of every run of `test`."""
        if test.endswith("_gtest"):
            return [[]]
        if test == "filter_test":
            return self.filter_commands()
        lines = re.findall(r"add_test\((?:NAME )?\S+ (?:COMMAND )?(\S+)([^)\n$]*)(\$\{\w+\})?\)", self.lists)
        # The one variable is a time.
        return [shlex.split(arguments + ("0.01" if variable else ""))
                for name, arguments, variable in lines if name == test]

    def filter_commands(self):
        seconds = re.search(r"filter_test --benchmark_min_time=(\S+)", self.lists).group(1)
        cases = re.findall(r'add_filter_test\(\w+ "([^"]*)" (\d+)\)', self.lists)
        return [[flag, f"--benchmark_filter={pattern}", count] for pattern, count in cases
                for flag in (f"--benchmark_min_time={seconds}", "--benchmark_list_tests")]

    def standard(self, test):
        if test == "cxx11_test":
            return "c++11"
        if test.endswith("_gtest"):  # GoogleTest needs C++14
            return "c++17"
        return "c++11" if self.release.startswith(("v1.5", "v1.6", "v1.7")) else "c++17"

    def build(self, test):
        main = ["-lgmock_main", "-lgmock", "-lgtest"] if test.endswith("_gtest") else ["-lbenchmark_main"]
        return run([CXX, f"-std={self.standard(test)}", "-O3", *ASSERTIONS, *WARNINGS, self.source(test),
                    "-o", self.folder / test, "-I", self.library.include, "-L", self.folder, "-L", self.library.folder,
                    "-lhelpers", *main, "-lbenchmark", "-pthread"])

    def problem(self, test, show=False):
        """Why `test` does not pass; empty if it does."""
        built = self.build(test)
        if show:
            print(built.stdout)
        if built.returncode != 0:
            return "does not build: " + first_error(built.stdout)
        for arguments in self.commands(test):
            try:
                done = run([self.folder / test, *arguments], timeout=300, cwd=self.folder)
            except subprocess.TimeoutExpired:
                return "does not end within 300 s"
            if show:
                print(shlex.join([test, *arguments]), done.stdout, sep="\n")
            if done.returncode != 0:
                return f"fails: {shlex.join(arguments)}: {first_error(done.stdout)}"
        return ""


def run(command, check=False, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", **options)
    if check and done.returncode != 0:
        sys.exit(f"error: {shlex.join(map(str, command))} failed:\n{done.stdout}")
    return done


def first_error(output):
    lines = [line for line in output.splitlines() if re.search(r"error|undefined reference|Check|Expected", line)]
    return re.sub(r"^\S*/", "", lines[0]) if lines else (output.strip().splitlines() or ["no output"])[-1]


def verdict(tests, reference, test, show):
    """'passes', or why not. `reference` builds the same tests against the first checkout's library."""
    if tests.is_internal(test):
        return INTERNAL
    if test.endswith("_assembly_test"):
        return assembly_verdict(tests, reference, test, show)
    if test in REASONS:
        return REASONS[test]
    problem = tests.problem(test, show)
    if problem:
        name = reference.library.name
        return f"fails, and with {name}'s own library, too" if reference.problem(test) else problem
    commands = tests.commands(test)
    if not commands:
        return "builds; is not run there either"
    return "passes" if len(commands) == 1 else f"passes ({len(commands)} runs)"


def assembly_verdict(tests, reference, test, show):
    """Whether the test's functions, or their loops, are the same instructions with the reference's header and ours."""
    theirs, ours = (functions(assembly(tests.source(test), library.include))
                    for library in (reference.library, tests.library))
    names = [name for name in theirs if name.startswith("test_")]
    what = "functions"
    if test == "state_assembly_test":
        # In front of its loop and at its end ours asks for a batch.
        what = "loops"
        theirs, ours = ({name: opcodes(loop(body)) for name, body in listing.items()} for listing in (theirs, ours))
    differ = [name for name in names if theirs[name] != ours.get(name)]
    if show:
        for name in differ:
            print(name, *("\n".join(listing.get(name, [])) for listing in (theirs, ours)), sep="\n---\n")
    return f"same machine code in {len(names) - len(differ)} of {len(names)} {what}"


def assembly(source, include, compiler=CXX, level="-O3"):
    result = run([compiler, "-std=c++17", level, "-DNDEBUG", "-S", "-o", "-", "-fno-stack-protector", "-w",
                  "-DBENCHMARK_STATIC_DEFINE", "-I", include, source])
    if result.returncode != 0:
        sys.exit(f"error: {source} does not compile:\n{result.stdout}")
    return result.stdout


def functions(listing):
    """The instructions and labels of each function, with labels numbered by appearance."""
    found, name, labels = {}, None, {}
    for line in listing.splitlines():
        symbol = re.match(r"^(\w+):", line)
        if symbol:
            name, labels = symbol.group(1), {}
            found[name] = []
        elif line.startswith("\t.cfi_endproc"):
            name = None
        elif name and not line.startswith("\t.") and line.split("#")[0].strip():
            number = lambda match: labels.setdefault(match.group(0), f".L{len(labels)}")
            found[name].append(re.sub(r"\.L\w+", number, line.split("#")[0].strip()))
    return found


def loop(body):
    """The innermost loop that counts iterations down; empty if the compiler removed it."""
    starts, loops = {}, []
    for i, line in enumerate(body):
        if line.endswith(":"):
            starts[line[:-1]] = i
        elif line.startswith("j") and line.split()[-1] in starts:
            lines = [word for word in body[starts[line.split()[-1]]:i + 1] if not word.endswith(":")]
            if any(re.match(r"(sub\w*\t\$1,|add\w*\t\$-1,)", word) for word in lines):
                loops.append(lines)
    return min(loops, key=len, default=[])


def opcodes(lines):
    return [line.split()[0] for line in lines]


def loop_table(checkout):
    """The length of the loops of small benchmarks, with the checkout's header and with ours."""
    source = ROOT / "validation" / "google_benchmark_loops.cc"
    builds = [(compiler, level) for compiler in ("g++", "clang++") for level in ("-O2", "-O3")]
    rows = {}
    for compiler, level in builds:
        theirs, ours = (functions(assembly(source, include, compiler, level))
                        for include in (Path(checkout) / "include", OURS.parent))
        for name in theirs:
            if name.startswith("loop_"):
                cell = f"{len(loop(theirs[name]))} → {len(loop(ours[name]))}"
                rows.setdefault(name[len("loop_"):], []).append(cell)
    lines = ["| loop | " + " | ".join(" ".join(build) for build in builds) + " |", "| --- |" + " --- |" * len(builds)]
    return lines + [f"| {name} | " + " | ".join(cells) + " |" for name, cells in rows.items()]


def page(columns, loops):
    tests = sorted({test for results in columns.values() for test in results})
    passing = sum(result.startswith(("passes", "same")) for results in columns.values() for result in results.values())
    outdated = sum(result.startswith("fails, and with") for results in columns.values() for result in results.values())
    api = sum(result != INTERNAL for results in columns.values() for result in results.values())
    version = run([CXX, "--version"]).stdout.splitlines()[0]
    lines = [
        "# Google Benchmark's own tests against our library",
        "",
        "Written by `validation/google_benchmark_api.py`.",
        "",
        "`include/google_benchmark/benchmark` has Google Benchmark's API. The tests of several releases of google/benchmark are",
        f"compiled against it unchanged, with {version}, and run with the arguments of their CMakeLists.txt.",
        f"**{passing} of {api} tests of the API pass.** {outdated} tests of old releases fail with the library of {next(iter(columns))} itself, too,",
        "because the output of the library has changed since these releases.",
        "",
        "| test | " + " | ".join(columns) + " |",
        "| --- |" + " --- |" * len(columns),
    ]
    for test in tests:
        cells = [columns[name].get(test, "–").replace("|", "\\|") for name in columns]
        lines.append(f"| `{test}` | " + " | ".join(cells) + " |")
    lines += ["", "## The loop", "",
              "The table has the number of instructions in the loop of small benchmarks. The number before the arrow is with",
              "Google Benchmark's header, and the number after the arrow is with deadheat's header. 0 means that the compiler",
              "removed or unrolled the loop.", "", *loops]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("releases", nargs="+", metavar="NAME=CHECKOUT")
    parser.add_argument("--show", metavar="TEST", help="try one test and print all output")
    parser.add_argument("--results", type=Path, metavar="FILE", help="go on where an earlier run stopped")
    options = parser.parse_args()
    releases = {name: Path(checkout).resolve() for name, checkout in (text.split("=", 1) for text in options.releases)}
    results = Results(options.results)
    with tempfile.TemporaryDirectory() as folder:
        compare(releases, Path(folder), options.show, results)
    if not options.show:
        PAGE.write_text(page(results.columns, loop_table(next(iter(releases.values())))))


class Results:
    """The verdicts by release and test, and the file that keeps them."""

    def __init__(self, file):
        self.file = file
        self.columns = json.loads(file.read_text()) if file and file.exists() else {}

    def has(self, release, test):
        return test in self.columns.get(release, {})

    def add(self, release, test, verdict):
        print(f"{release:8} {test:40} {verdict}", flush=True)
        self.columns.setdefault(release, {})[test] = verdict
        if self.file:
            self.file.write_text(json.dumps(self.columns, indent=1))


def compare(releases, work, only, results):
    """Finds the verdict on every test of every release."""
    first, checkout = next(iter(releases.items()))
    ours, theirs = Library.ours(work), Library.theirs(first, checkout, work)
    for release, checkout in releases.items():
        tests, reference = (Tests(release, checkout, library, work) for library in (ours, theirs))
        names = [test for test in ([only] if only else tests.names()) if not results.has(release, test)]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for test, result in zip(names, pool.map(lambda test: verdict(tests, reference, test, only), names)):
                results.add(release, test, result)


if __name__ == "__main__":
    main()
