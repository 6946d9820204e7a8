//! Several benchmarks together: what belongs to one, how it is called, and
//! what is said once for all.

use deadheat_model::{Comparison, FailedBenchmark, Side};

use crate::doubts::Told;
use crate::glyphs::Glyphs;
use crate::names::escape;

/// The comparisons of each benchmark: one per candidate, which follow each
/// other. The same benchmark with other parameter values is another one.
pub(crate) fn groups(comparisons: &[Comparison]) -> Vec<&[Comparison]> {
    comparisons
        .chunk_by(|a, b| a.benchmark == b.benchmark && a.parameters == b.parameters)
        .collect()
}

/// The contenders of a benchmark, the baseline first.
pub(crate) fn sides(group: &[Comparison]) -> Vec<&Side> {
    let candidates = group.iter().filter_map(|c| c.candidate.as_ref());
    std::iter::once(&group[0].baseline)
        .chain(candidates)
        .collect()
}

/// Their names.
pub(crate) fn names(group: &[Comparison]) -> Vec<&str> {
    sides(group).iter().map(|side| side.name.as_str()).collect()
}

/// A benchmark's name with the parameter values it does not already tell.
pub(crate) fn title(comparison: &Comparison, glyphs: Glyphs) -> String {
    title_of(&comparison.benchmark, &comparison.parameters, glyphs)
}

/// The same of a benchmark that failed.
pub(crate) fn failed_title(failure: &FailedBenchmark, glyphs: Glyphs) -> String {
    title_of(&failure.benchmark, &failure.parameters, glyphs)
}

/// A name with what it does not already tell; what has no key stands by itself.
pub(crate) fn title_of(benchmark: &str, parameters: &[(String, String)], glyphs: Glyphs) -> String {
    let parameters: Vec<String> = parameters
        .iter()
        .map(|(key, value)| match key.as_str() {
            "" => value.clone(),
            key => format!("{key}={value}"),
        })
        .filter(|parameter| !benchmark.contains(parameter.as_str()))
        .collect();
    let name = escape(benchmark, glyphs);
    let parameters = escape(&parameters.join(", "), glyphs);
    match (name.is_empty(), parameters.is_empty()) {
        (true, true) => "(no name)".to_owned(),
        (true, false) => parameters,
        (false, true) => name,
        (false, false) => format!("{name} ({parameters})"),
    }
}

/// What is said once at the end instead of under every benchmark: information
/// that more than one has in common, and doubts that all have in common. A
/// doubt that some benchmarks are free of stays with those it concerns.
pub(crate) fn shared_doubts(doubts: &[Vec<Told>]) -> Vec<Told> {
    let mut shared: Vec<Told> = Vec::new();
    for told in doubts.iter().flatten() {
        if shared.contains(told) {
            continue;
        }
        let times = doubts.iter().filter(|group| group.contains(told)).count();
        let common = times > 1 && (told.information || times == doubts.len());
        if common {
            shared.push(told.clone());
        }
    }
    shared.sort_by_key(|told| told.information);
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(information: bool, text: &str) -> Told {
        Told {
            information,
            text: text.to_owned(),
        }
    }

    #[test]
    fn what_concerns_some_benchmarks_only_stays_with_them() {
        let (note, doubt) = (told(true, "linked once"), told(false, "bimodal"));
        let all = told(false, "interrupted");
        let groups = [
            vec![doubt.clone(), note.clone(), all.clone()],
            vec![doubt, note.clone(), all.clone()],
            vec![all.clone()],
        ];
        assert_eq!(shared_doubts(&groups), [all, note]);
    }

    #[test]
    fn one_benchmark_shares_nothing() {
        assert_eq!(shared_doubts(&[vec![told(true, "linked once")]]), []);
    }
}
