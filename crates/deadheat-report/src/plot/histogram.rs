//! The two distributions over one axis.

use crate::layout::Width as _;
use deadheat_model::{Distribution, Plots, Unit};

use super::paint::{Strokes, painted};
use super::pictures::Scenery;
use crate::layout::wrap;
use crate::units::{Scale, counted, quantities};

/// Rows of either side.
const ROWS: usize = 4;

/// Columns of a bin: a few wide bins read better than a wall.
const WIDEST_BIN: usize = 6;

/// Columns of a value at the axis.
const LABEL: usize = 14;

/// Columns beyond which a histogram is made no wider.
const MOST: usize = 96;

/// Both sides' histograms with their common axis and a caption; empty without
/// bins.
pub(super) fn histograms(
    plots: &Plots,
    names: [&str; 2],
    what: &str,
    unit: Unit,
    scenery: &Scenery,
) -> String {
    let bins = plots.edges.len().saturating_sub(1);
    if bins == 0 {
        return String::new();
    }
    let room = scenery
        .width
        .saturating_sub(scenery.indent + 1)
        .clamp(8, MOST);
    // Whole columns for every bin, or whole bins for every column: anything
    // else would draw steps that are not there.
    let (columns_each, bins_each) = match room / bins {
        0 => (1, bins.div_ceil(room)),
        several => (several.min(WIDEST_BIN), 1),
    };
    let sides: Vec<(&str, &Distribution)> = names
        .into_iter()
        .zip([Some(&plots.baseline), plots.candidate.as_ref()])
        .filter_map(|(name, side)| Some((name, side?)))
        .collect();
    let columns_of = |side: &Distribution| -> Vec<f64> {
        let counts = &side.counts[..bins.min(side.counts.len())];
        let columns = counts.chunks(bins_each);
        columns
            .map(|bins| bins.iter().map(|count| f64::from(*count)).sum())
            .collect()
    };
    let strokes = Strokes::new(scenery.glyphs);
    let margin = " ".repeat(scenery.indent);
    let mut text = String::new();
    for (index, (name, side)) in sides.iter().enumerate() {
        let title = format!("{name}: {}", counted(samples(side), "sample", "samples"));
        text += &wrap(&margin, &title, scenery.width);
        let color = scenery.verdict_color().filter(|_| index == 1);
        // Each to its own height: of a rival a hundred times as wide there would
        // be nothing to see.
        let counts = columns_of(side);
        let highest = counts.iter().copied().fold(0.0, f64::max);
        for row in (0..ROWS).rev() {
            let mut line = String::new();
            for count in &counts {
                let filled = count / highest * ROWS as f64 - row as f64;
                let bar = bar(filled, row == 0 && *count > 0.0, strokes.bars);
                line.extend(std::iter::repeat_n(bar, columns_each));
            }
            text += format!("{margin}{}", painted(line.trim_end(), color)).trim_end();
            text.push('\n');
        }
    }
    let columns = bins.div_ceil(bins_each) * columns_each;
    text += &axis(plots, columns, unit, strokes, scenery);
    let tails = |pick: fn(&Distribution) -> u32| -> u64 {
        sides.iter().map(|(_, side)| u64::from(pick(side))).sum()
    };
    let mut caption = match sides.len() {
        1 => format!("Samples by {what}."),
        _ => format!(
            "Samples by {what}: the baseline above, the candidate below, each to its own height."
        ),
    };
    for (beyond, edge) in [
        (tails(|side| side.below), "left"),
        (tails(|side| side.above), "right"),
    ] {
        if beyond > 0 {
            let verb = if beyond == 1 { "lies" } else { "lie" };
            caption += &format!(" {beyond} {verb} beyond the {edge} edge.");
        }
    }
    text + &wrap(&margin, &caption, scenery.width)
}

/// All samples of a side, those beyond the edges too.
fn samples(side: &Distribution) -> u64 {
    let inside: u64 = side.counts.iter().map(|count| u64::from(*count)).sum();
    inside + u64::from(side.below) + u64::from(side.above)
}

/// A cell that is filled so far; at the foot the smallest bar stands for
/// anything.
fn bar(filled: f64, something: bool, bars: &[char]) -> char {
    let parts = bars.len();
    match (filled * parts as f64).round() {
        // The cast saturates.
        part if part >= 1.0 => bars[(part as usize).min(parts) - 1],
        _ => match something {
            true => bars[0],
            false => ' ',
        },
    }
}

/// A line below the bars, and values below it: the ends, and the middle where
/// it has room.
fn axis(plots: &Plots, columns: usize, unit: Unit, strokes: Strokes, scenery: &Scenery) -> String {
    let (low, high) = (plots.edges[0], plots.edges[plots.edges.len() - 1]);
    let values = [low, low.midpoint(high), high];
    let mut labels = match Scale::shared(unit, &values, scenery.glyphs) {
        Some(scale) => values.map(|value| scale.show_within(value, high - low)),
        None => {
            let mut shown = quantities(unit, &values, scenery.glyphs).into_iter();
            std::array::from_fn(|_| shown.next().unwrap_or_default())
        }
    };
    // Nobody reads three hundred digits.
    for (label, value) in labels.iter_mut().zip(values) {
        if label.width() > LABEL {
            *label = format!("{value:.1e}");
        }
    }
    let ends = labels[0].width() + labels[2].width() + 2;
    if ends + labels[1].width() > columns {
        labels[1].clear();
    }
    let columns = columns.max(labels[0].width() + labels[2].width() + 1);
    let middle = columns.saturating_sub(labels[1].width()) / 2;
    let mut below = labels[0].clone();
    below += &" ".repeat(middle.saturating_sub(below.width()));
    below += &labels[1];
    below += &" ".repeat(columns.saturating_sub(below.width() + labels[2].width()));
    below += &labels[2];
    let mut line: Vec<char> = vec![strokes.axis; columns];
    for at in [0, columns / 2, columns - 1] {
        line[at] = strokes.tick;
    }
    let margin = " ".repeat(scenery.indent);
    let line: String = line.into_iter().collect();
    format!("{margin}{line}\n{margin}{}\n", below.trim_end())
}
