//! How the sides of a comparison are called in the heads of columns and in
//! sentences.

use std::collections::HashMap;

use deadheat_model::Analysis;

use crate::glyphs::Glyphs;
use crate::names::{escape, labels, shorten};

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
            (None, _) => shorten(&escape(name, self.glyphs), self.columns, self.glyphs),
        }
    }
}
