//! The forest plot next to a table: all intervals on one scale.

use deadheat_model::{Comparison, Estimate, LogRatio, Metric, Verdict};

use super::{ChangeScale, PlotContext, Strokes, color_of, painted};
use crate::cost::in_cost;
use crate::glyphs::Glyphs;
use crate::layout::{GAP, Width as _, wrap};
use crate::units::drawn_span;

/// Minimum width in columns. A narrower plot would show less than the numbers next to it.
const LEAST: usize = 11;

/// Maximum width in columns, so that readers can follow a row.
const MOST: usize = 41;

/// The scale extends to at least this multiple of the margin.
const MARGINS: f64 = 1.5;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ForestRow<'a> {
    pub(crate) estimate: Option<Estimate>,
    /// The metric that changed; `None` if the estimate is already a change in cost.
    pub(crate) metric: Option<&'a Metric>,
    /// The margin of the comparison, as a change.
    pub(crate) margin: f64,
    pub(crate) verdict: Option<Verdict>,
}

impl<'a> From<&'a Comparison> for ForestRow<'a> {
    fn from(comparison: &'a Comparison) -> Self {
        Self {
            estimate: comparison.estimate,
            metric: Some(&comparison.terms.metric),
            margin: comparison.terms.margin,
            verdict: comparison.verdict,
        }
    }
}

impl ForestRow<'_> {
    fn cost(&self) -> Option<Estimate> {
        let estimate = self.estimate?;
        Some(match self.metric {
            Some(metric) => in_cost(metric, &estimate),
            None => estimate,
        })
    }
}

/// Returns a table with the intervals of its rows to the right, and a caption; `None` if there is
/// not enough space. `bare` is the table without colours. `rows` has one entry per row of the
/// table, `None` for a row without an interval.
pub(crate) fn beside(
    table: &str,
    bare: &str,
    rows: &[Option<ForestRow>],
    (width, color): (usize, bool),
    glyphs: Glyphs,
) -> Option<String> {
    let widths: Vec<usize> = bare.lines().map(|line| line.width()).collect();
    let start = widths.iter().max()? + GAP;
    let drawn: Vec<ForestRow> = rows.iter().flatten().copied().collect();
    let forest = Forest::of(&drawn, width.saturating_sub(start), glyphs, color)?;
    // If a cell takes several lines, the lines do not match the rows.
    if widths.len() != rows.len() + 1 {
        return None;
    }
    let mut text = String::new();
    for (index, line) in table.lines().enumerate() {
        let cell = match index.checked_sub(1) {
            None => forest.head(),
            Some(row) => rows[row]
                .as_ref()
                .map_or_else(String::new, |row| forest.row(row)),
        };
        let fill = " ".repeat(start - widths[index]);
        text += format!("{line}{fill}{cell}").trim_end();
        text.push('\n');
    }
    Some(text + &wrap("  ", &forest.caption(), width))
}

#[cfg(feature = "reports")]
/// Returns the intervals of a benchmark's candidates on one scale, below the names if there are
/// several candidates; empty without space or estimates.
pub(crate) fn intervals(
    group: &[Comparison],
    candidates: &[String],
    scenery: &PlotContext,
) -> String {
    let room = scenery.width.saturating_sub(scenery.indent);
    let rows: Vec<ForestRow> = group.iter().map(ForestRow::from).collect();
    let Some(forest) = Forest::of(&rows, room, scenery.glyphs, scenery.color) else {
        return String::new();
    };
    let margin = scenery.margin();
    let mut text = format!("\n{margin}{}\n", forest.head());
    for (row, candidate) in rows.iter().zip(candidates) {
        if rows.len() > 1 {
            text += &scenery.wrap(candidate);
        }
        text += &format!("{margin}{}\n", forest.row(row));
    }
    text + &scenery.wrap(&forest.caption())
}

#[derive(Clone, Copy, Debug)]
struct Forest {
    scale: ChangeScale,
    /// The width in columns; odd, so that there is a middle column.
    width: usize,
    glyphs: Glyphs,
    strokes: Strokes,
    color: bool,
    /// Three flags: an interval leaves the middle column free; the margin is wider than the middle
    /// column; an interval extends beyond the scale.
    seen: [bool; 3],
}

/// Returns the ends of the interval, or the effect twice without an interval.
fn reach(estimate: &Estimate) -> [LogRatio; 2] {
    let ends = estimate.interval.map(|found| [found.low, found.high]);
    ends.unwrap_or([estimate.effect; 2])
}

impl Forest {
    /// Creates the plot of these rows in at most `room` columns; `None` if this is too narrow, or
    /// without estimates.
    fn of(rows: &[ForestRow], room: usize, glyphs: Glyphs, color: bool) -> Option<Forest> {
        let (mut drawn, mut ends, mut margin) = (Vec::new(), Vec::new(), 0.0_f64);
        for row in rows {
            margin = margin.max(row.margin);
            if let Some(found) = &row.cost() {
                drawn.extend(<[LogRatio; 2]>::from(drawn_span(found)));
                ends.extend(reach(found));
            }
        }
        if room < LEAST || drawn.is_empty() {
            return None;
        }
        let room = room.min(MOST);
        let mut forest = Forest {
            scale: ChangeScale::over(&drawn, LogRatio::from_change(MARGINS * margin)),
            width: room - usize::from(room.is_multiple_of(2)),
            glyphs,
            strokes: Strokes::new(glyphs),
            color,
            seen: [false; 3],
        };
        let band = forest.cell(LogRatio::from_change(margin));
        let beyond = |effect: &LogRatio| forest.cell(*effect).is_err();
        forest.seen = [
            rows.iter()
                .any(|row| forest.row(row).contains(forest.strokes.zero)),
            band != Ok(forest.width / 2),
            ends.iter().any(beyond),
        ];
        Some(forest)
    }

    /// Returns the head of the column: the ends of the scale, with 0 between them.
    fn head(&self) -> String {
        let [low, high] = self.scale.ends(self.glyphs);
        let half = self.width / 2;
        let inner = |label: &str| half.checked_sub(label.width());
        match inner(&low).zip(inner(&high)) {
            Some((left, right)) if left > 0 && right > 0 => {
                format!("{low}{}0{}{high}", " ".repeat(left), " ".repeat(right))
            }
            // If the labels do not fit, only the caption gives the ends.
            _ => match self.width.checked_sub(low.width() + high.width()) {
                Some(gap) if gap > 0 => format!("{low}{}{high}", " ".repeat(gap)),
                _ => String::new(),
            },
        }
    }

    /// Returns the drawing of one row. Without an estimate, the drawing has only the line of no
    /// change and the margin.
    fn row(&self, row: &ForestRow) -> String {
        let strokes = self.strokes;
        let mut cells = vec![' '; self.width];
        let margin = LogRatio::from_change(row.margin);
        let [from, to] =
            [LogRatio(-margin.0), margin].map(|end| self.cell(end).unwrap_or_else(|side| side));
        cells[from..=to].fill(strokes.band);
        cells[self.width / 2] = strokes.zero;
        let Some(estimate) = &row.cost() else {
            return cells.into_iter().collect::<String>().trim_end().to_owned();
        };
        let [low, high] = reach(estimate).map(|end| self.cell(end));
        let (Ok(first) | Err(first)) = low;
        let (Ok(last) | Err(last)) = high;
        cells[first..=last].fill(strokes.line);
        if estimate.interval.is_some() {
            cells[first] = strokes.low;
            cells[last] = strokes.high;
        }
        if let Ok(at) = self.cell(estimate.effect) {
            cells[at] = strokes.estimate;
        }
        for end in [low, high, self.cell(estimate.effect)] {
            match end {
                Err(0) => cells[0] = strokes.left,
                Err(edge) => cells[edge] = strokes.right,
                Ok(_) => {}
            }
        }
        let text = |cells: &[char]| cells.iter().collect::<String>();
        let color = color_of(row.verdict).filter(|_| self.color);
        let behind = text(&cells[last + 1..]);
        text(&cells[..first]) + &painted(&text(&cells[first..=last]), color) + behind.trim_end()
    }

    fn caption(&self) -> String {
        let [low, high] = self.scale.ends(self.glyphs);
        let strokes = self.strokes;
        let [zero, band, beyond] = self.seen;
        let mut signs = String::new();
        if zero {
            signs += &format!("; {} marks no change", strokes.zero);
        }
        if band {
            signs += &format!("; {} marks the margin", strokes.band);
        }
        if beyond {
            let (left, right) = (strokes.left, strokes.right);
            signs += &format!("; {left} and {right} continue beyond the scale");
        }
        format!("Intervals to one scale, from {low} to {high}{signs}.")
    }

    /// Returns the column of an effect, or `Err` with the edge column if the effect is beyond the
    /// scale.
    fn cell(&self, effect: LogRatio) -> Result<usize, usize> {
        let place = self.scale.place(effect);
        let last = self.width - 1;
        match place {
            below if below < -1.0 => Err(0),
            above if above > 1.0 => Err(last),
            inside => Ok((((inside + 1.0) / 2.0 * last as f64).round() as usize).min(last)),
        }
    }
}
