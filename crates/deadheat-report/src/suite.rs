//! Several benchmarks together: what belongs to one, how it is called, and
//! what is said once for all.

use deadheat_model::{Comparison, FailedBenchmark, Side};

use crate::called::Source;
use crate::enumeration::enumerated;
use crate::glyphs::Glyphs;
use crate::names::escape;
use crate::warnings::{WarningText, warnings_first};

/// The comparisons of each benchmark: one per candidate, which follow each
/// other. The same benchmark with other parameter values is another one.
pub(crate) fn groups(comparisons: &[Comparison]) -> Vec<&[Comparison]> {
    comparisons
        .chunk_by(Comparison::is_of_one_benchmark_with)
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

/// The threads of a benchmark, where its name does not tell them: that of
/// Google Benchmark does, and the number behind one of Go is no more than how
/// many may run at once.
pub(crate) fn threads_beside(comparison: &Comparison) -> Option<u32> {
    let is_told = |threads: &u32| {
        let name = &comparison.benchmark;
        name.contains("threads:") || name.ends_with(&format!("-{threads}"))
    };
    comparison.threads.filter(|threads| !is_told(threads))
}

/// Whether a benchmark has no name but what `deadheat run` calls a race of any
/// commands, which then have to tell what it is.
pub(crate) fn is_any_run(group: &[Comparison], source: Source) -> bool {
    let is_any = |first: &Comparison| first.benchmark == "run" && first.parameters.is_empty();
    source == Source::Commands && group.first().is_some_and(is_any)
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
pub(crate) fn shared_doubts(doubts: &[Vec<WarningText>]) -> Vec<WarningText> {
    let mut shared: Vec<WarningText> = Vec::new();
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
    warnings_first(shared, |told| told.information)
}

/// Benchmarks named where something holds for several.
const NAMED: usize = 4;

/// What is said of a suite where every benchmark has a line only: each thing
/// once, doubts first, with the titles of the benchmarks it is about where
/// these are not all. Of a kind of doubt whose words differ from benchmark to
/// benchmark the first is told, and whom else it concerns.
pub(crate) fn told_together(benchmarks: &[(String, Vec<WarningText>)]) -> Vec<WarningText> {
    let mut together: Vec<(WarningText, Vec<&str>, bool)> = Vec::new();
    for (title, told) in benchmarks {
        for one in told {
            match together
                .iter_mut()
                .find(|(first, ..)| first.code == one.code)
            {
                Some((first, titles, differ)) => {
                    *differ |= first.text != one.text;
                    if titles.last() != Some(&title.as_str()) {
                        titles.push(title);
                    }
                }
                None => together.push((one.clone(), vec![title], false)),
            }
        }
    }
    let together = warnings_first(together, |(told, ..)| told.information);
    let all = benchmarks.len();
    let words = together.into_iter().map(|(told, titles, differ)| {
        let text = match (differ, &titles[..]) {
            (false, titles) if titles.len() == all || told.information => told.text,
            (true, [first, others @ ..]) if !others.is_empty() => {
                let others = named(others);
                format!(
                    "'{first}': {} The like holds for {others} (-v tells).",
                    told.text
                )
            }
            (_, titles) => format!("{}: {}", named(titles), told.text),
        };
        WarningText { text, ..told }
    });
    words.collect()
}

/// The first few titles, and how many more there are.
fn named(titles: &[&str]) -> String {
    let (first, more) = titles.split_at(titles.len().min(NAMED));
    let mut words: Vec<String> = first.iter().map(|title| format!("'{title}'")).collect();
    if !more.is_empty() {
        words.push(format!("{} more", more.len()));
    }
    enumerated(&words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(information: bool, text: &str) -> WarningText {
        WarningText {
            information,
            code: if information { "note" } else { "doubt" },
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_suite_is_told_each_thing_once_and_of_whom() {
        let (note, doubt) = (told(true, "Linked once."), told(false, "Groups disagree."));
        let other = told(false, "Groups disagree by 3 %.");
        let suite = |told: [Vec<WarningText>; 3]| {
            let titles = ["a", "b", "c"].map(str::to_owned);
            let told = told_together(&titles.into_iter().zip(told).collect::<Vec<_>>());
            told.into_iter().map(|told| told.text).collect::<Vec<_>>()
        };
        let mixed = suite([vec![note.clone()], vec![doubt.clone(), note], vec![]]);
        assert_eq!(mixed, ["'b': Groups disagree.", "Linked once."]);
        let all = suite([
            vec![doubt.clone()],
            vec![doubt.clone()],
            vec![doubt.clone()],
        ]);
        assert_eq!(all, ["Groups disagree."]);
        let differ = suite([vec![doubt], vec![], vec![other]]);
        let words = ["'a': Groups disagree. The like holds for 'c' (-v tells)."];
        assert_eq!(differ, words);
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
