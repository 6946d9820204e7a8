//! Prints the results of an analysis in the chosen format, and derives the exit status of the
//! program.

use std::io::Write;
use std::path::Path;

use deadheat_analysis::{Options, analyse};
use deadheat_format::{NOWHERE, are_first_runs};
use deadheat_model::{Analysis, EndReason, Ending, Run, TextCells};
use deadheat_report::{
    Detail, Glyphs, TextOptions, TimeUnit, escape_line, harmless, judged_nothing, to_json, to_text,
};
#[cfg(feature = "reports")]
use deadheat_report::{MarkdownOptions, to_markdown_with, to_paired};

#[cfg(feature = "commands")]
use deadheat_report::{Sort, to_comparison_csv};

use crate::exit::{Failure, Status};
use crate::rules::Gate;
use crate::settings::Color;
use crate::system::stdout_was_closed;
use crate::terminal;

/// Maximum number of points per series in plots made of characters: several points for each column
/// of the widest terminal.
const POINTS: usize = 2_000;

/// The format of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Text for people at a terminal.
    #[default]
    Text,
    /// Text with one line per comparison.
    Terse,
    /// One JSON document with everything, for programs.
    Json,
    /// Markdown for a pull request.
    #[cfg(feature = "reports")]
    Markdown,
    /// Minima and means side by side, a line per comparison.
    #[cfg(feature = "reports")]
    Paired,
    /// CSV for a spreadsheet.
    #[cfg(feature = "commands")]
    Csv,
}

impl Format {
    /// All formats, each with its name on the command line and a short help text.
    pub const ALL: &[(Format, &str, &str)] = &[
        (Format::Text, "text", "for people at a terminal"),
        (
            Format::Terse,
            "terse",
            "a line per comparison, and warnings",
        ),
        (Format::Json, "json", "for programs: all results"),
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

    /// Parses the name of a format. The name `pretty`, which libtest uses, means `text`.
    pub fn parse(text: &str) -> Result<Format, String> {
        let name = if text == "pretty" { "text" } else { text };
        let named = Format::ALL.iter().find(|(_, known, _)| *known == name);
        named.map(|(format, ..)| *format).ok_or_else(|| {
            let names: Vec<&str> = Format::ALL.iter().map(|(_, name, _)| *name).collect();
            format!("'{text}' is not one of {}", names.join(", "))
        })
    }
}

/// The settings of a printed answer: its format, its details, and its gate. By default, the format
/// is text and the gate has no rules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The output format.
    pub format: Format,
    /// True to show the secondary figures. In a build with the feature `reports`, JSON always has
    /// them.
    pub figures: bool,
    /// True to print a plot of every comparison below the text.
    pub plot: bool,
    /// The choice of when text is coloured.
    pub color: Color,
    /// The gate that the analysis is checked against.
    pub gate: Gate,
    /// True to show every metric and every note in text.
    pub verbose: bool,
    /// The unit of all times in the tables of text; `None` to choose a suitable one.
    pub time_unit: Option<TimeUnit>,
    /// The rules for escaping names in CSV cells.
    pub cells: TextCells,
}

/// The run files of a race, as the answer names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFiles {
    /// One line for each file, such as "recorded in x.jsonl".
    lines: Vec<String>,
    /// True if the folder of these files contains no earlier run, so that the user may be new to
    /// deadheat.
    are_the_first: bool,
}

impl RunFiles {
    /// Returns the run files of a race: the file of the race itself, and that of its second race if
    /// there was one.
    pub fn new(first: &Path, second: Option<&Path>) -> RunFiles {
        if first == Path::new(NOWHERE) {
            return RunFiles {
                lines: vec!["not recorded".to_owned()],
                are_the_first: false,
            };
        }
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
    /// Returns the options for an analysis that computes only what this answer shows. For a million
    /// samples, the secondary figures take as long as everything else.
    pub fn analysis_options(&self) -> Options {
        Options {
            without_figures: !(self.format == Format::Json || self.figures),
            plots: (self.plot && self.is_text()).then_some(POINTS),
            ..Options::default()
        }
    }

    fn is_text(&self) -> bool {
        matches!(self.format, Format::Text | Format::Terse)
    }

    /// Returns true if the output is a document, such as JSON, so that standard output must not
    /// contain other lines.
    pub fn is_document(&self) -> bool {
        match self.format {
            Format::Text | Format::Terse => false,
            #[cfg(feature = "reports")]
            Format::Paired => false,
            _ => true,
        }
    }

    /// Analyses a run with the options for this answer, and checks the analysis against the gate.
    pub fn analysis(&self, run: &Run) -> Analysis {
        self.analysis_with(run, self.analysis_options())
    }

    /// Analyses a run with these options, and checks the analysis against the gate.
    pub fn analysis_with(&self, run: &Run, options: Options) -> Analysis {
        self.gate.judge(analyse(run, options))
    }

    /// Prints the answer to standard output, wrapped to the width of the terminal. Returns an error
    /// if standard output cannot be written to; a closed pipe is not an error.
    pub fn print(&self, analysis: &Analysis) -> Result<(), Failure> {
        self.print_with(analysis, &RunFiles::default(), &[])
    }

    /// Prints the answer, the paths of the run files, and the lines `below`. If the answer is a
    /// document, such as JSON, prints only the document.
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

    /// Returns the exit status for an analysis that the gate has judged. A failed benchmark takes
    /// precedence over a broken rule, because the answer is then incomplete.
    pub fn status(&self, analysis: &Analysis) -> Status {
        let mut hits = analysis
            .comparisons
            .iter()
            .filter_map(|one| one.suite.gate.as_ref());
        // A race that failed early must not pass a gate, but its samples can still be analysed.
        let has_failed = matches!(analysis.ending, Ending::Recorded(EndReason::Failed(_)));
        let is_gated = !analysis.gates.asked.is_empty();
        if (has_failed && is_gated) || !analysis.failures.is_empty() {
            Status::ContenderFailed
        } else if hits.any(|hit| hit.fails()) {
            Status::ConditionHolds
        } else if analysis.gates.judged_nothing && !analysis.gates.allows_unjudged {
            Status::JudgedNothing
        } else {
            Status::Done
        }
    }

    /// Returns the exit status for an analysis. If the gate could judge no benchmark, also writes
    /// the reason to standard error.
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

/// Prints a line that contains names from outside, such as paths, commits and words of a plan. The
/// names are escaped, so that the output stays one line and contains no command to a terminal or CI
/// system.
///
/// # Errors
///
/// Returns an error if standard output cannot be written to, like [`to_stdout`].
pub fn line_to_stdout(line: &str) -> Result<(), Failure> {
    let line = escape_line(line, terminal::glyphs_of_stdout());
    to_stdout(&format!("{line}\n"))
}

/// Prints a document, or an answer with escaped names, to standard output. Escapes any remaining
/// command to a terminal or CI system, except colours. Ignores a closed pipe.
///
/// # Errors
///
/// Returns an error if standard output cannot be written to.
pub fn to_stdout(text: &str) -> Result<(), Failure> {
    if stdout_was_closed() {
        return Err(Failure::writing("standard output", "it is closed"));
    }
    let mut out = std::io::stdout().lock();
    match out
        .write_all(harmless(text).as_bytes())
        .and_then(|()| out.flush())
    {
        // A reader such as `head` closes the pipe when it needs no more lines, which is not an
        // error.
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

    fn analysis(answer: &Answer) -> Analysis {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let path = folder.join("../deadheat-format/tests/golden/run.jsonl");
        answer.analysis(&read_run(path).unwrap())
    }

    fn failing_on(fail_on: &[FailOn]) -> Answer {
        Answer {
            gate: Gate {
                fail_on: fail_on.to_vec(),
                ..Gate::default()
            },
            ..Answer::default()
        }
    }

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
