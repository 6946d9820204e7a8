//! The only room of deadheat that reads a clock, starts a process or touches
//! the scheduler. It knows no statistics and no file formats: when to stop and
//! where records go is injected through traits of the model.

mod affinity;
#[cfg(feature = "commands")]
mod affinity_guard;
mod allocation;
mod clock;
mod contender;
mod cores;
mod counters;
mod error;
#[cfg(feature = "commands")]
mod foreground;
mod function;
mod interrupt;
#[cfg(feature = "commands")]
mod launcher;
mod machine;
mod order;
mod path_padding;
mod placement;
mod random;
mod session;
mod subprocess;
mod terminal;
mod williams;
mod worker;

pub use affinity::{AffinityError, check_allowed};
#[cfg(feature = "commands")]
pub use affinity::{cores_of_this_thread, pin_this_thread};
pub use allocation::{Allocations, CountingAllocator, allocations_of_this_thread};
#[cfg(feature = "simulated")]
pub use clock::SimulatedClock;
pub use clock::{Clock, ClockCheck, ClockSource, OsClock, SampleClock, unix_seconds};
#[cfg(feature = "commands")]
pub use contender::{
    ArgumentProblem, Cause, CommandContenders, CommandOptions, ContenderFailure,
    GoogleBenchmarkArguments, GoogleBenchmarkCause, GoogleBenchmarkContenders,
    GoogleBenchmarkOptions, GoogleBenchmarkPilot, GoogleBenchmarkProblem, GoogleBenchmarkSide,
    InspectionFailure, inspect,
};
pub use contender::{Contenders, FunctionContenders, FunctionOptions, LocalContenders, Piloted};
#[cfg(feature = "simulated")]
pub use contender::{Noise, SimulatedContenders, Simulation};
pub use cores::fastest_cores;
#[cfg(feature = "commands")]
pub use counters::Counters;
pub use counters::{ThreadUsage, UsageDifference};
pub use error::{EngineError, Moment};
#[cfg(feature = "commands")]
pub use foreground::{Ended, run_beside_the_answer, run_in_foreground};
pub use function::{
    AsyncExecutor, Asynchronous, ByReference, ByValue, ComparesOutputs, Concurrent, Disagreement,
    FunctionBenchmark, Gauge, Pilot, Reading, least_warm_up_rounds, pilot,
};
pub use interrupt::Interrupts;
#[cfg(feature = "commands")]
pub use launcher::{ImageError, LauncherError};
pub use machine::{environment, machine};
pub use order::Schedule;
#[cfg(feature = "commands")]
pub use placement::{CommandPlacements, find_executable, rewritten_since};
pub use placement::{LinkProgram, PLACEMENTS_VARIABLE, Variant, is_executable};
pub use session::{NeverStop, Progress, Session, StopRequest, Unwatched, Watcher};
pub use terminal::{stdout_was_closed, terminal_width};
#[cfg(feature = "commands")]
pub use worker::Inspected;
pub use worker::{
    FunctionCause, FunctionFailure, ListedBenchmark, WorkerListing, WorkerPipes, WorkerProgram,
    WorkerSuite, serve,
};
