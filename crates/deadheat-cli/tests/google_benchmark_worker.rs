//! include/google_benchmark/benchmark: deadheat races suites written for Google Benchmark, and CMake puts the library in
//! the place of Google Benchmark's own.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use common::worker::{Worker, repository};
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
        "skipped (no GPU): skips.",
        "skipped (no data): skips_later.",
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
