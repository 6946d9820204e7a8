//! include/google_benchmark/benchmark: suites written for Google Benchmark compile against it, and run by hand as with
//! Google Benchmark's own library.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use common::Finished;
use common::worker::{STRICT, repository};
use deadheat_testing::needs;
use serde_json::Value;
use tempfile::TempDir;

/// Every macro, and every option that changes a row's name.
const SUITE: &str = r#"
#include <benchmark/benchmark.h>
#include <vector>

static void loop(benchmark::State &state)
{
    for (auto _ : state) {}
}
static void batches(benchmark::State &state)
{
    while (state.KeepRunningBatch(7)) {}
    state.SetComplexityN(state.range(0));
    state.SetItemsProcessed(state.iterations());
    state.counters["half"] = benchmark::Counter(0.5, benchmark::Counter::kAvgThreads);
    state.SetLabel("a label");
}
static void named(benchmark::State &state, int number)
{
    while (state.KeepRunning()) benchmark::DoNotOptimize(number);
}
template <class T, class U> void pair(benchmark::State &state)
{
    for (auto _ : state) {
        T value = T();
        benchmark::DoNotOptimize(value);
    }
}
static void broken(benchmark::State &state)
{
    state.SkipWithError("no input");
    for (auto _ : state) {}
}
static void skipped(benchmark::State &state)
{
    state.SkipWithMessage("not here");
}
static void forgotten(benchmark::State &) {}

template <class T> struct Numbers : benchmark::Fixture {
    void SetUp(const benchmark::State &state) override
    {
        values.assign(static_cast<std::size_t>(state.range(0)), T());
    }
    void TearDown(const benchmark::State &) override { values.clear(); }
    std::vector<T> values = std::vector<T>();
};

BENCHMARK(loop);
BENCHMARK(loop)->Name("renamed")->ArgNames({"x", ""})->Args({1, 2});
BENCHMARK(loop)->MinTime(0.25)->MinWarmUpTime(0.5)->Repetitions(2);
BENCHMARK(loop)->Iterations(10)->MeasureProcessCPUTime()->UseManualTime();
BENCHMARK(loop)->ThreadRange(1, 3)->UseRealTime();
BENCHMARK(loop)->Ranges({{-8, 1}, {2, 3}});
BENCHMARK(loop)->ArgsProduct({{1, 2}, {3}, {5, 6}});
BENCHMARK(batches)->RangeMultiplier(2)->Range(4, 10)->Complexity(benchmark::oN);
BENCHMARK_CAPTURE(named, three, 3);
BENCHMARK_TEMPLATE(pair, int, double);
BENCHMARK_TEMPLATE2(pair, int, char);
BENCHMARK_TEMPLATE_F(Numbers, fill, int)(benchmark::State &state)
{
    for (auto _ : state) benchmark::DoNotOptimize(values);
}
BENCHMARK_TEMPLATE_DEFINE_F(Numbers, drop, char)(benchmark::State &state)
{
    for (auto _ : state) benchmark::DoNotOptimize(values);
}
BENCHMARK_REGISTER_F(Numbers, drop)->Arg(3);
BENCHMARK(broken);
BENCHMARK(skipped);
BENCHMARK(forgotten);

int main(int argc, char **argv)
{
    benchmark::RegisterBenchmark("from a lambda", [](benchmark::State &state) { named(state, 1); });
    benchmark::RegisterBenchmark("DISABLED_row", loop);
    benchmark::MaybeReenterWithoutASLR(argc, argv);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
"#;

const NAMES: &str = "\
loop
renamed/x:1/2
loop/min_time:0.250/min_warmup_time:0.500/repeats:2
loop/iterations:10/process_time/manual_time
loop/real_time/threads:1
loop/real_time/threads:2
loop/real_time/threads:3
loop/-8/2
loop/-1/2
loop/0/2
loop/1/2
loop/-8/3
loop/-1/3
loop/0/3
loop/1/3
loop/1/3/5
loop/2/3/5
loop/1/3/6
loop/2/3/6
batches/4
batches/8
batches/10
named/three
pair<int, double>
pair<int,char>
Numbers<int>/fill
Numbers<char>/drop/3
broken
skipped
forgotten
from a lambda
";

/// Builds the library and the program of `SUITE`, once for all tests of this file.
fn suite() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("google_benchmark_library");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let source = folder.join("suite.cc");
        fs::write(&source, SUITE).unwrap();
        let program = folder.join("suite");
        let mut command = compiler("g++", &["-std=c++11", "-fno-exceptions", "-fno-rtti"]);
        command.args(STRICT).arg(&source).arg("-o").arg(&program);
        succeed(command.args(library_objects(&folder)).arg("-pthread"));
        program
    })
}

/// The library without its `main`.
fn library_objects(folder: &Path) -> Vec<PathBuf> {
    let sources =
        fs::read_dir(repository().join("include/google_benchmark/benchmark/src")).unwrap();
    sources
        .map(|entry| entry.unwrap().path())
        .filter(|file| file.extension().is_some_and(|kind| kind == "cc"))
        .filter(|file| !file.ends_with("main.cc"))
        .map(|file| compile_object(&file, folder))
        .collect()
}

fn compile_object(source: &Path, folder: &Path) -> PathBuf {
    let object = folder.join(source.with_extension("o").file_name().unwrap());
    let mut command = compiler(
        "g++",
        &["-std=c++17", "-DNDEBUG", "-Wall", "-Wextra", "-Werror"],
    );
    succeed(command.arg("-c").arg(source).arg("-o").arg(&object));
    object
}

fn compiler(name: &str, flags: &[&str]) -> Command {
    let mut command = Command::new(name);
    command
        .args(flags)
        .arg("-I")
        .arg(repository().join("include/google_benchmark"));
    command
}

#[track_caller]
fn succeed(command: &mut Command) {
    let done = command.output().unwrap();
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {errors}");
}

fn run(args: &[&str]) -> Finished {
    let mut command = Command::new(suite());
    let command = command.args(args).env_remove("DEADHEAT_WORKER");
    Finished::from(command.output().unwrap())
}

/// The rows of a report in JSON.
fn rows(args: &[&str]) -> Vec<Value> {
    let finished = run(&[
        &["--benchmark_format=json", "--benchmark_min_time=0.001s"],
        args,
    ]
    .concat());
    finished.succeeds().json()["benchmarks"]
        .as_array()
        .unwrap()
        .clone()
}

fn keys(object: &Value) -> Vec<&str> {
    object
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn suites_compile_without_a_warning_from_cpp11_to_cpp20() {
    let folder = TempDir::new().unwrap();
    let source = folder.path().join("suite.cc");
    fs::write(&source, SUITE).unwrap();
    for name in ["g++", "clang++"] {
        if name == "clang++" {
            needs!("clang++");
        }
        for standard in ["-std=c++11", "-std=c++14", "-std=c++20"] {
            let mut command = compiler(name, &[standard, "-fno-exceptions", "-fno-rtti"]);
            succeed(command.args(STRICT).arg("-fsyntax-only").arg(&source));
        }
    }
}

#[test]
fn rows_are_named_as_by_google_benchmark() {
    needs!("g++");
    assert_eq!(run(&["--benchmark_list_tests"]).succeeds().stdout, NAMES);
}

#[test]
fn filters_are_regular_expressions_that_a_minus_inverts() {
    needs!("g++");
    let list = |filter| {
        run(&["--benchmark_list_tests", filter])
            .succeeds()
            .stdout
            .clone()
    };
    assert_eq!(
        list("--benchmark_filter=^pair<int, "),
        "pair<int, double>\n"
    );
    let others = NAMES.lines().filter(|name| !name.contains('p')).count();
    assert_eq!(list("--benchmark_filter=-p").lines().count(), others);
    let nothing = run(&["--benchmark_filter=^nothing$"]);
    nothing.fails_with(
        0,
        &["Failed to match any benchmarks against regex: ^nothing$"],
    );
}

#[test]
fn json_has_the_fields_of_google_benchmark() {
    needs!("g++");
    let rows = rows(&["--benchmark_filter=batches/4"]);
    let fields = [
        "cpu_time",
        "family_index",
        "half",
        "items_per_second",
        "iterations",
        "label",
        "name",
        "per_family_instance_index",
        "real_time",
        "repetition_index",
        "repetitions",
        "run_name",
        "run_type",
        "threads",
        "time_unit",
    ];
    let mut found = keys(&rows[0]);
    found.sort_unstable();
    assert_eq!(found, fields);
    assert_eq!(rows[0]["name"], "batches/4");
    assert_eq!(rows[0]["label"], "a label");
    assert_eq!(rows[0]["half"], 0.5);
    assert_eq!(rows[0]["iterations"].as_u64().unwrap() % 7, 0);
}

#[test]
fn repetitions_are_summed_up() {
    needs!("g++");
    let rows = rows(&["--benchmark_filter=^named", "--benchmark_repetitions=3"]);
    let names: Vec<_> = rows
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    let expected = ["named/three"; 3].into_iter().chain([
        "named/three_mean",
        "named/three_median",
        "named/three_stddev",
        "named/three_cv",
    ]);
    assert_eq!(names, expected.collect::<Vec<_>>());
    assert_eq!(rows[3]["aggregate_name"], "mean");
    assert_eq!(rows[3]["iterations"], 3);
    assert_eq!(rows[6]["aggregate_unit"], "percentage");
}

#[test]
fn a_family_has_a_complexity() {
    needs!("g++");
    let rows = rows(&["--benchmark_filter=^batches"]);
    assert_eq!(rows.len(), 5);
    assert_eq!(rows[3]["name"], "batches_BigO");
    assert_eq!(rows[3]["big_o"], "N");
    assert_eq!(rows[4]["name"], "batches_RMS");
}

#[test]
fn errors_and_skips_are_rows() {
    needs!("g++");
    let rows = rows(&["--benchmark_filter=broken|skipped|forgotten"]);
    assert_eq!(rows[0]["error_message"], "no input");
    assert_eq!(rows[1]["skip_message"], "not here");
    let forgotten = rows[2]["error_message"].as_str().unwrap();
    assert!(
        forgotten.starts_with("The benchmark didn't run"),
        "{forgotten}"
    );
    let table = run(&["--benchmark_filter=broken|skipped"]);
    assert!(
        table.stdout.contains("ERROR OCCURRED: 'no input'"),
        "{table:?}"
    );
    assert!(table.stdout.contains("SKIPPED: 'not here'"), "{table:?}");
}

#[test]
fn files_are_json_unless_another_format_is_asked_for() {
    needs!("g++");
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("out");
    let out = format!("--benchmark_out={}", file.display());
    let table = run(&["--benchmark_filter=^loop$", "--benchmark_dry_run", &out]);
    assert!(table.succeeds().stdout.starts_with("-----"), "{table:?}");
    let report: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(report["context"]["json_schema_version"], 1);
    assert_eq!(report["benchmarks"][0]["iterations"], 1);

    run(&[
        "--benchmark_filter=^loop$",
        "--benchmark_dry_run",
        "--benchmark_out_format=csv",
        &out,
    ])
    .succeeds();
    let csv = fs::read_to_string(&file).unwrap();
    assert!(
        csv.contains("\nname,iterations,real_time,cpu_time,time_unit,"),
        "{csv}"
    );
}

#[test]
fn wrong_arguments_end_the_program() {
    needs!("g++");
    run(&["--wrong"]).fails_with(1, &["error: unrecognized command-line flag: --wrong"]);
    run(&["--benchmark_repetitions=many"]).fails_with(
        1,
        &["error: --benchmark_repetitions: cannot read its value 'many'"],
    );
    run(&["--benchmark_min_time=soon"])
        .fails_with(1, &["error: --benchmark_min_time: 'soon' is neither"]);
    run(&["--benchmark_filter=("]).fails_with(
        1,
        &["error: --benchmark_filter: cannot read the regular expression '('"],
    );
    run(&["--benchmark_out=/nowhere/file"]).fails_with(1, &["invalid file name: '/nowhere/file'"]);
    let help = run(&["--help"]);
    assert!(
        help.succeeds()
            .stdout
            .contains("[--benchmark_filter=<regex>]"),
        "{help:?}"
    );
}
