//! What the sides of a comparison are: their files, who wrote them, where and
//! when.

use std::collections::HashSet;

use deadheat_model::{LeftOutReason, ResultFacts, ResultSide, ResultSource};

use super::judged::Scene;
use crate::names::{escape, shorten};
use crate::units::counted;

/// Columns that what a file says of itself may take, each thing.
const FACT: usize = 60;

impl Scene<'_> {
    /// A line for each side; none where nothing is known of files.
    pub(super) fn head(&self) -> Vec<String> {
        let sides = self.analysis.sides.iter();
        sides.map(|side| self.side(side)).collect()
    }

    fn side(&self, side: &ResultSide) -> String {
        let name = self.labels.any(&side.name);
        let files = self.each(side, |file| Some(&file.source));
        let mut line = match files {
            Some(files) if files != name => format!("{name} ({files})"),
            _ => name,
        };
        let tool = self.each(side, |file| Some(&file.tool));
        let runtime = self.fact(side, |facts| facts.runtime.as_ref());
        let host = self.fact(side, |facts| facts.host.as_ref());
        let place = host.or_else(|| self.fact(side, |facts| facts.cpu.as_ref()));
        let date = self.fact(side, |facts| facts.date.as_ref());
        let mut told: Vec<String> = tool.into_iter().chain(runtime).collect();
        match (told.last_mut(), place) {
            (Some(last), Some(place)) => *last += &format!(" on {place}"),
            (None, Some(place)) => told.push(format!("on {place}")),
            (_, None) => {}
        }
        told.extend(date);
        told.extend(self.benchmarks(side));
        if !told.is_empty() {
            line += &format!(": {}", told.join(", "));
        }
        line
    }

    /// How many benchmarks the side takes part in, and how many nobody else
    /// has.
    fn benchmarks(&self, side: &ResultSide) -> Vec<String> {
        let names = self.analysis.comparisons.iter();
        let here = names.filter(|one| {
            let candidate = one.candidate.as_ref();
            one.baseline.name == side.name || candidate.is_some_and(|one| one.name == side.name)
        });
        let compared: HashSet<_> = here.map(|one| (&one.benchmark, &one.parameters)).collect();
        let word = match self.compares() {
            true => " compared",
            false => "",
        };
        let compared = counted(compared.len() as u64, "benchmark", "benchmarks");
        let only = LeftOutReason::OnlyIn(side.name.clone());
        let left_out = self.analysis.left_out.iter();
        let only = left_out.filter(|one| one.reason == only).count();
        let mut told = vec![format!("{compared}{word}")];
        if only > 0 {
            told.push(format!("{only} only here"));
        }
        told
    }

    fn fact(
        &self,
        side: &ResultSide,
        fact: impl Fn(&ResultFacts) -> Option<&String>,
    ) -> Option<String> {
        self.each(side, |file| fact(&file.facts))
    }

    /// What the files of a side tell, each thing once: the first of it, and
    /// how many more there are.
    fn each<'s>(
        &self,
        side: &'s ResultSide,
        tell: impl Fn(&'s ResultSource) -> Option<&'s String>,
    ) -> Option<String> {
        let mut seen = HashSet::new();
        let told = side.files.iter().filter_map(tell);
        let told = told.filter(|told| !told.is_empty() && seen.insert(*told));
        let told: Vec<&String> = told.collect();
        let first = shorten(&escape(told.first()?, self.glyphs), FACT, self.glyphs);
        Some(match told.len() - 1 {
            0 => first,
            more => format!("{first} and {more} more"),
        })
    }
}
