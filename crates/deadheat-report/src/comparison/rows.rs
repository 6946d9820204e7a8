//! The rows of a comparison of saved results in the chosen order, and the facts about its two
//! sides: labels, files, tools, machines and dates.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap, HashSet};

use deadheat_model::{
    Analysis, Better, Comparison, FailedBenchmark, LeftOut, LeftOutReason, ResultFacts, ResultSide,
    ResultSource, Verdict,
};

use crate::glyphs::Glyphs;
use crate::names::{labels, shown};
use crate::suite;
use crate::units::{TimeUnit, counted};

/// The order of the benchmarks in a table. The candidates of a benchmark are always adjacent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// The order in which the file contains the benchmarks. Benchmarks without an answer come last.
    #[default]
    File,
    /// By name; numbers in names are ordered by size.
    Name,
    /// By change in cost, the worst first. Benchmarks without a change come last.
    Change,
    /// By verdict: slower, faster, inconclusive, equivalent, then benchmarks without a verdict.
    Verdict,
}

/// The options for printing a comparison of saved results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComparisonOptions {
    /// The maximum width in columns; `usize::MAX` for no limit. Text only.
    pub width: usize,
    /// True if the text uses colours. Text only.
    pub color: bool,
    /// True if the text may contain characters other than ASCII. Text only; Markdown always may.
    pub unicode: bool,
    /// The order of the rows.
    pub sort: Sort,
    /// True to show only benchmarks that are faster or slower, and those without an answer: failed,
    /// skipped, missing, added or incomparable.
    pub only_changed: bool,
    /// True to show all metrics for every benchmark. If false, metrics other than the judged one
    /// are shown only if they changed.
    pub all_metrics: bool,
    /// True to show secondary figures.
    pub figures: bool,
    /// True to show a plot of every comparison. Text only.
    pub plot: bool,
    /// The unit of all times; `None` to choose a suitable unit.
    pub time_unit: Option<TimeUnit>,
}

impl Default for ComparisonOptions {
    /// Returns the options for a file: unlimited width, ASCII, without colour.
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

#[derive(Clone, Copy)]
pub(super) enum RowSubject<'a> {
    /// A candidate and its baseline, or a contender without a candidate.
    Compared(&'a Comparison),
    Failed(&'a FailedBenchmark),
    /// A benchmark that is not compared.
    LeftOut(&'a LeftOut),
}

pub(super) struct Row<'a> {
    /// The full name of the benchmark, escaped for display.
    pub(super) title: String,
    pub(super) what: RowSubject<'a>,
}

impl<'a> Row<'a> {
    pub(super) fn comparison(&self) -> Option<&'a Comparison> {
        match self.what {
            RowSubject::Compared(comparison) => Some(comparison),
            RowSubject::Failed(_) | RowSubject::LeftOut(_) => None,
        }
    }

    /// Returns true if `ComparisonOptions::only_changed` shows the row.
    pub(super) fn changed(&self) -> bool {
        match self.what {
            RowSubject::Compared(one) => {
                matches!(one.verdict, Some(Verdict::Faster | Verdict::Slower))
            }
            RowSubject::Failed(_) | RowSubject::LeftOut(_) => true,
        }
    }

    /// Returns the change as a log-ratio of cost, so that a larger number is always worse; `None`
    /// without a change, or if the better direction is unknown.
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

/// Returns all rows in the order `sort`; the candidates of a benchmark are adjacent.
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

/// Returns the highest cost of any candidate of a benchmark.
fn worst(group: &[Row<'_>]) -> Option<f64> {
    group.iter().filter_map(Row::cost).reduce(f64::max)
}

/// Returns the name of a benchmark, followed in parentheses by the parameter values, the label and
/// the threads that the name does not contain.
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
    // One thread is the usual case, so it is not mentioned.
    if let Some(threads) = suite::threads_beside(comparison).filter(|threads| *threads > 1) {
        beside.push((String::new(), format!("{threads} threads")));
    }
    suite::title_with(name, &beside, glyphs)
}

/// Compares names with numbers by size: `a/9` is before `a/10`.
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

/// Splits off the leading digits of `text` and returns them without leading zeros.
fn number<'t>(text: &mut &'t str) -> &'t str {
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (digits, rest) = text.split_at(end.unwrap_or(text.len()));
    *text = rest;
    digits.trim_start_matches('0')
}

/// Maximum width, in columns, of a fact from a file, such as a machine or a date.
const FACT: usize = 60;

/// The displayed names of the sides, all different.
pub(super) struct Labels<'a> {
    baseline: Option<String>,
    candidates: Vec<String>,
    places: HashMap<&'a str, usize>,
    first: Option<&'a str>,
    columns: usize,
    glyphs: Glyphs,
}

impl<'a> Labels<'a> {
    /// Shortens each label to at most `columns` columns.
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
        // If benchmarks have different baselines, no single label is correct for all of them.
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

    /// Returns the label of the baseline that all benchmarks share, or "baseline".
    pub(super) fn baseline(&self) -> &str {
        self.baseline.as_deref().unwrap_or("baseline")
    }

    pub(super) fn candidates(&self) -> &[String] {
        &self.candidates
    }

    pub(super) fn candidate(&self, name: &str) -> &str {
        self.places
            .get(name)
            .map_or("candidate", |place| &self.candidates[*place])
    }

    /// Returns the label of the side `name`, which may be the baseline or a candidate.
    pub(super) fn any(&self, name: &str) -> String {
        match (self.places.get(name), &self.baseline) {
            (_, Some(baseline)) if self.first == Some(name) => baseline.clone(),
            (Some(place), _) => self.candidates[*place].clone(),
            (None, _) => shown(name, self.columns, self.glyphs),
        }
    }
}

pub(super) struct Scene<'a> {
    pub(super) analysis: &'a Analysis,
    pub(super) labels: Labels<'a>,
    pub(super) glyphs: Glyphs,
    /// The unit of all times; `None` to choose a suitable unit.
    pub(super) time_unit: Option<TimeUnit>,
}

impl Scene<'_> {
    pub(super) fn compares(&self) -> bool {
        !self.labels.candidates().is_empty()
    }

    /// Returns true if there are several candidates, so that each row must name its candidate.
    pub(super) fn several(&self) -> bool {
        self.labels.candidates().len() > 1
    }

    /// Returns a line about each side; empty if the files of the sides are unknown.
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
        let date = self.date(side);
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

    /// Returns the number of benchmarks in which the side was compared, and the number that only
    /// this side has.
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

    /// Returns the earliest date of the files of a side, after `from` if they have several.
    fn date(&self, side: &ResultSide) -> Option<String> {
        let dates = side
            .files
            .iter()
            .filter_map(|file| file.facts.date.as_deref());
        let dates: BTreeSet<&str> = dates.filter(|date| !date.is_empty()).collect();
        let first = shown(dates.first()?, FACT, self.glyphs);
        Some(match dates.len() {
            1 => first,
            _ => format!("from {first}"),
        })
    }

    /// Returns the first distinct value of a fact in the files of a side, and the number of further
    /// distinct values.
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

/// Returns the number of recordings of a side, if any of its files contains several.
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
