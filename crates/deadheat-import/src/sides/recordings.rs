//! Finds the recordings in files of saved results. A file may hold several recordings, and several
//! files may be copies of one recording. Also gives benchmarks the same names on all sides.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::naming::name_together;
use crate::results::{ResultBenchmark, Results};

/// The tool that stores each benchmark in a separate folder and copies it from set to set.
const CRITERION: &str = "criterion";

/// A side with this many files has enough recordings for a verdict, each from a different time, so
/// that its files are not split.
const ENOUGH_FILES: usize = 6;

/// Returns the recordings in the files of a side. Splits a file to which several runs were
/// appended. Keeps only the first of several copies of a recording, with the paths of the others.
pub fn tell_recordings_apart(files: Vec<Results>) -> Vec<Results> {
    let apart = files.len() < ENOUGH_FILES;
    let recordings = files.into_iter().flat_map(|file| match apart {
        true => file.into_recordings(),
        false => vec![file],
    });
    let mut kept: Vec<Results> = Vec::new();
    let mut places: HashMap<u64, usize> = HashMap::new();
    for recording in recordings {
        let digest = recording.facts.digest;
        let place = digest.map_or(kept.len(), |digest| {
            *places.entry(digest).or_insert(kept.len())
        });
        match kept.get_mut(place) {
            Some(same) => same.facts.copies.push(recording.source),
            None => kept.push(recording),
        }
    }
    kept
}

/// Gives benchmarks with equal identities equal names in all files of all sides.
pub fn name_alike(sides: &mut [Vec<Results>]) {
    let mut files: Vec<&mut [Results]> = sides.iter_mut().map(Vec::as_mut_slice).collect();
    name_together(&mut files);
}

/// Returns the digest of one benchmark in one recording. The digest includes the values of the
/// benchmark, because two sides may be two families of one file. For criterion, the digest does not
/// include the other benchmarks of the folder, because criterion copies single benchmarks.
pub(super) fn recording(results: &Results, benchmark: &ResultBenchmark) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    let file = results.facts.digest?;
    if results.tool != CRITERION {
        file.hash(&mut hasher);
    }
    benchmark.digest().hash(&mut hasher);
    Some(hasher.finish())
}

/// Returns the names that occur several times in the file, so that only their order distinguishes
/// them.
pub(super) fn repeated(results: &Results) -> Vec<String> {
    let repeated = results.benchmarks.iter().filter(|one| one.repeated);
    repeated.map(|one| one.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::Metric;

    fn file(source: &str, values: &[f64]) -> Results {
        let mut results = Results::new(source, "x");
        results.push(ResultBenchmark {
            name: "a".to_owned(),
            metrics: vec![Metric::Wall],
            processes: (0..values.len() as u32).collect(),
            values: values.to_vec(),
            ..ResultBenchmark::default()
        });
        results.facts.digest = Some(results.digest());
        results.processes_stand_alone = true;
        results
    }

    #[test]
    fn a_few_files_are_taken_apart_and_six_are_recordings() {
        let files = |count: u32| -> Vec<Results> {
            let one = |n| file("a", &[f64::from(n), 0.5]);
            (1..=count).map(one).collect()
        };
        for (count, recordings) in [(1, 2), (2, 4), (5, 10), (6, 6)] {
            assert_eq!(tell_recordings_apart(files(count)).len(), recordings);
        }
    }

    #[test]
    fn copies_count_once_and_are_named() {
        let files = vec![file("a", &[1.0]), file("b", &[2.0]), file("c", &[1.0])];
        let kept = tell_recordings_apart(files);
        assert_eq!(kept.len(), 2);
        assert_eq!(kept[0].facts.copies, ["c"]);
        // Runs of one file are different runs, even with equal values.
        assert_eq!(tell_recordings_apart(vec![file("a", &[1.0, 1.0])]).len(), 2);
        // Files without a digest are not compared.
        let mut unknown = vec![file("a", &[1.0]), file("b", &[1.0])];
        unknown.iter_mut().for_each(|file| file.facts.digest = None);
        assert_eq!(tell_recordings_apart(unknown).len(), 2);
    }

    #[test]
    fn two_families_of_a_file_are_no_copies_of_each_other() {
        let mut results = file("a", &[1.0]);
        let mut other = results.benchmarks[0].clone();
        other.values[0] = 2.0;
        results.push(other);
        let of = |place: usize| recording(&results, &results.benchmarks[place]);
        assert!(of(0).is_some() && of(0) != of(1));
    }
}
