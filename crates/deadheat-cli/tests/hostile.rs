//! Text and files from outside that would do harm: orders to a terminal or a runner of workflows,
//! and files without an end.

mod common;

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use common::{Finished, Track, text};
use flate2::Compression;
use flate2::write::GzEncoder;

/// Clears the screen, and is an order to a runner of workflows on a line of its own.
const ORDERS: &str = "broken\u{1b}[2J\n::error file=x.rs::a\n  ::add-mask::a\r\u{9b}31m";

/// The same for a folder whose files are named too, within the limits of a path.
const ORDERS_OF_A_FOLDER: &str = "broken\u{1b}[2J\n::error file=x.rs::a";

/// Asserts that an error is told, and none of the orders is carried out.
#[track_caller]
fn is_harmless(done: &Finished, code: i32) {
    done.fails_with(code, &["error: "]);
    let said = &done.stderr;
    let obeyed = |c: char| c.is_control() && c != '\n';
    assert!(!said.contains(obeyed), "{said:?}");
    for line in said.lines() {
        assert!(!line.trim_start().starts_with("::"), "{said:?}");
    }
    assert!(
        said.contains("broken"),
        "the text itself is shown: {said:?}"
    );
}

#[test]
fn orders_in_a_rules_file_are_shown_and_not_obeyed() {
    let track = Track::new();
    let value = ORDERS
        .replace('\u{1b}', "\\u001b")
        .replace('\u{9b}', "\\u009b");
    let value = value.replace('\n', "\\n").replace('\r', "\\r");
    for line in [
        format!("fail-on = [\"{value}\"]"),
        format!("metric = \"{value}\""),
        format!("alpha = \"{value}\""),
        format!("margin = \"{value}\""),
        format!("budget = \"{value}\""),
        format!("\"{value}\" = 1"),
        format!("[[ignore]]\nname = \"a\"\nreason = \"b\"\nuntil = \"{value}\""),
        format!("[[ignore]]\nname = \"a\"\nreason = \"b\"\nrule = \"{value}\""),
        format!("[[benchmark]]\nname = \"a\"\n\"{value}\" = 1"),
    ] {
        std::fs::write(track.path("deadheat.toml"), &line).unwrap();
        let done = track.run(&["run", "-r", "1", "-w", "0", "--", "true"]);
        let code = done.code.unwrap();
        assert!([2, 4].contains(&code), "{line}: {done:?}");
        is_harmless(&done, code);
    }
}

#[test]
fn orders_on_the_command_line_are_shown_and_not_obeyed() {
    let track = Track::new();
    let race = ["--", "true"];
    for flag in [
        "--margin",
        "--alpha",
        "--budget",
        "--metric",
        "--pin",
        "--fail-on",
        "--format",
    ] {
        let done = track.run(&[&["run", flag, ORDERS], &race[..]].concat());
        is_harmless(&done, 2);
    }
    for args in [
        vec!["run", "-L", ORDERS, "--", "true"],
        vec!["run", "-P", "n", ORDERS, "2", "--", "true"],
    ] {
        is_harmless(&track.run(&args), 2);
    }
    for args in [
        vec![ORDERS],
        vec!["run", "--", ORDERS],
        vec!["bench", ORDERS],
        vec!["compare", ORDERS, "x"],
    ] {
        is_harmless(&track.run(&args), 3);
    }
    for args in [vec!["analyze", ORDERS], vec!["report", ORDERS, "--json"]] {
        is_harmless(&track.run(&args), 4);
    }
}

/// Asserts that the program succeeds, names the text, and carries out none of its orders.
#[track_caller]
fn prints_harmlessly(done: &Finished) {
    done.succeeds();
    assert!(done.stdout.contains("broken"), "{done:?}");
    for said in [&done.stdout, &done.stderr] {
        assert!(
            !said.contains(|c: char| c.is_control() && c != '\n'),
            "{said:?}"
        );
        let is_order = |line: &str| line.trim_start().starts_with("::");
        assert!(!said.lines().any(is_order), "{said:?}");
    }
}

#[test]
fn orders_in_names_of_files_are_shown_and_not_obeyed() {
    let track = Track::new();
    let race = ["--no-config", "-r", "12", "-w", "0", "--", "true", "true "];
    let page = format!("::{ORDERS}");
    let run = ["run", "-q", "--save", ORDERS, "--html", &page];
    prints_harmlessly(&track.run(&[&run, &race[..]].concat()));
    let plan = ["plan", "run", "--save", "broken\u{1b}]0;a\u{7} b"];
    let plan = track.run(&[&plan, &race[..]].concat());
    prints_harmlessly(&plan);
    assert!(plan.stdout.contains("deadheat pack 'broken"), "{plan:?}");
    for words in [
        &["report", ORDERS, "--html", &page][..],
        &["report", ORDERS, "--svg", ORDERS_OF_A_FOLDER],
        &["analyze", ORDERS, ORDERS],
        &["man", "--out", ORDERS_OF_A_FOLDER],
    ] {
        prints_harmlessly(&track.run(words));
    }
}

#[test]
fn orders_in_a_plan_and_in_accepted_steps_are_shown_and_not_obeyed() {
    let track = Track::new();
    let escaped = ORDERS
        .replace('\u{1b}', "\\u001b")
        .replace('\u{9b}', "\\u009b")
        .replace('\n', "\\n")
        .replace('\r', "\\r");
    let plan = [
        "plan",
        "run",
        "--save",
        "plan.json",
        "--max-replicates",
        "6",
    ];
    let race = ["--", "true", "true "];
    track.run(&[&plan, &race[..]].concat()).succeeds();
    let text = std::fs::read_to_string(track.path("plan.json")).unwrap();
    let words = format!("\"words\":[\"{escaped}\"]");
    let hostile = text.replace("\"words\":[\"true\"]", &words);
    assert_ne!(hostile, text);
    std::fs::write(track.path("plan.json"), hostile).unwrap();
    prints_harmlessly(&track.run(&["pack", "plan.json", "-o", "pack"]));
    std::fs::create_dir(track.path(".deadheat")).unwrap();
    let list = ["history", "accept", "--list"];
    for field in ["why", "benchmark"] {
        let fields = [
            ("commit", "0123456789012345678901234567890123456789"),
            ("benchmark", "b"),
            ("why", "w"),
        ];
        let text = fields.into_iter().map(|(name, value)| {
            let value = if name == field { &escaped } else { value };
            format!("{name} = \"{value}\"\n")
        });
        let text = format!("[[accepted]]\n{}", text.collect::<String>());
        std::fs::write(track.path(".deadheat/accepted.toml"), text).unwrap();
        prints_harmlessly(&track.run(&list));
    }
}

#[test]
fn a_document_with_control_characters_stays_valid() {
    let track = Track::new();
    let rows = [1, 2, 3].map(|time| format!("a\u{9b}\u{7f}b,x,{time}\na\u{9b}\u{7f}b,y,{time}\n"));
    let csv = format!("benchmark,contender,wall_ns\n{}", rows.concat());
    std::fs::write(track.path("a.csv"), csv).unwrap();
    let done = track.run(&["analyze", "a.csv", "--json"]);
    let answer = done.succeeds().json();
    assert!(!done.stdout.contains(['\u{9b}', '\u{7f}']), "{done:?}");
    assert!(answer.to_string().contains("a\u{9b}\u{7f}b"), "{answer}");
}

#[test]
fn a_small_file_that_unpacks_without_an_end_is_given_up() {
    let track = Track::new();
    let bomb = track.path("bomb.json.gz");
    let mut packer = GzEncoder::new(File::create(&bomb).unwrap(), Compression::fast());
    for _ in 0..64 {
        packer.write_all(&[b' '; 1 << 16]).unwrap();
    }
    packer.finish().unwrap();
    let limited = |limit: &str, args: &[&str]| {
        let mut command = track.command();
        command.env("DEADHEAT_MAX_INPUT", limit).args(args);
        Finished::from(command.output().unwrap())
    };
    let bomb = text(&bomb);
    for args in [vec!["analyze", bomb], vec!["compare", bomb, bomb]] {
        limited("1M", &args).fails_with(4, &["bomb.json.gz", "more than 1048576 bytes"]);
        // As large as it is, it holds nothing.
        let whole = limited("8M", &args);
        assert_eq!(whole.code, Some(4), "{whole:?}");
        assert!(!whole.stderr.contains("more than"), "{whole:?}");
    }
    limited("much", &["analyze", bomb]).fails_with(4, &["DEADHEAT_MAX_INPUT=much is not a size"]);
}

#[test]
fn a_device_is_no_file_of_results() {
    let track = Track::new();
    for args in [
        vec!["analyze", "/dev/zero"],
        vec!["report", "/dev/zero", "--json"],
        vec!["compare", "/dev/zero", "/dev/zero"],
        vec!["run", "--resume", "/dev/zero"],
    ] {
        let done = track.run(&args);
        done.fails_with(4, &["/dev/zero", "it is a device"]);
    }
}

/// A named pipe.
fn pipe(track: &Track, name: &str) -> PathBuf {
    track.tool("mkfifo", &[name]);
    track.path(name)
}

#[test]
fn a_named_pipe_whose_other_end_nobody_opens_is_given_up() {
    let track = Track::new();
    track
        .run(&["run", "-r", "2", "--save", "r.jsonl", "--", "true", "true "])
        .succeeds();
    for name in ["pipe", "pipe-2", "pipe-3", "pipe-4"] {
        pipe(&track, name);
    }
    // Of a folder with pipes, one alone is waited for.
    for name in ["a", "b"] {
        let folder = format!("results/{name}/new");
        fs::create_dir_all(track.path(&folder)).unwrap();
        let about = format!(r#"{{"group_id":"{name}","full_id":"{name}","title":"{name}"}}"#);
        fs::write(track.path(&format!("{folder}/benchmark.json")), about).unwrap();
        pipe(&track, &format!("{folder}/sample.json"));
    }
    let results = track.start(&["analyze", "results", "--format", "terse"]);
    let config = [
        "run", "-r", "2", "--config", "pipe-3", "--", "true", "true ",
    ];
    let table = ["analyze", "r.jsonl", "--export-csv", "pipe-4"];
    // All at once, because each waits for ten seconds.
    let waiting = [
        (&["analyze", "pipe"][..], 4, "for writing within 10 s"),
        (
            &["compare", "r.jsonl", "pipe-2"],
            4,
            "for writing within 10 s",
        ),
        (&config, 2, "for writing within 10 s"),
        (&table, 5, "for reading within 10 s"),
    ];
    let waiting = waiting.map(|(words, code, why)| (track.start(words), code, why));
    for (child, code, why) in waiting {
        let done = Finished::from(child.wait_with_output().unwrap());
        done.fails_with(code, &["pipe", why, "help: start the other process first"]);
    }
    let results = Finished::from(results.wait_with_output().unwrap());
    let told = format!("{}{}", results.stdout, results.stderr);
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("within 0.1 s (deadheat already waited 10 s for another pipe)"),
        "{told}"
    );
    for words in [
        &["run", "--plan", "pipe"][..],
        &["run", "--resume", "pipe"],
        &["merge", "pipe"],
    ] {
        track.run(words).fails_with(4, &["pipe", "read only once"]);
    }
}

#[test]
fn a_named_pipe_in_place_of_the_list_of_made_files_stops_no_race() {
    let track = Track::new();
    let race = || {
        let mut race = track.command();
        race.env("XDG_STATE_HOME", track.path("state"));
        race.args(["run", "-q", "-r", "2", "--", "true", "true "]);
        Finished::from(race.output().unwrap()).succeeds();
    };
    race();
    let list = "state/deadheat/made/list";
    fs::remove_file(track.path(list)).unwrap();
    pipe(&track, list);
    race();
}

#[test]
fn a_named_pipe_is_read_once_its_writer_comes() {
    let track = Track::new();
    track
        .run(&["run", "-r", "2", "--save", "r.jsonl", "--", "true", "true "])
        .succeeds();
    pipe(&track, "pipe");
    let analysis = track.start(&["analyze", "--json", "pipe"]);
    track.tool("sh", &["-c", "sleep 0.5; cat r.jsonl > pipe"]);
    let done = Finished::from(analysis.wait_with_output().unwrap());
    assert_eq!(
        done.succeeds().json()["benchmarks"][0]["baseline"]["samples"],
        2
    );
    let export = track.start(&["analyze", "r.jsonl", "--export-csv", "pipe"]);
    track.tool("sh", &["-c", "sleep 0.5; cat pipe > r.csv"]);
    Finished::from(export.wait_with_output().unwrap()).succeeds();
    assert!(
        std::fs::read_to_string(track.path("r.csv"))
            .unwrap()
            .contains("wall_ns")
    );
}

#[test]
fn no_race_waits_for_a_pipe_in_place_of_the_calibration() {
    let track = Track::new();
    let pipe = pipe(&track, "calibration");
    let mut command = track.command();
    command.args(["run", "-r", "1", "-w", "0", "--", "true"]);
    for place in [text(&pipe), "/dev/zero"] {
        let done = command.env("DEADHEAT_CALIBRATION", place).output().unwrap();
        Finished::from(done).succeeds();
    }
}

#[test]
fn an_answer_that_nobody_can_read_is_no_success() {
    let track = Track::new();
    let save = track.path("run.jsonl");
    let race = [
        "run",
        "-r",
        "2",
        "-w",
        "0",
        "--save",
        text(&save),
        "--",
        "true",
        "true",
    ];
    track.run(&race).succeeds();
    for args in [
        vec!["analyze", text(&save)],
        vec!["analyze", "--json", text(&save)],
        vec!["completions", "bash"],
        vec!["man"],
        vec!["run", "-r", "1", "-w", "0", "--", "true"],
    ] {
        let mut shell = Command::new("sh");
        shell.args([
            "-c",
            "exec \"$@\" >&-",
            "sh",
            env!("CARGO_BIN_EXE_deadheat"),
        ]);
        shell.args(&args).current_dir(track.folder.path());
        let done = Finished::from(shell.env("DEADHEAT_CALIBRATION", "").output().unwrap());
        done.fails_with(5, &["standard output", "it is closed"]);
    }
}

#[test]
fn an_input_on_standard_input_is_not_replaced_by_an_output() {
    let track = Track::new();
    let table = "benchmark,contender,wall_ns\na,x,1\na,y,2\n";
    std::fs::write(track.path("a.csv"), table).unwrap();
    let input = File::open(track.path("a.csv")).unwrap();
    let words = ["analyze", "-", "--export-json", "a.csv"];
    let done = track.command().args(words).stdin(input).output().unwrap();
    let done = Finished::from(done);
    done.fails_with(
        2,
        &["--export-json a.csv is the same file as the argument /dev/stdin"],
    );
    assert_eq!(std::fs::read_to_string(track.path("a.csv")).unwrap(), table);
}
