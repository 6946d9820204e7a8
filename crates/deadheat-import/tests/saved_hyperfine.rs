//! Files of hyperfine, as it wrote them, and broken.

#[path = "common/problem.rs"]
mod problem;

use std::path::{Path, PathBuf};

use deadheat_format::FileProblem;
use deadheat_import::{ResultBenchmark, ResultState, Results, read_results, read_results_from};
use deadheat_model::Metric;
use problem::problem;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/saved/hyperfine")
        .join(name)
}

fn read(name: &str) -> Results {
    read_results(golden(name)).unwrap()
}

fn names(results: &Results) -> Vec<&str> {
    results.benchmarks.iter().map(|b| b.name.as_str()).collect()
}

fn column(benchmark: &ResultBenchmark, metric: &Metric) -> Vec<f64> {
    let at = benchmark.metrics.iter().position(|own| own == metric);
    let rows = benchmark.values.chunks(benchmark.metrics.len());
    rows.map(|row| row[at.unwrap()]).collect()
}

fn least(results: &Results, at: usize) -> f64 {
    let walls = column(&results.benchmarks[at], &Metric::Wall);
    walls.into_iter().fold(f64::INFINITY, f64::min)
}

const TIMES: [Metric; 4] = [Metric::Wall, Metric::Cpu, Metric::User, Metric::System];

#[test]
fn every_launch_is_a_process_in_every_release() {
    let wall = &TIMES[..1];
    let peak = [Metric::Wall, Metric::PeakRss];
    let mut all = TIMES.to_vec();
    all.push(Metric::PeakRss);
    for (file, tool, metrics) in [
        ("old_1.3.json", "hyperfine", wall),
        ("old_1.9.json", "hyperfine", wall),
        ("old_1.15.json", "hyperfine", wall),
        ("old_1.18.json", "hyperfine", wall),
        ("old_1.20.json", "hyperfine", &peak[..]),
        ("old_2.0.json", "hyperfine 2.0.0", &all[..]),
    ] {
        let read = read(file);
        assert_eq!(read.tool, tool);
        assert_eq!(names(&read), ["seq 20000", "sleep 0.005"], "{file}");
        for benchmark in &read.benchmarks {
            assert_eq!(benchmark.metrics, metrics, "{file}");
            assert_eq!(benchmark.processes, [0, 1, 2, 3, 4, 5], "{file}");
            assert_eq!(benchmark.state, ResultState::Measured);
            assert_eq!(benchmark.label, None);
        }
        let slept = column(&read.benchmarks[1], &Metric::Wall);
        assert!(slept.iter().all(|ns| (5e6..1e8).contains(ns)), "{slept:?}");
    }
    let newest = read("old_2.0.json");
    assert_eq!(
        newest.benchmarks[0].values[..5],
        [1073767.0, 968e3, 968e3, 0.0, 3010560.0]
    );
    assert_eq!(newest.facts.system.as_deref(), Some("Linux x86_64"));
    assert_eq!(newest.facts.date.as_deref(), Some("2026-11-22T10:32:53Z"));
}

#[test]
fn a_real_difference_is_seen_in_the_values() {
    for (old, new) in [
        ("old_1.20.json", "new_1.20.json"),
        ("old_2.0.json", "new_2.0.json"),
    ] {
        let (old, new) = (read(old), read(new));
        assert_eq!(names(&new), ["seq 2000000", "sleep 0.005"]);
        assert!(least(&new, 0) > 2.0 * least(&old, 0));
        assert!((0.8..1.25).contains(&(least(&new, 1) / least(&old, 1))));
    }
}

#[test]
fn parameters_are_kept_and_names_are_those_the_user_gave() {
    let told = |read: &Results, at: usize| -> Vec<(String, String)> {
        read.benchmarks[at].parameters.clone()
    };
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    for (file, parameter) in [
        ("scan_1.9.json", "parameter"),
        ("scan_1.15.json", "size"),
        ("scan_1.20.json", "size"),
    ] {
        let read = read(file);
        assert_eq!(names(&read), ["seq 1000", "seq 2000", "seq 3000"]);
        assert_eq!(told(&read, 1), [pair(parameter, "2000")], "{file}");
    }
    let scan = read("scan_2.0.json");
    assert_eq!(
        names(&scan),
        ["count to 1000", "count to 2000", "count to 3000"]
    );
    assert_eq!(told(&scan, 2), [pair("size", "3000")]);
    let lists = read("lists_1.20.json");
    assert_eq!(
        names(&lists),
        ["seq of 10", "echo of 10", "seq of 20", "echo of 20"]
    );
    assert_eq!(
        told(&lists, 1),
        [pair("program", "echo"), pair("size", "10")]
    );
}

#[test]
fn commands_that_read_the_same_are_told_apart_by_their_parameters() {
    for file in ["same_1.20.json", "same_2.0.json"] {
        assert_eq!(
            names(&read(file)),
            ["true [branch=main]", "true [branch=other]"]
        );
    }
}

#[test]
fn launches_that_failed_with_the_users_leave_are_kept_and_say_so() {
    for file in ["failing_1.20.json", "failing_2.0.json"] {
        let read = read(file);
        assert_eq!(names(&read), ["exit 3", "kill -9 $$", "true"]);
        let labels: Vec<_> = read.benchmarks.iter().map(|b| b.label.as_deref()).collect();
        assert_eq!(labels, [Some("exit code 3"), Some("exit code 137"), None]);
        for benchmark in &read.benchmarks {
            // Less than the shell itself took is told as nothing.
            assert_eq!(benchmark.state, ResultState::Measured);
            assert_eq!(benchmark.processes.len(), 6);
        }
    }
}

#[test]
fn the_metric_that_the_user_chose_comes_first() {
    let metrics = &read("memory_2.0.json").benchmarks[0].metrics;
    assert_eq!(metrics[0], Metric::PeakRss);
    assert_eq!(metrics[1..], TIMES);
}

#[test]
fn one_launch_is_one_row() {
    for file in ["single_1.20.json", "single_2.0.json"] {
        let read = read(file);
        assert_eq!(read.benchmarks[0].processes, [0]);
        assert_eq!(read.benchmarks[0].state, ResultState::Measured);
    }
}

#[test]
fn a_file_cut_off_anywhere_is_an_error_with_its_name() {
    for file in ["lists_1.20.json", "old_2.0.json"] {
        let whole = std::fs::read(golden(file)).unwrap();
        let end = whole.trim_ascii_end().len();
        for cut in (0..end).step_by(7) {
            let error = read_results_from(Path::new("a.json"), &whole[..cut]).unwrap_err();
            assert!(error.to_string().contains("a.json"), "{error}");
            if cut > 500 {
                assert!(
                    matches!(error.problem, FileProblem::Json { .. }),
                    "{cut}: {error}"
                );
            }
        }
    }
}

#[test]
fn whatever_is_wrong_is_named_with_its_place() {
    let one = std::fs::read_to_string(golden("single_1.20.json")).unwrap();
    let two = std::fs::read_to_string(golden("old_2.0.json")).unwrap();
    let time = "0.0010198380000000001\n";
    let newest = "\"value\": 0.001073767";
    let place = "results[0].times[0], of command 'true': ";
    let launch = "results[0].measurements[0].time_wall_clock";
    for (whole, from, to, told) in [
        (&one, time, "\"1 ms\"\n", "results[0].times[0]".to_owned()),
        (&one, time, "NaN\n", format!("{place}the number is missing")),
        (&one, time, "-1\n", format!("{place}-1 is negative")),
        (
            &one,
            "\"command\": \"true\"",
            "\"command\": 1",
            "results[0].command".to_owned(),
        ),
        (
            &one,
            "\"true\"",
            "\"tr\u{7}ue\"",
            "control character".to_owned(),
        ),
        (
            &one,
            "\"command\"",
            "\"cmd\"",
            "the field 'command' is missing".to_owned(),
        ),
        (&two, newest, "\"value\": \"1\"", format!("{launch}.value")),
        (
            &two,
            newest,
            "\"value\": -Infinity",
            format!("{launch}.value, of command 'seq 20000': the number is missing"),
        ),
        (
            &two,
            "\"second\"",
            "\"hour\"",
            format!("{launch}.unit, of command 'seq 20000': the unit is 'hour'"),
        ),
        (
            &two,
            "\"byte\"",
            "\"bit\"",
            "memory_peak_resident.unit, of command 'seq 20000': the unit is 'bit'".to_owned(),
        ),
        (
            &two,
            "\"time_wall_clock\"",
            "\"time\"",
            "the field 'time_wall_clock' is missing".to_owned(),
        ),
        (
            &two,
            "\"schema_version\": 2",
            "\"schema_version\": 3",
            "schema 3 is newer".to_owned(),
        ),
    ] {
        let broken = match from {
            "\"time_wall_clock\"" => {
                let at = whole.find("measurements").unwrap();
                let (head, tail) = whole.split_at(at);
                format!("{head}{}", tail.replacen(from, to, 1))
            }
            _ => {
                // The last time of the file is the one of its launch.
                let at = whole.rfind(from).filter(|_| from == time);
                match at.or(whole.find(from)) {
                    Some(at) => format!("{}{to}{}", &whole[..at], &whole[at + from.len()..]),
                    None => panic!("no {from}"),
                }
            }
        };
        assert!(&broken != whole, "{from}");
        let read = read_results_from(Path::new("a.json"), broken.as_bytes());
        let error = problem(read);
        assert!(
            error.starts_with("a.json:") && error.contains(&told),
            "{from} → {to}: {error}"
        );
    }
}

#[test]
fn a_byte_order_mark_and_names_that_come_twice_do_no_harm() {
    let whole = std::fs::read_to_string(golden("old_1.20.json")).unwrap();
    let twice = format!("\u{feff}{}", whole.replace("sleep 0.005", "seq 20000"));
    let read = read_results_from(Path::new("a.json"), twice.as_bytes()).unwrap();
    assert_eq!(names(&read), ["seq 20000", "seq 20000 #2"]);
}

/// The JSON that deadheat itself writes in hyperfine's shape.
#[test]
fn what_deadheat_wrote_for_scripts_of_hyperfine_is_read_too() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/hyperfine.json");
    let read = read_results(own).unwrap();
    assert!(!read.benchmarks.is_empty());
    for benchmark in &read.benchmarks {
        assert_eq!(benchmark.metrics[0], Metric::Wall);
        assert!(benchmark.processes.len() > 1);
    }
}
