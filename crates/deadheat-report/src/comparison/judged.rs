//! The table of a comparison: a row for every benchmark and candidate, those
//! without an answer included, and the mean over all.

use deadheat_model::{Analysis, Comparison, Metric, Side};

use super::labels::Labels;
use super::rows::{Row, What};
use super::sheet::{Cell, Kind, Sheet, Tone};
use super::words;
use crate::glyphs::Glyphs;
use crate::left_out;
use crate::sentences;
use crate::tables::{self, change_cells};
use crate::units::{quantities, two_digits};

/// What the tables of a comparison have in common.
pub(super) struct Scene<'a> {
    pub(super) analysis: &'a Analysis,
    pub(super) labels: Labels<'a>,
    pub(super) glyphs: Glyphs,
}

impl Scene<'_> {
    /// Whether any benchmark has a candidate; else there is nothing but a
    /// contender alone.
    pub(super) fn compares(&self) -> bool {
        !self.labels.candidates().is_empty()
    }

    /// Whether rows must say of which candidate they speak.
    pub(super) fn several(&self) -> bool {
        self.labels.candidates().len() > 1
    }

    /// The table of the judged metric.
    pub(super) fn judged(&self, rows: &[&Row<'_>]) -> Sheet {
        match self.compares() {
            true => self.compared(rows),
            false => self.alone(rows),
        }
    }

    /// Columns for the names of benchmark and sides, and for the change.
    pub(super) fn heads(&self, first: &str) -> Sheet {
        let mut sheet = Sheet::default();
        sheet.column(Kind::Name, first);
        let baseline = self.labels.baseline();
        if self.several() {
            sheet.column(Kind::Number, baseline);
            sheet.column(Kind::Words, "candidate");
            sheet.column(Kind::Number, "typical");
        } else {
            sheet.column(Kind::Number, baseline);
            sheet.column(Kind::Number, &self.labels.candidates()[0]);
        }
        sheet.column(Kind::Number, "change");
        sheet
    }

    /// The typical values of both sides, as [`Scene::heads`] has columns for them.
    pub(super) fn typical(&self, metric: &Metric, sides: [&Side; 2]) -> Vec<Cell> {
        let values = tables::typical(sides[0], Some(sides[1]));
        let shown = quantities(metric.unit(), &values, self.glyphs);
        let mut cells: Vec<Cell> = shown.into_iter().map(Cell::from).collect();
        if self.several() {
            cells.insert(1, self.labels.candidate(&sides[1].name).into());
        }
        cells
    }

    fn compared(&self, rows: &[&Row<'_>]) -> Sheet {
        let comparisons = || rows.iter().filter_map(|row| row.comparison());
        let raced = || comparisons().filter(|one| one.candidate.is_some());
        let first = comparisons().next().map(|one| &one.metric);
        let mixed = comparisons().any(|one| Some(&one.metric) != first);
        let head = match first.filter(|metric| !mixed && **metric != Metric::Wall) {
            Some(metric) => format!("benchmark: {}", sentences::metric(metric, self.glyphs)),
            None => "benchmark".to_owned(),
        };
        let mut sheet = self.heads(&head);
        let mut intervals = raced()
            .filter_map(|one| one.estimate.as_ref()?.interval)
            .peekable();
        // Without any interval how the values of each side scatter is all
        // there is to see.
        let spreads = intervals.peek().is_none() && raced().next().is_some();
        if spreads {
            let candidate = match self.several() {
                true => "candidate",
                false => &self.labels.candidates()[0],
            };
            for side in [self.labels.baseline(), candidate] {
                sheet.column(Kind::Number, format!("{side} sd"));
            }
        } else {
            sheet.column(Kind::Number, words::interval_head(intervals));
            sheet.column(Kind::PValue, "p");
        }
        // Without pairs every verdict is provisional; the head says it for all.
        let mut judged = raced().filter(|one| one.verdict.is_some()).peekable();
        let provisional = judged.peek().is_some() && judged.all(|one| one.provisional);
        sheet.column(
            Kind::Words,
            match provisional {
                true => "provisional verdict",
                false => "verdict",
            },
        );
        if mixed {
            sheet.column(Kind::Words, "metric");
        }
        let width = sheet.columns.len();
        let mut last = None;
        for row in rows {
            let mut cells = match row.what {
                What::Compared(one) => self.cells(one, provisional, spreads),
                What::Failed(_) => {
                    let word = format!("! {}", sentences::FAILED_CELL);
                    self.unanswered(word, Some(Tone::Failure))
                }
                What::LeftOut(one) => {
                    let word = match left_out::cell(&one.reason) {
                        Some(word) => word.to_owned(),
                        None => words::only_in(&one.reason, &self.labels),
                    };
                    self.unanswered(format!("{} {word}", self.glyphs.mark(None)), None)
                }
            };
            if mixed {
                let metric = row.comparison().map(|one| &one.metric);
                let shown = metric.map(|metric| sentences::metric(metric, self.glyphs));
                cells.push(shown.unwrap_or_default().into());
            }
            // Further candidates of a benchmark stand below its name.
            let again = self.several() && last == Some(&row.title) && row.comparison().is_some();
            last = Some(&row.title);
            cells.insert(
                0,
                if again {
                    "".into()
                } else {
                    row.title.clone().into()
                },
            );
            debug_assert_eq!(cells.len(), width);
            sheet.rows.push(cells);
        }
        for overall in &self.analysis.overall {
            let nothing = || Cell::from(self.glyphs.nothing());
            let title = words::overall_title(self.analysis).to_owned();
            let mut cells = vec![Cell::toned(title, Some(Tone::Total)), nothing()];
            if self.several() {
                cells.push(self.labels.candidate(&overall.candidate).into());
            }
            cells.push(nothing());
            cells.extend(change_cells(Some(&overall.estimate), self.glyphs).map(Cell::from));
            cells.push(nothing());
            cells.push(words::overall_of(overall).into());
            cells.resize(width, "".into());
            sheet.rows.push(cells);
        }
        sheet
    }

    /// All cells of a comparison but its name and its metric.
    fn cells(&self, comparison: &Comparison, provisional: bool, spreads: bool) -> Vec<Cell> {
        let word = match provisional {
            true => sentences::verdict_word(comparison).to_owned(),
            false => sentences::verdict_cell(comparison),
        };
        let mark = self.glyphs.mark(comparison.verdict);
        let tone = comparison.verdict.map(Tone::Verdict);
        let verdict = Cell::toned(format!("{mark} {word}"), tone);
        let Some(candidate) = &comparison.candidate else {
            let median = [comparison.baseline.median];
            let median = quantities(comparison.metric.unit(), &median, self.glyphs);
            let mut cells = self.unanswered(verdict.text, None);
            cells[0] = median.concat().into();
            return cells;
        };
        let mut cells = self.typical(&comparison.metric, [&comparison.baseline, candidate]);
        let [change, interval] = change_cells(comparison.estimate.as_ref(), self.glyphs);
        cells.push(Cell::toned(change, tone.filter(|tone| tone.moved())));
        let or_nothing = |shown: Option<String>| -> Cell {
            shown
                .unwrap_or_else(|| self.glyphs.nothing().to_owned())
                .into()
        };
        if spreads {
            cells.extend([&comparison.baseline, candidate].map(|side| or_nothing(scatter(side))));
        } else {
            cells.push(interval.into());
            cells.push(or_nothing(comparison.p_adjusted.map(words::probability)));
        }
        cells.push(verdict);
        cells
    }

    /// A row that holds nothing but why it does.
    fn unanswered(&self, word: String, tone: Option<Tone>) -> Vec<Cell> {
        let before = 5 + usize::from(self.several());
        let mut cells = vec![Cell::from(self.glyphs.nothing()); before];
        cells.push(Cell::toned(word, tone));
        cells
    }

    /// Contenders without a candidate, by themselves.
    fn alone(&self, rows: &[&Row<'_>]) -> Sheet {
        let mut sheet = Sheet::default();
        sheet.column(Kind::Name, "benchmark");
        for head in ["median", "mean", "min", "samples"] {
            sheet.column(Kind::Number, head);
        }
        let remarks = rows.iter().any(|row| row.comparison().is_none());
        if remarks {
            sheet.column(Kind::Words, "");
        }
        for row in rows {
            let word = match row.what {
                What::Compared(one) => {
                    let mut cells: Vec<Cell> = vec![row.title.clone().into()];
                    cells.extend(self.summary(&one.metric, &one.baseline));
                    cells.extend(remarks.then(|| Cell::from("")));
                    sheet.rows.push(cells);
                    continue;
                }
                What::Failed(_) => format!("! {}", sentences::FAILED_CELL),
                What::LeftOut(one) => match left_out::cell(&one.reason) {
                    Some(word) => word.to_owned(),
                    None => words::only_in(&one.reason, &self.labels),
                },
            };
            let mut cells = vec![Cell::from(self.glyphs.nothing()); 6];
            cells[0] = row.title.clone().into();
            let failed = matches!(row.what, What::Failed(_));
            cells[5] = Cell::toned(word, failed.then_some(Tone::Failure));
            sheet.rows.push(cells);
        }
        sheet
    }

    /// Median, mean, smallest value and number of samples.
    pub(super) fn summary(&self, metric: &Metric, side: &Side) -> Vec<Cell> {
        let values = [side.median, side.mean, side.min];
        let shown = quantities(metric.unit(), &values, self.glyphs);
        let shown = shown.into_iter().chain([side.samples.to_string()]);
        shown.map(Cell::from).collect()
    }
}

/// The standard deviation of a side's values as a share of their mean.
fn scatter(side: &Side) -> Option<String> {
    let share_of_mean = side.std_dev? / side.mean;
    let percent = 100.0 * share_of_mean;
    percent
        .is_finite()
        .then(|| format!("{} %", two_digits(percent)))
}
