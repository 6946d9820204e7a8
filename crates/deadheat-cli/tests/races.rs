//! Races of real commands, from the command line to the answer.

mod common;

use std::path::Path;

use common::{Track, text};
use serde_json::Value;

fn first(analysis: &Value) -> &Value {
    &analysis["benchmarks"][0]
}

#[test]
fn a_command_against_itself_is_neither_faster_nor_slower() {
    let track = Track::new();
    // A promise that holds in 95 of 100 races would fail one CI run in 20;
    // the rate itself is simulated elsewhere.
    let args = [
        "run",
        "--json",
        "--seed",
        "1",
        "--alpha",
        "0.0001",
        "--",
        "sleep 0.02",
        "sleep 0.02",
    ];
    let analysis = track.run(&args).succeeds().json();
    assert_eq!(analysis["schema"], "deadheat.analysis/1");
    assert_eq!(analysis["seed"], 1);
    let verdict = first(&analysis)["verdict"].as_str().unwrap();
    assert!(
        ["equivalent", "inconclusive"].contains(&verdict),
        "{verdict}"
    );
}

#[test]
fn a_longer_sleep_is_slower() {
    let track = Track::new();
    let done = track.run(&["run", "--json", "--", "sleep 0.020", "sleep 0.030"]);
    let analysis = done.succeeds().json();
    let row = first(&analysis);
    assert_eq!(row["verdict"], "slower");
    let low = row["ci"][0].as_f64().unwrap();
    let high = row["ci"][1].as_f64().unwrap();
    assert!(low > 0.0 && low < row["change"].as_f64().unwrap() && high > low);
}

#[test]
fn the_saved_run_analyses_to_the_same_bytes() {
    let track = Track::new();
    let save = track.path("run.jsonl");
    let args = [
        "run",
        "--json",
        "--save",
        text(&save),
        "-r",
        "12",
        "--",
        "true",
        "sleep 0.001",
    ];
    let raced = track.run(&args);
    let again = track.run(&["analyze", "--json", text(&save)]);
    assert_eq!(raced.succeeds().stdout, again.succeeds().stdout);
    let text_again = track.run(&["analyze", text(&save)]);
    assert!(text_again.succeeds().stdout.contains("6 replicates"));
}

#[test]
fn the_same_seed_runs_the_same_schedule() {
    let track = Track::new();
    let order = |name: &str| {
        let save = track.path(name);
        let args = [
            "run",
            "-q",
            "--seed",
            "42",
            "--save",
            text(&save),
            "-r",
            "12",
            "--",
            "true",
            "true",
        ];
        track.run(&args).succeeds();
        let lines = std::fs::read_to_string(&save).unwrap();
        let blocks = lines.lines().filter_map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            let samples = line.get("samples")?.as_array()?.clone();
            Some(
                samples
                    .iter()
                    .map(|sample| sample[0].clone())
                    .collect::<Vec<_>>(),
            )
        });
        blocks.collect::<Vec<_>>()
    };
    let first = order("a.jsonl");
    assert_eq!(first.len(), 6);
    assert_eq!(first, order("b.jsonl"));
}

#[test]
fn a_run_is_kept_without_asking_and_out_of_version_control() {
    let track = Track::new();
    let done = track.run(&["run", "-r", "2", "--", "true"]);
    assert!(
        done.succeeds()
            .stdout
            .contains("; recorded in .deadheat/runs/"),
        "{done:?}"
    );
    assert_eq!(track.recorded().len(), 1);
    let ignore = std::fs::read_to_string(track.path(".deadheat/.gitignore")).unwrap();
    assert_eq!(ignore.trim(), "*");
}

#[test]
fn one_command_is_measured_alone_and_the_answer_says_so() {
    let track = Track::new();
    let done = track.run(&["run", "-r", "10", "--", "true"]);
    assert!(done.succeeds().stdout.contains("alone"), "{}", done.stdout);
    let json = track.run(&["run", "--json", "-r", "10", "--", "true"]);
    let analysis = json.succeeds().json();
    assert_eq!(first(&analysis)["verdict"], Value::Null);
    assert_eq!(first(&analysis)["candidate"], Value::Null);
    assert_eq!(first(&analysis)["baseline"]["samples"], 10);
}

#[test]
fn three_commands_are_compared_with_the_first() {
    let track = Track::new();
    let args = [
        "run",
        "--json",
        "-r",
        "8",
        "--",
        "sleep 0.005",
        "sleep 0.015",
        "sleep 0.030",
    ];
    let analysis = track.run(&args).succeeds().json();
    let rows = analysis["benchmarks"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert_eq!(row["baseline"]["name"], "sleep 0.005");
        // Eight launches on a machine that is busy may leave it open.
        assert_ne!(row["verdict"], "faster");
        assert!(row["change"].as_f64() > Some(0.5), "{row}");
    }
    assert!(rows[1]["change"].as_f64() > rows[0]["change"].as_f64());
}

#[test]
fn parameters_sweep_over_benchmarks_or_contenders() {
    let track = Track::new();
    let base = ["run", "--json", "-r", "2", "-L", "t", "0.001,0.002", "--"];
    let several = track.run(&[&base[..], &["sleep {t}", "sleep {t}9"]].concat());
    let analysis = several.succeeds().json();
    assert_eq!(analysis["benchmarks"].as_array().unwrap().len(), 2);
    assert_eq!(analysis["benchmarks"][1]["parameters"]["t"], "0.002");
    let one = track.run(&[&base[..], &["sleep {t}"]].concat());
    let analysis = one.succeeds().json();
    assert_eq!(first(&analysis)["baseline"]["name"], "sleep 0.001");
    assert_eq!(first(&analysis)["candidate"]["name"], "sleep 0.002");
    let scan = [
        "run", "--json", "-r", "1", "-P", "n", "1", "3", "-D", "2", "--", "echo {n}",
    ];
    let analysis = track.run(&scan).succeeds().json();
    assert_eq!(first(&analysis)["candidate"]["name"], "echo 3");
}

#[test]
fn every_recorded_metric_is_shown_on_the_same_pairs_and_any_can_be_judged() {
    let track = Track::new();
    let args = [
        "run",
        "--json",
        "-r",
        "12",
        "--metric",
        "cpu",
        "--",
        "true",
        "sh -c true",
    ];
    let analysis = track.run(&args).succeeds().json();
    assert_eq!(first(&analysis)["metric"], "cpu");
    let metrics: Vec<&str> = first(&analysis)["metrics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["metric"].as_str().unwrap())
        .collect();
    for metric in [
        "wall",
        "cpu",
        "user",
        "system",
        "peak-rss",
        "minor-faults",
        "major-faults",
    ] {
        assert!(metrics.contains(&metric), "{metrics:?}");
    }
    for metric in ["voluntary-switches", "involuntary-switches"] {
        assert!(metrics.contains(&metric), "{metrics:?}");
    }
}

#[test]
fn a_failing_condition_is_an_exit_code_of_its_own() {
    let track = Track::new();
    let race = |rule: &str| {
        track
            .run(&["run", "--fail-on", rule, "--", "sleep 0.010", "sleep 0.030"])
            .code
    };
    assert_eq!(race("slower"), Some(1));
    assert_eq!(race("not-equivalent"), Some(1));
    assert_eq!(race("inconclusive"), Some(0));
}

#[test]
fn exports_hold_the_run_in_four_shapes() {
    let track = Track::new();
    let [json, csv, hdr, markdown] =
        ["x.json", "x.csv", "x.hlog", "x.md"].map(|name| track.path(name));
    let args = [
        "run",
        "-q",
        "-r",
        "12",
        "--export-json",
        text(&json),
        "--export-csv",
        text(&csv),
        "--export-hdr",
        text(&hdr),
        "--export-markdown",
        text(&markdown),
        "--",
        "true",
        "sleep 0.002",
    ];
    track.run(&args).succeeds();
    let hyperfine: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    assert_eq!(hyperfine["results"][1]["command"], "sleep 0.002");
    assert_eq!(
        hyperfine["results"][1]["times"].as_array().unwrap().len(),
        12
    );
    let rows = std::fs::read_to_string(&csv).unwrap();
    assert!(rows.starts_with(
        "benchmark,replicate,block,slot,contender,role,iterations,wall_ns,cpu_ns,flags"
    ));
    assert_eq!(rows.lines().count(), 25);
    assert!(
        std::fs::read_to_string(&markdown)
            .unwrap()
            .contains("| Command |")
    );
    let log = std::fs::read_to_string(&hdr).unwrap();
    let line = |name| format!("Tag=run/{name},0.000,");
    assert!(log.contains("#[Unit: nanoseconds "), "{log}");
    assert!(log.contains(&line("true")) && log.contains(&line("sleep_0.002")));
    let analysis = track
        .run(&["analyze", "--json", text(&csv)])
        .succeeds()
        .json();
    assert_eq!(first(&analysis)["verdict"], "slower");
}

#[test]
fn exports_for_services_hold_the_candidate() {
    let track = Track::new();
    let [new, old, action, bmf] = ["n.json", "o.json", "a.json", "b.json"].map(|it| track.path(it));
    let args = [
        "run",
        "-q",
        "-r",
        "4",
        // Samples are exported with it, and answers without.
        "--waiting",
        "keep",
        "--export-google-benchmark",
        text(&new),
        "--export-google-baseline",
        text(&old),
        "--export-smaller-is-better",
        text(&action),
        "--export-bmf",
        text(&bmf),
        "--",
        "true",
        "sleep 0.002",
    ];
    track.run(&args).succeeds();
    let json =
        |path: &Path| -> Value { serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap() };
    let (new, old) = (json(&new), json(&old));
    for side in [&new, &old] {
        assert_eq!(side["context"]["json_schema_version"], 1);
        assert_eq!(side["benchmarks"].as_array().unwrap().len(), 8);
        assert_eq!(side["benchmarks"][0]["name"], "run");
        assert_eq!(side["benchmarks"][4]["name"], "run_mean");
    }
    let median = |side: &Value| side["benchmarks"][5]["real_time"].as_f64().unwrap();
    assert!(median(&new) > 2e6 && median(&old) < median(&new));
    let action = json(&action);
    assert_eq!(action[0]["name"], "sleep 0.002");
    let near = |value: &Value| (value.as_f64().unwrap() / median(&new) - 1.0).abs() < 1e-12;
    assert!(near(&action[0]["value"]));
    let bmf = json(&bmf);
    assert!(near(&bmf["sleep 0.002"]["latency"]["value"]));
}

#[test]
fn what_was_recorded_exports_to_the_bytes_that_the_race_exported() {
    const SHAPES: [&str; 9] = [
        "json",
        "csv",
        "hdr",
        "markdown",
        "google-benchmark",
        "google-baseline",
        "go",
        "smaller-is-better",
        "bmf",
    ];
    let track = Track::new();
    let files = |folder: &str| {
        let file = |name: &str| track.path(&format!("{folder}{name}"));
        SHAPES.map(file)
    };
    let flags = SHAPES.map(|shape| format!("--export-{shape}"));
    let exported = |folder: &str, args: &[&str]| {
        let files = files(folder);
        let mut all = args[..1].to_vec();
        for (flag, file) in flags.iter().zip(&files) {
            all.extend([flag.as_str(), text(file)]);
        }
        all.extend(&args[1..]);
        track.run(&all).succeeds();
        files.map(|file| std::fs::read_to_string(file).unwrap())
    };
    let save = track.path("run.jsonl");
    let race = [
        "run",
        "-q",
        "-r",
        "4",
        "--save",
        text(&save),
        "--",
        "true",
        "true",
    ];
    let raced = exported("a-", &race);
    let analysed = exported("b-", &["analyze", text(&save)]);
    assert_eq!(raced, analysed);
}

#[test]
fn a_recording_without_blocks_gets_a_provisional_verdict_and_says_why() {
    let track = Track::new();
    let csv = track.path("flat.csv");
    let mut rows = "benchmark,contender,wall_ns\n".to_owned();
    for i in 0..20 {
        rows += &format!("b,old,{}\nb,new,{}\n", 1000 + i, 1100 + i);
    }
    std::fs::write(&csv, rows).unwrap();
    let analysis = track
        .run(&["analyze", "--json", text(&csv)])
        .succeeds()
        .json();
    let found = first(&analysis);
    assert_eq!(found["verdict"], "slower");
    assert_eq!(found["provisional"], true);
    assert!((found["change"].as_f64().unwrap() - 0.099).abs() < 0.01);
    assert_eq!(found["warnings"][0]["code"], "unpaired");
    let told = track.run(&["analyze", text(&csv)]);
    told.succeeds();
    assert!(told.stdout.contains("provisional: 'new' is slower"));
    assert!(told.stdout.contains("Interleave"), "{}", told.stdout);
}

#[test]
fn the_secondary_figures_are_for_those_who_ask() {
    let track = Track::new();
    let markdown = track.path("answer.md");
    let args = ["run", "-q", "-r", "4", "--export-markdown", text(&markdown)];
    let plain = track.run(&[&args[..], &["true", "true"]].concat());
    plain.succeeds();
    assert!(!plain.stdout.contains("Secondary figures"));
    let written = || std::fs::read_to_string(&markdown).unwrap();
    assert!(!written().contains("Secondary figures"));
    let asked = track.run(&[&args[..], &["--figures", "true", "true"]].concat());
    asked.succeeds();
    for told in [asked.stdout.clone(), written()] {
        assert!(told.contains("Secondary figures, which never decide a verdict."));
        assert!(told.contains("Hodges-Lehmann shift") && told.contains("percentile 99"));
    }
    let json = track
        .run(&["run", "-q", "-r", "4", "--json", "true", "true"])
        .succeeds()
        .json();
    let percentiles = &first(&json)["figures"]["baseline"]["percentiles"];
    assert_eq!(percentiles.as_array().map(Vec::len), Some(99));
}

#[test]
fn a_resumed_run_goes_on_in_the_same_file_and_is_judged_at_any_time() {
    let track = Track::new();
    let save = track.path("run.jsonl");
    let args = [
        "run",
        "-q",
        "-r",
        "12",
        "--save",
        text(&save),
        "--",
        "sleep 0.010",
        "sleep 0.012",
    ];
    track.run(&args).succeeds();
    let before = std::fs::read_to_string(&save).unwrap();
    let resume = [
        "run",
        "--json",
        "--resume",
        text(&save),
        "--max-replicates",
        "10",
    ];
    let resumed = track.run(&resume);
    let analysis = resumed.succeeds().json();
    let after = std::fs::read_to_string(&save).unwrap();
    assert!(after.starts_with(&before), "nothing recorded is rewritten");
    let again = track.run(&["analyze", "--json", text(&save)]);
    assert_eq!(resumed.stdout, again.stdout);
    // Already decided: the plan's verdict stands and nothing more is run.
    let blocks = first(&analysis)["blocks"].as_u64().unwrap();
    assert!(blocks >= 6, "{analysis}");
}

#[test]
fn a_race_too_close_to_call_is_continued_by_resuming() {
    let track = Track::new();
    let save = track.path("run.jsonl");
    let args = [
        "run",
        "--json",
        "-r",
        "12",
        "--margin",
        "0.0001%",
        "--save",
        text(&save),
        "--",
        "true",
        "true",
    ];
    let first_run = track.run(&args).succeeds().json();
    let before = first(&first_run)["blocks"].as_u64().unwrap();
    let resume = [
        "run",
        "--json",
        "--resume",
        text(&save),
        "--max-replicates",
        "4",
    ];
    let resumed = track.run(&resume).succeeds().json();
    if first(&first_run)["verdict"] == "inconclusive" {
        let blocks = first(&resumed)["blocks"].as_u64().unwrap();
        assert!(
            blocks > before && blocks <= before + 4,
            "{before} then {blocks}"
        );
        let codes: Vec<&str> = first(&resumed)["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|warning| warning["code"].as_str().unwrap())
            .collect();
        assert!(codes.contains(&"judged-anytime"), "{codes:?}");
    }
}

#[test]
fn progress_stays_silent_when_nobody_watches() {
    let track = Track::new();
    let done = track.run(&["run", "-r", "10", "--", "true", "true"]);
    assert_eq!(done.succeeds().stderr, "");
}

#[test]
fn shown_output_goes_to_standard_output_unless_that_holds_json() {
    let track = Track::new();
    let shown = track.run(&[
        "run",
        "-r",
        "1",
        "-w",
        "0",
        "--show-output",
        "--",
        "echo hello",
    ]);
    assert!(shown.succeeds().stdout.contains("hello"));
    let json = track.run(&[
        "run",
        "--json",
        "-r",
        "1",
        "-w",
        "0",
        "--show-output",
        "--",
        "echo hello",
    ]);
    json.succeeds().json();
    assert!(json.stderr.contains("hello"));
}

#[test]
fn colours_come_only_when_asked_for() {
    let track = Track::new();
    let args = ["run", "-r", "2", "--color"];
    let command = ["--", "true", "true"];
    let plain = track.run(&[&args[..], &["never"], &command].concat());
    assert!(!plain.succeeds().stdout.contains('\u{1b}'));
    let auto = track.run(&[&args[..], &["auto"], &command].concat());
    assert!(!auto.succeeds().stdout.contains('\u{1b}'));
    let always = track.run(&[&args[..], &["always"], &command].concat());
    assert!(always.succeeds().stdout.contains('\u{1b}'));
}

#[test]
fn a_race_is_not_resumed_with_another_program_script_or_input() {
    let track = Track::new();
    let write = |name: &str, text: &str| std::fs::write(track.path(name), text).unwrap();
    let tool = |text: &str| {
        write("new-tool", &format!("#!/bin/sh\n{text}\n"));
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(track.path("new-tool"), mode).unwrap();
        // It takes the place of the other, with an older time of modification.
        let mut touch = std::process::Command::new("touch");
        let touched = touch
            .args(["-d", "2001-01-01"])
            .arg(track.path("new-tool"))
            .status();
        assert!(touched.unwrap().success());
        std::fs::rename(track.path("new-tool"), track.path("tool")).unwrap();
    };
    let race = |save: &str, command: &str| {
        let words = ["run", "-q", "-r", "12", "--input", "in", "--save", save];
        track
            .run(&[&words[..], &["--", command, "cat"]].concat())
            .succeeds();
    };
    let resume = |save: &str| track.run(&["run", "-q", "--resume", save, "--max-replicates", "1"]);
    write("in", "1");
    write("script.sh", "sleep 0.002");
    tool("sleep 0.002");
    race("a.jsonl", "./tool");
    race("b.jsonl", "sh script.sh");
    for save in ["a.jsonl", "b.jsonl"] {
        resume(save).succeeds();
    }
    tool("sleep 0.003");
    resume("a.jsonl").fails_with(
        4,
        &["was made with other files: 'tool' has different bytes"],
    );
    write("script.sh", "sleep 0.003");
    resume("b.jsonl").fails_with(4, &["'script.sh' has different bytes", "race it again"]);
    write("script.sh", "sleep 0.002");
    resume("b.jsonl").succeeds();
    write("in", "2");
    resume("b.jsonl").fails_with(4, &["'in' has different bytes"]);
}

#[test]
fn a_race_whose_hooks_make_its_files_is_resumed() {
    let track = Track::new();
    let setup = "printf '#!/bin/sh\\nsleep 0.002\\n' > built; chmod +x built; date +%s%N > in";
    let setup = format!("sh -c \"{setup}\"");
    let race = [
        "run", "-q", "-r", "12", "--input", "in", "--save", "r.jsonl",
    ];
    let hooked = ["--setup", &setup, "--", "./built", "cat"];
    track.run(&[&race[..], &hooked].concat()).succeeds();
    let resume = ["run", "-q", "--resume", "r.jsonl", "--max-replicates", "1"];
    track.run(&resume).succeeds();
    track.run(&resume).succeeds();
}

#[test]
fn a_race_is_not_resumed_with_another_script_of_a_hook() {
    let track = Track::new();
    let write = |text: &str| std::fs::write(track.path("hook.sh"), text).unwrap();
    write("true");
    let race = ["run", "-q", "-r", "12", "--save", "r.jsonl"];
    let hooked = ["--setup", "sh hook.sh", "--", "sleep 0.002", "true"];
    track.run(&[&race[..], &hooked].concat()).succeeds();
    let resume = ["run", "-q", "--resume", "r.jsonl", "--max-replicates", "1"];
    track.run(&resume).succeeds();
    write("touch started");
    track
        .run(&resume)
        .fails_with(4, &["'hook.sh' has different bytes"]);
    assert!(!track.path("started").exists());
}

#[test]
fn a_side_whose_launches_fail_is_named_in_a_warning() {
    let track = Track::new();
    let fails = "sh -c 'exit 2'";
    let run = |words: [&str; 2]| {
        let race = ["run", "-r", "4", "-i", "--"];
        let done = track.run(&[&race[..], &words].concat());
        done.succeeds();
        format!("{}{}", done.stdout, done.stderr)
    };
    let words = "other than 0";
    let told = run([fails, "true"]);
    let told: Vec<&str> = told.split_whitespace().collect();
    let told = told.join(" ");
    assert!(
        told.contains("100% of the baseline's launches and 0% of the candidate's"),
        "{told}"
    );
    assert!(!run([fails, "sh -c 'exit 3'"]).contains(words));
    assert!(!run(["true", "true"]).contains(words));
}
