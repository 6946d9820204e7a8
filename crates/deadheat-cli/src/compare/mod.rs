//! `deadheat compare`: saved results side by side.

mod compat;
mod held_output;

pub(crate) use compat::role;
