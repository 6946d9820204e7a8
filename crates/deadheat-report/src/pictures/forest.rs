//! The forest plot of a suite: a row for every comparison, with its change, its interval and the
//! margin.

use deadheat_model::{Analysis, Estimate};

use super::axis::{Axis, padded};
use super::canvas::{
    Anchor, BAND, BLACK, Colour, GREY, Marker, SOLID, Stroke, corners, fitting, of_verdict, sheet,
};
use super::scene::{BELOW, Frame, Picture, SIDE, head, margin, percent, percents};
use crate::cost::cost_of;
use crate::glyphs::Glyphs;
use crate::names::{labels, shorten_apart, texts};
use crate::units::{drawn_span, effect};
use crate::{sentences, suite};

/// The width in pixels, which is more than one column of a page.
const WIDTH: f64 = 500.0;
const NAMES: f64 = 150.0;
const WORDS: f64 = 144.0;
const ROW: f64 = 17.0;
const TOP: f64 = 44.0;

/// Maximum rows of one picture, which fit on a page.
const ROWS: usize = 40;

struct Row {
    name: String,
    estimate: Option<Estimate>,
    /// The lower and the upper limit of the margin, in percent; `None` if the row shows no margin.
    margin: Option<(f64, f64)>,
    words: String,
    ink: Colour,
    marker: Marker,
}

/// Draws the suite, in several numbered pictures if it has many rows. `stem` is the beginning of
/// the file names. Returns nothing for a single comparison.
pub(super) fn pictures(analysis: &Analysis, stem: &str) -> Vec<Picture> {
    let rows = rows(analysis);
    if rows.len() < 2 || rows.iter().all(|row| row.estimate.is_none()) {
        return Vec::new();
    }
    let axis = axis(&rows);
    let several = rows.len() > ROWS;
    // Distributes the rows evenly over the pictures.
    let each = rows.len().div_ceil(rows.len().div_ceil(ROWS));
    let pages = rows.chunks(each).enumerate();
    pages
        .map(|(page, rows)| {
            let name = if several {
                format!("{stem}-{}", page + 1)
            } else {
                stem.to_owned()
            };
            let svg = drawn(analysis, rows, axis.clone());
            Picture { name, svg }
        })
        .collect()
}

const NAME: usize = 1_000;

fn rows(analysis: &Analysis) -> Vec<Row> {
    let mut rows = Vec::new();
    let named = suite::rows_name_candidates(analysis);
    let groups = suite::groups(&analysis.comparisons);
    let titles = texts(&groups, &|group| suite::title(&group[0], Glyphs::Unicode));
    let titles = shorten_apart(&titles, NAME, Glyphs::Unicode);
    for (group, title) in groups.into_iter().zip(titles) {
        let labels = labels(&suite::names(group), 40, Glyphs::Unicode);
        for (index, one) in group.iter().enumerate() {
            let candidate = labels.get(index + 1).filter(|_| named);
            let name = suite::row_name(&title, candidate.map(String::as_str));
            let (ink, marker) = of_verdict(one.verdict);
            let cost = cost_of(one);
            rows.push(Row {
                name,
                words: words(cost.as_ref(), sentences::verdict_word(one)),
                estimate: cost,
                margin: one.candidate.as_ref().map(|_| margin(one.terms.margin)),
                ink,
                marker,
            });
        }
    }
    for failure in &analysis.failures {
        rows.push(Row {
            name: suite::failed_title(failure, Glyphs::Unicode),
            estimate: None,
            margin: None,
            words: sentences::FAILED_CELL.to_owned(),
            ink: GREY,
            marker: Marker::Cross,
        });
    }
    let several = analysis.overall.len() > 1;
    for overall in &analysis.overall {
        let mut name = "geometric mean".to_owned();
        if several {
            let candidate = labels(&[&overall.candidate], 40, Glyphs::Unicode).concat();
            name = format!("{name}: {candidate}");
        }
        let mean = suite::mean_of(overall);
        rows.push(Row {
            name,
            words: words(Some(&mean), ""),
            estimate: Some(mean),
            margin: None,
            ink: BLACK,
            marker: Marker::Diamond,
        });
    }
    rows
}

fn words(estimate: Option<&Estimate>, word: &str) -> String {
    match estimate {
        Some(found) => {
            let change = effect(found.effect, found.interval.as_ref(), Glyphs::Unicode);
            format!("{change}  {word}").trim_end().to_owned()
        }
        None => word.to_owned(),
    }
}

/// Returns one axis for all pictures, so that readers can compare them. A very
/// large change would compress all other intervals, so its interval ends in an arrow, with the
/// number next to it.
fn axis(rows: &[Row]) -> Axis {
    let estimates = rows.iter().filter_map(|row| row.estimate.as_ref());
    let spans = estimates.map(|found| {
        let (low, high) = drawn_span(found);
        (percent(low), percent(high))
    });
    let spans: Vec<(f64, f64)> = spans.collect();
    let mut reaches: Vec<f64> = spans.iter().map(|(a, b)| a.abs().max(b.abs())).collect();
    reaches.sort_by(f64::total_cmp);
    let margins = rows.iter().filter_map(|row| row.margin);
    let widest = margins.fold(0.0, |widest, (_, high)| high.max(widest));
    let middle = reaches.get(reaches.len() / 2).copied().unwrap_or(0.0);
    let most = (middle * 8.0).max(widest * 5.0);
    let lows = spans.iter().map(|(low, _)| low.max(-most));
    let highs = spans.iter().map(|(_, high)| high.min(most));
    let low = lows.fold(-widest * 1.2, f64::min);
    let high = highs.fold(widest * 1.2, f64::max);
    Axis::changes(
        padded(low, high),
        "change of the candidate against the baseline",
    )
}

fn drawn(analysis: &Analysis, rows: &[Row], axis: Axis) -> String {
    let height = TOP + ROW * rows.len() as f64 + BELOW + 2.0;
    let tally = sentences::tally(
        &analysis.comparisons,
        &analysis.failures,
        &analysis.left_out,
    );
    let about = format!("All benchmarks: {tally}");
    sheet(WIDTH, height, &about, |canvas| {
        head(canvas, "All benchmarks", &tally, WIDTH);
        let count = rows.len() as f64;
        let bottom = TOP + ROW * count;
        let (left, right) = (SIDE + NAMES, WIDTH - SIDE - WORDS);
        let up = Axis::hidden((0.0, count));
        let frame = Frame::new(canvas, (left, TOP), (right, bottom), axis, up);
        for (index, row) in rows.iter().enumerate() {
            let middle = count - index as f64 - 0.5;
            if let Some((low, high)) = row.margin {
                let row = corners((low, middle - 0.5), (high, middle + 0.5));
                frame.shape(&row, BAND, 1.0);
            }
        }
        frame.upright(0.0, Stroke(BLACK, 0.7, SOLID));
        for (index, row) in rows.iter().enumerate() {
            let middle = count - index as f64 - 0.5;
            self::row(&frame, row, middle, (left, right));
        }
        frame.axes();
    })
}

fn row(frame: &Frame<'_>, row: &Row, middle: f64, (left, right): (f64, f64)) {
    let (_, y) = frame.at((0.0, middle));
    let name = fitting(&row.name, 9.5, NAMES - 8.0);
    let canvas = frame.canvas;
    canvas.text(&name, (left - 6.0, y), 9.5, BLACK, Anchor::End);
    canvas.text(&row.words, (right + 14.0, y), 9.5, row.ink, Anchor::Start);
    let Some(found) = &row.estimate else { return };
    if let Some(interval) = &found.interval {
        let stroke = Stroke(row.ink, 1.3, SOLID);
        frame.span(percents(interval), middle, stroke);
    }
    let at = (percent(found.effect), middle);
    frame.point(at, row.marker, 3.0, row.ink);
}
