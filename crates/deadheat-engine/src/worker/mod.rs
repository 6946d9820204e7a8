//! Worker processes: the same program started anew for every replicate, told
//! over a pair of pipes what to call and how often.
//!
//! A fresh process draws its memory layout anew, which is why it and not the
//! call is what the statistics count. What a function does to its process
//! (panic, abort, hang, exit, a hundred threads) costs that process and
//! nothing else.

mod await_replies;
mod baton;
mod pipes;
mod process;
mod protocol;
mod serve;

pub(crate) use await_replies::{Patience, WaitError, await_all};
pub(crate) use baton::{Baton, Relay};
pub use pipes::WorkerPipes;
pub use process::WorkerProgram;
#[cfg(feature = "commands")]
pub(crate) use process::seed_hashes;
pub(crate) use process::{WorkerProcess, WorkerStart};
pub(crate) use protocol::{BlockRequest, PROTOCOL, PrepareRequest, Problem, Reply, Request, SEEDS};
#[cfg(feature = "commands")]
pub use protocol::{HarnessListing, Inspected};
pub use protocol::{ListedBenchmark, WorkerListing};
pub use serve::{Asked, ListRequest, WantedBenchmark, WorkerSuite, serve};
