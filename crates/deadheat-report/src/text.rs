//! The answer as people read it in a terminal.

use deadheat_model::{Analysis, Comparison, EndReason, Ending, FailedBenchmark, Verdict, Warning};

use crate::calibration::calibrated;
use crate::doubts::{self, Told};
#[cfg(feature = "reports")]
use crate::figures;
use crate::glyphs::Glyphs;
use crate::layout;
use crate::left_out;
use crate::names::{labels, shorten};
#[cfg(feature = "reports")]
use crate::plot::{Scenery, intervals, pictures};
use crate::sentences::{self, Called, Source, Weight};
use crate::suite;
use crate::tables;

/// Everything the text depends on beside the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether colours may be used.
    pub color: bool,
    /// Whether the terminal shows more than ASCII.
    pub unicode: bool,
    /// Whether the table of all metrics follows the verdict.
    pub metrics_table: bool,
    /// Whether the secondary figures follow, in a build with the feature
    /// `reports`.
    pub figures: bool,
    /// Whether pictures follow every verdict, of what there is to draw, in a
    /// build with the same feature.
    pub plot: bool,
}

impl Default for TextOptions {
    /// What suits a file: 80 columns of ASCII without colour.
    fn default() -> Self {
        Self {
            width: 80,
            color: false,
            unicode: false,
            metrics_table: true,
            figures: false,
            plot: false,
        }
    }
}

/// Columns a name may take in a sentence.
const NAME_IN_SENTENCE: usize = 60;

/// The analysis as text: for every benchmark its contenders, the verdicts, all
/// metrics and the doubts; for several benchmarks a summary at the end.
pub fn to_text(analysis: &Analysis, options: &TextOptions) -> String {
    Painter {
        analysis,
        options,
        glyphs: Glyphs::new(options.unicode),
        source: Source::of(analysis),
    }
    .text()
}

struct Painter<'a> {
    analysis: &'a Analysis,
    options: &'a TextOptions,
    glyphs: Glyphs,
    source: Source,
}

impl Painter<'_> {
    fn text(&self) -> String {
        let groups = suite::groups(&self.analysis.comparisons);
        let mut doubts: Vec<Vec<Told>> = groups.iter().map(|group| self.doubts(group)).collect();
        let mut shared = suite::shared_doubts(&doubts);
        let failures = &self.analysis.failures;
        let rows = left_out::rows(&self.analysis.left_out, self.glyphs).len();
        let several = groups.len() + failures.len() + rows > 1;
        // How the run ended concerns all of it, so it leads what is said last.
        let last = match doubts.as_mut_slice() {
            [only] if !several => only,
            _ => &mut shared,
        };
        last.splice(..0, self.ending());
        let mut text = String::new();
        for (group, doubts) in groups.iter().zip(&doubts) {
            if several {
                text += &self.heading(&group[0]);
            }
            text += &self.benchmark(group, !several);
            text += &self.paragraph_of_doubts(doubts.iter().filter(|told| !shared.contains(told)));
            if several {
                text.push('\n');
            }
        }
        for failure in failures {
            text += &self.failed(failure);
            if several {
                text.push('\n');
            }
        }
        if groups.is_empty() && failures.is_empty() {
            text += &self.wrapped("", "nothing was measured.");
        }
        if several {
            let (width, glyphs) = (self.options.width, self.glyphs);
            text += &tables::summary(self.analysis, width, self.options.color, glyphs);
            text.push('\n');
            text += &self.wrapped(
                "",
                &sentences::tally(
                    &self.analysis.comparisons,
                    failures,
                    &self.analysis.left_out,
                ),
            );
            if let Some(effort) = sentences::effort(self.analysis) {
                text += &self.wrapped("", &effort);
            }
        }
        let left_out = sentences::left_out(&self.analysis.left_out, self.glyphs);
        for (index, sentence) in left_out.iter().enumerate() {
            if index == 0 && !several {
                text.push('\n');
            }
            text += &self.wrapped("", sentence);
        }
        text + &self.paragraph_of_doubts(shared.iter()) + &self.calibrated() + &self.gates()
    }

    /// What is known of the machine: quietly, for it changes no verdict.
    fn calibrated(&self) -> String {
        let note = self.analysis.calibration.as_ref();
        let told = note.map(|note| format!("\n{}", self.wrapped("  ", &calibrated(note))));
        told.unwrap_or_default()
    }

    /// What the gates say, last of all: it is what the exit code means.
    fn gates(&self) -> String {
        let mut text = String::new();
        for line in sentences::gates(self.analysis, self.glyphs) {
            if text.is_empty() {
                text.push('\n');
            }
            text += &match line.weight {
                Weight::Fails => self.alarm(&line.text),
                Weight::Warns => self.remark(false, &line.text),
                Weight::Notes => self.remark(true, &line.text),
            };
        }
        text
    }

    /// A sentence behind a red mark.
    fn alarm(&self, text: &str) -> String {
        let plain = self.wrapped("! ", text);
        match self.options.color {
            true => plain.replacen('!', "\u{1b}[31m!\u{1b}[0m", 1),
            false => plain,
        }
    }

    /// Contenders, verdicts, counts and metrics of one benchmark.
    fn benchmark(&self, group: &[Comparison], alone: bool) -> String {
        let (width, glyphs) = (self.options.width, self.glyphs);
        let mut text = tables::contenders(group, width, glyphs);
        text.push('\n');
        let called = self.called(group);
        let mut floors = Vec::new();
        for (comparison, candidate) in group.iter().zip(&called[1..]) {
            let called = Called {
                baseline: &called[0],
                candidate: comparison.candidate.is_some().then_some(candidate.as_str()),
            };
            let sentence =
                sentences::verdict(comparison, comparison.margin, called, self.source, glyphs);
            text += &self.marked(comparison.verdict, &sentence);
            if let Some(placement) = sentences::placement(comparison, glyphs) {
                text += &self.wrapped("  ", &placement);
            }
            if let Some(floor) = sentences::noise_floor(comparison, glyphs) {
                floors.push(floor);
            }
        }
        // Candidates of one baseline have one control.
        floors.dedup();
        for floor in floors {
            text += &self.wrapped("  ", &floor);
        }
        let effort = alone.then(|| sentences::effort(self.analysis)).flatten();
        let counts = sentences::rests_on(group, self.source);
        let counts: Vec<String> = counts.into_iter().chain(effort).collect();
        if !counts.is_empty() {
            text += &self.wrapped("  ", &counts.join(", "));
        }
        #[cfg(feature = "reports")]
        if self.options.plot {
            text += &self.plots(group, &called);
        }
        if self.options.metrics_table {
            for (comparison, candidate) in group.iter().zip(&called[1..]) {
                let title =
                    (group.len() > 1).then(|| format!("'{candidate}' against '{}'", called[0]));
                let table = tables::metrics(comparison, width, glyphs);
                if !table.is_empty() {
                    text.push('\n');
                    if let Some(title) = title {
                        text += &self.wrapped("  ", &title);
                    }
                    text += &table;
                }
            }
        }
        #[cfg(feature = "reports")]
        if self.options.figures {
            for (comparison, candidate) in group.iter().zip(&called[1..]) {
                let title = match group.len() {
                    1 => figures::TITLE.to_owned(),
                    _ => format!("'{candidate}' against '{}'. {}", called[0], figures::TITLE),
                };
                text += &self.figures(comparison, &title);
            }
        }
        text
    }

    #[cfg(feature = "reports")]
    /// Pictures of what there is to draw; the intervals alone need no more
    /// than an estimate.
    fn plots(&self, group: &[Comparison], called: &[String]) -> String {
        let scenery = |verdict| Scenery {
            width: self.options.width,
            indent: 2,
            glyphs: self.glyphs,
            color: self.options.color,
            verdict,
        };
        let mut text = intervals(group, &called[1..], &scenery(None));
        for (comparison, candidate) in group.iter().zip(&called[1..]) {
            let names = [called[0].as_str(), candidate];
            text += &pictures(comparison, names, &scenery(comparison.verdict));
        }
        text
    }

    #[cfg(feature = "reports")]
    fn figures(&self, comparison: &Comparison, title: &str) -> String {
        let (width, glyphs) = (self.options.width, self.glyphs);
        let sides = figures::sides(comparison, glyphs);
        let between = figures::between(comparison, glyphs);
        let tables: Vec<_> = sides.into_iter().chain(between).collect();
        if tables.is_empty() {
            return String::new();
        }
        let mut text = format!("\n{}", self.wrapped("  ", title));
        for table in &tables {
            let aligned = format!("l{}", "r".repeat(table.header.len() - 1));
            text.push('\n');
            text += &layout::table(&table.header, &table.rows, &aligned, 2, width);
        }
        text.push('\n');
        text + &self.wrapped("  ", figures::CAVEAT)
    }

    /// A benchmark without an answer: its sentence stands where its block would.
    fn failed(&self, failure: &FailedBenchmark) -> String {
        let title = suite::failed_title(failure, self.glyphs);
        let title = shorten(&title, NAME_IN_SENTENCE, self.glyphs);
        self.alarm(&sentences::failed(&title, failure, self.glyphs))
    }

    fn heading(&self, comparison: &Comparison) -> String {
        let title = suite::title(comparison, self.glyphs);
        let name = shorten(&title, self.options.width, self.glyphs);
        if self.options.color {
            format!("\u{1b}[1m{name}\u{1b}[0m\n")
        } else {
            format!("{name}\n")
        }
    }

    /// The labels of a benchmark's contenders in sentences, the baseline first;
    /// at least two, so that a contender alone needs no case of its own.
    fn called(&self, group: &[Comparison]) -> Vec<String> {
        let mut called = labels(&suite::names(group), NAME_IN_SENTENCE, self.glyphs);
        called.resize(group.len() + 1, String::new());
        called
    }

    fn doubts(&self, group: &[Comparison]) -> Vec<Told> {
        let called = self.called(group);
        let candidates: Vec<&str> = called[1..].iter().map(String::as_str).collect();
        doubts::told(group, &candidates, self.source, self.glyphs)
    }

    fn paragraph_of_doubts<'t>(&self, doubts: impl Iterator<Item = &'t Told>) -> String {
        let mut text = String::new();
        for told in doubts {
            if text.is_empty() {
                text.push('\n');
            }
            text += &self.remark(told.information, &told.text);
        }
        text
    }

    fn remark(&self, information: bool, text: &str) -> String {
        let prefix = if information { "note: " } else { "warning: " };
        let plain = self.wrapped(prefix, text);
        if !self.options.color {
            return plain;
        }
        let color = if information { 36 } else { 33 };
        let word = prefix.trim_end();
        plain.replacen(word, &format!("\u{1b}[{color}m{word}\u{1b}[0m"), 1)
    }

    fn ending(&self) -> Option<Told> {
        // The warning of a comparison says the same with its numbers.
        let spent = |warning: &Warning| matches!(warning, Warning::BudgetSpent { .. });
        let mut comparisons = self.analysis.comparisons.iter();
        if self.analysis.ending == Ending::Recorded(EndReason::Budget)
            && comparisons.any(|comparison| comparison.warnings.iter().any(spent))
        {
            return None;
        }
        let text = sentences::ending(&self.analysis.ending, self.source, self.glyphs)?;
        Some(Told {
            information: false,
            text,
        })
    }

    fn marked(&self, verdict: Option<Verdict>, sentence: &str) -> String {
        let mark = self.glyphs.mark(verdict);
        let plain = self.wrapped(&format!("{mark} "), sentence);
        let color = match verdict {
            Some(Verdict::Faster) => 32,
            Some(Verdict::Slower) => 31,
            Some(Verdict::Equivalent) => 36,
            Some(Verdict::Inconclusive) => 33,
            None => return plain,
        };
        if self.options.color {
            // Painted after wrapping: escape sequences have no width.
            plain.replacen(mark, &format!("\u{1b}[{color}m{mark}\u{1b}[0m"), 1)
        } else {
            plain
        }
    }

    fn wrapped(&self, prefix: &str, text: &str) -> String {
        layout::wrap(prefix, text, self.options.width)
    }
}
