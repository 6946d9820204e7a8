//! Races at several values: a value that fails, and a budget that is short.

mod common;

use common::{Finished, Track, said};
use deadheat_testing::blocks_in;
use serde_json::Value;

fn race(track: &Track, args: &[&str]) -> Finished {
    track.run(&[&["run", "--no-config"], args].concat())
}

/// Asserts that so many benchmarks were judged or measured, and that this one failed with these
/// words.
#[track_caller]
fn one_fails(track: &Track, args: &[&str], judged: usize, (name, words): (&str, &str)) {
    let done = race(track, args);
    assert_eq!(done.code, Some(3), "{done:?}");
    let shown = said(&done);
    assert!(shown.contains(words) && shown.contains(name), "{done:?}");
    let done = race(track, &[&["--json"], args].concat());
    assert_eq!(done.code, Some(3), "{done:?}");
    let json = done.json();
    let failures = json["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 1, "{json}");
    assert_eq!(failures[0]["benchmark"], name, "{json}");
    let measured = json["benchmarks"].as_array().unwrap();
    let measured = measured
        .iter()
        .filter(|one| one["replicates"].as_u64() > Some(0));
    assert_eq!(measured.count(), judged, "{json}");
}

#[test]
fn a_value_that_fails_is_a_row_and_the_others_are_judged() {
    let track = Track::new();
    let late = "did not end within 200ms";
    let slow = [
        "--timeout",
        "200ms",
        "-L",
        "t",
        "0.01,0.02,5",
        "--",
        "sleep {t}",
        "sleep {t}5",
    ];
    one_fails(&track, &slow, 2, ("t=5", late));
    let first = [
        "-r",
        "4",
        "--timeout",
        "200ms",
        "-L",
        "t",
        "5,0.01",
        "--",
        "sleep {t}",
        "true",
    ];
    one_fails(&track, &first, 1, ("t=5", late));
    let missing = ["-L", "p", "true,no-such-program", "--", "{p}", "true {p}"];
    one_fails(
        &track,
        &missing,
        1,
        ("p=no-such-program", "there is no program"),
    );
    let exits = [
        "-w", "0", "-r", "2", "-S", "-L", "c", "0,7,0 ", "--", "exit {c}", "true",
    ];
    one_fails(&track, &exits, 2, ("c=7", "exited with code 7"));
    let hook = [
        "-S", "-r", "2", "-L", "c", "1,0", "-s", "exit {c}", "--", "true {c}", "true",
    ];
    one_fails(&track, &hook, 1, ("c=1", "--setup hook"));
}

#[test]
fn a_value_that_fails_late_ends_itself_alone() {
    let track = Track::new();
    let counter = track.path("counter");
    // Works some times, then fails, at the first value alone.
    let counter = counter.display();
    let script =
        format!("test {{n}} = 2 || {{ echo x >> {counter}; test $(wc -l < {counter}) -lt 9; }}");
    let save = track.path("run.jsonl");
    let save = save.to_str().unwrap();
    let done = race(
        &track,
        &[
            "-w", "0", "-r", "12", "-S", "--save", save, "-L", "n", "1,2", "--", &script, "true",
        ],
    );
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(blocks_in(std::path::Path::new(save)) > 6, "{done:?}");
    assert!(said(&done).contains("n=1"), "{done:?}");
    let again = track.run(&["analyze", save]);
    assert_eq!(again.code, Some(3), "{again:?}");
}

#[test]
fn the_only_race_that_fails_is_an_error() {
    let track = Track::new();
    race(&track, &["-L", "c", "true,false", "--", "{c}"]).fails_with(3, &["exited with code 1"]);
    race(&track, &["--", "true", "false"]).fails_with(3, &["exited with code 1"]);
}

fn measured(done: &Finished) -> usize {
    let json = done.json();
    let all = json["benchmarks"].as_array().unwrap().clone();
    let has_blocks = |one: &&Value| one["blocks"].as_u64() > Some(0);
    all.iter().filter(has_blocks).count()
}

#[test]
fn a_short_budget_measures_every_value_before_anything_is_warmed_up_twice() {
    let track = Track::new();
    let values: Vec<String> = (1..=60).map(|n| n.to_string()).collect();
    let values = values.join(",");
    for how in [
        &[][..],
        &["-w", "20"],
        &["--arrangement", "turns", "-m", "4"],
    ] {
        let sweep = [
            "--json",
            "--budget",
            "6s",
            "-L",
            "n",
            &values,
            "--",
            "true {n}",
            "true x{n}",
        ];
        let done = race(&track, &[how, &sweep].concat());
        assert_eq!(done.code, Some(0), "{done:?}");
        assert!(measured(&done) >= 55, "{}: {}", how.len(), measured(&done));
    }
}

#[test]
fn a_budget_shorter_than_the_warm_up_still_measures_a_block() {
    let track = Track::new();
    for how in [
        &[][..],
        &["-w", "0"],
        &["-w", "3"],
        &["-r", "4"],
        &["-s", "true"],
    ] {
        let commands = [
            "--json",
            "--budget",
            "200ms",
            "--",
            "sleep 0.2",
            "sleep 0.3",
        ];
        let done = race(&track, &[how, &commands].concat());
        assert_eq!(done.code, Some(0), "{done:?}");
        assert_eq!(measured(&done), 1, "{how:?}: {done:?}");
    }
}
