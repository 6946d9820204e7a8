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
//! | the index of a history, and what is accepted, feature `history` | `HistoryIndex`, `read_accepted` | `HistoryIndex`, `write_accepted` |
//! | a plan with its programs, feature `saved` | `unpack` | `write_pack` |
//! | tidy CSV, feature `csv` | `read_csv_from`, `RecordedTable` | `write_csv` |
//! | hyperfine's JSON, feature `hyperfine` | | `write_hyperfine` |
//! | Go benchmark text, feature `saved` | `read_results` | `write_go` |
//! | HDR histogram log | | [`write_hdr`] |
//! | a folder of criterion, feature `saved` | `read_criterion` | |
//! | callgrind's output, feature `profiles` | `read_callgrind` | |
//! | samples of perf, feature `profiles` | `read_perf_script` | |
//! | Google Benchmark's JSON, feature `trackers` | | `write_google_benchmark` |
//! | `customSmallerIsBetter` of github-action-benchmark, feature `trackers` | | `write_smaller_is_better` |
//! | Bencher Metric Format, feature `trackers` | | `write_bmf` |
//!
//! [`write_export`] makes the file that a table, log or text of these goes to, and `read_recording`
//! tells formats apart by their content. No feature is on by
//! default: a program that only records a run builds nothing that reads one.

#[cfg(feature = "saved")]
mod bisect;
#[cfg(feature = "reports")]
mod calibration;
#[cfg(any(feature = "read", feature = "reports"))]
mod content;
mod default_path;
mod error;
mod export;
#[cfg(feature = "history")]
mod history;
#[cfg(any(feature = "csv", feature = "profiles"))]
mod import;
mod number;
mod output;
#[cfg(feature = "saved")]
mod pack;
mod rules;
mod run_file;
#[cfg(feature = "saved")]
mod temporary;
mod wire;

#[cfg(feature = "saved")]
pub use bisect::{BISECT_SCHEMA, BisectLogWriter, read_bisect_log};
#[cfg(feature = "reports")]
pub use calibration::{calibration_json, read_calibration, write_calibration};
#[cfg(feature = "saved")]
pub use content::{FileKind, Found, ensure_readable, file_kind, found_at, open_pieces, read_bytes};
pub use default_path::{are_first_runs, create_run_folder, default_run_path, is_default_run_name};
#[cfg(feature = "saved")]
pub use default_path::{bisect_log_path, create_bisect_folder, latest_bisect_log};
pub use error::{FileProblem, FormatError, Place};
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
#[cfg(feature = "history")]
pub use history::{
    ACCEPTED_FILE, Accepted, Added, HistoryIndex, INDEX_FILE, INDEX_VERSION, IndexCounts,
    IndexedCommit, IndexedRace, IndexedSeries, StoredRun, files_of_runs, find_index, gzipped,
    is_run_name, read_accepted, write_accepted,
};
#[cfg(feature = "saved")]
pub use import::RecordedTable;
#[cfg(feature = "saved")]
pub use import::{
    Recording, SavedFormat, files_in, read_criterion, read_criterion_set, read_recording,
    read_results, read_results_from, saved_format,
};
#[cfg(feature = "csv")]
pub use import::{RecordingPlan, read_csv_from};
#[cfg(feature = "profiles")]
pub use import::{read_callgrind, read_perf_script};
pub use output::{
    ensure_folder, ensure_writable, is_same_file, set_aside, write_bytes, write_export, write_text,
    write_text_by,
};
#[cfg(feature = "saved")]
pub use pack::{PackedFile, is_pack, unpack, write_pack};
pub use rules::{RULES_FILE, find_rules, read_rules, read_rules_from};
#[cfg(feature = "saved")]
pub use run_file::merge_parts;
#[cfg(feature = "read")]
pub use run_file::{IndexedRun, read_header, read_run, read_run_from};
pub use run_file::{NOWHERE, RunFileWriter, SCHEMA};
#[cfg(feature = "saved")]
pub use temporary::{ScratchFolder, TemporaryFile};
