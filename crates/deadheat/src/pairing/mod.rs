//! Which benchmarks of two builds race each other, and which cannot. Nothing
//! of a listing gets lost: what was asked for is raced or left out by name.

mod alike;
mod names;
mod pair;
mod shown;
mod sides;
mod target;

pub use names::{NamedPair, NamedTarget, pair_names};
pub use pair::{pair, race_alone};
pub use sides::side_names;
pub use target::{Listed, Pairing, Target};
