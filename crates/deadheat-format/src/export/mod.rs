//! Runs in shapes other programs understand.

#[cfg(feature = "csv")]
mod csv;
mod hdr;
mod hdr_encoding;
#[cfg(feature = "hyperfine")]
mod hyperfine;
mod names;

#[cfg(feature = "csv")]
pub use csv::{write_csv, write_csv_to};
pub use hdr::{write_hdr, write_hdr_to};
#[cfg(feature = "hyperfine")]
pub use hyperfine::{write_hyperfine, write_hyperfine_to};
