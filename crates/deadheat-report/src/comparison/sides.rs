//! The sides of a comparison: how they are called in heads of columns and in sentences, their
//! files, who wrote them, where and when.

use std::collections::{HashMap, HashSet};

use deadheat_model::{Analysis, LeftOutReason, ResultFacts, ResultSide, ResultSource};

use crate::glyphs::Glyphs;
use crate::names::{labels, shown};
use crate::units::counted;

/// Columns that what a file says of itself may take, each thing.
const FACT: usize = 60;

/// The sides by their labels, which are fit to be shown and no two alike.
pub(super) struct Labels<'a> {
    baseline: Option<String>,
    candidates: Vec<String>,
    places: HashMap<&'a str, usize>,
    first: Option<&'a str>,
    columns: usize,
    glyphs: Glyphs,
}

impl<'a> Labels<'a> {
    /// Labels of at most so many columns.
    pub(super) fn of(analysis: &'a Analysis, columns: usize, glyphs: Glyphs) -> Labels<'a> {
        let comparisons = &analysis.comparisons;
        let first = match comparisons.first() {
            Some(comparison) => Some(comparison.baseline.name.as_str()),
            None => analysis.sides.first().map(|side| side.name.as_str()),
        };
        let mut names: Vec<&str> = first.into_iter().collect();
        let mut places = HashMap::new();
        let of_sides = analysis.sides.iter().skip(1).map(|side| side.name.as_str());
        let compared = comparisons.iter().filter_map(|one| one.candidate.as_ref());
        for name in of_sides.chain(compared.map(|side| side.name.as_str())) {
            places.entry(name).or_insert_with(|| {
                names.push(name);
                names.len() - 1 - usize::from(first.is_some())
            });
        }
        let mut all = labels(&names, columns, glyphs);
        let candidates = all.split_off(usize::from(first.is_some()));
        // Where benchmarks have baselines of their own, no name fits them all.
        let common = comparisons
            .iter()
            .all(|one| Some(one.baseline.name.as_str()) == first);
        Labels {
            baseline: all.pop().filter(|_| common),
            candidates,
            places,
            first,
            columns,
            glyphs,
        }
    }

    /// The baseline of all benchmarks.
    pub(super) fn baseline(&self) -> &str {
        self.baseline.as_deref().unwrap_or("baseline")
    }

    /// The candidates, in the order in which they were given.
    pub(super) fn candidates(&self) -> &[String] {
        &self.candidates
    }

    /// The candidate of that name.
    pub(super) fn candidate(&self, name: &str) -> &str {
        self.places
            .get(name)
            .map_or("candidate", |place| &self.candidates[*place])
    }

    /// Whichever side has that name.
    pub(super) fn any(&self, name: &str) -> String {
        match (self.places.get(name), &self.baseline) {
            (_, Some(baseline)) if self.first == Some(name) => baseline.clone(),
            (Some(place), _) => self.candidates[*place].clone(),
            (None, _) => shown(name, self.columns, self.glyphs),
        }
    }
}

/// The scene that all tables of a comparison share.
pub(super) struct Scene<'a> {
    pub(super) analysis: &'a Analysis,
    pub(super) labels: Labels<'a>,
    pub(super) glyphs: Glyphs,
}

impl Scene<'_> {
    /// True where any benchmark has a candidate; else there is nothing but a contender alone.
    pub(super) fn compares(&self) -> bool {
        !self.labels.candidates().is_empty()
    }

    /// True where rows must say of which candidate they speak.
    pub(super) fn several(&self) -> bool {
        self.labels.candidates().len() > 1
    }

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
        let mut parts: Vec<String> = tool.into_iter().chain(runtime).collect();
        match (parts.last_mut(), place) {
            (Some(last), Some(place)) => *last += &format!(" on {place}"),
            (None, Some(place)) => parts.push(format!("on {place}")),
            (_, None) => {}
        }
        parts.extend(date);
        parts.extend(self.benchmarks(side));
        if !parts.is_empty() {
            line += &format!(": {}", parts.join(", "));
        }
        line
    }

    /// The number of benchmarks the side takes part in, and of those that nobody else has.
    fn benchmarks(&self, side: &ResultSide) -> Vec<String> {
        let names = self.analysis.comparisons.iter();
        let here = names.filter(|one| {
            let candidate = one.candidate.as_ref();
            one.baseline.name == side.name || candidate.is_some_and(|one| one.name == side.name)
        });
        let compared: HashSet<_> = here.map(|one| (&one.benchmark, &one.parameters)).collect();
        let word = if self.compares() { " compared" } else { "" };
        let compared = counted(compared.len() as u64, "benchmark", "benchmarks");
        let only = LeftOutReason::OnlyIn(side.name.clone());
        let left_out = self.analysis.left_out.iter();
        let only = left_out.filter(|one| one.reason == only).count();
        let mut parts = vec![format!("{compared}{word}")];
        if only > 0 {
            parts.push(format!("{only} only here"));
        }
        parts
    }

    fn fact(
        &self,
        side: &ResultSide,
        fact: impl Fn(&ResultFacts) -> Option<&String>,
    ) -> Option<String> {
        self.each(side, |file| fact(&file.facts))
    }

    /// The facts that the files of a side tell, each once: the first of it, and
    /// how many more there are.
    fn each<'s>(
        &self,
        side: &'s ResultSide,
        tell: impl Fn(&'s ResultSource) -> Option<&'s String>,
    ) -> Option<String> {
        let mut seen = HashSet::new();
        let facts = side.files.iter().filter_map(tell);
        let facts = facts.filter(|fact| !fact.is_empty() && seen.insert(*fact));
        let facts: Vec<&String> = facts.collect();
        let first = shown(facts.first()?, FACT, self.glyphs);
        Some(match facts.len() - 1 {
            0 => first,
            more => format!("{first} and {more} more"),
        })
    }
}
