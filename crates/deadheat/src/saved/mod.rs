//! Saved results of other tools, set side by side: from what each file holds
//! to a run that can be analysed like any other recording.

mod join;
mod matched;

pub use crate::rules::Terms;
pub use join::{JoinedSides, Side, alone, join, join_without_samples, side_names_of};
