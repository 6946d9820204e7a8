//! Options that several subcommands share, and what they mean.

use std::ffi::OsString;
use std::io::Write;

use clap::{Args, ValueEnum};
use deadheat::analysis::Options;
use deadheat::model::{Analysis, Verdict};
use deadheat::report::{TextOptions, to_json, to_text};

use crate::exit::{Failure, Status, writing};
use crate::terminal;

/// How the answer is printed and what it does to the exit code.
#[derive(Clone, Debug, Args)]
pub struct AnswerArgs {
    /// Print the analysis as JSON instead of text
    #[arg(long, help_heading = "Answer")]
    pub json: bool,
    /// Show the secondary figures too: they inform, they never decide
    #[arg(long, help_heading = "Answer")]
    pub figures: bool,
    /// When to colour the answer
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Answer"
    )]
    pub color: Color,
    /// Exit with 1 if a verdict is one of these (comma-separated)
    #[arg(
        long,
        value_name = "VERDICT",
        value_delimiter = ',',
        help_heading = "Answer"
    )]
    pub fail_on: Vec<FailOn>,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What makes a run fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A candidate is slower.
    Slower,
    /// A race is too close to call, or the data allow no verdict.
    Inconclusive,
    /// A candidate is not shown to be equivalent.
    NotEquivalent,
}

impl FailOn {
    fn holds(self, verdict: Option<Verdict>) -> bool {
        match self {
            FailOn::Slower => verdict == Some(Verdict::Slower),
            FailOn::Inconclusive => matches!(verdict, None | Some(Verdict::Inconclusive)),
            FailOn::NotEquivalent => verdict != Some(Verdict::Equivalent),
        }
    }
}

impl AnswerArgs {
    /// How to analyse for this answer: figures that nobody sees are not worked
    /// out, since of a million samples they take as long as all else.
    pub fn analysis_options(&self) -> Options {
        Options {
            without_figures: !(self.json || self.figures),
            ..Options::default()
        }
    }

    /// Prints the answer to standard output.
    pub fn print(&self, analysis: &Analysis) -> Result<(), Failure> {
        let text = if self.json {
            to_json(analysis)
        } else {
            to_text(
                analysis,
                &TextOptions {
                    width: terminal::width(),
                    color: match self.color {
                        Color::Auto => terminal::wants_color(),
                        Color::Always => true,
                        Color::Never => false,
                    },
                    unicode: terminal::speaks_unicode(),
                    metrics_table: true,
                    figures: self.figures,
                },
            )
        };
        to_stdout(&text)
    }

    /// Prints a line below the answer, unless that is JSON.
    pub fn print_note(&self, line: &str) -> Result<(), Failure> {
        if self.json {
            Ok(())
        } else {
            to_stdout(&format!("{line}\n"))
        }
    }

    /// Whether a `--fail-on` condition holds. A command measured alone has
    /// nothing to fail on.
    pub fn status(&self, analysis: &Analysis) -> Status {
        let fails = analysis
            .comparisons
            .iter()
            .filter(|comparison| comparison.candidate.is_some())
            .any(|comparison| {
                self.fail_on
                    .iter()
                    .any(|rule| rule.holds(comparison.verdict))
            });
        if fails {
            Status::ConditionHolds
        } else {
            Status::Done
        }
    }
}

fn to_stdout(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // A reader like `head` has seen enough; that is no failure.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| writing("standard output", error)),
    }
}

/// Lets `-i3,4` stand for `-i=3,4`, as the short form of a list of exit codes.
pub fn normalise(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut commands_begin = false;
    args.map(|arg| {
        commands_begin |= arg == "--";
        match arg.to_str().and_then(|text| text.strip_prefix("-i")) {
            Some(codes)
                if !commands_begin
                    && codes.starts_with(|c: char| c.is_ascii_digit())
                    && codes.chars().all(|c| c.is_ascii_digit() || c == ',') =>
            {
                format!("-i={codes}").into()
            }
            _ => arg,
        }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_may_follow_the_short_flag_directly() {
        let args = ["-i3,4", "-i", "--", "-i5"].map(OsString::from);
        let normal = normalise(args.into_iter());
        assert_eq!(normal, ["-i=3,4", "-i", "--", "-i5"].map(OsString::from));
    }

    #[test]
    fn a_missing_verdict_fails_everything_that_asks_for_certainty() {
        assert!(FailOn::Inconclusive.holds(None));
        assert!(FailOn::NotEquivalent.holds(None));
        assert!(!FailOn::Slower.holds(None));
        assert!(FailOn::NotEquivalent.holds(Some(Verdict::Faster)));
        assert!(!FailOn::Inconclusive.holds(Some(Verdict::Faster)));
    }
}
