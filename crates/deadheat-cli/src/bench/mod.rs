//! `deadheat bench`: race two builds.

mod arguments;
mod options;
mod programs;
mod race;

pub use arguments::{BenchArgs, EXAMPLES, bench, passed_on};
pub use options::BenchOptions;
pub use programs::Entrants;
pub use race::{race, race_alone, race_families, race_silently};
