//! Options that several subcommands share, and what they mean.

use std::ffi::OsString;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use deadheat::answer::{Answer, Format};
use deadheat::model::TextCells;
use deadheat::rules::Gate;
use deadheat::settings::{Color, FailOn};

use crate::rules::RulesArgs;

/// How the answer is printed and what it does to the exit code.
#[derive(Clone, Debug, Args)]
pub struct AnswerArgs {
    /// Every metric and every note, and not only what the verdict rests on
    #[arg(short = 'v', long, help_heading = "Answer")]
    verbose: bool,
    /// The shape of the answer [default: text]
    #[arg(
        long,
        value_name = "SHAPE",
        value_parser = format(),
        help_heading = "Answer",
        conflicts_with = "json"
    )]
    format: Option<Format>,
    /// The same as --format json
    #[arg(long, help_heading = "Answer")]
    json: bool,
    /// Show the secondary figures too: they inform, they never decide
    #[arg(long, help_heading = "Answer")]
    figures: bool,
    /// Write names into CSV as they are, also those that a spreadsheet would run as formulas
    #[arg(long, help_heading = "Answer")]
    csv_exact: bool,
    /// Draw the two distributions and the differences in order of time
    #[arg(long, help_heading = "Answer")]
    plot: bool,
    /// When to colour the answer
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        value_parser = color(),
        help_heading = "Answer"
    )]
    pub color: Color,
    /// Exit with 1 if a verdict is one of these (comma-separated)
    #[arg(
        long,
        value_name = "VERDICT",
        value_delimiter = ',',
        value_parser = fail_on(),
        help_heading = "Answer"
    )]
    pub fail_on: Vec<FailOn>,
    /// The rules file.
    #[command(flatten)]
    pub rules: RulesArgs,
    /// What answers are held against, once the rules are read.
    #[arg(skip)]
    pub gate: Gate,
}

impl AnswerArgs {
    /// The answer these options ask for.
    pub fn answer(&self) -> Answer {
        Answer {
            format: match (self.json, self.format) {
                (true, _) => Format::Json,
                (false, given) => given.unwrap_or_default(),
            },
            verbose: self.verbose,
            figures: self.figures,
            plot: self.plot,
            color: self.color,
            gate: self.gate.clone(),
            cells: match self.csv_exact {
                true => TextCells::Exact,
                false => TextCells::Guarded,
            },
        }
    }
}

/// The choices of `--format`.
fn format() -> impl TypedValueParser<Value = Format> {
    let told = Format::ALL.iter().map(|format| {
        let value = PossibleValue::new(format.name()).help(format.meaning());
        // libtest's word, which scripts for cargo bench know.
        match format {
            Format::Text => value.alias("pretty"),
            _ => value,
        }
    });
    PossibleValuesParser::new(told).try_map(|name| Format::parse(&name))
}

/// The choices of `--color`.
pub fn color() -> impl TypedValueParser<Value = Color> {
    let told = Color::ALL.map(|when| PossibleValue::new(when.name()).help(when.meaning()));
    PossibleValuesParser::new(told).try_map(|name| Color::parse(&name))
}

fn fail_on() -> impl TypedValueParser<Value = FailOn> {
    let told = FailOn::ALL.map(|rule| PossibleValue::new(rule.name()).help(rule.meaning()));
    PossibleValuesParser::new(told).try_map(|name| FailOn::parse(&name))
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
}
