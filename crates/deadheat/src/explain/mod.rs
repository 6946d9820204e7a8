//! Where the time went: both sides of a pair run once under callgrind, and what they execute set side
//! by side.

mod count;
mod spec;

pub use count::explain;
pub use spec::{ExplainSpec, Wall};
