#!/usr/bin/env python3
"""Builds Google Benchmark's own tests against include/benchmark and runs them as its CMakeLists.txt says.

    google_benchmark_api.py head=CHECKOUT v1.9.4=CHECKOUT ...   writes docs/validation/google_benchmark_api.md
    google_benchmark_api.py --show TEST head=CHECKOUT           prints what the compiler and the test say

Fetches nothing: every CHECKOUT is a folder with the files of one release of google/benchmark. Test files are copied
unchanged. Of the library's own sources they see three that test helpers need (check.h, re.h and log.h with the files
that those include), never its implementation.
"""

import argparse
import concurrent.futures
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "include" / "benchmark"
PAGE = ROOT / "docs" / "validation" / "google_benchmark_api.md"
CXX = os.environ.get("CXX", "g++")
WARNINGS = ["-Wall", "-Wextra", "-Wno-unused-variable", "-Wno-deprecated-declarations"]

# The test helpers ask the library's internals for one thing: the options of a console reporter without color.
HELPER_INTERNALS = """\
#include "benchmark/benchmark.h"
#include "{library}/src/options.h"
namespace benchmark {{
namespace internal {{
inline ConsoleReporter::OutputOptions GetOutputOptions(bool) {{
  return options().counters_tabular ? ConsoleReporter::OO_Tabular : ConsoleReporter::OO_None;
}}
}}  // namespace internal
}}  // namespace benchmark
"""

INTERNAL = "GoogleTest unit test of the library's internals"
REASONS = {
    "perf_counters_test": "needs libpfm, as with the library itself",
    "cxx03_test": "C++03; our header needs C++11, as the library does since 1.8",
}


class Release:
    """One checkout: its tests, and the commands that run them."""

    def __init__(self, name, checkout, work):
        self.name = name
        self.checkout = Path(checkout)
        self.work = work / name
        self.lists = (self.checkout / "test" / "CMakeLists.txt").read_text()
        for folder in ("test", "src"):
            shutil.copytree(self.checkout / folder, self.work / folder)
        (self.work / "src" / "benchmark_api_internal.h").write_text(HELPER_INTERNALS.format(library=LIBRARY))

    def tests(self):
        return sorted(file.stem for file in (self.work / "test").glob("*.cc") if file.stem != "output_test_helper")

    def commands(self, test):
        """The arguments of every run of `test`."""
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
        return "c++11" if self.name.startswith(("v1.5", "v1.6", "v1.7")) else "c++17"

    def support(self):
        """What the test helpers define and call besides the API."""
        helpers = [self.work / "test" / "output_test_helper.cc"]
        return helpers + [file for file in [self.work / "src" / "check.cc"] if file.exists()]


def run(command, **options):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", **options)


def compile_object(source, target, flags):
    result = run([CXX, "-c", source, "-o", target, "-I", LIBRARY.parent, *flags])
    return result.returncode == 0, result.stdout


def build_library(work):
    """Our library, at -O2 and without assertions, as users build it."""
    objects = []
    for source in sorted((LIBRARY / "src").glob("*.cc")):
        target = work / f"library_{source.stem}.o"
        built, output = compile_object(source, target, ["-std=c++17", "-O2", "-DNDEBUG"])
        if not built:
            sys.exit(f"error: {source} does not compile:\n{output}")
        objects.append(target)
    main = work / "library_main.o"
    for archive, members in (("libbenchmark.a", [o for o in objects if o != main]), ("libbenchmark_main.a", [main])):
        run(["ar", "rcs", work / archive, *members], check=True)


def build_support(release, flags):
    members = []
    for source in release.support():
        target = release.work / f"support_{source.stem}.o"
        built, output = compile_object(source, target, ["-std=c++17", *flags])
        if not built:
            return output
        members.append(target)
    run(["ar", "rcs", release.work / "libsupport.a", *members], check=True)
    return ""


def first_error(output):
    lines = [line for line in output.splitlines() if "error" in line or "undefined reference" in line]
    return re.sub(r"^\S*/", "", lines[0]) if lines else (output.strip().splitlines() or ["no output"])[-1]


def verdict(release, test, work, show):
    """'passes', or why not."""
    source = release.work / "test" / f"{test}.cc"
    if test.endswith("_gtest") and '"../src/' in source.read_text():
        return INTERNAL
    if test.endswith("_assembly_test"):
        return assembly_verdict(release, test, show)
    if test in REASONS:
        return REASONS[test]
    program = release.work / test
    flags = ["-O3", "-UNDEBUG", "-DTEST_BENCHMARK_LIBRARY_HAS_NO_ASSERTIONS", *WARNINGS]
    main = ["-lgmock_main", "-lgmock", "-lgtest"] if test.endswith("_gtest") else ["-lbenchmark_main"]
    result = run([CXX, f"-std={release.standard(test)}", *flags, source, "-o", program, "-I", LIBRARY.parent,
                  "-L", release.work, "-L", work, "-lsupport", *main, "-lbenchmark", "-pthread"])
    if show:
        print(result.stdout)
    if result.returncode != 0:
        return "does not build: " + first_error(result.stdout)
    commands = [[]] if test.endswith("_gtest") else release.commands(test)
    if not commands:
        return "builds; never run there either"
    for arguments in commands:
        try:
            result = run([program, *arguments], timeout=300, cwd=release.work)
        except subprocess.TimeoutExpired:
            return "does not end within 300 s"
        if show:
            print(shlex.join([test, *arguments]), result.stdout, sep="\n")
        if result.returncode != 0:
            return f"fails: {shlex.join(arguments)}: {first_error(result.stdout)}"
    return "passes" if len(commands) == 1 else f"passes ({len(commands)} runs)"


def assembly_verdict(release, test, show):
    """Whether the test's functions, or their loops, are the same instructions with the checkout's header and ours."""
    source = release.work / "test" / f"{test}.cc"
    theirs, ours = (functions(assembly(source, include)) for include in (release.checkout / "include", LIBRARY.parent))
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
                        for include in (Path(checkout) / "include", LIBRARY.parent))
        for name in theirs:
            if name.startswith("loop_"):
                cell = f"{len(loop(theirs[name]))} → {len(loop(ours[name]))}"
                rows.setdefault(name[len("loop_"):], []).append(cell)
    lines = ["| loop | " + " | ".join(" ".join(build) for build in builds) + " |", "| --- |" + " --- |" * len(builds)]
    return lines + [f"| {name} | " + " | ".join(cells) + " |" for name, cells in rows.items()]


def page(columns, loops):
    tests = sorted({test for results in columns.values() for test in results})
    passing = sum(result.startswith(("passes", "same")) for results in columns.values() for result in results.values())
    api = sum(result != INTERNAL for results in columns.values() for result in results.values())
    version = run([CXX, "--version"]).stdout.splitlines()[0]
    lines = [
        "# Google Benchmark's own tests against our library",
        "",
        "Written by `validation/google_benchmark_api.py`.",
        "",
        "`include/benchmark` has Google Benchmark's API. The tests of several releases of google/benchmark are compiled",
        f"against it unchanged, with {version}, and run with the arguments of their CMakeLists.txt.",
        f"**{passing} of {api} tests of the API pass.**",
        "",
        "| test | " + " | ".join(columns) + " |",
        "| --- |" + " --- |" * len(columns),
    ]
    for test in tests:
        cells = [columns[name].get(test, "–").replace("|", "\\|") for name in columns]
        lines.append(f"| `{test}` | " + " | ".join(cells) + " |")
    lines += ["", "## The loop", "",
              "Instructions in the loop of small benchmarks, Google Benchmark's header → ours. 0 is a loop that the",
              "compiler removed or unrolled.", "", *loops]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("releases", nargs="+", metavar="NAME=CHECKOUT")
    parser.add_argument("--show", metavar="TEST", help="try one test and print all output")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        build_library(work)
        columns = {}
        for text in options.releases:
            name, checkout = text.split("=", 1)
            release = Release(name, checkout, work)
            problem = build_support(release, ["-O1", "-UNDEBUG", "-w"])
            if problem:
                sys.exit(f"error: the test helpers of {name} do not compile:\n{problem}")
            tests = [options.show] if options.show else release.tests()
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                results = pool.map(lambda test: verdict(release, test, work, options.show), tests)
                columns[name] = dict(zip(tests, results))
            for test, result in columns[name].items():
                print(f"{name:8} {test:40} {result}", flush=True)
    if not options.show:
        PAGE.write_text(page(columns, loop_table(options.releases[0].split("=", 1)[1])))


if __name__ == "__main__":
    main()
