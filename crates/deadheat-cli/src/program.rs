//! The `deadheat` command: its subcommands, and the dispatch to them.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use deadheat::parts::engine::{Owner, outlive_file_limits};
use deadheat::parts::exit::{Failure, code, on_enough_stack};

use crate::{
    bare_race, bench, calibrate, cargo_deadheat, clean, committed_links, compare, doctor,
    file_roles, help, link, manual, misread, modes, normalise, pack, plan, recorded, rev, run,
    usage_error,
};

/// Is B faster than A, by how much, how sure?
#[derive(Debug, Parser)]
#[command(
    name = "deadheat",
    version,
    long_version = env!("DEADHEAT_LONG_VERSION"),
    max_term_width = 100
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Race whole commands; the first is the baseline
    #[command(after_help = run::EXAMPLES)]
    Run(Box<run::RunArgs>),
    /// Race two builds, benchmark by benchmark, or the contenders of one build
    #[command(after_help = bench::EXAMPLES)]
    Bench(Box<bench::BenchArgs>),
    /// Race two git revisions, or one and the working tree
    #[command(after_help = rev::EXAMPLES)]
    Rev(Box<rev::RevArgs>),
    /// Find the commit that changed the time, by races
    #[command(after_help = deadheat_bisect::EXAMPLES)]
    Bisect(Box<deadheat_bisect::BisectArgs>),
    /// Compare saved results of any tool, or race two programs
    #[command(after_help = compare::EXAMPLES)]
    Compare(Box<compare::CompareArgs>),
    /// Analyse a recorded run, a tidy CSV file or results of another tool
    #[command(after_help = recorded::ANALYZE_EXAMPLES)]
    Analyze(Box<recorded::AnalyzeArgs>),
    /// Write a page, a comment or pictures of recorded results
    #[command(after_help = recorded::REPORT_EXAMPLES)]
    Report(Box<recorded::ReportCommand>),
    /// Write the plan of a race to a file, to race it elsewhere or later
    #[command(after_help = plan::PLAN_EXAMPLES)]
    Plan(plan::PlanArgs),
    /// Pack a plan and its programs into one file, for other machines
    #[command(after_help = pack::PACK_EXAMPLES)]
    Pack(pack::PackArgs),
    /// Merge the parts that several machines raced, and print the answer
    #[command(after_help = recorded::MERGE_EXAMPLES)]
    Merge(Box<recorded::MergeArgs>),
    /// Follow benchmarks over commits: their levels, steps and creep
    #[command(after_help = deadheat_history::EXAMPLES)]
    History(Box<deadheat_history::HistoryArgs>),
    /// Show where the time went: what both sides execute, function by function
    #[command(after_help = deadheat_explain::EXAMPLES)]
    Explain(deadheat_explain::ExplainArgs),
    /// Find what disturbs measurements on this machine, by how much, and what helps
    #[command(after_help = doctor::EXAMPLES)]
    Doctor(doctor::DoctorArgs),
    /// Test how often verdicts are wrong on this machine
    #[command(after_help = calibrate::EXAMPLES)]
    Calibrate(Box<calibrate::CalibrateArgs>),
    /// Show the disk space that deadheat uses, and remove what it can make again
    #[command(after_help = clean::EXAMPLES)]
    Clean(clean::CleanArgs),
    /// Link a program, and record how, so that races can vary its code layout
    #[command(after_help = link::EXAMPLES)]
    Link(link::LinkArgs),
    /// Print a completion script for a shell
    #[command(after_help = manual::COMPLETIONS_EXAMPLES)]
    Completions(manual::CompletionsArgs),
    /// Print a manual page, or write all of them into a folder
    #[command(after_help = manual::MAN_EXAMPLES)]
    Man(manual::ManArgs),
    /// Make neutral links of an executable (for other programs to call)
    #[command(hide = true)]
    Placements(link::PlacementsArgs),
}

/// Returns the command line without the hidden subcommands, which only programs call.
pub fn command() -> clap::Command {
    let whole = Cli::command();
    let shown = whole.get_subcommands().filter(|one| !one.is_hide_set());
    let shown: Vec<clap::Command> = shown.cloned().collect();
    help::arranged(
        clap::Command::new("deadheat")
            .version(env!("CARGO_PKG_VERSION"))
            .about(whole.get_about().cloned().unwrap_or_default())
            .subcommand_required(true)
            .subcommand_value_name("COMMAND")
            .subcommands(shown),
    )
}

/// Returns the command line with all subcommands, including the hidden ones.
pub fn whole() -> clap::Command {
    help::arranged(Cli::command())
}

/// Parses the command line. Returns the exit code as an error if help, the version or a usage error
/// was printed.
fn parsed(words: &[OsString]) -> Result<Cli, ExitCode> {
    let mut command = whole();
    let read = command.try_get_matches_from_mut(words);
    let matches = read.map_err(|error| refused(&error, words))?;
    modes::refuse_unused(&command, &matches)
        .and_then(|()| file_roles::refuse_collisions(&command, &matches))
        .map_err(|failure| failure.report())?;
    Cli::from_arg_matches(&matches).map_err(|error| refused(&error, words))
}

/// Prints help, the version or a usage error, and returns the exit code.
fn refused(error: &clap::Error, words: &[OsString]) -> ExitCode {
    if error.kind() == ErrorKind::InvalidUtf8 {
        let garbled = words.iter().filter(|word| word.to_str().is_none());
        let garbled: Vec<String> = garbled.map(|word| quoted(word)).collect();
        return Failure::Usage(format!(
            "the command line is not UTF-8: {}\nhelp: a command can reach such a file by a pattern \
             in a shell, as in -S 'cat name*', or by a link with another name",
            garbled.join(", ")
        ))
        .report()
        .into();
    }
    usage_error::report(error, &command(), words)
}

/// Quotes a word and writes bytes that are not UTF-8 in hexadecimal.
fn quoted(word: &OsStr) -> String {
    let mut text = String::new();
    for chunk in word.as_encoded_bytes().utf8_chunks() {
        text += chunk.valid();
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    format!("'{text}'")
}

/// Runs the whole program and returns its exit code.
pub fn deadheat() -> ExitCode {
    // This check comes first, because a raced process must do nothing else.
    if let Some(code) = calibrate::role(std::env::args_os()) {
        return code;
    }
    on_enough_stack(program)
}

fn program() -> ExitCode {
    outlive_file_limits();
    // Dropped at the very end, where it removes the folder of an owner that has ended.
    let _owner = Owner::watched();
    let mut args = std::env::args_os();
    let name = PathBuf::from(args.next().unwrap_or_default());
    // In release archives, `deadheat` and `cargo-deadheat` are one executable with two names.
    if name
        .file_name()
        .is_some_and(|name| name == "cargo-deadheat")
    {
        return cargo_deadheat::program();
    }
    // Cargo starts this executable under other names while it builds revisions.
    if let Some(code) = cargo_deadheat::role(&name, &args.collect::<Vec<_>>()) {
        return code;
    }
    if let Some(code) = compare::role(std::env::args_os()) {
        return code;
    }
    if let Some(args) = link::LinkArgs::of(std::env::args_os()) {
        return link::link(&args).into();
    }
    let typed: Vec<OsString> = std::env::args_os().collect();
    let with_run = bare_race::with_run(typed.clone(), &command());
    let is_short = with_run.len() > typed.len();
    let (words, use_of_plan) = plan::taken_out(with_run.into_iter());
    let words = bench::passed_on(normalise::normalise(words.into_iter()));
    if let Err(failure) = misread::refuse(&words, &command()) {
        return failure.report().into();
    }
    let cli = match parsed(&words) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    if let Err(failure) = committed_links::refuse() {
        return failure.report().into();
    }
    let done = match cli.command {
        Command::Run(mut args) => {
            if is_short && let Some(word) = bare_race::bare_word(&typed, &args.commands) {
                return usage_error::no_command(word, &command()).report().into();
            }
            args.use_of_plan = use_of_plan;
            run::run(*args)
        }
        Command::Bench(mut args) => {
            args.options.use_of_plan = use_of_plan;
            bench::bench(*args)
        }
        Command::Rev(mut args) => {
            args.race.options.use_of_plan = use_of_plan;
            rev::rev(*args)
        }
        Command::Bisect(args) => deadheat_bisect::bisect(*args),
        Command::Plan(args) => plan::plan(&args),
        Command::Pack(args) => pack::pack(&args),
        Command::Compare(args) => compare::compare(*args),
        Command::Analyze(args) => recorded::analyze(*args),
        Command::Report(args) => recorded::report(*args),
        Command::Merge(args) => recorded::merge(*args),
        Command::History(args) => deadheat_history::history(*args),
        Command::Explain(args) => deadheat_explain::explain(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Calibrate(args) => calibrate::calibrate(&args),
        Command::Clean(args) => clean::clean(&args),
        Command::Link(args) => return link::link(&args).into(),
        Command::Completions(args) => manual::completions(&args, command()),
        Command::Man(args) => manual::man(&args, command()),
        Command::Placements(args) => link::placements(&args),
    };
    code(done)
}
