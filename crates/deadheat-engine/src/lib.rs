//! The measurement engine: it runs the contenders of a plan, times them and controls where they
//! run. It contains neither statistics nor file formats: traits of the model decide when to stop
//! and where records are stored.

mod affinity;
mod clock;
#[cfg(feature = "commands")]
mod command_failure;
mod contender;
mod counters;
#[cfg(feature = "commands")]
mod deadline;
mod error;
mod executable;
mod function;
mod function_failure;
mod interrupt;
#[cfg(feature = "commands")]
mod launch_folder;
#[cfg(feature = "commands")]
mod launcher;
#[cfg(feature = "commands")]
mod lone_worker;
mod machine;
mod mapped_files;
mod memory_layout;
mod observed;
mod order;
#[cfg(feature = "commands")]
mod owner;
mod page_draws;
mod placement;
mod procfs;
mod random;
mod rounds;
mod run_delay;
mod session;
mod stack;
mod start_failure;
mod subprocess;
mod terminal;
#[cfg(feature = "commands")]
mod tool;
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
    PYTHON_WITHOUT_PACKAGE, RequestedRepetitions, TrialOf, ValueReader, google_benchmark_launch,
    inspect, is_variable_name, may_be_pinned, repetitions_of_a_launch, requested_repetitions,
    tells_cpu_time, why_in_turns,
};
pub use contender::{FunctionContenders, FunctionOptions, LocalContenders, Piloted};
#[cfg(feature = "simulated")]
pub use contender::{Noise, SimulatedContenders, Simulation};
pub use counters::{Allocations, CountingAllocator, allocations_of_this_thread};
#[cfg(feature = "commands")]
pub use counters::{Counters, opens_a_clock};
#[cfg(feature = "commands")]
pub use deadline::Deadline;
pub use error::EngineError;
pub use executable::{PLACEMENTS_VARIABLE, is_executable};
#[cfg(feature = "commands")]
pub use executable::{
    contents, files_of_hooks, find_executable, is_jar, rewritten_since, scripts_and_input,
};
pub use function::{
    AsyncExecutor, Asynchronous, ByReference, ByValue, ComparesOutputs, Concurrent, Disagreement,
    FunctionBenchmark, Pilot, least_warm_up_rounds, pilot,
};
pub use function_failure::{FunctionError, FunctionFailure};
pub use interrupt::{Interrupts, held_back_signal, keep_status_of_children, outlive_file_limits};
#[cfg(feature = "commands")]
pub use launch_folder::{LaunchFolder, NumberedFile};
#[cfg(feature = "commands")]
pub use launcher::{can_set_slices, can_share_memory};
#[cfg(feature = "commands")]
pub use lone_worker::{LoneWorker, LoneWorkerError};
#[cfg(feature = "commands")]
pub use machine::{boot, user};
pub use machine::{core_capacity, core_speed, environment, machine};
pub use order::{Moment, Schedule};
#[cfg(feature = "commands")]
pub use owner::Owner;
pub use placement::LinkProgram;
#[cfg(feature = "commands")]
pub use placement::Placements;
pub use session::{Contenders, NeverStop, Progress, Session, StopRequest, Unwatched, Watcher};
pub use stack::with_enough_stack;
pub use start_failure::not_executable;
pub use terminal::{
    Ended, discard_typed_input, run_in_foreground, stdout_was_closed, terminal_width,
};
#[cfg(feature = "commands")]
pub use tool::{Captured, Ending, Tool, ToolError, ToolInput};
pub use usage::ThreadUsage;
#[cfg(feature = "commands")]
pub use valgrind::{
    COUNTED_PATTERN, Valgrind, ValgrindError, callgrind_dumps, callgrind_dumps_of_samples,
    counted_words, valgrind_logs, without_valgrind,
};
#[doc(hidden)]
pub use worker::message_survives;
pub use worker::{
    FirstRequest, ListRequest, ListedBenchmark, Source, WantedBenchmark, WorkerListing,
    WorkerPipes, WorkerProgram, WorkerSuite, serve,
};
#[cfg(feature = "commands")]
pub use worker::{HarnessListing, Inspected};
