//! Parts that both tables of the page share: how it was measured, and cells.

use crate::Setting;
use crate::comparison::Comparison;
use crate::errors::rms;
use crate::observation::Observation;
use crate::rows::{Row, Tool};
use crate::turns::SEED;
use deadheat_validation::bars::{fair_spread, fairly};
use deadheat_validation::machine::cores;

/// A thing that a tool does not do.
pub const DASH: &str = "–";

/// All that one tool found in one row.
pub struct Found {
    pub comparisons: Vec<Comparison>,
    pub walls: Vec<f64>,
    /// The number of comparisons that there should be.
    pub wanted: usize,
    /// True if deadheat found it.
    ours: bool,
}

impl Found {
    pub fn of(setting: &Setting, row: &Row, tool: Tool) -> Self {
        let name = row.name();
        let here = |one: &&Observation| one.row == name && one.tool == tool.name();
        let here = setting.observations.iter().filter(here);
        let (comparisons, walls) = here.map(|one| (one.found, one.wall)).unzip();
        Self {
            comparisons,
            walls,
            wanted: row.repeats,
            ours: tool.is_deadheat(),
        }
    }

    pub fn count(&self) -> usize {
        self.comparisons.len()
    }

    /// Mean seconds of a comparison, `None` before the first.
    pub fn mean_wall(&self) -> Option<f64> {
        let sum: f64 = self.walls.iter().sum();
        (!self.walls.is_empty()).then(|| sum / self.walls.len() as f64)
    }

    /// The number of comparisons, and the number that there should be if that is more.
    pub fn repeats(&self) -> String {
        match self.count() {
            count if count < self.wanted => format!("{count} of {} so far", self.wanted),
            count => count.to_string(),
        }
    }

    /// The number of comparisons, with a word if there are more to come.
    pub fn so_far(&self) -> String {
        match self.count() {
            count if count < self.wanted => format!("{count} so far"),
            count => count.to_string(),
        }
    }

    /// Median and range.
    pub fn seconds(&self) -> String {
        fair_spread(&self.walls, 3, self.ours)
    }

    /// Root mean square errors of the ratio of medians, of means, and of what
    /// the tool itself says, in percent.
    pub fn errors(&self, known: f64) -> [String; 3] {
        let all = &self.comparisons;
        let percent = |error: Option<f64>| {
            error.map_or_else(
                || DASH.to_owned(),
                |error| fairly(error * 100.0, 2, self.ours),
            )
        };
        [
            percent(rms(all.iter().map(Comparison::medians), known)),
            percent(rms(all.iter().map(Comparison::means), known)),
            percent(rms(all.iter().filter_map(|one| one.estimate), known)),
        ]
    }
}

/// A line of a table.
pub fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// The head of a table.
pub fn head(cells: &[&str]) -> String {
    let rule = vec!["---"; cells.len()].join(" | ");
    format!("| {} |\n| {rule} |\n", cells.join(" | "))
}

/// The section on how everything was measured.
pub fn method(calibration: &str) -> String {
    format!(
        "## How it was measured\n\n\
         The work is a chain of SHA-256 (`examples/src/busy_work.rs`). Its rounds are calibrated at the start of a sitting and \
         are the same for everybody: {calibration}. f2 does the given number of rounds, f1 exactly the given percentage more. Both are one function with different numbers, so that only the number differs. At 0 % they do the same.\n\n\
         Every comparison is a process of its own, and its seconds are those of the whole process. Repeats of all rows take \
         turns, four of 100 µs for one of 20 ms; within a turn the tools come in an order drawn from the seed {SEED}, but for tools \
         that were measured anew in a later sitting (`--fresh --only`), as the raw data say. Loaded means that a busy loop runs on each of the {} cores at the same time. Nothing is pinned by this program.\n\n\
         - **traditional**: {} calls of f1, then as many of f2 ({} each at 20 ms), each timed by `Instant`. bench_diff's own \
         rendering of it warms up for three seconds before each function; here it does not, which leaves a machine less time to drift \
         between the two.\n\
         - **bench_diff** 1.1.0, `bench_diff(unit, f1, f2, n)` with its default warm-up of three seconds and the same n; times are \
         recorded in ns at 100 µs and in µs at 20 ms, as its manual advises. Its verdict is Welch's test of the logarithms, two-sided at \
         5 %; what it says is its ratio of medians from logarithms.\n\
         - **deadheat** of this repository: a bench target with this one race, `--bench` and nothing that changes the race (alpha 5 %, margin 1 %; \
         `--json` and `--save` for this page, `--seed` so that it can be repeated). Its reported difference is its estimate, which by definition equals the difference of the typical times shown with it. With loaded cores it races once more with `--metric cpu`, as its manual advises; its medians, means and estimate are then of CPU time.\n\n\
         A reversal: the median or the mean of f1 is below that of f2. An anomaly: the relative difference of the medians or of the means differs from the known one by more than 40 % of it. Both are counted as bench_diff counts them, if either figure is off; the numbers after it are those of the median and of the mean. deadheat shows medians and means of both sides only with `-v` and judges by neither of them. So the same is also counted for the difference that a tool reports, which for deadheat is that of its typical times. (Until typical times stood there, medians and means did, and missed 14 bars of their own: the counts \
         behind those are still in the table.)\n\n",
        cores(),
        crate::rows::Base::HundredMicroseconds.executions(),
        crate::rows::Base::TwentyMilliseconds.executions(),
    )
}
