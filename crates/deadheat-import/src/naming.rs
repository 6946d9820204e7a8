//! Names the benchmarks of other tools: each identity gets the shortest name that is unambiguous in
//! all files of all sides.

use std::collections::{HashMap, HashSet};

use crate::identity::{Identity, Qualifier, QualifierPlace, QualifierShown};
use crate::results::Results;

/// Names the benchmarks of all files of all sides: equal names for equal identities, and different
/// names for different identities on one side. If benchmarks with the same base name differ in a
/// qualifier on any side, their names show this qualifier on every side.
///
/// Benchmarks that differ only between the sides get the same name. The caller decides whether they
/// measure the same work.
pub fn name_together(sides: &mut [&mut [Results]]) {
    let shown = shown_qualifiers(sides);
    if shown.is_empty() {
        return;
    }
    let kinds: HashMap<&str, HashSet<Kind<'_>>> = shown
        .iter()
        .map(|(base, some)| (&**base, some.iter().map(Qualifier::kind).collect()))
        .collect();
    for results in sides.iter_mut().flat_map(|side| side.iter_mut()) {
        results.rename(|identity| {
            let kinds = kinds.get(&*identity.base)?;
            Some(identity.name(|one| kinds.contains(&one.kind())))
        });
    }
}

type Kind<'r> = (QualifierPlace, &'r str);

impl Qualifier {
    fn kind(&self) -> Kind<'_> {
        (self.place, &self.key)
    }
}

/// The identity of a benchmark, with the indexes of its side and of its file.
struct Placed<'r> {
    side: usize,
    file: usize,
    identity: &'r Identity,
}

impl Placed<'_> {
    fn of_file(&self) -> (usize, usize) {
        (self.side, self.file)
    }
}

/// Returns the qualifiers that names show, by base name.
fn shown_qualifiers(sides: &[&mut [Results]]) -> HashMap<String, Vec<Qualifier>> {
    let mut groups: HashMap<&str, Vec<Placed<'_>>> = HashMap::new();
    for (side, files) in sides.iter().enumerate() {
        for (file, results) in files.iter().enumerate() {
            for benchmark in &results.benchmarks {
                let identity = &benchmark.identity;
                if !identity.is_empty() {
                    let of_base = groups.entry(&identity.base).or_default();
                    of_base.push(Placed {
                        side,
                        file,
                        identity,
                    });
                }
            }
        }
    }
    let groups = groups.into_iter();
    groups
        .map(|(base, all)| (base.to_owned(), shown_of(&all)))
        .collect()
}

/// A kind of qualifier, with the index and the value of each benchmark that has it.
struct Holders<'r> {
    qualifier: Qualifier,
    values: Vec<(usize, &'r str)>,
}

/// Returns the qualifiers that the names with one base show; `all` is ordered by side and file. The
/// time is proportional to the number of all qualifiers: a file of 6 MB can hold 60,000 kinds.
fn shown_of(all: &[Placed<'_>]) -> Vec<Qualifier> {
    let mut kinds: Vec<Holders<'_>> = Vec::new();
    let mut places: HashMap<Kind<'_>, usize> = HashMap::new();
    for (benchmark, one) in all.iter().enumerate() {
        for one in &one.identity.qualifiers {
            let next = kinds.len();
            let place = *places.entry((one.place, &one.key)).or_insert(next);
            if place == next {
                kinds.push(Holders {
                    qualifier: one.clone(),
                    values: Vec::new(),
                });
            }
            let kind = &mut kinds[place];
            // The condition that shows the qualifier least often counts, because a job may have a
            // custom name on one side only.
            kind.qualifier.shown = kind.qualifier.shown.max(one.shown);
            if kind.values.last().is_none_or(|last| last.0 != benchmark) {
                kind.values.push((benchmark, &one.value));
            }
        }
    }
    let mut in_file: HashMap<(usize, usize), usize> = HashMap::new();
    for one in all {
        *in_file.entry(one.of_file()).or_default() += 1;
    }
    kinds.retain(|kind| is_shown(kind, all, &in_file));
    kinds.into_iter().map(|kind| kind.qualifier).collect()
}

/// Returns true if names show this kind of qualifier. `in_file` has the number of benchmarks of
/// each file.
fn is_shown(
    kind: &Holders<'_>,
    all: &[Placed<'_>],
    in_file: &HashMap<(usize, usize), usize>,
) -> bool {
    let told_apart = |some: &[(usize, &str)]| differ(some.iter().map(|(_, value)| value));
    let in_a_file = || {
        let file = |one: &(usize, &str)| all[one.0].of_file();
        let mut files = kind.values.chunk_by(|a, b| file(a) == file(b));
        // Within one file, a benchmark without the qualifier differs from one with it. Another file
        // may just not have recorded it.
        files.any(|some| some.len() < in_file[&file(&some[0])] || told_apart(some))
    };
    let on_a_side = || {
        let mut sides = kind.values.chunk_by(|a, b| all[a.0].side == all[b.0].side);
        sides.any(told_apart)
    };
    match kind.qualifier.shown {
        QualifierShown::Always => !told_apart(&kind.values) || in_a_file() || on_a_side(),
        QualifierShown::IfSideDiffers => in_a_file() || on_a_side(),
        QualifierShown::IfFileDiffers => in_a_file(),
    }
}

fn differ<T: PartialEq>(mut values: impl Iterator<Item = T>) -> bool {
    let first = values.next();
    values.any(|value| Some(&value) != first.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::ResultBenchmark;

    fn sort(package: &str, mode: &str, machine: &str) -> Identity {
        let mut identity = Identity::new("Sort");
        for (key, value, place, shown) in [
            (
                "package",
                package,
                QualifierPlace::Package,
                QualifierShown::IfSideDiffers,
            ),
            ("mode", mode, QualifierPlace::Mode, QualifierShown::Always),
            (
                "machine",
                machine,
                QualifierPlace::Setting,
                QualifierShown::IfFileDiffers,
            ),
        ] {
            if !value.is_empty() {
                identity = identity.with(key, value.to_owned(), place, shown);
            }
        }
        identity
    }

    fn file(identities: &[&Identity]) -> Results {
        let mut results = Results::new("a", "x");
        for identity in identities {
            results.push(ResultBenchmark {
                identity: Identity::clone(identity),
                ..ResultBenchmark::default()
            });
        }
        results
    }

    fn named(sides: &[&[&[&Identity]]]) -> Vec<Vec<Vec<String>>> {
        let files = |files: &&[&[&Identity]]| files.iter().map(|one| file(one)).collect();
        let mut sides: Vec<Vec<Results>> = sides.iter().map(files).collect();
        let mut borrowed: Vec<&mut [Results]> = sides.iter_mut().map(Vec::as_mut_slice).collect();
        name_together(&mut borrowed);
        let names = |results: &Results| -> Vec<String> {
            results.benchmarks.iter().map(|b| b.name.clone()).collect()
        };
        sides
            .iter()
            .map(|side| side.iter().map(names).collect())
            .collect()
    }

    #[test]
    fn what_one_side_needs_is_shown_on_all() {
        let (a, b) = (sort("a", "avgt", ""), sort("b", "avgt", ""));
        let names = named(&[&[&[&a]], &[&[&a, &b]]]);
        assert_eq!(
            names,
            [[vec!["a.Sort:avgt"]], [vec!["a.Sort:avgt", "b.Sort:avgt"]]]
        );
        // Benchmarks in separate files are still different.
        let names = named(&[&[&[&a], &[&b]], &[&[&a]]]);
        assert_eq!(names[0], [["a.Sort:avgt"], ["b.Sort:avgt"]]);
        assert_eq!(names[1], [["a.Sort:avgt"]]);
        assert_eq!(named(&[&[&[&a]], &[&[&a]]])[1], [["Sort:avgt"]]);
    }

    #[test]
    fn where_only_the_sides_differ_they_meet() {
        let (a, b) = (sort("a", "avgt", "x"), sort("b", "thrpt", "y"));
        assert_eq!(named(&[&[&[&a]], &[&[&b]]]), [[["Sort"]], [["Sort"]]]);
    }

    #[test]
    fn files_may_differ_in_what_does_not_bind_and_one_file_may_not() {
        let (x, y) = (sort("", "avgt", "x"), sort("", "avgt", "y"));
        let names = named(&[&[&[&x], &[&y]]]);
        assert_eq!(names, [[["Sort:avgt"], ["Sort:avgt"]]]);
        let names = named(&[&[&[&x], &[&x, &y]]]);
        let shown = ["Sort:avgt (machine=x)", "Sort:avgt (machine=y)"];
        assert_eq!(names, [[vec![shown[0]], shown.to_vec()]]);
    }

    #[test]
    fn what_was_not_written_down_may_be_anything_but_within_a_file() {
        let (a, bare) = (sort("a", "avgt", ""), sort("", "avgt", ""));
        let names = named(&[&[&[&a], &[&bare]], &[&[&a]]]);
        assert!(
            names
                .iter()
                .flatten()
                .flatten()
                .all(|name| name == "Sort:avgt")
        );
        assert_eq!(named(&[&[&[&a, &bare]]]), [[["a.Sort:avgt", "Sort:avgt"]]]);
    }

    #[test]
    fn the_same_identity_twice_in_a_file_is_numbered() {
        let a = sort("a", "avgt", "");
        let names = named(&[&[&[&a, &a]]]);
        assert_eq!(names, [[["Sort:avgt", "Sort:avgt #2"]]]);
    }

    #[test]
    fn names_that_are_whole_stay() {
        let mut results = Results::new("a", "x");
        for name in ["a", "a"] {
            results.push(ResultBenchmark {
                name: name.to_owned(),
                ..ResultBenchmark::default()
            });
        }
        let before = results.clone();
        name_together(&mut [std::slice::from_mut(&mut results)]);
        assert_eq!(results, before);
        assert!(!results.benchmarks[0].repeated && results.benchmarks[1].repeated);
    }
}
