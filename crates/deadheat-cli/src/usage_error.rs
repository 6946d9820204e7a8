//! Error messages about invalid command lines: the parser's error in our words, advice, and
//! replacements for the options of other tools.

use std::convert::Infallible;
use std::ffi::OsString;
use std::path::Path;
use std::process::{ExitCode, exit};

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use deadheat::parts::answer::to_stdout;
use deadheat::parts::exit::Failure;
use deadheat::parts::format::{Found, found_at};
use deadheat::parts::model::{HELP, suggestion};
use deadheat::parts::terminal::wants_color;

use crate::bare_race::exists;
use crate::help::in_one_group;
use crate::{foreign_options, synonyms};

/// Prints help or the version and exits, or reports the error in a command line that the parser of
/// `program` refuses. `words` begin with the name of the program.
pub fn report(error: &clap::Error, program: &Command, words: &[OsString]) -> ExitCode {
    let Err(failure) = refuse::<Infallible>(error, program, words);
    failure.report().into()
}

/// Prints help or the version and exits, or returns the error in the command line.
pub fn refuse<T>(error: &clap::Error, program: &Command, words: &[OsString]) -> Result<T, Failure> {
    let shows_help =
        !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if shows_help {
        show(error);
    }
    let words: Vec<String> = words
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let refused = Refused {
        error,
        program,
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

fn show(error: &clap::Error) -> ! {
    if error.use_stderr() {
        error.exit();
    }
    // clap itself exits with 0 even if the text could not be printed.
    let text = error.render();
    let printed = match wants_color() {
        true => to_stdout(&text.ansi().to_string()),
        false => to_stdout(&text.to_string()),
    };
    exit(printed.map_or_else(|failure| failure.report().into(), |()| 0))
}

pub fn no_command(word: &str, program: &Command) -> Failure {
    let command = Asked::of(program, &[]);
    let mut message = command.lacks(word);
    for advice in command.in_place_of_an_unknown_command(word) {
        message += HELP;
        message += &advice;
    }
    Failure::Usage(message)
}

/// The command or subcommand that a command line names.
pub struct Asked<'a> {
    pub command: &'a Command,
    /// The full name, such as `deadheat history check`.
    pub name: String,
}

impl<'a> Asked<'a> {
    pub fn of(program: &'a Command, words: &[String]) -> Self {
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

    fn lacks(&self, word: &str) -> String {
        format!("{}: there is no command '{word}'", self.name)
    }

    /// Returns what to type instead of `word`, which is not a known command.
    fn in_place_of_an_unknown_command(&self, word: &str) -> Vec<String> {
        let shown = self.command.get_subcommands();
        let shown = shown.filter(|one| !one.is_hide_set());
        let is_ours = self.command.get_name() == "deadheat";
        let instead = synonyms::command(&self.name, word);
        let mut advice = vec![match instead {
            Some(instead) => format!("in place of '{word}': {instead}"),
            None => match suggestion(word, shown.map(Command::get_name)) {
                Some(meant) => format!("did you mean '{meant}'?"),
                None => format!("{} --help lists the commands", self.name),
            },
        }];
        if is_ours && exists(word) {
            advice.push(format!(
                "deadheat run -- {word} starts the program '{word}'"
            ));
        }
        advice
    }

    /// Returns the first example in the help that calls this command.
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
    program: &'a Command,
    words: &'a [String],
    command: Asked<'a>,
}

impl Refused<'_> {
    /// Returns the texts that clap's error has for this kind of context; empty if it has none.
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
            ErrorKind::UnknownArgument => self.unknown_argument(&arg),
            ErrorKind::InvalidSubcommand => self
                .command
                .lacks(&self.text(ContextKind::InvalidSubcommand)),
            ErrorKind::NoEquals => format!("'{arg}' takes its value after a '='"),
            ErrorKind::TooManyValues => format!("unexpected value '{value}' for '{arg}'"),
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
                let missing = self.texts(ContextKind::InvalidArg);
                let verb = if missing.len() == 1 { "is" } else { "are" };
                let missing = missing.join(" and ");
                format!("{}: {missing} {verb} missing", self.command.name)
            }
            ErrorKind::MissingSubcommand => format!("{}: a command is missing", self.command.name),
            _ => self.own_words(),
        }
    }

    /// Returns the error about a word that is neither an option of the command nor a value.
    fn unknown_argument(&self, arg: &str) -> String {
        let typed = self.as_typed(arg);
        match self.option_with_negative_value() {
            Some(option) => format!("invalid value '{typed}' for '{option}': it is negative"),
            None => format!("{}: unexpected argument '{typed}'", self.command.name),
        }
    }

    /// Returns the option before an unknown argument that is a negative number, such as `-1`, which
    /// clap reads as an option.
    fn option_with_negative_value(&self) -> Option<&str> {
        let typed = self.as_typed(&self.text(ContextKind::InvalidArg));
        let number = typed.strip_prefix('-')?;
        if !number.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return None;
        }
        let mut words = self.options().skip(1).zip(self.options());
        let (_, before) = words.find(|(word, _)| *word == typed)?;
        before.starts_with("--").then_some(before)
    }

    /// Returns the advice to quote commands if the invalid value of an option of `deadheat run` is a
    /// file, as in `deadheat run sort -n data.txt`.
    fn of_a_command(&self) -> Option<String> {
        let value = self.text(ContextKind::InvalidValue);
        let words: Vec<&str> = self.options().skip_while(|word| *word != "run").collect();
        let (_, words) = words.split_first()?;
        let is_unquoted = words.first().is_some_and(|word| exists(word));
        (is_unquoted && Path::new(&value).is_file()).then(|| quote_commands(words))
    }

    /// Returns the help of the option whose value is invalid. `invalid` is the option with or
    /// without the name of its value.
    fn meaning(&self, invalid: &str) -> Option<String> {
        let name = invalid.split([' ', '[', '=']).next()?.strip_prefix("--")?;
        let mut options = self.command.command.get_arguments();
        let option = options.find(|option| option.get_long() == Some(name))?;
        let help = option.get_help()?.to_string();
        let help = help
            .lines()
            .next()
            .unwrap_or_default()
            .trim_end_matches(':');
        Some(format!("{invalid}: {help}"))
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

    /// Returns the first line of the parser's own message.
    fn own_words(&self) -> String {
        let text = self.error.render().to_string();
        let line = text.lines().next().unwrap_or_default();
        line.trim_start_matches("error: ").to_owned()
    }

    /// Returns the user's words before `--`.
    fn options(&self) -> impl Iterator<Item = &str> {
        let words = self.words.iter().skip(1).map(String::as_str);
        words.take_while(|word| *word != "--")
    }

    /// Returns the word that the user typed. Of a word such as `-abc`, the parser reports only one
    /// letter.
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
                let word = self.text(ContextKind::InvalidSubcommand);
                let line = self.command_for(&word);
                line.map_or_else(
                    || self.command.in_place_of_an_unknown_command(&word),
                    |line| vec![line],
                )
            }
            ErrorKind::NoEquals => {
                let arg = self.text(ContextKind::InvalidArg);
                vec![format!(
                    "write {}",
                    arg.replace("[=", "=").trim_end_matches(']')
                )]
            }
            ErrorKind::MissingRequiredArgument | ErrorKind::MissingSubcommand => {
                let missing = self.texts(ContextKind::InvalidArg);
                let meanings: Vec<String> =
                    missing.iter().filter_map(|one| self.meaning(one)).collect();
                if !meanings.is_empty() {
                    return meanings;
                }
                let example = self.command.example();
                let example = example.map(|line| format!("for example: {line}"));
                self.taken_for_a_value()
                    .into_iter()
                    .chain(example)
                    .collect()
            }
            ErrorKind::ValueValidation => {
                let why = std::error::Error::source(self.error).map(ToString::to_string);
                if why.is_some_and(|why| why.contains(HELP)) {
                    return Vec::new();
                }
                let invalid = self.text(ContextKind::InvalidArg);
                let advice = self.of_a_command().or_else(|| self.meaning(&invalid));
                advice.into_iter().collect()
            }
            ErrorKind::ArgumentConflict => vec![self.instead_of_both()],
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

    /// Returns the advice about two options that exclude each other.
    fn instead_of_both(&self) -> String {
        const OF_CARGO: &str = "[CARGO BENCH ARGS]";
        let others = self.texts(ContextKind::PriorArg);
        let arg = self.text(ContextKind::InvalidArg);
        if others
            .iter()
            .chain([&arg])
            .any(|one| one.starts_with(OF_CARGO))
        {
            return "leave out the words after --: they are options of cargo bench, which does not run \
                    with --build or --exe"
                .to_owned();
        }
        "leave one of them out".to_owned()
    }

    /// Returns advice if the last word became the value of an option, although it looks like the
    /// missing argument: `rev --go HEAD~1`.
    fn taken_for_a_value(&self) -> Option<String> {
        let words: Vec<&str> = self.options().collect();
        let [.., option, value] = words.as_slice() else {
            return None;
        };
        let name = option.strip_prefix("--")?;
        let mut options = self.command.command.get_arguments();
        let takes_it =
            options.any(|one| one.get_long() == Some(name) && one.get_action().takes_values());
        (takes_it && !value.starts_with('-'))
            .then(|| format!("{option} took '{value}' as its value"))
    }

    /// Returns the command to use for a word that is a file of results or a range of commits.
    fn command_for(&self, word: &str) -> Option<String> {
        if self.command.command.get_name() != "deadheat" {
            return None;
        }
        if word.contains("..") && !word.contains('/') {
            return Some(format!("to race two revisions: deadheat rev {word}"));
        }
        if !matches!(found_at(word), Ok(Found::Data | Found::Folder)) || word == "-" {
            return None;
        }
        let words = self.options().take_while(|word| !word.starts_with('-'));
        let files = shell_words::join(words);
        Some(match files == word {
            true => format!("to judge a saved result: deadheat analyze {files}"),
            false => format!("to compare saved results: deadheat compare {files}"),
        })
    }

    fn values(&self) -> Vec<String> {
        let value = self.text(ContextKind::InvalidValue);
        let possible = self.texts(ContextKind::ValidValue);
        let near = suggestion(&value, possible.iter().map(String::as_str));
        let near = near.map(|meant| format!("did you mean '{meant}'?"));
        let all =
            (!possible.is_empty()).then(|| format!("possible values: {}", possible.join(", ")));
        let advice = near.into_iter().chain(all);
        let meaning = self
            .meaning(&self.text(ContextKind::InvalidArg))
            .filter(|_| value.is_empty() && possible.is_empty());
        advice.chain(meaning).collect()
    }

    fn in_place_of_an_unknown_argument(&self) -> Vec<String> {
        if let Some(option) = self.option_with_negative_value() {
            return self.meaning(option).into_iter().collect();
        }
        let name = self.command.command.get_name();
        let arg = self.text(ContextKind::InvalidArg);
        let typed = self.as_typed(&arg);
        if let Some(advice) = synonyms::option(self.command.command, &typed) {
            return vec![format!("in place of {typed}: {advice}")];
        }
        if let Some(advice) = foreign_options::advice(name, &typed) {
            return vec![advice];
        }
        if let Some(option) = self.option_with_value(&typed) {
            return vec![format!("write {option}")];
        }
        if let Some(option) = self.option_with_another_end(&typed) {
            return vec![format!("did you mean '{option}'?")];
        }
        if let Some(line) = self.option_of_another_command(&typed) {
            return vec![line];
        }
        // Programs in Go accept their options with one dash or two.
        let in_go = typed.strip_prefix('-').filter(|word| word.len() > 2);
        if let Some(advice) = in_go.and_then(|word| foreign_options::advice(name, word)) {
            return vec![advice];
        }
        if arg.starts_with("--") {
            let options: Vec<String> = synonyms::shown_options(self.command.command).collect();
            let typed = arg.split('=').next().unwrap_or(&arg);
            if let Some(meant) = suggestion(typed, options.iter().map(String::as_str)) {
                return vec![format!("did you mean '{meant}'?")];
            }
        }
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
        if let (true, Some(line)) = (name == "run" && arg.starts_with('-'), self.quoted(&typed)) {
            return vec![line];
        }
        if !arg.starts_with('-') {
            return vec![self.arguments()];
        }
        Vec::new()
    }

    /// Lists the arguments that the command takes apart from options.
    fn arguments(&self) -> String {
        let shown = self.command.command.get_positionals();
        let shown = shown.filter(|one| !one.is_hide_set());
        let names: Vec<String> = shown.map(ToString::to_string).collect();
        match names.as_slice() {
            [] => format!("{} takes only options", self.command.name),
            names if self.command.command.get_name() == "report" => format!(
                "{} takes {}; deadheat compare OLD NEW compares several files",
                self.command.name,
                names.join(" ")
            ),
            names => format!("{} takes {}", self.command.name, names.join(" ")),
        }
    }

    /// Returns the option that has the name of an unknown option as a value: `--format terse` for
    /// `--terse`.
    fn option_with_value(&self, typed: &str) -> Option<String> {
        let value = typed.strip_prefix("--")?;
        let mut options = self.command.command.get_arguments();
        let option = options.find(|option| {
            let values = option.get_possible_values();
            values.iter().any(|one| one.get_name() == value)
        })?;
        Some(format!("--{} {value}", option.get_long()?))
    }

    /// Returns the option of this command that is `typed` with one letter added or removed at the
    /// end: `--runs` for `--run`.
    fn option_with_another_end(&self, typed: &str) -> Option<String> {
        let typed = typed.split('=').next()?;
        let is_longer = |long: &str, short: &str| {
            let end = long.strip_prefix(short);
            end.is_some_and(|end| end.chars().count() == 1)
        };
        synonyms::shown_options(self.command.command)
            .find(|option| is_longer(option, typed) || is_longer(typed, option))
    }

    /// Returns a line about the commands that have an option which this command lacks.
    fn option_of_another_command(&self, typed: &str) -> Option<String> {
        const MOST: usize = 3;
        let is_one = self.command.command.get_name() != self.program.get_name();
        let name = typed.split('=').next().filter(|_| is_one)?;
        let has = |one: &&Command| {
            let mut shown = one.get_arguments().filter(|arg| !arg.is_hide_set());
            shown.any(|arg| match name.strip_prefix("--") {
                Some(long) => arg.get_long() == Some(long),
                None => arg
                    .get_short()
                    .is_some_and(|short| name == format!("-{short}")),
            })
        };
        let commands = self
            .program
            .get_subcommands()
            .filter(|one| !one.is_hide_set());
        let mut names: Vec<&str> = commands.filter(has).map(Command::get_name).collect();
        let ours = self.command.command.get_name();
        names.sort_by_key(|name| !in_one_group(name, ours));
        names.truncate(MOST);
        (!names.is_empty()).then(|| {
            format!(
                "{name} is an option of deadheat {}; {} --help lists those of this command",
                names.join(", "),
                self.command.name
            )
        })
    }

    /// Returns the advice to quote commands if an unknown option follows the unquoted words of one
    /// command: a program, then words that are neither programs nor options.
    fn quoted(&self, unknown: &str) -> Option<String> {
        let words = self.options().skip_while(|word| *word != "run").skip(1);
        let words: Vec<&str> = words.collect();
        let at = words
            .iter()
            .position(|word| word.split('=').next() == Some(unknown))?;
        let (first, others) = words[..at].split_first()?;
        let is_plain = |word: &str| !word.starts_with('-') && !word.contains(char::is_whitespace);
        let is_one = is_plain(first) && others.iter().all(|word| is_plain(word) && !exists(word));
        let is_ours = |word: &&str| {
            let name = word.split('=').next().unwrap_or(word);
            let mut options = self.command.command.get_arguments();
            options.any(|one| match name.strip_prefix("--") {
                Some(long) => one.get_long() == Some(long),
                None => name.starts_with('-') && one.get_short() == name.chars().nth(1),
            })
        };
        // Which words after one of our options belong to a command is not known.
        let end = match words.iter().any(is_ours) {
            true => at + 1,
            false => words.len(),
        };
        let more = (end < words.len()).then_some("…");
        let words: Vec<&str> = words[..end].iter().copied().chain(more).collect();
        is_one.then(|| quote_commands(&words))
    }
}

/// Returns the advice to quote commands. Each word that is a program begins a new command.
pub fn quote_commands<T: AsRef<str>>(words: &[T]) -> String {
    let mut commands: Vec<String> = Vec::new();
    for word in words.iter().map(AsRef::as_ref) {
        match commands.last_mut() {
            Some(command) if !exists(word) => {
                command.push(' ');
                command.push_str(word);
            }
            _ => commands.push(word.to_owned()),
        }
    }
    if commands.len() == 1 {
        commands.push("ANOTHER COMMAND".to_owned());
    }
    format!(
        "quote each command: deadheat run '{}'",
        commands.join("' '")
    )
}
