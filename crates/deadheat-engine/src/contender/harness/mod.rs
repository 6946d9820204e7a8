//! Executables of harnesses that know nothing of deadheat: a fresh launch for every slot of a
//! replicate, whose repetitions are the samples of its blocks. The particulars of a harness are in
//! the file of its name; all else is common.

mod adapter;
mod adapters;
mod contenders;
mod criterion;
mod divan;
mod go;
mod google_benchmark;
mod jmh;
mod launch;
mod pilot;
mod pyperf;
mod warm_up;

pub use adapter::{ArgumentError, Wishes};
pub(crate) use adapters::Asked;
pub use adapters::{may_be_pinned, repetitions_of_a_launch, wishes};
pub use contenders::HarnessContenders;
pub(crate) use google_benchmark::{VARIABLES, filter};
pub use launch::HarnessOptions;
pub(crate) use launch::startable;
pub use pilot::{HarnessPilot, HarnessSide};
