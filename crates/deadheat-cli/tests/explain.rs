//! `deadheat explain`: on programs whose work is known, and on all that goes wrong.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use common::compiled::{WORKER, built, own};
use common::{Track, suite};
use deadheat_testing::{kill, needs};
use serde_json::Value;

/// A program that adds up numbers, `THEN` times each.
const ADDS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static unsigned added(unsigned count)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < count * TIMES; i++) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    return sum;
}
__attribute__((noinline)) static unsigned same(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        __asm__ volatile("" : "+r"(count));
    return count;
}
int main(int argc, char **argv)
{
    unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 10000;
    printf("%u\n", added(count) + same(count));
    return 0;
}
"#;

/// The explanation as JSON, of which nothing is left in the folder for temporary files.
#[track_caller]
fn explained(track: &Track, words: &[&str]) -> Value {
    let mut command = track.command();
    command.args(["explain", "--by", "callgrind", "--json"]);
    let done = track.leaves_nothing(command.args(words));
    assert_eq!(done.code, Some(0), "{done:?}");
    done.json()
}

fn totals(pair: &Value) -> [u64; 2] {
    let totals = &pair["instructions"];
    ["baseline", "candidate"].map(|side| totals[side].as_u64().unwrap())
}

#[test]
fn a_command_against_itself_executes_the_same() {
    needs!("valgrind", "gcc");
    let track = Track::new();
    built(&track, "adds", ADDS, &["-DTIMES=1"]);
    let answer = explained(&track, &["--", "./adds", "./adds"]);
    let pair = &answer["pairs"][0];
    assert_eq!(totals(pair)[0], totals(pair)[1]);
    assert_eq!(pair["finding"], "same_work");
    assert!(own(pair, "added")[0] > 20_000);
}

#[test]
fn commands_read_the_input_that_the_user_names() {
    needs!("valgrind");
    let track = Track::new();
    fs::write(track.path("words"), "seven words\n").unwrap();
    explained(
        &track,
        &["--input", "words", "--", "cp /dev/stdin copy", "true"],
    );
    assert_eq!(
        fs::read_to_string(track.path("copy")).unwrap(),
        "seven words\n"
    );
    explained(&track, &["--", "cp /dev/stdin copy", "true"]);
    assert_eq!(fs::read_to_string(track.path("copy")).unwrap(), "");
}

#[test]
fn the_function_that_does_more_is_named_first_and_by_how_much() {
    needs!("valgrind", "gcc");
    let track = Track::new();
    built(&track, "old", ADDS, &["-DTIMES=1"]);
    built(&track, "new", ADDS, &["-DTIMES=3"]);
    let answer = explained(&track, &["--", "./old 5000", "./new 5000"]);
    let pair = &answer["pairs"][0];
    assert_eq!(pair["functions"][0]["function"], "added");
    let [old, new] = own(pair, "added");
    assert!((39_000..41_000).contains(&(new - old)), "{old} {new}");
    let [same, alike] = own(pair, "same");
    assert_eq!(same, alike);
    assert_eq!(pair["finding"], "other_work");
    let stacks = pair["stacks"].as_array().unwrap();
    let below_main = |stack: &&Value| {
        let frames = stack["frames"].as_array().unwrap();
        frames.ends_with(&[Value::from("main"), Value::from("added")])
    };
    assert_eq!(stacks.iter().filter(below_main).count(), 1, "{stacks:#?}");
}

#[test]
fn what_a_process_executed_before_it_forked_is_counted_once() {
    needs!("valgrind", "gcc");
    let track = Track::new();
    let source = r#"
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static void loops(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        __asm__ volatile("" : "+r"(i));
}
int main(void)
{
    loops(100000);
    if (fork() == 0) {
        loops(1000);
        return 0;
    }
    wait(0);
    return 0;
}
"#;
    built(&track, "forks", source, &[]);
    let answer = explained(&track, &["--", "./forks", "./forks"]);
    let pair = &answer["pairs"][0];
    let [count, again] = own(pair, "loops");
    assert_eq!(count, again);
    // Three instructions a round, or four; not as many again for the copy.
    assert!((300_000..410_000).contains(&count), "{count}");
}

#[test]
fn of_functions_only_the_calls_of_a_sample_are_counted() {
    needs!("valgrind", "gcc");
    let track = Track::new();
    built(&track, "old", WORKER, &["-DCOUNT=500", "-DTIMES=1"]);
    // Without symbols the calls are found all the same.
    let options = ["-DCOUNT=500", "-DTIMES=2", "-s"];
    built(&track, "new", WORKER, &options);
    let answer = explained(&track, &["./old", "./new", "sum"]);
    let pair = &answer["pairs"][0];
    let iterations = pair["counted"]["iterations"].as_u64().unwrap();
    assert!(iterations > 100, "{pair:#}");
    let [old, new] = totals(pair);
    let per_call = (new - old) as f64 / iterations as f64;
    assert!((1400.0..2100.0).contains(&per_call), "{per_call} {pair:#}");
    assert!(old as f64 / (iterations as f64) < 2100.0, "{pair:#}");
    let same = explained(&track, &["./old", "./old", "sum"]);
    assert_eq!(same["pairs"][0]["finding"], "same_work");
    assert_eq!(answer["left_out"].as_array().unwrap().len(), 0);
}

#[test]
fn workers_in_rust_mark_their_samples_too() {
    needs!("valgrind");
    let track = Track::new();
    let suite = suite();
    let suite = suite.display();
    let [old, new] = [format!("{suite} -- --fast"), format!("{suite} -- --slow")];
    let answer = explained(&track, &[&old, &new, "work", "several"]);
    let pairs = answer["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 3, "{answer:#}");
    let ratio = |pair: &Value| {
        let [old, new] = totals(pair);
        new as f64 / old as f64
    };
    // Twice the rounds, and a reading of the clock.
    assert!((1.8..2.05).contains(&ratio(&pairs[0])), "{answer:#}");
    let alike = pairs.iter().filter(|pair| pair["benchmark"] != "work");
    assert!(
        alike.clone().all(|pair| pair["finding"] == "same_work"),
        "{answer:#}"
    );
    let alone = explained(&track, &[&format!("{suite}"), "several"]);
    assert!(
        (1.8..2.05).contains(&ratio(&alone["pairs"][0])),
        "{alone:#}"
    );
}

#[test]
fn workers_in_python_are_refused_with_the_reason() {
    needs!("valgrind", "python3");
    let track = Track::new();
    let worker = "import deadheat\n\ndef one(_): pass\n\ndeadheat.benchmark(candidates=[one])(one)\ndeadheat.suite()\n";
    fs::write(track.path("worker.py"), worker).unwrap();
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python");
    let mut command = track.command();
    command
        .args([
            "explain",
            "--by",
            "callgrind",
            "python3 worker.py",
            "python3 worker.py",
        ])
        .env("PYTHONPATH", package);
    let done = common::Finished::from(command.output().unwrap());
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stderr.contains("is a worker in Python"), "{done:?}");
}

#[test]
fn the_time_of_a_race_stands_beside_the_instructions() {
    needs!("valgrind", "gcc");
    let track = Track::new();
    built(&track, "old", ADDS, &["-DTIMES=1"]);
    built(&track, "new", ADDS, &["-DTIMES=9"]);
    let race = ["run", "-q", "--budget", "20s", "--save", "run.jsonl", "--"];
    let commands = ["./old 9000000", "./new 9000000"];
    track.run(&[&race[..], &commands].concat()).succeeds();
    let answer = explained(&track, &["run.jsonl"]);
    let pair = &answer["pairs"][0];
    assert_eq!(answer["run"], "run.jsonl");
    assert_eq!(pair["wall"]["verdict"], "slower", "{pair:#}");
    assert_eq!(pair["finding"], "work");
    let text = track.run(&[
        "explain",
        "--by",
        "callgrind",
        "run.jsonl",
        "--top",
        "1",
        "--html",
        "why.html",
    ]);
    assert!(
        text.succeeds()
            .stdout
            .contains(": more work, in the functions below."),
        "{text:?}"
    );
    let page = fs::read_to_string(track.path("why.html")).unwrap();
    assert!(
        page.contains("<title>added: ") && !page.contains("<script"),
        "{page}"
    );
}

#[test]
fn both_kinds_of_documents_are_the_whole_of_standard_output() {
    needs!("valgrind", "gcc");
    let track = Track::new();
    built(&track, "old", ADDS, &["-DTIMES=1"]);
    built(&track, "new", ADDS, &["-DTIMES=2"]);
    let run = |option: &str| {
        track.run(&[
            "explain",
            "--by",
            "callgrind",
            option,
            "--html",
            "p.html",
            "--",
            "./old",
            "./new",
        ])
    };
    let markdown = run("--markdown");
    assert!(
        markdown.succeeds().stdout.starts_with("## "),
        "{markdown:?}"
    );
    assert_eq!(run("--json").json()["schema"], "deadheat.explanation/1");
}

#[test]
fn benchmarks_of_google_benchmark_are_counted_below_their_function() {
    needs!("valgrind", "g++", "benchmark/benchmark.h");
    let track = Track::new();
    let source = r#"
#include <benchmark/benchmark.h>
static void BM_sum(benchmark::State &state)
{
    for (auto _ : state)
        for (unsigned i = 0; i < TIMES * 20000; i++)
            benchmark::DoNotOptimize(i);
}
BENCHMARK(BM_sum)->Arg(8);
BENCHMARK(BM_sum)->Name("renamed")->Iterations(3);
BENCHMARK_MAIN();
"#;
    for (name, times) in [("old", "-DTIMES=1"), ("new", "-DTIMES=2")] {
        let file = track.path("sum.cpp");
        fs::write(&file, source).unwrap();
        let done = Command::new("g++")
            .args(["-O2", "-g", times, "-o"])
            .args([&track.path(name), &file])
            .args(["-lbenchmark", "-pthread"])
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    }
    let answer = explained(&track, &["./old", "./new"]);
    let [sum, renamed] = [0, 1].map(|place| &answer["pairs"][place]);
    assert_eq!(sum["counted"]["what"], "benchmark_function", "{sum:#}");
    assert_eq!(sum["functions"][0]["function"], "BM_sum(benchmark::State&)");
    assert_eq!(renamed["counted"]["what"], "launch", "{renamed:#}");
    assert_eq!(renamed["counted"]["iterations"], 3);
    let [old, new] = own(renamed, "BM_sum(benchmark::State&)");
    assert!((119_000..500_000).contains(&(new - old)), "{old} {new}");
}

/// Failures, with their exit codes and words that must be there.
#[track_caller]
fn fails(track: &Track, words: &[&str], code: i32, told: &[&str]) {
    let done = track.run(&[&["explain", "--by", "callgrind"], words].concat());
    assert_eq!(done.code, Some(code), "{done:?}");
    assert!(done.stdout.is_empty(), "{done:?}");
    for words in told {
        assert!(done.stderr.contains(words), "{words}: {done:?}");
    }
}

#[test]
fn commands_that_fail_are_told_by_name() {
    needs!("valgrind");
    let track = Track::new();
    let cases: [(&[&str], i32, &[&str]); 6] = [
        (
            &["--", "true", "sh -c 'exit 3'"],
            3,
            &["'sh' under valgrind exited with code 3"],
        ),
        (
            &["--", "true", "sh -c 'kill -6 $$'"],
            3,
            &["killed by signal 6 (SIGABRT)"],
        ),
        (
            &["--", "no-such-program", "true"],
            3,
            &["the program 'no-such-program' does not exist"],
        ),
        (
            &["--timeout", "1s", "--", "sleep 60", "true"],
            3,
            &["did not finish within 1s (--timeout)"],
        ),
        (
            &["--input", "nowhere", "--", "cat", "cat"],
            3,
            &["cannot read nowhere"],
        ),
        (&["--", "true"], 2, &["give two, each one quoted"]),
    ];
    for (words, code, told) in cases {
        fails(&track, words, code, told);
    }
}

#[test]
fn an_instruction_that_valgrind_does_not_know_is_told_as_that() {
    needs!("valgrind", "gcc");
    if !cfg!(target_arch = "x86_64") {
        deadheat_testing::skip!("the instruction is one of x86-64");
        return;
    }
    let track = Track::new();
    // An addition of AVX-512, behind a branch that only Valgrind looks at.
    let source =
        r#"int main(void) { __asm__ volatile(".byte 0x62,0xf1,0x7c,0x48,0x58,0xc0"); return 0; }"#;
    built(&track, "newer", source, &[]);
    let told = ["'./newer' has an instruction (0x62", "-march=x86-64-v2"];
    fails(&track, &["--", "./newer", "true"], 3, &told);
}

#[test]
fn programs_and_files_that_cannot_be_explained_are_told_apart() {
    let track = Track::new();
    fs::write(
        track.path("table.csv"),
        "benchmark,contender,wall_ns\nx,a,1\nx,b,2\n",
    )
    .unwrap();
    fails(&track, &["gone.jsonl"], 4, &["gone.jsonl"]);
    fails(&track, &["table.csv"], 2, &["no programs to run"]);
    fails(
        &track,
        &["--html", "nowhere/page.html", "--", "true", "true"],
        2,
        &["--html"],
    );
    fails(&track, &["no-such-program"], 3, &["no-such-program"]);
}

/// A run file of a race of one command in two folders, as a search for a commit leaves it.
fn race_in_folders(track: &Track, command: &str) {
    let race = ["run", "-q", "--save", "run.jsonl"];
    let hooks = ["--setup", "touch set-up", "--prepare", "touch prepared"];
    track
        .run(&[&race[..], &hooks, &["--", command, command]].concat())
        .succeeds();
    let run = fs::read_to_string(track.path("run.jsonl")).unwrap();
    let sides: Vec<&str> = run.split("\"command\":{").collect();
    let [before, old, new] = sides[..] else {
        panic!("{run}");
    };
    let within = |side: &str| {
        let folder = serde_json::json!(track.path(side)).to_string();
        format!("\"command\":{{\"directory\":{folder},")
    };
    let moved = [before, &within("old"), old, &within("new"), new].concat();
    fs::write(track.path("run.jsonl"), moved).unwrap();
}

#[test]
fn commands_that_raced_in_folders_of_their_own_run_there_with_their_hooks() {
    needs!("valgrind", "gcc");
    let track = Track::new();
    for (side, times) in [("old", "-DTIMES=1"), ("new", "-DTIMES=3")] {
        fs::create_dir(track.path(side)).unwrap();
        built(&track, &format!("{side}/adds"), ADDS, &[times]);
    }
    built(&track, "adds", ADDS, &["-DTIMES=1"]);
    race_in_folders(&track, "./adds 5000");
    let answer = explained(&track, &["run.jsonl", "--trust"]);
    let [old, new] = own(&answer["pairs"][0], "added");
    assert!((39_000..41_000).contains(&(new - old)), "{old} {new}");
    for hooked in ["old/set-up", "old/prepared", "new/set-up", "new/prepared"] {
        assert!(track.path(hooked).exists(), "{hooked}");
    }
    fs::remove_file(track.path("new/adds")).unwrap();
    let told = ["the program './adds' does not exist"];
    fails(&track, &["run.jsonl", "--trust"], 3, &told);
    fs::remove_dir_all(track.path("old")).unwrap();
    let told = ["the working folder", "/old' does not exist"];
    fails(&track, &["run.jsonl", "--trust"], 3, &told);
}

/// A program in place of Valgrind.
fn in_place_of_valgrind(track: &Track, script: &str) -> String {
    let folder = track.path("bin");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("valgrind");
    fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

#[test]
fn without_valgrind_it_is_named() {
    let track = Track::new();
    let mut command = track.command();
    command
        .args([
            "explain",
            "--by",
            "callgrind",
            "--",
            "/bin/true",
            "/bin/true",
        ])
        .env("PATH", "/nowhere");
    let done = common::Finished::from(command.output().unwrap());
    assert_eq!(done.code, Some(5), "{done:?}");
    assert!(
        done.stderr
            .contains("counts the instructions, is not installed")
            && done.stderr.contains("linux-perf"),
        "{done:?}"
    );
}

#[test]
fn what_callgrind_wrote_is_told_by_its_line_where_it_is_cut() {
    let track = Track::new();
    let script = r#"
[ "$1" = --version ] && { echo valgrind-9; exit; }
for word in "$@"; do
    case $word in --callgrind-out-file=*) out=${word#*=}; out=${out%\%p} ;; esac
done
printf 'positions: line\nevents: Ir\nfn=(1) main\n1 5\n' > "${out}12""#;
    let path = in_place_of_valgrind(&track, script);
    let mut command = track.command();
    command
        .args(["explain", "--by", "callgrind", "--", "true", "true"])
        .env("PATH", path);
    let done = common::Finished::from(command.output().unwrap());
    assert_eq!(done.code, Some(4), "{done:?}");
    assert!(
        done.stderr
            .contains("dump.12:4: the file ends before its totals, so it was cut off"),
        "{done:?}"
    );
}

#[test]
fn an_interrupt_ends_it_and_leaves_nothing_behind() {
    needs!("valgrind");
    let track = Track::new();
    let temporary = track.path("temporary");
    fs::create_dir_all(&temporary).unwrap();
    let mut command = track.command();
    command
        .args(["explain", "--by", "callgrind", "--", "sleep 60", "true"])
        .env("TMPDIR", &temporary);
    let child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    common::wait_until("it counts", || temporary.read_dir().unwrap().count() > 0);
    assert!(kill(&["-INT", &child.id().to_string()]));
    let done = common::Finished::from(child.wait_with_output().unwrap());
    assert_eq!(done.code, Some(130), "{done:?}");
    assert_eq!(temporary.read_dir().unwrap().count(), 0);
}
