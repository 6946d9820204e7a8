//! Pairs of benchmarks of which nothing is known but their names, as of Google
//! Benchmark executables.

use std::path::Path;

use deadheat_model::{LeftOut, LeftOutReason};

use crate::settings::{Selection, distinct};

/// The benchmarks of one program as either build made it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedTarget {
    /// Its name, where a build makes several.
    pub name: Option<String>,
    /// The benchmarks of the old build and of the new one, where these made
    /// the program.
    pub sides: [Option<Vec<String>>; 2],
}

/// A benchmark that both builds of a target have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPair {
    /// The name shown.
    pub shown: String,
    /// The place of the target among those given.
    pub target: usize,
    /// By which both programs know it.
    pub benchmark: String,
}

/// Pairs the benchmarks of two builds, which are called by `sides`, by their
/// names.
pub fn pair_names(
    targets: &[NamedTarget],
    sides: &[String; 2],
    selection: &Selection,
) -> (Vec<NamedPair>, Vec<LeftOut>) {
    let mut pairs = Vec::new();
    let mut left_out = Vec::new();
    let of = |target: &NamedTarget, side: usize| target.sides[side].clone().unwrap_or_default();
    let holds_any = |target: &&NamedTarget| target.sides.iter().flatten().any(|s| !s.is_empty());
    let several = targets.iter().filter(holds_any).count() > 1;
    for (place, target) in targets.iter().enumerate() {
        let [old, new] = [of(target, 0), of(target, 1)];
        let prefix = target.name.as_deref().filter(|_| several);
        let only_new = new.iter().filter(|name| !old.contains(name));
        let mut seen: Vec<&String> = Vec::new();
        for name in old.iter().chain(only_new) {
            let shown = Shown::benchmark(prefix, name);
            if seen.contains(&name) || !shown.is_selected(selection, false) {
                continue;
            }
            seen.push(name);
            let times = [&old, &new].map(|side| side.iter().filter(|one| *one == name).count());
            let reason = match times {
                [1, 1] => {
                    pairs.push(NamedPair {
                        shown: shown.whole,
                        target: place,
                        benchmark: name.clone(),
                    });
                    continue;
                }
                [_, 0] => LeftOutReason::OnlyIn(sides[0].clone()),
                [0, _] => LeftOutReason::OnlyIn(sides[1].clone()),
                [old, _] if old > 1 => several_of_the_name(&sides[0], times[0]),
                _ => several_of_the_name(&sides[1], times[1]),
            };
            left_out.push(LeftOut {
                benchmark: shown.whole,
                reason,
            });
        }
    }
    (pairs, left_out)
}

/// A launch for one of them would run them all.
fn several_of_the_name(side: &str, times: usize) -> LeftOutReason {
    LeftOutReason::NotAlike(format!("'{side}' has {times} benchmarks of this name"))
}

/// The names that one row of the answer goes by.
pub(super) struct Shown {
    /// Within its program.
    own: String,
    /// Within the answer: with target and contender, where these are needed.
    pub(super) whole: String,
}

impl Shown {
    /// A benchmark, in a target that must be named or need not.
    pub(super) fn benchmark(target: Option<&str>, name: &str) -> Self {
        Self {
            own: name.to_owned(),
            whole: match target {
                Some(target) => format!("{target}::{name}"),
                None => name.to_owned(),
            },
        }
    }

    /// One contender of the benchmark.
    pub(super) fn contender(&self, contender: &str) -> Self {
        Self {
            own: self.own.clone(),
            whole: format!("{} ({contender})", self.whole),
        }
    }

    /// Returns whether it is selected, by any of its names.
    pub(super) fn is_selected(&self, selection: &Selection, ignored: bool) -> bool {
        selection.runs(ignored) && selection.names_any(&[&self.own, &self.whole])
    }
}

/// Names for two programs as they were given on a command line: the names of
/// their files where these differ, or else all of what was given. The same
/// program twice is numbered.
pub fn side_names(given: [&str; 2]) -> [String; 2] {
    let files = given.map(file_name);
    let [old, new] = if files[0] == files[1] { given } else { files };
    let mut names = distinct(vec![old.to_owned(), new.to_owned()]);
    let new = names.pop().unwrap_or_default();
    [names.pop().unwrap_or_default(), new]
}

/// The name of the file, if this is the path of one: a command of several
/// words is told whole.
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
    use proptest::prelude::*;

    fn target(old: &[&str], new: &[&str]) -> NamedTarget {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        NamedTarget {
            name: Some("suite".to_owned()),
            sides: [Some(owned(old)), Some(owned(new))],
        }
    }

    fn sides() -> [String; 2] {
        ["old", "new"].map(str::to_owned)
    }

    #[test]
    fn names_pair_once_and_what_cannot_is_left_out() {
        let target = target(&["a", "b", "twice", "twice"], &["twice", "c", "a"]);
        let (pairs, left_out) = pair_names(&[target], &sides(), &Selection::default());
        assert_eq!(pairs.len(), 1);
        assert_eq!((pairs[0].shown.as_str(), pairs[0].target), ("a", 0));
        let left: Vec<(&str, &LeftOutReason)> = left_out
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
    fn of_several_targets_each_is_named() {
        let targets = [target(&["a"], &["a"]), target(&["a"], &[])];
        let (pairs, left_out) = pair_names(&targets, &sides(), &Selection::default());
        assert_eq!(pairs[0].shown, "suite::a");
        assert_eq!(left_out[0].benchmark, "suite::a");
    }

    proptest! {
        #[test]
        fn every_name_is_in_exactly_one_pair_or_row(
            old in prop::collection::vec("[a-d]", 0..6),
            new in prop::collection::vec("[a-d]", 0..6),
        ) {
            let target = NamedTarget { name: None, sides: [Some(old.clone()), Some(new.clone())] };
            let (pairs, left_out) = pair_names(&[target], &sides(), &Selection::default());
            for name in old.iter().chain(&new) {
                let raced = pairs.iter().filter(|pair| pair.benchmark == *name).count();
                let left = left_out.iter().filter(|one| one.benchmark == *name).count();
                prop_assert_eq!(raced + left, 1);
            }
            prop_assert!(pairs.iter().all(|p| old.contains(&p.benchmark) && new.contains(&p.benchmark)));
        }
    }

    #[test]
    fn a_row_can_be_asked_for_by_its_own_name_and_by_the_one_that_is_shown() {
        let shown = Shown::benchmark(Some("text"), "sum").contender("loop");
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
