//! Runs in shapes other programs understand, and what all of these need, such as names that tell
//! apart what only a name can tell apart in a file.

// A build with one of the exports alone needs a part of it.
#![cfg_attr(
    not(all(feature = "saved", feature = "trackers")),
    allow(dead_code, unused_imports)
)]

#[cfg(feature = "csv")]
mod csv;
#[cfg(feature = "saved")]
mod go;
#[cfg(feature = "reports")]
mod hdr;
#[cfg(feature = "hyperfine")]
mod hyperfine;
#[cfg(feature = "trackers")]
mod trackers;

#[cfg(feature = "csv")]
pub use csv::write_csv;
#[cfg(feature = "saved")]
pub use go::write_go;
#[cfg(feature = "reports")]
pub use hdr::write_hdr;
#[cfg(feature = "hyperfine")]
pub use hyperfine::write_hyperfine;
#[cfg(feature = "trackers")]
pub use trackers::{GoogleSide, write_bmf, write_google_benchmark, write_smaller_is_better};

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::Path;

use deadheat_model::{Benchmark, Json, Metric, RerunKind, Run, Samples};

use crate::error::{FileProblem, FormatError, cannot_write};

/// Writes JSON on indented lines; `file` is for errors.
fn write_json(mut out: impl Write, json: &Json, file: &Path) -> Result<(), FormatError> {
    writeln!(out, "{json:#}")
        .and_then(|()| out.flush())
        .map_err(cannot_write(file))
}

/// Refuses a run without the wall times that a format needs.
fn ensure_wall_times(run: &Run, file: &Path) -> Result<(), FormatError> {
    if run.header.records(&Metric::Wall) {
        return Ok(());
    }
    Err(FileProblem::NoWallTimes.of(file))
}

/// Returns the samples to export. If the benchmark ran side by side, these are the samples in turns,
/// because wall times on a shared core include the other process.
fn samples_by_themselves(run: &Run, benchmark: usize) -> &Samples {
    let in_turns = run.header.plan.rerun(benchmark, RerunKind::Turns);
    let in_turns = in_turns.map(|turns| &run.benchmarks[turns]);
    let raced = in_turns.filter(|samples| !samples.blocks().is_empty());
    raced.unwrap_or(&run.benchmarks[benchmark])
}

/// The names of the benchmarks, for files that have no place for parameters:
/// those are added where the name alone is not enough. What was raced once more
/// as the user linked it is called after the benchmark it stands beside.
fn benchmark_names(benchmarks: &[Benchmark]) -> Vec<String> {
    let mut uses = HashMap::new();
    for benchmark in benchmarks.iter().filter(|one| one.rerun.is_none()) {
        *uses.entry(&benchmark.name).or_insert(0) += 1;
    }
    let named = |benchmark: &Benchmark| {
        let name = &benchmark.name;
        if uses.get(name).is_none_or(|uses| *uses == 1) || benchmark.parameters.is_empty() {
            return name.clone();
        }
        with_parameters(name, &benchmark.parameters)
    };
    let all = benchmarks.iter().map(|benchmark| match benchmark.rerun {
        None => named(benchmark),
        Some(rerun) => {
            let of = benchmarks.get(rerun.of).unwrap_or(benchmark);
            format!("{} ({})", named(of), rerun.kind.label())
        }
    });
    distinct_names(all, " #")
}

/// `name (key=value, …)`.
fn with_parameters(name: &str, parameters: &[(String, String)]) -> String {
    let pairs = parameters
        .iter()
        .map(|(key, value)| format!("{key}={value}"));
    format!("{name} ({})", pairs.collect::<Vec<_>>().join(", "))
}

/// The arithmetic mean of values, of which there are some.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The median of values, of which there are some.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    f64::midpoint(sorted[(count - 1) / 2], sorted[count / 2])
}

/// The standard deviation of a sample, so divided by one less than its size; `None` of one value.
fn standard_deviation(values: &[f64], mean: f64) -> Option<f64> {
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

/// The names, each distinct; those that come again get the sign and a number.
/// Nothing keeps two contenders from sharing a name: racing a command against
/// itself is the usual way to see the noise floor.
fn distinct_names(names: impl Iterator<Item = String>, sign: &str) -> Vec<String> {
    let names: Vec<String> = names.collect();
    let mut taken: HashSet<String> = HashSet::new();
    let distinct = |name: &String| {
        let numbered = (2..).map(|count| format!("{name}{sign}{count}"));
        let mut choices = std::iter::once(name.clone()).chain(numbered);
        let free = choices.find(|choice| !taken.contains(choice));
        let free = free.expect("there are more numbers than names");
        taken.insert(free.clone());
        free
    };
    names.iter().map(distinct).collect()
}

#[cfg(test)]
mod tests {
    use deadheat_model::Rerun;

    use super::*;

    fn benchmark(name: &str, parameters: &[(&str, &str)]) -> Benchmark {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        Benchmark {
            name: name.to_owned(),
            parameters: parameters.iter().map(owned).collect(),
            contenders: vec![],
            ..Benchmark::default()
        }
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
    }

    #[test]
    fn a_single_time_has_no_standard_deviation() {
        assert_eq!(standard_deviation(&[2.0], 2.0), None);
        assert_eq!(standard_deviation(&[1.0, 3.0], 2.0), Some(2f64.sqrt()));
    }

    #[test]
    fn names_that_are_shared_are_numbered() {
        let names = ["a", "b", "a", "a #2", "a"].map(str::to_owned);
        assert_eq!(
            distinct_names(names.into_iter(), " #"),
            ["a", "b", "a #2", "a #2 #2", "a #3"]
        );
    }

    #[test]
    fn benchmarks_that_differ_by_parameters_alone_are_named_with_them() {
        let benchmarks = [
            benchmark("sort", &[("n", "1"), ("k", "x")]),
            benchmark("sort", &[("n", "2"), ("k", "x")]),
            benchmark("hash", &[("n", "2")]),
        ];
        assert_eq!(
            benchmark_names(&benchmarks),
            ["sort (n=1, k=x)", "sort (n=2, k=x)", "hash"]
        );
    }

    #[test]
    fn an_own_link_is_called_after_the_benchmark_it_stands_beside() {
        let beside = |of, parameters| Benchmark {
            rerun: Some(Rerun {
                kind: RerunKind::OwnLink,
                of,
                replicates: 6,
            }),
            ..benchmark("sort", parameters)
        };
        let one = [benchmark("sort", &[("n", "1")]), beside(0, &[("n", "1")])];
        assert_eq!(benchmark_names(&one), ["sort", "sort (own link)"]);
        let two = [
            benchmark("sort", &[("n", "1")]),
            benchmark("sort", &[("n", "2")]),
            beside(0, &[("n", "1")]),
            beside(1, &[("n", "2")]),
        ];
        assert_eq!(
            benchmark_names(&two),
            [
                "sort (n=1)",
                "sort (n=2)",
                "sort (n=1) (own link)",
                "sort (n=2) (own link)"
            ]
        );
    }
}
