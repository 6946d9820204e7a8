//! Helpers of all readers: rows with missing metrics, names and dates.

use std::collections::HashMap;
use std::fmt::Display;

use crate::results::{ResultBenchmark, ResultState};
use deadheat_format::FileProblem;
use deadheat_format::limits::{Allowance, FewCells};
use deadheat_model::Metric;
use serde_json::Value;

pub(super) fn tool(name: &str, version: Option<impl Display>) -> String {
    version.map_or(name.to_owned(), |version| format!("{name} {version}"))
}

pub(super) fn failed(name: &str, why: String) -> ResultBenchmark {
    ResultBenchmark {
        name: name.to_owned(),
        state: ResultState::Failed(why),
        ..ResultBenchmark::default()
    }
}

/// Marks a benchmark as failed if `filled` is an error. `place` is the place of the benchmark's
/// values.
pub(super) fn fail_unless(
    read: &mut ResultBenchmark,
    filled: Result<(), FileProblem>,
    place: &str,
) {
    if let Err(problem) = filled {
        read.state = ResultState::Failed(problem.within(place, "").into_text());
    }
}

pub(super) fn broken_row(error: csv::Error) -> FileProblem {
    let line = error.position().map_or(1, csv::Position::line);
    match error.into_kind() {
        csv::ErrorKind::Io(problem) => FileProblem::CannotRead(problem),
        _ => FileProblem::at(line, "the row is not text in UTF-8"),
    }
}

/// Bounds the number of cells in a row of a CSV file.
pub(super) fn few_cells(text: &[u8], separator: u8) -> Result<FewCells<&[u8]>, FileProblem> {
    FewCells::new(text, separator).map_err(FileProblem::CannotRead)
}

/// Returns the message of an error that a JavaScript benchmark threw; `None` if it threw none.
pub(super) fn thrown(error: &Value) -> Option<String> {
    match (error, error.get("message").and_then(Value::as_str)) {
        (Value::Null, _) => None,
        (Value::String(text), _) => Some(text.clone()),
        (_, Some(message)) => Some(message.to_owned()),
        _ => Some("it threw an error, whose message JSON.stringify omits".to_owned()),
    }
}

/// Returns the state of a benchmark with only a summary, such as the median.
pub(super) fn summarised(statistic: &str) -> ResultState {
    ResultState::Summarised {
        statistic: statistic.to_owned(),
    }
}

/// Prefixes the names of benchmarks with the names of their groups. The memory for the names is
/// limited, because a group with a name of 64 KiB may have millions of benchmarks.
pub(super) struct NamesInGroups(Allowance);

/// Number of copies of a name that are held until the report is complete.
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

/// Collects values row by row. A metric that is missing in any row is dropped at the end, because
/// it cannot be compared.
#[derive(Debug, Default)]
pub(super) struct Rows {
    columns: Vec<(Metric, Vec<f64>)>,
    /// Index of each metric's column; empty if there are few columns.
    places: HashMap<Metric, usize>,
    /// The column after the last column that was set. The next value usually belongs there, because
    /// most rows have the same order as the first.
    next: usize,
    processes: Vec<u32>,
}

/// Up to this number of columns, a linear search is faster than a map.
const FEW: usize = 16;

impl Rows {
    /// Returns one row with one value; see [`set`](Self::set).
    pub(super) fn of_value(metric: &Metric, value: f64) -> Self {
        let mut rows = Self::default();
        rows.begin(0);
        rows.set(metric, value);
        rows
    }

    pub(super) fn begin(&mut self, process: u32) {
        self.processes.push(process);
        self.next = 0;
    }

    /// Sets a value in the current row, in the unit of the metric; it must be finite and not
    /// negative. If a metric is set twice, the first value counts.
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

    pub(super) fn len(&self) -> usize {
        self.processes.len()
    }

    /// Moves the rows into their benchmark; the metrics are in order of their first appearance.
    pub(super) fn give_to(mut self, benchmark: &mut ResultBenchmark) {
        let rows = self.len();
        self.columns.retain(|(_, values)| values.len() == rows);
        // Allocated at their exact size, because a file may have 50,000 benchmarks.
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

/// Parses a date and time such as `2026-01-31T10:00:00.5+01:00` or `20260131-100000`. Returns
/// seconds since a fixed moment. Without a time zone, assumes UTC.
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
    // Months count from March, so that the leap day is the last day of the year.
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
