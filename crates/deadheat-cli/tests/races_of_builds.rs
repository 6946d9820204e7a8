//! Two builds in C, in C++, in Rust and C, and of Google Benchmark suites: all
//! of them get verdicts.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Track, suite, text, wait_until};
use deadheat_testing::{blocks_in, needs};
use serde_json::Value;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// Links a program in the track's folder, of which there can be neutral links.
#[track_caller]
fn built(track: &Track, compiler: &str, source: &Path, name: &str, words: &[&str]) {
    let include = format!("-I{}", repository().join("include").display());
    let object = format!("{name}.o");
    let flags = ["-O2", "-ffunction-sections", &include];
    let compile = [&flags[..], &["-c", text(source), "-o", &object]].concat();
    track.tool(compiler, &compile);
    let link = ["link", "--", compiler, &object, "-o", name];
    let deadheat = env!("CARGO_BIN_EXE_deadheat");
    track.tool(deadheat, &[&link[..], words].concat());
}

/// A short race, as JSON.
#[track_caller]
fn raced(track: &Track, words: &[&str]) -> Value {
    // On a busy machine one replicate may lose all of its blocks, and a verdict needs six.
    let options = ["--json", "-q", "--max-replicates", "12", "--blocks", "5"];
    let done = track.run(&[&["bench"], words, &options[..]].concat());
    done.succeeds().json()
}

/// Benchmarks, each with its scope; all of them have a verdict.
#[track_caller]
fn scopes(answer: &Value) -> Vec<(&str, &str)> {
    let benchmarks = answer["benchmarks"].as_array().unwrap().iter();
    let scopes = benchmarks.map(|one| {
        assert!(one["verdict"].is_string(), "{one}");
        let word = |name: &str| one[name].as_str().unwrap();
        (word("benchmark"), word("scope"))
    });
    scopes.collect()
}

#[test]
fn a_pair_in_c_gets_verdicts_on_its_source() {
    let track = Track::new();
    let sources = repository().join("examples/c/worker_pair");
    for name in ["old", "new"] {
        let source = sources.join(format!("{name}.c"));
        built(&track, "gcc", &source, name, &["-pthread"]);
    }
    let answer = raced(&track, &["./old", "./new"]);
    let source = "source";
    let expected = [("count_letters", source), ("find_end", source)];
    assert_eq!(scopes(&answer), expected);
    let left_out = &answer["left_out"][0];
    assert_eq!(left_out["benchmark"], "find_letter", "{answer}");
}

#[test]
fn a_packed_pair_has_neutral_links_on_a_machine_that_did_not_build_it() {
    let track = Track::new();
    let sources = repository().join("examples/c/worker_pair");
    for name in ["old", "new"] {
        let source = sources.join(format!("{name}.c"));
        built(&track, "gcc", &source, name, &["-pthread"]);
    }
    let options = [
        "--save",
        "plan.json",
        "--max-replicates",
        "12",
        "--blocks",
        "5",
    ];
    let plan = ["plan", "bench", "./old", "./new", "find_end"];
    track.run(&[&plan[..], &options].concat()).succeeds();
    let pack = track.run(&["pack", "plan.json", "-o", "race.tar.zst"]);
    pack.succeeds();
    assert!(
        pack.stdout.contains("files to make neutral links from"),
        "{pack:?}"
    );
    let other = Track::new();
    fs::copy(track.path("race.tar.zst"), other.path("race.tar.zst")).unwrap();
    // With the folder that it was linked in.
    drop(track);
    for part in ["1", "2"] {
        let (shard, save) = (format!("{part}/2"), format!("{part}.jsonl"));
        let race = [
            "run",
            "-q",
            "--plan",
            "race.tar.zst",
            "--shard",
            &shard,
            "--save",
            &save,
        ];
        other.run(&race).succeeds();
    }
    let answer = other.run(&["merge", "1.jsonl", "2.jsonl", "--json"]).json();
    assert_eq!(scopes(&answer), [("find_end", "source")]);
    assert_eq!(answer["benchmarks"][0]["replicates"], 12);
    // What one part raced as it was linked, the merged run speaks of.
    let own = [
        "run",
        "-q",
        "--plan",
        "race.tar.zst",
        "--shard",
        "2/2",
        "--placement",
        "own",
    ];
    let own = other.run(&[&own[..], &["--save", "own.jsonl"]].concat());
    own.succeeds();
    let answer = other
        .run(&["merge", "1.jsonl", "own.jsonl", "--json"])
        .json();
    assert_eq!(scopes(&answer), [("find_end", "binary")]);
    // A part that was killed is unpacked elsewhere, and keeps its neutral links.
    let whole = ["run", "-q", "--plan", "race.tar.zst", "--shard", "1/1"];
    let whole = [&whole[..], &["--save", "killed.jsonl"]].concat();
    let mut racing = other.start(&whole);
    let file = other.path("killed.jsonl");
    wait_until("the first blocks are there", || blocks_in(&file) > 7);
    racing.kill().unwrap();
    racing.wait().unwrap();
    let before = blocks_in(&file);
    other.run(&whole).succeeds();
    assert!(blocks_in(&file) > before);
    let answer = other.run(&["analyze", "killed.jsonl", "--json"]).json();
    assert_eq!(answer["benchmarks"][0]["replicates"], 12);
    assert_eq!(scopes(&answer), [("find_end", "source")]);
}

#[test]
fn a_pair_in_cpp_gets_verdicts_on_its_source() {
    needs!("cmake", "g++", "make");
    let track = Track::new();
    let sources = repository().join("examples/cpp");
    let deadheat = concat!("-DDEADHEAT=", env!("CARGO_BIN_EXE_deadheat"));
    let configure = ["-S", text(&sources), "-B", ".", deadheat];
    track.tool("cmake", &configure);
    track.tool(
        "cmake",
        &["--build", ".", "--target", "worker_old", "worker_new"],
    );
    let answer = raced(&track, &["./worker_old", "./worker_new", "reverse"]);
    let source = "source";
    let expected = [("reverse/10", source), ("reverse/1000", source)];
    assert_eq!(scopes(&answer), expected);
}

#[test]
fn a_function_in_rust_races_one_in_c() {
    let track = Track::new();
    let source = track.path("work.c");
    // As much work as `work` of `examples/suite.rs`, round by round.
    let program = "#define DEADHEAT_IMPLEMENTATION
#include <deadheat.h>
DEADHEAT_BENCHMARK(work)
{
    uint64_t sum = 0;
    for (uint64_t round = 0; round < 1000; round++)
        sum = deadheat_opaque(sum ^ round);
    deadheat_keep(sum);
}
DEADHEAT_MAIN();
";
    fs::write(&source, program).unwrap();
    built(&track, "gcc", &source, "c", &["-pthread"]);
    let answer = raced(&track, &[text(&suite()), "./c", "work", "--exact"]);
    // Of the program in Rust nobody knows how it was linked.
    assert_eq!(scopes(&answer), [("work", "binary")]);
    let names = ["baseline", "candidate"].map(|side| &answer["benchmarks"][0][side]["name"]);
    assert_eq!(names, ["suite", "c"]);
}

#[test]
fn google_benchmark_executables_race_and_so_do_families_within_one() {
    needs!("benchmark/benchmark.h", "g++");
    let track = Track::new();
    let source = track.path("suite.cpp");
    let program = "#include <benchmark/benchmark.h>
static void steps(benchmark::State &state)
{
    for (auto _ : state)
        for (int i = 0; i < state.range(0) * FACTOR; i++)
            benchmark::DoNotOptimize(i);
    state.counters[\"rounds\"] = 7;
}
BENCHMARK(steps)->Name(\"BM_few\")->Arg(100);
BENCHMARK(steps)->Name(\"BM_many\")->Arg(200);
static void broken(benchmark::State &state)
{
    state.SkipWithError(\"out of cheese\");
    for (auto _ : state) {}
}
BENCHMARK(broken);
BENCHMARK_MAIN();
";
    for (name, factor) in [("old", "1"), ("new", "2")] {
        let with_factor = format!("#define FACTOR {factor}\n{program}");
        fs::write(&source, with_factor).unwrap();
        built(&track, "g++", &source, name, &["-lbenchmark", "-lpthread"]);
    }
    let bench = [
        "bench",
        "--json",
        "-q",
        "--max-replicates",
        "12",
        "--metric",
        "cpu",
    ];
    let done = track.run(&[&bench[..], &["./old", "./new"]].concat());
    // The broken one costs itself only, and the exit code says so.
    let answer = done.json();
    assert_eq!(done.code, Some(3), "{done:?}");
    let expected = [("BM_few/100", "source"), ("BM_many/200", "source")];
    assert_eq!(scopes(&answer), expected);
    assert_eq!(answer["benchmarks"][0]["verdict"], "slower", "{answer}");
    let failure = answer["failures"][0].to_string();
    assert!(failure.contains("out of cheese"), "{failure}");
    let metrics = answer["benchmarks"][0]["metrics"].to_string();
    assert!(metrics.contains("rounds"), "{metrics}");

    let done = track.run(&[&bench[..], &["./old", "BM_few/100", "BM_many/200"]].concat());
    let answer = done.succeeds().json();
    let names = [("[BM_few/100 vs. BM_many/200]", "source")];
    assert_eq!(scopes(&answer), names);
}
