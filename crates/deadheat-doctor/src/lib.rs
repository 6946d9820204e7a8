//! The checkup of `deadheat doctor`: how a machine disturbs measurements. It changes no settings:
//! it reads files of the kernel, opens and closes a performance counter, and runs busy loops. The
//! result is a `Checkup` of the model.

mod conditions;
mod cores;
mod examine;
mod findings;
mod frequency;
mod host;
mod memory;
mod procfs;
mod scheduler;
mod sharing;
mod watch;

pub use conditions::conditions;
pub use examine::{DoctorOptions, examine};
pub use procfs::Root;
