//! The answer for programs.

mod analysis;
mod figures;
mod number;

pub use analysis::to_json;
