//! Whole races on a simulated clock: the noise, one race, and the outcomes of many. The program
//! that writes `docs/calibration.md` and the tests of the promises use them.

pub mod families;
pub mod race;
pub mod tally;
