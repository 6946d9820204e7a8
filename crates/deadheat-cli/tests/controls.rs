//! Races with a control, from the command line to the answer. On real clocks
//! nobody knows what an A/A race says, so only its presence is asserted.

mod common;

use std::fs;
use std::path::Path;

use common::{Finished, Track, suite, text};
use deadheat::parts::format::read_run;
use deadheat::parts::model::Workload;
use deadheat_testing::needs;
use serde_json::Value;

/// The controls of an answer, each of which must be whole.
#[track_caller]
fn controls(answer: &Value) -> usize {
    let benchmarks = answer["benchmarks"].as_array().unwrap();
    for one in benchmarks {
        let control = &one["control"];
        let [low, high] = [0, 1].map(|end| control["ci"][end].as_f64().unwrap());
        let change = control["change"].as_f64().unwrap();
        assert!(low <= change && change <= high, "{control}");
        assert!(control["separated"].is_boolean(), "{control}");
    }
    benchmarks.len()
}

/// Names of the contenders of the first benchmark of a recorded run, and how
/// many samples each has.
fn recorded(track: &Track) -> Vec<(String, usize)> {
    let [record] = &track.recorded()[..] else {
        panic!("one run was recorded");
    };
    let run = read_run(record).unwrap();
    let benchmark = &run.header.plan.benchmarks[0];
    assert!(benchmark.control);
    let samples = run.benchmarks[0].samples();
    let contenders = benchmark.contenders.iter().enumerate();
    let counted = contenders.map(|(place, contender)| {
        let own = samples.iter().filter(|s| s.contender.index() == place);
        (contender.name.clone(), own.count())
    });
    counted.collect()
}

fn run(track: &Track, words: &[&str]) -> Finished {
    track.run(&[&["run", "-q", "--control"], words].concat())
}

#[test]
fn a_command_is_raced_against_its_copy_beside_the_candidate() {
    let track = Track::new();
    let done = run(
        &track,
        &["--json", "-r", "12", "--", "sleep 0.01", "sleep 0.02"],
    );
    let answer = done.succeeds().json();
    assert_eq!(controls(&answer), 1);
    let one = &answer["benchmarks"][0];
    assert_eq!(
        (&one["verdict"], &one["candidate"]["name"]),
        (&"slower".into(), &"sleep 0.02".into())
    );
    let names = recorded(&track);
    let expected = ["sleep 0.01", "sleep 0.02", "sleep 0.01 (control)"];
    let expected = expected.map(|name| (name.to_owned(), 12));
    assert_eq!(names, expected);
    let [record] = &track.recorded()[..] else {
        panic!("one run was recorded");
    };
    let again = track.run(&["analyze", "--json", text(record)]);
    assert_eq!(again.stdout, done.stdout, "judged again to the same bytes");
    let said = track
        .run(&["analyze", text(record)])
        .succeeds()
        .stdout
        .clone();
    assert!(said.contains("\n  baseline against itself: "), "{said}");
    assert!(!said.contains("(control)"), "{said}");
}

#[test]
fn a_table_of_the_samples_reads_back_without_a_new_candidate() {
    let track = Track::new();
    let csv = track.path("samples.csv");
    let files = [
        "--export-csv",
        "samples.csv",
        "--export-json",
        "answer.json",
        "--junit",
        "tests.xml",
    ];
    let race = ["-r", "12", "--", "sleep 0.01", "sleep 0.02"];
    run(&track, &[&files[..], &race].concat()).succeeds();
    let answer = track
        .run(&["analyze", "--json", text(&csv)])
        .succeeds()
        .json();
    let [one] = &answer["benchmarks"].as_array().unwrap()[..] else {
        panic!("{answer}");
    };
    assert_eq!(one["candidate"]["name"], "sleep 0.02");
    assert_eq!(
        (&one["verdict"], &one["blocks"]),
        (&"slower".into(), &12.into())
    );
    assert!(one.get("control").is_none(), "{one}");
    for name in ["samples.csv", "answer.json"] {
        let file = fs::read_to_string(track.path(name)).unwrap();
        assert!(!file.contains("(control)"), "{file}");
    }
    let junit = fs::read_to_string(track.path("tests.xml")).unwrap();
    assert!(junit.contains("tests=\"1\""), "{junit}");
}

#[test]
fn a_run_with_a_control_goes_on_with_it() {
    let track = Track::new();
    let race = [
        "-r",
        "6",
        "--save",
        "run.jsonl",
        "--margin",
        "0.0001%",
        "--",
        "true",
        "true",
    ];
    run(&track, &race).succeeds();
    let resume = [
        "run",
        "--json",
        "--resume",
        "run.jsonl",
        "--max-replicates",
        "4",
    ];
    let resumed = track.run(&resume);
    controls(&resumed.succeeds().json());
    let run = read_run(track.path("run.jsonl")).unwrap();
    let blocks: Vec<_> = run.benchmarks[0].blocks().to_vec();
    assert!(blocks.iter().all(|block| block.range().len() == 3));
    let both = track.run(&["run", "--control", "--resume", "run.jsonl"]);
    assert_eq!(both.code, Some(2));
    assert!(both.stderr.contains("--control"), "{both:?}");
}

#[test]
fn a_command_alone_races_nobody_but_itself() {
    let track = Track::new();
    let answer = run(&track, &["--json", "-r", "12", "--", "sleep 0.005"])
        .succeeds()
        .json();
    assert_eq!(controls(&answer), 1);
    let one = &answer["benchmarks"][0];
    assert_eq!(
        (&one["candidate"], &one["verdict"]),
        (&Value::Null, &Value::Null)
    );
    let copies = ["sleep 0.005", "sleep 0.005 (control)"].map(|name| (name.to_owned(), 12));
    assert_eq!(recorded(&track), copies);
}

#[test]
fn the_copy_of_a_build_has_a_process_of_its_own_in_whatever_language() {
    needs!("python3");
    let track = Track::new();
    fs::copy(suite(), track.path("rust")).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = root
        .join("examples/workers/worker.py")
        .canonicalize()
        .unwrap();
    let python = format!("python3 {}", python.display());
    let options = [
        "--control",
        "--max-replicates",
        "6",
        "--blocks",
        "3",
        "--json",
        "-q",
    ];
    for pair in [["./rust", &python], [&python, "./rust"]] {
        let done = track.run(&[&["bench"], &pair[..], &options].concat());
        let answer = done.succeeds().json();
        assert!(controls(&answer) >= 1, "{answer}");
        // Three processes for each replicate, and three for the pilot.
        let launches = answer["launches"].as_u64().unwrap();
        assert!(launches >= 3 * 7, "{answer}");
        for record in track.recorded() {
            let run = read_run(&record).unwrap();
            let contenders = &run.header.plan.benchmarks[0].contenders;
            let process = |workload: &Workload| match workload {
                Workload::Worker(calls) => calls.process,
                other => panic!("{other:?}"),
            };
            let processes: Vec<usize> = contenders.iter().map(|c| process(&c.workload)).collect();
            assert_eq!(processes, [0, 1, 2]);
        }
    }
}

#[test]
fn a_build_that_does_twice_the_work_is_slower_beside_a_control() {
    let track = Track::new();
    for name in ["old", "new"] {
        fs::copy(suite(), track.path(name)).unwrap();
    }
    let race = [
        "bench",
        "./old",
        "./new --slow",
        "work",
        "--control",
        "--json",
        "-q",
    ];
    let design = ["--max-replicates", "6", "--blocks", "5", "--seed", "7"];
    let answer = track.run(&[&race[..], &design].concat()).succeeds().json();
    let one = &answer["benchmarks"][0];
    assert_eq!(one["verdict"], "slower");
    assert_eq!(controls(&answer), 1);
}

#[test]
fn contenders_of_one_program_share_it_with_the_copy() {
    let track = Track::new();
    fs::copy(suite(), track.path("old")).unwrap();
    let race = ["bench", "./old", "several", "--control", "--json", "-q"];
    let design = ["--max-replicates", "6", "--blocks", "5"];
    let answer = track.run(&[&race[..], &design].concat()).succeeds().json();
    assert_eq!(controls(&answer), 1);
    assert_eq!(answer["benchmarks"][0]["verdict"], "slower");
    let names: Vec<String> = recorded(&track).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["few", "many", "few (control)"]);
}

#[test]
fn saved_results_have_nobody_to_race() {
    let track = Track::new();
    let csv = "contender,benchmark,wall_ns\na,s,1\nb,s,3\n";
    fs::write(track.path("a.csv"), csv).unwrap();
    let done = track.run(&["compare", "a.csv", "a.csv", "--control"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stderr.contains("--control is for races"), "{done:?}");
    let done = track.run(&["compare", "a.csv", "a.csv", "--quantile", "90%"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stderr.contains("--quantile is for races"), "{done:?}");
}
