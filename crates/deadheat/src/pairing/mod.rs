//! Pairs of benchmarks of two builds that race each other, and those that cannot. Nothing of a
//! listing gets lost: what was asked for is raced or left out by name.

mod families;
mod names;
mod pair;
mod target;

pub use families::{Families, families, families_between, family};
pub use names::{Launched, pair_names, side_names};
pub use pair::{Worker, pair, race_alone};
pub use target::{Listed, Pairing, Target};
