//! Races of two builds that end early, or that have few cores.
#![cfg(target_os = "linux")]

mod track;

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command};

use deadheat::parts::format::read_run;
use deadheat::parts::model::EndReason;

use deadheat_testing::{blocks_in, needs};
use track::{Track, at_once, beside_a_good_pair, example, pair, python, signal, wait_until};

/// Options for a race that lasts longer than any test.
const ENDLESS: [&str; 8] = [
    "--max-replicates",
    "3000",
    "--alpha",
    "1e-60",
    "--blocks",
    "3",
    "--save",
    "run.jsonl",
];

fn under_way(track: &Track, sides: &[&str], blocks: usize) -> Child {
    let words = [&["race"], &ENDLESS[..], sides].concat();
    let child = track.command(&words).spawn().unwrap();
    let run = track.path("run.jsonl");
    let found = wait_until(|| {
        let has_header = fs::metadata(&run).is_ok_and(|run| run.len() > 0);
        (has_header && blocks_in(&run) >= blocks).then_some(())
    });
    found.expect("the race gets under way");
    child
}

#[test]
fn an_interrupt_ends_a_race_of_builds_wherever_it_is() {
    needs!("python3");
    // With these faults, the worker hangs after the header was written.
    at_once(&["hang@warm_up", "hang@turn", "hang@wait"], |fault| {
        let track = Track::new();
        let child = under_way(&track, &pair("bad", &[], &[fault]), 0);
        signal(&child, "-INT");
        let told = track.finish(child).ends_with(130);
        let end = told.run.and_then(|run| run.end).map(|end| end.reason);
        assert_eq!(end, Some(EndReason::Interrupted(2)), "{fault}");
    });
}

#[test]
fn an_interrupt_between_blocks_keeps_what_was_measured() {
    needs!("python3");
    let track = Track::new();
    let child = under_way(&track, &pair("good", &[], &[]), 3);
    signal(&child, "-TERM");
    let told = track.finish(child).ends_with(143);
    let run = told.run.unwrap();
    assert!(run.benchmarks[0].blocks().len() >= 3);
    assert_eq!(run.end.unwrap().reason, EndReason::Interrupted(15));
}

#[test]
fn an_interrupt_in_the_pilot_leaves_nothing() {
    needs!("python3");
    at_once(&["hang@hello", "hang@prepare", "hang@calibrate"], |fault| {
        let track = Track::new();
        let words = [&["race"], &ENDLESS[..], &pair("bad", &[], &[fault])].concat();
        let child = track.command(&words).spawn().unwrap();
        // deadheat and its worker: deadheat has installed its signal handlers before it starts a
        // worker.
        let workers = || {
            track
                .processes()
                .iter()
                .filter(|p| p.contains("misbehaving"))
                .count()
        };
        wait_until(|| (workers() >= 2).then_some(())).expect("both builds are started");
        signal(&child, "-INT");
        let told = track.finish(child).ends_with(130);
        told.tells("interrupted before the first block; nothing was recorded");
        assert!(!track.path("run.jsonl").exists());
    });
}

#[test]
fn builds_end_when_deadheat_is_killed() {
    needs!("python3");
    let track = Track::new();
    let mut child = under_way(&track, &pair("good", &[], &["notes"]), 3);
    child.kill().unwrap();
    child.wait().unwrap();
    let gone = wait_until(|| track.processes().is_empty().then_some(()));
    assert!(gone.is_some(), "left behind: {:?}", track.processes());
    let run = read_run(track.path("run.jsonl")).unwrap();
    assert!(run.end.is_none() && run.benchmarks[0].blocks().len() >= 3);
}

#[test]
fn builds_in_rust_end_when_deadheat_is_killed_even_when_they_hang() {
    let track = Track::new();
    let program = example("misbehaving");
    let program = program.to_str().unwrap();
    let words = [
        "race",
        "--save",
        "run.jsonl",
        "+",
        "end/hang@hanging",
        program,
        "vs",
        program,
    ];
    let mut child = track.command(&words).spawn().unwrap();
    let workers = || track.processes().len().saturating_sub(1);
    wait_until(|| (workers() >= 2).then_some(())).expect("both builds are started");
    child.kill().unwrap();
    child.wait().unwrap();
    let gone = wait_until(|| track.processes().is_empty().then_some(()));
    assert!(gone.is_some(), "left behind: {:?}", track.processes());
}

#[test]
fn a_full_disk_ends_the_race_and_keeps_the_blocks_before() {
    needs!("python3");
    let track = Track::new();
    let words = [&["race"], &ENDLESS[..], &pair("good", &[], &[])].concat();
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$@\"", "sh"])
        .arg(example("builds"))
        .args(words);
    let told = track
        .finish(track.prepared(command).spawn().unwrap())
        .ends_with(5);
    let run = told.run.as_ref().expect("a torn last line is passed over");
    assert!(!run.benchmarks[0].blocks().is_empty());
    let told = told.tells("run.jsonl: File too large");
    told.tells("blocks");
}

#[test]
fn a_disk_that_is_full_from_the_start_is_told_before_anything_is_raced() {
    needs!("python3");
    let track = Track::new();
    let words = [&["race"], &ENDLESS[..], &pair("good", &[], &[])].concat();
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"])
        .arg(example("builds"))
        .args(words);
    let told = track
        .finish(track.prepared(command).spawn().unwrap())
        .ends_with(5);
    told.tells("--save: cannot write run.jsonl: File too large");
}

#[test]
fn builds_race_on_the_cores_they_are_given() {
    needs!("python3");
    let pinned = |options: &[&str]| {
        let track = Track::new();
        let told = track
            .run(&beside_a_good_pair(options, &[], &[]))
            .has_all_samples();
        told.run.unwrap().header.environment.pinned
    };
    let pins = pinned(&["--pin", "0"]);
    assert_eq!(pins, [0]);
    assert_eq!(pinned(&["--pin", "none"]), Vec::<u32>::new());
    // Threads that call a function at the same time are not pinned to one core.
    pinned(&["--threads", "2"]);
}

#[test]
fn one_core_is_enough() {
    needs!("python3");
    let track = Track::new();
    let words = beside_a_good_pair(&[], &[], &["notes"]);
    let mut command = Command::new("taskset");
    command.args(["-c", "0"]).arg(example("builds")).args(words);
    let child = track.prepared(command).spawn().unwrap();
    track.finish(child).has_all_samples();
}

#[test]
fn a_core_that_is_not_there_is_refused() {
    needs!("python3");
    let track = Track::new();
    let told = track.run(&beside_a_good_pair(&["--pin", "4000"], &[], &[]));
    told.ends_with(2).tells("4000");
}

/// A race of a build against itself ends with any verdict, and without an error.
#[test]
fn a_build_is_as_fast_as_itself() {
    needs!("python3");
    let rust = example("misbehaving");
    let rust = rust.to_str().unwrap();
    let python = pair("good", &["slow"], &["slow"]);
    let compiled = ["+", "fine/work@twice", rust, "vs", rust];
    for sides in [&python[..], &compiled] {
        let track = Track::new();
        let options = [
            "--max-replicates",
            "12",
            "--blocks",
            "4",
            "--save",
            "run.jsonl",
        ];
        let told = track
            .run(&[&["race"], &options[..], sides].concat())
            .ends_with(0);
        let run = told.run.as_ref().unwrap();
        assert!(run.benchmarks[0].blocks().len() >= 24, "{told:?}");
        let said = ["dead heat", "too close to call", "faster", "slower"];
        assert!(
            said.iter().any(|word| told.stdout.contains(word)),
            "{told:?}"
        );
    }
}

#[test]
fn an_interpreter_of_a_script_is_found_in_its_first_line() {
    needs!("python3");
    let track = Track::new();
    let script = fs::read_to_string(python()[2]).unwrap();
    let draft: PathBuf = track.path("draft");
    fs::write(&draft, format!("#!{} -S\n{script}", python()[0])).unwrap();
    // Another process writes the file, because a child of another test could have it open.
    let installed = Command::new("install")
        .arg(&draft)
        .arg(track.path("old"))
        .status();
    assert!(installed.unwrap().success());
    track
        .inspect("60", &["./old"])
        .ends_with(0)
        .tells("misbehaving 1.0");
}
