//! What the tests use beside Rust and a C compiler. A test that misses something says so, by name,
//! and passes; with `DEADHEAT_REQUIRE_TOOLS=1`, as under `./test`, it fails.

mod skipping;
mod tools;

pub use skipping::{is_missing, record, recorded};
pub use tools::{Tool, kill, missing, tools};
