//! What a build without tables can do, and what it says of the rest. In the
//! workspace the command line turns all features on; `cargo test -p deadheat`
//! leaves them off, but for reading run files, and runs this file.
#![cfg(not(feature = "commands"))]

use std::fs;
use std::path::{Path, PathBuf};

use deadheat::analysis::{Options, analyse};
use deadheat::format::{FormatError, RecordingPlan, Source, detect, read_any};
use deadheat::model::Metric;
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
    let Err(error) = read_any(table.path(), &recording_plan()) else {
        return deadheat_testing::skip!("another crate of this build asks for tables");
    };
    assert!(matches!(error, FormatError::CsvLeftOut { .. }), "{error}");
    assert_eq!(error.file(), table.path());
    assert!(error.to_string().contains("feature `csv`"), "{error}");
}
