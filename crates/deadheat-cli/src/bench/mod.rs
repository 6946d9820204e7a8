//! `deadheat bench`: race two builds.

mod arguments;
mod entrants;
mod entries;
mod google;
mod inspection;
mod options;
mod race;

pub use arguments::{BenchArgs, EXAMPLES, bench, passed_on};
pub use entrants::{Entrants, Target};
pub use options::BenchOptions;
pub use race::{race, race_alone, race_families};
