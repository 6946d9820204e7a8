//! The bench harness: what a bench target's `main` calls.

mod arguments;
mod compare;
mod entry;
mod files;

pub use compare::{Compare, compare, compare_with};
pub use entry::{main, run_planned};
