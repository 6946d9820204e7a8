//! Functions as contenders: how they are called, timed and kept apart from
//! what is not to be timed. What runs here runs inside one process; who
//! starts such processes stands in [`crate::worker`].

mod benchmark;
mod calls;
mod concurrent;
mod gauge;
mod pilot;

pub use benchmark::{ComparesOutputs, Disagreement, FunctionBenchmark};
pub use calls::{AsyncExecutor, Asynchronous, ByReference, ByValue};
pub use concurrent::Concurrent;
pub(crate) use gauge::fill;
pub use gauge::{Gauge, Reading};
pub use pilot::{Pilot, least_warm_up_rounds, pilot};
pub(crate) use pilot::{primes, warm_up};
