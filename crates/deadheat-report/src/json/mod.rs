//! The answer for programs.

mod analysis;
mod figures;
mod recorded;

pub use analysis::to_json;
