//! Races of commands side by side, with real processes.
#![cfg(target_os = "linux")]

mod common;

use std::fs;
use std::os::unix::process::ExitStatusExt;

use common::{Track, lives, said, says, text, wait_until};
use deadheat::parts::format::read_run;
use deadheat::parts::model::RerunKind;
use deadheat_testing::{blocks_in, kill};

/// A loop of some milliseconds.
const BUSY: &str = "i=0; while [ $i -lt 4000 ]; do i=$((i+1)); done";

/// The words of a race side by side of two scripts, of few replicates.
fn side_by_side<'a>(options: &[&'a str], scripts: [&'a str; 2]) -> Vec<&'a str> {
    let race = [
        "run",
        "-S",
        "sh",
        "--arrangement",
        "side-by-side",
        "-r",
        "4",
    ];
    [&race[..], options, &["--"], &scripts].concat()
}

#[test]
fn the_answer_is_of_cpu_time_and_shows_wall_time_in_turns() {
    let track = Track::new();
    let save = track.path("run.jsonl");
    let done = track.run(&side_by_side(&["--save", text(&save)], [BUSY, BUSY]));
    says(
        &done,
        0,
        &[
            "wall time in turns",
            "% CPU time",
            "both ran side by side on one core",
        ],
    );
    let run = read_run(&save).unwrap();
    let plan = &run.header.plan;
    assert!(plan.benchmarks[0].side_by_side.is_some());
    let turns = plan.rerun(0, RerunKind::Turns).unwrap();
    assert_eq!(plan.benchmarks[turns].side_by_side, None);
    assert_eq!(run.benchmarks[0].blocks().len(), 4, "four launches of each");
    assert!(run.benchmarks[turns].blocks().len() >= 2);
    let json = track.run(&["analyze", "--json", text(&save)]).json();
    let row = &json["benchmarks"][0];
    assert_eq!(row["metric"], "cpu");
    assert!(row["side_by_side"]["alone"].is_f64(), "{row}");
    assert!(row["side_by_side"]["in_turns"]["ci"].is_array(), "{row}");
    assert_eq!(json["benchmarks"].as_array().unwrap().len(), 1);
}

#[test]
fn both_run_at_the_same_time_on_one_core_that_is_drawn() {
    let track = Track::new();
    // Each waits for the other one, so neither ends alone; a launch in turns runs out of time.
    let cores = "grep Cpus_allowed_list /proc/self/status >> cores";
    let [ping, pong] = [
        format!("{cores}; echo > there; read x < back"),
        format!("{cores}; read x < there; echo > back"),
    ];
    track.tool("mkfifo", &["there", "back"]);
    let options = ["-w", "0", "--timeout", "2s"];
    let done = track.run(&side_by_side(&options, [&ping, &pong]));
    says(
        &done,
        3,
        &["'run (in turns)' failed", "did not end within 2s"],
    );
    let cores = fs::read_to_string(track.path("cores")).unwrap();
    let of_pairs: Vec<&str> = cores.lines().rev().take(8).collect();
    for pair in of_pairs.chunks(2) {
        assert_eq!(pair[0], pair[1], "{cores}");
        let core = pair[0].split_whitespace().last().unwrap();
        assert!(core.parse::<u32>().is_ok(), "{cores}");
    }
}

#[test]
fn hooks_run_before_and_after_the_whole_pair() {
    let track = Track::new();
    let options = [
        "-w",
        "0",
        "--prepare",
        "echo prepare >> log",
        "--conclude",
        "echo conclude >> log",
    ];
    let script = "echo run >> log";
    track
        .run(&side_by_side(&options, [script, script]))
        .succeeds();
    let log = fs::read_to_string(track.path("log")).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    let pair = ["prepare", "prepare", "run", "run", "conclude", "conclude"];
    assert!(lines.ends_with(&pair.repeat(4)), "{log}");
}

#[test]
fn commands_that_cannot_run_at_once_take_turns_unless_the_user_insists() {
    let track = Track::new();
    let locked = format!("mkdir lock || exit 7; {BUSY}; {BUSY}; rmdir lock");
    let done = track.run(&[
        "run", "-S", "sh", "-r", "4", "--json", "--", &locked, &locked,
    ]);
    let json = done.succeeds().json();
    assert_eq!(json["benchmarks"][0]["metric"], "wall");
    let done = track.run(&side_by_side(&["-w", "0"], [&locked, &locked]));
    done.fails_with(3, &["exited with code 7", "replicate 0, block 0"]);
}

#[test]
fn a_trial_in_which_a_command_waits_for_ever_is_killed_and_means_turns() {
    let track = Track::new();
    let locked = format!("mkdir lock 2>/dev/null || sleep 1000; {BUSY}; {BUSY}; rmdir lock");
    let race = ["run", "-S", "sh", "-r", "4", "--json", "--"];
    let done = track.run(&[&race[..], &[&locked, &locked]].concat());
    let row = &done.succeeds().json()["benchmarks"][0];
    assert_eq!(row["metric"], "wall");
    assert_eq!(row["turns_because"], "fails");
}

#[test]
fn commands_that_sleep_take_turns() {
    let track = Track::new();
    let done = track.run(&["run", "-r", "4", "--json", "--", "sleep 0.02", "sleep 0.02"]);
    let json = done.succeeds().json();
    assert_eq!(json["benchmarks"][0]["metric"], "wall");
    assert!(json["benchmarks"][0].get("side_by_side").is_none());
}

#[test]
fn a_failure_of_one_side_is_told_and_not_that_the_other_was_stopped() {
    let track = Track::new();
    for (scripts, failing) in [(["exit 3", "sleep 2"], 0), (["sleep 2", "exit 3"], 1)] {
        let done = track.run(&side_by_side(&["-w", "0"], scripts));
        done.fails_with(3, &["exited with code 3", scripts[failing]]);
    }
    let done = track.run(&side_by_side(
        &["-w", "0", "--timeout", "200ms"],
        [BUSY, "sleep 2"],
    ));
    done.fails_with(3, &["'sleep 2'", "did not end within 200ms"]);
    let race = [
        "run",
        "--arrangement",
        "side-by-side",
        "-w",
        "0",
        "--",
        "true",
        "no-such-program",
    ];
    let done = track.run(&race);
    done.fails_with(3, &["there is no program 'no-such-program'"]);
    let done = track.run(&side_by_side(&["-w", "0"], ["kill -SEGV $$", BUSY]));
    done.fails_with(3, &["killed by signal 11"]);
}

#[test]
fn an_interrupt_stops_both_sides_and_leaves_nothing_behind() {
    let track = Track::new();
    let pids = track.path("pids");
    let script = format!("echo $$ >> {}; sleep 60", text(&pids));
    for signal in ["-INT", "-KILL"] {
        let _ = fs::remove_file(&pids);
        let mut child = track.start(&side_by_side(&["-w", "0"], [&script, &script]));
        let started = || fs::read_to_string(&pids).unwrap_or_default();
        // The first launch in turns sleeps for ever, so only that one is there.
        wait_until("a launch is under way", || started().lines().count() >= 1);
        assert!(kill(&[signal, &child.id().to_string()]));
        let ended = child.wait().unwrap();
        assert!(ended.code() == Some(130) || ended.signal() == Some(libc::SIGKILL));
        let all: Vec<String> = started().lines().map(str::to_owned).collect();
        wait_until("all are gone", || !all.iter().any(|pid| lives(pid)));
    }
}

#[test]
fn an_interrupted_race_goes_on_side_by_side() {
    let track = Track::new();
    let save = track.path("run.jsonl");
    let endless = [
        "--max-replicates",
        "3000",
        "--alpha",
        "1e-60",
        "--save",
        text(&save),
    ];
    let race = ["run", "-S", "sh", "--arrangement", "side-by-side"];
    let mut child = track.start(&[&race[..], &endless, &["--", BUSY, BUSY]].concat());
    wait_until("blocks of both ways", || blocks_in(&save) > 20);
    assert!(kill(&["-INT", &child.id().to_string()]));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let before = blocks_in(&save);
    let resumed = [
        "run",
        "--resume",
        text(&save),
        "--max-replicates",
        "2",
        "-q",
    ];
    track.run(&resumed);
    assert_eq!(blocks_in(&save), before + 2);
    let run = read_run(&save).unwrap();
    let last = run.benchmarks[0].blocks().last().unwrap();
    assert!(run.benchmarks[0].blocks().len() > 2 && last.replicate > 1);
}

#[test]
fn three_commands_run_side_by_side_in_groups_of_three() {
    let track = Track::new();
    let race = [
        "run",
        "-S",
        "sh",
        "--arrangement",
        "side-by-side",
        "-r",
        "3",
        "--json",
        "--",
    ];
    let json = track
        .run(&[&race[..], &[BUSY, BUSY, BUSY]].concat())
        .succeeds()
        .json();
    let rows = json["benchmarks"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| row["metric"] == "cpu"));
}

#[test]
fn what_cannot_be_told_side_by_side_is_refused_with_the_reason() {
    let track = Track::new();
    let refused = |options: &[&str], why: &str| {
        let race = ["run", "--arrangement", "side-by-side"];
        let done = track.run(&[&race[..], options, &["--", "true", "true"]].concat());
        done.fails_with(2, &["--arrangement side-by-side is not possible", why]);
    };
    refused(
        &["--metric", "wall"],
        "wall of a command would also depend on the command",
    );
    refused(&["--metric", "peak-rss"], "peak-rss");
    refused(&["--output", "out"], "would write 'out' at once");
    refused(&["--quantile", "90%"], "--quantile");
    let done = track.run(&["run", "--arrangement", "beside", "--", "true"]);
    done.fails_with(2, &["'beside' is not one of auto, turns, side-by-side"]);
}

#[test]
fn a_metric_that_the_user_names_decides_how_auto_races() {
    let track = Track::new();
    let race = ["run", "-S", "sh", "-r", "2", "--json"];
    for (options, metric, is_side_by_side) in [
        (&["--metric", "wall"][..], "wall", false),
        (&["--arrangement", "turns", "--metric", "cpu"], "cpu", false),
        (
            &["--arrangement", "side-by-side", "--metric", "user"],
            "user",
            true,
        ),
    ] {
        let done = track.run(&[&race[..], options, &["--", BUSY, BUSY]].concat());
        let row = &done.succeeds().json()["benchmarks"][0];
        assert_eq!(row["metric"], metric);
        assert_eq!(
            row.get("side_by_side").is_some(),
            is_side_by_side,
            "{options:?}"
        );
    }
}

#[test]
fn a_plan_says_how_its_commands_race() {
    let track = Track::new();
    for name in ["old", "new"] {
        fs::write(track.path(name), format!("#!/bin/sh\n{BUSY}\n")).unwrap();
        track.tool("chmod", &["+x", name]);
    }
    let race = [
        "plan",
        "run",
        "--save",
        "plan.json",
        "--arrangement",
        "side-by-side",
    ];
    let commands = ["-r", "4", "--", "./old", "./new"];
    track.run(&[&race[..], &commands].concat()).succeeds();
    let raced = ["run", "--plan", "plan.json", "--save", "raced.jsonl"];
    track.run(&raced).succeeds();
    let run = read_run(track.path("raced.jsonl")).unwrap();
    assert!(run.header.plan.benchmarks[0].side_by_side.is_some());
    assert_eq!(run.benchmarks[0].blocks().len(), 4);
}

#[test]
fn every_pair_starts_in_an_order_that_is_drawn_and_balanced() {
    let track = Track::new();
    let save = track.path("run.jsonl");
    let race = [
        "run",
        "--arrangement",
        "side-by-side",
        "-w",
        "0",
        "-r",
        "40",
        "--save",
    ];
    let done = track.run(&[&race[..], &[text(&save), "--", "true", "true"]].concat());
    done.succeeds();
    let run = read_run(&save).unwrap();
    let blocks = run.benchmarks[0].blocks().iter();
    let order = |range: std::ops::Range<usize>| -> Vec<u8> {
        let slots = run.benchmarks[0].samples()[range].iter();
        slots.map(|sample| sample.contender.0).collect()
    };
    let orders: Vec<Vec<u8>> = blocks.map(|block| order(block.range())).collect();
    assert_eq!(orders.len(), 40);
    for two in orders.chunks(2) {
        assert!(
            *two == [[0, 1], [1, 0]] || *two == [[1, 0], [0, 1]],
            "{two:?}"
        );
    }
    assert!(orders.chunks(2).any(|two| two[0] != orders[0]));
    assert!(said(&done).contains("side by side"));
}
