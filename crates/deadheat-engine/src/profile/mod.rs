//! Programs under Valgrind's callgrind, which counts every instruction: whole commands, and the
//! samples of workers.

mod command;
mod counted_worker;
mod error;
mod valgrind;

pub use counted_worker::CountedWorker;
pub use error::ProfileError;
pub use valgrind::{COUNTED_PATTERN, Dump, LaunchLength, Valgrind, counted_words};
pub(crate) use valgrind::{instructions_of_samples, is_counted};
