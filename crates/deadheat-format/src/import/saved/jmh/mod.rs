//! The JSON of the Java Microbenchmark Harness.

mod file;
mod unit;

pub(super) use file::read;
