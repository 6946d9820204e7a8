//! What `deadheat doctor` reads and measures. Changes nothing: it reads what
//! the kernel publishes, opens a counter and closes it again, and spins.

mod advice;
mod aslr;
mod candidates;
mod control_group;
mod counters;
mod cpu_list;
mod cpuid;
mod examine;
mod findings;
mod frequency;
mod host;
mod interrupts;
mod judge;
mod load;
mod measured;
mod memory;
mod random_reads;
mod rival;
mod root;
mod spin;
mod stat;
mod system_clock;
mod thermal;
mod topology;
mod totals;
mod watch;
mod work;

pub use examine::{DoctorOptions, examine};
pub use root::Root;
