//! Worker processes: the same program started anew for every replicate, told
//! over a pair of pipes what to call and how often.
//!
//! A fresh process draws its memory layout anew, which is why it and not the
//! call is what the statistics count. What a function does to its process
//! (panic, abort, hang, exit, a hundred threads) costs that process and
//! nothing else.

mod baton;
mod death;
mod failure;
mod hearing;
mod listing;
mod process;
mod protocol;
mod serve;
mod trace;
mod wire;

pub(crate) use baton::Baton;
pub(crate) use death::{DeathWatch, adopt_orphans, collect_group};
pub use failure::{FunctionCause, FunctionFailure};
pub(crate) use hearing::{Silence, hear, hear_all};
pub use listing::{Inspected, ListedBenchmark, WorkerListing};
pub use process::WorkerProgram;
pub(crate) use process::{WorkerProcess, WorkerStart};
pub(crate) use protocol::{BlockRequest, PROTOCOL, Problem, Reply, Request, SEEDS};
pub use serve::{WorkerPipes, WorkerSuite, serve};
