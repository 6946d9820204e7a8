//! Saved results of other tools, set side by side: from what each file holds
//! to a run that can be analysed like any other recording.

mod join;
mod matched;

pub use crate::rules::Terms;
pub use join::{Side, alone, join, side_names_of};
