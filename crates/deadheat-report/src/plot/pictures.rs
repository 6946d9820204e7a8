//! All pictures of one comparison.

use deadheat_model::{Comparison, Verdict};

use super::forest::{Forest, ForestRow};
use super::histogram::histograms;
use super::paint::color_of;
use super::series::series;
use crate::glyphs::Glyphs;
use crate::layout::wrap;
use crate::sentences;

/// Where pictures are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scenery {
    /// Columns of the terminal.
    pub(crate) width: usize,
    /// Spaces before every line.
    pub(crate) indent: usize,
    /// What the reader can see.
    pub(crate) glyphs: Glyphs,
    /// Whether colours may be used.
    pub(crate) color: bool,
    /// The verdict on what is drawn.
    pub(crate) verdict: Option<Verdict>,
}

impl Scenery {
    /// The colour of the verdict, if any may be used.
    pub(super) fn verdict_color(&self) -> Option<u8> {
        color_of(self.verdict).filter(|_| self.color)
    }
}

/// The intervals of a benchmark's candidates to one scale, each below its
/// name where there are several; empty without room or estimates.
pub(crate) fn intervals(group: &[Comparison], candidates: &[String], scenery: &Scenery) -> String {
    let room = scenery.width.saturating_sub(scenery.indent);
    let rows: Vec<ForestRow> = group.iter().map(ForestRow::from).collect();
    let Some(forest) = Forest::of(&rows, room, scenery.glyphs, scenery.color) else {
        return String::new();
    };
    let margin = " ".repeat(scenery.indent);
    let mut text = format!("\n{margin}{}\n", forest.head());
    for (row, candidate) in rows.iter().zip(candidates) {
        if rows.len() > 1 {
            text += &wrap(&margin, candidate, scenery.width);
        }
        text += &format!("{margin}{}\n", forest.row(row));
    }
    text + &wrap(&margin, &forest.caption(), scenery.width)
}

/// Histograms and, where there are pairs, the differences in order of time,
/// each after an empty line; empty where nothing was worked out to be drawn.
pub(crate) fn pictures(comparison: &Comparison, names: [&str; 2], scenery: &Scenery) -> String {
    let Some(plots) = &comparison.plots else {
        return String::new();
    };
    let what = sentences::metric(&comparison.metric, scenery.glyphs);
    let unit = comparison.metric.unit();
    let histograms = histograms(plots, names, &what, unit, scenery);
    let series = plots
        .differences
        .iter()
        .map(|found| series(found, comparison.margin, scenery));
    std::iter::once(histograms)
        .chain(series)
        .filter(|picture| !picture.is_empty())
        .map(|picture| format!("\n{picture}"))
        .collect()
}
