//! Commands side by side: what trial launches show of them, and what they share.

use std::collections::HashMap;

use deadheat_model::{Plan, SideBySide};

use crate::launcher::wire::{Measured, Sharing};

/// The usage of one launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaunchUsage {
    /// Time from its start to its end, in nanoseconds.
    pub wall_ns: f64,
    /// CPU time of it and its children, in nanoseconds.
    pub cpu_ns: f64,
    /// Time that it waited for a core, in nanoseconds; `None` if that cannot be told from waiting
    /// for its own threads or children.
    pub delay_ns: Option<f64>,
    /// Peak resident memory, in bytes.
    pub peak_rss_bytes: f64,
    /// Pages of memory that it touched for the first time.
    pub minor_faults: f64,
    /// True if it wrote to files on a disk.
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

/// Trial launches of the contenders of a benchmark, in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandTrial {
    /// Each alone.
    pub alone: Vec<LaunchUsage>,
    /// All of them side by side; `None` if one failed.
    pub together: Option<Vec<LaunchUsage>>,
}

/// The benchmarks whose contenders run side by side.
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
