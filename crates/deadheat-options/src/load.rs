//! Options of races of servers under load.

use clap::Args;
use deadheat::parts::exit::Failure;
use deadheat::parts::model::{HELP, RulesOfSome};
use deadheat_build::Racing;
use deadheat_load::{ServerOptions, load_words};

use crate::bench_options::BenchOptions;
use crate::own_path::this_program;

/// A server in the folder of each commit, and its load.
#[derive(Debug, Args)]
pub struct LoadOptions {
    /// The command that starts the server to race, run without a shell in the folder of each commit
    /// after --build has run there; {port} is a free port
    #[arg(
        long,
        value_name = "CMD",
        help_heading = "Servers and load",
        requires = "load",
        conflicts_with_all = ["exe", "cmake", "go", "pytest", "node", "vitest", "cargo"]
    )]
    server: Option<String>,
    /// The load command, which sends one burst of requests to the server
    #[arg(
        long,
        value_name = "CMD",
        help_heading = "Servers and load",
        requires = "server"
    )]
    load: Option<String>,
    #[command(flatten)]
    options: ServerOptions,
}

impl LoadOptions {
    /// Returns true if servers are raced.
    pub fn is_asked_for(&self) -> bool {
        self.server.is_some()
    }

    /// Checks the options and returns the worker that races in the folder of each commit; `None` if
    /// no server is raced.
    pub(crate) fn racing(&self) -> Result<Option<Racing>, Failure> {
        let (Some(server), Some(load)) = (&self.server, &self.load) else {
            return match self.options.is_any_given() {
                Some(option) => Err(Failure::Usage(format!(
                    "{option} needs --server and --load{HELP}--server CMD and --load CMD race the server \
                     of each commit under load"
                ))),
                None => Ok(None),
            };
        };
        self.options
            .load(server, load_words(std::slice::from_ref(load))?)?;
        Ok(Some(Racing::Worker(this_program()?)))
    }

    /// Returns the arguments of the worker, whose options [`LoadOptions::racing`] has checked.
    pub(crate) fn arguments(&self, options: &BenchOptions) -> Vec<String> {
        let (Some(server), Some(load)) = (&self.server, &self.load) else {
            return Vec::new();
        };
        let arguments = self
            .options
            .worker_arguments(server, std::slice::from_ref(load), |name| {
                judged(options, name)
            });
        arguments.unwrap_or_default()
    }
}

/// Returns the name of the metric that the user chose for a benchmark.
pub fn judged(options: &BenchOptions, benchmark: &str) -> Option<String> {
    let own = RulesOfSome::of(&options.rules.some(), benchmark).metric;
    let metric = own.or_else(|| options.rules.settings().metric.clone())?;
    Some(metric.name().to_owned())
}
