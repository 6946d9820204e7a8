//! Baseline and candidate side by side, a line each pair: minima, means and
//! what separates them, as paired benchmarks are often shown.

use deadheat_model::{Analysis, Comparison, Side};

use crate::cells::change_cells;
use crate::document::{Block, Kind, Row, Table};
use crate::glyphs::Glyphs;
use crate::names::labels;
use crate::run::Run;
use crate::terminal::Terminal;
use crate::units::{Precision, plain, plain_signed};
use crate::{sentences, suite};

/// Columns a name may take, however wide the terminal.
const NAME_AT_MOST: usize = 60;

/// Columns a name should have before intervals take room.
const NAME_AT_EASE: usize = 40;

/// One line per comparison: smallest values and means of baseline (B) and
/// candidate (C) in the smallest unit of the metric, how far the candidate is
/// from the baseline, and last the verdict with the change it speaks of.
///
/// The mean difference is that of the means, which where every sample has its partner is the mean
/// of the paired differences. The change behind the verdict is the robust one: one slow sample
/// moves the means and not it. Its interval is left out where it does not fit.
pub fn to_paired(analysis: &Analysis, width: usize, glyphs: Glyphs) -> String {
    let run = Run::of(analysis, glyphs, NAME_AT_MOST);
    let mut names: Vec<String> = Vec::new();
    let mut rows: Vec<Row> = Vec::new();
    for group in &run.groups {
        let contenders = run.called(group);
        // A comparison without a candidate adds no contender.
        let raced = group
            .iter()
            .filter_map(|one| Some((one, one.candidate.as_ref()?)));
        for (index, (comparison, candidate)) in raced.enumerate() {
            let title = suite::title(comparison, glyphs);
            let pair = format!("{} / {}", contenders[0], contenders[index + 1]);
            let sides = [&comparison.baseline, candidate].map(|side| side.name.as_str());
            names.push(match run.groups.len() {
                1 => pair,
                // It is named after its sides already.
                _ if title == sides.join(" / ") => title,
                _ => format!("{title}: {pair}"),
            });
            rows.push(cells(comparison, candidate, glyphs).into());
        }
    }
    let mut blocks = Vec::new();
    if let Some(first) = analysis.comparisons.first().filter(|_| !rows.is_empty()) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for (row, name) in rows.iter_mut().zip(labels(&names, NAME_AT_MOST, glyphs)) {
            row.cells.insert(0, name.into());
        }
        let metric = sentences::metric(&first.metric, glyphs);
        let delta = glyphs.delta();
        let heads = [
            format!("{metric}, {}", first.metric.unit().name()),
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
        table.column(Kind::Words, "verdict");
        table.spare_column(Kind::Words, "");
        table.rows = rows;
        blocks.push(Block::table(table));
    } else {
        let tally = sentences::tally(&[], &analysis.failures, &analysis.left_out);
        blocks.push(Block::paragraph(tally));
    }
    // Benchmarks that broke down or were left out have no times; they are named all the same.
    blocks.extend(Block::notes(run.failures()).map(Block::tight));
    blocks.extend(run.left_out().map(Block::tight));
    let color = false;
    Terminal {
        width,
        color,
        glyphs,
    }
    .render(&blocks)
}

/// All cells but the name.
fn cells(comparison: &Comparison, candidate: &Side, glyphs: Glyphs) -> Vec<String> {
    let baseline = &comparison.baseline;
    // In one row all have the same decimals, so that they can be subtracted by eye.
    let values = [baseline.min, candidate.min, baseline.mean, candidate.mean];
    let shown = plain(&values);
    let between = |from: f64, to: f64| {
        if from > 0.0 && (to / from).is_finite() {
            Precision::of(None).signed(to / from - 1.0, glyphs)
        } else {
            glyphs.nothing().to_owned()
        }
    };
    let [b_min, c_min, b_mean, c_mean] = shown;
    // The verdict with the change it speaks of, and the interval behind it, as far as there are any.
    let estimate = comparison.estimate.as_ref();
    let word = sentences::verdict_cell(comparison);
    let [change, interval] = change_cells(estimate, glyphs);
    let verdict = estimate.map_or(word.clone(), |_| format!("{word} {change}"));
    let known = estimate.and_then(|estimate| estimate.interval);
    vec![
        b_min,
        c_min,
        between(baseline.min, candidate.min),
        b_mean,
        c_mean,
        plain_signed(&values, candidate.mean - baseline.mean, glyphs),
        between(baseline.mean, candidate.mean),
        verdict,
        known.map_or_else(String::new, |_| interval),
    ]
}
