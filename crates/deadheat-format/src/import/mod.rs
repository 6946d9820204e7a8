//! Recordings of others: tables, read into runs, the results that tools saved, and profiles.

#[cfg(feature = "profiles")]
mod callgrind;
#[cfg(feature = "csv")]
mod csv;
#[cfg(feature = "profiles")]
mod perf;
#[cfg(feature = "csv")]
mod recording;
#[cfg(feature = "saved")]
mod saved;
#[cfg(feature = "saved")]
mod table;

#[cfg(feature = "profiles")]
pub use callgrind::read_callgrind;
#[cfg(feature = "csv")]
pub use csv::read_csv_from;
#[cfg(feature = "profiles")]
pub use perf::read_perf_script;
#[cfg(feature = "csv")]
pub use recording::RecordingPlan;
#[cfg(feature = "saved")]
pub use saved::{
    Recording, SavedFormat, files_in, read_criterion, read_criterion_set, read_recording,
    read_results, read_results_from, saved_format,
};
#[cfg(feature = "saved")]
pub use table::RecordedTable;
