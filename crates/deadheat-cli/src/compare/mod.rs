//! `deadheat compare`: saved results side by side.

mod answer;
mod arguments;
mod compat;
mod compat_arguments;
mod contest;
mod held_output;
mod request;
mod results_of;
mod same_kind;
mod sides;

pub use arguments::{CompareArgs, EXAMPLES, compare};
pub(crate) use compat::role;
