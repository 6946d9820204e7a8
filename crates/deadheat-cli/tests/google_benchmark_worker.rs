//! include/google_benchmark/benchmark: deadheat races suites written for Google Benchmark, and CMake puts the library in
//! the place of Google Benchmark's own.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use common::worker::{Worker, block, prepare, repository};
use common::{Finished, Track, text};
use deadheat_testing::needs;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Rows of every kind; `WORK` is what one iteration of `work` does.
const SUITE: &str = r#"
#include <benchmark/benchmark.h>
#include <list>
#include <vector>
using benchmark::State;

static void spend(int steps)
{
    for (int i = 0; i < steps; ++i) benchmark::DoNotOptimize(i);
}
static void work(State &state)
{
    for (auto _ : state) spend(WORK);
    state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(work)->Arg(64);
BENCHMARK(work)->Arg(64);

static void batches(State &state)
{
    while (state.KeepRunningBatch(7)) spend(7);
    state.SetItemsProcessed(3 * state.iterations());
}
BENCHMARK(batches);

static void together(State &state)
{
    for (auto _ : state) spend(100);
}
BENCHMARK(together)->Threads(2);

static void pauses(State &state)
{
    for (auto _ : state) {
        state.PauseTiming();
        spend(100000);
        state.ResumeTiming();
        spend(10);
    }
}
BENCHMARK(pauses);

static void manual(State &state)
{
    for (auto _ : state) state.SetIterationTime(1e-6);
}
BENCHMARK(manual)->UseManualTime();

static void fills(State &state)
{
    std::list<int> list;
    for (auto _ : state) {
        list.push_back(1);
        for (int &item : list) benchmark::DoNotOptimize(item);
    }
}
BENCHMARK(fills);

static void fixed(State &state)
{
    std::vector<int> place(static_cast<std::size_t>(state.max_iterations));
    std::size_t i = 0;
    for (auto _ : state) place.at(i++) = 1;
}
BENCHMARK(fixed)->Iterations(50);

BENCHMARK_MAIN();
"#;

/// A row for each thing that can go wrong.
const FAULTS: &str = r#"
#include <benchmark/benchmark.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>
using benchmark::State;

#define ROW(name, ...) static void name(State &state) { __VA_ARGS__ } BENCHMARK(name)
#define LOOP for (auto _ : state)

ROW(exits, LOOP exit(3););
ROW(crashes, LOOP raise(SIGSEGV););
ROW(throws, LOOP throw std::runtime_error("no disk"););
ROW(throws_in_a_thread, LOOP if (state.thread_index() == 1) throw std::runtime_error("no core");)
    ->Threads(2);
ROW(throws_in_the_first_thread,
    if (state.thread_index() == 0) throw std::runtime_error("no device"); LOOP benchmark::ClobberMemory();)
    ->Threads(2);
ROW(is_wrong, usleep(60000); LOOP benchmark::ClobberMemory(); throw std::runtime_error("wrong result"););
ROW(has_a_coarse_clock, int calls = 0; LOOP state.SetIterationTime(calls++ == 0 ? 0 : 1e-3);)
    ->UseManualTime();
ROW(never, (void)state;);
ROW(breaks, int i = 0; LOOP if (++i == 100) break;);
ROW(loops_twice, LOOP benchmark::ClobberMemory(); LOOP benchmark::ClobberMemory(););
ROW(skips, state.SkipWithError("no GPU"); LOOP {});
ROW(skips_later, int i = 0; LOOP if (++i == 100) { state.SkipWithMessage("no data"); break; });
ROW(sets_no_time, LOOP benchmark::ClobberMemory();)
    ->UseManualTime();
ROW(prints, LOOP { printf("x"); std::cout << "y" << std::flush; });
ROW(reads, LOOP { benchmark::DoNotOptimize(getchar()); clearerr(stdin); });
ROW(changes_folder, if (chdir("/") != 0) abort(); LOOP benchmark::ClobberMemory(););
ROW(forks, LOOP { pid_t child = fork(); if (child == 0) exit(0); waitpid(child, nullptr, 0); });
BENCHMARK_MAIN();
"#;

/// Rows that read `max_iterations` in different places, and throw if their loop runs more iterations than they read.
const LIMITS: &str = r#"
#include <benchmark/benchmark.h>
#include <cstdint>
#include <stdexcept>
#include <vector>
using benchmark::State;

#define ROW(name, ...) static void name(State &state) { __VA_ARGS__ } BENCHMARK(name)
#define LOOP for (auto _ : state)
#define CHECK(condition) if (!(condition)) throw std::runtime_error(#condition)

ROW(before_the_loop, std::vector<int> place(state.max_iterations); std::size_t i = 0; LOOP place.at(i++) = 1;
    CHECK(i == place.size()); state.SetItemsProcessed(3 * state.max_iterations););
ROW(in_the_loop, std::vector<int> place; std::size_t i = 0;
    LOOP { if (i == 0) place.resize(state.max_iterations); place.at(i++) = 1; });
ROW(late_in_the_loop, std::int64_t i = 0; LOOP if (++i > 5000) CHECK(i <= state.max_iterations););
ROW(for_the_whole_batch, while (state.KeepRunningBatch(state.max_iterations))
    for (auto n = static_cast<int>(state.max_iterations); n > 0; --n) benchmark::DoNotOptimize(n););
ROW(in_one_thread, const bool reads = state.thread_index() == 1; std::vector<int> place; std::size_t i = 0;
    if (reads) place.resize(state.max_iterations); LOOP if (reads) place.at(i++) = 1;)->Threads(3);
ROW(after_the_loop, std::int64_t i = 0; LOOP ++i;
    CHECK(i == state.max_iterations); state.SetItemsProcessed(3 * state.max_iterations););
BENCHMARK_MAIN();
"#;

/// Two builds that differ in the outcome of a check and in the name of a row.
const BUILDS: &str = r#"
#include <benchmark/benchmark.h>
using benchmark::State;

#define ROW(name, ...) static void name(State &state) { __VA_ARGS__ } BENCHMARK(name)
#define LOOP for (auto _ : state)

ROW(shared, LOOP benchmark::ClobberMemory(););
#ifdef CHANGED
ROW(checked, LOOP benchmark::ClobberMemory(); state.SkipWithError("wrong result"););
ROW(skipped, LOOP benchmark::ClobberMemory(); state.SkipWithMessage("no data"););
ROW(new_name, LOOP benchmark::ClobberMemory(););
#else
ROW(checked, LOOP benchmark::ClobberMemory(););
ROW(skipped, LOOP benchmark::ClobberMemory(););
ROW(old_name, LOOP benchmark::ClobberMemory(););
#endif
BENCHMARK_MAIN();
"#;

/// The library, compiled once.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("google_benchmark_worker");
        let library = folder.join("libbenchmark.a");
        let source = repository().join("include/google_benchmark/benchmark");
        let build = |args: &[&str]| {
            let done = Finished::from(Command::new("cmake").args(args).output().unwrap());
            done.succeeds();
        };
        build(&["-S", text(&source), "-B", text(&folder)]);
        build(&["--build", text(&folder), "--parallel", "2"]);
        library
    })
}

/// Compiles a suite.
#[track_caller]
fn suite(program: &Path, source: &str, flags: &[&str]) {
    let file = program.with_extension("cc");
    fs::write(&file, source).unwrap();
    let done = Command::new("g++")
        .args([
            "-std=c++17",
            "-O2",
            "-I",
            text(&repository().join("include/google_benchmark")),
        ])
        .args(flags)
        .arg(&file)
        .arg(library())
        .args(["-pthread", "-o"])
        .arg(program)
        .output()
        .unwrap();
    Finished::from(done).succeeds();
}

/// A worker that has calibrated a row of the suite, and its reply.
#[track_caller]
fn calibrated(program: &Path, row: &str) -> (Worker, Value) {
    let mut worker = Worker::start(program, &[]);
    worker.prepare(row, None);
    let found = worker.ask(
        json!({"calibrate": {"seed": 1, "least_ns": 5000}}),
        "calibrated",
    );
    (worker, found)
}

#[test]
fn a_suite_races_against_its_copy_and_a_slower_build() {
    needs!("cmake", "g++", "make");
    let track = Track::new();
    suite(&track.path("old"), SUITE, &["-DWORK=400"]);
    suite(&track.path("slower"), SUITE, &["-DWORK=800"]);
    fs::copy(track.path("old"), track.path("copy")).unwrap();
    let verdicts = |new: &str| -> Vec<(String, String)> {
        let args = [
            "bench",
            "old",
            new,
            "--json",
            "-q",
            "--max-replicates",
            "12",
        ];
        let answer = track.run(&args).succeeds().json();
        let rows = answer["benchmarks"].as_array().unwrap().iter();
        let word = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
        rows.map(|row| (word(row, "benchmark"), word(row, "verdict")))
            .collect()
    };
    let copies = verdicts("copy");
    assert_eq!(copies.len(), 8, "{copies:?}");
    let slower = verdicts("slower");
    for (name, verdict) in slower
        .iter()
        .filter(|(name, _)| name.starts_with("work/64"))
    {
        assert_eq!(verdict, "slower", "{name}");
    }
}

#[test]
fn rows_are_listed_under_google_benchmarks_names() {
    needs!("cmake", "g++", "make");
    let folder = TempDir::new().unwrap();
    let program = folder.path().join("suite");
    suite(&program, SUITE, &["-DWORK=400"]);
    let mut worker = Worker::start(&program, &["--benchmark_list_tests=true"]);
    let metrics = worker.hello()["metrics"].clone();
    assert_eq!(
        metrics.as_array().unwrap().last(),
        Some(&json!("manual_ns"))
    );
    let listed = worker.ask(json!({"list": {}}), "listed")["benchmarks"].clone();
    assert_eq!(
        listed,
        json!([
            {"name": "work/64", "threads": 1},
            {"name": "work/64 (2)", "threads": 1},
            {"name": "batches", "threads": 1},
            {"name": "together/threads:2", "threads": 2},
            {"name": "pauses", "threads": 1},
            {"name": "manual/manual_time", "threads": 1, "judged": "manual_ns"},
            {"name": "fills", "threads": 1},
            {"name": "fixed/iterations:50", "threads": 1},
        ])
    );
}

#[test]
fn a_calibration_run_finds_what_a_row_needs() {
    needs!("cmake", "g++", "make");
    let folder = TempDir::new().unwrap();
    let program = folder.path().join("suite");
    suite(&program, SUITE, &["-DWORK=400"]);

    let (mut worker, found) = calibrated(&program, "work/64");
    assert_eq!(found["throughput"], json!({"bytes": 64}));
    assert_eq!(worker.block(1, &[0, 0], 3).len(), 18);
    assert_eq!(worker.ended().code, Some(0));

    // Batches are not divided.
    let (_, found) = calibrated(&program, "batches");
    assert_eq!(found["iterations"].as_u64().unwrap() % 7, 0);
    assert_eq!(found["throughput"], json!({"items": 3}));

    let (mut worker, found) = calibrated(&program, "fixed/iterations:50");
    assert_eq!([&found["iterations"], &found["most_iterations"]], [50, 50]);
    worker.block(1, &[0, 0, 0], 50);

    let (mut worker, found) = calibrated(&program, "fills");
    assert_eq!(found["input_per_call"], true);
    let note = found["notes"][0].as_str().unwrap();
    assert!(note.contains("starts again for every block"), "{note}");
    worker.block(1, &[0, 0], 3);

    let (mut worker, _) = calibrated(&program, "manual/manual_time");
    let values = worker.block(1, &[0], 4);
    assert_eq!(values.last(), Some(&4000.0));
}

#[test]
fn manual_time_is_judged_unless_the_user_names_a_metric() {
    needs!("cmake", "g++", "make");
    let track = Track::new();
    suite(&track.path("old"), SUITE, &["-DWORK=400"]);
    fs::copy(track.path("old"), track.path("new")).unwrap();
    for (words, metrics) in [
        (&[][..], ["manual", "wall"]),
        (&["--metric", "cpu"], ["cpu", "cpu"]),
    ] {
        let race = ["bench", "old", "new", "--max-replicates", "6", "--json"];
        let done = track.run(&[&race[..], words, &["manual", "pauses"]].concat());
        let answer = done.json();
        let judged = |name: &str| {
            let rows = answer["benchmarks"].as_array().unwrap();
            let row = rows.iter().find(|row| row["benchmark"] == name).unwrap();
            row["metric"].clone()
        };
        assert_eq!([judged("manual/manual_time"), judged("pauses")], metrics);
    }
}

#[test]
fn the_user_can_ask_for_a_fresh_call_in_every_block() {
    needs!("cmake", "g++", "make");
    let folder = TempDir::new().unwrap();
    let program = folder.path().join("suite");
    suite(&program, SUITE, &["-DWORK=400"]);
    // deadheat removes the `--` in front of the arguments of its programs.
    for words in [&["--", "--fresh"][..], &["--fresh"]] {
        let mut worker = Worker::start(&program, words);
        assert_eq!(worker.prepare("work/64", None)["renews_input"], true);
    }
}

#[test]
fn what_goes_wrong_costs_its_row_only() {
    needs!("cmake", "g++", "make");
    let track = Track::new();
    suite(&track.path("old"), FAULTS, &[]);
    fs::copy(track.path("old"), track.path("new")).unwrap();
    let done = track.run(&[
        "bench",
        "old",
        "new",
        "--max-replicates",
        "6",
        "--color",
        "never",
    ]);
    let said = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in [
        "'exits' failed: calibration run: 'old' ended its process with exit code 3.",
        "'crashes' failed: calibration run: 'old' was killed by signal 11 (SIGSEGV).",
        "'throws' failed: calibration run: 'old' panicked no disk.",
        "'throws_in_a_thread/threads:2' failed: calibration run: 'old' panicked no core.",
        "'throws_in_the_first_thread/threads:2' failed: calibration run: 'old' panicked no device.",
        "'is_wrong' failed: calibration run: 'old' panicked wrong result.",
        "'never' failed: calibration run: 'old' returns without running its loop.",
        "'breaks' failed: calibration run: 'old' returns before its loop has ended.",
        "'loops_twice' failed: calibration run: 'old' runs two loops over its State, of which only the \
         first can be timed.",
        "'sets_no_time/manual_time' failed: calibration run: 'old' has UseManualTime and never calls \
         SetIterationTime.",
        "skipped (no data): skips_later.",
        "skipped (no GPU): skips.",
    ] {
        assert!(said.contains(line), "{line}\n{}", done.stdout);
    }
    for row in [
        "prints",
        "reads",
        "changes_folder",
        "forks",
        "has_a_coarse_clock/manual_time",
    ] {
        assert!(
            !said.contains(&format!("'{row}' failed")),
            "{}",
            done.stdout
        );
    }
}

#[test]
fn a_loop_runs_no_more_iterations_than_the_function_read_from_max_iterations() {
    needs!("cmake", "g++", "make");
    let folder = TempDir::new().unwrap();
    let program = folder.path().join("suite");
    suite(&program, LIMITS, &[]);
    for (row, is_read) in [
        ("before_the_loop", true),
        ("in_the_loop", true),
        ("late_in_the_loop", true),
        ("for_the_whole_batch", true),
        ("in_one_thread/threads:3", true),
        ("after_the_loop", false),
    ] {
        let (mut worker, found) = calibrated(&program, row);
        let notes = found["notes"].as_array().unwrap();
        let note =
            "Each sample is a call of the function, because the function reads max_iterations.";
        assert_eq!(notes.contains(&json!(note)), is_read, "{row}: {found}");
        // The other side must restart, too.
        assert_eq!(found["input_per_call"] == true, is_read, "{row}: {found}");
        if row.ends_with("the_loop") && !row.contains("in_") {
            assert_eq!(found["throughput"], json!({"items": 3}), "{row}");
        }
        let warm_up = json!({"warm_up": {"seed": 1, "order": [0], "iterations": 7}});
        worker.ask(warm_up, "warm");
        for (seed, iterations) in [(1, 3), (2, 20_000), (3, 50)] {
            let request = block(seed, &json!([0, 0, 0]), iterations, 1, 2);
            let reply = worker.ask(request, "block");
            assert_eq!(reply["values"].as_array().unwrap().len(), 16, "{row}");
        }
        worker.ask(json!({"smoke": {"seed": 4}}), "sound");
        worker.say(&json!({"bye": {}}).to_string());
        assert_eq!(worker.ended().code, Some(0), "{row}");
    }
}

#[test]
fn an_error_of_one_build_fails_the_race_and_a_skipped_or_missing_row_is_left_out() {
    needs!("cmake", "g++", "make");
    let track = Track::new();
    suite(&track.path("old"), BUILDS, &[]);
    suite(&track.path("new"), BUILDS, &["-DCHANGED"]);
    let race = ["bench", "old", "new", "--max-replicates", "6"];
    let done = track.run(&race);
    assert_eq!(done.code, Some(3), "{done:?}");
    let said = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in [
        "'checked' failed: calibration run: 'new' reports an error: wrong result.",
        "1 benchmark was skipped (no data): skipped.",
        "1 benchmark only in 'old': old_name.",
        "1 benchmark only in 'new': new_name.",
    ] {
        assert!(said.contains(line), "{line}\n{}", done.stdout);
    }
    let without_the_failed = track.run(&[&race[..], &["shared", "skipped"]].concat());
    without_the_failed.succeeds();
}

#[test]
fn an_error_says_that_deadheat_may_leave_the_row_out_if_both_builds_report_one() {
    needs!("cmake", "g++", "make");
    let folder = TempDir::new().unwrap();
    let program = folder.path().join("suite");
    suite(&program, FAULTS, &[]);
    for (row, failed) in [
        (
            "skips",
            json!({"contender": 0, "problem": {"refused": "reports an error: no GPU"}, "skips": "no GPU"}),
        ),
        (
            "skips_later",
            json!({"contender": 0, "problem": {"skipped": "no data"}}),
        ),
    ] {
        let mut worker = Worker::start(&program, &[]);
        worker.hello();
        worker.say(&prepare(row, None).to_string());
        worker.say(&json!({"calibrate": {"seed": 1, "least_ns": 5000}}).to_string());
        let replies = std::iter::from_fn(|| worker.hear());
        assert_eq!(replies.last(), Some(json!({"failed": failed})));
    }
}

#[test]
fn a_program_without_rows_for_the_race_is_refused() {
    needs!("cmake", "g++", "make");
    let track = Track::new();
    suite(
        &track.path("empty"),
        "#include <benchmark/benchmark.h>\nBENCHMARK_MAIN();\n",
        &[],
    );
    fs::copy(track.path("empty"), track.path("copy")).unwrap();
    let empty = track.run(&["bench", "empty", "copy"]);
    empty.fails_with(2, &["neither 'empty' nor 'copy' holds a benchmark"]);

    suite(&track.path("old"), BUILDS, &[]);
    fs::copy(track.path("old"), track.path("new")).unwrap();
    let filtered = |filter| track.run(&["bench", "old", "new", filter]);
    let nothing = "neither 'old' nor 'new' holds a benchmark";
    filtered("--benchmark_filter=^nothing$").fails_with(2, &[nothing]);
    filtered("--benchmark_filter=(").fails_with(
        3,
        &["error: --benchmark_filter: cannot read the regular expression '('"],
    );
}

#[test]
fn the_answer_names_once_the_options_that_a_race_ignores() {
    needs!("cmake", "g++", "make");
    let track = Track::new();
    suite(&track.path("old"), BUILDS, &[]);
    fs::copy(track.path("old"), track.path("new")).unwrap();
    let race = |options: &[&str]| {
        let words = ["bench", "old", "new", "--max-replicates", "6"];
        let done = track.run(&[&words[..], options].concat());
        let said = done.succeeds().stdout.split_whitespace();
        said.collect::<Vec<_>>().join(" ")
    };
    let said = race(&[
        "--benchmark_filter=shared|old_name",
        "--benchmark_min_time=2",
        "--benchmark_repetitions=3",
        "--benchmark_min_time=1",
    ]);
    let note = "A race with deadheat's library ignores these options: --benchmark_min_time, \
                --benchmark_repetitions.";
    assert_eq!(said.matches(note).count(), 1, "{said}");
    let said = race(&["--benchmark_filter=shared"]);
    assert!(!said.contains("ignores these options"), "{said}");
}

#[test]
fn pkg_config_finds_the_library() {
    needs!("cmake", "g++", "make", "pkg-config");
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let build = library().parent().unwrap();
    let prefix = at("prefix");
    let install = ["--install", text(build), "--prefix", text(&prefix)];
    let installed = Command::new("cmake").args(install).output().unwrap();
    Finished::from(installed).succeeds();
    let row = "#include <benchmark/benchmark.h>\n\
               static void row(benchmark::State &state) { for (auto _ : state) {} }\n\
               BENCHMARK(row);\n";
    fs::write(at("row.cc"), row).unwrap();
    fs::write(at("program.cc"), format!("{row}BENCHMARK_MAIN();\n")).unwrap();
    // A moved installation, and the build folder.
    fs::rename(&prefix, at("moved")).unwrap();
    for packages in [&at("moved/lib/pkgconfig"), build] {
        for (package, source) in [("benchmark", "program.cc"), ("benchmark_main", "row.cc")] {
            let words = Command::new("pkg-config")
                .args(["--cflags", "--libs", package])
                .env("PKG_CONFIG_PATH", packages)
                .output()
                .unwrap();
            let words = Finished::from(words).succeeds().stdout.clone();
            let (source, program) = (at(source), at(package));
            let done = Command::new("g++")
                .args(["-std=c++17", "-O2", text(&source), "-o", text(&program)])
                .args(words.split_whitespace())
                .output()
                .unwrap();
            Finished::from(done).succeeds();
            let mut worker = Worker::start(&program, &[]);
            worker.hello();
            let listed = worker.ask(json!({"list": {}}), "listed");
            assert_eq!(listed["benchmarks"][0]["name"], "row");
        }
    }
}

/// A project that gets Google Benchmark in one of the usual ways.
const PROJECT: &str = "\
cmake_minimum_required(VERSION 3.14)
project(suite CXX)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_FLAGS \"-Wall -Wextra -Werror -fno-exceptions -fno-rtti\")
WAY
add_executable(suite suite.cc)
target_link_libraries(suite benchmark::benchmark_main)
";

#[test]
fn cmake_projects_get_the_library_unchanged() {
    needs!("cmake", "g++", "make");
    let provider = repository().join("include/google_benchmark/benchmark/provider.cmake");
    let provided = format!("-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES={}", text(&provider));
    let package = repository().join("include/google_benchmark/benchmark/cmake");
    let package = format!("-Dbenchmark_DIR={}", text(&package));
    let declared = "include(FetchContent)\n\
                    FetchContent_Declare(googlebenchmark URL https://localhost:1/none)\n";
    let fetched = format!("{declared}FetchContent_MakeAvailable(googlebenchmark)");
    let populated = format!(
        "{declared}FetchContent_Populate(googlebenchmark)\n\
         add_subdirectory(${{googlebenchmark_SOURCE_DIR}} ${{googlebenchmark_BINARY_DIR}})"
    );
    let found = "find_package(benchmark 1.6 REQUIRED)\nadd_custom_target(benchmark)";
    let copied = "add_subdirectory(third_party/copy)\nset_property(TARGET benchmark PROPERTY A 1)";
    let missing = "add_subdirectory(third_party/benchmark)\n\
                   set_property(TARGET benchmark PROPERTY A 1)";
    for (way, option, builds) in [
        (found, &provided, true),
        (&fetched, &provided, false),
        (&populated, &provided, false),
        (copied, &provided, false),
        (missing, &provided, false),
        (found, &package, false),
    ] {
        let folder = TempDir::new().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("third_party/benchmark")).unwrap();
        fs::create_dir_all(at("third_party/copy/include/benchmark")).unwrap();
        fs::write(at("third_party/copy/include/benchmark/benchmark.h"), "").unwrap();
        let refused = "message(FATAL_ERROR \"Google Benchmark itself\")";
        fs::write(at("third_party/copy/CMakeLists.txt"), refused).unwrap();
        fs::write(at("CMakeLists.txt"), PROJECT.replace("WAY", way)).unwrap();
        let row = "#include <benchmark/benchmark.h>\n\
                   static void row(benchmark::State &state) { for (auto _ : state) {} }\n\
                   BENCHMARK(row);\n";
        fs::write(at("suite.cc"), row).unwrap();
        let cmake = |args: &[&str]| {
            let done = Command::new("cmake").args(args).output().unwrap();
            Finished::from(done).succeeds();
        };
        let build = at("build");
        cmake(&["-S", text(folder.path()), "-B", text(&build), option]);
        if builds {
            cmake(&[
                "--build",
                text(&build),
                "--target",
                "suite",
                "--parallel",
                "2",
            ]);
            let mut worker = Worker::start(&build.join("suite"), &[]);
            worker.hello();
            assert_eq!(
                worker.ask(json!({"list": {}}), "listed")["benchmarks"][0]["name"],
                "row"
            );
        }
    }
}
