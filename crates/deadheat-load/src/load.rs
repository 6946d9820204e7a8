//! The settings of a worker: commands, condition for a ready server, metrics and cores.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use deadheat::parts::engine::ValueReader;
use deadheat::parts::exit::Failure;
use deadheat::parts::model::{HELP, Metric};
use regex_lite::Regex;

use crate::generators::Generator;
use crate::run_signal::Signal;

/// The largest `--grace`.
const LONGEST_GRACE: Duration = Duration::from_secs(540);

/// A server, the load that it gets, and what is read from the load command.
#[derive(Clone, Debug)]
pub struct Load {
    pub(crate) server: Vec<String>,
    pub(crate) generator: Option<&'static Generator>,
    pub(crate) load: Vec<String>,
    pub(crate) ready: Ready,
    pub(crate) ready_timeout: Duration,
    /// The metrics that are read from the output of the load command.
    pub(crate) values: Vec<(Metric, ValueReader)>,
    pub(crate) requests: Option<ValueReader>,
    pub(crate) reset: Vec<String>,
    pub(crate) data: Option<PathBuf>,
    pub(crate) stop_signal: Signal,
    pub(crate) grace: Duration,
    pub(crate) pause_idle: bool,
    /// The names and values of each combination of parameters; a single empty combination without
    /// parameters.
    pub(crate) parameters: Vec<Vec<(String, String)>>,
    pub(crate) server_cores: Option<CoreList>,
    pub(crate) generator_cores: Option<CoreList>,
}

impl Load {
    /// Refuses options that cannot be combined, and a load command that cannot reach each server.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let names = ["{port}", "{socket}"];
        let has = |words: &[String]| {
            let mut words = words.iter();
            words.any(|word| names.iter().any(|name| word.contains(name)))
        };
        if !has(&self.load) {
            return Err(Failure::Usage(format!(
                "the load command '{}' has neither {{port}} nor {{socket}}, so it would \
                 not reach the servers that deadheat starts{HELP}each server has a port of its own: write {{port}} where the \
                 load command needs the port, or {{socket}} for a unix socket",
                self.load.join(" ")
            )));
        }
        let data = self.server.iter().chain(&self.reset).chain(&self.load);
        if self.data.is_some() && !data.into_iter().any(|word| word.contains("{data}")) {
            return Err(Failure::Usage(format!(
                "--data: no command contains {{data}}{HELP}write {{data}} where the server needs the \
                 path of its copy of the folder"
            )));
        }
        let commands = || {
            let ready = match &self.ready {
                Ready::Command(words) => words.clone(),
                Ready::Http { authority, path } => vec![authority.clone(), path.clone()],
                Ready::Tcp(text) | Ready::Unix(text) => vec![text.clone()],
                Ready::Log(_) => Vec::new(),
            };
            let words = self.server.iter().chain(&self.load).chain(&self.reset);
            words.cloned().chain(ready)
        };
        for (name, _) in self.parameters.first().into_iter().flatten() {
            if ["port", "socket", "data"].contains(&name.as_str()) {
                return Err(Failure::Usage(format!(
                    "--parameter-list {name}: deadheat itself replaces {{{name}}}{HELP}choose another \
                     name"
                )));
            }
            let placeholder = format!("{{{name}}}");
            if !commands().any(|word| word.contains(&placeholder)) {
                return Err(Failure::Usage(format!(
                    "--parameter-list {name}: no command contains {placeholder}{HELP}write \
                     {placeholder} where a command needs the value"
                )));
            }
        }
        let names = self.names();
        if let Some((_, twice)) = names
            .iter()
            .enumerate()
            .find(|(at, one)| names[..*at].contains(one))
        {
            return Err(Failure::Usage(format!(
                "--parameter-list: {twice} is given twice"
            )));
        }
        if self.grace > LONGEST_GRACE {
            return Err(Failure::Usage(format!(
                "--grace must be at most {} s",
                LONGEST_GRACE.as_secs()
            )));
        }
        if let (Some(servers), Some(generators)) = (&self.server_cores, &self.generator_cores)
            && let Some(core) = servers.0.iter().find(|core| generators.0.contains(core))
        {
            return Err(Failure::Usage(format!(
                "--server-cores and --generator-cores both contain core {core}"
            )));
        }
        Ok(())
    }

    /// Returns the names of the benchmarks: `load`, or each combination of parameters.
    pub(crate) fn names(&self) -> Vec<String> {
        let name = |values: &Vec<(String, String)>| match values.is_empty() {
            true => "load".to_owned(),
            false => {
                let values: Vec<String> = values
                    .iter()
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect();
                values.join(" ")
            }
        };
        self.parameters.iter().map(name).collect()
    }

    /// Returns true if the number of requests of a burst is known, so that CPU time is given per
    /// request.
    pub(crate) fn counts_requests(&self) -> bool {
        self.generator.is_some() || self.requests.is_some()
    }
}

/// The condition for a ready server.
#[derive(Clone, Debug)]
pub enum Ready {
    /// A request to this URL is answered with a code below 400.
    Http {
        /// The host and the port, as in the URL.
        authority: String,
        /// The path with its query.
        path: String,
    },
    /// This port accepts connections.
    Tcp(String),
    /// This unix socket accepts connections.
    Unix(String),
    /// The server prints a line that matches.
    Log(Regex),
    /// This command ends with exit code 0.
    Command(Vec<String>),
}

impl Ready {
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let wrong = |why: String| Err(Failure::Usage(format!("--ready {text}: {why}")));
        if let Some(rest) = text.strip_prefix("http://") {
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            return Ok(Self::Http {
                authority: authority.to_owned(),
                path: format!("/{path}"),
            });
        }
        if text.starts_with("https://") {
            return wrong(format!(
                "deadheat does not speak TLS itself{HELP}use --ready tcp:{{port}}, or a command: \
                 --ready 'curl -fsk {text}'"
            ));
        }
        if let Some(port) = text.strip_prefix("tcp:") {
            if port.parse::<u16>().is_err() && !port.contains('{') {
                return wrong(format!("'{port}' is not a port"));
            }
            return Ok(Self::Tcp(port.to_owned()));
        }
        if let Some(path) = text.strip_prefix("unix:") {
            return Ok(Self::Unix(path.to_owned()));
        }
        if let Some(regex) = text.strip_prefix("log:") {
            return match Regex::new(regex) {
                Ok(regex) => Ok(Self::Log(regex)),
                Err(problem) => wrong(problem.to_string()),
            };
        }
        match shell_words::split(text) {
            Ok(words) if words.first().is_some_and(|word| !word.is_empty()) => {
                Ok(Self::Command(words))
            }
            Ok(_) => wrong("the command is empty".to_owned()),
            Err(problem) => wrong(problem.to_string()),
        }
    }

    pub(crate) fn default_of(server: &str) -> Result<Self, Failure> {
        if server.contains("{port}") {
            return Ok(Self::Tcp("{port}".to_owned()));
        }
        if server.contains("{socket}") {
            return Ok(Self::Unix("{socket}".to_owned()));
        }
        Err(Failure::Usage(format!(
            "the server '{server}' has neither {{port}} nor {{socket}}, so deadheat cannot tell when \
             it is ready{HELP}write {{port}} where the server needs its port; a server that reads its port \
             from the variable PORT, which deadheat sets, needs --ready tcp:{{port}}"
        )))
    }
}

/// A list of core numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreList(pub(crate) Vec<u32>);

impl CoreList {
    /// Parses numbers and ranges, such as `0-3,8`.
    ///
    /// # Errors
    ///
    /// Fails if the text is not a list of numbers and ranges.
    pub fn parse(text: &str) -> Result<Self, String> {
        /// More than Linux supports.
        const MOST: u32 = 8_192;
        let wrong = || {
            format!("'{text}' is not a list of cores{HELP}write numbers and ranges, such as 0-3,8")
        };
        let mut cores = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| {
                let number = text.trim().parse::<u32>().ok();
                number.filter(|number| *number < MOST).ok_or_else(wrong)
            };
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(wrong());
            }
            cores.extend(first..=last);
        }
        cores.sort_unstable();
        cores.dedup();
        Ok(Self(cores))
    }
}

impl fmt::Display for CoreList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cores: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&cores.join(","))
    }
}
