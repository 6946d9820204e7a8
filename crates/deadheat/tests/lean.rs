//! What a build without features can do, and what it says of the rest. In the
//! workspace the command line turns the features on; `cargo test -p deadheat`
//! leaves them off and runs this file.
#![cfg(not(feature = "commands"))]

use std::fs;
use std::path::{Path, PathBuf};

use deadheat::analysis::{Options, analyse};
use deadheat::engine::{CommandContenders, CommandOptions, Contenders, Interrupts, Schedule};
use deadheat::format::{FormatError, RecordingPlan, Source, detect, read_any, read_header};
use deadheat::model::{BlockRecord, Metric, Pinning};
use deadheat::report::{TextOptions, to_text};

/// A run file of commands, one benchmark of which launches nothing but `true`.
fn run_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deadheat-format/tests/golden/run.jsonl")
}

fn recording_plan() -> RecordingPlan {
    RecordingPlan {
        margin: 0.01,
        alpha: 0.05,
        judged: Metric::Wall,
    }
}

#[test]
fn a_run_file_is_read_analysed_and_told() {
    let run = read_any(run_file(), &recording_plan()).unwrap();
    let text = to_text(&analyse(&run, Options::default()), &TextOptions::default());
    assert!(text.contains("sort"), "{text}");
}

#[test]
fn a_table_is_known_as_one_and_the_error_names_the_feature_that_reads_it() {
    let table = tempfile::NamedTempFile::new().unwrap();
    fs::write(table.path(), "benchmark,contender,wall_ns\nb,old,1\n").unwrap();
    assert_eq!(detect(table.path()).unwrap(), Source::TidyCsv);
    let error = read_any(table.path(), &recording_plan()).unwrap_err();
    assert!(matches!(error, FormatError::CsvLeftOut { .. }), "{error}");
    assert_eq!(error.file(), table.path());
    assert!(error.to_string().contains("feature `csv`"), "{error}");
}

#[test]
fn commands_are_measured_without_hardware_counters_and_the_reason_is_told() {
    let mut plan = read_header(run_file()).unwrap().plan;
    plan.benchmarks
        .retain(|benchmark| benchmark.name == "three");
    plan.design.pinning = Pinning::Inherit;
    let interrupts = Interrupts::install().unwrap();
    let options = CommandOptions {
        shown: 2,
        counters: true,
    };
    let mut contenders = CommandContenders::new(&plan, &options, &interrupts).unwrap();
    let reason = contenders.counters().as_ref().unwrap_err();
    assert_eq!(reason, "deadheat was built without them");
    assert!(!contenders.metrics().contains(&Metric::Cycles));

    let mut record = BlockRecord::default();
    let block = Schedule::new(&plan).block(0, 0, 0, None);
    contenders.open(0).unwrap();
    contenders.run(&block, &mut record).unwrap();
    contenders.close(0).unwrap();
    let width = contenders.metrics().len();
    assert_eq!(record.values.len(), record.samples.len() * width);
    assert!(record.values.iter().step_by(width).all(|wall| *wall > 0.0));
}
