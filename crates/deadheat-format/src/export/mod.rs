//! Runs in shapes other programs understand.

#[cfg(feature = "csv")]
mod csv;
#[cfg(feature = "saved")]
mod go;
mod hdr;
mod hdr_encoding;
#[cfg(feature = "hyperfine")]
mod hyperfine;
mod names;

#[cfg(feature = "csv")]
pub use csv::{write_csv, write_csv_to};
#[cfg(feature = "saved")]
pub use go::{write_go, write_go_to};
pub use hdr::{write_hdr, write_hdr_to};
#[cfg(feature = "hyperfine")]
pub use hyperfine::{write_hyperfine, write_hyperfine_to};
