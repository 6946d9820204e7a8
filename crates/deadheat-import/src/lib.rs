//! Reads and writes files of other tools, and analyses recorded data.
//!
//! | format | read | written |
//! | --- | --- | --- |
//! | results of another tool, recognised by their content | [`read_results`] | |
//! | a folder of criterion | [`read_criterion`] | |
//! | tidy CSV | [`read_csv_from`], [`RecordedTable`] | [`write_csv`] |
//! | Go benchmark text | [`read_results`] | [`write_go`] |
//! | hyperfine's JSON | [`read_results`] | [`write_hyperfine`] |
//! | Google Benchmark's JSON | [`read_results`] | [`write_google_benchmark`] |
//! | `customSmallerIsBetter` of github-action-benchmark | | [`write_smaller_is_better`] |
//! | Bencher Metric Format | | [`write_bmf`] |
//!
//! [`read_recording`] reads any of these files, or a run file. [`Recorded`] opens and analyses a
//! file, and [`join`] compares the results of several files. `docs/formats.md` and
//! `docs/imports.md` describe every format.

mod csv;
mod csv_rows;
mod family;
mod identity;
mod naming;
mod readers;
mod recorded;
mod results;
mod sides;
mod table;
mod terms;
mod writers;

pub use csv::read_csv_from;
pub use csv_rows::RecordingPlan;
pub use family::family;
pub use identity::{Identity, Qualifier, QualifierPlace, QualifierShown};
pub use naming::name_together;
pub use readers::{
    Recording, SavedFormat, files_in, read_criterion, read_criterion_set, read_recording,
    read_results, read_results_from, saved_format,
};
pub use recorded::{Recorded, refuse_folder_of_files};
pub use results::{ExitCodes, ResultBenchmark, ResultState, Results};
pub use sides::{
    JoinedSides, Side, alone, join, join_without_samples, name_alike, side_names_of,
    tell_recordings_apart, warn_of_unread, without_results,
};
pub use table::RecordedTable;
pub use terms::{Terms, keep_selected, tell_of_left_out};
pub use writers::{
    GoogleSide, write_bmf, write_csv, write_go, write_google_benchmark, write_hyperfine,
    write_smaller_is_better,
};
