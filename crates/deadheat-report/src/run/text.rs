//! A run as text for a terminal. A single benchmark has its verdict first, then its figures. A
//! suite has a row per comparison. The counts of verdicts are below the rows, where they stay
//! visible. The meaning of the exit code comes last.

use deadheat_model::{Analysis, Comparison, Promise};

use super::{Detail, Run};
use crate::aspects::hosts;
use crate::calibration::calibrated;
use crate::cells::metrics;
use crate::document::{Block, Content, Note, Plot, Severity};
use crate::terminal::Terminal;
use crate::units::TimeUnit;
use crate::warnings::{self, WarningText};
use crate::{gates, processes};

/// The options that affect the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions<'a> {
    /// The maximum width in columns.
    pub width: usize,
    /// True if colours may be used.
    pub color: bool,
    /// True if the text may contain characters other than ASCII.
    pub unicode: bool,
    /// How much of the answer is shown.
    pub detail: Detail,
    /// True to add the secondary figures, in a build with the feature `reports`.
    pub figures: bool,
    /// True to add plots of every comparison, in a build with the feature `reports`.
    pub plot: bool,
    /// True if names at the end of a line are never shortened.
    pub whole_names: bool,
    /// Sentences about the files of the run, such as "recorded in x.jsonl".
    pub recorded: &'a [String],
    /// True to add a line that explains the terms of the table, for a user who is new to deadheat.
    pub legend: bool,
    /// The unit of all times in tables; `None` to choose a suitable unit.
    pub time_unit: Option<TimeUnit>,
}

impl Default for TextOptions<'_> {
    /// Returns the options for a file: 80 columns of ASCII without colour.
    fn default() -> Self {
        Self {
            width: 80,
            color: false,
            unicode: false,
            detail: Detail::Brief,
            figures: false,
            plot: false,
            whole_names: false,
            recorded: &[],
            legend: false,
            time_unit: None,
        }
    }
}

/// Maximum width, in columns, of a name in a sentence or a table of a terminal.
const NAME: usize = 60;
/// Maximum width, in columns, of a name if the output is not a terminal. The name may be long
/// because it contains a parameter.
const LONG_NAME: usize = 400;

/// Maximum lines of notes in a brief answer, because users ignored the notes when 14 races had five
/// each. Warnings are always shown.
const NOTE_LINES: usize = 2;

/// Formats the analysis as text. A single benchmark has its contenders and its verdicts. Several
/// benchmarks have a line each and a line for all. The warnings follow.
pub fn to_text(analysis: &Analysis, options: &TextOptions<'_>) -> String {
    // The terse answer has one line per comparison, so that users can search it with grep.
    let width = match options.detail {
        Detail::Terse => usize::MAX,
        _ => options.width,
    };
    let terminal = Terminal {
        whole_names: options.whole_names,
        ..Terminal::new(width, options.color, options.unicode)
    };
    let name = if options.whole_names { LONG_NAME } else { NAME };
    let run = Run {
        detail: options.detail,
        figures: options.figures,
        plot: options.plot,
        legend: options.legend || options.detail == Detail::Full,
        time_unit: options.time_unit,
        ..Run::of(analysis, terminal.glyphs, name)
    };
    terminal.render(&run.for_terminal(&terminal, options.recorded))
}

impl<'a> Run<'a> {
    fn for_terminal(&self, terminal: &Terminal, recorded: &[String]) -> Vec<Block<'a>> {
        let is_suite = self.is_suite();
        let full = self.detail == Detail::Full;
        let failed = Block::notes(self.failures());
        let mut blocks: Vec<Block> = Vec::new();
        let mut notes = Vec::new();
        if is_suite && full {
            let (own, shared) = self.doubts();
            for (group, own) in self.groups.iter().zip(own) {
                let mut of_one = self.benchmark(group);
                of_one.extend(Block::notes(own));
                blocks.push(Block::of(Content::Section(self.title(group), of_one)));
            }
            let failures = self.failures().into_iter();
            blocks.extend(failures.filter_map(|failure| Block::notes(vec![failure])));
            notes = shared;
        } else if is_suite {
            for group in &self.groups {
                let section = Content::Section(self.title(group), self.below(group));
                blocks.push(Block::of(section));
            }
            notes = self.together();
        } else if let Some(group) = self.groups.first() {
            blocks.extend(self.benchmark(group));
            notes = self.notes(group);
        } else if failed.is_none() {
            blocks.push(Block::paragraph("nothing was measured."));
        }
        notes.splice(..0, self.whole());
        if is_suite {
            blocks.push(Block::table(self.overview(true)));
            if self
                .analysis
                .comparisons
                .iter()
                .any(|one| one.evidence.provisional)
            {
                blocks.push(Block::indented("* provisional").tight());
            }
            let legends = [self.legend(), self.terms(&self.analysis.comparisons)];
            let legends = legends.into_iter().flatten().map(Block::indented);
            blocks.extend(legends.map(Block::tight));
            blocks.push(self.headline());
            blocks.extend(
                self.means()
                    .into_iter()
                    .map(|line| Block::paragraph(line).tight()),
            );
        }
        let attached = |block: Block<'a>| if is_suite { block.tight() } else { block };
        blocks.extend(failed.filter(|_| !is_suite || !full).map(attached));
        blocks.extend(self.left_out().map(attached));
        blocks.extend(self.closing(recorded));
        blocks.extend(Block::notes(self.few_notes(notes, terminal)));
        let quoted = self
            .analysis
            .calibration
            .as_ref()
            .filter(|_| self.quotes_calibration());
        blocks.extend(quoted.map(|note| Block::indented(calibrated(note))));
        blocks.extend(Block::notes(gates::gates(self.analysis, self.glyphs)));
        blocks
    }

    /// Returns the last line: the number of replicates, the duration, the files, and how to see
    /// more. A suite shows its duration next to its counts instead.
    fn closing(&self, recorded: &[String]) -> Option<Block<'a>> {
        let group = self.groups.first().filter(|_| !self.is_suite());
        let mut parts: Vec<String> = group
            .and_then(|group| self.counts(group))
            .into_iter()
            .collect();
        parts.extend_from_slice(recorded);
        if self.detail == Detail::Terse || parts.is_empty() {
            return None;
        }
        let more = match (self.detail, recorded) {
            (Detail::Brief, [_, ..]) => " (-v shows every metric and note)",
            (Detail::Full, _) => " (docs/glossary.md explains every term)",
            _ => "",
        };
        Some(Block::of(Content::Closing(format!(
            "{}{more}",
            parts.join("; ")
        ))))
    }

    /// Returns all warnings, and as many notes as fit into the limit, but at least the first note.
    fn few_notes(&self, mut notes: Vec<Note>, terminal: &Terminal) -> Vec<Note> {
        if self.detail == Detail::Full {
            return notes;
        }
        let mut lines = 0;
        notes.retain(|one| {
            let (is_first, is_note) = (lines == 0, one.severity == Severity::Note);
            if is_note {
                lines += terminal.note(one).lines().count();
            }
            !is_note || is_first || lines <= NOTE_LINES
        });
        notes
    }

    /// Returns the blocks of one benchmark: verdicts, contenders, and the requested details.
    fn benchmark(&self, group: &'a [Comparison]) -> Vec<Block<'a>> {
        let mut blocks = Vec::new();
        let mut verdicts = self.verdicts(group, group.len() == 1);
        if self.detail == Detail::Terse {
            verdicts.iter_mut().for_each(|one| one.details.clear());
        }
        blocks.push(Block::of(Content::Verdicts(verdicts)));
        if self.detail != Detail::Terse {
            blocks.push(Block::table(self.contenders(group)));
            let legend = self.terms(group).map(Block::indented);
            blocks.extend(legend.map(Block::tight));
        }
        blocks.extend(self.below(group));
        blocks
    }

    fn below(&self, group: &'a [Comparison]) -> Vec<Block<'a>> {
        let labels = self.called(group);
        let against = |index: usize| format!("'{}' against '{}'", labels[index + 1], labels[0]);
        let mut blocks = Vec::new();
        if self.plot {
            blocks.push(Block::of(Content::Plot(Plot {
                group,
                labels: labels.clone(),
                intervals: true,
            })));
        }
        if self.detail == Detail::Full {
            let hosts = group
                .iter()
                .filter_map(|one| hosts::table(one, self.glyphs));
            blocks.extend(hosts.map(Block::table));
            for (index, comparison) in group.iter().enumerate() {
                let names = [&*labels[0], &*labels[index + 1]];
                let observed = processes::lines(&comparison.aspects.processes, names, self.glyphs);
                blocks.extend(observed.into_iter().map(Block::indented));
                let Some(table) =
                    metrics(comparison, self.time_unit, self.glyphs).map(Block::table)
                else {
                    continue;
                };
                if group.len() > 1 {
                    blocks.push(Block::indented(against(index)));
                    blocks.push(table.tight());
                } else {
                    blocks.push(table);
                }
            }
        }
        #[cfg(feature = "reports")]
        if self.figures {
            for (index, comparison) in group.iter().enumerate() {
                let candidate = labels.get(index + 1).filter(|_| group.len() > 1);
                let names = candidate.into_iter().cloned().collect();
                blocks.extend(crate::figures::blocks(comparison, names, self.glyphs));
            }
        }
        blocks
    }

    /// Returns the warnings and notes of a suite, grouped by kind, with the benchmarks that they
    /// concern unless they concern all.
    fn together(&self) -> Vec<Note> {
        let titled: Vec<(String, Vec<WarningText>)> = (self.groups.iter())
            .map(|group| (self.title(group), self.warnings(group)))
            .collect();
        // A note may apply to all benchmarks, but be shown for only some of them.
        let holds_for_all = |one: &WarningText| {
            let mut all = self.analysis.comparisons.iter();
            all.all(|comparison| comparison.warnings.iter().any(|w| w.code() == one.code))
        };
        WarningText::notes(warnings::merged_by_kind(&titled, holds_for_all))
    }

    /// Returns true if the answer quotes the calibration. The calibration changes no verdict, so
    /// brief answers quote it only if it gives a reason to doubt a verdict.
    fn quotes_calibration(&self) -> bool {
        let Some(note) = &self.analysis.calibration else {
            return false;
        };
        let drowns = |one: &Comparison| {
            let effect = one.estimate.as_ref().map(|one| one.effect.0.abs());
            let floor = note.noise_floor.map(|floor| floor.0.abs());
            let both = effect.zip(floor);
            warnings::is_decided(one) && both.is_some_and(|(effect, floor)| effect < floor)
        };
        self.detail == Detail::Full
            || note.false_calls.at_most(note.alpha) == Promise::Broken
            || self.analysis.comparisons.iter().any(drowns)
    }
}
