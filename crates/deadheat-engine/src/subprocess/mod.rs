//! Processes that deadheat starts and supervises itself: each leads a group of
//! its own and is killed with all it started, at a time-out, at an interrupt or
//! when deadheat dies.

mod captured;
mod group;
mod procfs;
mod stderr_tail;

#[cfg(feature = "commands")]
pub(crate) use captured::Captured;
#[cfg(feature = "commands")]
pub use captured::Ending;
pub(crate) use captured::{Answer, run_captured};
pub(crate) use group::ProcessGroup;
pub(crate) use procfs::{BatonPipes, cpu_ns, is_stopped, resident_bytes, threads};
pub(crate) use stderr_tail::StderrTail;
#[cfg(feature = "commands")]
pub(crate) use stderr_tail::in_one_line;
