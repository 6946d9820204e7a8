//! `deadheat compare`: saved results side by side.

mod arguments;
mod compat;
mod compat_arguments;
mod held_output;
mod request;
mod sides;

pub use arguments::{CompareArgs, EXAMPLES, compare};
pub(crate) use compat::role;
