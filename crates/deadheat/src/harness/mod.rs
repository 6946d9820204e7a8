//! The bench harness: what a bench target's `main` calls.

mod arguments;
mod compare;
mod entry;
#[cfg(feature = "reports")]
mod files;
#[cfg(not(feature = "reports"))]
#[path = "no_files.rs"]
mod files;
mod modes;
mod progress;

pub use compare::{Compare, compare, compare_with};
pub use entry::main;
