//! The files for other programs, byte by byte. After a change that is meant, run the tests with
//! `DEADHEAT_BLESS=1` and read the difference.

#[path = "../../deadheat-format/tests/common/mod.rs"]
mod common;

use std::fs;
use std::path::Path;

use common::{block, header};
use deadheat_format::read_run;
use deadheat_import::{
    GoogleSide, ResultState, read_results_from, write_csv, write_go, write_google_benchmark,
    write_hyperfine,
};
use deadheat_model::{BenchmarkFailure, Metric, Run, TextCells};

fn compare(name: &str, written: &[u8]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("DEADHEAT_BLESS").is_some() {
        fs::write(&path, written).unwrap();
    }
    let golden = fs::read(&path).unwrap();
    let (golden, written) = (
        String::from_utf8_lossy(&golden),
        String::from_utf8_lossy(written),
    );
    assert_eq!(written, golden, "{name}");
}

/// A run that the tests of the run file write.
fn recorded(name: &str) -> Run {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deadheat-format/tests/golden");
    read_run(folder.join(name)).unwrap()
}

#[test]
fn waiting_is_columns_of_a_table() {
    let mut table = Vec::new();
    let run = recorded("waiting.jsonl");
    write_csv(&run, &mut table, "waiting.csv", TextCells::default()).unwrap();
    compare("waiting.csv", &table);
}

#[test]
fn a_control_is_in_no_file_for_other_tools() {
    let run = recorded("control.jsonl");
    let mut csv = Vec::new();
    write_csv(&run, &mut csv, "control.csv", TextCells::Guarded).unwrap();
    compare("control.csv", &csv);
    let mut others = [Vec::new(), Vec::new(), Vec::new()];
    let [hyperfine, go, google] = &mut others;
    write_hyperfine(&run, hyperfine, "a.json").unwrap();
    write_go(&run, go, "a.txt").unwrap();
    write_google_benchmark(&run, GoogleSide::Candidate, google, "a.json").unwrap();
    for text in others.map(|bytes| String::from_utf8(bytes).unwrap()) {
        // Google Benchmark knows benchmarks only.
        assert!(text.contains("two") || text.contains("sort"), "{text}");
        assert!(!text.contains("(control"), "{text}");
    }
}

#[test]
fn counters_of_some_benchmarks_are_empty_cells_in_the_rows_of_others() {
    let run = recorded("programs.jsonl");
    let mut csv = Vec::new();
    write_csv(&run, &mut csv, "run.csv", TextCells::Guarded).unwrap();
    compare("programs.csv", &csv);
    let mut json = Vec::new();
    write_hyperfine(&run, &mut json, "run.json").unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let commands: Vec<&str> = json["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["command"].as_str().unwrap())
        .collect();
    assert_eq!(commands[..3], ["sum/100/old", "sum/100/new", "counted/old"]);
}

#[test]
fn what_ran_as_the_user_linked_it_keeps_apart_in_a_table() {
    let run = recorded("placements.jsonl");
    let mut csv = Vec::new();
    write_csv(&run, &mut csv, "run.csv", TextCells::Guarded).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let rows = |name: &str| csv.lines().filter(|row| row.starts_with(name)).count();
    assert_eq!((rows("sum,"), rows("sum (own link),")), (40, 4));
    let mut json = Vec::new();
    write_hyperfine(&run, &mut json, "run.json").unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let results = json["results"].as_array().unwrap();
    let times: Vec<usize> = results
        .iter()
        .map(|result| result["times"].as_array().unwrap().len())
        .collect();
    assert_eq!(times, [20, 20], "one result of each function");
}

#[test]
fn tidy_csv_is_written_as_before() {
    let run = recorded("run.jsonl");
    let mut csv = Vec::new();
    write_csv(&run, &mut csv, "run.csv", TextCells::Guarded).unwrap();
    compare("run.csv", &csv);
}

#[test]
fn the_json_of_hyperfine_is_written_as_before() {
    let run = recorded("run.jsonl");
    let mut json = Vec::new();
    write_hyperfine(&run, &mut json, "run.json").unwrap();
    compare("hyperfine.json", &json);
}

/// The run in the Go benchmark format.
fn as_go(run: &Run) -> Vec<u8> {
    let mut text = Vec::new();
    write_go(run, &mut text, "run.txt").unwrap();
    text
}

#[test]
fn go_benchmark_text_is_written_as_before() {
    let run = recorded("run.jsonl");
    compare("go.txt", &as_go(&run));
    let programs = recorded("programs.jsonl");
    compare("go_programs.txt", &as_go(&programs));
    let placed = recorded("placements.jsonl");
    let text = String::from_utf8(as_go(&placed)).unwrap();
    let lines = |name: &str| text.lines().filter(|line| line.starts_with(name)).count();
    assert_eq!((lines("BenchmarkSum\t"), lines("Benchmark")), (40, 40));
}

#[test]
fn go_benchmark_text_is_read_back_with_every_value() {
    let run = recorded("programs.jsonl");
    let results = read_results_from(Path::new("go.txt"), &as_go(&run)).unwrap();
    let raced = run.header.plan.benchmarks.iter().zip(&run.benchmarks);
    for (benchmark, samples) in raced.filter(|(_, samples)| !samples.samples().is_empty()) {
        let wall = samples.column(&Metric::Wall).unwrap();
        for (index, contender) in benchmark.contenders.iter().enumerate() {
            let own = samples.samples().iter().zip(wall);
            let own = own.filter(|(sample, _)| usize::from(sample.contender.0) == index);
            let expected: Vec<f64> = own.map(|(s, wall)| wall / s.iterations as f64).collect();
            let told = format!("contender={}", contender.name);
            let read: Vec<Vec<f64>> = results
                .benchmarks
                .iter()
                .filter(|one| one.name.contains(&told))
                .map(|one| {
                    one.values
                        .chunks(one.metrics.len())
                        .map(|row| row[0])
                        .collect()
                })
                .collect();
            assert!(read.contains(&expected), "{} {told}", benchmark.name);
        }
    }
}

#[test]
fn what_failed_is_written_as_go_tells_it() {
    let mut run = Run::new(header());
    run.benchmarks[1].push(&block(1, 0, &[0, 1, 2])).unwrap();
    run.failures.push(BenchmarkFailure {
        benchmark: 0,
        message: "it crashed\nwith SIGSEGV".to_owned(),
    });
    let results = read_results_from(Path::new("go.txt"), &as_go(&run)).unwrap();
    let failed = ResultState::Failed("it crashed".to_owned());
    let states: Vec<_> = results.benchmarks.iter().map(|one| &one.state).collect();
    assert!(states.contains(&&failed), "{states:?}");
}

#[test]
fn times_for_hyperfine_are_per_iteration_and_memory_is_not() {
    let mut header = header();
    header.metrics = vec![Metric::Wall, Metric::PeakRss];
    let mut run = Run::new(header);
    let mut record = block(0, 0, &[0, 0]);
    record.values = vec![3e9, 4096.0, 5e9, 8192.0];
    record.samples[0].iterations = 2;
    record.samples[1].iterations = 2;
    run.benchmarks[0].push(&record).unwrap();
    let mut json = Vec::new();
    write_hyperfine(&run, &mut json, "run.json").unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let results = json["results"].as_array().unwrap();
    assert_eq!(results.len(), 1, "a contender that never ran has no result");
    assert_eq!(results[0]["times"], serde_json::json!([1.5, 2.5]));
    assert_eq!(results[0]["median"], 2.0);
    assert_eq!(
        results[0]["memory_usage_byte"],
        serde_json::json!([4096, 8192])
    );
    assert_eq!(
        results[0]["user"],
        serde_json::Value::Null,
        "not measured is not 0"
    );
}
