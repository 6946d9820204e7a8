//! A race of whole commands: from a [`CommandRaceSpec`] to a frozen plan.

mod hints;
mod parameters;
mod placeholders;
mod planning;
mod runs;
mod spec;
mod words;

pub use parameters::{Parameter, ParameterError};
pub use runs::Runs;
pub use spec::{CommandRaceSpec, OutputChoice, Shell, SpecError};
