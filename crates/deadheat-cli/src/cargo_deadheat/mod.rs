//! The `cargo-deadheat` command: races of `cargo bench` with placements drawn
//! anew. Cargo and rustc start it again under other names, to compile and to
//! link, and bench programs ask it for neutral links.

mod arguments;
mod bench;
mod compilation;
mod program;
mod rustc;

pub(crate) use arguments::{Arguments, Bench};
pub(crate) use bench::HELP;
pub use program::cargo_deadheat;
pub(crate) use program::role;
