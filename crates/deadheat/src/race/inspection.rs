//! What kind of program it is, and what it can race.

use std::time::Duration;

use deadheat_engine::{Inspected, WorkerProgram, inspect};

use super::outcome::{RaceError, not_started, take_over_signals};

/// Finds out what kind of program this is, and what it can race. `patience` is
/// how long it may take.
pub fn inspect_program(
    program: &WorkerProgram,
    patience: Option<Duration>,
) -> Result<Inspected, RaceError> {
    let interrupts = take_over_signals()?;
    inspect(program, patience, &interrupts).map_err(|error| not_started(error, &interrupts))
}
