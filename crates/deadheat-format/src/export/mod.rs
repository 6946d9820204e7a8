//! Runs in shapes other programs understand.

#[cfg(feature = "trackers")]
mod bmf;
#[cfg(feature = "csv")]
mod csv;
#[cfg(feature = "saved")]
mod go;
#[cfg(feature = "trackers")]
mod google_benchmark;
#[cfg(feature = "trackers")]
mod google_benchmark_row;
#[cfg(feature = "reports")]
mod hdr;
#[cfg(feature = "reports")]
mod hdr_encoding;
#[cfg(feature = "hyperfine")]
mod hyperfine;
#[cfg(feature = "reports")]
mod names;
#[cfg(feature = "trackers")]
mod smaller_is_better;
#[cfg(feature = "trackers")]
mod tracked;

#[cfg(feature = "trackers")]
pub use bmf::{write_bmf, write_bmf_to};
#[cfg(feature = "csv")]
pub use csv::{write_csv, write_csv_to};
#[cfg(feature = "saved")]
pub use go::{write_go, write_go_to};
#[cfg(feature = "trackers")]
pub use google_benchmark::{GoogleSide, write_google_benchmark, write_google_benchmark_to};
#[cfg(feature = "reports")]
pub use hdr::{write_hdr, write_hdr_to};
#[cfg(feature = "hyperfine")]
pub use hyperfine::{write_hyperfine, write_hyperfine_to};
#[cfg(feature = "trackers")]
pub use smaller_is_better::{write_smaller_is_better, write_smaller_is_better_to};
