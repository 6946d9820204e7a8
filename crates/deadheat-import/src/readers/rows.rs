//! Helpers of the readers of all tools: rows that need not all measure the same, names and moments.

use std::collections::HashMap;
use std::fmt::Display;

use crate::results::{ResultBenchmark, ResultState};
use deadheat_format::FileProblem;
use deadheat_format::limits::Allowance;
use deadheat_model::Metric;
use serde_json::Value;

/// A tool with its version, where that is known.
pub(super) fn tool(name: &str, version: Option<impl Display>) -> String {
    version.map_or(name.to_owned(), |version| format!("{name} {version}"))
}

/// A benchmark that could not be read, for this reason.
pub(super) fn failed(name: &str, why: String) -> ResultBenchmark {
    ResultBenchmark {
        name: name.to_owned(),
        state: ResultState::Failed(why),
        ..ResultBenchmark::default()
    }
}

/// Marks a benchmark whose values could not be read as failed. `place` is that of its values.
pub(super) fn fail_unless(
    read: &mut ResultBenchmark,
    filled: Result<(), FileProblem>,
    place: &str,
) {
    if let Err(problem) = filled {
        read.state = ResultState::Failed(problem.within(place, "").into_text());
    }
}

/// The problem of a row of a CSV file that the parser refuses.
pub(super) fn broken_row(error: csv::Error) -> FileProblem {
    let line = error.position().map_or(1, csv::Position::line);
    FileProblem::at(line, "the row is not text in UTF-8")
}

/// The message of an error that a JavaScript benchmark threw; `None` if it threw none.
pub(super) fn thrown(error: &Value) -> Option<String> {
    match (error, error.get("message").and_then(Value::as_str)) {
        (Value::Null, _) => None,
        (Value::String(text), _) => Some(text.clone()),
        (_, Some(message)) => Some(message.to_owned()),
        _ => Some("it threw an error, whose message JSON.stringify omits".to_owned()),
    }
}

/// The state of a benchmark of which only this statistic was kept.
pub(super) fn summarised(statistic: &str) -> ResultState {
    ResultState::Summarised {
        statistic: statistic.to_owned(),
    }
}

/// Puts the names of groups in front of those of their benchmarks. The memory for them is bounded,
/// because a group with a name of 64 KiB may have millions of benchmarks.
pub(super) struct NamesInGroups(Allowance);

/// Copies of a name that are kept until the answer is complete.
const COPIES: u64 = 4;

impl NamesInGroups {
    pub(super) fn new() -> Result<Self, FileProblem> {
        let memory = Allowance::of_memory().map_err(FileProblem::CannotRead)?;
        Ok(Self(memory))
    }

    pub(super) fn join(&mut self, group: &str, name: &str) -> Result<String, FileProblem> {
        let name = format!("{group} > {name}");
        let held = self.0.take(COPIES * name.len() as u64);
        held.map_err(FileProblem::CannotRead)?;
        Ok(name)
    }
}

/// Gathers values row by row. A metric that is missing in any row is left out
/// in the end: what was measured now and then cannot be compared.
#[derive(Debug, Default)]
pub(super) struct Rows {
    columns: Vec<(Metric, Vec<f64>)>,
    /// By metric; empty if there are few.
    places: HashMap<Metric, usize>,
    /// The column after the one set last: most rows have the order of the first.
    next: usize,
    processes: Vec<u32>,
}

/// Fewer columns are looked through faster than a map is kept.
const FEW: usize = 16;

impl Rows {
    /// One row with one value, as of [`set`](Self::set).
    pub(super) fn of_value(metric: &Metric, value: f64) -> Self {
        let mut rows = Self::default();
        rows.begin(0);
        rows.set(metric, value);
        rows
    }

    /// Begins a row that came from this process.
    pub(super) fn begin(&mut self, process: u32) {
        self.processes.push(process);
        self.next = 0;
    }

    /// A value of the row begun last, in the unit of the metric, finite and not
    /// negative. Of two of one metric the first counts.
    pub(super) fn set(&mut self, metric: &Metric, value: f64) {
        let row = self.processes.len() - 1;
        match self.place(metric) {
            Some(place) => {
                self.next = place + 1;
                let values = &mut self.columns[place].1;
                if values.len() == row {
                    values.push(value);
                }
            }
            None if row == 0 => self.add(metric.clone(), value),
            None => {}
        }
    }

    fn place(&self, metric: &Metric) -> Option<usize> {
        let is_next = self.columns.get(self.next);
        if is_next.is_some_and(|(next, _)| next == metric) {
            return Some(self.next);
        }
        match self.columns.len() {
            ..=FEW => self.columns.iter().position(|(known, _)| known == metric),
            _ => self.places.get(metric).copied(),
        }
    }

    fn add(&mut self, metric: Metric, value: f64) {
        self.columns.push((metric, vec![value]));
        self.next = self.columns.len();
        let new = match self.columns.len() {
            ..=FEW => return,
            many if self.places.is_empty() => 0..many,
            many => many - 1..many,
        };
        for place in new {
            self.places.insert(self.columns[place].0.clone(), place);
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
        // All of them to measure: a file may have 50,000 benchmarks.
        let mut values = Vec::with_capacity(rows * self.columns.len());
        for row in 0..rows {
            values.extend(self.columns.iter().map(|(_, column)| column[row]));
        }
        benchmark.values = values;
        self.processes.shrink_to_fit();
        benchmark.processes = self.processes;
        let mut metrics = Vec::with_capacity(self.columns.len());
        metrics.extend(self.columns.into_iter().map(|(metric, _)| metric));
        benchmark.metrics = metrics;
    }
}

/// A moment such as `2026-01-31T10:00:00.5+01:00` or `20260131-100000`, in seconds from one that is
/// the same for all. Where no zone is told it is taken for UTC.
pub(super) fn moment(date: &str) -> Option<f64> {
    let mut rest = date.trim();
    let mut number = |digits: usize, separators: &[char]| -> Option<f64> {
        let (number, behind) = rest.split_at_checked(digits)?;
        let plain = number.bytes().all(|byte| byte.is_ascii_digit());
        rest = behind.strip_prefix(separators).unwrap_or(behind);
        number.parse().ok().filter(|_| plain)
    };
    let [year, month, day] = [
        number(4, &['-'])?,
        number(2, &['-'])?,
        number(2, &['T', ' ', '-'])?,
    ];
    let [hour, minute] = [number(2, &[':'])?, number(2, &[':'])?];
    let behind = rest.find(|c: char| c != '.' && !c.is_ascii_digit());
    let (second, zone) = rest.split_at(behind.unwrap_or(rest.len()));
    let second: f64 = match second {
        "" => 0.0,
        second => second.parse().ok()?,
    };
    let zone = match zone.trim().strip_prefix(['+', '-']) {
        None => 0.0,
        Some(offset) => {
            let minutes = |digits: &str| digits.parse::<f64>().ok();
            let (hours, rest) = offset.split_at_checked(2)?;
            let rest = rest.strip_prefix(':').unwrap_or(rest);
            let size = minutes(hours)? * 60.0 + minutes(rest).unwrap_or(0.0);
            if zone.trim().starts_with('-') {
                -size
            } else {
                size
            }
        }
    };
    // Months count from March, so that the day of a leap year is the last.
    let (year, month) = match month {
        ..3.0 => (year - 1.0, month + 9.0),
        _ => (year, month - 3.0),
    };
    let leaps = (year / 4.0).floor() - (year / 100.0).floor() + (year / 400.0).floor();
    let days = 365.0 * year + leaps + ((153.0 * month + 2.0) / 5.0).floor() + day;
    Some(((days * 24.0 + hour) * 60.0 + minute - zone) * 60.0 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_missing_somewhere_is_left_out() {
        let mut rows = Rows::default();
        for (process, memory) in [(0, Some(5.0)), (0, None), (1, Some(6.0))] {
            rows.begin(process);
            rows.set(&Metric::Wall, f64::from(process) + 1.0);
            rows.set(&Metric::Wall, 99.0);
            if let Some(bytes) = memory {
                rows.set(&Metric::PeakRss, bytes);
            }
            rows.set(&Metric::Cpu, 3.0);
        }
        rows.set(&Metric::Allocations, 1.0);
        let mut benchmark = ResultBenchmark::default();
        rows.give_to(&mut benchmark);
        assert_eq!(benchmark.metrics, [Metric::Wall, Metric::Cpu]);
        assert_eq!(benchmark.processes, [0, 0, 1]);
        assert_eq!(benchmark.values, [1.0, 3.0, 1.0, 3.0, 2.0, 3.0]);
    }

    #[test]
    fn moments_are_a_second_apart_across_months_years_and_zones() {
        for (before, after) in [
            ("2024-02-28T23:59:59", "2024-02-29T00:00:00"),
            ("2024-02-29T23:59:59", "2024-03-01T00:00:00"),
            ("2025-12-31 23:59:59.25", "2026-01-01 00:00:00.25"),
            ("20251231-235959", "20260101-000000"),
            ("2026-06-01T12:00:00+0200", "2026-06-01T04:30:01-05:30"),
        ] {
            let apart = moment(after).unwrap() - moment(before).unwrap();
            assert!((apart - 1.0).abs() < 1e-6, "{before} {after}: {apart}");
        }
        for text in ["", "today", "2026", "2026-1-1", "2026-01-01T10:00:00+é"] {
            assert!(moment(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_summer_time_begins_and_half_seconds_count() {
        let early = ["2026-03-29T00:59:59+01:00", "2026-03-29T02:00:00+02:00"];
        let late = ["2026-03-29 00:00:01", "2026-03-29T00:00:02.5Z"];
        let moments = [early, late].concat().into_iter().map(moment);
        let moments: Option<Vec<f64>> = moments.collect();
        assert!(moments.unwrap().windows(2).all(|two| two[0] < two[1]));
        assert_eq!(moment("yesterday"), None);
    }
}
