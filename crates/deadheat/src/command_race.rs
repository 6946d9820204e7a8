//! Races of whole commands: turns a [`CommandRaceSpec`] into a frozen plan.

mod parameters;
mod planning;
mod shell_syntax;

use std::path::PathBuf;

use deadheat_model::{
    Better, ExitPolicy, Input, Metric, Output, RaceSettings, RulesOfSome, Value, Values,
};

use crate::exit::Failure;

use parameters::{placeholders, usage};
use shell_syntax::{refuse_operators, shell_syntax};

pub use parameters::{Parameter, combinations};

/// The way in which commands are started: directly or by a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Shell {
    /// Without a shell, because starting one takes longer than many commands.
    #[default]
    None,
    /// By a shell: the words that start the shell, such as `bash`. deadheat appends `-c` and the
    /// text of the command.
    Words(Vec<String>),
}

impl Shell {
    /// Parses the value of `--shell`, as in hyperfine: `none`, `default`, or the words that start a
    /// shell.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        match text {
            "none" => Ok(Shell::None),
            "default" => Ok(Shell::Words(vec!["sh".to_owned()])),
            _ => match shell_words::split(text) {
                Ok(words) if !words.is_empty() => Ok(Shell::Words(words)),
                Ok(_) => usage("--shell: the name of the shell is empty".to_owned()),
                Err(_) => usage(format!("'{text}': a quote is not closed")),
            },
        }
    }

    /// Returns the words with which the command `text` is started. Without a shell, splits the text
    /// as a shell would, and refuses shell operators. With a shell, returns its words, `-c` and the
    /// text.
    fn words(&self, flag: &'static str, text: &str) -> Result<Vec<String>, Failure> {
        let empty = || usage(format!("{flag}: the command is empty"));
        if text.trim().is_empty() {
            return empty();
        }
        match self {
            Shell::None => match shell_words::split(text) {
                Err(_) => usage(format!("'{text}': a quote is not closed")),
                Ok(words) if words.first().is_none_or(String::is_empty) => empty(),
                Ok(words) => {
                    let option = flag.starts_with("--").then(|| format!("{flag} "));
                    let named = format!("{}'{text}'", option.unwrap_or_default());
                    let refused = |why| Failure::Usage(format!("{named}: {why}"));
                    refuse_operators(text).map(|()| words).map_err(refused)
                }
            },
            Shell::Words(shell) => {
                let command = ["-c".to_owned(), text.to_owned()];
                Ok([shell.as_slice(), &command].concat())
            }
        }
    }
}

/// Parses the destination of standard output: `null`, `pipe`, `inherit`, or a path.
pub fn output(text: &str) -> Output {
    match text {
        "null" => Output::Null,
        "pipe" => Output::Pipe,
        "inherit" => Output::Inherit,
        file => Output::File(PathBuf::from(file)),
    }
}

/// Parses the arguments of `--value` and `--higher-is-better`.
pub fn values(texts: &[String], more_is_better: &[String]) -> Result<Vec<Value>, Failure> {
    let read = texts.iter().map(|text| value(text, more_is_better));
    let read = read.collect::<Result<Vec<_>, Failure>>()?;
    for name in more_is_better {
        if !read.iter().any(|one| one.metric.name() == name) {
            return usage(format!(
                "--higher-is-better '{name}': no --value has this name"
            ));
        }
    }
    Ok(read)
}

/// Parses the argument `NAME=PATTERN` of `--value`. For names in `more_is_better`, larger values
/// are better.
fn value(text: &str, more_is_better: &[String]) -> Result<Value, Failure> {
    let Some((name, pattern)) = text
        .split_once('=')
        .filter(|(_, pattern)| !pattern.is_empty())
    else {
        return usage(format!(
            "--value '{text}' is not NAME=PATTERN\nhelp: write such as 'rps=Requests/sec: \
             +([0-9.]+)' or 'p99=/latency/p99'"
        ));
    };
    let better = if more_is_better.iter().any(|one| one == name) {
        Better::More
    } else {
        Better::Less
    };
    Ok(Value {
        metric: Metric::named(name, better),
        pattern: pattern.to_owned(),
    })
}

/// The number of launches of each command, in hyperfine's terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// The exact number of launches, with a single analysis at the end.
    pub exactly: Option<u32>,
    /// The minimum number of launches, before which the race reaches no verdict.
    pub min: Option<u32>,
    /// The maximum number of launches.
    pub max: Option<u32>,
}

/// The request for a race of commands, from which [`plan`](Self::plan) makes a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandRaceSpec {
    /// The commands; the first is the baseline.
    pub commands: Vec<String>,
    /// The values of `--command-name`: names for the commands, in their order.
    pub names: Vec<String>,
    /// Working directories of the commands: empty for the current directory of deadheat, one for
    /// all, or one per command.
    pub directories: Vec<PathBuf>,
    /// Parameters to sweep over.
    pub parameters: Vec<Parameter>,
    /// The way in which commands and hooks are started.
    pub shell: Shell,
    /// `--setup` hooks: none, one for all commands, or one per command.
    pub setup: Vec<String>,
    /// `--prepare` hooks: none, one for all commands, or one per command.
    pub prepare: Vec<String>,
    /// `--conclude` hooks: none, one for all commands, or one per command.
    pub conclude: Vec<String>,
    /// `--cleanup` hooks: none, one for all commands, or one per command.
    pub cleanup: Vec<String>,
    /// Standard input of all commands.
    pub input: Input,
    /// Destinations of standard output: empty for the default, one for all commands, or one per
    /// command.
    pub outputs: Vec<Output>,
    /// True to compare the outputs of baseline and candidates.
    pub check_output: bool,
    /// The values to read from the output of the commands. If there is only one, the race judges
    /// it, unless the user names a metric.
    pub values: Values,
    /// The exit codes that count as success.
    pub exit_policy: ExitPolicy,
    /// Number of warm-up launches of each command, whose times are discarded.
    pub warmup: u32,
    /// Limits for the number of launches of each command. If all are `None`, `settings` limits the
    /// number of replicates.
    pub runs: Runs,
    /// The settings of the race and of its verdict.
    pub settings: RaceSettings,
    /// Rules for benchmarks selected by name. If several rules set the same key for a benchmark,
    /// the last rule wins.
    pub rules: Vec<RulesOfSome>,
}

impl Default for CommandRaceSpec {
    fn default() -> Self {
        Self {
            commands: Vec::new(),
            names: Vec::new(),
            directories: Vec::new(),
            parameters: Vec::new(),
            shell: Shell::None,
            setup: Vec::new(),
            prepare: Vec::new(),
            conclude: Vec::new(),
            cleanup: Vec::new(),
            input: Input::Null,
            outputs: Vec::new(),
            check_output: false,
            values: Values::default(),
            exit_policy: ExitPolicy::ZeroOnly,
            warmup: 1,
            runs: Runs::default(),
            settings: RaceSettings::default(),
            rules: Vec::new(),
        }
    }
}

impl CommandRaceSpec {
    /// Returns hints about options and commands that are valid but rarely intended.
    pub fn hints(&self) -> Vec<String> {
        let mut hints = Vec::new();
        let hooks = [
            ("--setup ", &self.setup),
            ("--prepare ", &self.prepare),
            ("--conclude ", &self.conclude),
            ("--cleanup ", &self.cleanup),
        ];
        for (flag, texts) in [("", &self.commands)].into_iter().chain(hooks) {
            for text in texts.iter().filter(|_| self.shell == Shell::None) {
                if let Some(syntax) = shell_syntax(text) {
                    hints.push(format!("{flag}'{text}': {}", syntax.hint()));
                }
            }
        }
        for command in &self.commands {
            if command.starts_with('-') {
                hints.push(format!(
                    "deadheat races '{command}' as a command\nhelp: put options before the --"
                ));
            }
            if self.parameters.is_empty()
                && let Some(name) = placeholders(command).first()
            {
                hints.push(format!(
                    "'{command}': {{{name}}} stays as it is, because no -L or -P defines it"
                ));
            }
        }
        let used = [
            &self.commands,
            &self.setup,
            &self.prepare,
            &self.conclude,
            &self.cleanup,
        ];
        let texts: Vec<&String> = used.into_iter().flatten().collect();
        for parameter in &self.parameters {
            hints.extend(parameter.hints(&texts));
        }
        if self.values.read.len() > 1 && self.settings.metric.is_none() {
            hints.push(
                "the race judges wall time\nhelp: --metric NAME judges one of the \
                 values"
                    .to_owned(),
            );
        }
        hints
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_shell_quotes_group_words() {
        let words = Shell::None
            .words("command", "grep -e 'a b' \"c d\"")
            .unwrap();
        assert_eq!(words, ["grep", "-e", "a b", "c d"]);
    }

    #[test]
    fn a_shell_gets_the_text_whole() {
        let shell = Shell::parse("bash --norc").unwrap();
        let words = shell.words("command", "a | b").unwrap();
        assert_eq!(words, ["bash", "--norc", "-c", "a | b"]);
    }

    #[test]
    fn an_empty_command_and_an_open_quote_are_told() {
        assert!(
            Shell::None
                .words("--prepare", "  ")
                .unwrap_err()
                .to_string()
                .contains("--prepare")
        );
        assert!(Shell::None.words("command", "''").is_err());
        assert!(
            Shell::None
                .words("command", "echo 'a")
                .unwrap_err()
                .to_string()
                .contains("quote")
        );
    }

    fn spec(commands: &[&str]) -> CommandRaceSpec {
        CommandRaceSpec {
            commands: commands.iter().map(|text| text.to_string()).collect(),
            ..CommandRaceSpec::default()
        }
    }

    #[test]
    fn shell_syntax_and_stray_placeholders_earn_a_hint() {
        let hints = spec(&["a $b", "c {n}"]).hints();
        assert!(hints[0].contains("-S"), "{hints:?}");
        assert!(hints[1].contains("{n}"), "{hints:?}");
        let mut swept = spec(&["a {n}", "b"]);
        let list = |name, values| Parameter::list(name, values).unwrap();
        swept.parameters = vec![list("n", "1,2,1,1,2"), list("m", "1,2")];
        swept.names = vec!["{m}".to_owned()];
        let hints = swept.hints();
        assert!(hints[0].contains("the parameter 'n' has the values '1', '2' more than once"));
        assert!(
            hints[1].contains("no command and no hook contains {m}"),
            "{hints:?}"
        );
        swept.parameters = vec![list("n", "1,2"), list("m", "1,2")];
        swept.setup = vec!["make {m}".to_owned()];
        assert!(swept.hints().is_empty());
        assert!(spec(&["a 'b|c'", "jq .x"]).hints().is_empty());
        let mut hooked = spec(&["a"]);
        hooked.prepare = vec!["sync $x".to_owned()];
        hooked.cleanup = vec!["rm *.o".to_owned()];
        let hints = hooked.hints();
        assert!(hints[0].contains("--prepare 'sync $x': no shell reads the '$x'"));
        assert!(hints[1].contains("--cleanup 'rm *.o': no shell reads the '*.o'"));
        hooked.shell = Shell::Words(vec!["sh".to_owned()]);
        assert!(hooked.hints().is_empty());
        let hints = spec(&["a", "--margin", "2%"]).hints();
        assert!(hints[0].contains("put options before the --"), "{hints:?}");
    }
}
