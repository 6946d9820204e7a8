//! Contenders: all that can be timed, block by block.

mod block;
#[cfg(feature = "commands")]
mod command;
#[cfg(feature = "commands")]
mod command_launch;
mod function;
mod function_pilot;
#[cfg(feature = "commands")]
mod harness;
#[cfg(feature = "commands")]
mod inspection;
mod local;
#[cfg(feature = "commands")]
mod printed_value;
mod process_layout;
#[cfg(feature = "simulated")]
pub(crate) mod simulated;
mod started_ahead;
mod witness;
mod worker_session;
mod workers;

#[cfg(feature = "commands")]
pub use command::{CommandContenders, CommandOptions};
pub use function::FunctionContenders;
pub use function_pilot::Piloted;
#[cfg(feature = "commands")]
pub use harness::{
    ArgumentError, HarnessContenders, HarnessOptions, HarnessPilot, HarnessSide,
    RequestedRepetitions, may_be_pinned, repetitions_of_a_launch, requested_repetitions,
};
#[cfg(feature = "commands")]
pub(crate) use harness::{filter, startable};
#[cfg(feature = "commands")]
pub use inspection::inspect;
pub use local::LocalContenders;
#[cfg(feature = "commands")]
pub use printed_value::ValueReader;
#[cfg(feature = "simulated")]
pub use simulated::{Noise, SimulatedContenders, Simulation};
pub use workers::FunctionOptions;
#[cfg(feature = "commands")]
pub(crate) use workers::START_UP;
