//! What is wrong with a command line, in words of ours: the parser's error, the advice, and what to
//! use in place of an option of another tool.

use std::convert::Infallible;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use deadheat::parts::exit::Failure;
use deadheat::parts::model::HELP;

use crate::foreign_options;

/// Shows the help or the version that was asked for and exits, or says what is wrong with a command
/// line that the parser of `program` refuses. `words` begin with the name of the program.
pub fn report(error: &clap::Error, program: &Command, words: &[OsString]) -> ExitCode {
    let Err(failure) = refuse::<Infallible>(error, program, words);
    failure.report().into()
}

/// The same, for a caller that reports the failure.
pub fn refuse<T>(error: &clap::Error, program: &Command, words: &[OsString]) -> Result<T, Failure> {
    let shows_help =
        !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if shows_help {
        error.exit();
    }
    let words: Vec<String> = words
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let refused = Refused {
        error,
        words: &words,
        command: Asked::of(program, &words),
    };
    let mut message = refused.what();
    for advice in refused.advice() {
        message += HELP;
        message += &advice;
    }
    Err(Failure::Usage(message))
}

/// The command that a command line asks for.
struct Asked<'a> {
    command: &'a Command,
    /// As it is typed, such as `deadheat history check`.
    name: String,
}

impl<'a> Asked<'a> {
    fn of(program: &'a Command, words: &[String]) -> Self {
        let mut asked = Self {
            command: program,
            name: program.get_name().to_owned(),
        };
        for word in words.iter().skip(1) {
            let Some(below) = asked.command.find_subcommand(word) else {
                break;
            };
            asked.command = below;
            asked.name += &format!(" {}", below.get_name());
        }
        asked
    }

    /// The first example of its help that calls this command.
    fn example(&self) -> Option<String> {
        let examples = self
            .command
            .get_after_help()
            .or_else(|| self.command.get_after_long_help())?
            .to_string();
        let mut lines = examples.lines().map(str::trim);
        let line = lines.find(|line| line.starts_with(&self.name))?;
        let line = line.split("  # ").next().unwrap_or(line);
        Some(line.trim().to_owned())
    }
}

struct Refused<'a> {
    error: &'a clap::Error,
    words: &'a [String],
    command: Asked<'a>,
}

impl Refused<'_> {
    /// The texts of a context; none if the error lacks it.
    fn texts(&self, kind: ContextKind) -> Vec<String> {
        match self.error.get(kind) {
            Some(ContextValue::String(text)) => vec![text.clone()],
            Some(ContextValue::Strings(texts)) => texts.clone(),
            Some(ContextValue::StyledStr(text)) => vec![text.to_string()],
            Some(ContextValue::StyledStrs(texts)) => {
                texts.iter().map(ToString::to_string).collect()
            }
            Some(ContextValue::Number(number)) => vec![number.to_string()],
            _ => Vec::new(),
        }
    }

    fn text(&self, kind: ContextKind) -> String {
        self.texts(kind).into_iter().next().unwrap_or_default()
    }

    fn what(&self) -> String {
        let arg = self.text(ContextKind::InvalidArg);
        let value = self.text(ContextKind::InvalidValue);
        match self.error.kind() {
            ErrorKind::InvalidValue if value.is_empty() => format!("'{arg}' lacks its value"),
            ErrorKind::InvalidValue => format!("invalid value '{value}' for '{arg}'"),
            ErrorKind::ValueValidation => match std::error::Error::source(self.error) {
                Some(why) => format!("invalid value '{value}' for '{arg}': {why}"),
                None => self.own_words(),
            },
            ErrorKind::UnknownArgument => {
                format!(
                    "{}: unexpected argument '{}'",
                    self.command.name,
                    self.as_typed(&arg)
                )
            }
            ErrorKind::InvalidSubcommand => {
                let word = self.text(ContextKind::InvalidSubcommand);
                format!("{}: there is no command '{word}'", self.command.name)
            }
            ErrorKind::NoEquals => format!("'{arg}' takes its value after a '='"),
            ErrorKind::TooManyValues => format!("'{arg}' takes no value '{value}'"),
            ErrorKind::TooFewValues => {
                let least = self.text(ContextKind::MinValues);
                format!("'{arg}' takes at least {least} values")
            }
            ErrorKind::WrongNumberOfValues => {
                let expected = self.text(ContextKind::ExpectedNumValues);
                let actual = self.text(ContextKind::ActualNumValues);
                format!("'{arg}' takes {expected} values, not {actual}")
            }
            ErrorKind::ArgumentConflict => self.conflict(&arg),
            ErrorKind::MissingRequiredArgument => {
                let missing = self.texts(ContextKind::InvalidArg).join(" and ");
                format!("{}: {missing} is missing", self.command.name)
            }
            ErrorKind::MissingSubcommand => format!("{}: a command is missing", self.command.name),
            _ => self.own_words(),
        }
    }

    fn conflict(&self, arg: &str) -> String {
        let others = self.texts(ContextKind::PriorArg);
        if others.iter().any(|other| other == arg) {
            return format!("'{arg}' is given more than once");
        }
        let others: Vec<String> = others.iter().map(|other| format!("'{other}'")).collect();
        match others.as_slice() {
            [] => format!("'{arg}' cannot be used with the other options"),
            others => format!("'{arg}' cannot be used with {}", others.join(" and ")),
        }
    }

    /// The first line of the parser's own text.
    fn own_words(&self) -> String {
        let text = self.error.render().to_string();
        let line = text.lines().next().unwrap_or_default();
        line.trim_start_matches("error: ").to_owned()
    }

    /// The words of the user before the `--`.
    fn options(&self) -> impl Iterator<Item = &str> {
        let words = self.words.iter().skip(1).map(String::as_str);
        words.take_while(|word| *word != "--")
    }

    /// The word as the user typed it: of `-abc` the parser blames one letter.
    fn as_typed(&self, arg: &str) -> String {
        let mut letters = arg.chars();
        let (Some('-'), Some(letter), None) = (letters.next(), letters.next(), letters.next())
        else {
            return arg.to_owned();
        };
        let holds = |word: &&str| {
            word.starts_with('-') && !word.starts_with("--") && word[1..].contains(letter)
        };
        let typed = self.options().find(holds);
        typed.unwrap_or(arg).to_owned()
    }

    fn advice(&self) -> Vec<String> {
        let mut advice = match self.error.kind() {
            ErrorKind::UnknownArgument => self.in_place_of_an_unknown_argument(),
            ErrorKind::InvalidValue => self.values(),
            ErrorKind::InvalidSubcommand => {
                let near = self.texts(ContextKind::SuggestedSubcommand);
                let all = || format!("{} --help lists the commands", self.command.name);
                vec![did_you_mean(&near).unwrap_or_else(all)]
            }
            ErrorKind::NoEquals => {
                let arg = self.text(ContextKind::InvalidArg);
                vec![format!(
                    "write {}",
                    arg.replace("[=", "=").trim_end_matches(']')
                )]
            }
            ErrorKind::MissingRequiredArgument | ErrorKind::MissingSubcommand => {
                let example = self.command.example();
                example
                    .map(|line| format!("for example: {line}"))
                    .into_iter()
                    .collect()
            }
            // The reason says it all, or has advice of its own.
            ErrorKind::ValueValidation => return Vec::new(),
            ErrorKind::ArgumentConflict => vec!["leave one of them out".to_owned()],
            _ => Vec::new(),
        };
        if advice.is_empty() {
            advice.push(format!(
                "{} --help explains every option",
                self.command.name
            ));
        }
        advice
    }

    fn values(&self) -> Vec<String> {
        let near = self.texts(ContextKind::SuggestedValue);
        let possible = self.texts(ContextKind::ValidValue);
        let all =
            (!possible.is_empty()).then(|| format!("possible values: {}", possible.join(", ")));
        did_you_mean(&near).into_iter().chain(all).collect()
    }

    fn in_place_of_an_unknown_argument(&self) -> Vec<String> {
        let name = self.command.command.get_name();
        if let Some(advice) = self
            .options()
            .find_map(|word| foreign_options::advice(name, word))
        {
            return vec![advice];
        }
        let near = did_you_mean(&self.texts(ContextKind::SuggestedArg));
        if near.is_some() {
            return near.into_iter().collect();
        }
        let arg = self.text(ContextKind::InvalidArg);
        let mut words = self.options().skip_while(|word| *word != "--markdown");
        if words.next().is_some() && words.next() == Some(&*arg) {
            return vec![format!("the file follows a '=': --markdown={arg}")];
        }
        if name == "deadheat" && arg.starts_with('-') {
            let is_command = |word: &&str| self.command.command.find_subcommand(word).is_some();
            let command = self.options().find(is_command).unwrap_or("run");
            return vec![format!(
                "options follow the command: deadheat {command} {arg} …"
            )];
        }
        if let (true, Some(line)) = (name == "run" && arg.starts_with('-'), self.quoted()) {
            return vec![line];
        }
        Vec::new()
    }

    /// The advice to quote commands, if the words before the `--` look like one that is not quoted.
    fn quoted(&self) -> Option<String> {
        let mut words = self.options().skip_while(|word| *word != "run").skip(1);
        let first = words.next().filter(|word| !word.starts_with('-'))?;
        let is_one_word = !first.contains(char::is_whitespace);
        is_one_word.then(|| {
            let all: Vec<&str> = std::iter::once(first).chain(words).collect();
            quote_commands(&all)
        })
    }
}

/// The advice for commands whose words are not quoted.
pub fn quote_commands<T: AsRef<str>>(words: &[T]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    format!(
        "quote each command: deadheat run '{}' 'ANOTHER COMMAND'",
        words.join(" ")
    )
}

fn did_you_mean(near: &[String]) -> Option<String> {
    let names: Vec<String> = near.iter().map(|name| format!("'{name}'")).collect();
    (!names.is_empty()).then(|| format!("did you mean {}?", names.join(" or ")))
}
