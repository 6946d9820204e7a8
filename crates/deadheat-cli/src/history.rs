//! `deadheat history`: levels, steps and creep of benchmarks over commits, from the races between
//! them. Here are its subcommands.

mod accept;
mod add;
mod extend;
mod show;

use clap::{Args, Subcommand};
use deadheat::parts::exit::{Failure, Status};

/// Shown at the end of `deadheat history --help`.
pub const EXAMPLES: &str = "\
Examples:
  deadheat rev HEAD~1..HEAD --history
  deadheat history extend v1.0..HEAD
  deadheat history add .deadheat/runs
  deadheat history show
  deadheat history show parse --range v1.0..main
  deadheat history check --fail-on step
  deadheat history accept 1a2b3c4d 'checks what it reads'
  deadheat history page --html history.html";

/// Options of `deadheat history`.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    #[command(subcommand)]
    command: HistoryCommand,
}

#[derive(Debug, Subcommand)]
enum HistoryCommand {
    /// Add runs of two commits to the index
    #[command(after_help = add::ADD_EXAMPLES)]
    Add(add::AddArgs),
    /// Commit run files to a branch that holds nothing else, and check nothing out
    #[command(after_help = add::PUSH_EXAMPLES)]
    Push(add::PushArgs),
    /// Show the levels of benchmarks over commits, with steps and creep
    #[command(after_help = show::SHOW_EXAMPLES)]
    Show(show::ShowArgs),
    /// Fail where there is a step that nobody accepted
    #[command(after_help = show::CHECK_EXAMPLES)]
    Check(show::CheckArgs),
    /// Accept the step at a commit, and say why
    #[command(after_help = accept::EXAMPLES)]
    Accept(accept::AcceptArgs),
    /// Race the commits of a range, as far as their levels need it
    #[command(after_help = extend::EXAMPLES)]
    Extend(Box<extend::ExtendArgs>),
    /// Write the history as a page
    #[command(after_help = show::PAGE_EXAMPLES)]
    Page(show::PageArgs),
}

/// Does what was asked for.
pub fn history(args: HistoryArgs) -> Result<Status, Failure> {
    match args.command {
        HistoryCommand::Add(args) => add::add(&args),
        HistoryCommand::Push(args) => add::push(&args),
        HistoryCommand::Show(args) => show::show(&args),
        HistoryCommand::Check(args) => show::check(&args),
        HistoryCommand::Accept(args) => accept::accept(&args),
        HistoryCommand::Extend(args) => extend::extend(*args),
        HistoryCommand::Page(args) => show::page(&args),
    }
}
