//! A run as text: of one benchmark the verdict first, then its figures; of a suite a row for each and
//! the tally below, where a terminal shows it first. What the exit code means comes last.

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

/// Everything the text depends on beside the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions<'a> {
    /// Columns of the terminal.
    pub width: usize,
    /// True where colours may be used.
    pub color: bool,
    /// True where the terminal shows more than ASCII.
    pub unicode: bool,
    /// The amount that is shown.
    pub detail: Detail,
    /// True where the secondary figures follow, in a build with the feature `reports`.
    pub figures: bool,
    /// True where pictures follow every verdict, of what there is to draw, in a
    /// build with the same feature.
    pub plot: bool,
    /// True if names at the end of a line are shown whole.
    pub whole_names: bool,
    /// The files that the run is recorded in, each in words: "recorded in x.jsonl".
    pub recorded: &'a [String],
    /// True if a line explains the terms of the table, as for a reader who sees it for the first
    /// time.
    pub legend: bool,
    /// The unit of all times in tables; `None` for the one that suits them.
    pub time_unit: Option<TimeUnit>,
}

impl Default for TextOptions<'_> {
    /// The look that suits a file: 80 columns of ASCII without colour.
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

/// Columns a name may take in a sentence or a table of a terminal.
const NAME: usize = 60;
/// Columns a name may take where no terminal limits it. A parameter may be a whole text.
const LONG_NAME: usize = 400;

/// Lines of notes in a brief answer. Fourteen races with five notes each were
/// read as noise; a doubt is always shown.
const NOTE_LINES: usize = 2;

/// The analysis as text. Of one benchmark its contenders and the verdicts, of
/// several a line each and one for all of them; then the doubts.
pub fn to_text(analysis: &Analysis, options: &TextOptions<'_>) -> String {
    // A line each, for those who search them.
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
    /// The answer for people at a terminal.
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

    /// The base of the answer, the effort, the files and the way to see more; a suite has its effort
    /// next to its tally.
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

    /// The doubts, and of the notes as many as have room; the first one always.
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

    /// Contenders, verdicts, and whatever was asked for, of one benchmark.
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

    /// Everything asked for beside verdicts: pictures, metrics, figures.
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
                let observed = processes::lines(&comparison.aspects.processes, names);
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

    /// Doubts and notes of a suite, those of one kind together, with the
    /// benchmarks they are about where that is not all of them.
    fn together(&self) -> Vec<Note> {
        let titled: Vec<(String, Vec<WarningText>)> = (self.groups.iter())
            .map(|group| (self.title(group), self.warnings(group)))
            .collect();
        // A note may be worth telling of some benchmarks only and yet hold for all of them.
        let holds_for_all = |one: &WarningText| {
            let mut all = self.analysis.comparisons.iter();
            all.all(|comparison| comparison.warnings.iter().any(|w| w.code() == one.code))
        };
        WarningText::notes(warnings::merged_by_kind(&titled, holds_for_all))
    }

    /// True where the calibration is worth a line. It changes no verdict, so briefly it
    /// is told only where it says that this one is to be doubted.
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
