//! A run as text with one line per comparison: minima, means and their differences, as other tools
//! for paired benchmarks show them.

use deadheat_model::{Analysis, Comparison, Side};

use super::Run;
use crate::cells::change_cells;
use crate::cost::cost_of;
use crate::document::{Block, Kind, Table};
use crate::glyphs::Glyphs;
use crate::names::labels;
use crate::terminal::Terminal;
use crate::units::{Precision, TimeUnit, plain, plain_signed, scale_of_table};
use crate::{sentences, suite};

/// Maximum width, in columns, of a name, however wide the terminal is.
const NAME_AT_MOST: usize = 60;

/// If less than this width, in columns, is left for the names, the table omits the intervals.
const NAME_AT_EASE: usize = 40;

/// Formats one line per comparison: the smallest values and the means of baseline (B) and candidate
/// (C), in the unit that suits the smallest of them; their differences; and the verdict with its
/// change.
///
/// The mean difference is the difference of the means, which equals the mean of the paired
/// differences if every sample has a partner. The change of the verdict comes from a robust
/// estimate, so a single slow sample does not affect it, although it affects the means. The
/// interval is omitted if it does not fit.
pub fn to_paired(
    analysis: &Analysis,
    width: usize,
    time_unit: Option<TimeUnit>,
    glyphs: Glyphs,
) -> String {
    let run = Run {
        time_unit,
        ..Run::of(analysis, glyphs, NAME_AT_MOST)
    };
    let mut blocks = run.pairs();
    // Benchmarks that failed or were left out have no times, but the answer names them.
    blocks.extend(Block::notes(run.failures()).map(Block::tight));
    blocks.extend(run.left_out().map(Block::tight));
    let unicode = glyphs == Glyphs::Unicode;
    Terminal::new(width, false, unicode).render(&blocks)
}

impl<'a> Run<'a> {
    fn pairs(&self) -> Vec<Block<'a>> {
        let raced = || self.analysis.comparisons.iter().filter_map(sides_of);
        let smallest = raced().flat_map(|(baseline, candidate)| [baseline.min, candidate.min]);
        let smallest = smallest
            .filter(|value| *value > 0.0)
            .fold(f64::INFINITY, f64::min);
        let Some(first) = self
            .analysis
            .comparisons
            .first()
            .filter(|_| raced().next().is_some())
        else {
            let Analysis {
                failures, left_out, ..
            } = self.analysis;
            return vec![Block::paragraph(sentences::tally(&[], failures, left_out))];
        };
        let unit = first.terms.metric.unit();
        let smallest = if smallest.is_finite() { smallest } else { 0.0 };
        let scale = scale_of_table(self.time_unit, unit, smallest, self.glyphs);
        let metric = sentences::metric(&first.terms.metric, self.glyphs);
        let title = match scale.symbol {
            "" => metric,
            symbol => format!("{metric}, {symbol}"),
        };
        let mut table = self.table_of_pairs(title);
        let compared = self.analysis.comparisons.iter();
        let compared = compared.filter_map(|one| Some((one, sides_of(one)?)));
        let names = self.names_of_pairs();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let names = labels(&names, NAME_AT_MOST, self.glyphs);
        for (name, (comparison, sides)) in names.into_iter().zip(compared) {
            let mut row = vec![name];
            row.extend(cells(comparison, sides, scale.factor, self.glyphs));
            table.rows.push(row.into());
        }
        let legend = self.legend().map(Block::indented);
        let mut blocks = vec![Block::table(table)];
        blocks.extend(legend.map(Block::tight));
        blocks
    }

    fn table_of_pairs(&self, title: String) -> Table<'a> {
        let delta = self.glyphs.delta();
        let heads = [
            title,
            "B min".to_owned(),
            "C min".to_owned(),
            format!("min {delta}"),
            "B mean".to_owned(),
            "C mean".to_owned(),
            format!("mean {delta}"),
            format!("mean {delta} (%)"),
        ];
        let mut table = Table::new(Kind::Contender, heads);
        table.name_at_ease = NAME_AT_EASE;
        let verdict = match self.change_head() {
            "change" => "verdict".to_owned(),
            change => format!("verdict, {change}"),
        };
        table.column(Kind::Words, verdict);
        table.spare_column(Kind::Words, "");
        table
    }

    fn names_of_pairs(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for group in &self.groups {
            let contenders = self.called(group);
            // A comparison without a candidate has no line.
            for (index, comparison) in group
                .iter()
                .filter(|one| one.candidate.is_some())
                .enumerate()
            {
                let title = suite::title(comparison, self.glyphs);
                let pair = format!("{} / {}", contenders[0], contenders[index + 1]);
                let sides = sides_of(comparison).map(|(a, b)| format!("{} / {}", a.name, b.name));
                names.push(match self.groups.len() {
                    1 => pair,
                    // The title of the benchmark already names both sides.
                    _ if sides.as_ref() == Some(&title) => title,
                    _ => format!("{title}: {pair}"),
                });
            }
        }
        names
    }
}

/// Returns both sides of a comparison; `None` without a candidate.
fn sides_of(comparison: &Comparison) -> Option<(&Side, &Side)> {
    Some((&comparison.baseline, comparison.candidate.as_ref()?))
}

fn cells(
    comparison: &Comparison,
    (baseline, candidate): (&Side, &Side),
    factor: f64,
    glyphs: Glyphs,
) -> Vec<String> {
    // All values of a row have the same number of decimals, so that readers can subtract them.
    let values = [baseline.min, candidate.min, baseline.mean, candidate.mean];
    let values = values.map(|value| value / factor);
    let shown = plain(&values);
    let between = |from: f64, to: f64| {
        if from > 0.0 && (to / from).is_finite() {
            Precision::of(None).signed(to / from - 1.0, glyphs)
        } else {
            glyphs.nothing().to_owned()
        }
    };
    let [b_min, c_min, b_mean, c_mean] = shown;
    // The verdict, its change and its interval, if they exist.
    let estimate = cost_of(comparison);
    let estimate = estimate.as_ref();
    let word = sentences::verdict_cell(comparison, glyphs);
    let [change, interval] = change_cells(estimate, glyphs);
    let verdict = estimate.map_or(word.clone(), |_| format!("{word} {change}"));
    let known = estimate.and_then(|estimate| estimate.interval);
    vec![
        b_min,
        c_min,
        between(baseline.min, candidate.min),
        b_mean,
        c_mean,
        plain_signed(&values, values[3] - values[2], glyphs),
        between(baseline.mean, candidate.mean),
        verdict,
        known.map_or_else(String::new, |_| interval),
    ]
}
