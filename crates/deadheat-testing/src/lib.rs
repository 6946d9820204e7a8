//! Helpers that the tests of several crates share: runs made by hand, random
//! numbers, and tools.
//!
//! A test that misses a tool beside Rust and a C compiler says so, by name, and passes; with
//! `DEADHEAT_REQUIRE_TOOLS=1`, as under `./test`, it fails.

pub mod random;
pub mod runs;
mod skipping;
mod tools;

pub use skipping::{is_missing, record, recorded};
pub use tools::{Tool, kill, missing, tools};
