//! Races whose instructions callgrind counts.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use common::Track;
use common::compiled::built;
use deadheat_testing::needs;
use serde_json::Value;

/// A program that loops as often as it was told when it was built.
const LOOPS: &str = r#"
int main(void)
{
    for (unsigned i = 0; i < TIMES; i++)
        __asm__ volatile("" : "+r"(i));
    return 0;
}
"#;

/// A worker that does the same, and one benchmark that does nothing.
const WORKER: &str = r#"
#define DEADHEAT_IMPLEMENTATION
#include <deadheat.h>
DEADHEAT_BENCHMARK(loops)
{
    for (unsigned i = 0; i < TIMES; i++)
        __asm__ volatile("" : "+r"(i));
}
DEADHEAT_BENCHMARK(same)
{
    for (unsigned i = 0; i < 777; i++)
        __asm__ volatile("" : "+r"(i));
}
DEADHEAT_MAIN();
"#;

/// The answer of a race that ends well and leaves nothing in the folder for temporary files.
#[track_caller]
fn raced(track: &Track, words: &[&str]) -> Value {
    let mut command = track.command();
    command.args(words);
    // Commands stand behind a `--` of their own.
    command.args(["--json", "-q", "--seed", "7", "--save", "run.jsonl"]);
    let done = track.leaves_nothing(&mut command);
    assert_eq!(done.code, Some(0), "{done:?}");
    done.json()
}

#[track_caller]
fn raced_commands(track: &Track, commands: [&str; 2]) -> Value {
    let mut command = track.command();
    command
        .args([
            "run",
            "--callgrind",
            "--json",
            "-q",
            "--save",
            "run.jsonl",
            "--",
        ])
        .args(commands);
    let done = common::Finished::from(command.output().unwrap());
    assert_eq!(done.code, Some(0), "{done:?}");
    done.json()
}

fn change(comparison: &Value) -> f64 {
    comparison["change"].as_f64().unwrap()
}

fn codes(comparison: &Value) -> Vec<&str> {
    let warnings = comparison["warnings"].as_array().unwrap().iter();
    warnings.map(|one| one["code"].as_str().unwrap()).collect()
}

#[test]
fn a_command_against_itself_is_a_dead_heat_with_no_difference_at_all() {
    needs!("valgrind", "gcc");
    let track = Track::new();
    built(&track, "loops", LOOPS, &["-DTIMES=30000"]);
    let answer = raced_commands(&track, ["./loops", "./loops"]);
    let comparison = &answer["benchmarks"][0];
    assert_eq!(comparison["metric"], "instructions");
    assert_eq!(change(comparison), 0.0, "{comparison:#}");
    assert_eq!(comparison["verdict"], "equivalent");
    assert!(
        codes(comparison).contains(&"counted-by-callgrind"),
        "{comparison:#}"
    );
    assert!(
        !codes(comparison).contains(&"timer-limited"),
        "{comparison:#}"
    );
    // No time stands beside the counts.
    assert_eq!(
        comparison["metrics"].as_array().unwrap().len(),
        1,
        "{comparison:#}"
    );
    let run = fs::read_to_string(track.path("run.jsonl")).unwrap();
    assert!(
        run.contains("\"callgrind\":true") && !run.contains("\"wall_ns\""),
        "{run}"
    );
}

#[test]
fn a_command_that_executes_more_is_above_by_as_much_and_its_run_can_be_explained() {
    needs!("valgrind", "gcc");
    let track = Track::new();
    built(&track, "old", LOOPS, &["-DTIMES=1000000"]);
    built(&track, "new", LOOPS, &["-DTIMES=1020000"]);
    let answer = raced_commands(&track, ["./old", "./new"]);
    let comparison = &answer["benchmarks"][0];
    assert_eq!(comparison["verdict"], "slower");
    let change = change(comparison);
    assert!((0.015..0.02).contains(&change), "{change}");
    let explained = track.run(&["explain", "run.jsonl", "--json"]).json();
    let pair = &explained["pairs"][0];
    let again = pair["instructions"]["change"].as_f64().unwrap();
    assert!((change - again).abs() < 0.001, "{change} {again}");
    assert_eq!(pair["wall"], Value::Null);
    let resumed = track.run(&[
        "run",
        "--resume",
        "run.jsonl",
        "--max-replicates",
        "1",
        "-q",
    ]);
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
}

#[test]
fn of_functions_the_calls_are_counted_and_nothing_else() {
    needs!("valgrind", "gcc");
    let track = Track::new();
    built(&track, "old", WORKER, &["-DTIMES=1000"]);
    built(&track, "new", WORKER, &["-DTIMES=1100", "-s"]);
    let answer = raced(&track, &["bench", "--callgrind", "./old", "./new"]);
    let [loops, same] = [0, 1].map(|place| &answer["benchmarks"][place]);
    assert_eq!(loops["benchmark"], "loops");
    let more = change(loops);
    assert!((0.09..0.101).contains(&more), "{loops:#}");
    assert_eq!(same["verdict"], "equivalent");
    assert_eq!(change(same), 0.0, "{same:#}");
    assert_eq!(loops["metrics"].as_array().unwrap().len(), 1, "{loops:#}");
}

#[test]
fn what_cannot_be_counted_or_judged_is_refused_by_its_option() {
    needs!("valgrind");
    let track = Track::new();
    for (options, told) in [
        (
            &["--metric", "wall"][..],
            "cannot be judged by wall (--metric)",
        ),
        (&["-S"], "--callgrind and --shell cannot be combined"),
        (&["--show-output"], "--callgrind and --output"),
        (&["--value", "x=1"], "--callgrind and --value"),
    ] {
        let words = [&["run", "--callgrind"], options, &["--", "true", "true"]].concat();
        let done = track.run(&words);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.stderr.contains(told), "{done:?}");
    }
}

#[test]
fn without_valgrind_or_with_an_instruction_it_does_not_know_the_race_says_so() {
    needs!("valgrind", "gcc");
    let track = Track::new();
    let mut command = track.command();
    command
        .args(["run", "--callgrind", "--", "/bin/true", "/bin/true"])
        .env("PATH", "/nowhere");
    let done = common::Finished::from(command.output().unwrap());
    assert_eq!(done.code, Some(5), "{done:?}");
    assert!(
        done.stderr
            .contains("counts the instructions, is not installed"),
        "{done:?}"
    );
    if cfg!(target_arch = "x86_64") {
        let newer = r#"int main(void) { __asm__ volatile(".byte 0x62,0xf1,0x7c,0x48,0x58,0xc0"); return 0; }"#;
        built(&track, "newer", newer, &[]);
        let done = track.run(&["run", "--callgrind", "--", "./newer", "true"]);
        assert_eq!(done.code, Some(3), "{done:?}");
        assert!(
            done.stderr
                .contains("Valgrind does not know an instruction"),
            "{done:?}"
        );
    }
}

/// The same loop behind whatever it is started by.
const AGAIN: &str = r#"
#include <stdlib.h>
#include <unistd.h>
int main(int count, char **words)
{
    (void)count;
    if (!getenv("AGAIN")) {
        setenv("AGAIN", "1", 1);
        execv(words[0], words);
    }
    for (unsigned i = 0; i < TIMES; i++)
        __asm__ volatile("" : "+r"(i));
    return 0;
}
"#;

#[test]
fn programs_behind_a_script_and_ones_that_start_themselves_again_are_counted() {
    needs!("valgrind", "gcc");
    let track = Track::new();
    for (name, times) in [("old", "-DTIMES=100000"), ("new", "-DTIMES=200000")] {
        built(&track, &format!("{name}-loops"), LOOPS, &[times]);
        built(&track, &format!("{name}-again"), AGAIN, &[times]);
        let script = track.path(&format!("{name}-script"));
        fs::write(&script, format!("#!/bin/sh\n./{name}-loops\ntrue\n")).unwrap();
        fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    }
    for kind in ["script", "again"] {
        let _ = fs::remove_file(track.path("run.jsonl"));
        let commands = ["old", "new"].map(|side| format!("./{side}-{kind}"));
        let answer = raced_commands(&track, [&commands[0], &commands[1]]);
        let comparison = &answer["benchmarks"][0];
        assert_eq!(comparison["verdict"], "slower", "{kind}: {comparison:#}");
    }
}
