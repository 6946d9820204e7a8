//! What can be timed, block by block.

#[cfg(feature = "commands")]
mod cause;
#[cfg(feature = "commands")]
mod command;
#[cfg(feature = "commands")]
mod command_failure;
#[cfg(feature = "commands")]
mod command_images;
#[cfg(feature = "commands")]
mod command_links;
mod contenders;
mod function;
mod function_links;
#[cfg(feature = "commands")]
mod google_benchmark;
#[cfg(feature = "commands")]
mod inspection;
mod local;
#[cfg(feature = "commands")]
mod output_check;
mod process_layout;
mod readings;
mod run_position;
#[cfg(feature = "simulated")]
pub(crate) mod simulated;
mod worker_session;
mod workers;

#[cfg(feature = "commands")]
pub use cause::{Cause, ContenderFailure};
#[cfg(feature = "commands")]
pub use command::{CommandContenders, CommandOptions};
pub use contenders::Contenders;
pub use function::{FunctionContenders, Piloted};
#[cfg(feature = "commands")]
pub use google_benchmark::{
    ArgumentProblem, GoogleBenchmarkArguments, GoogleBenchmarkCause, GoogleBenchmarkContenders,
    GoogleBenchmarkOptions, GoogleBenchmarkPilot, GoogleBenchmarkProblem, GoogleBenchmarkSide,
};
#[cfg(feature = "commands")]
pub use inspection::{InspectionFailure, inspect};
pub use local::LocalContenders;
#[cfg(feature = "simulated")]
pub use simulated::{Noise, SimulatedContenders, Simulation};
pub use workers::FunctionOptions;
