//! What becomes of an analysis: printed on standard output, and a status.

use std::io::Write;

use deadheat_analysis::Options;
use deadheat_model::Analysis;
use deadheat_report::{
    Glyphs, MarkdownOptions, TextOptions, to_json, to_markdown_with, to_paired, to_text,
};

use crate::exit::{Failure, Status};
use crate::settings::{Color, FailOn};
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
    /// For programs: all there is to know, as one JSON document.
    Json,
    /// For a pull request.
    Markdown,
    /// Minima and means side by side, a line per comparison.
    Paired,
}

/// How an answer is printed and what it does to the exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its shape.
    pub format: Format,
    /// Whether the secondary figures are shown; JSON always holds them.
    pub figures: bool,
    /// Whether text shows pictures of every comparison.
    pub plot: bool,
    /// When text is coloured.
    pub color: Color,
    /// Verdicts that make the run fail.
    pub fail_on: Vec<FailOn>,
    /// Whether the table of all metrics follows a verdict in text.
    pub metrics_table: bool,
}

impl Default for Answer {
    /// Text with every metric, and no verdict that fails.
    fn default() -> Self {
        Self {
            format: Format::Text,
            figures: false,
            plot: false,
            color: Color::Auto,
            fail_on: Vec::new(),
            metrics_table: true,
        }
    }
}

impl Answer {
    /// How to analyse for this answer: figures that nobody sees are not worked
    /// out, since of a million samples they take as long as all else.
    pub fn analysis_options(&self) -> Options {
        Options {
            without_figures: !(self.format == Format::Json || self.figures),
            plots: (self.plot && self.format == Format::Text).then_some(POINTS),
            ..Options::default()
        }
    }

    /// Prints the answer to standard output, as wide as the terminal there.
    /// Fails when that cannot be written to; that nobody reads on is fine.
    pub fn print(&self, analysis: &Analysis) -> Result<(), Failure> {
        to_stdout(&self.told(analysis))
    }

    /// Prints a line below the answer where people read it: JSON and Markdown
    /// are documents that nothing may follow.
    pub fn print_note(&self, line: &str) -> Result<(), Failure> {
        match self.format {
            Format::Text | Format::Paired => to_stdout(&format!("{line}\n")),
            Format::Json | Format::Markdown => Ok(()),
        }
    }

    /// What the answer means for the exit code. A benchmark that broke down
    /// outweighs any verdict, for the answer is not whole; a contender measured
    /// alone has nothing to fail on.
    pub fn status(&self, analysis: &Analysis) -> Status {
        let mut judged = analysis
            .comparisons
            .iter()
            .filter(|comparison| comparison.candidate.is_some());
        let fails = |verdict| self.fail_on.iter().any(|rule| rule.holds(verdict));
        if !analysis.failures.is_empty() {
            Status::ContenderFailed
        } else if judged.any(|comparison| fails(comparison.verdict)) {
            Status::ConditionHolds
        } else {
            Status::Done
        }
    }

    fn told(&self, analysis: &Analysis) -> String {
        let figures = self.figures;
        match self.format {
            Format::Text => to_text(
                analysis,
                &TextOptions {
                    width: terminal::width(),
                    color: self.color.applies(),
                    unicode: terminal::speaks_unicode(),
                    metrics_table: self.metrics_table,
                    figures,
                    plot: self.plot,
                },
            ),
            Format::Json => to_json(analysis),
            Format::Paired => {
                let glyphs = Glyphs::new(terminal::speaks_unicode());
                to_paired(analysis, terminal::width_of_tables(), glyphs)
            }
            Format::Markdown => to_markdown_with(analysis, &MarkdownOptions { figures }),
        }
    }
}

/// Prints to standard output. Fails when that cannot be written to; that nobody
/// reads on is fine.
pub fn to_stdout(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // A reader like `head` has seen enough; that is no failure.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| Failure::writing("standard output", error)),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use deadheat_analysis::analyse;
    use deadheat_format::read_run;
    use deadheat_model::{FailedBenchmark, Verdict};

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
        analyse(&read_run(path).unwrap(), answer.analysis_options())
    }

    /// One whose verdicts are all this one.
    fn unanimous(verdict: Option<Verdict>) -> Analysis {
        let mut analysis = analysis(&Answer::default());
        let judged = |c: &&mut deadheat_model::Comparison| c.candidate.is_some();
        let mut count = 0;
        for comparison in analysis.comparisons.iter_mut().filter(judged) {
            comparison.verdict = verdict;
            count += 1;
        }
        assert!(count > 0);
        analysis
    }

    #[test]
    fn every_format_has_its_shape() {
        let told = |answer: Answer| answer.told(&analysis(&answer));
        assert!(told(answer(Format::Json)).starts_with('{'));
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
        assert!(without(&answer(Format::Markdown)));
        assert!(!without(&answer(Format::Json)));
        assert!(!without(&Answer {
            figures: true,
            ..Answer::default()
        }));
    }

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
        let text = drawn.told(&analysis(&drawn));
        assert!(
            text.contains("Change of every block in order of time"),
            "{text}"
        );
    }

    #[test]
    fn a_verdict_fails_only_where_somebody_asked_for_it() {
        let strict = Answer {
            fail_on: vec![FailOn::Slower],
            ..Answer::default()
        };
        let slower = unanimous(Some(Verdict::Slower));
        assert_eq!(strict.status(&slower), Status::ConditionHolds);
        assert_eq!(Answer::default().status(&slower), Status::Done);
        let faster = unanimous(Some(Verdict::Faster));
        assert_eq!(strict.status(&faster), Status::Done);
    }

    #[test]
    fn a_contender_measured_alone_has_nothing_to_fail_on() {
        let mut alone = unanimous(None);
        for comparison in &mut alone.comparisons {
            comparison.candidate = None;
        }
        let strict = Answer {
            fail_on: FailOn::ALL.to_vec(),
            ..Answer::default()
        };
        assert_eq!(strict.status(&alone), Status::Done);
    }

    #[test]
    fn a_benchmark_that_broke_down_outweighs_a_verdict() {
        let mut analysis = unanimous(Some(Verdict::Slower));
        analysis.failures.push(FailedBenchmark {
            benchmark: "sort".to_owned(),
            parameters: Vec::new(),
            message: "it panicked".to_owned(),
        });
        let strict = Answer {
            fail_on: vec![FailOn::Slower],
            ..Answer::default()
        };
        assert_eq!(strict.status(&analysis), Status::ContenderFailed);
        assert_eq!(Answer::default().status(&analysis), Status::ContenderFailed);
    }
}
