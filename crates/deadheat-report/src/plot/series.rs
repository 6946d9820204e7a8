//! The effects of blocks in order of time.

use crate::layout::Width as _;
use deadheat_model::{DifferenceSeries, LogRatio};

use super::change_scale::ChangeScale;
use super::paint::{Strokes, painted};
use super::pictures::Scenery;
use crate::layout::wrap;
use crate::units::share;

/// Rows from no change to either end of the scale, as many as make each a
/// round step; those without a block are left out.
const ROWS: i32 = 10;

/// Columns beyond which the series is made no wider.
const MOST: usize = 120;

/// More ticks than a third of the columns are a second line.
const TICKS_EVERY: usize = 3;

/// The series with its axis and a caption.
pub(super) fn series(series: &DifferenceSeries, margin: f64, scenery: &Scenery) -> String {
    if series.points.is_empty() {
        return String::new();
    }
    let strokes = Strokes::new(scenery.glyphs);
    let margin = LogRatio::from_change(margin);
    let kept = series.points.iter().filter(|point| !point.dropped);
    let scale = ChangeScale::over(kept.map(|point| point.effect), margin);
    let rows = Rows::of(scale, series, margin);
    let label = |row: i32| scale.label(f64::from(row) / f64::from(ROWS), scenery.glyphs);
    // What lies beyond the scale has no change that could be told.
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
    // A few blocks need no more columns than they are.
    let columns = room.clamp(8, MOST).min((2 * span).max(8) as usize);
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
        } else if row.abs() > ROWS {
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
    let indent = " ".repeat(scenery.indent);
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
    let mut remark = |told: bool, words: String| {
        if told {
            caption += &format!(", {words}");
        }
    };
    remark(ticks, format!("{} a new replicate", strokes.tick));
    remark(
        beyond,
        format!("{} and {} lie beyond", strokes.up, strokes.down),
    );
    remark(dropped, format!("{} was left out", strokes.dropped));
    text + &wrap(&indent, &(caption + "."), scenery.width)
}

/// The rows that are drawn, counted from no change upwards.
struct Rows {
    scale: ChangeScale,
    top: i32,
    bottom: i32,
    /// Whether the first and the last hold what lies beyond the scale.
    beyond: [bool; 2],
}

impl Rows {
    /// As many as hold all blocks, no change, and the margin. What lies beyond
    /// the scale has a row of its own.
    fn of(scale: ChangeScale, series: &DifferenceSeries, margin: LogRatio) -> Rows {
        let mut rows = Rows {
            scale,
            top: ROWS + 1,
            bottom: -ROWS - 1,
            beyond: [false; 2],
        };
        let blocks = series.points.iter().map(|point| rows.row(point.effect));
        let used = || {
            blocks
                .clone()
                .chain([0, rows.row(margin), rows.row(LogRatio(-margin.0))])
        };
        let inside = || used().filter(|row| row.abs() <= ROWS);
        let beyond = [used().any(|row| row > ROWS), used().any(|row| row < -ROWS)];
        let top = inside().max().unwrap_or(0) + i32::from(beyond[0]);
        let bottom = inside().min().unwrap_or(0) - i32::from(beyond[1]);
        (rows.top, rows.bottom, rows.beyond) = (top, bottom, beyond);
        rows
    }

    fn row(&self, effect: LogRatio) -> i32 {
        match self.scale.place(effect) {
            above if above > 1.0 => ROWS + 1,
            below if below < -1.0 => -ROWS - 1,
            place => (place * f64::from(ROWS)).round() as i32,
        }
    }

    fn count(&self) -> usize {
        (self.top - self.bottom + 1) as usize
    }

    /// Where a row stands, from the top; the nearest one there is.
    fn line_of(&self, row: i32) -> usize {
        (self.top - row.clamp(self.bottom, self.top)) as usize
    }
}
