//! Sentences about a comparison of saved results: titles, counts of verdicts, whether the data
//! allow verdicts, and warnings with their benchmarks.

use std::collections::HashMap;

use deadheat_model::{
    Analysis, Better, Comparison, FailedBenchmark, LeftOut, LeftOutReason, Metric, Overall,
    Verdict, Warning,
};

use super::rows::{self, Labels, Scene};
use crate::glyphs::Glyphs;
use crate::names::{escape, first_of, gathered, shorten};
use crate::sentences::{self, Source};
use crate::suite::{self, left_out_cell, tally_with};
use crate::units::{counted, p_value};
use crate::warnings::{WarningText, is_information, sentence, warnings_first};

const NAMED: usize = 10;

/// Maximum width, in columns, of a name in a sentence.
const NAME: usize = 60;

const FAILURES: usize = 20;

/// Formats the p-value of a faster or slower verdict. Returns `None` for other verdicts, which are
/// not based on a test of zero change, and for verdicts that only the interval decided.
pub(super) fn p_of_the_change(comparison: &Comparison) -> Option<String> {
    let called = matches!(comparison.verdict, Some(Verdict::Faster | Verdict::Slower));
    let p = comparison
        .evidence
        .p_looks
        .filter(|p| *p <= comparison.terms.alpha);
    p.filter(|_| called).map(p_value)
}

/// Returns the name of a metric as a title. The title says if more is better or if the better
/// direction is unknown.
pub(super) fn metric_title(metric: &Metric, glyphs: Glyphs) -> String {
    let name = sentences::metric(metric, glyphs);
    match metric.better() {
        Better::Less => name,
        Better::More => format!("{name} (more is better)"),
        Better::Unknown => format!("{name} (unknown whether less or more is better)"),
    }
}

pub(super) fn overall_of(overall: &Overall) -> String {
    let benchmarks = overall.benchmarks as u64;
    format!("of {}", counted(benchmarks, "benchmark", "benchmarks"))
}

/// Returns the reason why a benchmark is not compared, short enough for a cell.
pub(super) fn left_out(reason: &LeftOutReason, labels: &Labels<'_>) -> String {
    match (left_out_cell(reason), reason) {
        (None, LeftOutReason::OnlyIn(side)) => format!("only in '{}'", labels.any(side)),
        (word, _) => word.unwrap_or("left out").to_owned(),
    }
}

/// Returns a sentence with the number of rows for each verdict, and for each reason why a verdict
/// is missing.
pub(super) fn tally(analysis: &Analysis, labels: &Labels<'_>) -> String {
    let words = analysis.left_out.iter();
    let words = words.map(|one| (self::left_out(&one.reason, labels), one));
    let counts = gathered(words).into_iter();
    let left_out: Vec<_> = counts.map(|(word, all)| (all.len(), word)).collect();
    tally_with(&analysis.comparisons, &analysis.failures, &left_out)
}

/// Returns the sentence that `rows` unchanged rows are hidden; `None` for 0.
pub(super) fn hidden(rows: usize) -> Option<String> {
    let rows = counted(rows as u64, "unchanged row is", "unchanged rows are");
    (!rows.starts_with("0 ")).then(|| format!("Only changed rows are shown; {rows} hidden."))
}

pub(super) fn quiet(metrics: &[(String, usize)], analysis: &Analysis) -> Option<String> {
    let parts: Vec<String> = metrics
        .iter()
        .map(|(name, rows)| format!("{name} in {}", counted(*rows as u64, "row", "rows")))
        .collect();
    let judged = analysis.comparisons.iter().any(|one| one.verdict.is_some());
    let (head, tail) = match judged {
        true => ("No change found", ""),
        // Without verdicts, the program cannot claim that a metric did not change.
        false => ("Other metrics", " (--all-metrics shows them)"),
    };
    (!parts.is_empty()).then(|| format!("{head}: {}{tail}.", parts.join("; ")))
}

/// Joins the first names and counts the rest: "a, b and 3 more".
pub(super) fn listed<'n>(names: impl Iterator<Item = &'n str>, glyphs: Glyphs) -> String {
    first_of(
        names.map(|name| shorten(name, NAME, glyphs)).collect(),
        NAMED,
    )
}

/// Returns sentences about the benchmarks that failed; benchmarks with the same message share a
/// sentence.
pub(super) fn failures(failures: &[FailedBenchmark], glyphs: Glyphs) -> Vec<String> {
    let groups = gathered(failures.iter().map(|failure| (&failure.message, failure)));
    let title = |failure: &FailedBenchmark| suite::failed_title(failure, glyphs);
    let sentence = |(message, group): &(&String, Vec<&FailedBenchmark>)| match group.as_slice() {
        [failure] => {
            let title = shorten(&title(failure), NAME, glyphs);
            sentences::failed(&title, failure, glyphs)
        }
        several => {
            let titles: Vec<String> = several.iter().map(|failure| title(failure)).collect();
            let message = escape(message, glyphs);
            let message = shorten(&message, 400, glyphs);
            format!(
                "{} benchmarks failed: {}: {}.",
                several.len(),
                listed(titles.iter().map(String::as_str), glyphs),
                message.trim_end_matches('.')
            )
        }
    };
    let mut lines: Vec<String> = groups.iter().take(FAILURES).map(sentence).collect();
    let rest: usize = groups
        .iter()
        .skip(FAILURES)
        .map(|(_, group)| group.len())
        .sum();
    if rest > 0 {
        let rest = counted(rest as u64, "benchmark", "benchmarks");
        lines.push(format!(
            "{rest} more failed; the JSON and the CSV give the reasons."
        ));
    }
    lines
}

/// Returns the reasons why benchmarks were left out, if the rows do not show them.
pub(super) fn reasons(left_out: &[LeftOut], glyphs: Glyphs) -> Vec<String> {
    let with_words = |one: &&LeftOut| !matches!(one.reason, LeftOutReason::OnlyIn(_));
    let with_words: Vec<LeftOut> = left_out.iter().filter(with_words).cloned().collect();
    sentences::left_out(&with_words, glyphs)
}

/// Returns a sentence on whether the data allow verdicts, with the reasons for doubt; `None` if
/// nothing is compared.
pub(super) fn answers(analysis: &Analysis) -> Option<String> {
    let raced = || {
        let all = analysis.comparisons.iter();
        all.filter(|one| one.candidate.is_some())
    };
    let all = raced().count();
    let judged = raced().filter(|one| one.verdict.is_some()).count();
    let provisional = raced().filter(|one| one.evidence.provisional).count();
    if all == 0 {
        return None;
    }
    let but = match provisional {
        0 => "",
        _ => ", but some are provisional",
    };
    let answer = match judged {
        0 => "No verdict".to_owned(),
        judged if judged < all => format!("Verdicts for {judged} of {all} rows{but}"),
        _ if analysis.left_out.is_empty() => format!("All rows have a verdict{but}"),
        _ => format!("All compared rows have a verdict{but}"),
    };
    let concerned = |kind: fn(&Warning) -> bool| {
        let count = raced().filter(|one| one.warnings.iter().any(kind)).count();
        (count > 0).then(|| {
            if count == all {
                String::new()
            } else {
                format!(" in {count} of {all} rows")
            }
        })
    };
    let mut because: Vec<String> = Vec::new();
    because.extend(
        concerned(|one| matches!(one, Warning::DirectionUnknown { .. }))
            .map(|rows| format!("it is unknown whether less or more is better{rows}")),
    );
    because.extend(
        concerned(|one| matches!(one, Warning::SameRecordings { .. }))
            .map(|rows| format!("the values of both sides are equal{rows}")),
    );
    because.extend(concerned(Warning::is_one_a_side).map(|rows| {
        format!(
            "there is only one recording per side{rows}, so the variation from one recording to the \
             next is unknown"
        )
    }));
    // With one recording per side, a warning about pairing would add nothing.
    let unpaired = raced().filter(|one| !one.warnings.iter().any(Warning::is_one_a_side));
    let unpaired = unpaired.flat_map(|one| &one.warnings);
    if unpaired
        .clone()
        .any(|one| matches!(one, Warning::Unpaired { .. }))
    {
        because.push(
            "the samples are not paired, so one side may have run after the other".to_owned(),
        );
    }
    if unpaired.clone().any(|one| matches!(one, Warning::InTurns)) {
        because.push("the order of the sides was not random".to_owned());
    }
    because.extend(
        concerned(|one| matches!(one, Warning::Provisional))
            .map(|rows| format!("there is one replicate only{rows}")),
    );
    let few = |one: &Warning| {
        let few = matches!(
            one,
            Warning::FewObservations { .. } | Warning::FewReplicates { .. }
        );
        few && !one.is_one_a_side()
    };
    because.extend(concerned(few).map(|rows| format!("a side has too few recordings{rows}")));
    because.extend(
        concerned(|one| matches!(one, Warning::OnlySummaries { .. }))
            .map(|rows| format!("only a summary was kept{rows}")),
    );
    let mut doubts: Vec<&str> = Vec::new();
    for warning in &analysis.warnings {
        match warning {
            Warning::RecordedInOrder { .. } => {
                because.push("one side was recorded before the other".to_owned());
            }
            Warning::SharedRecordings { .. } => {
                because.push("the sides share recordings".to_owned());
            }
            Warning::RepeatedNames { .. } => {
                because.push("benchmarks of the same name are paired by their order".to_owned());
            }
            Warning::DifferentMachines { .. } => doubts.push("the machines differ"),
            Warning::DifferentTools { .. } => doubts.push("the tools or runtimes differ"),
            Warning::CpuScaling { .. } => {
                doubts.push("frequency scaling of the processor was on");
            }
            Warning::DebugRecording { .. } => doubts.push("a debug build was measured"),
            _ => {}
        }
    }
    let told = match (because.is_empty(), doubts.is_empty()) {
        (true, true) if judged == all && provisional == 0 => {
            return Some(format!("{answer}; the files show no reason for doubt."));
        }
        (true, _) => format!("{answer}."),
        (false, _) => format!("{answer}: {}.", because.join("; ")),
    };
    Some(match doubts.is_empty() {
        true => told,
        false => format!("{told} Reasons for doubt: {}.", doubts.join("; ")),
    })
}

/// Returns advice on how to get verdicts, if verdicts are missing because there are too few
/// recordings; otherwise `None`.
pub(super) fn remedy(analysis: &Analysis) -> Option<String> {
    let few = |one: &Warning| matches!(one, Warning::FewObservations { .. });
    let mut rows = analysis.comparisons.iter();
    if !rows.any(|one| one.verdict.is_none() && one.warnings.iter().any(few)) {
        return None;
    }
    let file = analysis.sides.first()?.files.first()?;
    let tool = file.tool.as_str();
    let race = match () {
        () if tool.starts_with("Google Benchmark") => {
            "; deadheat bench OLD NEW races the two executables instead"
        }
        () if tool.starts_with("hyperfine") => {
            "; deadheat run OLD NEW races the two commands instead"
        }
        () => "",
    };
    // criterion writes a folder for each recording.
    if tool.starts_with("criterion") {
        return Some(
            "A verdict needs six folders per side, recorded in turns: deadheat compare old/* \
             --against new/*."
                .to_owned(),
        );
    }
    let ending = match file.source.rsplit_once('.') {
        Some((_, ending)) if ending.chars().all(|c| c.is_ascii_alphanumeric()) => ending,
        _ => "json",
    };
    Some(format!(
        "A verdict needs six files per side, recorded in turns: deadheat compare old/*.{ending} \
         --against new/*.{ending}{race}."
    ))
}

/// If more warnings than this differ only in their numbers, only the first is shown in full.
const OF_A_KIND: usize = 3;

/// All warnings with the same code, which differ only in their numbers.
struct Kind {
    information: bool,
    code: &'static str,
    /// The distinct warning sentences, each with the indices of the comparisons that have this
    /// warning.
    said: Vec<(String, Vec<usize>)>,
}

impl Scene<'_> {
    /// Returns the warnings about the files first, then those about benchmarks, and the notes last.
    pub(super) fn doubts(&self) -> Vec<WarningText> {
        let source = Source::of(self.analysis);
        let mut texts = WarningText::of_run(&self.analysis.warnings, source, self.glyphs);
        for kind in self.kinds(source) {
            let text = |text| WarningText {
                information: kind.information,
                code: kind.code,
                text,
            };
            if kind.said.len() <= OF_A_KIND {
                let said = kind.said.iter();
                texts.extend(said.map(|(said, of)| text(self.concerning(said, of))));
                continue;
            }
            // Two thousand benchmarks may have warnings of one kind, so only the first warning is
            // shown.
            let (first, of) = &kind.said[0];
            let rest = kind.said[1..].iter().flat_map(|(_, of)| of.iter().copied());
            let rest: Vec<usize> = rest.collect();
            let first = self.concerning(first, of);
            let rest = self.named(&rest);
            texts.push(text(format!(
                "{first} {rest}: the same warning, with other numbers."
            )));
        }
        warnings_first(texts, |one| one.information)
    }

    fn kinds(&self, source: Source) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = Vec::new();
        let mut kind_of: HashMap<&'static str, usize> = HashMap::new();
        let mut place_of: HashMap<String, (usize, usize)> = HashMap::new();
        for (index, comparison) in self.analysis.comparisons.iter().enumerate() {
            let single = comparison.warnings.iter().any(Warning::is_one_a_side);
            for warning in &comparison.warnings {
                // The sentence on whether the data allow verdicts already contains these warnings.
                let is_above = matches!(
                    warning,
                    Warning::Unpaired { .. } | Warning::FewObservations { .. }
                );
                if single && is_above {
                    continue;
                }
                let text = sentence(warning, Some(comparison), source, self.glyphs);
                if let Some((kind, place)) = place_of.get(&text) {
                    let concerned = &mut kinds[*kind].said[*place].1;
                    if concerned.last() != Some(&index) {
                        concerned.push(index);
                    }
                    continue;
                }
                let kind = *kind_of.entry(warning.code()).or_insert_with(|| {
                    kinds.push(Kind {
                        information: is_information(warning),
                        code: warning.code(),
                        said: Vec::new(),
                    });
                    kinds.len() - 1
                });
                let said = &mut kinds[kind].said;
                place_of.insert(text.clone(), (kind, said.len()));
                said.push((text, vec![index]));
            }
        }
        kinds
    }

    /// Returns the sentence `said` after the names of the benchmarks `of`, or without names if
    /// these are all benchmarks.
    fn concerning(&self, said: &str, of: &[usize]) -> String {
        if of.len() == self.analysis.comparisons.len() {
            said.to_owned()
        } else {
            format!("In {}: {said}", self.named(of))
        }
    }

    fn named(&self, of: &[usize]) -> String {
        let Analysis { comparisons, .. } = self.analysis;
        let name = |index: &usize| {
            let one = &comparisons[*index];
            let title = rows::title(one, self.glyphs);
            match one.candidate.as_ref().filter(|_| self.several()) {
                Some(candidate) => {
                    format!("{title} of '{}'", self.labels.candidate(&candidate.name))
                }
                None => title,
            }
        };
        let names: Vec<String> = of.iter().map(name).collect();
        listed(names.iter().map(String::as_str), self.glyphs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_names_the_first_ten_are_told() {
        let names: Vec<String> = (0..13).map(|number| format!("n{number}")).collect();
        let named = |count: usize| listed(names[..count].iter().map(String::as_str), Glyphs::Ascii);
        assert_eq!(named(1), "n0");
        assert_eq!(named(2), "n0 and n1");
        assert!(named(10).ends_with("n8 and n9"), "{}", named(10));
        assert!(named(13).ends_with("n8, n9 and 3 more"), "{}", named(13));
    }
}
