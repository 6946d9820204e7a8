//! Hardware counters of the commands, where the machine has them.

use std::io;

use deadheat_model::Metric;
use perf_event::events::{Event, Hardware};
use perf_event::{Builder, Counter};

/// Number of hardware counters.
pub(crate) const COUNTER_COUNT: usize = 4;

/// Hardware counters for the next command launched by this process.
///
/// Opened on the launcher as inherited and enabled on exec: the launcher's
/// own instructions are not counted, the command's are, and those of its
/// children. When they end the kernel adds their counts to ours.
///
/// Good for one launch. Kept open, they went blind after the first: when the
/// scheduler switches between parent and child before the exec it may swap
/// their (equal) sets of events, and then it is the parent's own event that
/// is enabled once and never again.
pub struct Counters {
    counters: Vec<Counter>,
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
    pub fn open() -> io::Result<Self> {
        let counters = Self::EVENTS
            .into_iter()
            .map(follow_commands)
            .collect::<io::Result<Vec<Counter>>>()?;
        Ok(Self { counters })
    }

    /// Events of the command that was launched meanwhile and has ended.
    pub(crate) fn finish(mut self) -> [u64; COUNTER_COUNT] {
        let mut events = [0; COUNTER_COUNT];
        for (count, counter) in events.iter_mut().zip(&mut self.counters) {
            *count = counter.read().unwrap_or(0);
        }
        events
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

/// A counter that counts nothing of this process and everything of the
/// programs it will launch.
fn follow_commands(event: impl Event) -> io::Result<Counter> {
    Builder::new(event)
        .observe_self()
        .inherit(true)
        .enable_on_exec(true)
        .exclude_kernel(true)
        .exclude_hv(true)
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_event::events::Software;

    #[test]
    fn a_counter_follows_a_command_and_leaves_its_launcher_out() {
        // Page faults are counted by the kernel itself, also on machines
        // without hardware counters.
        for _ in 0..5 {
            let Ok(mut faults) = follow_commands(Software::PAGE_FAULTS) else {
                return eprintln!("skipped: perf events are not permitted here");
            };
            std::hint::black_box(vec![1u8; 8 << 20]);
            assert_eq!(faults.read().unwrap(), 0, "our own faults do not count");
            std::process::Command::new("true").status().unwrap();
            let counted = faults.read().unwrap();
            assert!((10..1000).contains(&counted), "{counted} faults of `true`");
        }
    }

    #[test]
    fn counters_either_open_and_count_or_say_why_not() {
        match Counters::open() {
            Ok(counters) => assert_eq!(counters.finish().len(), COUNTER_COUNT),
            Err(error) => assert!(!Counters::explain(error.raw_os_error().unwrap_or(0)).is_empty()),
        }
    }

    #[test]
    fn a_missing_permission_names_the_setting_that_grants_it() {
        assert!(Counters::explain(libc::EACCES).contains("perf_event_paranoid"));
    }
}
