//! Runs in shapes other programs understand.

#[cfg(feature = "csv")]
mod csv;
mod hyperfine;

#[cfg(feature = "csv")]
pub use csv::{write_csv, write_csv_to};
pub use hyperfine::{write_hyperfine, write_hyperfine_to};
