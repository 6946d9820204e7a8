//! The `deadheat` command: its subcommands, and the dispatch to them.

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use deadheat::parts::exit::{Failure, code, on_enough_stack};
use deadheat::parts::system::{keep_status_of_children, outlive_file_limits};

use crate::measuring::{self, Words};
#[cfg(target_os = "linux")]
use crate::measuring::{HiddenCommand, MachineCommand, PlanCommand, RaceCommand};
use crate::{
    committed_links, compare, file_roles, help, manual, misread, modes, recorded, usage_error,
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
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    Race(RaceCommand),
    /// Compare saved results of any tool, or race two programs
    #[command(after_help = compare::EXAMPLES)]
    Compare(Box<compare::CompareArgs>),
    /// Analyse a recorded run, a tidy CSV file or results of another tool
    #[command(after_help = recorded::ANALYZE_EXAMPLES)]
    Analyze(Box<recorded::AnalyzeArgs>),
    /// Write a page, a comment or pictures of recorded results
    #[command(after_help = recorded::REPORT_EXAMPLES)]
    Report(Box<recorded::ReportCommand>),
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    Plan(PlanCommand),
    /// Merge the parts that several machines raced, and print the answer
    #[command(after_help = recorded::MERGE_EXAMPLES)]
    Merge(Box<recorded::MergeArgs>),
    /// Follow benchmarks over commits: their levels, steps and creep
    #[command(after_help = deadheat_history::EXAMPLES)]
    History(Box<deadheat_history::HistoryArgs>),
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    Machine(MachineCommand),
    /// Print a completion script for a shell
    #[command(after_help = manual::COMPLETIONS_EXAMPLES)]
    Completions(manual::CompletionsArgs),
    /// Print a manual page, or write all of them into a folder
    #[command(after_help = manual::MAN_EXAMPLES)]
    Man(manual::ManArgs),
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    Hidden(HiddenCommand),
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
    if let Some(code) = measuring::contender() {
        return code;
    }
    on_enough_stack(program)
}

fn program() -> ExitCode {
    outlive_file_limits();
    keep_status_of_children();
    // Dropped at the very end, where it removes the folder of an owner that has ended.
    let _owner = measuring::watched_owner();
    if let Some(code) = measuring::role() {
        return code;
    }
    if let Some(code) = compare::role(std::env::args_os()) {
        return code;
    }
    let words = match Words::of(std::env::args_os().collect(), &command()) {
        Ok(words) => words,
        Err(failure) => return failure.report().into(),
    };
    if let Err(failure) = misread::refuse(&words.parsed, &command()) {
        return failure.report().into();
    }
    let cli = match parsed(&words.parsed) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    if let Err(failure) = committed_links::refuse() {
        return failure.report().into();
    }
    code(match cli.command {
        #[cfg(target_os = "linux")]
        Command::Race(race) => return race.run(&words, &command()),
        Command::Compare(args) => compare::compare(*args),
        Command::Analyze(args) => recorded::analyze(*args),
        Command::Report(args) => recorded::report(*args),
        #[cfg(target_os = "linux")]
        Command::Plan(plan) => return plan.run(),
        Command::Merge(args) => recorded::merge(*args),
        Command::History(args) => deadheat_history::history(*args),
        #[cfg(target_os = "linux")]
        Command::Machine(command) => return command.run(),
        Command::Completions(args) => manual::completions(&args, command()),
        Command::Man(args) => manual::man(&args, command()),
        #[cfg(target_os = "linux")]
        Command::Hidden(command) => return command.run(),
    })
}
