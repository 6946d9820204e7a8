//! Recordings of others: tables, read into runs, and the results that tools saved.

mod csv;
mod recording;
#[cfg(feature = "saved")]
mod saved;
#[cfg(feature = "saved")]
mod table;

pub use csv::read_csv_from;
pub use recording::RecordingPlan;
#[cfg(feature = "saved")]
pub use saved::{
    Recording, SavedFormat, files_in, read_criterion, read_criterion_set, read_recording,
    read_results, read_results_from, saved_format,
};
#[cfg(feature = "saved")]
pub use table::RecordedTable;
