//! The options of races of servers, and the arguments of their workers.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use deadheat::parts::command_race::{Parameter, combinations, values};
use deadheat::parts::engine::ValueReader;
use deadheat::parts::exit::Failure;
use deadheat::parts::model::{HELP, LOAD_WORKER, Metric, Value, duration};

use crate::generators::Generator;
use crate::load::{CoreList, Load, Ready};
use crate::run_data::check_room;
use crate::run_signal::{Signal, signal};

const SERVERS: &str = "Servers and load";

/// Options that both servers of a race share.
#[derive(Clone, Debug, Default, Args)]
pub struct ServerOptions {
    /// The condition for a ready server: http://HOST:PORT/PATH (a status code below 400), tcp:PORT or
    /// unix:PATH (accepts connections), log:REGEX (the server prints a line that matches), or a command
    /// (ends with exit code 0) [default: tcp:{port} or unix:{socket}]
    #[arg(long, value_name = "WHAT", help_heading = SERVERS)]
    ready: Option<String>,
    /// The time limit for a server to become ready, and for the command of --reset [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = SERVERS)]
    ready_timeout: Option<Duration>,
    /// The load generator that prints the output of the load command [default: by the name of the
    /// program]
    #[arg(long, value_name = "NAME", value_parser = generator, help_heading = SERVERS)]
    generator: Option<String>,
    /// Read a metric from what the load command prints: NAME=REGEX, or NAME=/JSON/POINTER
    /// (may be repeated)
    #[arg(long, value_name = "NAME=PATTERN", help_heading = SERVERS)]
    value: Vec<String>,
    /// More is better for the metric NAME of --value (may be repeated)
    #[arg(long, value_name = "NAME", help_heading = SERVERS)]
    higher_is_better: Vec<String>,
    /// Read the number of successful requests from the output of the load command, by a REGEX or a
    /// /JSON/POINTER
    #[arg(long, value_name = "PATTERN", help_heading = SERVERS)]
    requests: Option<String>,
    /// Run this command whenever a server has started and is ready
    #[arg(long, value_name = "CMD", help_heading = SERVERS)]
    reset: Option<String>,
    /// Give each server a fresh copy of this folder; {data} is its path
    #[arg(long, value_name = "DIR", help_heading = SERVERS)]
    data: Option<PathBuf>,
    /// The signal that stops a server [default: TERM]
    #[arg(long, value_name = "SIGNAL", value_parser = signal, help_heading = SERVERS)]
    stop_signal: Option<Signal>,
    /// The time after which a server that has not stopped is killed [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = SERVERS)]
    grace: Option<Duration>,
    /// Stop the processes of the idle server (SIGSTOP) while the other server is under load
    #[arg(long, help_heading = SERVERS)]
    pause_idle: bool,
    /// Run one race for each of these values, separated by commas; the value replaces {NAME} (may be
    /// repeated)
    #[arg(
        short = 'L',
        long,
        num_args = 2,
        value_names = ["NAME", "VALUES"],
        allow_hyphen_values = true,
        help_heading = SERVERS
    )]
    parameter_list: Vec<String>,
    /// The cores of the servers, such as 0-3,8 [default: half of the cores, or all cores that are not
    /// in --generator-cores]
    #[arg(long, value_name = "CORES", value_parser = CoreList::parse, help_heading = SERVERS)]
    server_cores: Option<CoreList>,
    /// The cores of the load generator [default: all cores that the servers do not use]
    #[arg(long, value_name = "CORES", value_parser = CoreList::parse, help_heading = SERVERS)]
    generator_cores: Option<CoreList>,
}

fn generator(name: &str) -> Result<String, String> {
    match Generator::named(name) {
        Some(generator) => Ok(generator.name().to_owned()),
        None => Err(format!(
            "'{name}' is not a load generator that deadheat knows{HELP}deadheat load \
             --list-generators lists the known ones; for any other program, --requests REGEX reads the \
             number of requests, or --value NAME=REGEX another number"
        )),
    }
}

/// The arguments of a worker, which serves one side of a race.
#[derive(Debug, Args)]
pub struct WorkerArgs {
    /// The command of the server
    #[arg(long, value_name = "CMD", allow_hyphen_values = true)]
    server: String,
    /// The metric that the user chose for a benchmark (may be repeated)
    #[arg(long, num_args = 2, value_names = ["BENCHMARK", "METRIC"])]
    judged: Vec<String>,
    #[command(flatten)]
    options: ServerOptions,
    /// The load command
    #[arg(last = true, value_name = "LOAD", required = true)]
    load: Vec<String>,
}

impl WorkerArgs {
    /// Returns the checked options, and the metrics that the user chose, each with the name of its
    /// benchmark.
    ///
    /// # Errors
    ///
    /// Fails if an option is wrong.
    pub(crate) fn load(&self) -> Result<(Load, Vec<(String, String)>), Failure> {
        let load = self.options.load(&self.server, self.load.clone())?;
        let judged = self.judged.chunks_exact(2);
        let judged = judged.map(|pair| (pair[0].clone(), pair[1].clone()));
        Ok((load, judged.collect()))
    }
}

/// Returns the words of a load command that was given as words, or as one quoted text.
///
/// # Errors
///
/// Fails if the words are empty, or if a quote is not closed.
pub fn load_words(words: &[String]) -> Result<Vec<String>, Failure> {
    let words = match words {
        [text] => split("the load command", text)?,
        words => words.to_vec(),
    };
    match words.first() {
        Some(first) if !first.is_empty() => Ok(words),
        _ => Err(Failure::Usage(format!(
            "the load command is missing{HELP}put it after `--`: -- wrk -t1 -c32 -d1s \
             'http://127.0.0.1:{{port}}/'"
        ))),
    }
}

fn split(option: &str, text: &str) -> Result<Vec<String>, Failure> {
    let words = shell_words::split(text);
    words.map_err(|problem| Failure::Usage(format!("{option} '{text}': {problem}")))
}

impl ServerOptions {
    /// Checks the options, and returns what a worker does with a server.
    ///
    /// # Errors
    ///
    /// Fails if an option is wrong, or if nothing says how to read the output of the load command.
    pub fn load(&self, server: &str, load: Vec<String>) -> Result<Load, Failure> {
        let server_words = split("--server", server)?;
        if server_words.first().is_none_or(String::is_empty) {
            return Err(Failure::Usage("--server: the command is empty".to_owned()));
        }
        let generator = match &self.generator {
            Some(name) => Generator::named(name),
            None => Generator::of_command(&load),
        };
        if generator.is_none() && self.value.is_empty() && self.requests.is_none() {
            return Err(Failure::Usage(format!(
                "'{}' is not a load generator that deadheat knows, so deadheat cannot read \
                 what the command prints{HELP}use one that it knows, such as wrk -t1 -c32 -d1s \
                 http://localhost:{{port}}/ (deadheat load --list-generators lists them; for a \
                 script that starts one, add --generator NAME); of any other program, --requests \
                 REGEX or --value 'NAME=REGEX' reads a number that it prints",
                load[0]
            )));
        }
        let wrong = |option: &str, why: String| Failure::Usage(format!("{option}: {why}"));
        let values = values(&self.value, &self.higher_is_better)?;
        for (at, value) in values.iter().enumerate() {
            let name = value.metric.name();
            if name == Metric::Wall.name() {
                let why = "deadheat measures the elapsed time itself; choose another name";
                return Err(wrong("--value wall", why.to_owned()));
            }
            if values[..at].iter().any(|other| other.metric.name() == name) {
                return Err(wrong("--value", format!("there are two values '{name}'")));
            }
        }
        let values = values.into_iter().map(|value| {
            let reader = ValueReader::new(&value, false).map_err(|why| wrong("--value", why))?;
            Ok((value.metric, reader))
        });
        let requests = self.requests.as_ref().map(|pattern| {
            let value = Value {
                metric: Metric::from_name("requests"),
                pattern: pattern.clone(),
            };
            ValueReader::new(&value, false).map_err(|why| wrong("--requests", why))
        });
        let lists = self.parameter_list.chunks_exact(2);
        let lists = lists.map(|list| Parameter::list(&list[0], &list[1]));
        let parameters = combinations(&lists.collect::<Result<Vec<_>, _>>()?)?;
        let ready = self.ready.as_deref();
        let load = Load {
            server: server_words,
            generator,
            load,
            ready: match ready {
                Some(text) => Ready::parse(text)?,
                None => Ready::default_of(server)?,
            },
            ready_timeout: self.ready_timeout.unwrap_or(Duration::from_secs(30)),
            values: values.collect::<Result<_, Failure>>()?,
            requests: requests.transpose()?,
            reset: match &self.reset {
                Some(text) => split("--reset", text)?,
                None => Vec::new(),
            },
            data: self.data.clone(),
            stop_signal: self.stop_signal.unwrap_or(Signal::SIGTERM),
            grace: self.grace.unwrap_or(Duration::from_secs(5)),
            pause_idle: self.pause_idle,
            parameters,
            server_cores: self.server_cores.clone(),
            generator_cores: self.generator_cores.clone(),
        };
        load.check()?;
        Ok(load)
    }

    /// Returns the name of an option that was given; `None` if none was.
    pub fn is_any_given(&self) -> Option<&'static str> {
        let given = [
            (self.ready.is_some(), "--ready"),
            (self.ready_timeout.is_some(), "--ready-timeout"),
            (self.generator.is_some(), "--generator"),
            (!self.value.is_empty(), "--value"),
            (!self.higher_is_better.is_empty(), "--higher-is-better"),
            (self.requests.is_some(), "--requests"),
            (self.reset.is_some(), "--reset"),
            (self.data.is_some(), "--data"),
            (self.stop_signal.is_some(), "--stop-signal"),
            (self.grace.is_some(), "--grace"),
            (self.pause_idle, "--pause-idle"),
            (!self.parameter_list.is_empty(), "--parameter-list"),
            (self.server_cores.is_some(), "--server-cores"),
            (self.generator_cores.is_some(), "--generator-cores"),
        ];
        given
            .into_iter()
            .find(|(is_given, _)| *is_given)
            .map(|(_, option)| option)
    }

    /// Returns the arguments with which this program becomes the worker of a side. `judged` returns
    /// the metric that the user chose for the benchmark of a name.
    ///
    /// # Errors
    ///
    /// Fails if an option is wrong.
    pub fn worker_arguments(
        &self,
        server: &str,
        load: &[String],
        judged: impl Fn(&str) -> Option<String>,
    ) -> Result<Vec<String>, Failure> {
        let load = load_words(load)?;
        let names = self.load(server, load.clone())?.names();
        check_room(self.data.as_deref())?;
        let mut words = vec![LOAD_WORKER.to_owned(), format!("--server={server}")];
        let mut add = |option: &str, value: &str| words.push(format!("--{option}={value}"));
        let seconds = |time: Duration| format!("{}s", time.as_secs_f64());
        let optional = [
            ("ready", self.ready.clone()),
            ("ready-timeout", self.ready_timeout.map(seconds)),
            ("generator", self.generator.clone()),
            ("requests", self.requests.clone()),
            ("reset", self.reset.clone()),
            (
                "stop-signal",
                self.stop_signal.map(|signal| signal.as_str().to_owned()),
            ),
            ("grace", self.grace.map(seconds)),
            (
                "server-cores",
                self.server_cores.as_ref().map(ToString::to_string),
            ),
            (
                "generator-cores",
                self.generator_cores.as_ref().map(ToString::to_string),
            ),
        ];
        for (option, value) in optional {
            if let Some(value) = value {
                add(option, &value);
            }
        }
        for value in &self.value {
            add("value", value);
        }
        for name in &self.higher_is_better {
            add("higher-is-better", name);
        }
        if let Some(data) = &self.data {
            // The worker of a commit runs in a folder of its own.
            let data = std::path::absolute(data).unwrap_or_else(|_| data.clone());
            add("data", &data.to_string_lossy());
        }
        if self.pause_idle {
            words.push("--pause-idle".to_owned());
        }
        for list in self.parameter_list.chunks_exact(2) {
            words.extend([
                "--parameter-list".to_owned(),
                list[0].clone(),
                list[1].clone(),
            ]);
        }
        for name in names {
            if let Some(metric) = judged(&name) {
                words.extend(["--judged".to_owned(), name, metric]);
            }
        }
        words.push("--".to_owned());
        words.extend(load);
        Ok(words)
    }
}
