//! Races of two builds that misbehave, and of programs that are not workers.
#![cfg(target_os = "linux")]

mod track;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

use deadheat::parts::analysis::{Options, analyse};
use deadheat_testing::{blocks_in, needs};
use track::{FAR_TOO_LONG, SHORT, Track, at_once, pair, python, wait_until};

#[test]
fn builds_that_behave_well_are_raced_and_found_by_what_they_hold() {
    needs!("python3");
    let track = Track::new();
    track.race(&[], &[], &["notes"]).has_all_samples();
    let found = track.inspect("60", &python()).ends_with(0);
    found
        .tells("worker: \"misbehaving 1.0\", metrics: [Cpu, Wall]")
        .tells("name: \"good\", contenders: [\"good\"]");
}

#[test]
fn waiting_of_a_worker_is_taken_out_unless_one_side_says_that_it_must_count() {
    needs!("python3");
    // A worker in a container that hides its scheduling delay, a worker with several threads, and a
    // worker of a newer version, whose reason is unknown.
    for (reason, code) in [
        ("", None),
        ("unread", Some("waiting-unread")),
        ("concurrent", Some("waiting-of-its-own")),
        ("bored", Some("waiting-unread")),
    ] {
        let track = Track::new();
        let fault = format!("keep@block={reason}");
        let new: &[&str] = if reason.is_empty() {
            &["waits"]
        } else {
            &["waits", &fault]
        };
        // Raced without another pair, because a run has only the metrics that all its workers have.
        let sides = pair("waits", &["waits"], new);
        let words = [&["race"], &SHORT[..], &["--waiting", "auto"], &sides].concat();
        let told = track.run(&words).ends_with(0);
        let analysis = analyse(told.run.as_ref().unwrap(), Options::default());
        let found = &analysis.comparisons[0];
        let waiting = found.aspects.waiting.as_ref().unwrap();
        assert!(waiting.baseline > 0.5, "{waiting:?}");
        assert_eq!(waiting.taken_out, reason.is_empty(), "{reason}");
        let codes = found.warnings.iter().map(|one| one.code());
        let waiting: Vec<_> = codes.filter(|code| code.starts_with("waiting")).collect();
        assert_eq!(waiting, Vec::from_iter(code), "{reason}");
    }
}

#[test]
fn builds_that_are_warm_at_once_are_raced_without_a_warm_up_and_resumed_so() {
    needs!("python3");
    let track = Track::new();
    let cold = ["long", "crash@warm_up"];
    track.race(&[], &cold, &cold).has_all_samples();
    let plan = |file: &str| {
        let run = deadheat::parts::format::read_run(track.path(file)).unwrap();
        let benchmarks = run.header.plan.benchmarks.iter();
        let without = benchmarks.map(|benchmark| benchmark.without_warm_up);
        (
            without.collect::<Vec<_>>(),
            run.benchmarks[0].blocks().len(),
        )
    };
    assert_eq!(plan("run.jsonl"), (vec![true, false], 12));
    track
        .run(&["resume", "run.jsonl", "2", "none"])
        .ends_with(0);
    assert_eq!(plan("run.jsonl"), (vec![true, false], 24));
    // The other build does not report that it is warm at once, like an older worker.
    Track::new()
        .race(&[], &["long"], &["crash@warm_up"])
        .fails_alone("warm-up: 'new' was killed by signal 11 (SIGSEGV)");
}

#[test]
fn the_death_of_a_build_is_told_with_its_last_words() {
    needs!("python3");
    for (fault, sentence) in [
        (
            "exit@start",
            "calibration run: 'new' ended its process with exit code 3",
        ),
        (
            "exit@hello",
            "calibration run: 'new' ended its process with exit code 3",
        ),
        (
            "leave@prepare",
            "calibration run: 'new' ended its process with exit code 0",
        ),
        (
            "kill@calibrate",
            "calibration run: 'new' was killed by signal 9 (SIGKILL)",
        ),
        (
            "crash@warm_up",
            "warm-up: 'new' was killed by signal 11 (SIGSEGV)",
        ),
        (
            "exit@input",
            "replicate 0, block 0: 'new' ended its process with exit code 3",
        ),
        (
            "exit@turn",
            "replicate 0, block 0: 'new' ended its process with exit code 3",
        ),
        (
            "exit@passed",
            "replicate 0, block 0: 'new' ended its process with exit code 3",
        ),
        (
            "kill@wait",
            "replicate 0, block 0: 'new' was killed by signal 9 (SIGKILL)",
        ),
        (
            "raise@turn",
            "replicate 0, block 0: 'new' ended its process with exit code 1; its standard error \
             ends: ",
        ),
        (
            "raise@wait",
            "ValueError(\"no nerves left\") | ValueError: no nerves left",
        ),
        ("print-and-raise@turn", "ValueError: said too much"),
        (
            "leave-children@turn",
            "replicate 0, block 0: 'new' ended its process with exit code 7",
        ),
    ] {
        let track = Track::new();
        track.race(&[], &[], &[fault]).fails_alone(sentence);
    }
}

#[test]
fn the_older_build_is_blamed_as_well_as_the_newer() {
    needs!("python3");
    for fault in ["exit@turn", "exit@passed", "exit@wait"] {
        let track = Track::new();
        let sentence = "replicate 0, block 0: 'old' ended its process with exit code 3";
        track
            .race(&[], &[fault], &["die-alone@wait"])
            .fails_alone(sentence);
    }
}

#[test]
fn who_hangs_is_told_from_who_waits_for_it() {
    needs!("python3");
    let options = ["--timeout", "1"];
    let cases = [
        (
            "hang@prepare",
            "calibration run: 'new' did not finish within 1s (--timeout) and was killed",
        ),
        (
            "hang@input",
            "replicate 0, block 0: 'new' did not finish within 1s",
        ),
        (
            "hang@turn",
            "replicate 0, block 0: 'new' did not finish within 1s",
        ),
        (
            "spin@turn",
            "replicate 0, block 0: 'new' did not finish within 1s",
        ),
        (
            "hang@passed",
            "replicate 0, block 0: 'new' did not finish within 1s",
        ),
        (
            "hang@wait",
            "replicate 0, block 0: 'new' did not finish within 1s",
        ),
        (
            "stop@wait",
            "replicate 0, block 0: 'new' did not finish within 1s",
        ),
        (
            "stop@turn",
            "replicate 0, block 0: 'new' did not finish within 1s",
        ),
        (
            "hang@block",
            "replicate 0, block 0: 'new' did not finish within 1s",
        ),
        (
            "dribble@block",
            "replicate 0, block 0: 'new' did not finish within 1s",
        ),
        (
            "print-forever@turn",
            "replicate 0, block 0: 'new' did not finish within 1s",
        ),
    ];
    at_once(&cases, |(fault, sentence)| {
        let track = Track::new();
        let told = track.race(&options, &["notes"], &["notes", fault]);
        told.fails_alone(sentence);
    });
}

#[test]
fn a_build_that_takes_no_notes_has_time_for_all_its_samples() {
    needs!("python3");
    let track = Track::new();
    let told = track.race(&["--timeout", "1"], &["hang@turn"], &["notes"]);
    told.fails_alone(
        "'old' did not finish within 6s (--timeout 1s for each of 6 samples) and was killed",
    );
}

#[test]
fn a_build_that_never_says_hello_is_given_time_to_start() {
    needs!("python3");
    let track = Track::new();
    let told = track.race(&["--timeout", "1"], &["hang@hello"], &[]);
    told.fails_alone("calibration run: 'old' did not finish within 10s (--timeout) and was killed");
}

#[test]
fn where_nobody_knows_who_keeps_the_baton_nobody_is_blamed() {
    needs!("python3");
    let track = Track::new();
    let told = track.race(&["--timeout", "1"], &["notes"], &["notes", "keep@baton"]);
    told.fails_alone("the worker processes wait for each other: neither finished within 1s");
}

#[test]
fn who_answers_without_taking_its_turns_is_blamed_and_not_who_waits_for_it() {
    needs!("python3");
    let early = "block 0: 'new'";
    for more in [&[][..], &["--control", "yes"]] {
        let track = Track::new();
        let options = [&["--timeout", "1"], more].concat();
        let told = track.race(&options, &["notes"], &["notes", "skip@turn"]);
        let told = told.fails_alone(early);
        told.fails_alone("it answered before its last turn");
    }
}

#[test]
fn a_baton_that_is_closed_or_said_to_be_is_told() {
    needs!("python3");
    for (fault, sentence) in [
        (
            "close-baton@turn",
            "'new' closed the turn-taking pipes before its last turn",
        ),
        (
            "close-baton@wait",
            "'new' closed the turn-taking pipes before its last turn",
        ),
        (
            r#"say@block={"failed":{"contender":null,"problem":{"peer_gone":{}}}}"#,
            "it reports that its peer process has ended",
        ),
    ] {
        let track = Track::new();
        track.race(&[], &[], &[fault]).fails_alone(sentence);
    }
}

/// With a control of the old build there are three processes, and deadheat passes the turns between
/// them.
#[test]
fn three_processes_take_turns_and_the_faulty_one_is_found() {
    needs!("python3");
    let control = ["--control", "yes"];
    let harmless: [(&[&str], &str); 2] = [(&[], "notes"), (&["notes"], "hang@bye")];
    at_once(&harmless, |(old, new)| {
        let track = Track::new();
        track.race(&control, old, &[new]).has_all_samples();
    });
    let patient = ["--control", "yes", "--timeout", "1"];
    let late = "replicate 0, block 0: 'new' did not finish within 1s";
    let cases = [
        (
            "exit@turn",
            "block 0: 'new' ended its process with exit code 3",
        ),
        (
            "exit@passed",
            "block 0: 'new' ended its process with exit code 3",
        ),
        (
            "kill@wait",
            "block 0: 'new' was killed by signal 9 (SIGKILL)",
        ),
        (
            "raise@turn",
            "block 0: 'new' ended its process with exit code 1",
        ),
        ("hang@input", late),
        ("hang@turn", late),
        ("hang@wait", late),
        ("stop@wait", late),
        (
            "keep@baton",
            "wait for each other: neither finished within 1s",
        ),
    ];
    at_once(&cases, |(fault, sentence)| {
        let track = Track::new();
        let told = track.race(&patient, &["notes"], &["notes", fault]);
        told.fails_alone(sentence);
    });
    for fault in ["close-baton@turn", "close-baton@wait"] {
        let track = Track::new();
        let told = track.race(&control, &["notes"], &["notes", fault]);
        told.fails_alone("'new' closed the turn-taking pipes before its last turn");
    }
}

#[test]
fn answers_that_make_no_sense_are_quoted() {
    needs!("python3");
    for (fault, sentence) in [
        (
            "say@hello={\"hello\":{\"protocol\":1}}",
            "'new' uses version 1 of the worker protocol",
        ),
        (
            "say@hello={\"hello\":{\"protocol\":99,\"metrics\":[\"wall_ns\"]}}",
            "'new' uses version 99 of the worker protocol, but this deadheat uses version 2",
        ),
        (
            "say@hello={\"hello\":{}}",
            "worker protocol: it sends '{\"hello\":{}}'",
        ),
        (
            "say@hello={\"hello\":{\"protocol\":2}}",
            "its hello message lacks the metric wall_ns",
        ),
        (
            "say@hello={\"sound\":{}}",
            "it sends {\"sound\":{}} instead of hello",
        ),
        ("say@prepare=what?", "it sends 'what?'"),
        ("say@prepare=", "it sends nothing in a line"),
        (
            "say@prepare={\"sound\":{}}",
            "it sends an unexpected answer: {\"sound\":{}}",
        ),
        (
            "say@calibrate={\"calibrated\":{\"iterations\":0,\"call_ns\":[1]}}",
            "calibration run: 'new' does not follow the worker protocol: it sends an unexpected \
             answer: {\"calibrated\":",
        ),
        (
            "say@calibrate={\"calibrated\":{\"iterations\":9,\"call_ns\":[-1]}}",
            "it sends an unexpected answer: {\"calibrated\":",
        ),
        (
            "say@calibrate={\"calibrated\":{\"iterations\":9,\"call_ns\":[1],\
             \"blocks_ns\":[[1,-2,3,4]]}}",
            "it sends an unexpected answer: {\"calibrated\":",
        ),
        (
            "say@calibrate={\"calibrated\":{\"iterations\":9999999999999999,\"call_ns\":[1]}}",
            "it sends an unexpected answer: {\"calibrated\":",
        ),
        (
            "say@warm_up={\"prepared\":{}}",
            "it sends an unexpected answer: {\"prepared\":",
        ),
        (
            "say@block={\"block\":{\"values\":[null]}}",
            "it sends '{\"block\":{\"values\":[null]}}'",
        ),
        (
            "say@block={\"warm\":{\"rounds\":3}}",
            "it answers {\"warm\":{\"rounds\":3}} when asked",
        ),
        (
            "say@block={\"block\":{\"values\":[1e999,1,1,1]}}",
            "worker protocol: ",
        ),
        (
            "drop@block",
            "it answers with 3 values for 2 samples of 2 metrics each",
        ),
        ("negate@block", "cpu_ns of sample 1 of a block is -"),
        ("nan@block", "it sends '{\"block\": {\"values\": ["),
        (
            "endless@block",
            "it sends a line without an end, which starts with 'xxxx",
        ),
        ("twice@hello", "it sends '{\"hello\":"),
        ("twice@block", "before deadheat sends a request"),
        (
            "close-replies@block",
            "it closed its reply pipe and keeps running",
        ),
        (
            "close-replies@hello",
            "it closed its reply pipe and keeps running",
        ),
    ] {
        let track = Track::new();
        track.race(&[], &[], &[fault]).fails_alone(sentence);
    }
}

#[test]
fn what_a_build_says_of_its_failure_is_told() {
    needs!("python3");
    for (problem, sentence) in [
        (
            r#"{"panicked":"at sum.py:3: no"}"#,
            "block 0: 'new' panicked at sum.py:3: no",
        ),
        (
            r#"{"panicked":"ValueError: no"},"verb":"raised""#,
            "block 0: 'new' raised ValueError: no",
        ),
        (
            r#"{"panicked":"at w.ext:3: no"},"verb":"barked""#,
            "block 0: 'new' panicked at w.ext:3: no",
        ),
        (r#"{"skipped":"no GPU"}"#, "'new' skips itself: no GPU"),
        (r#"{"unknown":{}}"#, "it does not know this benchmark"),
        (
            r#"{"out_of_turn":{}}"#,
            "it reports that deadheat asked it out of turn",
        ),
        (
            r#"{"output_differs":{}}"#,
            "returns a different output than 'old' for the same input",
        ),
        (
            r#"{"output_differs":{"detail":"3, not 4"}}"#,
            "returns a different output than 'old' for the same input: 3, not 4",
        ),
        (
            r#"{"output_varies":{"detail":"3, then 4","more":[]}}"#,
            "so outputs cannot be compared: 3, then 4",
        ),
        (
            r#"{"output_varies":{}}"#,
            "returns different outputs for the same input",
        ),
        (
            r#"{"bored":{}}"#,
            r#"it sends '{"failed":{"contender":0,"problem":{"bored":{}}}}'"#,
        ),
    ] {
        let fault = format!(r#"say@block={{"failed":{{"contender":0,"problem":{problem}}}}}"#);
        let track = Track::new();
        track.race(&[], &[], &[&fault]).fails_alone(sentence);
    }
}

#[test]
fn what_does_no_harm_is_forgiven() {
    needs!("python3");
    let faults = [
        "print@start",
        "print@turn",
        "start-child@turn",
        "start-daemon@turn",
        "start-daemon@prepare",
        "hang@bye",
    ];
    at_once(&faults, |fault| {
        let track = Track::new();
        track.race(&[], &[], &[fault]).has_all_samples();
    });
}

#[test]
fn a_build_that_is_replaced_while_it_is_raced_is_noticed() {
    needs!("python3");
    let track = Track::new();
    let script = fs::read_to_string(python()[2]).unwrap();
    let installed = track.path("old");
    fs::write(&installed, format!("#!{} -S\n{script}", python()[0])).unwrap();
    fs::set_permissions(&installed, fs::Permissions::from_mode(0o755)).unwrap();
    let new = python();
    let endless = [
        "--max-replicates",
        "2000",
        "--blocks",
        "1",
        "--alpha",
        "1e-60",
    ];
    let racing = ["--save", "run.jsonl", "+", "bad", "./old", "vs"];
    let words = [&["race"], &endless[..], &racing, &new].concat();
    let child = track.command(&words).spawn().unwrap();
    let measured = wait_until(|| (blocks_in(&track.path("run.jsonl")) > 0).then_some(()));
    measured.expect("a block is recorded");
    fs::write(&installed, "#!/bin/sh\n").unwrap();
    let told = track.finish(child).ends_with(3);
    told.tells("'old' cannot be started: '")
        .tells("was replaced or deleted while it was raced");
}

#[test]
fn lists_that_make_no_sense_are_refused() {
    needs!("python3");
    for (list, sentence) in [
        (
            r#"[{"name":"a"},{"name":"a"}]"#,
            "it lists two benchmarks named 'a'",
        ),
        (
            r#"[{"name":"a","contenders":["x","x"]}]"#,
            "in its list, benchmark 'a' has two contenders named 'x'",
        ),
        (
            r#"[{"name":"a","contenders":[]}]"#,
            "in its list, benchmark 'a' has no contender",
        ),
        (
            r#"[{"name":"a","threads":0}]"#,
            "in its list, benchmark 'a' has 0 threads",
        ),
        (
            r#"[{"name":""}]"#,
            "in its list, benchmark '' has an empty name",
        ),
        (
            r#"[{"name":"a","judged":"fuel"}]"#,
            "in its list, benchmark 'a' is to be judged by the metric 'fuel', which the worker \
             does not have",
        ),
        (r#"[{"names":"a"}]"#, "it sends '{\"listed\":"),
        ("7", "it sends '{\"listed\":"),
    ] {
        let fault = format!(r#"say@list={{"listed":{{"benchmarks":{list}}}}}"#);
        let track = Track::new();
        let told = track.inspect("60", &[&python()[..], &[&fault]].concat());
        told.ends_with(3).tells(sentence);
    }
    let track = Track::new();
    let none = r#"say@list={"listed":{"benchmarks":[]}}"#;
    let told = track.inspect("60", &[&python()[..], &[none]].concat());
    told.ends_with(0).tells("benchmarks: []");
}

#[test]
fn workers_that_break_down_when_they_are_inspected_are_told_apart() {
    needs!("python3");
    for (fault, sentence) in [
        (
            "exit@hello",
            "ended its process with exit code 3 and lists no benchmarks",
        ),
        (
            "raise@hello",
            "misbehaving_worker.py' raised ValueError: no nerves left, at ",
        ),
        (
            "kill@start",
            "was killed by signal 9 (SIGKILL) and lists no benchmarks",
        ),
        ("exit@list", "ended its process with exit code 3"),
        ("print-and-raise@list", "ValueError: said too much"),
        (
            "say@hello={\"hello\":{\"protocol\":1}}",
            "uses version 1 of the worker protocol",
        ),
        (
            "say@list={\"sound\":{}}",
            "it answers {\"sound\":{}} when asked for its benchmarks",
        ),
        ("endless@hello", "it sends a line without an end"),
        ("endless@list", "it sends a line without an end"),
        (
            "close-replies@hello",
            "it closed its reply pipe and keeps running",
        ),
        ("leave-children@list", "ended its process with exit code 7"),
    ] {
        let track = Track::new();
        let told = track.inspect("60", &[&python()[..], &[fault]].concat());
        told.ends_with(3).tells(sentence);
    }
    for fault in ["print@start", "print@list", "start-daemon@list", "hang@bye"] {
        let track = Track::new();
        let told = track.inspect("60", &[&python()[..], &[fault]].concat());
        told.ends_with(0).tells("misbehaving 1.0");
    }
}

#[test]
fn a_program_that_hangs_when_it_is_inspected_is_killed() {
    needs!("python3");
    let no_benchmarks = "runs for more than 10s and lists no benchmarks";
    let no_list = "did not finish within 10s";
    let worker = |fault| [&python()[..], &[fault]].concat();
    let cases = [
        (worker("hang@hello"), no_benchmarks),
        (worker("stop@start"), no_benchmarks),
        (worker("hang@list"), no_list),
        (worker("print-forever@list"), no_list),
        (vec!["sh", "-c", "exec sleep 1000"], no_benchmarks),
        (vec!["sh", "-c", "exec yes"], no_benchmarks),
    ];
    at_once(&cases, |(program, sentence)| {
        let track = Track::new();
        let mut told = track.inspect("1", program).ends_with(3);
        if *sentence == no_benchmarks {
            told = told.tells(NEITHER);
        }
        told.tells(sentence);
    });
}

const NEITHER: &str = "if it has benchmarks, --harness names its harness (docs/suites.md)";

#[test]
fn programs_that_hold_no_benchmarks_are_told_what_they_lack() {
    for (program, sentence) in [
        (
            &["/bin/true"][..],
            "'/bin/true' ended its process with exit code 0 and lists no benchmarks",
        ),
        (
            &["/bin/false"],
            "'/bin/false' ended its process with exit code 1 and lists no benchmarks",
        ),
        (
            &["/bin/sh", "-c", "cat"],
            "'/bin/sh' ended its process with exit code 0 and lists no benchmarks",
        ),
        (
            &["/bin/echo", "a"],
            "it prints 'a --benchmark_list_tests=true'",
        ),
        (
            &["/bin/sh", "-c", "echo help >&2; exit 64"],
            "its standard error ends: help",
        ),
    ] {
        let track = Track::new();
        let began = Instant::now();
        let told = track.inspect("60", program).ends_with(3);
        told.tells(sentence).tells(NEITHER).tells("deadheat run");
        // deadheat must not wait for the limit if the program has ended.
        assert!(began.elapsed() < FAR_TOO_LONG / 2);
    }
}

#[test]
fn a_program_of_another_harness_is_asked_for_its_help_at_most_and_named() {
    let go = "flag provided but not defined: -benchmark_list_tests\n\
              Usage of /tmp/x.test:\n  -test.run regexp\n    \trun only tests matching\n  \
              -test.timeout d\n    \tpanic after duration d\n  \
              -test.v\n    \tverbose: print additional output\n";
    let clap = "error: unexpected argument '--benchmark_list_tests' found\n\n  \
                tip: to pass '--benchmark_list_tests' as a value, use '-- --benchmark_list_tests'\n\n\
                Usage: x [OPTIONS] [FILTER]...\n\nFor more information, try '--help'.\n";
    let libtest = "error: Unrecognized option: 'benchmark_list_tests'\n";
    for (words, named, asked) in [
        (
            go,
            "does not list its benchmarks like other executables of Go",
            "list\n--help\nlist\n",
        ),
        (clap, "such as libtest", "list\n--help\n"),
        (libtest, "such as libtest", "list\n--help\n"),
    ] {
        let track = Track::new();
        let starts = track.path("starts");
        fs::write(track.path("words"), words).unwrap();
        let script = format!(
            "case $1 in --help) echo $1;; *) echo list;; esac >> {}; cat {} >&2; exit 2",
            starts.display(),
            track.path("words").display()
        );
        let told = track
            .inspect("60", &["/bin/sh", "-c", &script, "sh"])
            .ends_with(3);
        told.tells(named);
        assert_eq!(fs::read_to_string(&starts).unwrap(), asked);
    }
}

#[test]
fn files_that_cannot_be_started_are_told_with_advice() {
    let track = Track::new();
    let write = |text: &str, mode| {
        fs::write(track.path("new"), text).unwrap();
        fs::set_permissions(track.path("new"), fs::Permissions::from_mode(mode)).unwrap();
    };
    let told = |program: &str, sentence: &str| {
        let began = Instant::now();
        track.inspect("60", &[program]).ends_with(3).tells(sentence);
        assert!(began.elapsed() < FAR_TOO_LONG / 2);
    };
    told("./new", "'./new' cannot be started: there is no such file");
    told("/", "'/' cannot be started: it is a folder");
    write("#!/bin/sh\n", 0o644);
    told("./new", "it is not executable");
    write("#!/no/such/interpreter\n", 0o755);
    told(
        "./new",
        "its interpreter '/no/such/interpreter' does not exist",
    );
    write("\u{7f}ELF?", 0o755);
    told("./new", "it is neither an executable for this system");
    write("", 0o755);
    told("./new", "it is neither an executable for this system");
}
