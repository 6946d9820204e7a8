//! The JSON of Google Benchmark.

mod file;
mod row;

pub(super) use file::read;
