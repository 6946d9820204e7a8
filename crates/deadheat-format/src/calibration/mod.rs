//! What a machine showed of itself, kept in a file: `deadheat.calibration/1`,
//! described by `docs/schema/calibration-1.schema.json`.

mod file;
mod read;
mod written;

pub use file::{read_calibration, write_calibration};
pub use written::{CALIBRATION_SCHEMA, calibration_json};
