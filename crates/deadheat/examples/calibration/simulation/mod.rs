//! Whole races on a simulated clock: the noise, the run of one race, and the outcomes of many. The
//! program that calibrates shares them with the test of its promises, `tests/promises.rs`.

pub mod families;
pub mod race;
pub mod tally;
