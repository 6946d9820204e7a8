//! `deadheat history`: levels, steps and creep of benchmarks over commits, from the races between
//! them.

mod accept;
mod add;
mod command;
mod extend;
mod push;
mod repository;
mod show;

pub use command::{EXAMPLES, HistoryArgs, history};
