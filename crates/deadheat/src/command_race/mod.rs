//! A race of whole commands: from a [`CommandRaceSpec`] to a frozen plan.

mod parameters;
mod planning;
mod spec;
mod words;

pub use parameters::{Parameter, ParameterError};
pub use spec::{CommandRaceSpec, OutputChoice, Runs, Shell, SpecError};
