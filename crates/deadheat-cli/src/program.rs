//! The `deadheat` command: its subcommands, and which of them is called.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use deadheat::parts::engine::Owner;
use deadheat::parts::exit::{Failure, code, on_enough_stack};

use crate::{
    bare_race, bench, bisect, calibrate, cargo_deadheat, clean, compare, doctor, explain, help,
    history, link, manual, options, plan, recorded, rev, run, usage_error,
};

/// Races too close to call: is B faster than A, by how much, how sure?
#[derive(Debug, Parser)]
#[command(name = "deadheat", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Race whole commands; the first is the baseline
    #[command(after_help = run::EXAMPLES)]
    Run(Box<run::RunArgs>),
    /// Race two builds, benchmark by benchmark, or the contenders of one
    #[command(after_help = bench::EXAMPLES)]
    Bench(Box<bench::BenchArgs>),
    /// Race two git revisions, or one and the working tree
    #[command(after_help = rev::EXAMPLES)]
    Rev(Box<rev::RevArgs>),
    /// Find the commit that changed the time, by races
    #[command(after_help = bisect::EXAMPLES)]
    Bisect(Box<bisect::BisectArgs>),
    /// Set saved results side by side, of any tool; programs race
    #[command(after_help = compare::EXAMPLES)]
    Compare(Box<compare::CompareArgs>),
    /// Analyse a recorded run, a tidy CSV file or results of another tool again
    #[command(after_help = recorded::ANALYZE_EXAMPLES)]
    Analyze(Box<recorded::AnalyzeArgs>),
    /// Make a page, a comment or pictures of a recorded run
    #[command(after_help = recorded::REPORT_EXAMPLES)]
    Report(Box<recorded::ReportCommand>),
    /// Write down the plan of a race, for other machines or another time
    #[command(after_help = plan::PLAN_EXAMPLES)]
    Plan(plan::PlanArgs),
    /// Put a plan and all that it races into one file, for other machines
    #[command(after_help = plan::PACK_EXAMPLES)]
    Pack(plan::PackArgs),
    /// Make one run of the parts that several machines raced, and answer
    #[command(after_help = recorded::MERGE_EXAMPLES)]
    Merge(Box<recorded::MergeArgs>),
    /// Follow benchmarks over commits: their levels, steps and creep
    #[command(after_help = history::EXAMPLES)]
    History(Box<history::HistoryArgs>),
    /// Say where the time went: what both sides execute, function by function
    #[command(after_help = explain::EXAMPLES)]
    Explain(explain::ExplainArgs),
    /// Look at this machine: what disturbs measurements, by how much, and what mends it
    #[command(after_help = doctor::EXAMPLES)]
    Doctor(doctor::DoctorArgs),
    /// Find out how far verdicts can be believed on this machine
    #[command(after_help = calibrate::EXAMPLES)]
    Calibrate(Box<calibrate::CalibrateArgs>),
    /// Say how much room is taken by what deadheat keeps, and remove what can be made again
    #[command(after_help = clean::EXAMPLES)]
    Clean(clean::CleanArgs),
    /// Link as asked, and record the link for races with many placements
    #[command(after_help = link::EXAMPLES)]
    Link(link::LinkArgs),
    /// Print what makes a shell complete commands and options
    #[command(after_help = manual::COMPLETIONS_EXAMPLES)]
    Completions(manual::CompletionsArgs),
    /// Print a manual page, or write all of them into a folder
    #[command(after_help = manual::MAN_EXAMPLES)]
    Man(manual::ManArgs),
    /// Make neutral links of an executable, for programs
    #[command(hide = true)]
    Placements(link::PlacementsArgs),
}

/// The command line as users see it: what only programs call is left out.
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

/// Reads the command line.
fn parsed(words: &[OsString]) -> Result<Cli, clap::Error> {
    let matches = help::arranged(Cli::command()).try_get_matches_from(words)?;
    Cli::from_arg_matches(&matches)
}

/// Shows help, the version, or what is wrong with the command line.
fn refused(error: &clap::Error, words: &[OsString]) -> ExitCode {
    if error.kind() == ErrorKind::InvalidUtf8 {
        let garbled = words.iter().filter(|word| word.to_str().is_none());
        let garbled: Vec<String> = garbled.map(|word| quoted(word)).collect();
        return Failure::Usage(format!(
            "the command line is not UTF-8: {}\nhelp: a command can reach such a file by a pattern in \
             a shell, as in -S 'cat name*', or by a link with another name",
            garbled.join(", ")
        ))
        .report()
        .into();
    }
    usage_error::report(error, &command(), words)
}

/// A word in quotes, with the bytes that are not UTF-8 in hexadecimal.
fn quoted(word: &OsStr) -> String {
    let mut text = String::new();
    for chunk in word.as_encoded_bytes().utf8_chunks() {
        text += chunk.valid();
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    format!("'{text}'")
}

/// The whole program, from the arguments of this process to its exit code.
pub fn deadheat() -> ExitCode {
    // First of all: what races should do nothing else.
    if let Some(code) = calibrate::role(std::env::args_os()) {
        return code;
    }
    on_enough_stack(program)
}

fn program() -> ExitCode {
    // Held to the end, when the folder of an owner that is gone can be removed.
    let _owner = Owner::watched();
    let mut args = std::env::args_os();
    let name = PathBuf::from(args.next().unwrap_or_default());
    // In an archive both programs are one file.
    if name
        .file_name()
        .is_some_and(|name| name == "cargo-deadheat")
    {
        return cargo_deadheat::program();
    }
    // Cargo starts it by other names while revisions are built.
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
    let (words, use_of_plan) = plan::taken_out(bare_race::with_run(typed, &command()).into_iter());
    let words = bench::passed_on(options::normalise(words.into_iter()));
    let cli = match parsed(&words) {
        Ok(cli) => cli,
        Err(error) => return refused(&error, &words),
    };
    let done = match cli.command {
        Command::Run(mut args) => {
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
        Command::Bisect(args) => bisect::bisect(*args),
        Command::Plan(args) => plan::plan(&args),
        Command::Pack(args) => plan::pack(&args),
        Command::Compare(args) => compare::compare(*args),
        Command::Analyze(args) => recorded::analyze(*args),
        Command::Report(args) => recorded::report(*args),
        Command::Merge(args) => recorded::merge(*args),
        Command::History(args) => history::history(*args),
        Command::Explain(args) => explain::explain(&args),
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
