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
         The work is a chain of SHA-256 rounds (`examples/src/busy_work.rs`). At the start of each \
         sitting, the program calibrates how many rounds take 100 µs and how many take 20 ms. All \
         tools use the calibrated numbers. f2 does the calibrated number of rounds, and f1 does \
         exactly the given percentage more. In the rows of 0%, f1 and f2 do the same number of \
         rounds. The calibrated numbers of the sittings, with the measured time of a call in \
         brackets, are {calibration}.\n\n\
         Every comparison runs in its own process, and the table shows the duration of the whole \
         process. The rows take turns: in each turn, a row of 100 µs is measured four times and a \
         row of 20 ms once. Within a turn, the tools run in an order drawn from the seed {SEED}. A \
         tool that was measured again in a later sitting (`--fresh --only`) ran without the other \
         tools; the raw data show the sitting. *Loaded* means that each of the {} cores also runs \
         a busy loop. The program of this page pins no process to a core.\n\n\
         - **traditional**: {} calls of f1, then the same number of calls of f2 ({} calls each at \
         20 ms). `Instant` times each call. bench_diff's version of this method warms up for three \
         seconds before each function. Our version has no warm-up, so the machine has less time to \
         drift between f1 and f2.\n\
         - **bench_diff** 1.1.0: `bench_diff(unit, f1, f2, n)` with its default warm-up of three \
         seconds and the same n. The unit of the recorded times is ns at 100 µs and µs at 20 ms, \
         as bench_diff's manual advises. bench_diff's verdict is Welch's test of the logarithms, \
         two-sided at 5%. bench_diff's reported difference is the ratio of medians, which \
         bench_diff computes from logarithms.\n\
         - **deadheat** of this repository: a bench target with this one race, started with \
         `--bench`. The race uses the defaults (alpha 5%, margin 1%). `--json` and `--save` are \
         for this page, and `--seed` makes the race repeatable. deadheat's reported difference is \
         its estimate. By definition, the estimate equals the difference of the typical times that \
         deadheat shows with it. With loaded cores, deadheat also races with `--metric cpu`, as \
         its manual advises. In the races with `--metric cpu`, medians, means and estimate are CPU \
         time.\n\n\
         In a reversal, the median or the mean of f1 is below that of f2, although f1 does more \
         work. In an anomaly, the relative difference of the medians or of the means misses the \
         known difference by more than 40% of the known difference. As in bench_diff's table, a \
         comparison counts once if its median, its mean or both are off. The numbers in brackets \
         count the comparisons with a wrong median and the comparisons with a wrong mean.\n\n\
         deadheat shows the medians and means of both sides only with `-v`, and its verdict uses \
         neither. The table therefore also counts reversals and anomalies of the difference that \
         each tool reports. For deadheat, the reported difference is the difference of its typical \
         times. Earlier, deadheat reported medians and means in place of typical times. The \
         medians and means missed 14 targets of their own, and the table still has their \
         counts.\n\n",
        cores(),
        crate::rows::Base::HundredMicroseconds.executions(),
        crate::rows::Base::TwentyMilliseconds.executions(),
    )
}
