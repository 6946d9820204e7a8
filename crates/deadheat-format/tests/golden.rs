//! The files that are written, byte by byte. After a change that is meant, run the tests with
//! `DEADHEAT_BLESS=1` and read the difference.

mod common;

use std::fs;
use std::path::Path;

use common::{
    block, blocks, controlled_header, end, fallen_back, function_block, function_header, header,
    placed, placed_header, program_block, program_header,
};
use deadheat_format::{RunFileWriter, read_run, write_hdr};
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
    write_hdr(&run, histograms, &mut log, "run.hlog").unwrap();
    compare("run.hlog", &log);
}
