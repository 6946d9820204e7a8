//! The line on the terminal that shows how far a calibration is.

use std::io::IsTerminal;

use deadheat::calibration::{CalibrationProgress, CalibrationWatcher};
use deadheat::report::{CalibrationStanding, calibration_line};
use deadheat::terminal;
use indicatif::ProgressBar;

use crate::progress::line;

/// Draws on standard error when that is a terminal; otherwise does nothing.
pub struct LiveCalibration {
    bar: ProgressBar,
}

impl LiveCalibration {
    /// Nothing was raced yet.
    pub fn new(quiet: bool) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        Self { bar: line(shown) }
    }

    /// Takes the line away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for LiveCalibration {
    fn drop(&mut self) {
        self.finish();
    }
}

impl CalibrationWatcher for LiveCalibration {
    fn race_done(&mut self, progress: &CalibrationProgress) {
        let standing = CalibrationStanding {
            kind: progress.kind,
            done: progress.done,
            planned: progress.planned,
            seconds_left: progress.seconds_left,
        };
        // As in races, a few columns are left for what the terminal echoes.
        let width = terminal::width_of_stderr().saturating_sub(4);
        self.bar.set_message(calibration_line(&standing, width));
        self.bar.tick();
    }
}
