//! A run as a Markdown document, and as a comment on a pull request. Both begin with the results,
//! and then group the facts of all benchmarks by kind.

use deadheat_model::{Analysis, Comparison, RunHeader};

use super::Run;
use super::about::{command, machine, plan};
use crate::calibration::calibrated;
use crate::cells::{Figure, cells_of_change, figure_cells, metrics, rate_cells};
use crate::document::{Block, Content, Kind, Note, Row, Severity, Table, VerdictLine};
use crate::glyphs::Glyphs;
use crate::names::sentence_case;
use crate::sentences::{self, Source};
use crate::{figures, gates, markdown, suite};

const NAME: usize = 100;

/// GitHub's limit is 65,536 characters; the rest is reserved for text that the user's workflow
/// adds.
const AT_MOST: usize = 64_000;

/// The options that affect a Markdown document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkdownOptions {
    /// True to add the secondary figures.
    pub figures: bool,
}

/// Formats the analysis as GitHub-flavoured Markdown: one table, then the verdicts with their
/// warnings.
pub fn to_markdown(analysis: &Analysis) -> String {
    to_markdown_with(analysis, &MarkdownOptions::default())
}

/// Formats the analysis like [`to_markdown`], with options.
pub fn to_markdown_with(analysis: &Analysis, options: &MarkdownOptions) -> String {
    let run = Run {
        legend: true,
        ..Run::of(analysis, Glyphs::Unicode, NAME)
    };
    markdown::document(&run.as_document(options.figures))
}

/// The options that affect a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommentOptions {
    /// True to add the secondary figures in a fold.
    pub figures: bool,
    /// Maximum length of the comment in UTF-16 units, at least 400. A sentence at the end counts
    /// the omitted items.
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

/// Formats the analysis as GitHub-flavoured Markdown for a comment on a pull request: the counts of
/// verdicts, the gates, a compact table, and the rest in folds. If `header` is given, the comment
/// also has the machine and the command to repeat the run.
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
            let terms = self.terms(&self.analysis.comparisons);
            let terms = terms.map(|terms| sentence_case(&terms));
            blocks.extend(self.legend().into_iter().chain(terms).map(Block::paragraph));
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
            // If the table folds rows, the comment has sentences only for the visible ones.
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
                Source::Servers => "Server",
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
                &group[0].terms.metric,
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

    /// Returns the warnings and notes on the benchmarks, each once, with its benchmark unless it
    /// applies to all.
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

    /// Returns all metrics of all benchmarks. Comparisons with and without a candidate are in
    /// separate tables.
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

    /// Returns every comparison, with the names of its benchmark and candidate if there are
    /// several.
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

fn capital(mut table: Table<'_>) -> Table<'_> {
    for column in &mut table.columns {
        column.head = sentence_case(&column.head);
    }
    table
}
