//! The rows of a comparison, which are its benchmarks, answered or not, in the order they are shown;
//! and its sides: how they are called in heads of columns and in sentences, their files, who wrote
//! them, where and when.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use deadheat_model::{
    Analysis, Better, Comparison, FailedBenchmark, LeftOut, LeftOutReason, ResultFacts, ResultSide,
    ResultSource, Verdict,
};

use crate::glyphs::Glyphs;
use crate::names::{labels, shown};
use crate::suite;
use crate::units::{TimeUnit, counted};

/// In which order the benchmarks stand; the candidates of one stay together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// That of the file; what has no answer comes last.
    #[default]
    File,
    /// By name, numbers by their size.
    Name,
    /// By cost: the worst comes first; what has no change comes last.
    Change,
    /// Slower, faster, inconclusive, equivalent, and what has no verdict.
    Verdict,
}

/// The look of a comparison of saved results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComparisonOptions {
    /// Columns of the terminal; `usize::MAX` for no limit. Text only.
    pub width: usize,
    /// True where colours may be used. Text only.
    pub color: bool,
    /// True where the reader sees more than ASCII. Text only: Markdown always takes it for granted.
    pub unicode: bool,
    /// The order of the rows.
    pub sort: Sort,
    /// True where only those are shown that are faster or slower, and those
    /// without an answer: failed, skipped, missing, added or not alike.
    pub only_changed: bool,
    /// True where the metrics beside the judged one are shown for every
    /// benchmark, and not only where they moved.
    pub all_metrics: bool,
    /// True where the secondary figures follow.
    pub figures: bool,
    /// True where pictures of every comparison follow. Text only.
    pub plot: bool,
    /// The unit of all times; `None` for the one that suits them.
    pub time_unit: Option<TimeUnit>,
}

impl Default for ComparisonOptions {
    /// The look that suits a file: as wide as it takes, ASCII without colour.
    fn default() -> Self {
        Self {
            width: usize::MAX,
            color: false,
            unicode: false,
            sort: Sort::File,
            only_changed: false,
            all_metrics: false,
            figures: false,
            plot: false,
            time_unit: None,
        }
    }
}

/// The subject of a row of the table.
#[derive(Clone, Copy)]
pub(super) enum RowSubject<'a> {
    /// One candidate against its baseline, or a contender alone.
    Compared(&'a Comparison),
    /// A benchmark that failed.
    Failed(&'a FailedBenchmark),
    /// A benchmark that is not compared.
    LeftOut(&'a LeftOut),
}

/// One row of the table.
pub(super) struct Row<'a> {
    /// The name of the benchmark, fit to be shown but not shortened.
    pub(super) title: String,
    pub(super) what: RowSubject<'a>,
}

impl<'a> Row<'a> {
    /// The comparison, where there is one.
    pub(super) fn comparison(&self) -> Option<&'a Comparison> {
        match self.what {
            RowSubject::Compared(comparison) => Some(comparison),
            RowSubject::Failed(_) | RowSubject::LeftOut(_) => None,
        }
    }

    /// True where it is shown where only what changed is.
    pub(super) fn changed(&self) -> bool {
        match self.what {
            RowSubject::Compared(one) => {
                matches!(one.verdict, Some(Verdict::Faster | Verdict::Slower))
            }
            RowSubject::Failed(_) | RowSubject::LeftOut(_) => true,
        }
    }

    /// The cost it adds, on the logarithmic scale; `None` where there is
    /// no change, or nobody knows which way is better.
    fn cost(&self) -> Option<f64> {
        let comparison = self.comparison()?;
        let effect = comparison.estimate.as_ref()?.effect.0;
        match comparison.terms.metric.better() {
            Better::Less => Some(effect),
            Better::More => Some(-effect),
            Better::Unknown => None,
        }
    }

    fn rank(&self) -> u8 {
        match self.what {
            RowSubject::Compared(one) => match one.verdict {
                Some(Verdict::Slower) => 0,
                Some(Verdict::Faster) => 1,
                Some(Verdict::Inconclusive) => 2,
                Some(Verdict::Equivalent) => 3,
                None => 4,
            },
            RowSubject::Failed(_) => 5,
            RowSubject::LeftOut(one) => match one.reason {
                LeftOutReason::Skipped(_) => 6,
                LeftOutReason::NotAlike(_) => 7,
                LeftOutReason::OnlyIn(_) => 8,
            },
        }
    }
}

/// All rows in order; the candidates of a benchmark follow each other.
pub(super) fn rows<'a>(analysis: &'a Analysis, sort: Sort, glyphs: Glyphs) -> Vec<Row<'a>> {
    let mut groups: Vec<Vec<Row<'a>>> = Vec::new();
    for group in suite::groups(&analysis.comparisons) {
        let title = title(&group[0], glyphs);
        let row = |comparison: &'a Comparison| Row {
            title: title.clone(),
            what: RowSubject::Compared(comparison),
        };
        groups.push(group.iter().map(row).collect());
    }
    groups.extend(analysis.failures.iter().map(|failure| {
        vec![Row {
            title: suite::failed_title(failure, glyphs),
            what: RowSubject::Failed(failure),
        }]
    }));
    groups.extend(analysis.left_out.iter().map(|left_out| {
        vec![Row {
            title: suite::title_of(&left_out.benchmark, &[], glyphs),
            what: RowSubject::LeftOut(left_out),
        }]
    }));
    match sort {
        Sort::File => {}
        Sort::Name => groups.sort_by(|a, b| natural(&a[0].title, &b[0].title)),
        Sort::Change => groups.sort_by(|a, b| match (worst(a), worst(b)) {
            (Some(a), Some(b)) => b.total_cmp(&a),
            (a, b) => b.is_some().cmp(&a.is_some()),
        }),
        Sort::Verdict => {
            groups.sort_by_key(|group| group.iter().map(Row::rank).min());
        }
    }
    groups.into_iter().flatten().collect()
}

/// The highest cost among the candidates of a benchmark.
fn worst(group: &[Row<'_>]) -> Option<f64> {
    group.iter().filter_map(Row::cost).reduce(f64::max)
}

/// A benchmark's name, and in brackets what it tells beside: parameter values,
/// its label and its threads, unless the name has them already.
pub(super) fn title(comparison: &Comparison, glyphs: Glyphs) -> String {
    let name = &comparison.benchmark;
    let mut beside = suite::untold(name, &comparison.details.parameters).to_vec();
    if let Some(label) = comparison
        .details
        .label
        .as_ref()
        .filter(|label| !label.is_empty())
    {
        beside.push((String::new(), label.clone()));
    }
    // That it runs on one thread is what everybody expects.
    if let Some(threads) = suite::threads_beside(comparison).filter(|threads| *threads > 1) {
        beside.push((String::new(), format!("{threads} threads")));
    }
    suite::title_with(name, &beside, glyphs)
}

/// Compares as people sort: `a/9` before `a/10`.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let (Some(x), Some(y)) = (left.chars().next(), right.chars().next()) else {
            return left.len().cmp(&right.len()).then_with(|| a.cmp(b));
        };
        let order = if x.is_ascii_digit() && y.is_ascii_digit() {
            let (x, y) = (number(&mut left), number(&mut right));
            x.len().cmp(&y.len()).then_with(|| x.cmp(y))
        } else {
            left = &left[x.len_utf8()..];
            right = &right[y.len_utf8()..];
            x.cmp(&y)
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// Takes the digits that a text begins with, and gives them without leading noughts.
fn number<'t>(text: &mut &'t str) -> &'t str {
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (digits, rest) = text.split_at(end.unwrap_or(text.len()));
    *text = rest;
    digits.trim_start_matches('0')
}

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
    /// The unit of all times; `None` for the one that suits them.
    pub(super) time_unit: Option<TimeUnit>,
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
        parts.extend(recordings(side));
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
        let compared: HashSet<_> = here
            .map(|one| (&one.benchmark, &one.details.parameters))
            .collect();
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

/// The number of recordings where a file holds several.
fn recordings(side: &ResultSide) -> Option<String> {
    let files: HashSet<&String> = side.files.iter().map(|file| &file.source).collect();
    let several = side.files.len() > files.len();
    several.then(|| format!("{} recordings", side.files.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_sorted_by_size() {
        let mut names = ["b", "a/10", "a/9/x", "a/010", "a/9", "a", "", "a/9/1"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(
            names,
            ["", "a", "a/9", "a/9/1", "a/9/x", "a/010", "a/10", "b"]
        );
    }
}
