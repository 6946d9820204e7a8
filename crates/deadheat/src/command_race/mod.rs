//! A race of whole commands: from a [`CommandRaceSpec`] to a frozen plan.

mod parameters;
mod planning;
mod spec;

pub use parameters::Parameter;
pub use spec::{CommandRaceSpec, Runs, Shell, output, value};
