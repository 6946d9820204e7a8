//! The most replicates that a race of commands may take where nobody says: short commands more than
//! slow ones. The exact number is a matter of the machine.

mod common;

use common::{Track, text};
use deadheat::parts::format::read_run;
use deadheat::parts::model::Run;

/// The run that a race with these words records.
#[track_caller]
fn raced(words: &[&str]) -> Run {
    let track = Track::new();
    let line = [&["run", "-q", "--seed", "3", "--save", "run.jsonl"], words].concat();
    track.run(&line).succeeds();
    read_run(track.path("run.jsonl")).unwrap()
}

/// The most replicates of each benchmark of its plan.
fn most(run: &Run) -> Vec<u32> {
    let plan = &run.header.plan;
    let benchmarks = 0..plan.benchmarks.len();
    let most = benchmarks.map(|index| plan.looks(index).max_replicates());
    most.collect()
}

#[test]
fn a_short_command_may_take_more_replicates_than_a_slow_one() {
    let short = raced(&["--", "true", "sleep 0.002"]);
    assert!(most(&short)[0] > 40, "{:?}", most(&short));
    let looks = &short.header.plan.design.looks;
    assert_eq!(looks.at[..3], [6, 7, 8], "{looks:?}");
    let slow = raced(&["--", "sleep 0.06", "sleep 0.12"]);
    assert_eq!(most(&slow), [40]);
    assert_eq!(slow.header.plan.design.looks.at[..3], [6, 8, 11]);
}

#[test]
fn a_number_that_is_said_needs_no_pilot() {
    let pair = ["--", "true", "sleep 0.005"];
    for (words, expected) in [
        (&["--max-replicates", "12"][..], 12),
        (&["-r", "24"], 12),
        (&["--max-runs", "30"], 15),
    ] {
        let run = raced(&[words, &pair].concat());
        assert_eq!(most(&run), [expected], "{words:?}");
    }
}

#[test]
fn where_nothing_may_be_launched_beforehand_there_are_forty() {
    let pair = ["--", "true", "sleep 0.005"];
    for words in [
        &["-w", "0"][..],
        &["--setup", "true"],
        &["--cleanup", "true"],
    ] {
        let run = raced(&[words, &pair].concat());
        assert_eq!(most(&run), [40], "{words:?}");
    }
    assert_eq!(most(&raced(&["--", "true"])), [40], "nobody to compare");
}

#[test]
fn a_short_budget_leaves_no_time_for_more() {
    let run = raced(&["--budget", "80ms", "--", "sleep 0.002", "sleep 0.004"]);
    assert_eq!(most(&run), [40]);
}

#[test]
fn every_benchmark_has_a_number_of_its_own() {
    let sweep = ["-L", "s", "0.001,0.06", "--", "sleep {s}", "sleep {s} {s}"];
    let run = raced(&sweep);
    let most = most(&run);
    // On a machine that is loaded heavily nothing is short.
    assert!(most[0] >= 40 && most[1] == 40, "{most:?}");
}

#[test]
fn the_pilot_is_the_warm_up() {
    let launches = |words: &[&str]| {
        let pair = ["--", "sleep 0.015", "sleep 0.06"];
        raced(&[words, &pair].concat()).launches
    };
    assert_eq!(launches(&[]), launches(&["--max-replicates", "40"]));
    assert_eq!(
        launches(&["-w", "2"]),
        launches(&["-w", "2", "--max-replicates", "40"])
    );
}

#[test]
fn a_command_that_fails_in_the_pilot_is_told_as_of_the_warm_up() {
    let track = Track::new();
    let words = ["run", "-q", "--save", "run.jsonl", "--", "true", "false"];
    track.run(&words).fails_with(3, &["warm-up", "'false'"]);
    assert!(!track.path("run.jsonl").exists());
    std::fs::write(track.path("there.jsonl"), "").unwrap();
    let there = track.path("there.jsonl");
    let words = ["run", "-q", "--save", text(&there), "--", "true", "touch x"];
    track.run(&words).fails_with(2, &["--save"]);
    assert!(!track.path("x").exists(), "nothing was launched");
}
