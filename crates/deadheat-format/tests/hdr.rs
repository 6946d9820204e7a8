//! Histogram logs are read back by a reader of the format that is not ours.

mod common;

use std::time::Duration;

use common::{blocks, header};
use deadheat_format::{FileProblem, write_export, write_hdr};
use deadheat_model::{ContenderHistogram, ContenderId, HistogramUnit, Histograms, Metric, Run};
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use proptest::prelude::*;

fn run() -> Run {
    let mut run = Run::new(header());
    for block in blocks() {
        run.benchmarks[block.benchmark].push(&block).unwrap();
        run.elapsed_ns = run.elapsed_ns.max(block.elapsed_ns);
    }
    run
}

fn histograms(highest: u64, counts: &[Vec<u64>]) -> Histograms<Vec<ContenderHistogram>> {
    let places = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)];
    let one = |((benchmark, contender), counts): ((usize, u8), &Vec<u64>)| ContenderHistogram {
        benchmark,
        contender: ContenderId(contender),
        largest: highest,
        counts: counts.clone(),
    };
    Histograms {
        unit: HistogramUnit::Nanoseconds,
        significant_digits: 3,
        highest,
        contenders: places.into_iter().zip(counts).map(one).collect(),
    }
}

fn log(run: &Run, histograms: Histograms<Vec<ContenderHistogram>>) -> String {
    let mut log = Vec::new();
    write_hdr(run, histograms, &mut log, "x.hlog").unwrap();
    String::from_utf8(log).unwrap()
}

/// Tag, start, length, maximum and counts of every line.
type Line = (String, Duration, Duration, f64, Vec<u64>);

fn read(log: &str) -> (Vec<Line>, Vec<f64>) {
    let (mut lines, mut times) = (Vec::new(), Vec::new());
    for entry in IntervalLogIterator::new(log.as_bytes()) {
        match entry.unwrap_or_else(|error| panic!("{error:?} in {log}")) {
            LogEntry::StartTime(time) | LogEntry::BaseTime(time) => times.push(time.as_secs_f64()),
            LogEntry::Interval(line) => {
                let bytes = decoded(line.encoded_histogram());
                let histogram: hdrhistogram::Histogram<u64> =
                    Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
                let counts = histogram.iter_all().map(|bucket| bucket.count_at_value());
                lines.push((
                    line.tag().unwrap().as_str().to_owned(),
                    line.start_timestamp(),
                    line.duration(),
                    line.max(),
                    counts.collect(),
                ));
            }
        }
    }
    (lines, times)
}

/// Base64 to bytes, digit by digit.
fn decoded(text: &str) -> Vec<u8> {
    let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0);
    for digit in text.trim_end_matches('=').chars() {
        bits = bits << 6 | digits.find(digit).unwrap() as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn counts_come_back_as_they_were(
        // Gaps of all lengths, and counts up to the largest there can be.
        gaps in proptest::collection::vec((0usize..600, 0u32..63, any::<u64>()), 1..40),
    ) {
        let mut counts: Vec<u64> = Vec::new();
        for (gap, size, bits) in gaps {
            counts.resize(counts.len() + gap, 0);
            counts.push(1 + (bits >> 1 >> size) / 64);
        }
        let log = log(&run(), histograms(1 << 40, std::slice::from_ref(&counts)));
        let (lines, _) = read(&log);
        prop_assert_eq!(lines.len(), 1);
        let found = &lines[0].4;
        prop_assert!(found.len() >= counts.len());
        counts.resize(found.len(), 0);
        prop_assert!(found == &counts);
    }
}

#[test]
fn every_line_names_its_contender_its_interval_and_its_maximum() {
    let counts = [vec![0, 1], vec![2], vec![3], vec![4], vec![5]];
    let (lines, times) = read(&log(&run(), histograms(2_500_001, &counts)));
    assert_eq!(times, [1_709_210_096.0; 2], "start and base");
    let tags: Vec<&str> = lines.iter().map(|line| line.0.as_str()).collect();
    assert_eq!(
        tags,
        [
            "sort/one_\"quoted\"__with_a_comma",
            "sort/two",
            "three/a",
            "three/b",
            "three/c"
        ]
    );
    for (line, counts) in lines.iter().zip(&counts) {
        assert_eq!(
            (line.1, line.2),
            (Duration::ZERO, Duration::from_millis(1020))
        );
        assert_eq!(line.3, 2.500_001);
        assert_eq!(line.4[..counts.len()], counts[..]);
    }
}

#[test]
fn tags_that_would_be_alike_are_numbered() {
    let mut run = run();
    let [a, b, _] = &mut run.header.plan.benchmarks[1].contenders[..] else {
        panic!("three contenders");
    };
    (a.name, b.name) = ("x y".to_owned(), "x,y".to_owned());
    let (lines, _) = read(&log(
        &run,
        histograms(9, &[vec![], vec![], vec![1], vec![1]]),
    ));
    assert_eq!((&*lines[2].0, &*lines[3].0), ("three/x_y", "three/x_y_#2"));
}

#[test]
fn a_recording_lasts_as_long_as_its_samples_and_starts_at_no_known_time() {
    let mut run = run();
    run.elapsed_ns = 0;
    run.header.started_at = None;
    let (lines, times) = read(&log(&run, histograms(9, &[vec![1]])));
    // 18 samples of a millisecond and a little.
    assert_eq!(lines[0].2, Duration::from_millis(18));
    assert!(times.is_empty());
}

#[test]
fn counts_too_many_for_one_stored_block_come_back_too() {
    let counts: Vec<u64> = (0..40_000).map(|at| 70 + at % 3).collect();
    let (lines, _) = read(&log(
        &run(),
        histograms(1 << 60, std::slice::from_ref(&counts)),
    ));
    assert_eq!(lines[0].4[..counts.len()], counts[..]);
}

#[test]
fn a_run_without_wall_times_cannot_be_written() {
    let mut header = header();
    header.metrics.retain(|metric| *metric != Metric::Wall);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/x.hlog");
    let write =
        |run: &Run| write_export(&path, |out| write_hdr(run, histograms(9, &[]), out, &path));
    let error = write(&Run::new(header)).unwrap_err();
    assert!(matches!(error.problem, FileProblem::NoWallTimes), "{error}");
    write(&run()).unwrap();
    let empty = std::fs::read_to_string(&path).unwrap();
    assert!(read(&empty).0.is_empty());
}
