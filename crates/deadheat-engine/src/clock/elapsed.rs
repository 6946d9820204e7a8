//! The seam between the session and the clock that paces it.

/// Elapsed time of a run, for budgets and progress. Samples are timed where
/// they are taken, not here.
pub trait Clock {
    /// Nanoseconds since the clock was started.
    fn elapsed_ns(&self) -> u64;
}
