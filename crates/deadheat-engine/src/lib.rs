//! The only room of deadheat that reads a clock, starts a process or touches
//! the scheduler. It knows no statistics and no file formats: when to stop and
//! where records go is injected through traits of the model.

mod affinity;
mod allocation;
mod clock;
mod contender;
mod counters;
mod error;
mod interrupt;
mod launcher;
mod machine;
mod order;
mod random;
mod session;
mod williams;

pub use affinity::AffinityError;
pub use allocation::{Allocations, CountingAllocator, allocations_of_this_thread};
pub use clock::{
    Clock, ClockCheck, ClockSource, OsClock, SampleClock, SimulatedClock, unix_seconds,
};
pub use contender::simulated::{Noise, SimulatedContenders, Simulation};
pub use contender::{CommandContenders, CommandOptions, Contenders};
pub use counters::{ThreadUsage, UsageDifference};
pub use error::{Cause, ContenderFailure, EngineError, Moment};
pub use interrupt::Interrupts;
pub use launcher::{ImageError, LauncherError};
pub use machine::environment;
pub use order::Schedule;
pub use session::{NeverStop, Progress, Session, StopRequest, Unwatched, Watcher};
