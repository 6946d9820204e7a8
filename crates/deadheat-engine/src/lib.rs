//! The only room of deadheat that reads a clock, starts a process or touches
//! the scheduler. It knows no statistics and no file formats: when to stop and
//! where records go is injected through traits of the model.

mod affinity;
mod clock;
#[cfg(feature = "commands")]
mod command_failure;
mod contender;
mod counters;
mod error;
mod executable;
mod function;
mod function_failure;
mod interrupt;
#[cfg(feature = "commands")]
mod launch_folder;
#[cfg(feature = "commands")]
mod launcher;
mod machine;
mod memory_layout;
mod observed;
mod order;
#[cfg(feature = "commands")]
mod owner;
mod placement;
mod procfs;
#[cfg(feature = "commands")]
mod profile;
mod random;
mod rounds;
mod run_delay;
mod session;
mod stack;
mod start_failure;
mod subprocess;
mod terminal;
mod usage;
#[cfg(feature = "commands")]
mod valgrind;
mod worker;

pub use affinity::{AffinityError, check_allowed, fastest_cores};
#[cfg(feature = "commands")]
pub use affinity::{cores_of_this_thread, pin_this_thread};
#[cfg(feature = "simulated")]
pub use clock::SimulatedClock;
pub use clock::{
    Clock, ClockCheck, ClockSource, Gauge, OsClock, Reading, SampleClock, unix_seconds,
};
#[cfg(feature = "commands")]
pub use command_failure::HarnessError;
#[cfg(feature = "commands")]
pub use contender::{
    ArgumentError, CommandContenders, CommandOptions, CommandTrial, HarnessContenders,
    HarnessOptions, HarnessPilot, HarnessSide, HarnessTrial, InTurns, IterationUsage, LaunchUsage,
    PYTHON_WITHOUT_PACKAGE, RequestedRepetitions, TrialOf, ValueReader, inspect, is_variable_name,
    may_be_pinned, repetitions_of_a_launch, requested_repetitions, tells_cpu_time, why_in_turns,
};
pub use contender::{FunctionContenders, FunctionOptions, LocalContenders, Piloted};
#[cfg(feature = "simulated")]
pub use contender::{Noise, SimulatedContenders, Simulation};
#[cfg(feature = "commands")]
pub use counters::Counters;
pub use counters::{Allocations, CountingAllocator, allocations_of_this_thread};
pub use error::EngineError;
pub use executable::{PLACEMENTS_VARIABLE, is_executable};
#[cfg(feature = "commands")]
pub use executable::{contents, find_executable, is_jar, rewritten_since};
pub use function::{
    AsyncExecutor, Asynchronous, ByReference, ByValue, ComparesOutputs, Concurrent, Disagreement,
    FunctionBenchmark, Pilot, least_warm_up_rounds, pilot,
};
pub use function_failure::{FunctionError, FunctionFailure};
pub use interrupt::Interrupts;
#[cfg(feature = "commands")]
pub use launcher::can_set_slices;
#[cfg(feature = "commands")]
pub use machine::boot;
pub use machine::{environment, machine};
pub use order::{Moment, Schedule};
#[cfg(feature = "commands")]
pub use owner::Owner;
pub use placement::LinkProgram;
#[cfg(feature = "commands")]
pub use placement::Placements;
#[cfg(feature = "commands")]
pub use profile::{CountedWorker, LaunchLength, Perf, WorkerProfiler};
pub use session::{Contenders, NeverStop, Progress, Session, StopRequest, Unwatched, Watcher};
pub use stack::with_enough_stack;
pub use terminal::{
    Ended, run_beside_the_answer, run_in_foreground, stdout_was_closed, terminal_width,
};
pub use usage::ThreadUsage;
#[cfg(feature = "commands")]
pub use valgrind::{COUNTED_PATTERN, Dump, ProfileError, Under, Valgrind, counted_words, run_hook};
pub use worker::{
    FirstRequest, ListRequest, ListedBenchmark, Source, WantedBenchmark, WorkerListing,
    WorkerPipes, WorkerProgram, WorkerSuite, serve,
};
#[cfg(feature = "commands")]
pub use worker::{HarnessListing, Inspected};
