//! The progress of a calibration.

use deadheat_engine::{Progress, Watcher};
use deadheat_model::{RaceKind, Run};

/// The state of a calibration after a race.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationProgress {
    /// The kind that is raced.
    pub kind: RaceKind,
    /// Races of all kinds that are over.
    pub done: u64,
    /// Races of all kinds that are planned.
    pub planned: u64,
    /// Seconds it will still take; `None` while that is not known.
    pub seconds_left: Option<f64>,
}

/// Someone who watches a calibration.
pub trait CalibrationWatcher {
    /// A race is over.
    fn race_done(&mut self, progress: &CalibrationProgress);
}

/// Watches the races of a batch: when each was over, and that it is told.
pub(super) struct Stopwatch<'a> {
    /// WarningText after every race, with the number of those that are over.
    pub(super) tell: &'a mut dyn FnMut(u64),
    /// Nanoseconds from the start of the batch to the last block of each
    /// benchmark that is over, in the order they ended.
    pub(super) ends: Vec<(usize, u64)>,
}

impl<'a> Stopwatch<'a> {
    pub(super) fn new(tell: &'a mut dyn FnMut(u64)) -> Self {
        Self {
            tell,
            ends: Vec::new(),
        }
    }

    /// Seconds that the race of this benchmark took.
    pub(super) fn seconds(&self, benchmark: usize) -> Option<f64> {
        let place = self.ends.iter().position(|(one, _)| *one == benchmark)?;
        let before = match place {
            0 => 0,
            _ => self.ends[place - 1].1,
        };
        Some(self.ends[place].1.saturating_sub(before) as f64 / 1e9)
    }
}

impl Watcher for Stopwatch<'_> {
    // What is worked out for those who look would be part of the cost.
    fn watching(&self) -> bool {
        false
    }

    fn block_done(&mut self, _progress: &Progress<'_>) {}

    fn benchmark_done(&mut self, run: &Run, benchmark: usize) {
        self.ends.push((benchmark, run.elapsed_ns));
        (self.tell)(self.ends.len() as u64);
    }
}
