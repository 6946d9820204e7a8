//! The answer of an analysis: printed on standard output, and a status.

use std::io::Write;
use std::path::Path;

use deadheat_analysis::{Options, analyse};
use deadheat_engine::stdout_was_closed;
use deadheat_format::{NOWHERE, are_first_runs};
use deadheat_model::{Analysis, Run, TextCells};
use deadheat_report::{
    Detail, Glyphs, TextOptions, TimeUnit, escape_line, harmless, judged_nothing, to_json, to_text,
};
#[cfg(feature = "reports")]
use deadheat_report::{MarkdownOptions, to_markdown_with, to_paired};

#[cfg(feature = "commands")]
use deadheat_report::{Sort, to_comparison_csv};

use crate::exit::{Failure, Status};
use crate::race::Raced;
use crate::rules::Gate;
use crate::settings::Color;
use crate::terminal;

/// Points of a series worked out for pictures made of characters: several for
/// every column of the widest terminal.
const POINTS: usize = 2_000;

/// The shape of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people at a terminal.
    #[default]
    Text,
    /// The same in a line per comparison.
    Terse,
    /// For programs: all there is to know, as one JSON document.
    Json,
    /// For a pull request.
    #[cfg(feature = "reports")]
    Markdown,
    /// Minima and means side by side, a line per comparison.
    #[cfg(feature = "reports")]
    Paired,
    /// For a spreadsheet.
    #[cfg(feature = "commands")]
    Csv,
}

impl Format {
    /// All shapes, each with its word on a command line and its purpose in a few words.
    pub const ALL: &[(Format, &str, &str)] = &[
        (Format::Text, "text", "for people at a terminal"),
        (Format::Terse, "terse", "a line per comparison, and doubts"),
        (Format::Json, "json", "for programs: all there is to know"),
        #[cfg(feature = "reports")]
        (Format::Markdown, "markdown", "the answer, for a document"),
        #[cfg(feature = "reports")]
        (
            Format::Paired,
            "paired",
            "minima and means side by side, a line per comparison",
        ),
        #[cfg(feature = "commands")]
        (
            Format::Csv,
            "csv",
            "a row per benchmark, candidate and metric, without samples",
        ),
    ];

    /// The shape of this name; `pretty` is libtest's word for text.
    pub fn parse(text: &str) -> Result<Format, String> {
        let name = if text == "pretty" { "text" } else { text };
        let named = Format::ALL.iter().find(|(_, known, _)| *known == name);
        named.map(|(format, ..)| *format).ok_or_else(|| {
            let names: Vec<&str> = Format::ALL.iter().map(|(_, name, _)| *name).collect();
            format!("'{text}' is not one of {}", names.join(", "))
        })
    }
}

/// The settings of an answer: its format, its details, and its gate. By default it is text, and no
/// verdict fails.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Its shape.
    pub format: Format,
    /// Shows the secondary figures; JSON always holds them, in a build with the feature `reports`.
    pub figures: bool,
    /// Draws every comparison below the text.
    pub plot: bool,
    /// The colours of text.
    pub color: Color,
    /// The gate that the answer is held against.
    pub gate: Gate,
    /// Shows every metric and every note in text.
    pub verbose: bool,
    /// The unit of all times in the tables of text; `None` for the one that suits them.
    pub time_unit: Option<TimeUnit>,
    /// The way names are written into CSV.
    pub cells: TextCells,
}

/// The files that a race is recorded in, as the answer names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFiles {
    /// Each in words: "recorded in x.jsonl".
    lines: Vec<String>,
    /// True if the folder of these files holds no earlier run, so the user may be new to deadheat.
    are_the_first: bool,
}

impl RunFiles {
    /// The files of a race, and of the second one if there was one.
    pub fn new(raced: &Raced) -> RunFiles {
        let first = &raced.first.path;
        if first == Path::new(NOWHERE) {
            return RunFiles {
                lines: vec!["not recorded".to_owned()],
                are_the_first: false,
            };
        }
        let second = raced.second.as_ref().map(|second| &second.path);
        let second = second.filter(|second| *second != Path::new(NOWHERE));
        let count = 1 + usize::from(second.is_some());
        let named = |words: &str, file: &Path| {
            let line = format!("{words} {}", file.display());
            escape_line(&line, terminal::glyphs_of_stdout())
        };
        let mut lines = vec![named("recorded in", first)];
        lines.extend(second.map(|second| named("second race in", second)));
        RunFiles {
            lines,
            are_the_first: are_first_runs(first, count),
        }
    }
}

impl Answer {
    /// Returns the options of an analysis for this answer: figures that nobody sees are not worked
    /// out, since of a million samples they take as long as all else.
    pub fn analysis_options(&self) -> Options {
        Options {
            without_figures: !(self.format == Format::Json || self.figures),
            plots: (self.plot && self.is_text()).then_some(POINTS),
            ..Options::default()
        }
    }

    /// Returns whether people read it as text.
    fn is_text(&self) -> bool {
        matches!(self.format, Format::Text | Format::Terse)
    }

    /// Returns whether nothing but the document may stand on standard output.
    pub fn is_document(&self) -> bool {
        match self.format {
            Format::Text | Format::Terse => false,
            #[cfg(feature = "reports")]
            Format::Paired => false,
            _ => true,
        }
    }

    /// A run analysed for this answer, and held against its gate.
    pub fn analysis(&self, run: &Run) -> Analysis {
        self.analysis_with(run, self.analysis_options())
    }

    /// The same with other options.
    pub fn analysis_with(&self, run: &Run, options: Options) -> Analysis {
        self.gate.judge(analyse(run, options))
    }

    /// Prints the answer to standard output, as wide as the terminal there.
    /// Fails if that cannot be written to; a closed pipe is fine.
    pub fn print(&self, analysis: &Analysis) -> Result<(), Failure> {
        self.print_with(analysis, &RunFiles::default(), &[])
    }

    /// Prints the answer with the files of its run, and the lines below it.
    pub fn print_with(
        &self,
        analysis: &Analysis,
        files: &RunFiles,
        below: &[String],
    ) -> Result<(), Failure> {
        to_stdout(&self.told(analysis, files))?;
        let files = match self.format {
            Format::Text => &[],
            _ => &files.lines[..],
        };
        // Nothing may follow a document.
        let mut below = files.iter().chain(below).filter(|_| !self.is_document());
        below.try_for_each(|line| line_to_stdout(&format!("  {line}")))
    }

    /// Returns the status of an analysis that was held against the gate. A benchmark that broke
    /// down outweighs any verdict, for the answer is not whole.
    pub fn status(&self, analysis: &Analysis) -> Status {
        let mut hits = analysis
            .comparisons
            .iter()
            .filter_map(|one| one.suite.gate.as_ref());
        if !analysis.failures.is_empty() {
            Status::ContenderFailed
        } else if hits.any(|hit| hit.fails()) {
            Status::ConditionHolds
        } else if analysis.gates.judged_nothing && !analysis.gates.allows_unjudged {
            Status::JudgedNothing
        } else {
            Status::Done
        }
    }

    /// The status of an analysis, of which standard error tells why its gate judged nothing.
    pub fn settle(&self, analysis: &Analysis) -> Status {
        if let Some(told) = judged_nothing(analysis, Glyphs::new(terminal::speaks_unicode())) {
            let passes = analysis.gates.allows_unjudged;
            terminal::to_stderr(if passes { "warning" } else { "error" }, &told);
        }
        self.status(analysis)
    }

    fn told(&self, analysis: &Analysis, files: &RunFiles) -> String {
        let figures = self.figures;
        match self.format {
            Format::Text | Format::Terse => to_text(
                analysis,
                &TextOptions {
                    width: terminal::width(),
                    color: self.color.applies(),
                    unicode: terminal::speaks_unicode(),
                    detail: match (self.verbose, self.format) {
                        (true, _) => Detail::Full,
                        (false, Format::Terse) => Detail::Terse,
                        (false, _) => Detail::Brief,
                    },
                    figures,
                    plot: self.plot,
                    whole_names: terminal::width_of_stdout().is_none(),
                    recorded: &files.lines,
                    legend: files.are_the_first,
                    time_unit: self.time_unit,
                },
            ),
            Format::Json => to_json(analysis),
            #[cfg(feature = "reports")]
            Format::Paired => {
                let glyphs = Glyphs::new(terminal::speaks_unicode());
                to_paired(
                    analysis,
                    terminal::width_of_tables(),
                    self.time_unit,
                    glyphs,
                )
            }
            #[cfg(feature = "reports")]
            Format::Markdown => to_markdown_with(analysis, &MarkdownOptions { figures }),
            #[cfg(feature = "commands")]
            Format::Csv => to_comparison_csv(analysis, Sort::File, false, self.cells),
        }
    }
}

/// Prints a line that names things from outside, such as paths, commits and words of a plan. It
/// stays one line, and neither a terminal nor a runner of workflows obeys it.
///
/// # Errors
///
/// Those of [`to_stdout`].
pub fn line_to_stdout(line: &str) -> Result<(), Failure> {
    let line = escape_line(line, terminal::glyphs_of_stdout());
    to_stdout(&format!("{line}\n"))
}

/// Prints a document, or an answer whose names are escaped, to standard output. Whatever a terminal or
/// a runner of workflows would still obey is escaped, except colours. A closed pipe is fine.
///
/// # Errors
///
/// If standard output cannot be written to.
pub fn to_stdout(text: &str) -> Result<(), Failure> {
    if stdout_was_closed() {
        return Err(Failure::writing("standard output", "it is closed"));
    }
    let mut out = std::io::stdout().lock();
    match out
        .write_all(harmless(text).as_bytes())
        .and_then(|()| out.flush())
    {
        // A reader like `head` has seen enough; that is no failure.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| Failure::writing("standard output", error)),
    }
}

#[cfg(test)]
mod tests {
    use deadheat_format::read_run;
    use deadheat_model::{FailOn, FailedBenchmark, Glob, Ignore, Verdict};

    use super::*;

    fn answer(format: Format) -> Answer {
        Answer {
            format,
            ..Answer::default()
        }
    }

    /// The analysis of a run of commands, for this answer.
    fn analysis(answer: &Answer) -> Analysis {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let path = folder.join("../deadheat-format/tests/golden/run.jsonl");
        answer.analysis(&read_run(path).unwrap())
    }

    /// One that fails on these.
    fn failing_on(fail_on: &[FailOn]) -> Answer {
        Answer {
            gate: Gate {
                fail_on: fail_on.to_vec(),
                ..Gate::default()
            },
            ..Answer::default()
        }
    }

    /// An analysis for this answer whose verdicts are all this one.
    fn unanimous(answer: &Answer, verdict: Option<Verdict>) -> Analysis {
        let mut analysis = analysis(answer);
        let judged = |c: &&mut deadheat_model::Comparison| c.candidate.is_some();
        let mut count = 0;
        for comparison in analysis.comparisons.iter_mut().filter(judged) {
            comparison.verdict = verdict;
            comparison.evidence.p_looks = Some(1e-9);
            count += 1;
        }
        assert!(count > 0);
        answer.gate.judge(analysis)
    }

    #[test]
    fn every_format_has_its_shape() {
        let told = |answer: Answer| answer.told(&analysis(&answer), &RunFiles::default());
        assert!(told(answer(Format::Json)).starts_with('{'));
        #[cfg(feature = "reports")]
        assert!(told(answer(Format::Markdown)).starts_with("| "));
        let text = told(Answer {
            color: Color::Never,
            ..Answer::default()
        });
        assert!(text.contains("sort") && !text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn figures_are_worked_out_only_for_an_answer_that_shows_them() {
        let without = |answer: &Answer| answer.analysis_options().without_figures;
        assert!(without(&answer(Format::Text)));
        #[cfg(feature = "reports")]
        assert!(without(&answer(Format::Markdown)));
        assert!(!without(&answer(Format::Json)));
        assert!(!without(&Answer {
            figures: true,
            ..Answer::default()
        }));
    }

    #[cfg(feature = "reports")]
    #[test]
    fn what_there_is_to_draw_is_worked_out_only_for_text_that_shows_it() {
        let plots = |format, plot| {
            let answer = Answer {
                format,
                plot,
                ..Answer::default()
            };
            answer.analysis_options().plots
        };
        assert!(plots(Format::Text, true).is_some());
        assert_eq!(plots(Format::Text, false), None);
        assert_eq!(plots(Format::Json, true), None);
        let drawn = Answer {
            plot: true,
            color: Color::Never,
            ..Answer::default()
        };
        let text = drawn.told(&analysis(&drawn), &RunFiles::default());
        assert!(
            text.contains("Change of every block in order of time"),
            "{text}"
        );
    }

    #[test]
    fn a_verdict_fails_only_where_somebody_asked_for_it() {
        let status = |answer: &Answer, verdict| answer.status(&unanimous(answer, Some(verdict)));
        let strict = failing_on(&[FailOn::Slower]);
        assert_eq!(status(&strict, Verdict::Slower), Status::ConditionHolds);
        assert_eq!(status(&Answer::default(), Verdict::Slower), Status::Done);
        assert_eq!(status(&strict, Verdict::Faster), Status::Done);
    }

    #[test]
    fn an_excused_verdict_does_not_fail() {
        let mut strict = failing_on(&[FailOn::Slower]);
        strict.gate.ignores.push(Ignore {
            name: Glob::new("*"),
            reason: "known".to_owned(),
            until: None,
            rule: None,
            line: 1,
        });
        let slower = unanimous(&strict, Some(Verdict::Slower));
        assert_eq!(strict.status(&slower), Status::Done);
        assert!(
            slower
                .comparisons
                .iter()
                .any(|one| one.suite.gate.is_some())
        );
    }

    #[test]
    fn a_benchmark_that_broke_down_outweighs_a_verdict() {
        for answer in [failing_on(&[FailOn::Slower]), Answer::default()] {
            let mut analysis = unanimous(&answer, Some(Verdict::Slower));
            analysis.failures.push(FailedBenchmark {
                benchmark: "sort".to_owned(),
                parameters: Vec::new(),
                message: "it panicked".to_owned(),
            });
            assert_eq!(answer.status(&analysis), Status::ContenderFailed);
        }
    }
}
