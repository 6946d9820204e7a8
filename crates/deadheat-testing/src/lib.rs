//! Helpers for the tests of several crates: builders for runs, random numbers, and checks for
//! installed tools.
//!
//! If a tool other than Rust and a C compiler is missing, a test that needs it prints the name of
//! the tool and passes. With `DEADHEAT_REQUIRE_TOOLS=1`, as under `./test`, the test fails.

pub mod runs;
mod tools;

pub use tools::{Tool, blocks_in, is_missing, kill, missing, record, recorded, tools};

/// Random numbers for simulations.
pub mod random {
    pub use crate::runs::Stream;
}
