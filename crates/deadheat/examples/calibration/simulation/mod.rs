//! Whole races on a clock that only the simulated contenders turn: what they
//! meet, how one is run, and what became of many. Shared by the program that
//! calibrates and by the test that keeps its promises, `tests/promises.rs`.

pub mod families;
pub mod race;
pub mod tally;
