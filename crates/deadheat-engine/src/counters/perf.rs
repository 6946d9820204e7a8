//! Hardware counters of the commands, where the machine has them.

use std::io;

use deadheat_model::Metric;
use perf_event::events::Hardware;
use perf_event::{Builder, Counter};

/// Number of hardware counters.
pub(crate) const COUNTER_COUNT: usize = 4;

/// Hardware counters that follow every command launched by this process.
///
/// Opened on the launcher as inherited and enabled on exec: the launcher's
/// own instructions are not counted, a command's are, and those of its
/// children. When a command ends the kernel adds its counts to ours, so the
/// difference between two readings is what the command did.
pub(crate) struct Counters {
    counters: Vec<Counter>,
    last: [u64; COUNTER_COUNT],
}

impl Counters {
    /// The metrics, in the order of the readings.
    pub(crate) const METRICS: [Metric; COUNTER_COUNT] = [
        Metric::Cycles,
        Metric::Instructions,
        Metric::BranchMisses,
        Metric::CacheMisses,
    ];
    const EVENTS: [Hardware; COUNTER_COUNT] = [
        Hardware::CPU_CYCLES,
        Hardware::INSTRUCTIONS,
        Hardware::BRANCH_MISSES,
        Hardware::CACHE_MISSES,
    ];

    /// Opens all counters for the calling process, or says why it cannot. All
    /// or none: a table with half of its columns explains less than a note.
    pub(crate) fn open() -> io::Result<Self> {
        let counters = Self::EVENTS
            .into_iter()
            .map(|event| {
                Builder::new(event)
                    .observe_self()
                    .inherit(true)
                    .enable_on_exec(true)
                    .exclude_kernel(true)
                    .exclude_hv(true)
                    .build()
            })
            .collect::<io::Result<Vec<Counter>>>()?;
        Ok(Self {
            counters,
            last: [0; COUNTER_COUNT],
        })
    }

    /// Events since the last reading.
    pub(crate) fn take(&mut self) -> [u64; COUNTER_COUNT] {
        let mut delta = [0; COUNTER_COUNT];
        for (index, counter) in self.counters.iter_mut().enumerate() {
            let now = counter.read().unwrap_or(self.last[index]);
            delta[index] = now.saturating_sub(self.last[index]);
            self.last[index] = now;
        }
        delta
    }

    /// Why counters cannot be opened, in words a user can act on.
    pub(crate) fn explain(errno: i32) -> String {
        match errno {
            libc::EACCES | libc::EPERM => {
                "not permitted; `sysctl kernel.perf_event_paranoid=1` allows them".to_owned()
            }
            libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP => {
                "this machine offers none, as most virtual machines".to_owned()
            }
            libc::ENOSYS => "the kernel was built without them".to_owned(),
            other => io::Error::from_raw_os_error(other).to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_either_open_and_count_or_say_why_not() {
        match Counters::open() {
            Ok(mut counters) => assert_eq!(counters.take().len(), COUNTER_COUNT),
            Err(error) => assert!(!Counters::explain(error.raw_os_error().unwrap_or(0)).is_empty()),
        }
    }

    #[test]
    fn a_missing_permission_names_the_setting_that_grants_it() {
        assert!(Counters::explain(libc::EACCES).contains("perf_event_paranoid"));
    }
}
