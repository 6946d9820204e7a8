//! Commands that run side by side: the results of trial launches and the parameters of the shared
//! core.

use std::collections::HashMap;

use deadheat_model::{Plan, SideBySide};

use crate::launcher::wire::{Measured, Sharing};

/// The resource usage of one launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaunchUsage {
    /// The time from the start of the launch to its end, in nanoseconds.
    pub wall_ns: f64,
    /// The CPU time of the process and its children, in nanoseconds.
    pub cpu_ns: f64,
    /// The scheduling delay in nanoseconds; `None` if it cannot be separated from the time that the
    /// command waits for its own threads or children.
    pub delay_ns: Option<f64>,
    /// The peak resident memory in bytes.
    pub peak_rss_bytes: f64,
    /// The number of minor page faults.
    pub minor_faults: f64,
    /// True if the launch wrote to files on a disk.
    pub wrote_files: bool,
}

impl LaunchUsage {
    pub(super) fn of(measured: &Measured) -> Self {
        let [user, system, peak_rss, minor_faults, ..] = measured.usage;
        Self {
            wall_ns: measured.wall_ns as f64,
            cpu_ns: (user + system) as f64,
            delay_ns: (measured.keep_waiting.is_none()).then_some(measured.run_delay_ns as f64),
            peak_rss_bytes: peak_rss as f64,
            minor_faults: minor_faults as f64,
            wrote_files: measured.wrote_files,
        }
    }
}

/// The resource usage in trial launches of a benchmark, in the order of its contenders.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandTrial {
    /// The usage of each contender alone.
    pub alone: Vec<LaunchUsage>,
    /// The usage of each contender with all of them side by side; `None` if a launch failed.
    pub together: Option<Vec<LaunchUsage>>,
}

pub(super) fn side_by_side(plan: &Plan) -> HashMap<usize, SideBySide> {
    let benchmarks = plan.benchmarks.iter().enumerate();
    benchmarks
        .filter_map(|(index, benchmark)| Some((index, benchmark.side_by_side?)))
        .collect()
}

pub(super) fn sharing(how: SideBySide, core: u32) -> Sharing {
    let slice_ms = how.slice.map_or(0, |slice| slice.as_millis());
    Sharing {
        core: core as u16,
        slice_ms: slice_ms.min(u128::from(u16::MAX)) as u16,
        trial_ms: 0,
    }
}
