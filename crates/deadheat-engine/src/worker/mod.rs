//! Worker processes: the same program started anew for every replicate, told
//! over a pair of pipes what to call and how often.
//!
//! A fresh process draws its memory layout anew, which is why it and not the
//! call is what the statistics count. What a function does to its process
//! (panic, abort, hang, exit, a hundred threads) costs that process and
//! nothing else.

mod await_replies;
mod baton;
mod blame;
mod exit_watcher;
mod failure;
mod listing;
mod panics;
mod pipes;
mod process;
mod procfs;
mod protocol;
mod relay;
mod serve;
mod start;
mod stderr_tail;
mod trace;
mod turns;
mod wire;

pub(crate) use await_replies::{Patience, WaitError, await_all};
pub(crate) use baton::Baton;
pub(crate) use exit_watcher::{ExitWatcher, adopt_orphans, collect_group, end_strays};
pub use failure::{FunctionCause, FunctionFailure};
#[cfg(feature = "commands")]
pub use listing::Inspected;
pub use listing::{ListedBenchmark, WorkerListing};
pub use pipes::WorkerPipes;
pub(crate) use process::WorkerProcess;
pub(crate) use protocol::{BlockRequest, PROTOCOL, Problem, Reply, Request, SEEDS};
pub(crate) use relay::Relay;
pub use serve::{WorkerSuite, serve};
pub use start::WorkerProgram;
pub(crate) use start::{MARK_VARIABLE, WorkerStart, next_mark};
#[cfg(feature = "commands")]
pub(crate) use stderr_tail::in_one_line;
