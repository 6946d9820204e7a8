//! The answer for programs.

mod analysis;
#[cfg(feature = "reports")]
mod figures;
mod recorded;

pub use analysis::to_json;
