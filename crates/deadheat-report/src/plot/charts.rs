//! The plots of one comparison: the distributions of both sides over one axis, and the effects of
//! the blocks in order of time.

use deadheat_model::{Comparison, DifferenceSeries, Distribution, LogRatio, Plots, Unit};

use super::{ChangeScale, PlotContext, Strokes, painted};
use crate::layout::Width as _;
use crate::sentences;
use crate::units::{Scale, counted, quantities, share};

/// Maximum height of each histogram in rows. With few samples it is at most the count of the
/// fullest column.
const BARS: usize = 4;

/// Maximum width of a bin in columns; wider bins would look like solid blocks.
const WIDEST_BIN: usize = 6;

/// Maximum width of a value at the axis in columns.
const LABEL: usize = 14;

/// Maximum width of a histogram in columns.
const WIDEST_HISTOGRAM: usize = 96;

/// Each entry is a maximum number of blocks, and for up to this many blocks, the number of rows
/// from the line of no change to each end of the scale. Each row is a round step of the scale. Rows
/// without a block at the ends are omitted.
const ROWS: [(usize, i32); 2] = [(8, 2), (20, 5)];
/// The number of rows from the line of no change to each end of the scale, for more blocks than
/// [`ROWS`] lists.
const MOST_ROWS: i32 = 10;

/// Maximum width of the series in columns.
const WIDEST_SERIES: usize = 120;

/// If more than one in this many columns has a tick, the ticks are omitted, because they would
/// merge into a line.
const TICKS_EVERY: usize = 3;

/// Returns the histograms, and the differences in order of time if there are pairs, each after an
/// empty line; empty if the analysis has no data to draw.
pub(crate) fn pictures(comparison: &Comparison, names: [&str; 2], scenery: &PlotContext) -> String {
    let Some(plots) = &comparison.plots else {
        return String::new();
    };
    let what = sentences::metric(&comparison.terms.metric, scenery.glyphs);
    let unit = comparison.terms.metric.unit();
    let histograms = histograms(plots, names, &what, unit, scenery);
    let series = plots
        .differences
        .iter()
        .map(|found| series(found, comparison.terms.margin, scenery));
    std::iter::once(histograms)
        .chain(series)
        .filter(|picture| !picture.is_empty())
        .map(|picture| format!("\n{picture}"))
        .collect()
}

fn histograms(
    plots: &Plots,
    names: [&str; 2],
    what: &str,
    unit: Unit,
    scenery: &PlotContext,
) -> String {
    let bins = plots.edges.len().saturating_sub(1);
    if bins == 0 {
        return String::new();
    }
    let room = scenery.width.saturating_sub(scenery.indent + 1);
    let room = room.clamp(8, WIDEST_HISTOGRAM);
    // Each bin has an integer number of columns, or each column an integer number of bins. Other
    // widths would show steps that are not in the data.
    let (columns_each, bins_each) = match room / bins {
        0 => (1, bins.div_ceil(room)),
        several => (several.min(WIDEST_BIN), 1),
    };
    let sides: Vec<(&str, &Distribution)> = names.into_iter().zip(plots.sides()).collect();
    let columns_of = |side: &Distribution| -> Vec<f64> {
        let counts = &side.counts[..bins.min(side.counts.len())];
        let columns = counts.chunks(bins_each);
        columns
            .map(|bins| bins.iter().map(|count| f64::from(*count)).sum())
            .collect()
    };
    let strokes = Strokes::new(scenery.glyphs);
    let margin = scenery.margin();
    let mut text = String::new();
    for (index, (name, side)) in sides.iter().enumerate() {
        let title = format!("{name}: {}", counted(side.samples(), "sample", "samples"));
        text += &scenery.wrap(&title);
        let color = scenery.verdict_color().filter(|_| index == 1);
        // Each histogram has its own scale for heights, because a much wider distribution would be
        // invisible next to a narrow one.
        let counts = columns_of(side);
        let highest = counts.iter().copied().fold(0.0, f64::max);
        let bars = BARS.min(highest as usize).max(1);
        for row in (0..bars).rev() {
            let mut line = String::new();
            for count in &counts {
                let filled = count / highest * bars as f64 - row as f64;
                let bar = bar(filled, row == 0 && *count > 0.0, strokes.bars);
                line.extend(std::iter::repeat_n(bar, columns_each));
            }
            text += format!("{margin}{}", painted(line.trim_end(), color)).trim_end();
            text.push('\n');
        }
    }
    let columns = bins.div_ceil(bins_each) * columns_each;
    text += &axis(plots, columns, unit, strokes, scenery);
    let mut caption = match sides.len() {
        1 => format!("Samples by {what}."),
        _ => format!(
            "Samples by {what}: the baseline above, the candidate below, each scaled to its own \
             height."
        ),
    };
    let tail = |of: fn(&Distribution) -> u32| plots.sides().map(|side| u64::from(of(side))).sum();
    let tails: [(u64, &str); 2] = [
        (tail(|side| side.below), "left"),
        (tail(|side| side.above), "right"),
    ];
    for (beyond, edge) in tails.into_iter().filter(|(beyond, _)| *beyond > 0) {
        let verb = if beyond == 1 { "lies" } else { "lie" };
        caption += &format!(" {beyond} {verb} beyond the {edge} edge.");
    }
    text + &scenery.wrap(&caption)
}

/// Returns the character for a cell filled to this share. In the lowest row, a cell with any sample
/// shows at least the smallest bar.
fn bar(filled: f64, something: bool, bars: &[char]) -> char {
    let parts = bars.len();
    match (filled * parts as f64).round() {
        // A cast from float to integer saturates, so large values are safe.
        part if part >= 1.0 => bars[(part as usize).min(parts) - 1],
        _ if something => bars[0],
        _ => ' ',
    }
}

/// Returns the axis below the bars, with the two end values, and the middle value if it fits.
fn axis(
    plots: &Plots,
    columns: usize,
    unit: Unit,
    strokes: Strokes,
    scenery: &PlotContext,
) -> String {
    let (low, high) = (plots.edges[0], plots.edges[plots.edges.len() - 1]);
    let values = [low, low.midpoint(high), high];
    let mut labels = match Scale::shared(unit, &values, scenery.glyphs) {
        Some(scale) => values.map(|value| scale.show_within(value, high - low)),
        None => {
            let mut shown = quantities(unit, &values, scenery.glyphs).into_iter();
            std::array::from_fn(|_| shown.next().unwrap_or_default())
        }
    };
    // Long values use an exponent, because a number may have 300 digits.
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
    let last = columns - labels[2].width();
    let [low, between, high] = labels;
    let below = format!("{low:middle$}{between}");
    let below = format!("{below:last$}{high}");
    let mut line: Vec<char> = vec![strokes.axis; columns];
    for at in [0, columns / 2, columns - 1] {
        line[at] = strokes.tick;
    }
    let margin = scenery.margin();
    let line: String = line.into_iter().collect();
    format!("{margin}{line}\n{margin}{}\n", below.trim_end())
}

fn series(series: &DifferenceSeries, margin: f64, scenery: &PlotContext) -> String {
    if series.points.is_empty() {
        return String::new();
    }
    let strokes = Strokes::new(scenery.glyphs);
    let margin = LogRatio::from_change(margin);
    let kept = series.points.iter().filter(|point| !point.dropped);
    let scale = ChangeScale::over(&kept.map(|point| point.effect).collect::<Vec<_>>(), margin);
    let rows = Rows::of(scale, series, margin);
    let label = |row: i32| scale.label(f64::from(row) / f64::from(rows.half), scenery.glyphs);
    // The rows of blocks beyond the scale have no label, because they show no particular change.
    let ends = [
        rows.top - i32::from(rows.beyond[0]),
        rows.bottom + i32::from(rows.beyond[1]),
    ];
    let labels = ends.map(label);
    let widest = labels.iter().map(|label| label.width()).max().unwrap_or(0);
    let room = scenery.width.saturating_sub(scenery.indent + widest + 2);
    let first = series.points[0].position;
    let last = series.points.iter().map(|point| point.position).max();
    let span = u64::from(last.unwrap_or(first) - first) + 1;
    // Few blocks need at most two columns each.
    let columns = room.clamp(8, WIDEST_SERIES).min((2 * span).max(8) as usize);
    let column = |position: u32| {
        let place = u64::from(position.saturating_sub(first));
        ((place * columns as u64 / span) as usize).min(columns - 1)
    };
    let mut lines = vec![vec![' '; columns]; rows.count()];
    for edge in [margin, LogRatio(-margin.0)] {
        lines[rows.line_of(rows.row(edge))].fill(strokes.margin_line);
    }
    lines[rows.line_of(0)].fill(strokes.zero_line);
    let mut counts = vec![vec![0u32; columns]; rows.count()];
    let (mut beyond, mut dropped) = (false, false);
    for point in &series.points {
        let row = rows.row(point.effect);
        let (line, column) = (rows.line_of(row), column(point.position));
        counts[line][column] += 1;
        let cell = &mut lines[line][column];
        if point.dropped {
            dropped = true;
            *cell = strokes.dropped;
        } else if row.abs() > rows.half {
            beyond = true;
            *cell = if row > 0 { strokes.up } else { strokes.down };
        } else if ![strokes.dropped, strokes.up, strokes.down].contains(cell) {
            *cell = match counts[line][column] {
                1 => strokes.blocks[0],
                2 | 3 => strokes.blocks[1],
                _ => strokes.blocks[2],
            };
        }
    }
    let indent = scenery.margin();
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        let label = match rows.top - index as i32 {
            0 => "0",
            row if row == ends[0] => labels[0].as_str(),
            row if row == ends[1] => labels[1].as_str(),
            _ => "",
        };
        let fill = " ".repeat(widest.saturating_sub(label.width()));
        let line: String = line.iter().collect();
        let line = painted(line.trim_end(), scenery.verdict_color());
        text += format!("{indent}{fill}{label} {line}").trim_end();
        text.push('\n');
    }
    let ticks = !series.starts.is_empty() && series.starts.len() * TICKS_EVERY <= columns;
    let mut axis = vec![strokes.axis; columns];
    for start in series.starts.iter().filter(|_| ticks) {
        axis[column(*start)] = strokes.tick;
    }
    let axis: String = axis.into_iter().collect();
    text += &format!("{indent}{} {axis}\n", " ".repeat(widest));
    let mut caption = format!(
        "Change of every block in order of time, {} blocks",
        series.blocks
    );
    if series.points.len() < series.blocks as usize {
        caption += &format!(", {} of them drawn", series.points.len());
    }
    caption += &format!(
        ": {} is no change, {} the margin of {}",
        strokes.zero_line,
        strokes.margin_line,
        share(margin.change())
    );
    if ticks {
        caption += &format!(", {} a new replicate", strokes.tick);
    }
    if beyond {
        caption += &format!(", {} and {} lie beyond", strokes.up, strokes.down);
    }
    if dropped {
        caption += &format!(", {} was left out", strokes.dropped);
    }
    text + &scenery.wrap(&(caption + "."))
}

/// The rows of the plot, numbered upwards from no change.
struct Rows {
    scale: ChangeScale,
    /// The number of rows from the line of no change to each end of the scale.
    half: i32,
    top: i32,
    bottom: i32,
    /// Two flags: the first row contains blocks beyond the scale; the last row contains such
    /// blocks.
    beyond: [bool; 2],
}

impl Rows {
    /// Returns the range of rows that shows all blocks, no change and the margin. An end with
    /// blocks beyond the scale has one extra row.
    fn of(scale: ChangeScale, series: &DifferenceSeries, margin: LogRatio) -> Rows {
        let fits = |(blocks, _): &&(usize, i32)| series.points.len() <= *blocks;
        let half = ROWS.iter().find(fits).map_or(MOST_ROWS, |(_, half)| *half);
        let mut rows = Rows {
            scale,
            half,
            top: 0,
            bottom: 0,
            beyond: [false; 2],
        };
        let effects = series.points.iter().map(|point| point.effect);
        for effect in effects.chain([margin, LogRatio(-margin.0)]) {
            match rows.row(effect) {
                row if row > half => rows.beyond[0] = true,
                row if row < -half => rows.beyond[1] = true,
                row => (rows.top, rows.bottom) = (rows.top.max(row), rows.bottom.min(row)),
            }
        }
        rows.top += i32::from(rows.beyond[0]);
        rows.bottom -= i32::from(rows.beyond[1]);
        rows
    }

    fn row(&self, effect: LogRatio) -> i32 {
        match self.scale.place(effect) {
            above if above > 1.0 => self.half + 1,
            below if below < -1.0 => -self.half - 1,
            place => (place * f64::from(self.half)).round() as i32,
        }
    }

    fn count(&self) -> usize {
        (self.top - self.bottom + 1) as usize
    }

    /// Returns the line of a row, counted from the top; the nearest line if the row is outside.
    fn line_of(&self, row: i32) -> usize {
        (self.top - row.clamp(self.bottom, self.top)) as usize
    }
}
