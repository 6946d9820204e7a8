//! `deadheat explain`: where the time went, function by function.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use deadheat::parts::answer::to_stdout;
use deadheat::parts::command_race::{CommandRaceSpec, Shell};
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::explain::{ExplainSpec, Profiler, explain as explain_all};
use deadheat::parts::format::write_text;
use deadheat::parts::model::{Input, duration, whole_number};
use deadheat::parts::pairing::side_names;
use deadheat::parts::report::{
    ExplanationOptions, Glyphs, shorten, to_explanation_json, to_explanation_markdown,
    to_explanation_page, to_explanation_text,
};
use deadheat::parts::settings::{Selection, is_program, program};
use deadheat::parts::terminal;
use deadheat::parts::{StatusLine, check_file};

use crate::options::{ShapeArgs, choice};

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
        "perf where it can sample by instructions, else callgrind",
    ),
    (Profiler::Callgrind, "callgrind", "Every instruction"),
    (
        Profiler::Perf,
        "perf",
        "Samples: of instructions, or of time where the machine counts none",
    ),
];

/// Options of `deadheat explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Two programs with benchmarks, or one, or the run file of a race; and parts of names of
    /// benchmarks
    #[arg(
        value_name = "OLD NEW or RUN, FILTER",
        required_unless_present = "commands"
    )]
    words: Vec<String>,
    /// Commands, each one quoted; the first is the baseline
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "words")]
    commands: Vec<String>,
    /// Filters are whole names
    #[arg(long)]
    exact: bool,
    /// Run commands in a shell: 'default', or one such as 'bash --norc'
    #[arg(
        short = 'S',
        long,
        value_name = "SHELL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "default"
    )]
    shell: Option<String>,
    /// Where commands read from: 'null' or a file
    #[arg(long, value_name = "WHERE", default_value = "null")]
    input: String,
    /// Profiler that both sides run under: perf where the machine has counters of instructions, else
    /// callgrind
    #[arg(long, value_name = "WHICH", default_value = "auto", value_parser = choice(PROFILERS))]
    by: Profiler,
    /// Time that a command, a launch or a sample may take under the profiler [default: none]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    timeout: Option<Duration>,
    /// Show so many functions of each benchmark
    #[arg(long, value_name = "N", default_value = "20", value_parser = whole_number::<usize>)]
    top: usize,
    /// Write a page with the tables and a flame graph of each benchmark
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print Markdown instead of text
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    #[command(flatten)]
    shape: ShapeArgs,
    /// No progress on standard error
    #[arg(short = 'q', long)]
    quiet: bool,
}

/// Counts both sides, and answers.
pub fn explain(args: &ExplainArgs) -> Result<Status, Failure> {
    if let Some(page) = &args.html {
        check_file("--html", page, None)?;
    }
    let spec = ExplainSpec {
        timeout: args.timeout,
        by: args.by,
        ..args.spec()?
    };
    let mut line = StatusLine::new(args.quiet);
    let glyphs = Glyphs::new(terminal::speaks_unicode());
    let explanation = explain_all(&spec, |benchmark, place, all| {
        let told = format!("counting {} of {all}: {benchmark}", place + 1);
        line.draw(|width| shorten(&told, width, glyphs));
    });
    line.finish();
    let explanation = explanation?;
    if let Some(page) = &args.html {
        write_text(page, &to_explanation_page(&explanation))
            .map_err(|error| Failure::writing("--html", error))?;
    }
    to_stdout(&if args.shape.json {
        to_explanation_json(&explanation)
    } else if args.markdown {
        to_explanation_markdown(&explanation, args.top)
    } else {
        to_explanation_text(
            &explanation,
            &ExplanationOptions {
                width: terminal::width(),
                color: args.shape.in_color(),
                unicode: terminal::speaks_unicode(),
                top: args.top,
            },
        )
    })?;
    if let (Some(page), false) = (&args.html, args.shape.json || args.markdown) {
        to_stdout(&format!("  {}\n", page.display()))?;
    }
    Ok(Status::Done)
}

impl ExplainArgs {
    fn spec(&self) -> Result<ExplainSpec, Failure> {
        let Some((first, others)) = self.words.split_first() else {
            return self.of_commands();
        };
        let selection = |filters: &[String]| Selection {
            filters: filters.to_vec(),
            exact: self.exact,
            ..Selection::default()
        };
        let run = Path::new(first);
        let is_run = run.extension().is_some_and(|name| name == "jsonl") || run.is_file();
        if is_run && !is_program(first) {
            return ExplainSpec::of_run(run, &selection(others));
        }
        let old = program(first)?;
        match others
            .split_first()
            .filter(|(second, _)| is_program(second))
        {
            Some((second, filters)) => {
                let sides = [Some(old), Some(program(second)?)];
                let names = side_names([first, second]);
                ExplainSpec::of_programs(sides, &names, &selection(filters))
            }
            None => {
                let names = side_names([first, first]);
                ExplainSpec::of_programs([Some(old), None], &names, &selection(others))
            }
        }
    }

    fn of_commands(&self) -> Result<ExplainSpec, Failure> {
        let shell = self
            .shell
            .as_deref()
            .map_or(Ok(Shell::None), Shell::parse)?;
        ExplainSpec::of_commands(&CommandRaceSpec {
            commands: self.commands.clone(),
            shell,
            input: match self.input.as_str() {
                "null" => Input::Null,
                file => Input::File(PathBuf::from(file)),
            },
            ..CommandRaceSpec::default()
        })
    }
}
