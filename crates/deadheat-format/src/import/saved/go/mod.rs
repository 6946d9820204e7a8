//! What Go's `testing` prints.

mod file;
mod line;
mod unit;

pub(super) use file::read;
