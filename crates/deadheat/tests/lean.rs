//! A build without the feature `commands` reads run files and refuses tables. `cargo test -p
//! deadheat` runs this file; in the workspace, the command line turns on all features.
#![cfg(not(feature = "commands"))]

use std::fs;
use std::path::{Path, PathBuf};

use deadheat::parts::analysis::{Options, analyse};
use deadheat::parts::format::{FileProblem, read_run};
use deadheat::parts::report::{TextOptions, to_text};

fn run_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deadheat-format/tests/golden/run.jsonl")
}

#[test]
fn a_run_file_is_read_analysed_and_told() {
    let run = read_run(run_file()).unwrap();
    let text = to_text(&analyse(&run, Options::default()), &TextOptions::default());
    assert!(text.contains("sort"), "{text}");
}

#[test]
fn a_table_is_no_run_file_and_the_error_names_what_it_is() {
    let table = tempfile::NamedTempFile::new().unwrap();
    fs::write(table.path(), "benchmark,contender,wall_ns\nb,old,1\n").unwrap();
    let error = read_run(table.path()).unwrap_err();
    assert!(matches!(error.problem, FileProblem::Unknown(_)), "{error}");
    assert_eq!(error.file, table.path());
    let told = error.to_string();
    assert!(told.contains("text without the header of a run"), "{told}");
}
