//! The files that are written, byte by byte. After a change that is meant, run the tests with
//! `DEADHEAT_BLESS=1` and read the difference.

mod common;

use std::fs;
use std::path::Path;

use common::{
    block, blocks, controlled_header, end, fallen_back, function_block, function_header, header,
    placed, placed_header, program_block, program_header,
};
use deadheat_format::{
    GoogleSide, RunFileWriter, read_results_from, read_run, write_csv, write_go,
    write_google_benchmark, write_hdr, write_hyperfine,
};
use deadheat_model::TextCells;
use deadheat_model::{
    BenchmarkFailure, ContenderHistogram, ContenderId, EndReason, Flags, HistogramUnit, Histograms,
    Metric, RecordSink, Waiting,
};

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

/// A run that was interrupted, taken up again and finished.
fn recorded() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::remove_file(file.path()).unwrap();
    let mut writer = RunFileWriter::create(file.path(), &header()).unwrap();
    for block in blocks() {
        writer.block(&block).unwrap();
    }
    writer.end(&end(EndReason::Interrupted(2), 30)).unwrap();
    drop(writer);
    let mut writer = RunFileWriter::resume(file.path(), "0.1.1", Some(1_709_213_696)).unwrap();
    writer.block(&block(1, 2, &[0, 1, 2])).unwrap();
    writer.end(&end(EndReason::Finished, 34)).unwrap();
    file
}

#[test]
fn a_run_file_is_written_as_before() {
    compare("run.jsonl", &fs::read(recorded().path()).unwrap());
}

/// A run that takes waiting for a core out, of which one sample had company and the account of
/// another could not be read.
#[test]
fn a_run_that_tells_its_waiting_is_written_as_before_and_read_back_whole() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::remove_file(file.path()).unwrap();
    let mut header = function_header();
    header.plan.design.waiting = Waiting::Auto;
    header.metrics = vec![
        Metric::Wall,
        Metric::RunDelay,
        Metric::Cpu,
        Metric::Migrations,
    ];
    let mut writer = RunFileWriter::create(file.path(), &header).unwrap();
    let mut blocks = [function_block(0, 0), function_block(0, 1)];
    blocks[1].samples[0].flags = Flags::PREEMPTED.and(Flags::CONCURRENT);
    blocks[1].samples[1].flags = Flags::DELAY_UNREAD;
    for block in &blocks {
        writer.block(block).unwrap();
    }
    writer.end(&end(EndReason::Finished, 1)).unwrap();
    compare("waiting.jsonl", &fs::read(file.path()).unwrap());
    let run = read_run(file.path()).unwrap();
    assert_eq!(run.header, header);
    let samples = &run.benchmarks[0].samples()[4..];
    assert_eq!(samples, blocks[1].samples);
    let mut table = Vec::new();
    write_csv(&run, &mut table, "waiting.csv", TextCells::default()).unwrap();
    compare("waiting.csv", &table);
}

/// A run whose first benchmark has a control.
fn recorded_with_a_control() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::remove_file(file.path()).unwrap();
    let mut writer = RunFileWriter::create(file.path(), &controlled_header()).unwrap();
    for (replicate, order) in [[2, 0, 1], [0, 1, 2]].iter().enumerate() {
        writer.block(&block(0, replicate as u32, order)).unwrap();
    }
    writer.end(&end(EndReason::Finished, 8)).unwrap();
    file
}

#[test]
fn a_run_with_a_control_is_written_as_before() {
    let file = recorded_with_a_control();
    compare("control.jsonl", &fs::read(file.path()).unwrap());
}

#[test]
fn a_control_is_in_no_file_for_other_tools() {
    let run = read_run(recorded_with_a_control().path()).unwrap();
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
fn a_run_of_functions_is_written_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let mut writer = RunFileWriter::create(&path, &function_header()).unwrap();
    for index in 0..5 {
        writer.block(&function_block(0, index)).unwrap();
    }
    let failure = BenchmarkFailure {
        benchmark: 1,
        message: "the worker crashed with SIGSEGV\nin \"stable\"".to_owned(),
    };
    writer.failed(&failure).unwrap();
    writer.end(&end(EndReason::Finished, 2)).unwrap();
    compare("functions.jsonl", &fs::read(&path).unwrap());
}

/// A run with neutral links, the second of them refused.
fn recorded_with_placements() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::remove_file(file.path()).unwrap();
    let mut writer = RunFileWriter::create(file.path(), &placed_header()).unwrap();
    for (replicate, placed) in [placed(0, 0), fallen_back(0, 1)].iter().enumerate() {
        writer.placed(placed).unwrap();
        for index in 0..5 {
            let block = function_block(replicate as u32, index);
            writer.block(&block).unwrap();
        }
    }
    let own = deadheat_model::BlockRecord {
        benchmark: 1,
        ..function_block(0, 0)
    };
    writer.block(&own).unwrap();
    writer.end(&end(EndReason::Finished, 3)).unwrap();
    file
}

#[test]
fn a_run_with_placements_is_written_as_before() {
    let file = recorded_with_placements();
    compare("placements.jsonl", &fs::read(file.path()).unwrap());
}

/// A run of two builds.
fn recorded_programs() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::remove_file(file.path()).unwrap();
    let mut writer = RunFileWriter::create(file.path(), &program_header()).unwrap();
    for benchmark in 0..3 {
        writer.block(&program_block(benchmark)).unwrap();
    }
    writer.end(&end(EndReason::Finished, 10)).unwrap();
    file
}

#[test]
fn a_run_of_programs_is_written_as_before_and_read_back_whole() {
    let file = recorded_programs();
    compare("programs.jsonl", &fs::read(file.path()).unwrap());
    let run = read_run(file.path()).unwrap();
    assert_eq!(run.header, program_header());
    let cells = Metric::Custom("cells".to_owned());
    assert_eq!(run.benchmarks[1].column(&cells), Some(&[4096.5; 4][..]));
    assert_eq!(run.benchmarks[2].column(&cells), None);
}

#[test]
fn counters_of_some_benchmarks_are_empty_cells_in_the_rows_of_others() {
    let run = read_run(recorded_programs().path()).unwrap();
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
    let run = read_run(recorded_with_placements().path()).unwrap();
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
    let run = read_run(recorded().path()).unwrap();
    let mut csv = Vec::new();
    write_csv(&run, &mut csv, "run.csv", TextCells::Guarded).unwrap();
    compare("run.csv", &csv);
}

#[test]
fn the_json_of_hyperfine_is_written_as_before() {
    let run = read_run(recorded().path()).unwrap();
    let mut json = Vec::new();
    write_hyperfine(&run, &mut json, "run.json").unwrap();
    compare("hyperfine.json", &json);
}

/// The run in the Go benchmark format.
fn as_go(run: &deadheat_model::Run) -> Vec<u8> {
    let mut text = Vec::new();
    write_go(run, &mut text, "run.txt").unwrap();
    text
}

#[test]
fn go_benchmark_text_is_written_as_before() {
    let run = read_run(recorded().path()).unwrap();
    compare("go.txt", &as_go(&run));
    let programs = read_run(recorded_programs().path()).unwrap();
    compare("go_programs.txt", &as_go(&programs));
    let placed = read_run(recorded_with_placements().path()).unwrap();
    let text = String::from_utf8(as_go(&placed)).unwrap();
    let lines = |name: &str| text.lines().filter(|line| line.starts_with(name)).count();
    assert_eq!((lines("BenchmarkSum\t"), lines("Benchmark")), (40, 40));
}

#[test]
fn go_benchmark_text_is_read_back_with_every_value() {
    let run = read_run(recorded_programs().path()).unwrap();
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
    let mut run = deadheat_model::Run::new(header());
    run.benchmarks[1].push(&block(1, 0, &[0, 1, 2])).unwrap();
    run.failures.push(BenchmarkFailure {
        benchmark: 0,
        message: "it crashed\nwith SIGSEGV".to_owned(),
    });
    let results = read_results_from(Path::new("go.txt"), &as_go(&run)).unwrap();
    let failed = deadheat_model::ResultState::Failed("it crashed".to_owned());
    let states: Vec<_> = results.benchmarks.iter().map(|one| &one.state).collect();
    assert!(states.contains(&&failed), "{states:?}");
}

#[test]
fn a_histogram_log_is_written_as_before() {
    let run = read_run(recorded().path()).unwrap();
    let contender = |contender, largest, counts: &[u64]| ContenderHistogram {
        benchmark: 1,
        contender: ContenderId(contender),
        largest,
        counts: counts.to_vec(),
    };
    let histograms = Histograms {
        unit: HistogramUnit::Nanoseconds,
        significant_digits: 3,
        highest: 1_002_002,
        contenders: vec![
            contender(0, 12, &[0, 0, 1, 300, 0, 2, 0, 0, 0, 0, 0, 0, 7]),
            contender(2, 3, &[1, 0, 0, 1 << 40]),
        ],
    };
    let mut log = Vec::new();
    write_hdr(&run, &histograms, &mut log, "run.hlog").unwrap();
    compare("run.hlog", &log);
}

#[test]
fn times_for_hyperfine_are_per_iteration_and_memory_is_not() {
    let mut header = header();
    header.metrics = vec![Metric::Wall, Metric::PeakRss];
    let mut run = deadheat_model::Run::new(header);
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
