//! Helpers that the tests of several crates share: runs made by hand, random
//! numbers, and tools.
//!
//! A test that misses a tool beside Rust and a C compiler says so, by name, and passes; with
//! `DEADHEAT_REQUIRE_TOOLS=1`, as under `./test`, it fails.

pub mod runs;
mod tools;

pub use tools::{Tool, blocks_in, is_missing, kill, missing, record, recorded, tools};

/// Random numbers for simulations.
pub mod random {
    pub use crate::runs::Stream;
}
