//! The examples in C and C++: linked through `deadheat link`, and raced with
//! placements drawn anew.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Track, text};
use deadheat_testing::needs;
use serde_json::Value;

fn examples(language: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(language)
}

/// `kernels`, built in C.
fn built_by_make(compiler: &str) -> Track {
    let track = Track::new();
    for entry in fs::read_dir(examples("c")).unwrap() {
        let file = entry.unwrap();
        // What somebody built there is none of our business.
        let name = file.file_name().into_string().unwrap();
        if name.ends_with(".c") || name.ends_with(".h") || name == "Makefile" {
            fs::copy(file.path(), track.path(&name)).unwrap();
        }
    }
    let deadheat = env!("CARGO_BIN_EXE_deadheat");
    track.tool("make", &[&format!("CC={deadheat} link -- {compiler}")]);
    track
}

/// `kernels` and, with Google Benchmark, `google`, built in C++.
fn built_by_cmake(compiler: &str) -> Track {
    let track = Track::new();
    let sources = examples("cpp");
    let compiler = format!("-DCMAKE_CXX_COMPILER={compiler}");
    let deadheat = concat!("-DDEADHEAT=", env!("CARGO_BIN_EXE_deadheat"));
    track.tool(
        "cmake",
        &["-S", text(&sources), "-B", ".", &compiler, deadheat],
    );
    track.tool("cmake", &["--build", "."]);
    track
}

/// The only comparison of a short race.
#[track_caller]
fn raced(track: &Track, baseline: &str, candidate: &str) -> Value {
    let args = ["run", "--json", "--max-replicates", "6", "--check-output"];
    let done = track.run(&[&args[..], &["--", baseline, candidate]].concat());
    done.succeeds().json()["benchmarks"][0].clone()
}

#[track_caller]
fn speaks_of_the_source(comparison: &Value) {
    assert_eq!(comparison["scope"], "source", "{comparison}");
}

#[test]
fn a_c_program_gets_a_verdict_on_its_source_from_gcc_and_from_clang() {
    needs!("clang", "make");
    for compiler in ["gcc", "clang"] {
        let track = built_by_make(compiler);
        let comparison = raced(&track, "./kernels first", "./kernels second");
        speaks_of_the_source(&comparison);
    }
}

#[test]
fn a_cpp_program_gets_a_verdict_on_its_source_from_gcc() {
    needs!("cmake", "g++", "make");
    a_cpp_program_gets_a_verdict_on_its_source("g++");
}

#[test]
fn a_cpp_program_gets_a_verdict_on_its_source_from_clang() {
    needs!("clang++", "cmake", "make");
    a_cpp_program_gets_a_verdict_on_its_source("clang++");
}

fn a_cpp_program_gets_a_verdict_on_its_source(compiler: &str) {
    let track = built_by_cmake(compiler);
    let comparison = raced(&track, "./kernels first", "./kernels second");
    speaks_of_the_source(&comparison);
}

#[test]
fn executables_of_google_benchmark_get_placements_too() {
    needs!("benchmark/benchmark.h", "cmake", "g++", "make");
    let track = built_by_cmake("g++");
    let google = |name| format!("./google --benchmark_filter={name} --benchmark_min_time=0.001");
    let args = ["run", "--json", "--max-replicates", "6", "--"];
    let done = track.run(&[&args[..], &[&google("first"), &google("second")]].concat());
    speaks_of_the_source(&done.succeeds().json()["benchmarks"][0]);
}

#[test]
fn the_same_program_linked_without_deadheat_gets_a_verdict_on_the_binary() {
    needs!("make");
    let track = built_by_make("gcc");
    fs::remove_dir_all(track.path(".deadheat")).unwrap();
    let comparison = raced(&track, "./kernels first", "./kernels second");
    assert_eq!(comparison["scope"], "binary", "{comparison}");
}
