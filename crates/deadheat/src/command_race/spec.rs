//! What the user asked for, not yet checked.

use std::path::PathBuf;

use deadheat_analysis::LooksError;
use deadheat_model::{ExitPolicy, Input, Output, PlanError, RaceSettings, RulesOfSome, ShareRange};

use super::parameters::{Parameter, ParameterError};
use crate::exit::Failure;

/// How commands are started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Shell {
    /// Directly. Starting a shell takes longer than many commands.
    #[default]
    None,
    /// By these words and the command's text, such as `bash -c`; `-c` is
    /// added.
    Words(Vec<String>),
}

impl Shell {
    /// `none`, `default`, or the words of a shell, as hyperfine has it.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        match text {
            "none" => Ok(Shell::None),
            "default" => Ok(Shell::Words(vec!["sh".to_owned()])),
            _ => match shell_words::split(text) {
                Ok(words) if !words.is_empty() => Ok(Shell::Words(words)),
                Ok(_) => Err(SpecError::EmptyCommand { flag: "--shell" }),
                Err(_) => Err(SpecError::Quotes {
                    text: text.to_owned(),
                }),
            },
        }
    }
}

/// Where standard output goes, per command or for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputChoice(pub Output);

impl OutputChoice {
    /// `null`, `pipe`, `inherit`, or a file.
    pub fn parse(text: &str) -> Self {
        OutputChoice(match text {
            "null" => Output::Null,
            "pipe" => Output::Pipe,
            "inherit" => Output::Inherit,
            file => Output::File(PathBuf::from(file)),
        })
    }
}

/// How many launches of each command, in hyperfine's terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// Exactly so many, judged once at the end.
    pub exactly: Option<u32>,
    /// No verdict before so many.
    pub min: Option<u32>,
    /// Never more than so many.
    pub max: Option<u32>,
}

/// A race of commands as asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandRaceSpec {
    /// The commands; the first is the baseline.
    pub commands: Vec<String>,
    /// Names given to them.
    pub names: Vec<String>,
    /// Parameters to sweep over.
    pub parameters: Vec<Parameter>,
    /// How commands and hooks are started.
    pub shell: Shell,
    /// `--setup` hooks: none, one for all or one per command. So for all
    /// hooks.
    pub setup: Vec<String>,
    /// `--prepare` hooks.
    pub prepare: Vec<String>,
    /// `--conclude` hooks.
    pub conclude: Vec<String>,
    /// `--cleanup` hooks.
    pub cleanup: Vec<String>,
    /// Standard input of all commands.
    pub input: Input,
    /// Standard output: none given, one for all, or one per command.
    pub outputs: Vec<OutputChoice>,
    /// Compare the outputs of baseline and candidates.
    pub check_output: bool,
    /// Which exit codes count as success.
    pub exit_policy: ExitPolicy,
    /// Discarded launches of each command.
    pub warmup: u32,
    /// Bounds on the launches; where they say nothing, the settings bound the replicates.
    pub runs: Runs,
    /// How the commands are raced and judged.
    pub settings: RaceSettings,
    /// Rules of some benchmarks; the last that fits wins, key by key.
    pub rules: Vec<RulesOfSome>,
}

impl Default for CommandRaceSpec {
    /// The documented defaults, and no command.
    fn default() -> Self {
        Self {
            commands: Vec::new(),
            names: Vec::new(),
            parameters: Vec::new(),
            shell: Shell::None,
            setup: Vec::new(),
            prepare: Vec::new(),
            conclude: Vec::new(),
            cleanup: Vec::new(),
            input: Input::Null,
            outputs: Vec::new(),
            check_output: false,
            exit_policy: ExitPolicy::ZeroOnly,
            warmup: 1,
            runs: Runs::default(),
            settings: RaceSettings::default(),
            rules: Vec::new(),
        }
    }
}

/// The reason why a race cannot be run as asked.
#[derive(Clone, Debug, PartialEq)]
pub enum SpecError {
    /// There is no command.
    NoCommand,
    /// A command or hook without words.
    EmptyCommand {
        /// The flag, or `command`.
        flag: &'static str,
    },
    /// Quotes that do not close.
    Quotes {
        /// The command.
        text: String,
    },
    /// A list that fits neither all commands nor each.
    Count {
        /// The flag.
        flag: &'static str,
        /// How often it was given.
        given: usize,
        /// How many commands there are.
        commands: usize,
    },
    /// Bounds that leave nothing between them.
    Runs {
        /// The flags.
        flags: &'static str,
        /// At least.
        min: u32,
        /// At most.
        max: u32,
    },
    /// A number that must be positive is zero.
    Zero {
        /// The flag.
        flag: &'static str,
    },
    /// Two flags that contradict each other.
    Conflict {
        /// One flag.
        one: &'static str,
        /// The other.
        other: &'static str,
        /// The reason.
        why: &'static str,
    },
    /// The parameters do not work out.
    Parameter(ParameterError),
    /// A number out of range, or too many commands.
    Plan(PlanError),
}

impl std::fmt::Display for SpecError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoCommand => {
                f.write_str("no command to run; try: deadheat run -- './old input' './new input'")
            }
            Self::EmptyCommand { flag } => write!(f, "{flag}: the command is empty"),
            Self::Quotes { text } => write!(f, "'{text}': a quote is not closed"),
            Self::Count {
                flag,
                given,
                commands,
            } => write!(
                f,
                "{flag} was given {given} times for {commands} commands; give it once for all or once for each"
            ),
            Self::Runs { flags, min, max } => write!(
                f,
                "{flags}: at least {min} and at most {max} runs leave nothing to choose from"
            ),
            Self::Zero { flag } => write!(f, "{flag} must be at least 1"),
            Self::Conflict { one, other, why } => {
                write!(f, "{one} and {other} cannot be combined: {why}")
            }
            Self::Parameter(inner) => inner.fmt(f),
            Self::Plan(inner) => inner.fmt(f),
        }
    }
}

impl std::error::Error for SpecError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Parameter(inner) => inner.source(),
            Self::Plan(inner) => inner.source(),
            _ => None,
        }
    }
}

impl From<ParameterError> for SpecError {
    fn from(inner: ParameterError) -> Self {
        Self::Parameter(inner)
    }
}

impl From<PlanError> for SpecError {
    fn from(inner: PlanError) -> Self {
        Self::Plan(inner)
    }
}

impl From<LooksError> for SpecError {
    fn from(error: LooksError) -> Self {
        match error {
            LooksError::Range { min, max } => SpecError::Runs {
                flags: "--min-runs, --max-runs",
                min,
                max,
            },
            LooksError::Alpha(value) => SpecError::Plan(PlanError::OutOfRange {
                of: "--alpha".to_owned(),
                value,
                range: ShareRange::ALPHA.words,
            }),
        }
    }
}

impl From<SpecError> for Failure {
    fn from(error: SpecError) -> Self {
        Failure::Usage(error.to_string())
    }
}
