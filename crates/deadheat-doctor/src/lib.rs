//! The checkup that `deadheat doctor` makes: what a machine does to measurements. It changes
//! nothing: it reads what the kernel publishes, opens a counter and closes it again, and spins.
//! What it finds is a `Checkup` of the model.

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
