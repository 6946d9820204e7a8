//! The line on the terminal that shows how far a race is.

use std::io::IsTerminal;
use std::time::Duration;

use deadheat::engine::{Progress, Watcher};
use deadheat::model::Plan;
use deadheat::report::{Glyphs, progress_line};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::terminal;

/// Draws on standard error when that is a terminal; otherwise does nothing.
pub struct LiveProgress {
    bar: ProgressBar,
    shown: bool,
    /// Names of each benchmark's contenders.
    contenders: Vec<Vec<String>>,
    glyphs: Glyphs,
}

impl LiveProgress {
    /// Progress of a race of `plan`.
    pub fn new(plan: &Plan, quiet: bool) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        // Drawn at most ten times a second, between blocks, by the thread
        // that waits anyway: nothing of it runs while a command is timed.
        let target = if shown {
            ProgressDrawTarget::stderr_with_hz(10)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            bar.set_style(style);
        }
        let contenders = plan
            .benchmarks
            .iter()
            .map(|benchmark| {
                benchmark
                    .contenders
                    .iter()
                    .map(|c| c.name.clone())
                    .collect()
            })
            .collect();
        let glyphs = Glyphs::new(terminal::speaks_unicode());
        Self {
            bar,
            shown,
            contenders,
            glyphs,
        }
    }

    /// Takes the line away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for LiveProgress {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Watcher for LiveProgress {
    fn watching(&self) -> bool {
        self.shown
    }

    fn block_done(&mut self, progress: &Progress<'_>) {
        let names = &self.contenders[progress.index];
        let candidate = match &progress.standing {
            Some(standing) if names.len() > 2 => names.get(standing.candidate),
            _ => None,
        };
        let benchmark = if progress.benchmarks > 1 {
            format!(
                "{} ({}/{})",
                progress.benchmark,
                progress.index + 1,
                progress.benchmarks
            )
        } else {
            // The only benchmark needs no name.
            String::new()
        };
        let left = Duration::from_nanos(progress.left_at_most_ns);
        let line = deadheat::report::Progress {
            benchmark: &benchmark,
            candidate: candidate.map(String::as_str),
            blocks: progress.blocks,
            blocks_at_most: progress.blocks_at_most,
            standing: progress.standing,
            seconds_left: Some(left.as_secs_f64()),
        };
        // Room for the ^C that a terminal echoes: a line that wraps is not
        // taken away again.
        let width = terminal::progress_width().saturating_sub(4);
        self.bar
            .set_message(progress_line(&line, width, self.glyphs));
        self.bar.tick();
    }
}
