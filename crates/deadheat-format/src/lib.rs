//! The only room of deadheat that reads or writes files.
//!
//! It keeps the raw samples of a run while it is measured, reads them back,
//! takes in recordings of others, and writes both in shapes other programs
//! understand. Every format is described in `docs/formats.md`.
//!
//! | format | read | written |
//! | --- | --- | --- |
//! | run file, `deadheat.run/1` | `read_run`, `IndexedRun`, feature `read` | [`RunFileWriter`] |
//! | what a machine showed of itself, `deadheat.calibration/1` | [`read_calibration`] | [`write_calibration`] |
//! | rules of a project, `deadheat.toml` | [`find_rules`], [`read_rules`] | |
//! | a plan with its programs, feature `saved` | `unpack` | `write_pack` |
//! | the list of files that start programs, feature `saved` | `MadeFiles` | `MadeFiles` |
//! | tidy CSV, feature `csv` | `read_csv_from`, `RecordedTable` | `write_csv` |
//! | hyperfine's JSON, feature `hyperfine` | | `write_hyperfine` |
//! | Go benchmark text, feature `saved` | `read_results` | `write_go` |
//! | HDR histogram log | | [`write_hdr`] |
//! | a folder of criterion, feature `saved` | `read_criterion` | |
//! | Google Benchmark's JSON, feature `trackers` | | `write_google_benchmark` |
//! | `customSmallerIsBetter` of github-action-benchmark, feature `trackers` | | `write_smaller_is_better` |
//! | Bencher Metric Format, feature `trackers` | | `write_bmf` |
//!
//! Products in crates of their own describe their types by [`wire`] and keep logs by
//! `JsonLinesWriter`, feature `read`.
//!
//! [`write_export`] makes the file that a table, log or text of these goes to, and `read_recording`
//! tells formats apart by their content. No feature is on by
//! default: a program that only records a run builds nothing that reads one.

#[cfg(feature = "reports")]
mod calibration;
#[cfg(any(feature = "read", feature = "reports"))]
mod content;
mod default_path;
mod error;
mod export;
#[cfg(feature = "csv")]
mod import;
#[cfg(feature = "read")]
mod json_lines;
#[cfg(any(feature = "read", feature = "reports"))]
mod limits;
#[cfg(feature = "saved")]
mod made_files;
mod named_pipe;
mod number;
mod output;
mod output_kind;
#[cfg(feature = "saved")]
mod pack;
mod rules;
mod run_file;
mod same_file;
#[cfg(feature = "saved")]
mod temporary;
pub mod wire;

#[cfg(feature = "reports")]
pub use calibration::{calibration_json, read_calibration, write_calibration};
#[cfg(feature = "reports")]
pub use content::read_plain_text;
#[cfg(feature = "saved")]
pub use content::{
    FileKind, Found, ensure_readable, file_kind, found_at, open_pieces, read_bytes, read_content,
    unpacked,
};
pub use default_path::{
    are_first_runs, create_folder_for, create_own_folder, create_run_folder, default_run_path,
    is_default_run_name, own_folder,
};
pub use error::{FileProblem, FormatError, Place, cannot_read, cannot_write, similar_file};
#[cfg(feature = "csv")]
pub use export::write_csv;
#[cfg(feature = "saved")]
pub use export::write_go;
#[cfg(feature = "reports")]
pub use export::write_hdr;
#[cfg(feature = "hyperfine")]
pub use export::write_hyperfine;
#[cfg(feature = "trackers")]
pub use export::{GoogleSide, write_bmf, write_google_benchmark, write_smaller_is_better};
#[cfg(feature = "saved")]
pub use import::RecordedTable;
#[cfg(feature = "saved")]
pub use import::{
    Recording, SavedFormat, files_in, read_criterion, read_criterion_set, read_recording,
    read_results, read_results_from, saved_format,
};
#[cfg(feature = "csv")]
pub use import::{RecordingPlan, read_csv_from};
#[cfg(feature = "read")]
pub use json_lines::{JsonLinesWriter, read_json_lines};
#[cfg(feature = "saved")]
pub use made_files::{FileDigest, MadeFiles};
pub use output::{
    ensure_folder, ensure_writable, refuse_file_in_use, set_aside, write_bytes, write_export,
    write_text, write_text_by,
};
pub use output_kind::OutputKind;
#[cfg(feature = "saved")]
pub use pack::{PackedFile, contents, is_pack, unpack, write_pack};
pub use rules::{RULES_FILE, find_rules, read_rules, read_rules_from};
#[cfg(feature = "saved")]
pub use run_file::merge_parts;
#[cfg(feature = "read")]
pub use run_file::{
    IndexedRun, has_only_header, read_header, read_run, read_run_from, refuse_plan,
};
pub use run_file::{NOWHERE, RunFileWriter, SCHEMA};
pub use same_file::{FileIdentity, is_same_file};
#[cfg(feature = "saved")]
pub use temporary::{ScratchFolder, TemporaryFile};
