//! Runs in shapes other programs understand.

mod csv;
mod hyperfine;

pub use csv::{write_csv, write_csv_to};
pub use hyperfine::{write_hyperfine, write_hyperfine_to};
