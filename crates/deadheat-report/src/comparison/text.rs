//! A comparison of saved results as people read it in a terminal.

use deadheat_model::{Analysis, Comparison};

use super::grid::grid;
use super::judged::Scene;
use super::labels::Labels;
use super::options::ComparisonOptions;
use super::rows::{self, Row, rows};
use super::sheet::Sheet;
use super::words;
use crate::figures;
use crate::glyphs::Glyphs;
use crate::layout;
use crate::plot::{ForestRow, Scenery, beside, pictures};
use crate::sentences::{self, Weight};

/// Columns of a picture that goes where there is no right edge.
const WIDEST_PICTURE: usize = 100;

/// Columns that the name of a side may take in the head of a column.
const LABEL: usize = 16;

/// The same where there is no limit.
const WIDE_LABEL: usize = 40;

/// The answer about saved results as text: who they are from, one table with
/// a row for every benchmark, what was counted, other metrics, and the doubts.
pub fn to_comparison(analysis: &Analysis, options: &ComparisonOptions) -> String {
    let glyphs = Glyphs::new(options.unicode);
    let label = if options.width == usize::MAX {
        WIDE_LABEL
    } else {
        LABEL
    };
    let scene = Scene {
        analysis,
        labels: Labels::of(analysis, label, glyphs),
        glyphs,
    };
    Painter { scene, options }.text()
}

struct Painter<'a> {
    scene: Scene<'a>,
    options: &'a ComparisonOptions,
}

impl Painter<'_> {
    fn text(&self) -> String {
        let (options, glyphs) = (self.options, self.scene.glyphs);
        let analysis = self.scene.analysis;
        let rows = rows(analysis, options.sort, glyphs);
        let mut text = String::new();
        for line in self.scene.head() {
            text += &self.wrapped("", &line);
        }
        if !text.is_empty() {
            text.push('\n');
        }
        let shown = rows
            .iter()
            .filter(|row| !options.only_changed || row.changed());
        let shown: Vec<&Row<'_>> = shown.collect();
        let judged = self.scene.judged(&shown);
        if !judged.rows.is_empty() {
            text += &self.table(&judged, &shown);
            text.push('\n');
        }
        text += &self.wrapped("", &words::tally(analysis, &self.scene.labels));
        if let Some(hidden) = words::hidden(rows.len() - shown.len()) {
            text += &self.wrapped("", &hidden);
        }
        for failure in words::failures(&analysis.failures, glyphs) {
            text += &self.painted("!", 31, " ", &failure);
        }
        for reason in words::reasons(&analysis.left_out, glyphs) {
            text += &self.wrapped("", &reason);
        }
        text += &self.others(&rows);
        if options.figures {
            for comparison in shown.iter().filter_map(|row| row.comparison()) {
                text += &self.figures(comparison);
            }
        }
        if options.plot {
            for comparison in shown.iter().filter_map(|row| row.comparison()) {
                text += &self.plots(comparison);
            }
        }
        text + &self.doubts() + &self.gates()
    }

    fn gates(&self) -> String {
        let mut text = String::new();
        for line in sentences::gates(self.scene.analysis, self.scene.glyphs) {
            if text.is_empty() {
                text.push('\n');
            }
            text += &match line.weight {
                Weight::Fails => self.painted("!", 31, " ", &line.text),
                Weight::Warns => self.painted("warning:", 33, " ", &line.text),
                Weight::Notes => self.painted("note:", 36, " ", &line.text),
            };
        }
        text
    }

    /// The table of the judged metric with the forest of its intervals, where
    /// the terminal has room for it. What goes elsewhere has no right edge to
    /// fill.
    fn table(&self, judged: &Sheet, shown: &[&Row<'_>]) -> String {
        let (options, glyphs) = (self.options, self.scene.glyphs);
        let table = grid(judged, options, glyphs);
        if options.width == usize::MAX {
            return table;
        }
        let plain = ComparisonOptions {
            color: false,
            ..*options
        };
        let bare = grid(judged, &plain, glyphs);
        let rows = shown
            .iter()
            .map(|row| row.comparison().map(ForestRow::from));
        let overall = self.scene.analysis.overall.iter().map(|overall| {
            Some(ForestRow {
                estimate: Some(&overall.estimate),
                margin: self.scene.analysis.margin,
                verdict: None,
            })
        });
        let rows: Vec<Option<ForestRow>> = rows.chain(overall).collect();
        let look = (options.width, options.color);
        beside(&table, &bare, &rows, look, glyphs).unwrap_or(table)
    }

    fn plots(&self, comparison: &Comparison) -> String {
        let (glyphs, labels) = (self.scene.glyphs, &self.scene.labels);
        let scenery = Scenery {
            // Pictures without an edge would be as wide as there are points.
            width: self.options.width.min(WIDEST_PICTURE),
            indent: 2,
            glyphs,
            color: self.options.color,
            verdict: comparison.verdict,
        };
        let candidate = comparison.candidate.as_ref();
        let candidate = candidate.map(|side| labels.candidate(&side.name).to_owned());
        let names = [labels.baseline(), candidate.as_deref().unwrap_or_default()];
        match pictures(comparison, names, &scenery) {
            none if none.is_empty() => none,
            drawn => format!(
                "\n{}{drawn}",
                self.wrapped("", &rows::title(comparison, glyphs))
            ),
        }
    }

    fn others(&self, rows: &[Row<'_>]) -> String {
        let others = self.scene.others(rows, self.options);
        let mut text = String::new();
        for (title, sheet) in &others.sheets {
            text += &format!("\n{}", self.wrapped("", title));
            text += &grid(sheet, self.options, self.scene.glyphs);
        }
        if let Some(quiet) = words::quiet(&others.quiet, self.scene.analysis) {
            text += &format!("\n{}", self.wrapped("", &quiet));
        }
        text
    }

    fn figures(&self, comparison: &Comparison) -> String {
        let glyphs = self.scene.glyphs;
        let sides = figures::sides(comparison, glyphs);
        let between = figures::between(comparison, glyphs);
        let tables: Vec<_> = sides.into_iter().chain(between).collect();
        if tables.is_empty() {
            return String::new();
        }
        let mut title = rows::title(comparison, glyphs);
        let several = self.scene.several();
        if let Some(candidate) = comparison.candidate.as_ref().filter(|_| several) {
            title += &format!(", '{}'", self.scene.labels.candidate(&candidate.name));
        }
        let title = format!("{title}. {}", figures::TITLE);
        let mut text = format!("\n{}", self.wrapped("", &title));
        // What a table of figures holds is never wide.
        let width = self.options.width.min(usize::from(u16::MAX));
        for table in &tables {
            let aligned = format!("l{}", "r".repeat(table.header.len() - 1));
            text.push('\n');
            text += &layout::table(&table.header, &table.rows, &aligned, 2, width);
        }
        text.push('\n');
        text + &self.wrapped("  ", figures::CAVEAT)
    }

    fn doubts(&self) -> String {
        let mut text = String::new();
        let analysis = self.scene.analysis;
        for answer in words::answers(analysis)
            .into_iter()
            .chain(words::remedy(analysis))
        {
            text += &format!("\n{}", self.wrapped("", &answer));
        }
        for (index, told) in self.scene.doubts().iter().enumerate() {
            if index == 0 {
                text.push('\n');
            }
            text += &match told.information {
                true => self.painted("note:", 36, " ", &told.text),
                false => self.painted("warning:", 33, " ", &told.text),
            };
        }
        text
    }

    /// A paragraph behind a word in colour, which has no width: it is painted
    /// after wrapping.
    fn painted(&self, word: &str, color: u8, gap: &str, text: &str) -> String {
        let plain = self.wrapped(&format!("{word}{gap}"), text);
        match self.options.color {
            true => plain.replacen(word, &format!("\u{1b}[{color}m{word}\u{1b}[0m"), 1),
            false => plain,
        }
    }

    fn wrapped(&self, prefix: &str, text: &str) -> String {
        layout::wrap(prefix, text, self.options.width)
    }
}
