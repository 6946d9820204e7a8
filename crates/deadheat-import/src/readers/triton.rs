//! Reads the CSV of `triton.testing.perf_report`. A row is a combination of parameter values; a
//! column is a line of the plot, with the unit after its name.

use crate::identity::{Identity, QualifierPlace, QualifierShown};
use crate::results::{ResultBenchmark, Results};
use csv::ReaderBuilder;
use deadheat_model::{Better, Metric, Unit};

use super::json::without_mark;
use super::rows::{Rows, broken_row, failed, few_cells, summarised};
use deadheat_format::FileProblem;

/// Units of time in a plot, with their length in nanoseconds.
const TIMES: [(&str, f64); 6] = [
    ("ms", 1e6),
    ("us", 1e3),
    ("µs", 1e3),
    ("ns", 1.0),
    ("s", 1e9),
    ("seconds", 1e9),
];
/// The units of rates in the table, each with the metric and the factor to it.
const RATES: [(&str, &str, Unit, f64); 9] = [
    ("TFLOPS", "FLOPS", Unit::PerSecond, 1e12),
    ("TFLOP/s", "FLOPS", Unit::PerSecond, 1e12),
    ("TFLOPs", "FLOPS", Unit::PerSecond, 1e12),
    ("GFLOPS", "FLOPS", Unit::PerSecond, 1e9),
    ("GFLOP/s", "FLOPS", Unit::PerSecond, 1e9),
    ("GB/s", "GB/s", Unit::GigabytesPerSecond, 1.0),
    ("GiB/s", "GiB/s", Unit::GibibytesPerSecond, 1.0),
    ("MB/s", "MB/s", Unit::MegabytesPerSecond, 1.0),
    ("TB/s", "GB/s", Unit::GigabytesPerSecond, 1e3),
];

pub(super) fn is_table(line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line);
    let columns: Vec<&str> = line.trim_end().split(',').collect();
    let first = columns.iter().position(|column| line_of(column).is_some());
    first.is_some_and(|first| {
        let lines = columns[first..].iter();
        first > 0 && lines.clone().all(|column| line_of(column).is_some())
    })
}

/// Returns the name of a line of the plot, its metric, and the factor to the metric's unit.
fn line_of(column: &str) -> Option<(&str, Metric, f64)> {
    let (name, unit) = column.strip_suffix(')')?.rsplit_once(" (")?;
    let time = TIMES.iter().find(|(known, _)| *known == unit);
    if let Some((_, factor)) = time {
        // `do_bench` measures with events of the device.
        return Some((name, Metric::Gpu, *factor));
    }
    let (_, metric, kind, factor) = RATES.iter().find(|(known, ..)| *known == unit)?;
    Some((name, Metric::foreign(*metric, *kind, Better::More), *factor))
}

/// Removes decimals that are all zero, because pandas writes 256 as `256.000000`.
fn without_zeros(number: &str) -> &str {
    match number.split_once('.') {
        Some((whole, rest)) if rest.bytes().all(|digit| digit == b'0') => whole,
        _ => number,
    }
}

/// Reads the table. Each cell becomes a benchmark with one value, because the file has no samples.
pub(super) fn read(text: &[u8]) -> Result<Results, FileProblem> {
    let mut reader = ReaderBuilder::new()
        .flexible(true)
        .from_reader(few_cells(without_mark(text), b',')?);
    let header = reader.headers().map_err(broken_row)?.clone();
    let parameters = header.iter().take_while(|column| line_of(column).is_none());
    let parameters: Vec<&str> = parameters.collect();
    let mut results = Results::new("", "triton.testing");
    for record in reader.records() {
        let record = record.map_err(broken_row)?;
        let values: Vec<(String, String)> = parameters
            .iter()
            .zip(&record)
            .map(|(name, value)| ((*name).to_owned(), without_zeros(value).to_owned()))
            .collect();
        for (column, cell) in header.iter().zip(&record).skip(parameters.len()) {
            let Some((name, metric, factor)) = line_of(column) else {
                continue;
            };
            let number = cell.trim().parse::<f64>().map(|value| value * factor);
            let mut read = ResultBenchmark::default();
            match number {
                Ok(value) if value.is_finite() && value >= 0.0 => {
                    Rows::of_value(&metric, value).give_to(&mut read);
                    read.state = summarised("value");
                }
                _ => read.state = failed(name, format!("'{cell}' is not a measurement")).state,
            }
            let (place, shown) = (QualifierPlace::Parameter, QualifierShown::IfSideDiffers);
            let identity = values.iter().fold(Identity::new(name), |identity, one| {
                identity.with(one.0.clone(), &one.1, place, shown)
            });
            results.push(ResultBenchmark {
                identity,
                parameters: values.clone(),
                ..read
            });
            if results.are_full() {
                return Ok(results);
            }
        }
    }
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_parameter_of_many_rows_ends_the_reading() {
        let key = "g".repeat(60_000);
        let rows: String = (0..4000).map(|row| format!("{row},1.0\n")).collect();
        let results = read(format!("{key},M (ms)\n{rows}").as_bytes()).unwrap();
        assert!(results.are_full());
        assert!(
            results.benchmarks.len() < 1000,
            "{}",
            results.benchmarks.len()
        );
        let few = read(format!("{key},M (ms)\n1,1.0\n2,1.0\n").as_bytes()).unwrap();
        assert!(!few.are_full());
        assert_eq!(few.benchmarks.len(), 2);
    }

    #[test]
    fn a_table_is_known_by_the_units_of_its_lines() {
        for (line, is_it) in [
            ("size,Triton (ms),Torch (ms)", true),
            ("M,N,K,cuBLAS (TFLOPS),Triton (TFLOPS)\r", true),
            ("size,Triton (GB/s)", true),
            ("size,Triton,Torch", false),
            ("Triton (ms),size", false),
            ("Triton (ms)", false),
            ("name,time (parsecs)", false),
            ("benchmark,contender,replicate,wall_ns", false),
        ] {
            assert_eq!(is_table(line.as_bytes()), is_it, "{line}");
        }
    }

    #[test]
    fn every_cell_is_a_benchmark_with_one_value() {
        let text = "N,Triton (ms),Torch (ms)\n256.5,0.5,0.25\n512.000000,nan,1\n";
        let results = read(text.as_bytes()).unwrap();
        let values: Vec<_> = results
            .benchmarks
            .iter()
            .map(|one| &one.values[..])
            .collect();
        assert_eq!(values, [&[5e5][..], &[2.5e5], &[], &[1e6]]);
        assert_eq!(results.benchmarks[0].metrics, [Metric::Gpu]);
        assert_eq!(results.benchmarks[0].state, summarised("value"));
        let parameters = [("N".to_owned(), "512".to_owned())];
        assert_eq!(results.benchmarks[3].parameters, parameters);
    }

    #[test]
    fn more_is_better_in_a_rate() {
        let results = read(b"N,Triton (TFLOPS),Torch (TB/s)\n1,2,3\n").unwrap();
        let metrics = results.benchmarks.iter().map(|one| &one.metrics[0]);
        assert!(
            metrics
                .clone()
                .all(|metric| metric.better() == Better::More)
        );
        let names: Vec<&str> = metrics.clone().map(Metric::name).collect();
        assert_eq!(names, ["FLOPS", "GB/s"], "the units of the values");
        let units: Vec<Unit> = metrics.map(Metric::unit).collect();
        assert_eq!(units, [Unit::PerSecond, Unit::GigabytesPerSecond]);
        assert_eq!(results.benchmarks[0].values, [2e12]);
        assert_eq!(results.benchmarks[1].values, [3e3]);
    }
}
