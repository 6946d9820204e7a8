//! Writes HDR histogram logs, and makes names distinct for file formats that identify benchmarks
//! and contenders by name only.

mod hdr;

pub use hdr::write_hdr;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use deadheat_model::{Benchmark, Metric, Run};

use crate::error::{FileProblem, FormatError};

/// Fails if a run has no wall times; `file` is the file that needs them.
pub fn ensure_wall_times(run: &Run, file: &Path) -> Result<(), FormatError> {
    if run.header.records(&Metric::Wall) {
        return Ok(());
    }
    Err(FileProblem::NoWallTimes.of(file))
}

/// Returns a distinct name for each benchmark, for file formats that cannot store parameters.
/// Parameters are added to a name that is not unique. A rerun, such as one with the program's own
/// link, is named after the benchmark that it repeats.
pub fn benchmark_names(benchmarks: &[Benchmark]) -> Vec<String> {
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

/// Formats a name with parameters as `name (key=value, …)`.
pub fn with_parameters(name: &str, parameters: &[(String, String)]) -> String {
    let pairs = parameters
        .iter()
        .map(|(key, value)| format!("{key}={value}"));
    format!("{name} ({})", pairs.collect::<Vec<_>>().join(", "))
}

/// Makes names distinct: adds `sign` and a number to each repeated name. Two contenders may have
/// the same name, because racing a command against itself is the usual way to measure the noise
/// floor.
pub fn distinct_names(names: impl Iterator<Item = String>, sign: &str) -> Vec<String> {
    let names: Vec<String> = names.collect();
    let mut taken: HashSet<String> = HashSet::new();
    // The next number to try for each name. Starting from 2 each time would take quadratic time.
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let distinct = |name| {
        let number = numbers.entry(name).or_insert(1);
        loop {
            let choice = match *number {
                1 => name.to_owned(),
                count => format!("{name}{sign}{count}"),
            };
            *number += 1;
            if taken.insert(choice.clone()) {
                return choice;
            }
        }
    };
    names.iter().map(String::as_str).map(distinct).collect()
}

#[cfg(test)]
mod tests {
    use deadheat_model::{Rerun, RerunKind};

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
