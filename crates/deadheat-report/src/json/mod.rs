//! The answer for programs.

mod analysis;
mod figures;

pub use analysis::to_json;
