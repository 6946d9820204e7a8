//! Files for services that watch benchmarks, and for compare.py. After a change
//! that is meant, run the tests with `DEADHEAT_BLESS=1` and read the difference.

#[path = "../../deadheat-format/tests/common/mod.rs"]
mod common;

use std::fs;
use std::path::Path;

use common::{block, blocks, function_block, header, placed_header, program_block, program_header};
use deadheat_import::{
    GoogleSide, read_results_from, write_bmf, write_google_benchmark, write_hyperfine,
    write_smaller_is_better,
};
use deadheat_model::{
    Analysis, Aspects, BenchmarkDetails, BenchmarkFailure, Better, Comparison, EndReason, Ending,
    Estimate, Evidence, InSuite, Interval, LogRatio, Metric, Processes, Run, RunHeader, Side,
    Terms, Unit, Verdict,
};
use serde_json::{Value, json};

fn compare(name: &str, written: &[u8]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("DEADHEAT_BLESS").is_some() {
        fs::write(&path, written).unwrap();
    }
    let golden = fs::read_to_string(&path).unwrap();
    assert_eq!(String::from_utf8_lossy(written), golden, "{name}");
}

fn run(header: RunHeader) -> Run {
    let mut run = Run::new(header);
    for record in blocks() {
        run.benchmarks[record.benchmark].push(&record).unwrap();
    }
    run
}

fn google(run: &Run, side: GoogleSide) -> Vec<u8> {
    let mut json = Vec::new();
    write_google_benchmark(run, side, &mut json, "x.json").unwrap();
    json
}

fn google_rows(run: &Run, side: GoogleSide) -> Vec<Value> {
    let json: Value = serde_json::from_slice(&google(run, side)).unwrap();
    json["benchmarks"].as_array().unwrap().clone()
}

fn names(rows: &[Value]) -> Vec<&str> {
    let mut names: Vec<&str> = rows
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    names.dedup();
    names
}

fn side(name: &str, median: f64) -> Side {
    Side {
        name: name.to_owned(),
        typical: Some(median),
        median,
        mean: median,
        min: median,
        max: median,
        std_dev: None,
        samples: 44,
    }
}

/// `candidate` needs a tenth more than `old`, give or take a hundredth.
fn slower(benchmark: &str, candidate: &str) -> Comparison {
    Comparison {
        benchmark: benchmark.to_owned(),
        details: BenchmarkDetails::default(),
        terms: Terms {
            metric: Metric::Wall,
            quantile: None,
            margin: 0.01,
            alpha: 0.05,
        },
        baseline: side("old", 100.0),
        candidate: Some(side(candidate, 112.5)),
        verdict: Some(Verdict::Slower),
        estimate: Some(Estimate {
            effect: LogRatio::from_change(0.1),
            interval: Some(Interval {
                low: LogRatio::from_change(0.09),
                high: LogRatio::from_change(0.12),
                confidence: 0.9884,
            }),
            p_value: Some(0.001),
            replicates: 22,
            blocks: 22,
        }),
        evidence: Evidence {
            excludes_zero: true,
            ..Evidence::default()
        },
        aspects: Aspects::default(),
        suite: InSuite::default(),
        plots: None,
        figures: None,
        metrics: vec![],
        warnings: vec![],
    }
}

/// A single contender, of which nothing is doubted.
fn alone(benchmark: &str, metric: Metric) -> Comparison {
    Comparison {
        terms: Terms {
            metric,
            ..slower(benchmark, "").terms
        },
        candidate: None,
        verdict: None,
        estimate: None,
        ..slower(benchmark, "")
    }
}

fn analysis(processes: Processes, comparisons: Vec<Comparison>) -> Analysis {
    Analysis {
        tool_version: "0.1.0".to_owned(),
        seed: Some(7),
        comparisons,
        processes,
        launches: 93,
        elapsed_seconds: 1.9,
        ending: Ending::Recorded(EndReason::Finished),
        ..Analysis::default()
    }
}

fn bmf(analysis: &Analysis) -> Vec<u8> {
    let mut json = Vec::new();
    write_bmf(analysis, &mut json, "x.json").unwrap();
    json
}

fn smaller(analysis: &Analysis) -> Vec<u8> {
    let mut json = Vec::new();
    write_smaller_is_better(analysis, &mut json, "x.json").unwrap();
    json
}

/// The names in an array of github-action-benchmark.
fn tracked(analysis: &Analysis) -> Vec<String> {
    let json: Vec<Value> = serde_json::from_slice(&smaller(analysis)).unwrap();
    let name = |row: &Value| row["name"].as_str().unwrap().to_owned();
    json.iter().map(name).collect()
}

/// One that uses every corner.
fn elaborate() -> Analysis {
    let details = |value: &str| BenchmarkDetails {
        parameters: vec![("n".to_owned(), value.to_owned())],
        ..BenchmarkDetails::default()
    };
    let one = Comparison {
        details: details("1"),
        evidence: Evidence {
            provisional: true,
            ..Evidence::default()
        },
        ..slower("sort \"quoted\"", "new")
    };
    let two = Comparison {
        details: details("2"),
        verdict: None,
        estimate: None,
        ..slower("sort \"quoted\"", "new")
    };
    let rate = Metric::foreign("bytes_per_second", Unit::BytesPerSecond, Better::More);
    let all = vec![
        one,
        two,
        alone("alone", Metric::PeakRss),
        alone("rate", rate),
    ];
    analysis(Processes::Workers, all)
}

#[test]
fn the_bencher_metric_format_is_written_as_before() {
    let written = bmf(&elaborate());
    compare("bmf.json", &written);
    // What Bencher itself says of the shape.
    let schema = json!({
        "type": "object",
        "patternProperties": { ".+": {
            "type": "object",
            "patternProperties": { ".+": {
                "type": "object",
                "properties": {
                    "value": { "type": "number" },
                    "lower_value": { "type": "number" },
                    "upper_value": { "type": "number" }
                },
                "required": ["value"]
            } }
        } }
    });
    let json = serde_json::from_slice(&written).unwrap();
    assert!(jsonschema::is_valid(&schema, &json));
}

#[test]
fn the_array_for_github_action_benchmark_is_written_as_before() {
    compare("smaller_is_better.json", &smaller(&elaborate()));
}

#[test]
fn the_interval_of_the_comparison_lies_around_the_median_of_the_candidate() {
    let json: Value = serde_json::from_slice(&bmf(&analysis(
        Processes::Workers,
        vec![slower("a", "new")],
    )))
    .unwrap();
    let latency = &json["a"]["latency"];
    let near = |field: &str, expected: f64| {
        let value = latency[field].as_f64().unwrap();
        assert!((value / expected - 1.0).abs() < 1e-12, "{field} {value}");
    };
    near("value", 112.5);
    near("lower_value", 112.5 * 1.09 / 1.1);
    near("upper_value", 112.5 * 1.12 / 1.1);
}

#[test]
fn several_candidates_of_a_benchmark_keep_apart() {
    let comparisons = || vec![slower("a", "x"), slower("a", "y"), slower("b", "x")];
    let functions = analysis(Processes::Workers, comparisons());
    assert_eq!(tracked(&functions), ["a/x", "a/y", "b"]);
    let commands = analysis(Processes::Launches, comparisons());
    assert_eq!(tracked(&commands), ["x", "y", "x #2"]);
}

#[test]
fn commands_are_called_as_they_were_typed_and_recordings_by_benchmark() {
    let mut commands = analysis(Processes::Launches, vec![slower("run", "./new in")]);
    assert_eq!(tracked(&commands), ["./new in"]);
    commands.ending = Ending::Recording;
    assert_eq!(tracked(&commands), ["run"]);
}

#[test]
fn no_answer_is_an_empty_list() {
    let none = analysis(Processes::Workers, vec![]);
    assert_eq!(smaller(&none), b"[]\n");
    assert_eq!(bmf(&none), b"{}\n");
}

#[test]
fn the_json_of_google_benchmark_is_written_as_before() {
    compare(
        "google_benchmark.json",
        &google(&run(header()), GoogleSide::Candidate),
    );
}

#[test]
fn either_side_is_written_under_the_same_names_unless_there_are_several() {
    let run = run(header());
    let names_of = |side| {
        let rows = google_rows(&run, side);
        let iterations = rows
            .into_iter()
            .filter(|row| row["run_type"] == "iteration");
        names(&iterations.collect::<Vec<_>>()).join(", ")
    };
    assert_eq!(names_of(GoogleSide::Baseline), "sort, three");
    assert_eq!(names_of(GoogleSide::Candidate), "sort, three/b, three/c");
}

#[test]
fn what_is_written_for_google_benchmark_is_read_as_that() {
    let run = run(header());
    let json = google(&run, GoogleSide::Baseline);
    let results = read_results_from(Path::new("x.json"), &json).unwrap();
    let samples = &run.benchmarks[0];
    let wall = samples.column(&Metric::Wall).unwrap();
    let own = samples.samples().iter().zip(wall);
    let own: Vec<f64> = own
        .filter(|(sample, _)| sample.contender.index() == 0)
        .map(|(sample, wall)| wall / sample.iterations as f64)
        .collect();
    let sort = &results.benchmarks[0];
    assert_eq!(sort.name, "sort");
    let real = sort
        .metrics
        .iter()
        .position(|it| *it == Metric::Wall)
        .unwrap();
    let rows = sort.values.chunks(sort.metrics.len());
    assert_eq!(rows.map(|row| row[real]).collect::<Vec<_>>(), own);
}

#[test]
fn threads_rates_and_counters_stand_in_the_rows_of_samples() {
    let mut programs = Run::new(program_header());
    for benchmark in 0..3 {
        let record = program_block(benchmark);
        programs.benchmarks[benchmark].push(&record).unwrap();
    }
    let rows = google_rows(&programs, GoogleSide::Candidate);
    let counted = rows.iter().find(|row| row["name"] == "counted").unwrap();
    assert_eq!(counted["threads"], 2);
    assert_eq!(counted["cells"], 4096.5);
    assert_eq!(counted["iterations"], 120);
    assert_eq!(counted["real_time"], 5_000_001.0 / 120.0);
    assert_eq!(counted["cpu_time"], 5_000_000.5 / 120.0);
    let mean = rows
        .iter()
        .find(|row| row["name"] == "counted_mean")
        .unwrap();
    assert_eq!(mean["cells"], Value::Null);

    let mut functions = Run::new(placed_header());
    functions.benchmarks[0].push(&function_block(0, 0)).unwrap();
    let own = deadheat_model::BlockRecord {
        benchmark: 1,
        ..function_block(0, 0)
    };
    functions.benchmarks[1].push(&own).unwrap();
    let rows = google_rows(&functions, GoogleSide::Candidate);
    assert_eq!(names(&rows)[0], "sum");
    assert!(!names(&rows).iter().any(|name| name.contains("own link")));
    let rate = 4096.0 * 1e9 / rows[0]["real_time"].as_f64().unwrap();
    assert_eq!(rows[0]["bytes_per_second"], rate);
}

#[test]
fn a_cpu_time_that_nobody_measured_is_said_to_repeat_the_wall_time() {
    let mut header = header();
    header.metrics = vec![Metric::Wall];
    let mut run = Run::new(header);
    let mut record = block(0, 0, &[0, 1]);
    record.values = vec![3.0, 4.0];
    run.benchmarks[0].push(&record).unwrap();
    let json: Value = serde_json::from_slice(&google(&run, GoogleSide::Candidate)).unwrap();
    assert_eq!(json["benchmarks"][0]["cpu_time"], 4.0);
    assert_eq!(json["benchmarks"].as_array().unwrap().len(), 1);
    assert_eq!(
        json["context"]["cpu_time"],
        "not measured, repeats real_time"
    );
}

#[test]
fn user_and_system_time_make_up_the_cpu_time() {
    let mut header = header();
    header.metrics = vec![Metric::Wall, Metric::User, Metric::System];
    let mut run = Run::new(header);
    let mut record = block(0, 0, &[0, 1]);
    record.values = vec![9.0, 1.0, 2.0, 9.0, 3.0, 4.0];
    run.benchmarks[0].push(&record).unwrap();
    let json: Value = serde_json::from_slice(&google(&run, GoogleSide::Candidate)).unwrap();
    assert_eq!(json["benchmarks"][0]["cpu_time"], 7.0);
    assert_eq!(json["context"]["cpu_time"], Value::Null);
}

#[test]
fn a_benchmark_that_failed_is_a_row_that_says_so() {
    let mut run = run(header());
    run.failures.push(BenchmarkFailure {
        benchmark: 0,
        message: "it crashed\nin \"new\"".to_owned(),
    });
    let rows = google_rows(&run, GoogleSide::Candidate);
    let failed: Vec<&Value> = rows
        .iter()
        .filter(|row| row["run_name"] == "sort")
        .collect();
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0]["error_occurred"], true);
    assert_eq!(failed[0]["error_message"], "it crashed\nin \"new\"");
}

#[test]
fn a_counter_cannot_take_the_place_of_a_field() {
    let mut header = program_header();
    header.plan.benchmarks[1].counters[0] = Metric::Custom("real_time".to_owned());
    let mut run = Run::new(header);
    run.benchmarks[1].push(&program_block(1)).unwrap();
    let rows = google_rows(&run, GoogleSide::Candidate);
    assert_eq!(rows[0]["real_time"], 5_000_001.0 / 120.0);
    assert_eq!(rows[0]["waited_ns"], 4096.5);
}

#[test]
fn a_run_without_wall_times_cannot_be_written_for_google_benchmark() {
    let mut header = header();
    header.metrics = vec![Metric::Cpu];
    let written = write_google_benchmark(
        &Run::new(header),
        GoogleSide::Baseline,
        Vec::new(),
        "x.json",
    );
    assert_eq!(
        written.unwrap_err().to_string(),
        "cannot write x.json: the results have no wall times, but its format holds only those\nhelp: --export-csv and \
         --json hold every metric"
    );
}

#[test]
fn a_recording_has_its_times_among_the_counters_of_its_benchmarks() {
    let rate = Metric::foreign("bytes_per_second", Unit::BytesPerSecond, Better::More);
    let mut header = program_header();
    header.metrics = vec![];
    for benchmark in &mut header.plan.benchmarks {
        benchmark.counters = vec![Metric::Wall, rate.clone()];
    }
    header.plan.benchmarks[1].counters = vec![rate];
    let mut run = Run::new(header);
    let record = |benchmark, values: &[f64]| {
        let mut record = program_block(benchmark);
        record.values = values.repeat(record.samples.len());
        record
    };
    run.benchmarks[0].push(&record(0, &[120.0, 7.0])).unwrap();
    run.benchmarks[1].push(&record(1, &[7.0])).unwrap();
    let rows = google_rows(&run, GoogleSide::Candidate);
    assert_eq!(names(&rows)[0], "sum/100");
    assert!(rows.iter().all(|row| row["run_name"] == "sum/100"));
    assert_eq!(rows[0]["real_time"], 1.0);
    assert_eq!(rows[0]["bytes_per_second"], 7.0);
    assert_eq!(rows[0]["wall"], Value::Null);
    let mut json = Vec::new();
    write_hyperfine(&run, &mut json, "x.json").unwrap();
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["results"].as_array().unwrap().len(), 2);
}
