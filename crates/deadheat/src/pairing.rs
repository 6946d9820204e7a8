//! Pairs of benchmarks of two builds that race each other, and those that cannot. Nothing of a
//! listing gets lost: what was asked for is raced or left out by name.

mod families;
mod names;
mod pair;

use deadheat_engine::{ListedBenchmark, WorkerListing};
use deadheat_model::{Benchmark, LeftOut, Metric, Program};

pub use families::{Families, families, families_between, pattern};
pub use names::{Launched, pair_names, side_names};
pub use pair::{Worker, pair, race_alone};

/// A program and what it says of itself: all of a worker's listing, or the names of the benchmarks
/// of an executable of a harness.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed<L> {
    /// The program and its arguments.
    pub program: Program,
    /// Its benchmarks.
    pub listing: L,
}

/// One program as either build made it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target<S> {
    /// Its name, where a build makes several.
    pub name: Option<String>,
    /// That of the old build and that of the new one, where these made it.
    pub sides: [Option<S>; 2],
}

/// The benchmarks that race, and those that do not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairing {
    /// The benchmarks that race, in the order of the old build; calls of a sample are still to be
    /// found by a pilot.
    pub benchmarks: Vec<Benchmark>,
    /// Benchmarks that were selected and cannot be raced.
    pub left_out: Vec<LeftOut>,
    /// The metrics of every sample: those that all workers have which race.
    pub metrics: Vec<Metric>,
}

/// The targets with the name that their benchmarks are called after, which
/// only those need that are not alone in holding any.
fn named<L>(
    targets: &[Target<Listed<L>>],
    holds_any: impl Fn(&L) -> bool,
) -> impl Iterator<Item = (&Target<Listed<L>>, Option<&str>)> {
    let holds = |target: &&Target<Listed<L>>| {
        let mut sides = target.sides.iter().flatten();
        sides.any(|side| holds_any(&side.listing))
    };
    let several = targets.iter().filter(holds).count() > 1;
    let named = targets.iter();
    named.map(move |target| (target, target.name.as_deref().filter(|_| several)))
}

impl Pairing {
    /// Keeps of the metrics those that this worker has as well.
    fn meet(&mut self, listing: &WorkerListing, first: bool) {
        if first {
            self.metrics.clone_from(&listing.metrics)
        } else {
            self.metrics.retain(|one| listing.metrics.contains(one))
        }
    }
}

/// Returns why the two cannot race although they share a name, or `None` when they can; `sides` are
/// the names of the builds.
fn unlike(old: &ListedBenchmark, new: &ListedBenchmark, sides: &[String; 2]) -> Option<String> {
    let [baseline, candidate] = sides;
    if old.threads != new.threads {
        let threads = |count: u32| match count {
            1 => "1 thread".to_owned(),
            count => format!("{count} threads"),
        };
        return Some(format!(
            "'{baseline}' calls it on {}, '{candidate}' on {}",
            threads(old.threads),
            threads(new.threads)
        ));
    }
    if old.parameters != new.parameters {
        return Some(format!(
            "in '{baseline}' it has {}, in '{candidate}' {}",
            parameters(old),
            parameters(new)
        ));
    }
    None
}

fn parameters(benchmark: &ListedBenchmark) -> String {
    let pair = |(key, value): &(String, String)| format!("{key}={value}");
    let pairs: Vec<String> = benchmark.parameters.iter().map(pair).collect();
    if pairs.is_empty() {
        "no parameters".to_owned()
    } else {
        pairs.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(threads: u32, parameters: &[(&str, &str)]) -> ListedBenchmark {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        ListedBenchmark {
            name: "sum".to_owned(),
            contenders: vec!["sum".to_owned()],
            parameters: parameters.iter().map(owned).collect(),
            throughput: None,
            judged: None,
            threads,
            ignored: false,
            sources: Vec::new(),
        }
    }

    #[test]
    fn other_threads_and_other_parameters_are_other_work_and_nothing_else_is() {
        let sides = ["old", "new"].map(str::to_owned);
        let why = |a: &ListedBenchmark, b: &ListedBenchmark| unlike(a, b, &sides);
        let plain = listed(1, &[]);
        let long = listed(1, &[("length", "100")]);
        let other_contender = ListedBenchmark {
            contenders: vec!["fast".to_owned()],
            ignored: true,
            ..plain.clone()
        };
        assert_eq!(why(&plain, &other_contender), None);
        assert_eq!(
            why(&plain, &listed(4, &[])).unwrap(),
            "'old' calls it on 1 thread, 'new' on 4 threads"
        );
        assert_eq!(
            why(&long, &plain).unwrap(),
            "in 'old' it has length=100, in 'new' no parameters"
        );
    }
}
