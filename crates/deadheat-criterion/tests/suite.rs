//! Runs a suite written for criterion as cargo, deadheat and users run it. `cargo test` builds the
//! examples together with this test.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use deadheat::parts::analysis::{Options, analyse};
use deadheat::parts::engine::{Inspected, Unwatched};
use deadheat::parts::model::{Program, RaceSettings, Side};
use deadheat::parts::pairing::{Listed, Target, pair};
use deadheat::parts::settings::Selection;
use deadheat::parts::{BenchmarkRace, Entries, inspect_program, race_benchmarks};
use serde_json::Value;

fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let example = test.ancestors().nth(2).unwrap().join("examples").join(name);
    assert!(
        example.exists(),
        "cargo build -p deadheat-criterion --examples"
    );
    example
}

/// Runs an example in a temporary folder.
fn run(name: &str, words: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(example(name));
    command.args(words).current_dir(folder.path());
    command.output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Returns the answer, which follows the output of the benchmark functions.
fn json(output: &Output) -> Value {
    let text = stdout(output);
    let (_, answer) = text.split_once("0 calls\n").expect("it prints this");
    serde_json::from_str(answer).unwrap()
}

const NAMES: [&str; 27] = [
    "sum",
    "sum of/10",
    "counter",
    "grouped/once/1000",
    "grouped/twice/1000",
    "grouped/once/2000",
    "grouped/twice/2000",
    "parameters/1",
    "parameters/2",
    "parameters/3",
    "parameters/4",
    "loops/batched",
    "loops/batched large",
    "loops/batched by one",
    "loops/batched ref",
    "loops/large drop",
    "loops/setup",
    "loops/custom",
    "async futures",
    "async smol",
    "async std",
    "async tokio",
    "async tokio handle",
    "panics",
    "panics before",
    "never iterates",
    "sum #2",
];

#[test]
fn every_benchmark_is_listed_by_the_name_criterion_gives_it_and_none_is_called() {
    let listed = stdout(&run(
        "written_for_criterion",
        &["--list", "--format", "terse"],
    ));
    let names: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.strip_suffix(": benchmark"))
        .collect();
    assert_eq!(names, NAMES);
    assert!(listed.contains("0 calls"), "{listed}");
}

#[test]
fn cargo_test_calls_each_once_and_those_that_break_cost_only_themselves() {
    let output = run("written_for_criterion", &[]);
    assert_eq!(output.status.code(), Some(3));
    let told = stdout(&output);
    for name in NAMES {
        let breaks = ["panics", "panics before", "never iterates"].contains(&name);
        let line = format!("test {name} ... {}", if breaks { "FAILED" } else { "ok" });
        assert!(told.lines().any(|one| one == line), "{line} in {told}");
    }
    for reason in ["it broke", "its setup broke", "never calls Bencher::iter"] {
        assert!(told.contains(reason), "{reason} in {told}");
    }
}

#[test]
fn functions_of_a_group_race_each_other_at_every_parameter_when_asked() {
    let words = [
        "--bench",
        "grouped",
        "--group-races",
        "--json",
        "--max-replicates",
        "8",
    ];
    let output = run("written_for_criterion", &words);
    let analysis = json(&output);
    let rows = analysis["benchmarks"].as_array().unwrap();
    let names: Vec<&str> = rows
        .iter()
        .map(|row| row["benchmark"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["grouped/1000", "grouped/2000"],
        "{}",
        stderr(&output)
    );
    for row in rows {
        assert_eq!(row["baseline"]["name"], "once");
        assert_eq!(row["candidate"]["name"], "twice");
        assert_eq!(row["verdict"], "slower", "{row}");
    }
}

#[test]
fn without_that_each_is_measured_alone_and_settings_without_a_meaning_are_named_once() {
    let output = run(
        "written_for_criterion",
        &["--bench", "--max-replicates", "2", "grouped", "--noplot"],
    );
    assert_eq!(output.status.code(), Some(0));
    let told = stdout(&output);
    assert!(told.contains("grouped/twice/2000"), "{told}");
    let names = "settings without effect on a race: --noplot, measurement_time, plot_config, \
                 sample_size, sampling_mode, with_profiler, without_plots";
    assert_eq!(stderr(&output).matches(names).count(), 1);
    let quiet = run(
        "written_for_criterion",
        &["--bench", "--max-replicates", "2", "sum", "--exact", "-q"],
    );
    assert_eq!(stderr(&quiet), "cleared away\n");
}

#[test]
fn times_that_were_saved_are_refused() {
    let output = run(
        "written_for_criterion",
        &["--bench", "--save-baseline", "main"],
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--save-baseline"));
    let help = stdout(&run("written_for_criterion", &["--help"]));
    assert!(help.contains("--margin") && help.contains("--group-races"));
}

#[test]
fn a_main_of_ones_own_races_at_its_final_summary() {
    let listed = stdout(&run("criterion_own_main", &["--list", "--format", "terse"]));
    assert_eq!(listed, "sum: benchmark\n");
    let told = stdout(&run(
        "criterion_own_main",
        &["--bench", "--max-replicates", "2"],
    ));
    assert!(told.contains("'sum' was measured alone"), "{told}");
}

#[test]
fn two_builds_race_function_by_function() {
    let [old, new] = ["old", "new"].map(|_| Program {
        executable: example("written_for_criterion"),
        ..Program::default()
    });
    let listed = |program: Program| match inspect_program(&program, None, false, None).unwrap() {
        Inspected::Worker(listing) => Some(Listed { program, listing }),
        other => panic!("{other:?}"),
    };
    let target = Target {
        name: None,
        sides: [listed(old), listed(new)],
    };
    let selection = Selection {
        filters: vec!["loops".to_owned(), "panics".to_owned()],
        ..Selection::default()
    };
    let sides = ["old", "new"].map(str::to_owned);
    let pairing = pair(&[target], &sides, &selection);
    assert_eq!(pairing.benchmarks.len(), 9);
    assert!(pairing.left_out.is_empty());
    let folder = tempfile::tempdir().unwrap();
    let race = BenchmarkRace {
        settings: RaceSettings {
            max_replicates: Some(2),
            blocks: Some(4),
            ..RaceSettings::default()
        },
        save: Some(folder.path().join("run.jsonl")),
        ..BenchmarkRace::default()
    };
    let entries = Entries {
        benchmarks: pairing.benchmarks,
        metrics: pairing.metrics,
        ..Entries::default()
    };
    let outcome = race_benchmarks(&race, entries, &mut Unwatched).unwrap();
    let analysis = analyse(&outcome.run, Options::default());
    // Benchmarks that panic have no row, and do not affect the others.
    assert_eq!(analysis.comparisons.len(), 7);
    assert_eq!(analysis.failures.len(), 2);
    for comparison in &analysis.comparisons {
        let samples = |side: &Side| side.samples;
        let sides = (&comparison.baseline, comparison.candidate.as_ref().unwrap());
        // Two replicates of four blocks, with two samples of each side per block.
        let expected = (16, 16);
        assert_eq!(
            (samples(sides.0), samples(sides.1)),
            expected,
            "{}",
            comparison.benchmark
        );
    }
}

#[test]
fn a_coordinator_may_ask_for_a_list_and_then_for_a_benchmark_in_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let asked = concat!(
        r#"{"list":{}}"#,
        "\n",
        r#"{"prepare":{"benchmark":"sum of/10","contender":null,"clock":"os:3ff0000000000000:4034000000000000:4036000000000000","cpu_overhead_ns":0,"heap_bytes":64,"stack_bytes":64}}"#,
        "\n",
        r#"{"block":{"seed":7,"iterations":10,"turns":[0,0],"unrecorded":1,"unrecorded_iterations":1}}"#,
        "\n",
        r#"{"bye":{}}"#,
        "\n",
    );
    fs::write(file("asked"), asked).unwrap();
    // The worker skips the benchmarks after the requested one, and drops the values set up before
    // it.
    let script = "exec \"$0\" 3<asked 4>said 5>notes";
    let ended = Command::new("sh")
        .args(["-c", script])
        .arg(example("written_for_criterion"))
        .env("DEADHEAT_WORKER", "3,4,5")
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(ended.status.success(), "{}", stderr(&ended));
    assert_eq!(stdout(&ended).matches("0 calls").count(), 1);
    assert_eq!(stderr(&ended).matches("cleared away").count(), 2);
    let said = fs::read_to_string(file("said")).unwrap();
    let said: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<&String> = said
        .iter()
        .map(|one| one.as_object().unwrap().keys().next().unwrap())
        .collect();
    assert_eq!(kinds, ["hello", "listed", "prepared", "block"]);
    assert_eq!(
        said[1]["listed"]["benchmarks"].as_array().unwrap().len(),
        NAMES.len()
    );
    assert_eq!(said[2]["prepared"]["renews_input"], false);
    let metrics = said[0]["hello"]["metrics"].as_array().unwrap().len();
    let values = said[3]["block"]["values"].as_array().unwrap();
    assert_eq!(values.len(), metrics);
    assert!(values[0].as_f64().unwrap() > 0.0);
}
