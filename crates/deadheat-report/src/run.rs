//! The blocks of the answer about a run; each fact is added in one place. The modules `text` and
//! `lists` decide the order of the blocks.

#[cfg(feature = "reports")]
mod about;
#[cfg(feature = "reports")]
mod lists;
#[cfg(feature = "reports")]
mod pairs;
mod text;

#[cfg(feature = "reports")]
pub use about::shell;
#[cfg(feature = "reports")]
pub(crate) use about::{about, command};
#[cfg(feature = "reports")]
pub use lists::{CommentOptions, MarkdownOptions, to_comment, to_markdown, to_markdown_with};
#[cfg(feature = "reports")]
pub use pairs::to_paired;
pub use text::{TextOptions, to_text};

use std::collections::HashMap;

use deadheat_model::{
    Analysis, Comparison, EndReason, Ending, FailedBenchmark, Metric, Verdict, Warning,
};

use crate::aspects::{self, control, hosts, placement, side_by_side, waiting};
use crate::cells::{Figure, cells_of_change, figure_cells, interval_head, rate_cells, typical};
use crate::cost::change_head;
use crate::document::{
    Block, Cell, Content, Kind, Note, Row, Severity, Table, Tone, VerdictLine, mark_of,
};
#[cfg(feature = "reports")]
use crate::gates;
use crate::glyphs::Glyphs;
use crate::names::{escape, has_room, labels, shorten, shorten_apart, texts};
use crate::sentences::{self, Called, Source};
use crate::suite::left_out_rows;
use crate::units::{TimeUnit, quantities_in};
use crate::warnings::{self, WarningText};
use crate::{suite, surroundings, verdict_sentence};

/// How much of an answer is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// One line per comparison, and warnings.
    Terse,
    /// The verdict, the details that support it, and the notes that affect its interpretation.
    #[default]
    Brief,
    /// Every metric and every note.
    Full,
}

/// If less than this width, in columns, is left for the names of a suite, the table omits the
/// times.
const NAME_TO_KEEP: usize = 24;

/// A pull-request comment folds the unchanged rows of a table with more rows than this.
const OPEN_ROWS: usize = 12;

pub(crate) struct Run<'a> {
    pub(crate) analysis: &'a Analysis,
    pub(crate) groups: Vec<&'a [Comparison]>,
    pub(crate) glyphs: Glyphs,
    pub(crate) source: Source,
    pub(crate) detail: Detail,
    pub(crate) figures: bool,
    pub(crate) plot: bool,
    /// True if the terms of the table are explained below it.
    pub(crate) legend: bool,
    /// The unit of all times in tables; `None` to choose a suitable unit.
    pub(crate) time_unit: Option<TimeUnit>,
    /// True if tables show every figure of a contender.
    pub(crate) wide: bool,
    pub(crate) name: usize,
    /// The shortened form of every title; no two are the same. Empty if no title is too long.
    pub(crate) titles: HashMap<String, String>,
    /// Isolates the reading direction of a label, if the output format can.
    pub(crate) isolated: fn(&str) -> String,
}

/// Returns the shortened form of each title, all different; empty if no title is too long.
fn shortened(titles: Vec<String>, width: usize, glyphs: Glyphs) -> HashMap<String, String> {
    if titles.iter().all(|title| has_room(title, width)) {
        return HashMap::new();
    }
    let short = shorten_apart(&titles, width, glyphs);
    titles.into_iter().zip(short).collect()
}

impl<'a> Run<'a> {
    /// Collects the data of an answer; names have at most `name` columns.
    pub(crate) fn of(analysis: &'a Analysis, glyphs: Glyphs, name: usize) -> Run<'a> {
        let groups = suite::groups(&analysis.comparisons);
        let mut titles = texts(&groups, &|group| suite::title(&group[0], glyphs));
        titles
            .extend((analysis.failures.iter()).map(|failure| suite::failed_title(failure, glyphs)));
        titles.extend((analysis.left_out.iter()).map(|one| escape(&one.benchmark, glyphs)));
        Run {
            analysis,
            groups,
            titles: shortened(titles, name, glyphs),
            glyphs,
            source: Source::of(analysis),
            detail: Detail::Full,
            figures: false,
            plot: false,
            legend: false,
            time_unit: None,
            wide: false,
            name,
            isolated: str::to_owned,
        }
    }

    /// Returns true if there is more than one row to show.
    pub(crate) fn is_suite(&self) -> bool {
        let rows = left_out_rows(&self.analysis.left_out, self.glyphs).len();
        self.groups.len() + self.analysis.failures.len() + rows > 1
    }

    /// Returns a table with a row per contender, in one unit if that is readable. It shows the
    /// typical and the smallest value, and with `Detail::Full` also the median and the mean.
    pub(crate) fn contenders(&self, group: &[Comparison]) -> Table<'a> {
        let full = self.detail == Detail::Full;
        let in_turns = side_by_side::wall_time_in_turns(group);
        let is_in_turns = in_turns.is_some();
        let sides = in_turns.unwrap_or_else(|| suite::sides(group));
        let metric = if is_in_turns {
            &Metric::Wall
        } else {
            &group[0].terms.metric
        };
        let known = sides.iter().any(|side| side.typical.is_some());
        let shown: &[Figure] = match (full, known) {
            _ if self.wide => &[
                Figure::Typical,
                Figure::Median,
                Figure::Mean,
                Figure::Min,
                Figure::Max,
            ],
            (true, _) => &[Figure::Typical, Figure::Median, Figure::Mean, Figure::Min],
            (false, true) => &[Figure::Typical, Figure::Min],
            (false, false) => &[Figure::Median, Figure::Min],
        };
        // Wall time is the usual metric, so the head does not name it.
        let title = match metric {
            _ if is_in_turns => "wall time in turns".to_owned(),
            Metric::Wall if !full => String::new(),
            metric => sentences::metric(metric, self.glyphs),
        };
        let mut heads = vec![title];
        heads.extend(shown.iter().map(|figure| figure.name_in(&group[0])));
        // The standard deviation may need a smaller unit than the other values.
        let scatter = self.wide.then(|| {
            figure_cells(
                &sides,
                metric,
                &[Figure::StdDev],
                self.time_unit,
                self.glyphs,
            )
        });
        heads.extend(scatter.iter().map(|_| Figure::StdDev.name().to_owned()));
        let rates = rate_cells(group, self.glyphs);
        heads.extend(rates.iter().map(|_| "rate".to_owned()));
        heads.push(
            match self.source {
                Source::Commands => "launches",
                _ => "samples",
            }
            .to_owned(),
        );
        let mut table = Table::new(Kind::Contender, heads);
        if sides.len() > 1 {
            table.column(Kind::Words, "");
        }
        table.caption = format!("Contenders, per {}", self.source.iteration());
        let figures = figure_cells(&sides, metric, shown, self.time_unit, self.glyphs);
        let labels = self.labels(group);
        for (index, (side, figures)) in sides.iter().zip(figures).enumerate() {
            let mut row = vec![labels[index].clone()];
            row.extend(figures);
            row.extend(scatter.as_ref().map(|scatter| scatter[index].concat()));
            row.extend(rates.as_ref().map(|rates| rates[index].clone()));
            row.push(side.samples.to_string());
            if sides.len() > 1 {
                row.push(["baseline", ""][index.min(1)].to_owned());
            }
            table.rows.push(row.into());
        }
        table
    }

    /// Explains the terms in the answer about these comparisons; `None` if no term needs an
    /// explanation.
    pub(crate) fn terms(&self, comparisons: &[Comparison]) -> Option<String> {
        if !self.legend {
            return None;
        }
        let mut terms: Vec<&str> = Vec::new();
        let mut sides = comparisons.iter().map(|one| &one.baseline);
        if sides.any(|side| side.typical.is_some()) {
            // Without the rerun in turns, the table shows CPU time, as the change does.
            let in_turns = comparisons.iter().any(|one| {
                let side_by_side = one.aspects.side_by_side.as_ref();
                side_by_side.is_some_and(|raced| raced.in_turns.is_some())
            });
            terms.push(if in_turns {
                "typical: robust averages of wall time, but the change is in CPU time"
            } else if comparisons.iter().any(|one| one.candidate.is_some()) {
                "typical: robust averages whose ratio is the measured change"
            } else {
                "typical: a robust average"
            });
        }
        let has = |verdict| comparisons.iter().any(|one| one.verdict == Some(verdict));
        if has(Verdict::Equivalent) {
            terms.push("dead heat is 'equivalent' in JSON");
        }
        if has(Verdict::Inconclusive) {
            terms.push("too close to call is 'inconclusive' in JSON");
        }
        (!terms.is_empty()).then(|| format!("{}.", terms.join("; ")))
    }

    pub(crate) fn verdicts(
        &self,
        group: &[Comparison],
        baseline_is_shown: bool,
    ) -> Vec<VerdictLine> {
        let labels = self.called(group);
        let full = self.detail == Detail::Full;
        let mut floors = Vec::new();
        let mut verdicts = Vec::new();
        for (comparison, candidate) in group.iter().zip(&labels[1..]) {
            let called = Called {
                baseline: &labels[0],
                candidate: comparison.candidate.is_some().then_some(candidate.as_str()),
                baseline_is_shown,
            };
            let (mark, tone) = mark_of(comparison.verdict, self.glyphs);
            let mut names = Vec::new();
            names.extend(self.is_suite().then(|| self.title(group)));
            names.extend((group.len() > 1).then(|| candidate.clone()));
            let details = aspects::details(comparison, full, self.glyphs);
            verdicts.push(VerdictLine {
                names,
                mark,
                tone,
                sentence: verdict_sentence::verdict(comparison, called, self.source, self.glyphs),
                details,
            });
            floors.extend(control::noise_floor(comparison, self.glyphs));
        }
        // All candidates of a baseline share one control.
        floors.dedup();
        if let Some(last) = verdicts.last_mut() {
            last.details.extend(floors);
        }
        verdicts
    }

    /// Returns the verdicts, with the number of replicates below the last one.
    #[cfg(feature = "reports")]
    pub(crate) fn verdicts_with_counts(&self, group: &[Comparison]) -> Vec<VerdictLine> {
        let mut verdicts = self.verdicts(group, false);
        if let Some(last) = verdicts.last_mut() {
            last.details.extend(self.counts(group));
        }
        verdicts
    }

    /// Returns the number of replicates and the duration of the run. A suite shows the duration
    /// only once, in its headline.
    pub(crate) fn counts(&self, group: &[Comparison]) -> Option<String> {
        let base = sentences::rests_on(group, self.source);
        let effort = self.effort().filter(|_| !self.is_suite());
        let joined = match self.detail {
            Detail::Full => ", ",
            _ => " in ",
        };
        let counts: Vec<String> = base.into_iter().chain(effort).collect();
        (!counts.is_empty()).then(|| counts.join(joined))
    }

    fn effort(&self) -> Option<String> {
        match self.detail {
            Detail::Full => sentences::effort(self.analysis),
            _ => sentences::time(self.analysis),
        }
    }

    pub(crate) fn headline(&self) -> Block<'a> {
        let Analysis {
            comparisons,
            failures,
            left_out,
            ..
        } = self.analysis;
        let tally = sentences::tally(comparisons, failures, left_out);
        Block::of(Content::Headline(tally, self.effort()))
    }

    pub(crate) fn raced(&self) -> Option<String> {
        placement::raced(&self.analysis.comparisons, self.source)
    }

    pub(crate) fn change_head(&self) -> &'static str {
        change_head(
            self.analysis
                .comparisons
                .iter()
                .map(|one| &one.terms.metric),
        )
    }

    pub(crate) fn legend(&self) -> Option<String> {
        suite::legend_alone(&self.analysis.comparisons, self.glyphs)
    }

    /// Returns lines about the whole suite: arrangement, links, controls, hosts, and the mean
    /// change.
    pub(crate) fn means(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        if self.detail != Detail::Terse {
            lines.extend(side_by_side::of_suite(&self.analysis.comparisons));
            lines.extend(self.raced());
        }
        if self.detail == Detail::Brief {
            lines.extend(sentences::controls(&self.analysis.comparisons));
            lines.extend(hosts::of_suite(&self.analysis.comparisons));
        }
        if self.detail != Detail::Terse {
            let several = self.analysis.overall.len() > 1;
            let look = (several, self.detail == Detail::Full);
            let line = |one| sentences::overall(one, self.analysis, look, self.glyphs);
            lines.extend(self.analysis.overall.iter().map(line));
        }
        lines
    }

    /// Returns a table with a row per comparison of a suite, and per benchmark that failed or was
    /// skipped. `brief` is for terminals, whose rows have space for one name and few words.
    pub(crate) fn overview(&self, brief: bool) -> Table<'a> {
        let nothing = || self.glyphs.nothing().to_owned();
        let named = suite::rows_name_candidates(self.analysis);
        let apart = !brief && named;
        let mut table = Table {
            name_at_ease: NAME_TO_KEEP,
            names_last: true,
            folds: Some((OPEN_ROWS, " that did not change")),
            ..Table::default()
        };
        table.column(Kind::Name, "benchmark");
        if apart {
            table.column(Kind::Name, "candidate");
        }
        table.column(Kind::Words, if brief { "" } else { "verdict" });
        table.column(Kind::Number, self.change_head());
        table.column(
            Kind::Number,
            interval_head(self.analysis.comparisons.iter().map(Comparison::coverage)),
        );
        table.spare_column(Kind::Number, "baseline");
        table.spare_column(Kind::Number, "candidate");
        for group in &self.groups {
            let labels = self.labels(group);
            for (index, comparison) in group.iter().enumerate() {
                let label = labels.get(index + 1);
                let candidate = label.filter(|_| brief && named);
                let name = suite::row_name(&self.title(group), candidate.map(String::as_str));
                let mut cells: Vec<Cell> = vec![name.into()];
                if apart {
                    cells.push(label.cloned().unwrap_or_default().into());
                }
                let tone = comparison.verdict.map(Tone::Verdict);
                cells.push(Cell::toned(self.verdict_cell(comparison, brief), tone));
                let change = cells_of_change(comparison, self.glyphs);
                cells.extend(change.map(Cell::from));
                let values = typical(&comparison.baseline, comparison.candidate.as_ref());
                let unit = comparison.terms.metric.unit();
                let mut values = quantities_in(self.time_unit, unit, &values, self.glyphs);
                values.resize(2, nothing());
                cells.extend(values.into_iter().map(Cell::from));
                let moved = matches!(comparison.verdict, Some(Verdict::Faster | Verdict::Slower));
                table.rows.push(Row {
                    cells,
                    changed: moved || comparison.suite.gate.is_some(),
                    drawn: brief.then(|| comparison.into()),
                });
            }
        }
        for (name, cell) in self.unanswered() {
            let mut cells = vec![Cell::from(nothing()); table.columns.len()];
            if apart {
                cells[1] = "".into();
            }
            cells[0] = name.into();
            cells[1 + usize::from(apart)] = cell;
            table.rows.push(cells.into());
        }
        table
    }

    fn verdict_cell(&self, comparison: &Comparison, brief: bool) -> String {
        let mark = self.glyphs.mark(comparison.verdict);
        if brief {
            let provisional = if comparison.evidence.provisional {
                "*"
            } else {
                ""
            };
            let word = sentences::marked_word(comparison, self.glyphs);
            format!("{mark} {word}{provisional}")
        } else {
            let cell = sentences::verdict_cell(comparison, self.glyphs);
            format!("{mark} {cell}")
        }
    }

    /// Returns the benchmarks without an answer that have a row, each with its cell in the column
    /// of verdicts.
    pub(crate) fn unanswered(&self) -> Vec<(String, Cell)> {
        let failed = self.analysis.failures.iter().map(|failure| {
            let title = self.failed_title(failure);
            let word = format!("! {}", sentences::FAILED_CELL);
            (title, Cell::toned(word, Some(Tone::Failure)))
        });
        let left_out = left_out_rows(&self.analysis.left_out, self.glyphs).into_iter();
        let left_out = left_out.map(|(title, word)| {
            let word = format!("{} {word}", self.glyphs.mark(None));
            (self.shown(&title), word.into())
        });
        failed.chain(left_out).collect()
    }

    fn shown(&self, title: &str) -> String {
        let short = self.titles.get(title).map_or(title, String::as_str);
        (self.isolated)(&shorten(short, self.name, self.glyphs))
    }

    #[cfg(feature = "reports")]
    pub(crate) fn left_out_title(&self, one: &deadheat_model::LeftOut) -> String {
        self.shown(&escape(&one.benchmark, self.glyphs))
    }

    pub(crate) fn title(&self, group: &[Comparison]) -> String {
        self.shown(&suite::title(&group[0], self.glyphs))
    }

    pub(crate) fn failed_title(&self, failure: &FailedBenchmark) -> String {
        self.shown(&suite::failed_title(failure, self.glyphs))
    }

    pub(crate) fn labels(&self, group: &[Comparison]) -> Vec<String> {
        // A side of saved results is named after its file, which does not say what was measured.
        let title = suite::title(&group[0], self.glyphs);
        let names = match &self.analysis.sides[..] {
            [_] if group[0].candidate.is_none() => vec![title.as_str()],
            _ => suite::names(group),
        };
        let labels = labels(&names, self.name, self.glyphs);
        texts(&labels, &|label| (self.isolated)(label))
    }

    /// Returns the labels of the contenders, the baseline first. If there is only one contender,
    /// adds an empty label for the missing candidate, so callers need no special case.
    pub(crate) fn called(&self, group: &[Comparison]) -> Vec<String> {
        let mut labels = self.labels(group);
        labels.resize(group.len() + 1, String::new());
        labels
    }

    /// Returns the warnings and notes on one benchmark: all of them, or only those that affect how
    /// the verdict is read.
    pub(crate) fn warnings(&self, group: &[Comparison]) -> Vec<WarningText> {
        let called = self.called(group);
        let candidates: Vec<&str> = called[1..].iter().map(String::as_str).collect();
        if self.detail == Detail::Full {
            let texts = warnings::messages(group, &candidates, self.source, self.glyphs);
            return self.with_delays(group, texts);
        }
        let texts = warnings::brief_messages(group, &candidates, self.source, self.glyphs);
        let mut texts = self.with_delays(group, texts);
        texts.retain(|one| self.detail == Detail::Brief || !one.information);
        texts
    }

    /// Inserts the notes on scheduling delay before the other notes, because a brief answer shows
    /// only the first notes.
    fn with_delays(&self, group: &[Comparison], mut texts: Vec<WarningText>) -> Vec<WarningText> {
        let full = self.detail == Detail::Full;
        let delay = |one| waiting::scheduling_delay(one, full, self.glyphs);
        let mut delays: Vec<String> = group.iter().filter_map(delay).collect();
        delays.dedup();
        let at = texts.partition_point(|one| !one.information);
        let delays = delays
            .into_iter()
            .map(|text| WarningText::note("scheduling-delay", text));
        texts.splice(at..at, delays);
        texts
    }

    pub(crate) fn notes(&self, group: &[Comparison]) -> Vec<Note> {
        WarningText::notes(self.warnings(group))
    }

    /// Returns the remarks on each benchmark, and the remarks that several benchmarks share.
    pub(crate) fn doubts(&self) -> (Vec<Vec<Note>>, Vec<Note>) {
        let all: Vec<Vec<WarningText>> = (self.groups.iter())
            .map(|group| self.warnings(group))
            .collect();
        let shared = warnings::shared_warnings(&all);
        let titles: Vec<String> = self.groups.iter().map(|group| self.title(group)).collect();
        let told = warnings::attributed(&shared, &all, &titles);
        let own = all.into_iter().map(|mut texts| {
            texts.retain(|one| !shared.contains(one));
            WarningText::notes(texts)
        });
        (own.collect(), WarningText::notes(told))
    }

    /// Returns the remarks on the whole run: how it ended, then warnings about recordings.
    pub(crate) fn whole(&self) -> Vec<Note> {
        let warnings = WarningText::of_run(&self.analysis.warnings, self.source, self.glyphs);
        let mut notes = WarningText::notes(warnings);
        notes.splice(..0, self.ending());
        let built = sentences::built(&self.analysis.builds, self.glyphs);
        notes.extend(built.map(|text| Note::of(Severity::Note, text)));
        notes.extend(surroundings::notes(
            &self.analysis.surroundings,
            self.detail == Detail::Full,
            self.glyphs,
        ));
        notes
    }

    fn ending(&self) -> Option<Note> {
        // The warning of a comparison already reports the used-up budget, with its numbers.
        let spent = |warning: &Warning| matches!(warning, Warning::BudgetSpent { .. });
        let mut comparisons = self.analysis.comparisons.iter();
        if self.analysis.ending == Ending::Recorded(EndReason::Budget)
            && comparisons.any(|comparison| comparison.warnings.iter().any(spent))
        {
            return None;
        }
        let text = sentences::ending(&self.analysis.ending, self.source, self.glyphs)?;
        Some(Note::of(Severity::Warning, text))
    }

    #[cfg(feature = "reports")]
    pub(crate) fn gate(&self) -> Option<Content<'a>> {
        let named = suite::rows_name_candidates(self.analysis);
        let names = |one: &Comparison| {
            let group = std::slice::from_ref(one);
            let candidate = one.candidate.as_ref();
            let candidate = candidate.map(|side| self.shown(&escape(&side.name, self.glyphs)));
            match candidate {
                Some(candidate) if suite::is_any_run(group, self.source) => vec![candidate],
                Some(candidate) if named => vec![self.title(group), candidate],
                _ => vec![self.title(group)],
            }
        };
        gates::gate(self.analysis, names, self.glyphs)
    }

    pub(crate) fn failures(&self) -> Vec<Note> {
        let failures = texts(&self.analysis.failures, &|failure| {
            sentences::failed(&self.failed_title(failure), failure, self.glyphs)
        });
        Note::all(Severity::Alarm, failures)
    }

    pub(crate) fn left_out(&self) -> Option<Block<'a>> {
        Block::list(sentences::left_out(&self.analysis.left_out, self.glyphs))
    }
}
