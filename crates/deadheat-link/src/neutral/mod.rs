//! Neutral links of a record: by which linker, how, and those made before.

mod cache;
mod linker;
mod ordering;
mod placements;
mod recipe;
mod words;

pub(crate) use cache::is_of_neutral_links;
pub use placements::{Line, placements};
