//! Refuses programs with benchmarks, on systems other than Linux.

use deadheat_model::Program;

use crate::exit::Failure;
use crate::system::needs_linux;

/// Refuses to race a program.
pub fn program(text: &str) -> Result<Program, Failure> {
    Err(Failure::Usage(needs_linux(&format!("a race of {text}"))))
}

/// Returns false, because no program is started here.
pub fn is_program(_text: &str) -> bool {
    false
}
