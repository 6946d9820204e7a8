//! Recordings of others, read into runs.

mod benchmark;
mod csv;
mod recording;
mod table;

pub use csv::{read_csv, read_csv_from};
pub use recording::RecordingPlan;
