//! Parts that both tables of the page share: how it was measured, and cells.

use crate::Setting;
use crate::comparison::Comparison;
use crate::errors::rms;
use crate::observation::Observation;
use crate::rows::{Row, Tool};
use crate::turns::SEED;
use deadheat_validation::prelude::*;

pub const DASH: &str = "–";

pub struct Found {
    pub comparisons: Vec<Comparison>,
    pub walls: Vec<f64>,
    pub wanted: usize,
    /// True if deadheat found it.
    ours: bool,
}

impl Found {
    pub fn of(setting: &Setting, row: &Row, tool: Tool) -> Self {
        let name = row.name();
        let here = |one: &&Observation| one.row == name && one.tool == tool.key();
        let here = setting.observations.iter().filter(here);
        let (comparisons, walls) = here.map(|one| (one.found, one.wall)).unzip();
        Self { comparisons, walls, wanted: row.repeats, ours: tool.is_deadheat() }
    }

    pub fn count(&self) -> usize {
        self.comparisons.len()
    }

    /// Mean seconds of a comparison, `None` before the first.
    pub fn mean_wall(&self) -> Option<f64> {
        let sum: f64 = self.walls.iter().sum();
        (!self.walls.is_empty()).then(|| sum / self.walls.len() as f64)
    }

    pub fn repeats(&self) -> String {
        match self.count() {
            count if count < self.wanted => format!("{count} of {} so far", self.wanted),
            count => count.to_string(),
        }
    }

    pub fn so_far(&self) -> String {
        match self.count() {
            count if count < self.wanted => format!("{count} so far"),
            count => count.to_string(),
        }
    }

    pub fn seconds(&self) -> String {
        fair_spread(&self.walls, 3, self.ours)
    }

    /// Root mean square errors of the ratio of medians, of means, and of what
    /// the tool itself says, in percent.
    pub fn errors(&self, known: f64) -> [String; 3] {
        let all = &self.comparisons;
        let percent = |error: Option<f64>| {
            error.map_or_else(|| DASH.to_owned(), |error| fairly(error * 100.0, 2, self.ours))
        };
        [
            percent(rms(all.iter().map(Comparison::medians), known)),
            percent(rms(all.iter().map(Comparison::means), known)),
            percent(rms(all.iter().filter_map(|one| one.estimate), known)),
        ]
    }
}

pub fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

pub fn head(cells: &[&str]) -> String {
    let rule = vec!["---"; cells.len()].join(" | ");
    format!("| {} |\n| {rule} |\n", cells.join(" | "))
}

pub fn method(calibration: &str) -> String {
    format!(
        "## How it was measured\n\n\
         The work is a chain of SHA-256 rounds (`examples/src/busy_work.rs`). The number of \
         rounds is calibrated at the start of each sitting, and all tools use the same number: \
         {calibration}. f2 does this number of rounds, and f1 does exactly the given percentage \
         more. In the rows of 0%, f1 and f2 do the same number of rounds.\n\n\
         Every comparison runs in its own process, and the table shows the duration of the whole \
         process. The rows take turns: in each turn, a row of 100 µs is measured four times and a row of 20 ms once. Within a turn, \
         the tools run in an order drawn from the seed {SEED}, except tools that were measured \
         again in a later sitting (`--fresh --only`); the raw data say \
         which. *Loaded* means that each of the {} cores also runs a busy loop. The program that \
         made this page pins nothing to a core.\n\n\
         - **traditional**: {} calls of f1, then as many of f2 ({} each at 20 ms), each timed by \
         `Instant`. bench_diff's version of it warms up for three seconds before each function. \
         Our version of this method has no warm-up, so the machine \
         has less time to drift between f1 and f2.\n\
         - **bench_diff** 1.1.0, `bench_diff(unit, f1, f2, n)` with its default warm-up of three seconds and the same n; times are \
         recorded in ns at 100 µs and in µs at 20 ms, as its manual advises. bench_diff's \
         verdict is Welch's test of the logarithms, two-sided at 5%, and its reported difference \
         is the ratio of medians that bench_diff computes from logarithms.\n\
         - **deadheat** of this repository: a bench target with this one race, `--bench` and no \
         option that changes the race (alpha 5%, margin 1%; `--json` and `--save` for this page, \
         `--seed` to make it \
         repeatable). deadheat's reported difference is its estimate, which by definition equals the difference of the typical times shown with it. With \
         loaded cores, deadheat also races with `--metric cpu`, as its manual advises. In these \
         races, medians, means and estimate are CPU time.\n\n\
         In a reversal, the median or the mean of f1 is below that of f2. In an anomaly, the \
         relative difference of the medians or of the means misses the known difference by more \
         than 40% of the known difference. As in \
         bench_diff, a race counts once if its median or its mean is off; the two numbers after \
         the count are the races with a wrong median and the races with a wrong mean. \
         deadheat shows the \
         medians and means of both sides only with `-v`, and its verdict uses neither. So the \
         table also counts reversals and anomalies of the difference that each tool reports, \
         which for deadheat is the difference of its typical times. (deadheat used to report \
         medians and means in their place; these missed 14 targets of their own, and their counts \
         are still in the table.)\n\n",
        cores(),
        crate::rows::Base::HundredMicroseconds.executions(),
        crate::rows::Base::TwentyMilliseconds.executions(),
    )
}
