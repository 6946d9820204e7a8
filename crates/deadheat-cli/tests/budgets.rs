//! Budgets: one that cannot hold is refused before anything starts, and an overrun is explained.

mod common;

use std::fs;

use common::{Finished, Track, suite, text};
use deadheat_testing::needs;

fn race(track: &Track, words: &[&str]) -> Finished {
    track.run(&[&["run", "-q", "--no-config"][..], words].concat())
}

/// The words of standard error, without line breaks.
fn notes(done: &Finished) -> String {
    done.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_budget_that_cannot_hold_the_samples_of_a_block_is_refused() {
    let track = Track::new();
    fs::copy(suite(), track.path("suite")).unwrap();
    let program = track.path("suite");
    let sides = ["bench", text(&program), text(&program)];
    for (budget, sample, block) in [
        (
            "1s",
            "3s",
            "one block takes 12 s (4 samples of --sample-time 3.0 s)",
        ),
        ("1s", "20s", "one block takes 1 min 20 s"),
        ("300ms", "100ms", "one block takes 0.4 s"),
    ] {
        let limits = ["--budget", budget, "--sample-time", sample];
        let done = track.run(&[&sides[..], &limits].concat());
        done.fails_with(2, &["--budget", block, "help: raise --budget"]);
    }
    assert!(track.recorded().is_empty());
    let limits = [
        "-q",
        "--no-config",
        "--budget",
        "5s",
        "--sample-time",
        "1ms",
    ];
    let few = ["--max-replicates", "6", "work"];
    track.run(&[&sides[..], &limits, &few].concat()).succeeds();
}

#[test]
fn the_part_that_overran_a_budget_is_named() {
    let hook_first = "the first block, with its hooks and warm-up, took";
    for (words, part) in [
        (&["-w", "0", "--", "sleep 0.3", "sleep 0.4"][..], hook_first),
        (
            &["-w", "0", "-s", "sleep 0.5", "--", "true", "true "],
            hook_first,
        ),
        (
            &["-w", "0", "-p", "sleep 0.3", "--", "true", "true "],
            hook_first,
        ),
        (
            &["-w", "0", "-c", "sleep 0.7", "--", "true", "true "],
            "the hooks after the last block took",
        ),
    ] {
        let track = Track::new();
        let done = race(
            &track,
            &[&["--budget", "200ms", "--arrangement", "turns"], words].concat(),
        );
        done.succeeds();
        let said = notes(&done);
        let whole = ["note: the race took", "its budget was 200 ms", part];
        for word in whole {
            assert!(
                said.contains(word),
                "{words:?}: '{word}' is missing: {said}"
            );
        }
    }
}

#[test]
fn a_race_within_its_budget_says_nothing_of_it() {
    let track = Track::new();
    let done = race(
        &track,
        &["--budget", "20s", "-r", "6", "--", "true", "true "],
    );
    assert!(!done.succeeds().stderr.contains("budget"), "{done:?}");
}

#[test]
fn a_resumed_race_has_a_budget_of_its_own() {
    let track = Track::new();
    let save = [
        "-r",
        "6",
        "-w",
        "0",
        "--save",
        "r.jsonl",
        "--",
        "sleep 0.2",
        "sleep 0.21",
    ];
    race(&track, &save).succeeds();
    let resume = ["run", "-q", "--resume", "r.jsonl", "--budget", "100ms"];
    let done = track.run(&resume);
    let said = notes(done.succeeds());
    assert!(
        said.contains("its budget was 100 ms: the first block"),
        "{said}"
    );
    let long = [
        "run",
        "-q",
        "--resume",
        "r.jsonl",
        "--budget",
        "60s",
        "--max-replicates",
        "1",
    ];
    let done = track.run(&long);
    assert!(!done.succeeds().stderr.contains("budget was"), "{done:?}");
}

#[test]
fn a_search_names_the_build_that_overran_its_budget() {
    needs!("git");
    let track = Track::new();
    track.commits(3);
    let search = ["bisect", "HEAD~2..HEAD", "-q", "--budget", "100ms"];
    let build = ["--build", "sleep 0.6", "--run", "true"];
    let done = track.run(&[&search[..], &build].concat());
    let said = notes(done.succeeds());
    for word in [
        "note: the search took",
        "its budget was 100 ms: a build took",
    ] {
        assert!(said.contains(word), "'{word}' is missing: {said}");
    }
}

#[test]
fn a_calibration_ends_at_its_budget_in_the_middle_of_a_race_and_names_what_is_missing() {
    let track = Track::new();
    let words = [
        "calibrate",
        "--quick",
        "-q",
        "--budget",
        "1s",
        "--save",
        "c.json",
    ];
    let done = track.run(&words);
    let said = done
        .succeeds()
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    for word in [
        "The time budget was used up after",
        "builds: 0 of",
        "commands: 0 of",
        "--budget",
    ] {
        assert!(said.contains(word), "'{word}' is missing: {said}");
    }
}
