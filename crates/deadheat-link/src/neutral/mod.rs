//! Neutral links of a record: by which linker, how, and those made before.

mod cache;
mod linker;
mod ordering;
mod placements;
mod recipe;
mod words;

pub use placements::{Line, placements};
