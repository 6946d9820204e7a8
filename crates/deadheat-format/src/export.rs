//! The log of histograms, and what all files for other programs need, such as names that tell apart
//! what only a name can tell apart in a file.

mod hdr;

pub use hdr::write_hdr;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use deadheat_model::{Benchmark, Metric, Run};

use crate::error::{FileProblem, FormatError};

/// Refuses a run without the wall times that a format needs.
pub fn ensure_wall_times(run: &Run, file: &Path) -> Result<(), FormatError> {
    if run.header.records(&Metric::Wall) {
        return Ok(());
    }
    Err(FileProblem::NoWallTimes.of(file))
}

/// The names of the benchmarks, for files that have no place for parameters:
/// those are added where the name alone is not enough. What was raced once more
/// as the user linked it is called after the benchmark it stands beside.
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

/// `name (key=value, …)`.
pub fn with_parameters(name: &str, parameters: &[(String, String)]) -> String {
    let pairs = parameters
        .iter()
        .map(|(key, value)| format!("{key}={value}"));
    format!("{name} ({})", pairs.collect::<Vec<_>>().join(", "))
}

/// The names, each distinct; those that come again get the sign and a number.
/// Nothing keeps two contenders from sharing a name: racing a command against
/// itself is the usual way to see the noise floor.
pub fn distinct_names(names: impl Iterator<Item = String>, sign: &str) -> Vec<String> {
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
