//! `deadheat explain --by perf`: on programs whose work is known, and on all that goes wrong. Clocks
//! are real where there are no counters of instructions, so that only directions are asserted.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use common::compiled::{WORKER, built, own};
use common::{Finished, Track};
use deadheat_testing::{kill, needs, skip};
use serde_json::Value;

/// Adds up numbers in a function, and in one that is inlined.
const ADDS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static inline __attribute__((always_inline)) unsigned inlined(unsigned count)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < count; i++) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    return sum;
}
__attribute__((noinline)) static unsigned added(unsigned count)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < count * TIMES; i++) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    return sum + inlined(count);
}
int main(int argc, char **argv)
{
    printf("%u\n", added((unsigned)atoi(argv[1])));
    return 0;
}
"#;

/// Returns whether perf may take samples here at all.
fn may_sample() -> bool {
    let mut command = Command::new("perf");
    command.args(["stat", "-e", "cpu-clock:u", "true"]);
    command.output().is_ok_and(|done| done.status.success())
}

/// An explanation by perf, which leaves nothing behind.
#[track_caller]
fn run(track: &Track, words: &[&str]) -> Finished {
    let mut command = track.command();
    track.leaves_nothing(command.args(["explain", "--by", "perf"]).args(words))
}

#[test]
fn the_function_of_a_command_that_takes_longer_is_named_first() {
    needs!("perf", "gcc");
    if !may_sample() {
        skip!("perf may take no samples here");
        return;
    }
    let track = Track::new();
    built(&track, "old", ADDS, &["-DTIMES=1"]);
    built(&track, "new", ADDS, &["-DTIMES=4"]);
    let commands = ["--", "./old 100000000", "./new 100000000"];
    let json = run(
        &track,
        &[&["--json", "--html", "why.html"], &commands[..]].concat(),
    );
    assert_eq!(json.code, Some(0), "{json:?}");
    let answer = json.json();
    let unit = answer["unit"].as_str().unwrap();
    assert!(
        ["instruction_samples", "time_samples"].contains(&unit),
        "{unit}"
    );
    assert!(answer["counter"].as_str().unwrap().starts_with("perf-"));
    let pair = &answer["pairs"][0];
    assert_eq!(pair["functions"][0]["function"], "added");
    assert_eq!(pair["finding"], "other_work");
    let [old, new] = own(pair, "added");
    assert!(new > 2 * old && old > 50, "{old} {new}");
    // What was inlined is a function of its own, and the one around it has it besides.
    let [inlined, _] = own(pair, "inlined");
    assert!(inlined > 50, "{pair:#}");
    let around = &pair["functions"][0]["inclusive"]["baseline"];
    assert_eq!(around.as_u64().unwrap(), old + inlined, "{pair:#}");
    let text = run(&track, &commands);
    let text = &text.succeeds().stdout;
    assert!(
        text.contains(" in the functions below.") && text.contains("sampled by perf"),
        "{text}"
    );
    assert!(!text.contains("instructions of"), "{text}");
    let page = fs::read_to_string(track.path("why.html")).unwrap();
    assert!(
        page.contains("<title>added: ") && page.contains(" samples in this call"),
        "{page}"
    );
}

#[test]
fn a_whole_worker_is_sampled_and_said_to_be() {
    needs!("perf", "gcc");
    if !may_sample() {
        skip!("perf may take no samples here");
        return;
    }
    let track = Track::new();
    built(&track, "old", WORKER, &["-DCOUNT=5000", "-DTIMES=1"]);
    built(&track, "new", WORKER, &["-DCOUNT=5000", "-DTIMES=4"]);
    let answer = run(&track, &["--json", "./old", "./new", "sum"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let answer = answer.json();
    let pair = &answer["pairs"][0];
    assert_eq!(pair["counted"]["what"], "worker", "{pair:#}");
    let totals = ["baseline", "candidate"].map(|side| pair["totals"][side].as_u64().unwrap());
    assert!(totals[1] > 2 * totals[0] && totals[0] > 100, "{pair:#}");
    assert_eq!(pair["instructions"], Value::Null);
}

/// A script as an executable of Google Benchmark, whose iterations take so many rounds of a loop.
fn pretended(track: &Track, name: &str, rounds: u32) {
    let text = format!(
        r#"#!/bin/sh
case "$*" in *=^deadheat_matches_nothing$)
  echo 'Failed to match any benchmarks against regex: ^deadheat_matches_nothing$' >&2; exit;;
esac
for argument; do case "$argument" in
  --benchmark_list_tests=true) echo a/8; exit;;
  --benchmark_min_time=*x) count=${{argument#*=}}; count=${{count%x}};;
esac; done
[ {rounds} = 0 ] && {{
  echo 'The value of flag --benchmark_min_time is expected to be a double' >&2; exit 1
}}
k=0; while [ $k -lt $((count * {rounds})) ]; do k=$((k + 1)); done
"#
    );
    fs::write(track.path(name), text).unwrap();
    fs::set_permissions(track.path(name), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn launches_of_google_benchmark_make_the_same_number_of_iterations_on_both_sides() {
    needs!("perf");
    if !may_sample() {
        skip!("perf may take no samples here");
        return;
    }
    let track = Track::new();
    pretended(&track, "old", 1000);
    pretended(&track, "new", 4000);
    let answer = run(&track, &["--json", "./old", "./new"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let answer = answer.json();
    let pair = &answer["pairs"][0];
    assert_eq!(pair["counted"]["what"], "launch", "{pair:#}");
    assert!(
        pair["counted"]["iterations"].as_u64().unwrap() > 10,
        "{pair:#}"
    );
    let totals = ["baseline", "candidate"].map(|side| pair["totals"][side].as_u64().unwrap());
    assert!(totals[1] > 2 * totals[0] && totals[0] > 100, "{pair:#}");
    // One of an older release cannot be told how many.
    pretended(&track, "old", 0);
    let refused = run(&track, &["./old", "./new"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let told = "benchmark 'a/8': './old' does not accept a number of iterations";
    assert!(refused.stderr.contains(told), "{refused:?}");
}

#[test]
fn commands_that_fail_under_perf_are_told_by_name() {
    needs!("perf");
    if !may_sample() {
        skip!("perf may take no samples here");
        return;
    }
    let track = Track::new();
    let cases: [(&[&str], &str); 4] = [
        (
            &["--", "true", "sh -c 'exit 3'"],
            "'sh' under perf exited with code 3",
        ),
        (
            &["--", "true", "sh -c 'kill -6 $$'"],
            "killed by signal 6 (SIGABRT)",
        ),
        (
            &["--", "no-such-program", "true"],
            "the program 'no-such-program' does not exist",
        ),
        (
            &["--timeout", "1s", "--", "sleep 60", "true"],
            "'sleep' under perf did not finish within 1s (--timeout)",
        ),
    ];
    for (words, told) in cases {
        let done = run(&track, words);
        assert_eq!(done.code, Some(3), "{done:?}");
        assert!(
            done.stderr.contains(told) && done.stdout.is_empty(),
            "{told}: {done:?}"
        );
    }
}

#[test]
fn an_interrupt_ends_perf_too_and_leaves_nothing_behind() {
    needs!("perf");
    if !may_sample() {
        skip!("perf may take no samples here");
        return;
    }
    let track = Track::new();
    let temporary = track.path("temporary");
    fs::create_dir_all(&temporary).unwrap();
    let mut command = track.command();
    command
        .args(["explain", "--by", "perf", "--", "sleep 60", "true"])
        .env("TMPDIR", &temporary);
    let pipes = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = pipes.spawn().unwrap();
    common::wait_until("it runs", || temporary.read_dir().unwrap().count() > 0);
    assert!(kill(&["-INT", &child.id().to_string()]));
    let done = Finished::from(child.wait_with_output().unwrap());
    assert_eq!(done.code, Some(130), "{done:?}");
    assert_eq!(temporary.read_dir().unwrap().count(), 0);
}

/// What is said where this script stands in the place of perf.
fn in_place_of_perf(track: &Track, script: &str) -> Finished {
    let folder = track.path("bin");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("perf");
    fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut command = track.command();
    command
        .args(["explain", "--by", "perf", "--", "true", "true"])
        .env("PATH", path);
    Finished::from(command.output().unwrap())
}

#[test]
fn without_a_perf_that_starts_it_is_named() {
    let track = Track::new();
    let mut command = track.command();
    command
        .args(["explain", "--by", "perf", "--", "/bin/true", "/bin/true"])
        .env("PATH", "/nowhere");
    let missing = Finished::from(command.output().unwrap());
    // As the one of Ubuntu does, where that of the kernel is not installed.
    let hollow = in_place_of_perf(
        &track,
        "echo 'WARNING: perf not found for kernel' >&2; exit 2",
    );
    for done in [missing, hollow] {
        assert_eq!(done.code, Some(5), "{done:?}");
        assert!(done.stderr.contains("perf is not installed"), "{done:?}");
        assert!(done.stderr.contains("linux-perf"), "{done:?}");
    }
}

#[test]
fn samples_that_were_cut_are_told_by_their_line() {
    needs!("perf");
    if !may_sample() {
        skip!("perf may take no samples here");
        return;
    }
    let track = Track::new();
    let script = r#"
case $1 in
    --version) echo perf version 9 ;;
    script) printf '9 cpu-clock:u: \n\t1 main (/bin/true)\n' ;;
esac"#;
    let done = in_place_of_perf(&track, script);
    assert_eq!(done.code, Some(4), "{done:?}");
    let told = "perf script:2: the file ends within a sample, so it was cut off";
    assert!(done.stderr.contains(told), "{done:?}");
}
