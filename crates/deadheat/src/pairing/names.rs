//! Pairs benchmarks of which only the names are known, such as those of executables of other
//! harnesses.

use std::collections::HashMap;
use std::path::Path;

use deadheat_engine::HarnessListing;
use deadheat_model::{LeftOut, LeftOutReason};

use super::{Listed, Pairing, Target, named};
use crate::race::harness_benchmark;
use crate::settings::{Selection, distinct, titled};

/// An executable of another harness in the old and the new build, each with the names of its
/// benchmarks. Both executables use the same harness.
pub type Launched = Target<Listed<HarnessListing>>;

/// Pairs the benchmarks of two builds by name. `sides` are the names of the old and the new build.
pub fn pair_names(targets: &[Launched], sides: &[String; 2], selection: &Selection) -> Pairing {
    let mut pairing = Pairing::default();
    for (target, prefix) in named(targets, |listing| !listing.names.is_empty()) {
        let mut sides_built = target.sides.iter().flatten();
        let harness = sides_built.next().map(|listed| listed.listing.harness);
        let [old, new] = target.sides.each_ref().map(|side| {
            let names = side.as_ref().map(|listed| &listed.listing.names);
            names.map_or(&[][..], Vec::as_slice)
        });
        // For each name, the number of benchmarks with this name on each side.
        let mut counts: HashMap<&String, [usize; 2]> = HashMap::new();
        for (side, names) in [old, new].into_iter().enumerate() {
            for name in names {
                counts.entry(name).or_default()[side] += 1;
            }
        }
        for name in old.iter().chain(new) {
            let shown = Shown::benchmark(prefix, name, &[]);
            // A name that occurs several times is handled at its first occurrence.
            let Some(times) = counts.remove(name) else {
                continue;
            };
            if !shown.is_selected(selection, false) {
                continue;
            }
            let reason = match times {
                [1, 1] => {
                    let listed = target.sides.iter().flatten();
                    let sides = sides.iter().zip(listed).map(|(side, listed)| {
                        let known = listed.listing.known_as(name);
                        (&**side, &listed.program, known)
                    });
                    let benchmark =
                        harness_benchmark(&shown.whole, harness.unwrap_or_default(), sides);
                    pairing.benchmarks.push(benchmark);
                    continue;
                }
                [_, 0] => LeftOutReason::OnlyIn(sides[0].clone()),
                [0, _] => LeftOutReason::OnlyIn(sides[1].clone()),
                [old, _] if old > 1 => several_of_the_name(&sides[0], times[0]),
                _ => several_of_the_name(&sides[1], times[1]),
            };
            pairing.left_out.push(LeftOut {
                benchmark: shown.whole,
                reason,
            });
        }
    }
    pairing
}

/// Returns the reason for leaving out a name that several benchmarks of a side have. The harness
/// selects benchmarks by name, so a launch would run all of them.
fn several_of_the_name(side: &str, times: usize) -> LeftOutReason {
    LeftOutReason::NotAlike(format!("'{side}' has {times} benchmarks of this name"))
}

/// The names by which a selection can choose a benchmark or contender.
pub(super) struct Shown {
    own: String,
    /// The name in the answer, which includes the target if there are several targets, and the
    /// contender if the contenders race separately.
    pub(super) whole: String,
    /// The title of the row in the answer: the name, followed by the parameters that it does not
    /// contain.
    title: String,
}

impl Shown {
    /// Returns the names of a benchmark. `target` is the prefix of its names, if there are several
    /// targets.
    pub(super) fn benchmark(
        target: Option<&str>,
        name: &str,
        parameters: &[(String, String)],
    ) -> Self {
        let whole = match target {
            Some(target) => format!("{target}::{name}"),
            None => name.to_owned(),
        };
        Self {
            own: name.to_owned(),
            title: titled(&whole, parameters),
            whole,
        }
    }

    /// Returns the names of a race of only this contender of the benchmark.
    pub(super) fn contender(&self, contender: &str) -> Self {
        Self {
            own: self.own.clone(),
            whole: format!("{} ({contender})", self.whole),
            title: self.title.clone(),
        }
    }

    pub(super) fn is_selected(&self, selection: &Selection, ignored: bool) -> bool {
        selection.runs(ignored) && selection.names_any(&[&self.own, &self.whole, &self.title])
    }
}

/// Returns names for two programs from a command line: their file names if these differ, otherwise
/// the full texts. If the texts are equal too, the names are numbered.
pub fn side_names(given: [&str; 2]) -> [String; 2] {
    let files = given.map(file_name);
    let [old, new] = if files[0] == files[1] { given } else { files };
    let mut names = distinct(vec![old.to_owned(), new.to_owned()]);
    let new = names.pop().unwrap_or_default();
    [names.pop().unwrap_or_default(), new]
}

/// Returns the file name of a path. Returns a command of several words unchanged.
fn file_name(given: &str) -> &str {
    let name = Path::new(given).file_name().and_then(|name| name.to_str());
    match name {
        Some(name) if !given.contains(char::is_whitespace) => name,
        _ => given,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::{Benchmark, Program, Workload};
    use proptest::prelude::*;

    fn target<N: ToString>(old: &[N], new: &[N]) -> Launched {
        let listed = |names: &[N]| {
            Some(Listed {
                program: Program::default(),
                listing: HarnessListing {
                    names: names.iter().map(N::to_string).collect(),
                    ..HarnessListing::default()
                },
            })
        };
        Target {
            name: Some("suite".to_owned()),
            sides: [listed(old), listed(new)],
        }
    }

    /// Returns the name that the programs use for a benchmark, and checks that it is the same in
    /// all of them.
    fn known(benchmark: &Benchmark) -> &str {
        let mut contenders = benchmark.contenders.iter().map(|one| match &one.workload {
            Workload::Harness(calls) => &*calls.benchmark,
            other => panic!("{other:?}"),
        });
        let first = contenders.next().unwrap();
        assert_eq!(contenders.collect::<Vec<_>>(), [first]);
        first
    }

    fn sides() -> [String; 2] {
        ["old", "new"].map(str::to_owned)
    }

    #[test]
    fn names_pair_once_and_what_cannot_is_left_out() {
        let target = target(&["a", "b", "twice", "twice"], &["twice", "c", "a"]);
        let pairing = pair_names(&[target], &sides(), &Selection::default());
        assert_eq!(pairing.benchmarks.len(), 1);
        assert_eq!(pairing.benchmarks[0].name, "a");
        let left: Vec<(&str, &LeftOutReason)> = pairing
            .left_out
            .iter()
            .map(|one| (one.benchmark.as_str(), &one.reason))
            .collect();
        let only = |side: &str| LeftOutReason::OnlyIn(side.to_owned());
        let twice = several_of_the_name("old", 2);
        assert_eq!(
            left,
            [("b", &only("old")), ("twice", &twice), ("c", &only("new"))]
        );
    }

    #[test]
    fn each_side_is_launched_by_what_its_program_knows_the_benchmark_as() {
        let mut target = target(&["a", "b"], &["b"]);
        let numbers = [&["0 a", "1 b"][..], &["0 b"]];
        for (side, numbers) in target.sides.iter_mut().flatten().zip(numbers) {
            side.listing.known_as = numbers.iter().map(|one| (*one).to_owned()).collect();
        }
        let pairing = pair_names(&[target], &sides(), &Selection::default());
        assert_eq!(pairing.benchmarks[0].name, "b");
        let contenders = pairing.benchmarks[0].contenders.iter();
        let known = contenders.map(|one| match &one.workload {
            Workload::Harness(calls) => &*calls.benchmark,
            other => panic!("{other:?}"),
        });
        assert_eq!(known.collect::<Vec<_>>(), ["1 b", "0 b"]);
    }

    #[test]
    fn of_several_targets_each_is_named() {
        let targets = [target(&["a"], &["a"]), target(&["a"], &[])];
        let pairing = pair_names(&targets, &sides(), &Selection::default());
        assert_eq!(pairing.benchmarks[0].name, "suite::a");
        assert_eq!(known(&pairing.benchmarks[0]), "a");
        assert_eq!(pairing.left_out[0].benchmark, "suite::a");
    }

    proptest! {
        #[test]
        fn every_name_is_in_exactly_one_pair_or_row(
            old in prop::collection::vec("[a-d]", 0..6),
            new in prop::collection::vec("[a-d]", 0..6),
        ) {
            let pairing = pair_names(&[target(&old, &new)], &sides(), &Selection::default());
            let pairs: Vec<&str> = pairing.benchmarks.iter().map(known).collect();
            let left_out = &pairing.left_out;
            for name in old.iter().chain(&new) {
                let raced = pairs.iter().filter(|pair| **pair == name).count();
                let left = left_out.iter().filter(|one| one.benchmark == *name).count();
                prop_assert_eq!(raced + left, 1);
            }
            prop_assert!(pairs.iter().map(|p| p.to_string()).all(|p| old.contains(&p) && new.contains(&p)));
        }
    }

    #[test]
    fn a_row_can_be_asked_for_by_its_own_name_and_by_the_one_that_is_shown() {
        let shown = Shown::benchmark(Some("text"), "sum", &[]).contender("loop");
        assert_eq!(shown.whole, "text::sum (loop)");
        let selected = |filter: &str| {
            let selection = Selection {
                filters: vec![filter.to_owned()],
                exact: true,
                ..Selection::default()
            };
            shown.is_selected(&selection, false)
        };
        assert!(selected("sum") && selected("text::sum (loop)"));
        assert!(!selected("loop"));
    }

    #[test]
    fn sides_are_called_by_as_little_as_tells_them_apart() {
        for (given, named) in [
            (["./old/sum", "./new/total"], ["sum", "total"]),
            (["./old/sum", "./new/sum"], ["./old/sum", "./new/sum"]),
            (["./sum", "./sum"], ["./sum", "./sum (2)"]),
            (
                ["python3 a/w.py", "python3 b/w.py"],
                ["python3 a/w.py", "python3 b/w.py"],
            ),
            (["./native", "python3 w.py"], ["native", "python3 w.py"]),
        ] {
            assert_eq!(side_names(given), named.map(str::to_owned));
        }
    }
}
