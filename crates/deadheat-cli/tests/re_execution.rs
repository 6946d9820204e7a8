//! Programs that start themselves again: which file their measured processes executed, and what the
//! answer claims about it.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use common::Track;
use deadheat_testing::{needs, skip};
use serde_json::Value;

/// Works for about a millisecond. `AGAIN` is what the program does first.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) unsigned work(unsigned rounds)
{
    unsigned sum = 1;
    for (unsigned i = 0; i < rounds; i++) sum = sum * 31 + (sum >> 7);
    return sum;
}
int main(int count, char **words)
{
    (void)count;
    AGAIN;
    printf("%u\n", work(400000));
    return 0;
}
"#;

/// As Google Benchmark from 1.9.3 on.
const AT_FIXED_ADDRESSES: &str = "int now = personality(0xffffffff); \
    if (!(now & ADDR_NO_RANDOMIZE)) { \
        personality(now | ADDR_NO_RANDOMIZE); execv(words[0], words); }";

fn once(how: &str) -> String {
    format!("if (!getenv(\"AGAIN\")) {{ setenv(\"AGAIN\", \"1\", 1); {how}; }}")
}

/// A folder with `app`, which does this first, linked through deadheat.
fn linked(again: &str) -> Track {
    let track = Track::new();
    fs::write(track.path("app.c"), PROGRAM).unwrap();
    let define = format!("-DAGAIN={again}");
    let compile = ["-O1", "-ffunction-sections", &define, "-c", "app.c"];
    track.tool("gcc", &compile);
    let deadheat = env!("CARGO_BIN_EXE_deadheat");
    track.tool(deadheat, &["link", "--", "gcc", "app.o", "-o", "app"]);
    track
}

/// Six replicates of a command against itself: its only comparison.
fn raced(track: &Track, commands: [&str; 2]) -> Value {
    let options = ["run", "--max-replicates", "6", "--json", "--"];
    let answer = track.run(&[&options[..], &commands].concat());
    answer.succeeds().json()["benchmarks"][0].clone()
}

fn images(comparison: &Value) -> [&Value; 2] {
    let processes = comparison["processes"].as_array();
    let processes = processes.unwrap_or_else(|| panic!("{comparison:#}"));
    [&processes[0]["image"], &processes[1]["image"]]
}

#[track_caller]
fn stays_on_its_links(again: &str) -> Value {
    let comparison = raced(&linked(again), ["./app a", "./app b"]);
    assert_eq!(images(&comparison), ["as-started"; 2], "{comparison:#}");
    assert_eq!(comparison["scope"], "source", "{comparison:#}");
    comparison
}

/// The reason why the code is as it was linked.
fn reason(comparison: &Value) -> &str {
    let warnings = comparison["warnings"].as_array().unwrap();
    let fixed = warnings.iter().find(|one| one["code"] == "placement-fixed");
    fixed.unwrap_or_else(|| panic!("{comparison:#}"))["message"]
        .as_str()
        .unwrap()
}

/// False under the system call filter of many containers.
fn addresses_can_be_fixed() -> bool {
    let done = Command::new("setarch").args(["-R", "true"]).status();
    done.is_ok_and(|status| status.success())
}

/// A script of the folder.
fn script(track: &Track, name: &str, text: &str) {
    let path = track.path(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_plain_program_is_measured_on_its_links_at_random_addresses() {
    needs!("gcc", "ld.lld");
    let comparison = stays_on_its_links("(void)words");
    assert_eq!(comparison["processes"][0]["addresses"], "random");
    assert_eq!(comparison["processes"][1]["padded"], true);
}

#[test]
fn one_that_wants_fixed_addresses_is_started_at_them_and_stays_on_its_links() {
    needs!("gcc", "ld.lld");
    if !addresses_can_be_fixed() {
        skip!("the system does not let addresses be fixed");
    }
    let comparison = stays_on_its_links(AT_FIXED_ADDRESSES);
    assert_eq!(comparison["processes"][0]["addresses"], "fixed");
    assert_eq!(comparison["processes"][1]["addresses"], "fixed");
}

#[test]
fn one_that_starts_itself_again_by_its_name_is_given_that_of_its_link() {
    needs!("gcc", "ld.lld");
    stays_on_its_links(&once("execv(words[0], words)"));
}

#[test]
fn one_that_starts_itself_again_by_proc_stays_on_its_links() {
    needs!("gcc", "ld.lld");
    stays_on_its_links(&once("execv(\"/proc/self/exe\", words)"));
}

#[test]
fn one_that_goes_on_in_its_own_path_is_raced_as_linked_and_says_why() {
    needs!("gcc", "ld.lld");
    let track = linked(&once("execv(\"./app\", words)"));
    let comparison = raced(&track, ["./app a", "./app b"]);
    assert_eq!(images(&comparison), ["as-started"; 2], "{comparison:#}");
    assert_eq!(comparison["scope"], "binary");
    let reason = reason(&comparison);
    assert!(reason.contains("starts itself again"), "{reason}");
}

#[test]
fn the_program_behind_a_script_is_seen_and_not_the_shell() {
    needs!("gcc", "ld.lld");
    let track = linked("(void)words");
    script(&track, "through", "#!/bin/sh\nexec ./app \"$@\"\n");
    let comparison = raced(&track, ["./through a", "./through b"]);
    let app = fs::canonicalize(track.path("app")).unwrap();
    assert_eq!(images(&comparison), [app.to_str().unwrap(); 2]);
    assert_eq!(comparison["scope"], "binary");
}

#[test]
fn a_script_is_executed_as_started_by_its_interpreter() {
    let track = Track::new();
    script(
        &track,
        "work",
        "#!/bin/sh\ni=0\nwhile [ $i -lt 99 ]; do i=$((i + 1)); done\n",
    );
    let comparison = raced(&track, ["./work a", "./work b"]);
    assert_eq!(images(&comparison), ["as-started"; 2], "{comparison:#}");
    assert_eq!(comparison["scope"], "binary");
}

#[test]
fn an_environment_that_does_not_reach_one_side_is_a_difference() {
    let track = Track::new();
    let comparison = raced(&track, ["true", "env -i true"]);
    assert_eq!(comparison["processes"][0]["padded"], true);
    assert_eq!(comparison["processes"][1]["padded"], false);
    let warnings = comparison["warnings"].to_string();
    assert!(warnings.contains("processes-differ"), "{warnings}");
}

/// Fails while a tracer watches, as a leak sanitizer does.
const UNTRACED: &str = "char line[256]; FILE *file = fopen(\"/proc/self/status\", \"r\"); \
    while (file && fgets(line, sizeof line, file)) \
        if (!strncmp(line, \"TracerPid:\", 10) && atoi(line + 10)) return 23; \
    if (file) fclose(file)";

#[test]
fn one_that_does_not_bear_being_traced_is_raced_and_nothing_is_claimed_of_its_links() {
    needs!("gcc", "ld.lld");
    let comparison = raced(&linked(UNTRACED), ["./app a", "./app b"]);
    assert_eq!(images(&comparison), [&Value::Null; 2], "{comparison:#}");
    assert_eq!(comparison["scope"], "binary");
    let reason = reason(&comparison);
    assert!(reason.contains("could be seen"), "{reason}");
}

#[test]
fn signals_reach_a_traced_program() {
    let track = Track::new();
    script(&track, "waits", "#!/bin/sh\nsleep 0.01 & wait\n");
    let comparison = raced(&track, ["./waits a", "./waits b"]);
    assert_eq!(images(&comparison), ["as-started"; 2], "{comparison:#}");
}

#[test]
fn one_that_stops_itself_holds_up_the_traced_launch_no_longer_than_others() {
    let track = Track::new();
    script(&track, "stops", "#!/bin/sh\nkill -STOP $$\n");
    let words = ["run", "--timeout", "0.3", "--", "./stops a", "./stops b"];
    track.run(&words).fails_with(3, &["./stops"]);
}

/// A program of Google Benchmark that starts itself again like its releases from 1.9.3 on.
const GOOGLE: &str = r#"
#include <benchmark/benchmark.h>
#include <sys/personality.h>
#include <unistd.h>
static void sum(benchmark::State &state)
{
    unsigned sum = 1;
    for (auto _ : state) {
        for (int i = 0; i < 300; i++) sum = sum * 31 + (sum >> 7);
        benchmark::DoNotOptimize(sum);
    }
}
BENCHMARK(sum);
int main(int count, char **words)
{
    int now = personality(0xffffffff);
    if (AGAIN && !(now & ADDR_NO_RANDOMIZE)) {
        personality(now | ADDR_NO_RANDOMIZE);
        execv(words[0], words);
    }
    benchmark::Initialize(&count, words);
    benchmark::RunSpecifiedBenchmarks();
}
"#;

/// Builds the executable `name`, which starts itself again if `again`.
fn google(track: &Track, name: &str, again: bool) {
    fs::write(track.path("google.cpp"), GOOGLE).unwrap();
    let define = format!("-DAGAIN={again}");
    let object = format!("{name}.o");
    let compile = [
        "-O1",
        "-ffunction-sections",
        &define,
        "-c",
        "google.cpp",
        "-o",
        &object,
    ];
    track.tool("g++", &compile);
    let deadheat = env!("CARGO_BIN_EXE_deadheat");
    let link = [
        "link",
        "--",
        "g++",
        &object,
        "-lbenchmark",
        "-lpthread",
        "-o",
        name,
    ];
    track.tool(deadheat, &link);
}

fn raced_builds(track: &Track, builds: [&str; 2]) -> Value {
    let options = ["bench", "--max-replicates", "6", "--json"];
    let answer = track.run(&[&options[..], &builds].concat());
    answer.json()["benchmarks"][0].clone()
}

#[test]
fn google_benchmark_that_fixes_its_addresses_is_measured_on_its_links() {
    needs!("benchmark/benchmark.h", "g++", "ld.lld");
    if !addresses_can_be_fixed() {
        skip!("the system does not let addresses be fixed");
    }
    let track = Track::new();
    google(&track, "old", true);
    google(&track, "new", true);
    let comparison = raced_builds(&track, ["./old", "./new"]);
    assert_eq!(images(&comparison), ["as-started"; 2], "{comparison:#}");
    assert_eq!(comparison["scope"], "source");
    assert_eq!(comparison["processes"][0]["addresses"], "fixed");
}

#[test]
fn builds_of_which_one_fixes_its_addresses_are_raced_alike_and_differ_in_the_answer() {
    needs!("benchmark/benchmark.h", "g++", "ld.lld");
    if !addresses_can_be_fixed() {
        skip!("the system does not let addresses be fixed");
    }
    let track = Track::new();
    google(&track, "old", false);
    google(&track, "new", true);
    let comparison = raced_builds(&track, ["./old", "./new"]);
    assert_eq!(comparison["processes"][0]["addresses"], "fixed");
    assert_eq!(comparison["processes"][1]["addresses"], "fixed");
    let warnings = comparison["warnings"].to_string();
    assert!(
        warnings.contains("'new' turns off address randomisation"),
        "{warnings}"
    );
}

#[test]
fn google_benchmark_behind_a_script_is_seen_by_its_own_file() {
    needs!("benchmark/benchmark.h", "g++");
    let track = Track::new();
    google(&track, "app", true);
    script(&track, "old", "#!/bin/sh\nexec ./app \"$@\"\n");
    script(&track, "new", "#!/bin/sh\n./app \"$@\"\n");
    let comparison = raced_builds(&track, ["./old", "./new"]);
    let app = fs::canonicalize(track.path("app")).unwrap();
    assert_eq!(
        images(&comparison),
        [app.to_str().unwrap(); 2],
        "{comparison:#}"
    );
    assert_eq!(comparison["scope"], "binary");
}
