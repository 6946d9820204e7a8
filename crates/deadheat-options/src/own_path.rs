//! The path of this program.

use std::path::PathBuf;

use deadheat::parts::exit::Failure;

/// Returns the path of this program. Builds start compilers through this program, so that it records
/// links, and races of servers start it as their worker.
pub fn this_program() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|problem| Failure::Internal(format!("deadheat cannot find itself: {problem}")))
}
