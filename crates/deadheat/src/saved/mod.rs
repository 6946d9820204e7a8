//! Saved results of other tools, set side by side: from what each file holds
//! to a run that can be analysed like any other recording.

mod alone;
mod families;
mod join;
mod matched;
mod side;
mod terms;

pub use alone::alone;
pub use families::family;
pub use join::join;
pub use side::{Side, side_names_of};
pub use terms::{SavedError, Terms};
