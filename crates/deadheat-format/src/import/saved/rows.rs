//! Helpers of the readers of all tools: rows that need not all measure the same, and names.

use std::fmt::Display;

use deadheat_model::{Metric, ResultBenchmark, ResultState};

/// A tool with its version, where that is known.
pub(super) fn tool(name: &str, version: Option<impl Display>) -> String {
    version.map_or(name.to_owned(), |version| format!("{name} {version}"))
}

/// A name with what else tells it from others, as `sort (n=3, k=x)`.
pub(super) fn with_pairs(name: &str, pairs: &[String]) -> String {
    if pairs.is_empty() {
        name.to_owned()
    } else {
        format!("{name} ({})", pairs.join(", "))
    }
}

/// The state of a benchmark of which only this statistic was kept.
pub(super) fn summarised(statistic: &str) -> ResultState {
    ResultState::Summarised {
        statistic: statistic.to_owned(),
    }
}

/// Gathers values row by row. A metric that is missing in any row is left out
/// in the end: what was measured now and then cannot be compared.
#[derive(Debug, Default)]
pub(super) struct Rows {
    columns: Vec<(Metric, Vec<f64>)>,
    processes: Vec<u32>,
}

impl Rows {
    /// Begins a row that came from this process.
    pub(super) fn begin(&mut self, process: u32) {
        self.processes.push(process);
    }

    /// A value of the row begun last, in the unit of the metric, finite and not
    /// negative. Of two of one metric the first counts.
    pub(super) fn set(&mut self, metric: Metric, value: f64) {
        let row = self.processes.len() - 1;
        let known = self.columns.iter_mut().find(|(known, _)| *known == metric);
        match known {
            Some((_, values)) if values.len() == row => values.push(value),
            Some(_) => {}
            None if row == 0 => self.columns.push((metric, vec![value])),
            None => {}
        }
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.processes.len()
    }

    /// Gives the rows to their benchmark, the metrics in the order in which they came up.
    pub(super) fn give_to(mut self, benchmark: &mut ResultBenchmark) {
        let rows = self.len();
        self.columns.retain(|(_, values)| values.len() == rows);
        let mut values = Vec::with_capacity(rows * self.columns.len());
        for row in 0..rows {
            values.extend(self.columns.iter().map(|(_, column)| column[row]));
        }
        benchmark.values = values;
        benchmark.processes = self.processes;
        benchmark.metrics = self.columns.into_iter().map(|(metric, _)| metric).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_missing_somewhere_is_left_out() {
        let mut rows = Rows::default();
        for (process, memory) in [(0, Some(5.0)), (0, None), (1, Some(6.0))] {
            rows.begin(process);
            rows.set(Metric::Wall, f64::from(process) + 1.0);
            rows.set(Metric::Wall, 99.0);
            if let Some(bytes) = memory {
                rows.set(Metric::PeakRss, bytes);
            }
            rows.set(Metric::Cpu, 3.0);
        }
        rows.set(Metric::Allocations, 1.0);
        let mut benchmark = ResultBenchmark::default();
        rows.give_to(&mut benchmark);
        assert_eq!(benchmark.metrics, [Metric::Wall, Metric::Cpu]);
        assert_eq!(benchmark.processes, [0, 0, 1]);
        assert_eq!(benchmark.values, [1.0, 3.0, 1.0, 3.0, 2.0, 3.0]);
    }
}
