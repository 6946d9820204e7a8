//! The arguments of `deadheat explain`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use deadheat::parts::model::{duration, positive_number};
use deadheat_options::answer::{ShapeArgs, choice};

/// Shown at the end of `deadheat explain --help`.
pub const EXAMPLES: &str = "\
Examples:
  deadheat explain ./old ./new                  # each benchmark of both programs
  deadheat explain ./old ./new sort --html why.html
  deadheat explain ./suite                      # its own head-to-head races
  deadheat explain -- './old input' './new input'
  deadheat explain --by perf -- './old input' './new input'
  deadheat explain .deadheat/runs/20261121-120000-0000002a.jsonl";

/// The choices of `--by`.
const PROFILERS: [(Profiler, &str, &str); 3] = [
    (
        Profiler::Auto,
        "auto",
        "perf if it can sample by instructions, otherwise callgrind",
    ),
    (Profiler::Callgrind, "callgrind", "Count every instruction"),
    (
        Profiler::Perf,
        "perf",
        "Sample by instructions, or by time if the machine cannot count instructions",
    ),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profiler {
    /// perf if it can count instructions, otherwise callgrind.
    Auto,
    Callgrind,
    /// perf. It samples by time if the machine cannot count instructions.
    Perf,
}

/// Options of `deadheat explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Two programs with benchmarks, or one, or the run file of a race; then parts of the names of
    /// benchmarks
    #[arg(
        value_name = "OLD NEW or RUN, FILTER",
        required_unless_present = "commands"
    )]
    pub(crate) words: Vec<String>,
    /// Run the programs of a run file that another user or machine wrote
    #[arg(long, conflicts_with = "commands")]
    pub(crate) trust: bool,
    /// Commands, each one quoted; the first is the baseline
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "words")]
    pub(crate) commands: Vec<String>,
    /// Let filters match only whole names
    #[arg(long)]
    pub(crate) exact: bool,
    /// Run commands in a shell: 'default', or one such as 'bash --norc'
    #[arg(
        short = 'S',
        long,
        value_name = "SHELL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "default"
    )]
    pub(crate) shell: Option<String>,
    /// Where commands read from: 'null' or a file
    #[arg(long, value_name = "WHERE", default_value = "null")]
    pub(crate) input: String,
    /// Profiler that both sides run under: perf if the machine can count instructions, otherwise
    /// callgrind
    #[arg(long, value_name = "WHICH", default_value = "auto", value_parser = choice(PROFILERS))]
    pub(crate) by: Profiler,
    /// Time that a command, a launch or a sample may take under the profiler [default: none]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
    /// Show at most N functions of each benchmark
    #[arg(long, value_name = "N", default_value = "20", value_parser = positive_number::<usize>)]
    pub(crate) top: usize,
    /// Write a page with the tables and a flame graph of each benchmark
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print Markdown instead of text
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    #[command(flatten)]
    pub(crate) shape: ShapeArgs,
    /// Print no progress on standard error
    #[arg(short = 'q', long)]
    pub(crate) quiet: bool,
}
