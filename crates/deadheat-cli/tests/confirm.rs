//! The second race of what broke a rule, with programs that behave otherwise in it: slow no more,
//! failing, hanging, or interrupted by whoever waits.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use common::{Finished, Track, said, says, wait_until};
use deadheat_testing::{blocks_in, kill};
use serde_json::Value;

const SHORT: &str = "sleep 0.01";
const LONG: &str = "sleep 0.03";

/// The options of every race here. The file of the second race tells the programs which it is.
const CONFIRMED: [&str; 5] = ["--confirm", "--fail-on", "slower", "--save", "run.jsonl"];
const SECOND: &str = "run.confirm.jsonl";

/// The words that race two commands in a shell, of which the second is called `new`, and so many
/// launches of each.
fn commands<'a>(runs: &'a str, options: &[&'a str], new: &'a str) -> Vec<&'a str> {
    let named = ["-S", "-r", runs, "-n", "old", "-n", "new"];
    let race = ["run", "-q"];
    [&race, &named[..], &CONFIRMED, options, &["--", SHORT, new]].concat()
}

/// A command that does this in the first race, and that in the second.
fn at_first(first: &str, then: &str) -> String {
    format!("if [ -e {SECOND} ]; then {then}; else {first}; fi")
}

/// A command that is slow and, from its fifth launch of the second race on, does this.
fn later_on(ending: &str) -> String {
    let fifth = format!("echo >> count; [ $(wc -l < count) -ge 5 ] && {ending}; {LONG}");
    at_first(LONG, &fifth)
}

impl Track {
    /// The two runs, analysed again under the same rule.
    fn analysed(&self, code: i32) -> Value {
        let done = self.run(&["analyze", "--fail-on", "slower", "--json", "run.jsonl"]);
        assert_eq!(done.code, Some(code), "{done:?}");
        done.json()
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.path(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn confirmed(answer: &Value) -> &Value {
    &answer["benchmarks"][0]["confirmation"]["confirmed"]
}

#[test]
fn what_is_slow_in_the_first_race_only_is_not_confirmed_and_green() {
    let track = Track::new();
    // Faster than the baseline in the second race: a copy of it would be slower by the `if`.
    let new = at_first(LONG, "sleep 0.005");
    let green = track.run(&commands("14", &["--seed", "5"], &new));
    let words = [
        "'new' (+",
        "breaks the rule 'slower', but the second race did not confirm this,",
        ", then ",
        "second race in",
    ];
    says(&green, 0, &words);
    assert!(track.path(SECOND).is_file());

    // What is analysed again knows of both.
    let json = track.analysed(0);
    let one = &json["benchmarks"][0];
    assert_eq!(one["verdict"], "slower");
    assert_eq!(one["gate"]["unproven"], "second-race");
    assert_eq!(one["gate"]["fails"], false);
    assert_eq!(one["confirmation"]["confirmed"], false);
    assert_eq!(one["confirmation"]["alpha"], 0.05);
    assert_eq!(json["second_race"]["ended"], "finished");
    // Another run of that name and seed, as an older one, is not its second race: a commit could
    // contain one.
    let other = ["run", "-q", "--seed", "5", "--save", "other.jsonl", "--"];
    track.run(&[&other[..], &[SHORT, LONG]].concat()).succeeds();
    fs::copy(track.path("other.jsonl"), track.path("run.jsonl")).unwrap();
    let alone = track.analysed(1);
    assert!(alone["benchmarks"][0]["confirmation"].is_null());
    assert!(alone["second_race"].is_null());
}

#[test]
fn what_is_slower_in_both_races_is_confirmed_and_red() {
    let track = Track::new();
    let race = || track.run(&[&["run", "-q"], &CONFIRMED[..], &["--", SHORT, LONG]].concat());
    let words = ["the run fails: 'sleep 0.03' (confirmed: +", ", then +"];
    says(&race(), 1, &words);
    let report = ["report", "run.jsonl", "--fail-on", "slower"];
    let report = track.run(&[&report[..], &["--junit", "tests.xml"]].concat());
    assert_eq!(report.code, Some(1), "{report:?}");
    let junit = fs::read_to_string(track.path("tests.xml")).unwrap();
    assert!(junit.contains("confirmed: ") && !junit.contains("the second race"));
    // Neither race writes over the second of another.
    fs::remove_file(track.path("run.jsonl")).unwrap();
    race().fails_with(2, &["--confirm", SECOND]);
}

#[test]
fn nothing_is_raced_again_where_no_rule_is_broken_or_all_of_it_is_excused() {
    let track = Track::new();
    let race = |commands: [&str; 2]| {
        let words = [&["run", "-q"], &CONFIRMED[..], &["--"], &commands].concat();
        track.run(&words).succeeds();
        assert!(!track.path(SECOND).exists());
        fs::remove_file(track.path("run.jsonl")).unwrap();
    };
    race([LONG, SHORT]);
    let excuse = "[[ignore]]\nname = \"run\"\nreason = \"known\"\n";
    fs::write(track.path("deadheat.toml"), excuse).unwrap();
    race([SHORT, LONG]);
}

/// Asserts that the finding of the first race stands, with a word that it stands alone.
#[track_caller]
fn judged_by_the_first(done: &Finished, code: i32, how: &str) {
    let alone = format!("the second race {how} a verdict on 'new', so the first race alone counts");
    let words = [
        "'new' is slower",
        "the run fails: 'new' breaks the rule 'slower'.",
        &alone,
    ];
    says(done, code, &words);
}

#[test]
fn a_second_race_that_fails_is_told_and_leaves_the_verdict_to_the_first() {
    let hang = at_first(
        LONG,
        &format!("echo >> count; [ $(wc -l < count) -ge 5 ] && exec sleep 60; {LONG}"),
    );
    for (new, fault, blocks) in [
        (at_first(LONG, "exit 7"), "exited with code 7", false),
        (later_on("exit 7"), "exited with code 7", true),
        (later_on("kill -SEGV $$"), "SIGSEGV", true),
        (hang, "(--timeout)", true),
    ] {
        let track = Track::new();
        let failed = track.run(&commands("14", &["--timeout", "2s"], &new));
        judged_by_the_first(&failed, 3, "failed before");
        failed.fails_with(3, &["the second race: ", fault]);
        for kept in ["measured so far", &format!(" in {SECOND}")] {
            assert_eq!(failed.stderr.contains(kept), blocks, "{failed:?}");
        }
        assert_eq!(track.path(SECOND).exists(), blocks);
        if blocks {
            let json = track.analysed(1);
            assert!(confirmed(&json).is_null());
            assert_eq!(json["second_race"]["ended"], "failed");
            let failure = json["second_race"]["failure"].to_string();
            assert!(failure.contains("replicate "), "{failure}");
        }
    }
}

#[test]
fn a_second_race_that_its_budget_ends_without_a_verdict_leaves_the_verdict_to_the_first() {
    let track = Track::new();
    let new = at_first(LONG, "sleep 2");
    let done = track.run(&commands("14", &["--budget", "4s"], &new));
    judged_by_the_first(&done, 1, "reached its budget before");
    assert!(track.path(SECOND).exists());
    let json = track.analysed(1);
    assert!(confirmed(&json).is_null());
    assert_eq!(json["second_race"]["ended"], "budget");
}

#[test]
fn ctrl_c_in_the_second_race_ends_it_with_the_answer_of_the_first_and_it_can_go_on() {
    let track = Track::new();
    let child = track.start(&commands("40", &["--junit", "tests.xml"], LONG));
    let second = track.path(SECOND);
    wait_until("a block of the second race", || blocks_in(&second) > 1);
    assert!(kill(&["-INT", &child.id().to_string()]));
    let done = Finished::from(child.wait_with_output().unwrap());
    judged_by_the_first(&done, 130, "was interrupted by SIGINT before");
    assert!(
        said(&done).contains("second race in run.confirm.jsonl"),
        "{done:?}"
    );
    let junit = fs::read_to_string(track.path("tests.xml")).unwrap();
    assert!(
        junit.contains("name=\"the second race\"") && junit.contains("errors=\"1\""),
        "{junit}"
    );

    let json = track.analysed(1);
    assert_eq!(json["ended"], "finished");
    assert_eq!(json["second_race"]["ended"], "interrupted");
    assert_eq!(json["second_race"]["signal"], 2);
    assert!(confirmed(&json).is_null());
    track.run(&["run", "-q", "--resume", SECOND]).succeeds();
    assert_eq!(*confirmed(&track.analysed(1)), true);
}

#[test]
fn ctrl_c_before_the_first_block_of_the_second_race_ends_it_likewise() {
    let track = Track::new();
    let setup = at_first("true", "touch waiting; sleep 60");
    let child = track.start(&commands("14", &["-s", &setup], LONG));
    wait_until("the second race", || track.path("waiting").exists());
    assert!(kill(&["-INT", &child.id().to_string()]));
    let done = Finished::from(child.wait_with_output().unwrap());
    judged_by_the_first(&done, 130, "was interrupted by SIGINT before");
}

#[test]
fn a_signal_between_the_races_stops_the_second_and_loses_nothing() {
    let track = Track::new();
    let child = track.start(&commands("14", &[], LONG));
    let first = track.path("run.jsonl");
    wait_until("the end of the first race", || {
        let text = fs::read_to_string(&first).unwrap_or_default();
        text.lines().any(|line| line.starts_with("{\"end\""))
    });
    assert!(kill(&["-TERM", &child.id().to_string()]));
    let done = Finished::from(child.wait_with_output().unwrap());
    judged_by_the_first(&done, 143, "was interrupted by SIGTERM before");
}

#[test]
fn a_second_race_that_was_cut_off_can_be_taken_up_and_counts_from_then_on() {
    let track = Track::new();
    assert_eq!(track.run(&commands("40", &[], LONG)).code, Some(1));
    let second = track.path(SECOND);
    let whole = fs::read_to_string(&second).unwrap();
    // Killed after three blocks.
    let kept: Vec<&str> = whole.lines().take(4).collect();
    fs::write(&second, kept.join("\n") + "\n").unwrap();
    let done = track.run(&["analyze", "--fail-on", "slower", "run.jsonl"]);
    judged_by_the_first(&done, 1, "was cut off before");
    track.run(&["run", "-q", "--resume", SECOND]).succeeds();
    assert_eq!(*confirmed(&track.analysed(1)), true);
}

#[test]
fn a_file_of_the_second_race_that_cannot_be_read_is_told() {
    let track = Track::new();
    assert_eq!(track.run(&commands("14", &[], LONG)).code, Some(1));
    fs::write(track.path(SECOND), "{\"schema\":").unwrap();
    let analyze = track.run(&["analyze", "--fail-on", "slower", "run.jsonl"]);
    analyze.fails_with(4, &[SECOND]);
}

#[test]
fn a_rules_file_may_ask_for_it_and_the_command_line_may_deny_it() {
    let track = Track::new();
    let rules = "fail-on = [\"slower\"]\nconfirm = true\n";
    fs::write(track.path("deadheat.toml"), rules).unwrap();
    let race = |options: &[&str]| {
        let save = ["run", "-q", "--save", "run.jsonl"];
        let done = track.run(&[&save, options, &["--", SHORT, LONG]].concat());
        fs::remove_file(track.path("run.jsonl")).unwrap();
        done
    };
    let denied = race(&["--confirm=false"]);
    says(&denied, 1, &["'sleep 0.03' breaks the rule"]);
    assert!(!track.path(SECOND).exists());
    says(
        &race(&[]),
        1,
        &["the run fails: 'sleep 0.03' (confirmed: +"],
    );
    assert!(track.path(SECOND).is_file());
    let nonsense = track.run(&["run", "--confirm=no", "--", SHORT, LONG]);
    nonsense.fails_with(2, &["--confirm", "'no' is neither true nor false"]);
}

/// A script that stands in for a Google Benchmark executable of the benchmark `a/8`. `$n` is the
/// number of its launch, and `$real` the nanoseconds that it says an iteration took.
fn google_benchmark(real: &str) -> String {
    format!(
        r#"case "$*" in *=^deadheat_matches_nothing$)
  echo 'Failed to match any benchmarks against regex: ^deadheat_matches_nothing$' >&2; exit;;
esac
echo >> "$0.launches"; n=$(wc -l < "$0.launches")
for argument; do case "$argument" in
  --benchmark_list_tests=true) echo a/8; exit;;
  --benchmark_out=*) out=${{argument#*=}};;
  --benchmark_repetitions=*) repetitions=${{argument#*=}};;
  --benchmark_min_time=*) time=${{argument#*=}};;
esac; done
case "$time" in *x) count=${{time%x}};; *) count=1000;; esac
{real}
row() {{
  echo '{{"name":"a/8","run_name":"a/8","run_type":"iteration","threads":1,"iterations":'$count','
  echo '"real_time":'$((real + (n * 7 + k * 3) % 10))',"cpu_time":2,"time_unit":"ns"}}'
}}
{{ echo '{{"context":{{}},"benchmarks":['
  k=0; while [ $k -lt $repetitions ]; do [ $k = 0 ] || echo ,; row; k=$((k+1)); done
  echo ']}}'; }} > "$out""#
    )
}

#[test]
fn google_benchmark_executables_are_confirmed_likewise() {
    let twice = at_first("real=6000", "real=6000");
    let for_a_while = at_first("real=6000", "real=3000");
    let failing = at_first("real=6000", "exit 9");
    for (new, code, words) in [
        (twice, 1, ["(confirmed: +", ", then +"]),
        (
            for_a_while,
            0,
            ["the second race did not confirm this", ", then "],
        ),
        (
            failing,
            3,
            [
                "the second race ended without a verdict on 'a/8', so the first race alone \
                 counts",
                "'a/8 (second race)' failed",
            ],
        ),
    ] {
        let track = Track::new();
        track.program("old", &google_benchmark("real=3000"));
        track.program("new", &google_benchmark(&new));
        let bench = ["bench", "-q", "--max-replicates", "6", "--seed", "7"];
        let names = ["-n", "OLD", "-n", "NEW", "./old", "./new"];
        let done = track.run(&[&bench[..], &CONFIRMED, &names].concat());
        says(&done, code, &words);
    }
}

#[test]
fn a_second_race_without_a_rule_is_answered_by_a_hint() {
    let track = Track::new();
    let race = |options: &[&str]| {
        let race = ["run", "-r", "2", "--allow-unjudged"];
        let line = [&race[..], options, &["--", "true", "true"]].concat();
        let done = track.run(&line);
        assert_ne!(done.code, Some(2), "{done:?}");
        done.stderr.contains("hint: --confirm has no effect")
    };
    assert!(race(&["--confirm"]));
    assert!(race(&["--confirm=true", "--json"]));
    for options in [
        &["--confirm", "--fail-on", "slower"][..],
        &["--confirm=false"],
        &["--confirm", "-q"],
    ] {
        assert!(!race(options), "{options:?}");
    }
    fs::write(track.path("deadheat.toml"), "confirm = true\n").unwrap();
    assert!(!race(&[]));
    let rule = "[[benchmark]]\nname = \"*\"\nfail-on = [\"slower\"]\n";
    fs::write(track.path("deadheat.toml"), rule).unwrap();
    assert!(!race(&["--confirm"]));
}
