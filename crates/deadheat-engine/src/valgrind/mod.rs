//! Valgrind's callgrind, which counts every instruction: how it is started around commands and
//! workers, what it writes, and what goes wrong with it; and what other profilers share with it.

mod command;
mod counting;
mod error;
mod words;

pub use command::run_hook;
pub(crate) use command::{Counted, checked, run};
pub(crate) use counting::{Collect, dumps_of_samples, instructions_of_samples};
pub use counting::{Dump, Valgrind};
pub use error::{ProfileError, Under};
pub(crate) use words::is_counted;
pub use words::{COUNTED_PATTERN, counted_words};
