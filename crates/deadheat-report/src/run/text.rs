//! A run as text. A terminal shows the last line first, so the verdicts stand low and what the exit
//! code means lowest.

use deadheat_model::{Analysis, Comparison, Promise};

use super::{Detail, Run};
use crate::calibration::calibrated;
use crate::cells::metrics;
use crate::document::{Block, Content, Note, Plot, Severity};
use crate::terminal::Terminal;
use crate::warnings::{self, WarningText};
use crate::{gates, hosts, processes};

/// Everything the text depends on beside the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions {
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
}

impl Default for TextOptions {
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
pub fn to_text(analysis: &Analysis, options: &TextOptions) -> String {
    let terminal = Terminal {
        whole_names: options.whole_names,
        ..Terminal::new(options.width, options.color, options.unicode)
    };
    let name = if options.whole_names { LONG_NAME } else { NAME };
    let run = Run {
        detail: options.detail,
        figures: options.figures,
        plot: options.plot,
        ..Run::of(analysis, terminal.glyphs, name)
    };
    terminal.render(&run.for_terminal(&terminal))
}

impl<'a> Run<'a> {
    /// The answer for people at a terminal.
    fn for_terminal(&self, terminal: &Terminal) -> Vec<Block<'a>> {
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
            if self.analysis.comparisons.iter().any(|one| one.provisional) {
                blocks.push(Block::indented("* provisional").tight());
            }
            let legend = self.legend().map(Block::indented);
            blocks.extend(legend.map(Block::tight));
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
        if self.detail != Detail::Terse {
            blocks.push(Block::table(self.contenders(group)));
        }
        blocks.push(Block::of(Content::Verdicts(
            self.verdicts(group, group.len() == 1),
        )));
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
                let observed = processes::lines(&comparison.processes, names);
                blocks.extend(observed.into_iter().map(Block::indented));
                let Some(table) = metrics(comparison, self.glyphs).map(Block::table) else {
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
