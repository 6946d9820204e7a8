//! Pairs the benchmarks of two builds for a race, and lists those that cannot race. Each selected
//! benchmark is either in a pair or in the list of benchmarks left out, with a reason.

mod names;
mod pair;

use deadheat_engine::{ListedBenchmark, WorkerListing};
use deadheat_model::{Benchmark, LeftOut, Metric, Program};

pub use names::{Launched, pair_names, side_names};
pub use pair::{Worker, pair, race_alone};

/// A program with the benchmarks that it lists. `L` is the listing of a worker, or the list of
/// names in an executable of another harness.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed<L> {
    /// The program and its arguments.
    pub program: Program,
    /// The benchmarks of this program, as the program lists them.
    pub listing: L,
}

/// A program, such as a bench target, in the old build and in the new build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target<S> {
    /// The name of the program; `None` if each build has only one program.
    pub name: Option<String>,
    /// The program in the old build, then in the new build; `None` if a build does not contain it.
    pub sides: [Option<S>; 2],
}

/// The selected benchmarks of two builds: the pairs that race, and those that cannot race.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairing {
    /// The benchmarks to race, in the order of the old build, before their calibration runs.
    pub benchmarks: Vec<Benchmark>,
    /// The selected benchmarks that cannot race, each with its reason.
    pub left_out: Vec<LeftOut>,
    /// The metrics that are recorded with every sample: the metrics that all racing workers
    /// measure.
    pub metrics: Vec<Metric>,
}

/// Returns the targets, each with a prefix for the names of its benchmarks. The prefix is `None` if
/// only one target has benchmarks.
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
    /// Removes the metrics that this worker does not measure. The `first` worker sets the metrics.
    fn meet(&mut self, listing: &WorkerListing, first: bool) {
        if first {
            self.metrics.clone_from(&listing.metrics)
        } else {
            self.metrics.retain(|one| listing.metrics.contains(one))
        }
    }
}

/// Returns the reason why two benchmarks with the same name cannot race; `None` if they can race.
/// `sides` are the names of the old and the new build.
fn unlike(old: &ListedBenchmark, new: &ListedBenchmark, sides: &[String; 2]) -> Option<String> {
    let [baseline, candidate] = sides;
    if old.threads != new.threads {
        let threads = |count: u32| match count {
            1 => "1 thread".to_owned(),
            count => format!("{count} threads"),
        };
        return Some(format!(
            "on {} in '{baseline}', but on {} in '{candidate}'",
            threads(old.threads),
            threads(new.threads)
        ));
    }
    if old.parameters != new.parameters {
        return Some(format!(
            "{} in '{baseline}', but {} in '{candidate}'",
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
            "on 1 thread in 'old', but on 4 threads in 'new'"
        );
        assert_eq!(
            why(&long, &plain).unwrap(),
            "length=100 in 'old', but no parameters in 'new'"
        );
    }
}
