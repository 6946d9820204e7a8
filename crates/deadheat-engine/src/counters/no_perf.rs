//! No hardware counters: a build for a system other than Linux.

use std::io;

use deadheat_model::Metric;

/// Number of hardware counters.
pub(crate) const COUNTER_COUNT: usize = 0;

/// Stands in for the counters of `perf.rs`; there are none.
pub enum Counters {}

impl Counters {
    /// The metrics, in the order of the readings.
    pub(crate) const METRICS: [Metric; COUNTER_COUNT] = [];

    /// Says that there are none.
    pub fn open() -> io::Result<Self> {
        Err(io::Error::from_raw_os_error(libc::ENOSYS))
    }

    /// Never called: there is nothing to call it on.
    pub(crate) fn finish(self) -> [u64; COUNTER_COUNT] {
        match self {}
    }

    /// Why counters cannot be opened, in words a user can act on.
    pub(crate) fn explain(_errno: i32) -> String {
        "deadheat reads none on this system".to_owned()
    }
}
