//! Contenders: functions, commands and benchmarks of harnesses, timed block by block.

mod block;
#[cfg(feature = "commands")]
mod command;
#[cfg(feature = "commands")]
mod command_launch;
#[cfg(feature = "commands")]
mod command_trial;
mod function;
mod function_pilot;
#[cfg(feature = "commands")]
mod harness;
#[cfg(feature = "commands")]
mod inspection;
mod local;
mod next_benchmark;
mod one_start;
#[cfg(feature = "commands")]
mod printed_value;
mod process_layout;
#[cfg(feature = "commands")]
mod python_file;
#[cfg(feature = "commands")]
mod side_by_side;
#[cfg(feature = "simulated")]
pub(crate) mod simulated;
mod started_ahead;
mod witness;
mod worker_session;
mod workers;

#[cfg(feature = "commands")]
pub use command::{CommandContenders, CommandOptions};
#[cfg(feature = "commands")]
pub use command_launch::is_variable_name;
pub use function::FunctionContenders;
pub use function_pilot::Piloted;
#[cfg(feature = "commands")]
pub use harness::{
    ArgumentError, HarnessContenders, HarnessOptions, HarnessPilot, HarnessSide, HarnessTrial,
    InTurns, IterationUsage, RequestedRepetitions, TrialOf, google_benchmark_launch, may_be_pinned,
    repetitions_of_a_launch, requested_repetitions, tells_cpu_time, why_in_turns,
};
#[cfg(feature = "commands")]
pub use inspection::{PYTHON_WITHOUT_PACKAGE, inspect};
pub use local::LocalContenders;
#[cfg(feature = "commands")]
pub use printed_value::ValueReader;
#[cfg(feature = "commands")]
pub use side_by_side::{CommandTrial, LaunchUsage};
#[cfg(feature = "simulated")]
pub use simulated::{Noise, SimulatedContenders, Simulation};
pub use workers::FunctionOptions;
#[cfg(feature = "commands")]
pub(crate) use workers::START_UP;
