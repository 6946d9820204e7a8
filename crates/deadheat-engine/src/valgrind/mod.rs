//! Valgrind's callgrind, which counts every instruction: how it is started around commands and
//! workers, what it writes, and what goes wrong with it.

mod command;
mod counting;
mod error;

pub(crate) use command::Counted;
pub use counting::{COUNTED_PATTERN, Dump, Valgrind, counted_words};
pub(crate) use counting::{Collect, dumps_of_samples, instructions_of_samples, is_counted};
pub use error::ProfileError;
