//! Recordings of others, read into runs.

#[cfg(feature = "csv")]
mod benchmark;
#[cfg(feature = "csv")]
mod csv;
#[cfg(not(feature = "csv"))]
mod no_csv;
#[cfg(feature = "csv")]
mod recording;
mod recording_plan;
#[cfg(feature = "saved")]
mod saved;
#[cfg(feature = "csv")]
mod table;

#[cfg(feature = "csv")]
pub use csv::{read_csv, read_csv_from};
#[cfg(not(feature = "csv"))]
pub(crate) use no_csv::read_csv_from;
pub use recording_plan::RecordingPlan;
#[cfg(feature = "saved")]
pub use saved::{
    Recording, SavedFormat, criterion_baselines, files_in, read_criterion, read_criterion_set,
    read_recording, read_results, read_results_from, saved_format,
};
