//! Reads the JSON and the CSV of bench-node, which hold one number per benchmark and no samples.

use crate::results::{ResultBenchmark, Results};
use csv::{ReaderBuilder, StringRecord};
use deadheat_model::{Better, Metric, Unit};
use serde::Deserialize;

use super::json::{Number, from_json_entries, without_mark};
use super::rows::{Rows, broken_row, failed, few_cells, summarised};
use deadheat_format::FileProblem;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireBenchmark {
    name: String,
    /// Operations per second; missing in the mode `time`.
    ops_sec: Option<Number>,
    /// The time of an operation in seconds, in the mode `time`.
    #[serde(default)]
    total_time: Number,
}

/// Reads the JSON list that the reporter `jsonReport` prints.
pub(super) fn read(text: &[u8]) -> Result<Results, FileProblem> {
    let (wire, broken) = from_json_entries::<Vec<WireBenchmark>, WireBenchmark>(text, "")?;
    let mut results = Results::new("", "bench-node");
    for (index, one) in wire.into_iter().enumerate() {
        let value = match one.ops_sec {
            Some(rate) => rate
                .measured(1.0, || format!("[{index}].opsSec"))
                .map(|rate| (operations_per_second(), rate)),
            None => one
                .total_time
                .measured(1e9, || format!("[{index}].totalTime"))
                .map(|time| (Metric::Wall, time)),
        };
        results.push(of_one_value(
            &one.name,
            value.map_err(FileProblem::into_text),
        ));
    }
    for entry in broken {
        entry.give_to(&mut results, &["name"]);
    }
    Ok(results)
}

fn operations_per_second() -> Metric {
    Metric::foreign("ops/s", Unit::PerSecond, Better::More)
}

/// Returns a benchmark with one value, or a failed benchmark with the reason.
fn of_one_value(name: &str, value: Result<(Metric, f64), String>) -> ResultBenchmark {
    let (metric, value) = match value {
        Ok(value) => value,
        Err(why) => return failed(name, why),
    };
    let mut read = ResultBenchmark {
        name: name.to_owned(),
        state: summarised("mean"),
        ..ResultBenchmark::default()
    };
    Rows::of_value(&metric, value).give_to(&mut read);
    read
}

/// Number of columns after the name; the first of them is `ops/sec` or `total time`.
const COLUMNS: usize = 5;

pub(super) fn is_table(line: &[u8]) -> bool {
    [
        "name,ops/sec,samples,plugins,min,max",
        "name,total time,samples,plugins,min,max",
    ]
    .iter()
    .any(|header| line.trim_ascii_end() == header.as_bytes())
}

/// Reads the CSV that the reporter `csvReport` prints.
pub(super) fn read_table(text: &[u8]) -> Result<Results, FileProblem> {
    let mut reader = ReaderBuilder::new()
        .flexible(true)
        .from_reader(few_cells(without_mark(text), b',')?);
    let is_rate = reader.headers().map_err(broken_row)?.get(1) == Some("ops/sec");
    let mut results = Results::new("", "bench-node");
    for record in reader.records() {
        let record = record.map_err(broken_row)?;
        let Some(columns) = record.len().checked_sub(COLUMNS).filter(|name| *name > 0) else {
            let line = record.position().map_or(1, csv::Position::line);
            let problem = format!("line {line}: the row has {} of 6 columns", record.len());
            results.unread.push(problem);
            continue;
        };
        // bench-node does not quote names with commas.
        let name = record.iter().take(columns).collect::<Vec<_>>().join(",");
        let cell = cell(&record, columns);
        let value = match is_rate {
            true => rate(cell).map(|rate| (operations_per_second(), rate)),
            false => time(cell).map(|time| (Metric::Wall, time)),
        };
        let value = value.ok_or_else(|| format!("'{cell}' is not a measurement"));
        results.push(of_one_value(&name, value));
    }
    Ok(results)
}

fn cell(record: &StringRecord, at: usize) -> &str {
    record.get(at).unwrap_or_default().trim()
}

/// Parses a rate in any locale's number format, such as `12,345,678` or `98.7`.
///
/// Only rates below 100 have decimals, at most two. A separator is therefore a decimal point only
/// if it is the only one and has at most two digits on each side.
fn rate(cell: &str) -> Option<f64> {
    let digits: String = cell.chars().filter(|c| c.is_ascii_digit()).collect();
    let parts: Vec<&str> = cell.split(|c: char| !c.is_ascii_digit()).collect();
    let number = match parts[..] {
        _ if parts.contains(&"") => return None,
        [whole, decimals] if whole.len() <= 2 && decimals.len() <= 2 => {
            format!("{whole}.{decimals}")
        }
        _ => digits,
    };
    number.parse().ok().filter(|rate: &f64| rate.is_finite())
}

/// Parses a time such as `12.34 ms` and returns nanoseconds.
fn time(cell: &str) -> Option<f64> {
    let (number, unit) = cell.rsplit_once(' ')?;
    let factor = match unit {
        "ns" => 1.0,
        "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    let value = number.parse::<f64>().ok()? * factor;
    (value.is_finite() && value >= 0.0).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::ResultState;

    #[test]
    fn a_benchmark_has_a_rate_or_in_the_mode_time_a_time() {
        let text = r#"[{"name":"a","runsSampled":9,"opsSec":12345},{"name":"b","totalTime":0.5},
            {"name":"bad","opsSec":-1},{"name":"torn","opsSec":"1"},{"name":"none"},{"opsSec":{}}]"#;
        let results = read(text.as_bytes()).unwrap();
        let [a, b, bad, none, torn] = &results.benchmarks[..] else {
            panic!("{results:#?}");
        };
        assert_eq!(
            (a.metrics[0].name(), a.metrics[0].better()),
            ("ops/s", Better::More)
        );
        assert_eq!((a.values[0], &a.state), (12345.0, &summarised("mean")));
        assert_eq!((&b.metrics[0], b.values[0]), (&Metric::Wall, 5e8));
        let why = "[2].opsSec: -1 is negative";
        assert_eq!(bad.state, ResultState::Failed(why.to_owned()));
        for one in [none, torn] {
            assert!(matches!(one.state, ResultState::Failed(_)), "{one:?}");
        }
        assert_eq!(results.unread.len(), 1);
    }

    #[test]
    fn a_name_in_the_csv_may_have_commas() {
        let text = "name,ops/sec,samples,plugins,min,max\n\
            a,\"1,234\",9,\"v8,x\",0.1us,0.2us\nb, c,\"12.5\",9,\"\",0.1us,0.2us\nd,1\n";
        let results = read_table(text.as_bytes()).unwrap();
        let told: Vec<(&str, f64)> = results
            .benchmarks
            .iter()
            .map(|one| (one.name.as_str(), one.values[0]))
            .collect();
        assert_eq!(told, [("a", 1234.0), ("b, c", 12.5)]);
        assert_eq!(results.unread, ["line 4: the row has 2 of 6 columns"]);
    }

    #[test]
    fn a_rate_is_read_in_the_number_format_of_any_culture() {
        for (cell, value) in [
            ("12,345,678", Some(12_345_678.0)),
            ("12.345.678", Some(12_345_678.0)),
            ("12\u{202f}345", Some(12_345.0)),
            ("1,00,000", Some(100_000.0)),
            ("1,234", Some(1234.0)),
            ("98.7", Some(98.7)),
            ("98,76", Some(98.76)),
            ("0.5", Some(0.5)),
            ("123", Some(123.0)),
            ("0", Some(0.0)),
            ("-1", None),
            ("NaN", None),
            ("∞", None),
            ("", None),
        ] {
            assert_eq!(rate(cell), value, "{cell}");
        }
    }

    #[test]
    fn a_time_has_a_unit() {
        for (cell, value) in [
            ("12.50 ns", Some(12.5)),
            ("12.50 µs", Some(12_500.0)),
            ("12.50 ms", Some(12_500_000.0)),
            ("2.00 s", Some(2e9)),
            ("12.50", None),
            ("-1 s", None),
            ("NaN s", None),
            ("1 h", None),
        ] {
            assert_eq!(time(cell), value, "{cell}");
        }
    }
}
