//! Functions as contenders: how they are called, timed and kept apart from
//! what is not to be timed. What runs here runs inside one process; who
//! starts such processes stands in [`crate::worker`].

mod asynchronous;
mod benchmark;
mod by_reference;
mod by_value;
mod concurrent;
mod gauge;
mod layout;
mod outputs;
mod pilot;
mod priming;
mod single_contender;
mod warm_up;

pub use asynchronous::{AsyncExecutor, Asynchronous};
pub use benchmark::{ComparesOutputs, Disagreement, FunctionBenchmark};
pub use by_reference::ByReference;
pub use by_value::ByValue;
pub use concurrent::Concurrent;
pub use gauge::{Gauge, Reading};
pub(crate) use layout::{hold_heap, with_stack_offset};
pub use pilot::{Pilot, pilot};
pub(crate) use priming::primes;
pub(crate) use single_contender::SingleContender;
pub use warm_up::least_warm_up_rounds;
pub(crate) use warm_up::warm_up;
