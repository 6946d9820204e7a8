//! Everybody who runs races: one file each for how it is asked and how its answer is read.

mod bench_diff;
mod criterion;
mod deadheat;
mod divan;
mod hyperfine;
mod pyperf;
mod tango;
mod tool;
mod zenbench;

pub use tool::{ALPHA, Tool};
