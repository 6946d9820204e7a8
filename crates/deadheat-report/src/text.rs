//! The answer as people read it in a terminal.

use crate::layout::Width as _;
use deadheat_model::{
    Analysis, CalibrationNote, Comparison, EndReason, Ending, FailedBenchmark, Promise, Verdict,
    Warning,
};

use crate::calibration::calibrated;
#[cfg(feature = "reports")]
use crate::figures;
use crate::glyphs::Glyphs;
use crate::layout;
use crate::left_out;
use crate::names::{labels, shorten};
use crate::plot::color_of;
#[cfg(feature = "reports")]
use crate::plot::{Scenery, intervals, pictures};
use crate::sentences::{self, Called, Source, Weight};
use crate::suite;
use crate::tables;
use crate::warnings::{self, WarningText};

/// How much of an answer is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// A line per comparison, and doubts.
    Terse,
    /// The verdict, what one needs to believe it, and what changes how it is
    /// read.
    #[default]
    Brief,
    /// Every metric and every note.
    Full,
}

/// Everything the text depends on beside the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether colours may be used.
    pub color: bool,
    /// Whether the terminal shows more than ASCII.
    pub unicode: bool,
    /// How much is shown.
    pub detail: Detail,
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
            detail: Detail::Brief,
            figures: false,
            plot: false,
        }
    }
}

/// Columns a name may take in a sentence.
const NAME_IN_SENTENCE: usize = 60;

/// Counts stand no further to the right, however wide the terminal: the eye
/// would not find them.
const COUNTS_AT_MOST: usize = 100;

/// Columns between a verdict and its counts on one line.
const COUNTS_GAP: usize = 3;

/// Lines of notes in a brief answer. Fourteen races with five notes each were
/// read as noise; a doubt is always shown.
const NOTE_LINES: usize = 2;

/// The analysis as text. Of one benchmark its contenders and the verdicts, of
/// several a line each and one for all of them; then the doubts.
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
        let failures = &self.analysis.failures;
        let rows = left_out::rows(&self.analysis.left_out, self.glyphs).len();
        let several = groups.len() + failures.len() + rows > 1;
        let (mut text, mut remarks) = match (several, self.options.detail) {
            (true, Detail::Full) => self.blocks(&groups),
            (true, _) => (self.drawn_alone(&groups), self.remarks_of_a_suite(&groups)),
            (false, _) => (self.single(&groups), self.remarks_of_one(&groups)),
        };
        // How the run ended concerns all of it, so it leads what is said last.
        remarks.splice(..0, self.ending());
        if several {
            text += &self.suite();
        }
        if !several || self.options.detail != Detail::Full {
            for failure in failures {
                text += &self.failed(failure);
            }
        }
        let left_out = sentences::left_out(&self.analysis.left_out, self.glyphs);
        for (index, sentence) in left_out.iter().enumerate() {
            if index == 0 && !several {
                text.push('\n');
            }
            text += &self.wrapped("", sentence);
        }
        text + &self.paragraph(&remarks) + &self.calibrated() + &self.gates()
    }

    /// The only benchmark there is.
    fn single(&self, groups: &[&[Comparison]]) -> String {
        match (groups.first(), self.analysis.failures.is_empty()) {
            (Some(group), _) => self.benchmark(group, true),
            (None, true) => self.wrapped("", "nothing was measured."),
            (None, false) => String::new(),
        }
    }

    /// Every benchmark of a suite with all there is to say of it, and what is
    /// to be said once for all.
    fn blocks(&self, groups: &[&[Comparison]]) -> (String, Vec<WarningText>) {
        let all: Vec<Vec<WarningText>> = groups.iter().map(|group| self.doubts(group)).collect();
        let shared = suite::shared_doubts(&all);
        let mut text = String::new();
        for (group, doubts) in groups.iter().zip(&all) {
            text += &self.heading(&group[0]);
            text += &self.benchmark(group, false);
            let own: Vec<WarningText> = doubts
                .iter()
                .filter(|told| !shared.contains(told))
                .cloned()
                .collect();
            text += &self.paragraph(&own);
            text.push('\n');
        }
        for failure in &self.analysis.failures {
            text += &self.failed(failure);
            text.push('\n');
        }
        (text, shared)
    }

    /// What was asked to be drawn or listed of every benchmark, where the
    /// verdicts stand in the table.
    fn drawn_alone(&self, groups: &[&[Comparison]]) -> String {
        let mut text = String::new();
        for group in groups {
            let below = self.below(group, &self.called(group));
            if !below.is_empty() {
                text += &format!("{}{below}\n", self.heading(&group[0]));
            }
        }
        text
    }

    /// The table of a suite, and a line for all of it.
    fn suite(&self) -> String {
        let (width, color, glyphs) = (self.options.width, self.options.color, self.glyphs);
        let analysis = self.analysis;
        let mut text = tables::suite(analysis, width, color, glyphs);
        if analysis.comparisons.iter().any(|one| one.provisional) {
            text += &self.wrapped("  ", "* provisional");
        }
        text.push('\n');
        let mut counts = sentences::tally(
            &analysis.comparisons,
            &analysis.failures,
            &analysis.left_out,
        );
        let effort = match self.options.detail {
            Detail::Full => sentences::effort(analysis),
            _ => sentences::time(analysis),
        };
        if let Some(effort) = effort {
            counts = format!("{}; {effort}.", counts.trim_end_matches('.'));
        }
        text += &self.wrapped("", &counts);
        if self.options.detail == Detail::Brief {
            let controls = sentences::controls(&analysis.comparisons);
            text.extend(controls.map(|controls| self.wrapped("", &controls)));
        }
        if self.options.detail != Detail::Terse {
            for overall in &analysis.overall {
                let several = analysis.overall.len() > 1;
                text += &self.wrapped("", &sentences::overall(overall, analysis, several, glyphs));
            }
        }
        text
    }

    /// What is known of the machine. It changes no verdict, so briefly it is
    /// told only where it says that this one is to be doubted.
    fn calibrated(&self) -> String {
        let Some(note) = &self.analysis.calibration else {
            return String::new();
        };
        let drowns = |one: &Comparison| {
            let effect = one
                .estimate
                .as_ref()
                .map(|estimate| estimate.effect.0.abs());
            let floor = note.noise_floor.map(|floor| floor.0.abs());
            warnings::is_decided(one)
                && effect
                    .zip(floor)
                    .is_some_and(|(effect, floor)| effect < floor)
        };
        let is_told = self.options.detail == Detail::Full
            || is_broken(note)
            || self.analysis.comparisons.iter().any(drowns);
        match is_told {
            true => format!("\n{}", self.wrapped("  ", &calibrated(note))),
            false => String::new(),
        }
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

    /// Contenders, verdicts, counts and whatever follows, of one benchmark.
    fn benchmark(&self, group: &[Comparison], alone: bool) -> String {
        let (width, glyphs) = (self.options.width, self.glyphs);
        let full = self.options.detail == Detail::Full;
        let mut text = String::new();
        if self.options.detail != Detail::Terse {
            text += &tables::contenders(group, self.source, full, width, glyphs);
            text.push('\n');
        }
        let called = self.called(group);
        let counts = self.counts(group, alone);
        let mut floors = Vec::new();
        for (place, (comparison, candidate)) in group.iter().zip(&called[1..]).enumerate() {
            let called = Called {
                baseline: &called[0],
                candidate: comparison.candidate.is_some().then_some(candidate.as_str()),
                baseline_is_shown: group.len() == 1,
            };
            let sentence = sentences::verdict(comparison, called, self.source, glyphs);
            let beside = counts
                .as_deref()
                .filter(|_| place + 1 == group.len() && !full);
            text += &self.marked(comparison.verdict, &sentence, beside);
            if full {
                let more = sentences::placement(comparison, glyphs);
                let more = more
                    .into_iter()
                    .chain(sentences::design(comparison, glyphs));
                text.extend(more.map(|line| self.wrapped("  ", &line)));
            }
            floors.extend(sentences::noise_floor(comparison, glyphs));
        }
        // Candidates of one baseline have one control.
        floors.dedup();
        if full && let Some(counts) = &counts {
            floors.push(counts.clone());
        }
        text.extend(floors.iter().map(|floor| self.wrapped("  ", floor)));
        text + &self.below(group, &called)
    }

    /// What the answer rests on and what it took; briefly only the first
    /// counts and the time.
    fn counts(&self, group: &[Comparison], alone: bool) -> Option<String> {
        let mut counts: Vec<String> = Vec::new();
        counts.extend(sentences::rests_on(group, self.source));
        counts.extend(match (alone, self.options.detail) {
            (false, _) => None,
            (true, Detail::Full) => sentences::effort(self.analysis),
            (true, _) => sentences::time(self.analysis),
        });
        (!counts.is_empty()).then(|| counts.join(", "))
    }

    /// What was asked for beside verdicts: pictures, metrics, figures.
    fn below(&self, group: &[Comparison], called: &[String]) -> String {
        let (width, glyphs) = (self.options.width, self.glyphs);
        let mut text = String::new();
        #[cfg(feature = "reports")]
        if self.options.plot {
            text += &self.plots(group, called);
        }
        let rows = || group.iter().zip(&called[1..]);
        let against = |candidate: &str| format!("'{candidate}' against '{}'", called[0]);
        if self.options.detail == Detail::Full {
            for (comparison, candidate) in rows() {
                let table = tables::metrics(comparison, width, glyphs);
                if !table.is_empty() {
                    text.push('\n');
                    if group.len() > 1 {
                        text += &self.wrapped("  ", &against(candidate));
                    }
                    text += &table;
                }
            }
        }
        #[cfg(feature = "reports")]
        if self.options.figures {
            for (comparison, candidate) in rows() {
                let title = match group.len() {
                    1 => figures::TITLE.to_owned(),
                    _ => format!("{}. {}", against(candidate), figures::TITLE),
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

    /// What is to be said of one benchmark: all of it, or what earns its place.
    fn doubts(&self, group: &[Comparison]) -> Vec<WarningText> {
        let called = self.called(group);
        let candidates: Vec<&str> = called[1..].iter().map(String::as_str).collect();
        match self.options.detail {
            Detail::Full => warnings::messages(group, &candidates, self.source, self.glyphs),
            Detail::Brief => warnings::brief_messages(group, &candidates, self.source, self.glyphs),
            Detail::Terse => {
                let mut told =
                    warnings::brief_messages(group, &candidates, self.source, self.glyphs);
                told.retain(|told| !told.information);
                told
            }
        }
    }

    fn remarks_of_one(&self, groups: &[&[Comparison]]) -> Vec<WarningText> {
        let told = groups
            .first()
            .map_or(Vec::new(), |group| self.doubts(group));
        self.few_notes(told)
    }

    /// Doubts and notes of a suite, those of one kind together, with the
    /// benchmarks they are about where that is not all of them.
    fn remarks_of_a_suite(&self, groups: &[&[Comparison]]) -> Vec<WarningText> {
        let titled: Vec<(String, Vec<WarningText>)> = groups
            .iter()
            .map(|group| {
                let title = suite::title(&group[0], self.glyphs);
                let title = shorten(&title, NAME_IN_SENTENCE, self.glyphs);
                (title, self.doubts(group))
            })
            .collect();
        self.few_notes(suite::told_together(&titled))
    }

    /// The doubts, and of the notes as many as have room; the first one always.
    fn few_notes(&self, mut told: Vec<WarningText>) -> Vec<WarningText> {
        if self.options.detail == Detail::Full {
            return told;
        }
        let mut lines = 0;
        told.retain(|told| {
            let is_first = lines == 0;
            if told.information {
                lines += self.remark(true, &told.text).lines().count();
            }
            !told.information || is_first || lines <= NOTE_LINES
        });
        told
    }

    fn paragraph(&self, remarks: &[WarningText]) -> String {
        let mut text = String::new();
        for told in remarks {
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

    fn ending(&self) -> Option<WarningText> {
        // The warning of a comparison says the same with its numbers.
        let spent = |warning: &Warning| matches!(warning, Warning::BudgetSpent { .. });
        let mut comparisons = self.analysis.comparisons.iter();
        if self.analysis.ending == Ending::Recorded(EndReason::Budget)
            && comparisons.any(|comparison| comparison.warnings.iter().any(spent))
        {
            return None;
        }
        let text = sentences::ending(&self.analysis.ending, self.source, self.glyphs)?;
        Some(WarningText::doubt("ending", text))
    }

    /// A verdict behind its mark, with the counts to its right where there is
    /// room, else below it.
    fn marked(&self, verdict: Option<Verdict>, sentence: &str, counts: Option<&str>) -> String {
        let mark = self.glyphs.mark(verdict);
        let sentence = sentence.trim_end_matches('.');
        let mut plain = self.wrapped(&format!("{mark} "), sentence);
        if let Some(counts) = counts {
            let line = plain.trim_end_matches('\n');
            let room = self.options.width.min(COUNTS_AT_MOST);
            let taken = line.width() + counts.width();
            plain = match room.checked_sub(taken) {
                Some(gap) if gap >= COUNTS_GAP && !line.contains('\n') => {
                    format!("{line}{}{counts}\n", " ".repeat(gap))
                }
                _ => plain + &self.wrapped("  ", counts),
            };
        }
        match (color_of(verdict), self.options.color) {
            // Painted after wrapping: escape sequences have no width.
            (Some(color), true) => {
                plain.replacen(mark, &format!("\u{1b}[{color}m{mark}\u{1b}[0m"), 1)
            }
            _ => plain,
        }
    }

    fn wrapped(&self, prefix: &str, text: &str) -> String {
        layout::wrap(prefix, text, self.options.width)
    }
}

/// Whether the machine is known to call more than is accepted.
fn is_broken(note: &CalibrationNote) -> bool {
    note.false_calls.at_most(note.alpha) == Promise::Broken
}
