//! `deadheat compare`: saved results side by side.

mod answer;
mod arguments;
mod contest;
mod request;
mod results_of;
mod same_kind;
mod sides;

pub use arguments::{CompareArgs, EXAMPLES, compare};
