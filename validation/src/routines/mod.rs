//! Routines that `log_normal` measures: memory and computing, each by itself.

pub mod chase;
pub mod compute;
