//! A run as a document in Markdown, as a comment on a pull request, and as pairs side by side. The
//! first two begin with what was found, and list by kind what a terminal and a page show benchmark by
//! benchmark; the pairs are a line each: minima, means and what separates them, as paired benchmarks
//! are often shown.

use deadheat_model::{Analysis, Comparison, RunHeader, Side};

use super::Run;
use super::about::{command, machine, plan};
use crate::calibration::calibrated;
use crate::cells::{Figure, cells_of_change, change_cells, figure_cells, metrics, rate_cells};
use crate::cost::cost_of;
use crate::document::{Block, Content, Kind, Note, Row, Severity, Table, VerdictLine};
use crate::glyphs::Glyphs;
use crate::names::{labels, sentence_case};
use crate::sentences::{self, Source};
use crate::terminal::Terminal;
use crate::units::{Precision, plain, plain_signed};
use crate::{figures, gates, markdown, suite};

/// Columns a name may take: nobody reads a longer one in a table.
const NAME: usize = 100;

/// GitHub's limit is 65,536 characters; who posts the comment may add a few.
const AT_MOST: usize = 64_000;

/// Everything the Markdown depends on beside the analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkdownOptions {
    /// True where the secondary figures follow.
    pub figures: bool,
}

/// The analysis as GitHub-flavoured Markdown: one table, then the verdicts and
/// the doubts that belong to them.
pub fn to_markdown(analysis: &Analysis) -> String {
    to_markdown_with(analysis, &MarkdownOptions::default())
}

/// As [`to_markdown`], with more in it.
pub fn to_markdown_with(analysis: &Analysis, options: &MarkdownOptions) -> String {
    let run = Run::of(analysis, Glyphs::Unicode, NAME);
    markdown::document(&run.as_document(options.figures))
}

/// Everything a comment depends on beside the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommentOptions {
    /// True where the secondary figures are among what is folded.
    pub figures: bool,
    /// Characters it may have (UTF-16 units, at least 400). What finds no room
    /// is counted in a sentence at the end.
    pub at_most: usize,
}

impl Default for CommentOptions {
    fn default() -> Self {
        CommentOptions {
            figures: false,
            at_most: AT_MOST,
        }
    }
}

/// The analysis as GitHub-flavoured Markdown for a comment on a pull request:
/// the tally, what the gates say, a compact table, and the rest folded. The
/// header of the run adds the machine and the command to repeat it.
pub fn to_comment(
    analysis: &Analysis,
    header: Option<&RunHeader>,
    options: &CommentOptions,
) -> String {
    let run = Run::of(analysis, Glyphs::Unicode, NAME);
    markdown::comment(&run.as_comment(header, options.figures), options.at_most)
}

impl<'a> Run<'a> {
    fn as_document(&self, figures: bool) -> Vec<Block<'a>> {
        let mut blocks = Vec::new();
        if self.groups.is_empty() && self.analysis.failures.is_empty() {
            blocks.push(Block::paragraph("Nothing was measured."));
        } else {
            blocks.push(Block::table(self.all_contenders()));
            blocks.extend(self.legend().map(Block::paragraph));
        }
        blocks.push(Block::of(Content::Verdicts(self.all_verdicts())));
        blocks.extend(Block::notes(self.failures()));
        blocks.extend(self.left_out());
        let gates = gates::gates(self.analysis, self.glyphs);
        let (fails, said): (Vec<_>, Vec<_>) =
            (gates.into_iter()).partition(|note| note.severity == Severity::Alarm);
        blocks.extend(Block::notes(fails));
        if self.is_suite() {
            blocks.push(self.headline());
            blocks.extend(self.means().into_iter().map(Block::paragraph));
        }
        let calibration = self.analysis.calibration.as_ref();
        blocks.extend(
            calibration
                .map(|note| Block::paragraph(format!("{}.", sentence_case(&calibrated(note))))),
        );
        blocks.extend(Block::notes([self.whole(), self.remarks(), said].concat()));
        if figures {
            blocks.extend(self.all_figures());
        }
        blocks
    }

    fn as_comment(&self, header: Option<&RunHeader>, figures: bool) -> Vec<Block<'a>> {
        let fold = |title: &str, blocks: Vec<Block<'a>>| {
            Block::of(Content::Fold(title.to_owned(), blocks))
        };
        let overview = self.overview(false).keeping(|column| !column.spare);
        let folds = overview
            .folds
            .is_some_and(|(open, _)| overview.rows.len() > open);
        let mut blocks = vec![self.headline().needed()];
        blocks.extend(Block::notes(self.whole()).map(Block::needed));
        blocks.extend(
            self.gate()
                .map(|gate| Block::of(gate).called(("rule", "rules")).needed()),
        );
        blocks.push(Block::table(capital(overview.clone())).needed());
        let legend = self.legend().map(Block::paragraph);
        blocks.extend(legend.map(Block::needed));
        let reasons = ("reason", "reasons");
        blocks.extend(Block::notes(self.failures()).map(|block| block.called(reasons)));
        blocks.extend(self.left_out().map(|block| block.called(reasons)));
        blocks.extend(self.means().into_iter().map(Block::paragraph));
        let mut verdicts = self.all_verdicts();
        if folds {
            // Of many, those whose rows are seen.
            let mut changed = overview.rows.iter().map(|row| row.changed);
            verdicts.retain(|_| changed.next().unwrap_or(true));
        }
        blocks.push(
            fold(
                "The verdicts in words",
                vec![Block::of(Content::Verdicts(verdicts))],
            )
            .called(("verdict in words", "verdicts in words")),
        );
        let remarks = [self.remarks(), gates::remarks(self.analysis, self.glyphs)].concat();
        let title = format!("Doubts and advice ({})", remarks.len());
        let remarks = Block::notes(remarks).into_iter().collect();
        let nouns = ("doubt or advice", "doubts and pieces of advice");
        blocks.push(fold(&title, remarks).called(nouns));
        let metrics = self
            .all_metrics()
            .into_iter()
            .map(|table| Block::table(capital(table)));
        let nouns = ("row of metrics", "rows of metrics");
        blocks.push(fold("All metrics, typical values", metrics.collect()).called(nouns));
        if figures {
            let nouns = ("table of figures", "tables of figures");
            blocks.push(fold("Secondary figures", self.all_figures()).called(nouns));
        }
        if let Some(header) = header {
            let facts = [machine(self.analysis, header), plan(header)].map(|group| group.rows);
            let facts = Block::of(Content::Facts("The machine and the run", facts.concat()));
            blocks.push(
                fold("The machine and the run", vec![facts])
                    .called(("fact", "facts"))
                    .needed(),
            );
            let command = command(header).into_iter();
            let command = command
                .map(|command| Block::of(Content::Code(command)))
                .collect();
            blocks.push(
                fold("Run it again", command)
                    .called(("command to repeat it", "commands"))
                    .needed(),
            );
        }
        blocks
    }

    /// The contenders of all benchmarks in one table.
    fn all_contenders(&self) -> Table<'a> {
        let unanswered = self.unanswered();
        let names = self.is_suite() || !unanswered.is_empty();
        let groups = || {
            self.groups
                .iter()
                .map(|group| (*group, rate_cells(group, self.glyphs)))
        };
        let rated = groups().any(|(_, rates)| rates.is_some());
        let mut table = Table::default();
        if names {
            table.column(Kind::Name, "Benchmark");
        }
        table.column(
            Kind::Contender,
            match self.source {
                Source::Functions => "Function",
                Source::Programs | Source::Harness => "Contender",
                Source::Commands | Source::Recording => "Command",
            },
        );
        let figures = [Figure::Typical, Figure::Median, Figure::Mean, Figure::Min];
        let heads = figures.iter().map(|figure| figure.name());
        for head in heads
            .chain(rated.then_some("rate"))
            .chain([self.change_head(), "interval"])
        {
            table.column(Kind::Number, sentence_case(head));
        }
        table.column(Kind::Words, "Verdict");
        for (group, rates) in groups() {
            let labels = self.labels(group);
            let shown = figure_cells(
                &suite::sides(group),
                &group[0].metric,
                &figures,
                self.time_unit,
                self.glyphs,
            );
            for (index, (label, shown)) in labels.iter().zip(shown).enumerate() {
                let mut cells: Vec<String> = Vec::new();
                cells.extend(names.then(|| self.title(group)));
                cells.push(label.clone());
                cells.extend(shown);
                let rate = || rates.as_ref().map(|rates| rates[index].clone());
                cells.extend(rated.then(|| rate().unwrap_or_default()));
                match index {
                    0 => cells.extend(["", "", self.baseline_cell(group)].map(str::to_owned)),
                    _ => {
                        let comparison = &group[index - 1];
                        cells.extend(cells_of_change(comparison, self.glyphs));
                        cells.push(sentences::verdict_cell(comparison, self.glyphs));
                    }
                }
                table.rows.push(cells.into());
            }
        }
        for (title, cell) in unanswered {
            let mut cells: Vec<_> = table.columns.iter().map(|_| "".into()).collect();
            cells[0] = title.into();
            *cells.last_mut().expect("a table has columns") = cell;
            table.rows.push(Row::from(cells));
        }
        table
    }

    fn baseline_cell(&self, group: &[Comparison]) -> &'static str {
        match group[0].candidate {
            Some(_) => "baseline",
            None => "alone",
        }
    }

    fn all_verdicts(&self) -> Vec<VerdictLine> {
        let verdicts = self
            .groups
            .iter()
            .flat_map(|group| self.verdicts_with_counts(group));
        verdicts.collect()
    }

    /// The doubts about the benchmarks, each once and with the benchmark it
    /// concerns unless that is all of them.
    fn remarks(&self) -> Vec<Note> {
        let (own, shared) = self.doubts();
        let mut remarks = Vec::new();
        for (group, own) in self.groups.iter().zip(own) {
            let place = (self.groups.len() > 1).then(|| self.title(group));
            remarks.extend(own.into_iter().map(|note| Note {
                place: place.clone(),
                ..note
            }));
        }
        remarks.extend(shared);
        remarks
    }

    /// All metrics of all benchmarks; those of contenders alone in a table of their own.
    fn all_metrics(&self) -> Vec<Table<'a>> {
        let mut tables: Vec<Table> = Vec::new();
        for (group, comparison, names) in self.named() {
            let Some(mut of_one) = metrics(comparison, self.time_unit, self.glyphs) else {
                continue;
            };
            let name = match names.last().filter(|_| group.len() > 1) {
                Some(candidate) => format!("{}: {candidate}", self.title(group)),
                None => self.title(group),
            };
            for row in &mut of_one.rows {
                row.cells.insert(0, name.as_str().into());
            }
            let heads = |table: &Table<'_>| {
                let heads = table.columns.iter().map(|column| column.head.clone());
                heads.collect::<Vec<_>>()
            };
            match tables
                .iter_mut()
                .find(|table| heads(table)[1..] == heads(&of_one))
            {
                Some(table) => table.rows.extend(of_one.rows),
                None => {
                    let mut table = Table::default();
                    table.column(Kind::Name, "benchmark");
                    table.columns.extend(of_one.columns);
                    table.rows = of_one.rows;
                    tables.push(table);
                }
            }
        }
        tables
    }

    fn all_figures(&self) -> Vec<Block<'a>> {
        let named = self.named();
        let figures = named
            .flat_map(|(_, comparison, names)| figures::blocks(comparison, names, self.glyphs));
        figures.collect()
    }

    /// Every comparison with the benchmark and the candidate it is about, where there are several.
    fn named(&self) -> impl Iterator<Item = (&'a [Comparison], &'a Comparison, Vec<String>)> {
        self.groups.iter().flat_map(|group| {
            let labels = self.called(group).into_iter().skip(1);
            group.iter().zip(labels).map(|(comparison, label)| {
                let title = self.is_suite().then(|| self.title(group));
                let label = (group.len() > 1).then_some(label);
                (*group, comparison, title.into_iter().chain(label).collect())
            })
        })
    }
}

/// The table with heads that begin with a capital.
fn capital(mut table: Table<'_>) -> Table<'_> {
    for column in &mut table.columns {
        column.head = sentence_case(&column.head);
    }
    table
}

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
        let verdict = match run.change_head() {
            "change" => "verdict".to_owned(),
            change => format!("verdict, {change}"),
        };
        table.column(Kind::Words, verdict);
        table.spare_column(Kind::Words, "");
        table.rows = rows;
        blocks.push(Block::table(table));
        let legend = run.legend().map(Block::indented);
        blocks.extend(legend.map(Block::tight));
    } else {
        let tally = sentences::tally(&[], &analysis.failures, &analysis.left_out);
        blocks.push(Block::paragraph(tally));
    }
    // Benchmarks that broke down or were left out have no times; they are named all the same.
    blocks.extend(Block::notes(run.failures()).map(Block::tight));
    blocks.extend(run.left_out().map(Block::tight));
    let unicode = glyphs == Glyphs::Unicode;
    Terminal::new(width, false, unicode).render(&blocks)
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
    let estimate = cost_of(comparison);
    let estimate = estimate.as_ref();
    let word = sentences::verdict_cell(comparison, glyphs);
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
