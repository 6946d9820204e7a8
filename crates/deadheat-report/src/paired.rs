//! Baseline and candidate side by side, a line each pair: minima, means and
//! what separates them, as paired benchmarks are often shown.

use crate::layout::Width as _;
use deadheat_model::{Analysis, Comparison, Side};

use crate::cells::change_cells;
use crate::glyphs::Glyphs;
use crate::layout;
use crate::names::{labels, shorten};
use crate::sentences;
use crate::suite;
use crate::units::{Precision, plain, plain_signed};

/// Spaces before every row.
const INDENT: usize = 2;

/// Columns a name may take, however wide the terminal.
const NAME_AT_MOST: usize = 60;

/// Columns a name keeps, however narrow the terminal.
const NAME_AT_LEAST: usize = 16;

/// Stands between baseline and candidate.
const SLASH: &str = " / ";

/// One line per comparison: smallest values and means of baseline (B) and
/// candidate (C) in the smallest unit of the metric, how far the candidate is
/// from the baseline, and last the verdict with the change it speaks of.
///
/// The mean difference is that of the means, which where every sample has its
/// partner is the mean of the paired differences. The change behind the
/// verdict is the robust one: one slow sample moves the means and not it. Its
/// interval is left out where it does not fit.
pub fn to_paired(analysis: &Analysis, width: usize, glyphs: Glyphs) -> String {
    let groups = suite::groups(&analysis.comparisons);
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut names: Vec<Name> = Vec::new();
    let mut intervals: Vec<String> = Vec::new();
    for group in &groups {
        let contenders = suite::names(group);
        // A comparison without a candidate adds no contender.
        let raced = group
            .iter()
            .filter_map(|one| Some((one, one.candidate.as_ref()?)));
        for (index, (comparison, candidate)) in raced.enumerate() {
            let title = (groups.len() > 1).then(|| suite::title(comparison, glyphs));
            let pair = [contenders[0], contenders[index + 1]].join(SLASH);
            names.push(Name {
                tells_all: title.as_ref() == Some(&pair),
                benchmark: title,
                contenders: contenders.clone(),
                candidate: index + 1,
            });
            rows.push(cells(comparison, candidate, glyphs));
            intervals.push(interval_cell(comparison, glyphs));
        }
    }
    let Some(first) = analysis.comparisons.first().filter(|_| !rows.is_empty()) else {
        let tally = sentences::tally(&[], &analysis.failures, &analysis.left_out);
        return format!("{tally}\n{}", unanswered(analysis, width, glyphs));
    };
    let unit = first.metric.unit().name();
    let title = format!("{}, {unit}", sentences::metric(&first.metric, glyphs));
    let delta = glyphs.delta();
    let [min, mean, share] = [
        format!("min {delta}"),
        format!("mean {delta}"),
        format!("mean {delta} (%)"),
    ];
    let header = [
        title.as_str(),
        "B min",
        "C min",
        &min,
        "B mean",
        "C mean",
        &mean,
        &share,
        "verdict",
    ];
    let of_names = names.iter().map(|name| name.needs(glyphs)).max();
    let of_figures = layout::width_of(&header, &rows, 1..header.len() - 1);
    let of_verdicts = rows.iter().zip(&intervals).map(|(row, interval)| {
        let verdict = row.last().map_or(0, |cell| cell.width());
        verdict + 1 + interval.width()
    });
    let whole = INDENT + of_names.unwrap_or(0) + layout::GAP + of_figures;
    if whole + of_verdicts.max().unwrap_or(0) <= width {
        for (row, interval) in rows.iter_mut().zip(&intervals) {
            if let Some(verdict) = row.last_mut().filter(|_| !interval.is_empty()) {
                *verdict += &format!(" {interval}");
            }
        }
    }
    let rest = INDENT + layout::width_of(&header, &rows, 1..header.len());
    let room = width
        .saturating_sub(rest)
        .clamp(NAME_AT_LEAST, NAME_AT_MOST);
    for (row, name) in rows.iter_mut().zip(&names) {
        row[0] = name.within(room, glyphs);
    }
    let table = layout::table(&header, &rows, "lrrrrrrrl", INDENT, width);
    table + &unanswered(analysis, width, glyphs)
}

/// Benchmarks that broke down or were left out have no times; they are named
/// all the same.
fn unanswered(analysis: &Analysis, width: usize, glyphs: Glyphs) -> String {
    let failures = analysis.failures.iter();
    let sentences = failures.map(|failure| {
        let title = suite::failed_title(failure, glyphs);
        let sentence = sentences::failed(&title, failure, glyphs);
        layout::wrap("! ", &sentence, width)
    });
    let left_out = sentences::left_out(&analysis.left_out, glyphs);
    let left_out = left_out.iter();
    let left_out = left_out.map(|sentence| layout::wrap("", sentence, width));
    sentences.chain(left_out).collect()
}

/// All cells but the name.
fn cells(comparison: &Comparison, candidate: &Side, glyphs: Glyphs) -> Vec<String> {
    let baseline = &comparison.baseline;
    // In one row all have the same decimals, so that they can be subtracted by
    // eye.
    let values = [baseline.min, candidate.min, baseline.mean, candidate.mean];
    let shown = plain(&values);
    let change = |from: f64, to: f64| match from > 0.0 && (to / from).is_finite() {
        true => Precision::of(None).signed(to / from - 1.0, glyphs),
        false => glyphs.nothing().to_owned(),
    };
    let [b_min, c_min, b_mean, c_mean] = shown;
    vec![
        String::new(),
        b_min,
        c_min,
        change(baseline.min, candidate.min),
        b_mean,
        c_mean,
        plain_signed(&values, candidate.mean - baseline.mean, glyphs),
        change(baseline.mean, candidate.mean),
        verdict(comparison, glyphs),
    ]
}

/// The verdict with its change, as far as there is one.
fn verdict(comparison: &Comparison, glyphs: Glyphs) -> String {
    let word = sentences::verdict_cell(comparison);
    let [change, _] = change_cells(comparison.estimate.as_ref(), glyphs);
    match comparison.estimate {
        Some(_) => format!("{word} {change}"),
        None => word,
    }
}

/// The interval behind the verdict; empty where there is none.
fn interval_cell(comparison: &Comparison, glyphs: Glyphs) -> String {
    let estimate = comparison.estimate.as_ref();
    let [_, interval] = change_cells(estimate, glyphs);
    match estimate.and_then(|estimate| estimate.interval) {
        Some(_) => interval,
        None => String::new(),
    }
}

/// What a row is called.
struct Name<'a> {
    /// Where there are several.
    benchmark: Option<String>,
    /// Whether the benchmark is named after its two sides already.
    tells_all: bool,
    /// All of the benchmark: their labels tell them apart.
    contenders: Vec<&'a str>,
    candidate: usize,
}

impl Name<'_> {
    /// Columns it takes at most.
    fn needs(&self, glyphs: Glyphs) -> usize {
        self.within(NAME_AT_MOST, glyphs).width()
    }

    /// `benchmark: baseline / candidate` in so many columns.
    fn within(&self, columns: usize, glyphs: Glyphs) -> String {
        if let Some(title) = self.benchmark.as_ref().filter(|_| self.tells_all) {
            return shorten(title, columns, glyphs);
        }
        let whole = self.shown(columns, columns, glyphs);
        if whole.width() <= columns {
            return whole;
        }
        // The benchmark leaves most to the sides, and a short side what it
        // does not need to the other.
        let of_title = columns / 3;
        let title = self.title(of_title, glyphs).width();
        let room = columns.saturating_sub(title + SLASH.width());
        let sides = labels(&self.contenders, columns, glyphs);
        let shorter = sides[0].width().min(sides[self.candidate].width());
        let of_side = (room / 2).max(room.saturating_sub(shorter));
        self.shown(of_title, of_side, glyphs)
    }

    fn shown(&self, of_title: usize, of_side: usize, glyphs: Glyphs) -> String {
        let sides = labels(&self.contenders, of_side, glyphs);
        let title = self.title(of_title, glyphs);
        format!("{title}{}{SLASH}{}", sides[0], sides[self.candidate])
    }

    fn title(&self, columns: usize, glyphs: Glyphs) -> String {
        match &self.benchmark {
            Some(title) => format!("{}: ", shorten(title, columns, glyphs)),
            None => String::new(),
        }
    }
}
