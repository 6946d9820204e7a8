//! Two revisions of a CMake project, raced by `deadheat rev --cmake`.

mod common;

use common::Track;
use deadheat_testing::needs;

const PROJECT: &str = "\
cmake_minimum_required(VERSION 3.16)
project(sums CXX)
option(SUMS_BENCHMARKS \"\" OFF)
add_library(sums sums.cc)
if(SUMS_BENCHMARKS)
  find_package(benchmark REQUIRED)
  add_executable(bench_sums bench_sums.cc)
  target_link_libraries(bench_sums PRIVATE sums benchmark::benchmark)
endif()
";

const SUITE: &str = "\
#include <benchmark/benchmark.h>
int sum(int n);
static void BM_Sum(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(sum(static_cast<int>(state.range(0))));
}
BENCHMARK(BM_Sum)->Arg(4000);
BENCHMARK_MAIN();
";

const WITH_BENCHMARKS: &str = "--configure=-DSUMS_BENCHMARKS=ON";

fn library(steps: u32) -> String {
    format!(
        "int sum(int n) {{\n  int all = 0;\n  for (int i = 0; i < n * {steps}; ++i) {{ asm volatile(\"\" : \"+r\"(all)); all ^= i; }}\n  return all;\n}}\n"
    )
}

/// A repository with a fast commit and a slow one after it.
fn project() -> Track {
    let track = Track::new();
    track.write("CMakeLists.txt", PROJECT);
    track.write("bench_sums.cc", SUITE);
    track.write("sums.cc", library(1));
    track.git(&["init", "--quiet", "--initial-branch", "main"]);
    track.commit("fast");
    track.write("sums.cc", library(3));
    track.commit("slow");
    track
}

#[test]
fn a_suite_of_google_benchmark_races_by_its_functions_and_no_file_of_it_changes() {
    needs!("cmake", "g++", "make", "ld.lld");
    let track = project();
    let words = ["HEAD~1..HEAD", "--cmake", "bench_sums", WITH_BENCHMARKS];
    let race = [&["rev"], &words[..], &["--max-replicates", "6", "--json"]].concat();
    let done = track.run(&race);
    let answer = done.succeeds().json();
    let sum = &answer["benchmarks"][0];
    assert_eq!(sum["benchmark"], "BM_Sum/4000", "{sum}");
    assert_eq!(sum["verdict"], "slower", "{sum}");
    assert_eq!(sum["scope"], "source", "neutral links: {sum}");
    assert_eq!(track.git(&["status", "--porcelain"]), "");
    let words = [
        "bisect",
        "HEAD~1..HEAD",
        "--cmake",
        "bench_sums",
        WITH_BENCHMARKS,
        "--json",
    ];
    let answer = track.run(&words).succeeds().json();
    assert_eq!(answer["answer"]["kind"], "commits", "{answer}");
}

#[test]
fn a_suite_that_does_not_compile_with_our_library_races_with_its_own() {
    needs!("cmake", "g++", "make", "benchmark/benchmark.h");
    let track = project();
    // Only their sources have it.
    let theirs = SUITE.replace(
        "BENCHMARK_MAIN();",
        "using Private = benchmark::internal::BenchmarkFamilies;\nBENCHMARK_MAIN();",
    );
    track.write("bench_sums.cc", &theirs);
    track.commit("private");
    let words = [
        "rev",
        "HEAD..HEAD",
        "--cmake",
        "bench_sums",
        WITH_BENCHMARKS,
        "--no-run",
    ];
    let done = track.run(&words);
    done.succeeds();
    for part in [
        "its own Google Benchmark, launch by launch",
        "BenchmarkFamilies",
    ] {
        assert!(done.stderr.contains(part), "{}", done.stderr);
    }
}

#[test]
fn a_target_that_the_project_lacks_is_answered_by_those_that_it_has() {
    needs!("cmake", "g++", "make");
    let track = project();
    let rev =
        |more: &[&str]| track.run(&[&["rev", "HEAD..HEAD", "--cmake", "bench"], more].concat());
    rev(&[]).fails_with(3, &["no executable `bench`; it has none", "--configure="]);
    rev(&[WITH_BENCHMARKS]).fails_with(
        3,
        &["no executable `bench`\nhelp: its executables are bench_sums"],
    );
    rev(&["--go", "./x"]).fails_with(2, &["--go"]);
}

#[test]
fn equal_sources_in_two_commits_give_equal_programs() {
    needs!("cmake", "g++", "make");
    let track = project();
    track.write("README.md", "sums\n");
    track.commit("words");
    let words = [
        "rev",
        "HEAD~1..HEAD",
        "--cmake",
        "bench_sums",
        WITH_BENCHMARKS,
        "--no-run",
    ];
    let built = track.run(&words).succeeds().stdout.clone();
    let programs: Vec<Vec<u8>> = built
        .lines()
        .map(|line| std::fs::read(line.rsplit('\t').next().unwrap()).unwrap())
        .collect();
    assert_eq!(programs.len(), 2);
    assert!(programs[0] == programs[1], "{built}");
}
