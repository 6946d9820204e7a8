//! Runs in shapes other programs understand.

#[cfg(feature = "csv")]
mod csv;
#[cfg(feature = "saved")]
mod go;
#[cfg(feature = "trackers")]
mod google_benchmark;
#[cfg(feature = "reports")]
mod hdr;
#[cfg(feature = "hyperfine")]
mod hyperfine;
#[cfg(any(
    feature = "csv",
    feature = "hyperfine",
    feature = "reports",
    feature = "trackers"
))]
// A build with one of the exports alone needs a part of it.
#[cfg_attr(
    not(all(feature = "saved", feature = "trackers")),
    allow(dead_code, unused_imports)
)]
mod shared;
#[cfg(feature = "trackers")]
mod trackers;

#[cfg(feature = "csv")]
pub use csv::write_csv;
#[cfg(feature = "saved")]
pub use go::write_go;
#[cfg(feature = "trackers")]
pub use google_benchmark::{GoogleSide, write_google_benchmark};
#[cfg(feature = "reports")]
pub use hdr::write_hdr;
#[cfg(feature = "hyperfine")]
pub use hyperfine::write_hyperfine;
#[cfg(feature = "trackers")]
pub use trackers::{write_bmf, write_smaller_is_better};
