//! `deadheat calibrate`: what it prints, keeps, and what later races say of it.
//! On a real clock nothing is said of how its races end.

mod common;

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use common::{Finished, Track, wait_until};
use deadheat_testing::kill;
use serde_json::Value;

/// Runs it with this file in the place of the user's own.
fn run(track: &Track, args: &[&str]) -> Finished {
    let mut command = track.command();
    command
        .env("DEADHEAT_CALIBRATION", track.path("calibration.json"))
        // One round of a race or two of each kind.
        .env("DEADHEAT_CALIBRATE_LEAST", "1");
    Finished::from(command.args(args).output().unwrap())
}

fn kind<'a>(calibration: &'a Value, name: &str) -> &'a Value {
    let kinds = calibration["kinds"].as_array().unwrap();
    let found = kinds.iter().find(|kind| kind["kind"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {calibration}"))
}

fn races(calls: &Value) -> u64 {
    let calls = calls.as_object().unwrap();
    calls.values().map(|count| count.as_u64().unwrap()).sum()
}

fn schema_of(calibration: &Value) {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/calibration-1.schema.json");
    let schema: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    for field in schema["required"].as_array().unwrap() {
        let field = field.as_str().unwrap();
        assert!(calibration.get(field).is_some(), "{field} is missing");
    }
}

#[test]
fn a_calibration_is_told_kept_quoted_and_shown_again() {
    let track = Track::new();
    let told = run(
        &track,
        &[
            "calibrate",
            "--quick",
            "--seed",
            "7",
            "--markdown",
            "page.md",
        ],
    );
    told.succeeds();
    for words in [
        "Calibration of 20",
        "seed 7",
        "Identical contenders against each other",
        "Noise between identical contenders",
        "Smallest difference found",
        "Races with a known difference",
        "functions",
        "builds",
        "commands",
        "noise",
        "saved in",
    ] {
        assert!(told.stdout.contains(words), "{words}: {}", told.stdout);
    }
    let page = fs::read_to_string(track.path("page.md")).unwrap();
    assert!(page.starts_with("# Calibration of a machine\n"), "{page}");
    assert!(track.recorded().is_empty(), "its own runs are not kept");

    let file = track.path("calibration.json");
    let saved: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    schema_of(&saved);
    assert_eq!(saved["seed"], 7);
    assert_eq!(saved["ended"], "finished");
    for (name, same) in [("functions", 2), ("builds", 1), ("commands", 1)] {
        let kind = kind(&saved, name);
        assert_eq!(kind["problem"], Value::Null, "{kind:#}");
        assert_eq!(kind["planned"], same);
        assert_eq!(races(&kind["calls"]), same, "{kind:#}");
        assert_eq!(kind["false_calls"]["of"], same);
        assert!(kind["baseline_ns"].as_f64().unwrap() > 1_000.0);
        assert_eq!(kind["detectable"].as_array().unwrap().len(), 3);
        assert_eq!(kind["known"][0]["change"], 0.001);
        let exact = name != "commands";
        assert_eq!(kind["coverage"].is_object(), exact, "{kind:#}");
    }

    // A race of a kind quotes what is known of that kind, and keeps it.
    let args = [
        "run",
        "-v",
        "-r",
        "6",
        "--save",
        "run.jsonl",
        "--",
        "true",
        "true",
    ];
    let race = run(&track, &args);
    let one_line = race.succeeds().stdout.split_whitespace();
    let one_line = one_line.collect::<Vec<_>>().join(" ");
    assert!(
        one_line.contains("this machine was calibrated on 20"),
        "{one_line}"
    );
    assert!(
        one_line.contains("of 1 A/A races of commands were called"),
        "{one_line}"
    );
    let again = track.run(&["analyze", "--json", "run.jsonl"]);
    let quoted = &again.succeeds().json()["calibration"];
    assert_eq!(quoted["kind"], "commands");
    assert_eq!(quoted["started_at"], saved["started_at"]);

    // Of another machine nothing is quoted, and the file says so when asked.
    let mut other = saved.clone();
    other["machine"]["kernel"] = "0.0.1".into();
    fs::write(&file, other.to_string()).unwrap();
    let args = ["run", "-r", "6", "--json", "--", "true", "true"];
    let race = run(&track, &args);
    assert_eq!(race.succeeds().json().get("calibration"), None);
    let shown = run(&track, &["calibrate", "--show"]);
    let shown = shown.succeeds().stdout.split_whitespace();
    let shown = shown.collect::<Vec<_>>().join(" ");
    assert!(
        shown.contains("another kernel, so races on this machine do not use it."),
        "{shown}"
    );
    assert!(shown.contains("read from"), "{shown}");

    // Nor of another major version of deadheat.
    let mut old = saved.clone();
    old["tool"]["version"] = "7.0.0".into();
    fs::write(&file, old.to_string()).unwrap();
    let shown = run(&track, &["calibrate", "--show"]);
    assert!(
        shown.succeeds().stdout.contains("major version"),
        "{shown:?}"
    );

    // What cannot be read hinders no race.
    fs::write(&file, "{").unwrap();
    let race = run(&track, &args);
    assert_eq!(race.succeeds().json().get("calibration"), None);
    run(&track, &["calibrate", "--show"])
        .fails_with(4, &["calibration.json", "does not contain a calibration"]);
}

#[test]
fn without_a_calibration_there_is_nothing_to_show() {
    let track = Track::new();
    run(&track, &["calibrate", "--show"]).fails_with(4, &["does not exist", "deadheat calibrate"]);
    let nowhere = track.run(&["calibrate", "--show"]);
    nowhere.fails_with(4, &["no folder", "--save", "DEADHEAT_CALIBRATION"]);
}

#[test]
fn what_no_race_would_accept_is_refused_at_once() {
    let track = Track::new();
    for (args, words) in [
        (["--alpha", "0.9"], ["--alpha", "at most 0.5"]),
        (["--margin", "0"], ["--margin", "above 0"]),
        (["--pin", "4095"], ["4095", "core"]),
        (
            ["--markdown", "/no/such/folder/x.md"],
            ["--markdown", "/no/such/folder"],
        ),
        (["--show", "--seed=1"], ["--show", "cannot be used with"]),
    ] {
        let args = [&["calibrate", "--quick"][..], &args].concat();
        run(&track, &args).fails_with(2, &words);
    }
    assert!(!track.path("calibration.json").exists());
}

#[test]
fn a_budget_that_is_spent_at_once_leaves_nothing_to_save_and_says_so() {
    let track = Track::new();
    let told = run(
        &track,
        &["calibrate", "--quick", "--budget", "1ns", "--json"],
    );
    let json = told.succeeds().json();
    assert_eq!(json["ended"], "budget");
    assert_eq!(kind(&json, "functions")["false_calls"]["of"], 0);
    assert_eq!(kind(&json, "functions")["promise"], "open");
    assert!(!track.path("calibration.json").exists());
}

#[test]
fn a_place_that_cannot_be_written_to_costs_a_warning_and_not_the_answer() {
    let track = Track::new();
    let args = [
        "calibrate",
        "--quick",
        "--budget",
        "3s",
        "--save",
        "/proc/x/y.json",
    ];
    let told = run(&track, &args);
    let raced = !told.stdout.contains("nothing was raced");
    told.succeeds();
    assert!(told.stdout.contains("not saved"), "{}", told.stdout);
    if raced {
        assert!(told.stderr.contains("/proc/x"), "{}", told.stderr);
    }
}

#[test]
fn an_interrupt_ends_it_with_what_was_raced_until_then() {
    let track = Track::new();
    let scratch = track.path("scratch");
    fs::create_dir(&scratch).unwrap();
    let mut command = track.command();
    let child = command
        .env("DEADHEAT_CALIBRATION", "")
        .env("TMPDIR", &scratch)
        .args(["calibrate", "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Signals are taken over before anything else is done in that folder.
    wait_until("it races", || {
        fs::read_dir(&scratch)
            .unwrap()
            .flatten()
            .any(|folder| folder.path().join("run.jsonl").exists())
    });
    std::thread::sleep(Duration::from_millis(50));
    let pid = child.id().to_string();
    assert!(kill(&["-INT", &pid]));
    let told = Finished::from(child.wait_with_output().unwrap());
    assert_eq!(told.code, Some(130), "{told:?}");
    let json = told.json();
    assert_eq!(
        (&json["ended"], &json["signal"]),
        (&"interrupted".into(), &2.into())
    );
    assert_eq!(
        fs::read_dir(&scratch).unwrap().count(),
        0,
        "all is tidied up"
    );
}

#[test]
fn what_races_is_no_command_for_users() {
    let track = Track::new();
    for args in [
        &["--help"][..],
        &["calibrate", "--help"],
        &["completions", "bash"],
        &["completions", "zsh"],
        &["man"],
    ] {
        let told = track.run(args);
        let told = &told.succeeds().stdout;
        assert!(told.contains("calibrate"), "{told}");
        assert!(!told.contains("calibration-work"), "{told}");
    }
    let work = track.run(&["calibration-work", "functions", "0000001000", "0000001000"]);
    work.fails_with(2, &["deadheat calibrate"]);
    let command = track.run(&["calibration-work", "command", "0000000010"]);
    assert_eq!(command.succeeds().stdout, "");
}
