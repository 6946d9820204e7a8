//! The answer about saved results. It has the sides, a table with a row for every benchmark and
//! candidate, including those without a result, and the mean over all benchmarks. The counts of
//! verdicts, the metrics other than the judged one, and the warnings follow.

mod csv;
mod rows;
mod words;

pub use csv::to_comparison_csv;
pub use rows::{ComparisonOptions, Sort};

use deadheat_model::{
    Analysis, Better, Comparison, Metric, MetricComparison, Overall, Side, Unit, Verdict,
};

use crate::cells::{
    cells_of_change, change_cells, change_without_ratio, interval_head, seen, typical,
};
use crate::cost::{change_head, in_cost};
use crate::document::{Block, Cell, Content, Kind, Note, Plot, Row as Line, Severity, Table, Tone};
use crate::glyphs::Glyphs;
use crate::names::{gathered, has_room, shorten_apart, texts};
use crate::plot::ForestRow;
use crate::terminal::Terminal;
use crate::units::{quantities_in, two_digits};
use crate::warnings::WarningText;
use crate::{figures, gates, markdown, sentences, suite};
use rows::{Labels, Row, RowSubject, Scene, rows};

/// Maximum width, in terminal columns, of the name of a side in a table head, if the width of the
/// terminal is limited.
const LABEL: usize = 16;

/// Maximum width, in terminal columns, of the name of a side in a table head, if the width is not
/// limited.
const WIDE_LABEL: usize = 40;

/// Maximum width, in columns, of the name of a benchmark in any format. The name may be long
/// because it contains a parameter.
const TITLE: usize = 1_000;

/// Formats the answer about saved results as text.
pub fn to_comparison(analysis: &Analysis, options: &ComparisonOptions) -> String {
    let terminal = Terminal::new(options.width, options.color, options.unicode);
    let label = if options.width == usize::MAX {
        WIDE_LABEL
    } else {
        LABEL
    };
    terminal.render(&answer(analysis, options, label, terminal.glyphs))
}

/// Formats the answer about saved results as GitHub-flavoured Markdown. A long table folds the
/// benchmarks that did not change. The width, colour and Unicode options have no effect.
pub fn to_comparison_markdown(analysis: &Analysis, options: &ComparisonOptions) -> String {
    markdown::document(&answer(analysis, options, WIDE_LABEL, Glyphs::Unicode))
}

fn answer<'a>(
    analysis: &'a Analysis,
    options: &ComparisonOptions,
    label: usize,
    glyphs: Glyphs,
) -> Vec<Block<'a>> {
    let scene = Scene {
        analysis,
        labels: Labels::of(analysis, label, glyphs),
        glyphs,
        time_unit: options.time_unit,
    };
    let mut rows = rows(analysis, options.sort, glyphs);
    let titles = texts(&rows, &|row| row.title.clone());
    if !titles.iter().all(|title| has_room(title, TITLE)) {
        let short = shorten_apart(&titles, TITLE, glyphs).into_iter();
        rows.iter_mut()
            .zip(short)
            .for_each(|(row, title)| row.title = title);
    }
    let shown: Vec<&Row<'a>> = (rows.iter())
        .filter(|row| !options.only_changed || row.changed())
        .collect();
    let mut blocks: Vec<Block> = Vec::new();
    blocks.extend(Block::list(scene.head()));
    let judged = scene.judged(&shown);
    blocks.extend((!judged.rows.is_empty()).then(|| Block::table(judged)));
    let legend = suite::legend_alone(&analysis.comparisons, glyphs).map(Block::indented);
    blocks.extend(legend.map(Block::tight));
    blocks.push(Block::paragraph(words::tally(analysis, &scene.labels)));
    let hidden = words::hidden(rows.len() - shown.len());
    blocks.extend(hidden.map(|hidden| Block::paragraph(hidden).tight()));
    let failures = Note::all(Severity::Alarm, words::failures(&analysis.failures, glyphs));
    blocks.extend(Block::notes(failures).map(Block::tight));
    blocks.extend(Block::list(words::reasons(&analysis.left_out, glyphs)).map(Block::tight));
    let others = scene.others(&rows, options);
    for (title, table) in others.tables {
        blocks.push(Block::paragraph(title));
        blocks.push(Block::table(table).tight());
    }
    let quiet = words::quiet(&others.quiet, analysis);
    blocks.extend(quiet.map(Block::paragraph));
    for comparison in shown.iter().filter_map(|row| row.comparison()) {
        let title = rows::title(comparison, glyphs);
        let candidate = comparison.candidate.as_ref();
        let candidate = candidate.map(|side| scene.labels.candidate(&side.name));
        if options.figures {
            let candidate = candidate.filter(|_| scene.several());
            let names = std::iter::once(title.as_str()).chain(candidate);
            let names = names.map(str::to_owned).collect();
            blocks.extend(figures::blocks(comparison, names, glyphs));
        }
        if options.plot {
            let labels = [scene.labels.baseline(), candidate.unwrap_or_default()];
            let plot = Content::Plot(Plot {
                group: std::slice::from_ref(comparison),
                labels: labels.map(str::to_owned).to_vec(),
                intervals: false,
            });
            blocks.push(Block::of(Content::Section(title, vec![Block::of(plot)])));
        }
    }
    let answers = words::answers(analysis).into_iter();
    blocks.extend(answers.chain(words::remedy(analysis)).map(Block::paragraph));
    blocks.extend(Block::notes(WarningText::notes(scene.doubts())));
    blocks.extend(Block::notes(gates::gates(analysis, glyphs)));
    blocks
}

/// If a table has more rows than this, formats that can fold rows fold those that did not change.
const OPEN: usize = 50;

const SUMMARY: [&str; 5] = ["benchmark", "median", "mean", "min", "samples"];

/// If less than this width, in columns, is left for the names of benchmarks, the table omits the
/// column of p-values.
const NAME_AT_EASE: usize = 20;

/// The columns that show the uncertainty of the changes in a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Evidence {
    /// The standard deviation of each side, shown if no row has an interval.
    Scatter,
    Interval,
    IntervalAndP,
}

impl Evidence {
    fn of(raced: &[&Comparison]) -> Evidence {
        let has_interval = |one: &&Comparison| one.estimate.is_some_and(|e| e.interval.is_some());
        if !raced.is_empty() && !raced.iter().any(has_interval) {
            return Evidence::Scatter;
        }
        let mut called = raced.iter().map(|one| words::p_of_the_change(one));
        match called.any(|p| p.is_some()) {
            true => Evidence::IntervalAndP,
            false => Evidence::Interval,
        }
    }

    fn columns(self) -> usize {
        match self {
            Evidence::Interval => 1,
            Evidence::Scatter | Evidence::IntervalAndP => 2,
        }
    }
}

impl<'a> Scene<'a> {
    fn judged(&self, rows: &[&Row<'a>]) -> Table<'a> {
        if self.compares() {
            Table {
                folds: Some((OPEN, " that are neither faster nor slower")),
                ..self.compared(rows)
            }
        } else {
            self.alone(rows).folded(OPEN)
        }
    }

    fn heads(&self, first: &str, change: &str) -> Table<'a> {
        let mut table = Table {
            name_at_ease: NAME_AT_EASE,
            ..Table::default()
        };
        table.column(Kind::Name, first);
        let baseline = self.labels.baseline();
        if self.several() {
            table.column(Kind::Number, baseline);
            table.column(Kind::Words, "candidate");
            table.column(Kind::Number, "typical");
        } else {
            table.column(Kind::Number, baseline);
            table.column(Kind::Number, &self.labels.candidates()[0]);
        }
        table.column(Kind::Number, change);
        table
    }

    fn typical(&self, metric: &Metric, sides: [&Side; 2]) -> Vec<Cell> {
        let values = typical(sides[0], Some(sides[1]));
        let shown = quantities_in(self.time_unit, metric.unit(), &values, self.glyphs);
        let mut cells: Vec<Cell> = shown.into_iter().map(Cell::from).collect();
        if self.several() {
            cells.insert(1, self.labels.candidate(&sides[1].name).into());
        }
        cells
    }

    fn compared(&self, rows: &[&Row<'a>]) -> Table<'a> {
        let comparisons = || rows.iter().filter_map(|row| row.comparison());
        let first = comparisons().next().map(|one| &one.terms.metric);
        let mixed = comparisons().any(|one| Some(&one.terms.metric) != first);
        let head = match first.filter(|metric| !mixed && **metric != Metric::Wall) {
            Some(metric) => format!("benchmark: {}", sentences::metric(metric, self.glyphs)),
            None => "benchmark".to_owned(),
        };
        let raced: Vec<&Comparison> = comparisons()
            .filter(|one| one.candidate.is_some())
            .collect();
        // The head depends on all comparisons, because the mean includes rows that are not shown.
        let change = change_head(
            self.analysis
                .comparisons
                .iter()
                .map(|one| &one.terms.metric),
        );
        let mut table = self.heads(&head, change);
        let evidence = Evidence::of(&raced);
        self.heads_of_evidence(&mut table, evidence, &raced);
        // If every verdict is provisional, as for unpaired samples, the column head shows this once
        // instead of every row.
        let judged = raced.iter().filter(|one| one.verdict.is_some());
        let mut judged = judged.peekable();
        let provisional = judged.peek().is_some() && judged.all(|one| one.evidence.provisional);
        table.column(
            Kind::Words,
            if provisional {
                "provisional verdict"
            } else {
                "verdict"
            },
        );
        if mixed {
            table.column(Kind::Words, "metric");
        }
        let width = table.columns.len();
        let mut last = None;
        for row in rows {
            let mut cells = match row.comparison() {
                Some(one) => self.cells(one, provisional, evidence),
                None => self.unanswered(self.reason(row), evidence),
            };
            if mixed {
                let metric = row.comparison().map(|one| &one.terms.metric);
                let shown = metric.map(|metric| sentences::metric(metric, self.glyphs));
                cells.push(shown.unwrap_or_default().into());
            }
            // Only the first row of a benchmark shows its name; its other candidates follow below.
            let again = self.several() && last == Some(&row.title) && row.comparison().is_some();
            last = Some(&row.title);
            let name = if again { "" } else { row.title.as_str() };
            cells.insert(0, name.into());
            debug_assert_eq!(cells.len(), width);
            table.rows.push(Line {
                cells,
                changed: row.changed(),
                drawn: row.comparison().map(ForestRow::from),
            });
        }
        table.rows.extend(self.means(evidence, width));
        table
    }

    fn heads_of_evidence(&self, table: &mut Table<'a>, evidence: Evidence, raced: &[&Comparison]) {
        if evidence == Evidence::Scatter {
            let candidate = if self.several() {
                "candidate"
            } else {
                &self.labels.candidates()[0]
            };
            for side in [self.labels.baseline(), candidate] {
                table.column(Kind::Number, format!("{side} sd"));
            }
            return;
        }
        let intervals = raced
            .iter()
            .filter_map(|one| one.estimate.as_ref()?.interval);
        let head = interval_head(intervals.map(|interval| interval.confidence));
        table.column(Kind::Number, head);
        if evidence == Evidence::IntervalAndP {
            table.spare_column(Kind::Number, "p");
        }
    }

    fn means(&self, evidence: Evidence, width: usize) -> Vec<Line<'a>> {
        let nothing = || Cell::from(self.glyphs.nothing());
        let row = |overall: &'a Overall| {
            let title = Cell::toned("geometric mean".to_owned(), Some(Tone::Total));
            let mut cells = vec![title, nothing()];
            if self.several() {
                cells.push(self.labels.candidate(&overall.candidate).into());
            }
            cells.push(nothing());
            let mean = suite::mean_of(overall);
            let change = change_cells(Some(&mean), self.glyphs);
            cells.extend(change.map(Cell::from));
            cells.resize_with(cells.len() + evidence.columns() - 1, nothing);
            cells.push(words::overall_of(overall).into());
            cells.resize(width, "".into());
            Line {
                drawn: Some(ForestRow {
                    estimate: Some(mean),
                    metric: None,
                    margin: self.analysis.design.margin,
                    verdict: None,
                }),
                ..cells.into()
            }
        };
        self.analysis.overall.iter().map(row).collect()
    }

    /// Returns all cells of a comparison except its name and its metric.
    fn cells(&self, comparison: &Comparison, provisional: bool, evidence: Evidence) -> Vec<Cell> {
        let word = if provisional {
            sentences::marked_word(comparison, self.glyphs)
        } else {
            sentences::verdict_cell(comparison, self.glyphs)
        };
        let mark = self.glyphs.mark(comparison.verdict);
        let tone = comparison.verdict.map(Tone::Verdict);
        let verdict = Cell::toned(format!("{mark} {word}"), tone);
        let Some(candidate) = &comparison.candidate else {
            let median = [comparison.baseline.median];
            let median = quantities_in(
                self.time_unit,
                comparison.terms.metric.unit(),
                &median,
                self.glyphs,
            );
            let mut cells = self.unanswered(verdict.text.into(), evidence);
            cells[0] = median.concat().into();
            return cells;
        };
        let mut cells = self.typical(&comparison.terms.metric, [&comparison.baseline, candidate]);
        let [change, interval] = cells_of_change(comparison, self.glyphs);
        cells.push(Cell::toned(change, tone.filter(|tone| tone.moved())));
        let or_nothing = |shown: Option<String>| -> Cell {
            shown
                .unwrap_or_else(|| self.glyphs.nothing().to_owned())
                .into()
        };
        match evidence {
            Evidence::Scatter => {
                let sides = [&comparison.baseline, candidate];
                cells.extend(sides.map(|side| or_nothing(scatter(side))));
            }
            Evidence::Interval => cells.push(interval.into()),
            Evidence::IntervalAndP => {
                let p = or_nothing(words::p_of_the_change(comparison));
                cells.extend([interval.into(), p]);
            }
        }
        cells.push(verdict);
        cells
    }

    /// Returns the cells of a row without values: dashes, and the reason.
    fn unanswered(&self, reason: Cell, evidence: Evidence) -> Vec<Cell> {
        let before = 3 + usize::from(self.several()) + evidence.columns();
        let mut cells = vec![Cell::from(self.glyphs.nothing()); before];
        cells.push(reason);
        cells
    }

    fn reason(&self, row: &Row<'_>) -> Cell {
        match row.what {
            RowSubject::Compared(_) => "".into(),
            RowSubject::Failed(_) => {
                let word = format!("! {}", sentences::FAILED_CELL);
                Cell::toned(word, Some(Tone::Failure))
            }
            RowSubject::LeftOut(one) => {
                let word = words::left_out(&one.reason, &self.labels);
                format!("{} {word}", self.glyphs.mark(None)).into()
            }
        }
    }

    fn alone(&self, rows: &[&Row<'a>]) -> Table<'a> {
        let mut table = Table::new(Kind::Name, SUMMARY);
        let reasons = rows.iter().any(|row| row.comparison().is_none());
        if reasons {
            table.column(Kind::Words, "");
        }
        for row in rows {
            let mut cells: Vec<Cell> = vec![row.title.as_str().into()];
            match row.comparison() {
                Some(one) => cells.extend(self.summary(&one.terms.metric, &one.baseline)),
                None => cells.resize(SUMMARY.len(), self.glyphs.nothing().into()),
            }
            cells.extend(reasons.then(|| self.reason(row)));
            table.rows.push(cells.into());
        }
        table
    }

    /// Returns the cells that show a side: the median, the mean and the smallest value of its
    /// samples, and their number.
    fn summary(&self, metric: &Metric, side: &Side) -> Vec<Cell> {
        let values = [side.median, side.mean, side.min];
        let shown = quantities_in(self.time_unit, metric.unit(), &values, self.glyphs);
        let shown = shown.into_iter().chain([side.samples.to_string()]);
        shown.map(Cell::from).collect()
    }
}

/// Returns the standard deviation of a side's values as a percentage of their mean.
fn scatter(side: &Side) -> Option<String> {
    let share_of_mean = side.std_dev? / side.mean;
    let percent = 100.0 * share_of_mean;
    percent
        .is_finite()
        .then(|| format!("{}%", two_digits(percent)))
}

/// The tables of all metrics except the judged one.
#[derive(Default)]
struct Others<'a> {
    /// Titles and tables, in the order in which the metrics first occur.
    tables: Vec<(String, Table<'a>)>,
    /// Metrics without a table because no benchmark changed, each with the number of benchmarks
    /// that have this metric.
    quiet: Vec<(String, usize)>,
}

impl<'a> Scene<'a> {
    /// Returns the tables of the metrics other than the judged one. Each table contains the
    /// benchmarks in which its metric changed; with `all_metrics`, all benchmarks that the options
    /// show.
    fn others(&self, rows: &[Row<'_>], options: &ComparisonOptions) -> Others<'a> {
        let mut others = Others::default();
        let all = rows.iter().flat_map(|row| {
            let beside = row.comparison().into_iter().flat_map(beside);
            beside.map(move |one| (&one.metric, (row, one)))
        });
        for (metric, rows) in gathered(all) {
            let whole = rows.len();
            // Rules may set a different margin for each benchmark.
            let moved = |of: &Row<'_>, row: &MetricComparison| {
                let own = of.comparison().map(|comparison| comparison.terms.margin);
                moved(row, own.unwrap_or(self.analysis.design.margin))
            };
            let count = rows.iter().filter(|(of, row)| moved(of, row)).count();
            let shown = rows.into_iter().filter(|(of, row)| {
                let asked = options.all_metrics && (!options.only_changed || of.changed());
                asked || moved(of, row)
            });
            let shown: Vec<_> = shown.collect();
            let name = words::metric_title(metric, self.glyphs);
            if !shown.is_empty() {
                let title = if self.compares() {
                    format!("{name}: {count} of {whole} changed")
                } else {
                    name
                };
                let table = self.table(&shown, metric).folded(OPEN);
                others.tables.push((title, table));
            } else if self.compares() {
                others.quiet.push((name, whole));
            }
        }
        others
    }

    fn table(&self, rows: &[(&Row<'_>, &MetricComparison)], metric: &Metric) -> Table<'a> {
        if !self.compares() {
            let mut table = Table::new(Kind::Name, SUMMARY);
            for (of, row) in rows {
                let mut cells: Vec<Cell> = vec![of.title.clone().into()];
                cells.extend(self.summary(metric, &row.baseline));
                table.rows.push(cells.into());
            }
            return table;
        }
        let mut table = self.heads("benchmark", change_head(std::iter::once(metric)));
        let estimates = rows.iter().filter_map(|(_, row)| row.estimate.as_ref());
        let intervals = estimates.filter_map(|estimate| estimate.interval);
        table.column(
            Kind::Number,
            interval_head(intervals.map(|interval| interval.confidence)),
        );
        let judged = metric.better() != Better::Unknown;
        if judged {
            table.column(Kind::Words, "verdict");
        }
        let mut last = None;
        for (of, row) in rows {
            let Some(candidate) = &row.candidate else {
                continue;
            };
            let again = self.several() && last == Some(&of.title);
            last = Some(&of.title);
            let name = if again { "" } else { of.title.as_str() };
            let mut cells: Vec<Cell> = vec![name.into()];
            cells.extend(self.typical(metric, [&row.baseline, candidate]));
            let cost = row.estimate.as_ref().map(|one| in_cost(metric, one));
            let [mut change, interval] = change_cells(cost.as_ref(), self.glyphs);
            if cost.is_none() {
                change = change_without_ratio(metric, &row.baseline, candidate, self.glyphs);
            }
            let tone = row.verdict.map(Tone::Verdict);
            cells.push(Cell::toned(change, tone.filter(|tone| tone.moved())));
            cells.push(interval.into());
            if judged {
                let mark = self.glyphs.mark(row.verdict);
                let word = word(metric, row.verdict);
                cells.push(Cell::toned(format!("{mark} {word}"), tone));
            }
            table.rows.push(cells.into());
        }
        table
    }
}

/// Returns the metrics of a comparison, without the judged one, those that are always zero, and
/// those that only one side has.
fn beside(comparison: &Comparison) -> impl Iterator<Item = &MetricComparison> {
    let others = comparison.metrics.iter();
    others.filter(|row| {
        let both = comparison.candidate.is_some() == row.candidate.is_some();
        row.metric != comparison.terms.metric && seen(row) && both
    })
}

/// Returns true if a table shows the metric by default, because it changed. If the metric has a
/// verdict, the verdict must be faster or slower. Otherwise, the change must exceed the margin (a
/// change from or to zero always does), and:
///
/// - with an interval, the interval must exclude zero, and the metric must be an amount or have an
///   unknown better direction;
/// - without an interval, the values of the two sides must not overlap, and the metric must be an
///   amount or have a single value on each side.
fn moved(row: &MetricComparison, margin: f64) -> bool {
    let beyond = |change: f64| change.abs() > margin;
    let estimate = row.estimate.as_ref();
    match (row.verdict, estimate, estimate.and_then(|one| one.interval)) {
        (Some(verdict), ..) => matches!(verdict, Verdict::Faster | Verdict::Slower),
        (None, Some(estimate), Some(interval)) => {
            let aside = interval.low.0 > 0.0 || interval.high.0 < 0.0;
            // A few recordings of times prove nothing, even if the interval excludes zero.
            let tells = is_amount(row.metric.unit()) || row.metric.better() == Better::Unknown;
            tells && aside && beyond(estimate.effect.change())
        }
        (None, Some(estimate), None) => {
            (exact(row) || apart(row)) && beyond(estimate.effect.change())
        }
        // A change from zero has no ratio and so no estimate; the values themselves decide.
        (None, None, _) => exact(row) || apart(row),
    }
}

/// Returns true if all samples of each side are equal, the two sides differ, and each side has at
/// least two samples. Without scatter, no interval exists, but the change is certain.
fn exact(row: &MetricComparison) -> bool {
    let one_value = |side: &Side| side.min == side.max;
    apart_if(row, one_value)
}

/// Returns true for a metric in bytes or counts, if every value of one side exceeds every value of
/// the other. The values of a side may differ, because a benchmark averages allocated bytes over
/// its iterations. Times are left out, because the times of two recordings can be this far apart by
/// chance.
fn apart(row: &MetricComparison) -> bool {
    is_amount(row.metric.unit()) && apart_if(row, |_| true)
}

/// Returns true if the values of the two sides do not overlap, each side has at least two samples,
/// and `fit` returns true for both sides.
fn apart_if(row: &MetricComparison, fit: impl Fn(&Side) -> bool) -> bool {
    let (old, Some(new)) = (&row.baseline, &row.candidate) else {
        return false;
    };
    let is_fit = |side: &Side| side.samples > 1 && fit(side);
    is_fit(old) && is_fit(new) && (old.max < new.min || new.max < old.min)
}

fn is_amount(unit: Unit) -> bool {
    matches!(unit, Unit::Bytes | Unit::Count)
}

/// Returns the word for a verdict on a metric. An amount is "more" or "less", not "slower" or
/// "faster".
fn word(metric: &Metric, verdict: Option<Verdict>) -> &'static str {
    let amount = is_amount(metric.unit());
    let more = metric.better() == Better::More;
    match verdict {
        Some(Verdict::Faster | Verdict::Slower) if amount => {
            if (verdict == Some(Verdict::Slower)) != more {
                "more"
            } else {
                "less"
            }
        }
        verdict => sentences::verdict_word_of(verdict),
    }
}
