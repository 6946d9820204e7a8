//! Real workloads to race, each in a file of its own, and each with tests of its answer: a race between functions that compute
//! different things is not worth watching.
//!
//! Every function that is meant to be raced is `#[inline(never)]`. A benchmark that inlines its workload measures a copy fitted to
//! the benchmark: loops that know their count, branches that know their argument. Users get the function, so the race does too.
//! Inputs come from a seed ([`random::SplitMix64`]) and are the same on every machine; no workload reads a clock.

pub mod allocators;
pub mod async_calls;
pub mod busy_work;
pub mod locks;
pub mod pointer_chasing;
pub mod random;
pub mod utf8;
