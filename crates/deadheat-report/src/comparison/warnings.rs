//! The doubts about a comparison, each once, with the benchmarks it concerns.

use std::collections::HashMap;

use deadheat_model::{Analysis, Warning};

use super::rows;
use super::sides::Scene;
use super::words;
use crate::sentences::Source;
use crate::warnings::{WarningText, is_information, sentence, warnings_first};

/// So many doubts of one kind are told in full where their numbers differ.
const OF_A_KIND: usize = 3;

/// Doubts that differ in nothing but numbers, which are of one code.
struct Kind {
    information: bool,
    code: &'static str,
    /// What is said, and of which comparisons, by their indices.
    said: Vec<(String, Vec<usize>)>,
}

impl Scene<'_> {
    /// The doubts: of the files as a whole, then those of the benchmarks, and
    /// last what only helps to read the result.
    pub(super) fn doubts(&self) -> Vec<WarningText> {
        let source = Source::of(self.analysis);
        let warnings = self.analysis.warnings.iter();
        let whole = warnings.map(|one| WarningText::new(one, sentence(one, source, self.glyphs)));
        let mut told: Vec<WarningText> = whole.collect();
        for kind in self.kinds(source) {
            let text = |text| WarningText {
                information: kind.information,
                code: kind.code,
                text,
            };
            if kind.said.len() <= OF_A_KIND {
                let said = kind.said.iter();
                told.extend(said.map(|(said, of)| text(self.concerning(said, of))));
                continue;
            }
            // One stands for all: nobody reads two thousand of them.
            let (first, of) = &kind.said[0];
            let rest = kind.said[1..].iter().flat_map(|(_, of)| of.iter().copied());
            let rest: Vec<usize> = rest.collect();
            let first = self.concerning(first, of);
            let rest = self.named(&rest);
            told.push(text(format!(
                "{first} Likewise, in other numbers, in {rest}."
            )));
        }
        warnings_first(told, |told| told.information)
    }

    /// The doubts of all comparisons, by their kind.
    fn kinds(&self, source: Source) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = Vec::new();
        let mut kind_of: HashMap<&'static str, usize> = HashMap::new();
        let mut place_of: HashMap<String, (usize, usize)> = HashMap::new();
        for (index, comparison) in self.analysis.comparisons.iter().enumerate() {
            let single = comparison.warnings.iter().any(Warning::is_one_a_side);
            for warning in &comparison.warnings {
                // What stands above, where it is said whether the data can
                // answer.
                let told = matches!(
                    warning,
                    Warning::Unpaired { .. } | Warning::FewObservations { .. }
                );
                if single && told {
                    continue;
                }
                let text = sentence(warning, source, self.glyphs);
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

    /// What is said, and of which benchmarks unless that is all of them.
    fn concerning(&self, said: &str, of: &[usize]) -> String {
        match of.len() == self.analysis.comparisons.len() {
            true => said.to_owned(),
            false => format!("In {}: {said}", self.named(of)),
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
        words::listed(names.iter().map(String::as_str), self.glyphs)
    }
}
