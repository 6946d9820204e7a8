//! Options that several subcommands share, and what they mean.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use deadheat::parts::answer::{Answer, Format};
use deadheat::parts::exit::Failure;
use deadheat::parts::model::TextCells;
use deadheat::parts::rules::{CliOverrides, Gate, Rules, RulesSource};
use deadheat::parts::settings::{Color, FailOn, Front, RaceSettings, Setting, ValueKind};

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
    /// Verdicts that fail the run.
    #[command(flatten)]
    fails: SettingsArgs<{ Front::Answer as usize }>,
    /// Take margins, gates and excuses from this file [default: the nearest deadheat.toml upwards]
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    config: Option<PathBuf>,
    /// Take none from a file
    #[arg(long, help_heading = "Rules", conflicts_with = "config")]
    no_config: bool,
    /// What answers are held against, once the rules are read.
    #[arg(skip)]
    pub gate: Gate,
}

impl AnswerArgs {
    /// The rules of the file below those of the command line, which are the settings of a race and
    /// the verdicts that fail it. From then on answers are held against them.
    pub fn read_rules(
        &mut self,
        race: &RaceSettings,
        asked: CliOverrides,
    ) -> Result<Rules, Failure> {
        let source = match (&self.config, self.no_config) {
            (Some(path), _) => RulesSource::Named(path.clone()),
            (None, true) => RulesSource::Nowhere,
            (None, false) => RulesSource::Nearest,
        };
        let asked = CliOverrides {
            settings: self.fails.0.clone().or(race),
            ..asked
        };
        let rules = Rules::read(asked, &source)?;
        // The merge holds all parts against the rules; a scheduler would start a red one again.
        self.gate = match race.shard {
            Some(_) => Gate::default(),
            None => rules.gate(),
        };
        Ok(rules)
    }

    /// Returns true if the command line itself, and not a rules file, asks to fail on this.
    pub fn asks_to_fail_on(&self, condition: FailOn) -> bool {
        let asked = self.fails.0.fail_on.iter().flatten();
        asked.into_iter().any(|one| *one == condition)
    }

    /// The same with the rules that others asked for.
    pub fn with_rules_of(self, other: Self) -> Self {
        Self {
            config: other.config,
            no_config: other.no_config,
            ..self
        }
    }

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
            cells: if self.csv_exact {
                TextCells::Exact
            } else {
                TextCells::Guarded
            },
        }
    }
}

/// The choices of `--format`.
fn format() -> impl TypedValueParser<Value = Format> {
    let told = Format::ALL.iter().map(|(format, name, meaning)| {
        let value = PossibleValue::new(*name).help(*meaning);
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
    let told = Color::ALL.map(|(_, name, meaning)| PossibleValue::new(name).help(meaning));
    PossibleValuesParser::new(told).try_map(|name| Color::parse(&name))
}

/// The settings that one front takes, by its place among all: the options, their help and what they
/// set come from the table that a bench target and `deadheat.toml` use, too.
#[derive(Clone, Debug, Default)]
pub struct SettingsArgs<const FRONT: usize>(pub RaceSettings);

impl<const FRONT: usize> Args for SettingsArgs<FRONT> {
    fn augment_args(command: Command) -> Command {
        let front = Front::ALL[FRONT];
        command.args(Setting::of(front).map(|setting| option(setting, front)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const FRONT: usize> FromArgMatches for SettingsArgs<FRONT> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut read = Self::default();
        read.update_from_arg_matches(matches)?;
        Ok(read)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for setting in Setting::of(Front::ALL[FRONT]) {
            let given: Vec<&str> = match setting.kind {
                ValueKind::Flag if !setting.can_be_denied() => {
                    let is_set = matches.get_flag(setting.name);
                    is_set.then_some("true").into_iter().collect()
                }
                _ => {
                    let given = matches.get_many::<String>(setting.name);
                    given.into_iter().flatten().map(String::as_str).collect()
                }
            };
            for text in given {
                // Each was read before, by the parser of its option.
                setting
                    .set(&mut self.0, text)
                    .map_err(|problem| clap::Error::raw(ErrorKind::ValueValidation, problem))?;
            }
        }
        Ok(())
    }
}

/// A setting as an option. Its value stays a text, of which the parser has seen that it makes sense.
fn option(setting: &'static Setting, front: Front) -> Arg {
    let option = Arg::new(setting.name)
        .long(setting.name)
        .help(setting.help(front));
    let option = match front {
        Front::Recording => option,
        Front::Answer => option.help_heading("Answer"),
        _ => option.help_heading("Design"),
    };
    if let ValueKind::Flag = setting.kind {
        return match setting.can_be_denied() {
            false => option.action(ArgAction::SetTrue),
            true => option
                .value_name("BOOL")
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .value_parser(parser(setting)),
        };
    }
    let option = option.value_name(setting.value);
    match setting.kind {
        ValueKind::Count => option.value_parser(value_parser!(u32).map(|count| count.to_string())),
        ValueKind::Number => option
            .value_parser(value_parser!(u64).map(|number| number.to_string()))
            .allow_negative_numbers(true),
        ValueKind::Verdicts => option
            .value_parser(PossibleValuesParser::new(FailOn::ALL.map(|verdict| {
                PossibleValue::new(verdict.name()).help(verdict.meaning())
            })))
            .action(ArgAction::Append)
            .value_delimiter(','),
        ValueKind::Share(_) => option
            .value_parser(parser(setting))
            .allow_hyphen_values(true),
        ValueKind::Flag | ValueKind::Time | ValueKind::Text(_) => {
            option.value_parser(parser(setting))
        }
    }
}

fn parser(
    setting: &'static Setting,
) -> impl Fn(&str) -> Result<String, String> + Clone + Send + Sync + 'static {
    |text| {
        setting.set(&mut RaceSettings::default(), text)?;
        Ok(text.to_owned())
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
}
