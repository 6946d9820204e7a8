//! What criterion keeps below `target/criterion`: a folder for every benchmark
//! and in it one for every set of results, `new` and the named baselines.

mod folder;
mod set;

pub use folder::{criterion_baselines, files_in, read_criterion};
pub use set::read_criterion_set;
