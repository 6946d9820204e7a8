//! The work that every tool is asked to race.

mod case;
mod twins;

pub use case::{Case, Work};
