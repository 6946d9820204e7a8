//! The subcommands of `deadheat history`, and the index that all of them use.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::{HistoryIndex, find_index};
use deadheat_build::top_of;

use super::{accept, add, show};

/// Shown at the end of `deadheat history --help`.
pub const EXAMPLES: &str = "\
Examples:
  deadheat rev HEAD~1..HEAD --history
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
    #[command(after_help = add::EXAMPLES)]
    Add(add::AddArgs),
    /// Show the levels of benchmarks over commits, with steps and creep
    #[command(after_help = show::SHOW_EXAMPLES)]
    Show(show::ShowArgs),
    /// Fail where there is a step that nobody accepted
    #[command(after_help = show::CHECK_EXAMPLES)]
    Check(show::CheckArgs),
    /// Accept the step at a commit, and say why
    #[command(after_help = accept::EXAMPLES)]
    Accept(accept::AcceptArgs),
    /// Write the history as a page
    #[command(after_help = show::PAGE_EXAMPLES)]
    Page(show::PageArgs),
}

/// The index of runs.
#[derive(Clone, Debug, Default, Args)]
pub struct IndexArgs {
    /// The index [default: .deadheat/history.sqlite, here or the nearest upwards]
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub index: Option<PathBuf>,
}

impl IndexArgs {
    /// The path of the index, which need not be there.
    pub fn path(&self) -> Result<PathBuf, Failure> {
        if let Some(path) = &self.index {
            return Ok(path.clone());
        }
        let here = here()?;
        Ok(find_index(&here, top_of(&here)))
    }

    /// Opens the index that is there.
    pub fn open(&self) -> Result<HistoryIndex, Failure> {
        let path = self.path()?;
        let found = HistoryIndex::open(&path).map_err(Failure::reading)?;
        found.ok_or_else(|| {
            Failure::Usage(format!(
                "there is no index {}; `deadheat history add FILES` makes it of run files",
                shown(&path)
            ))
        })
    }

    /// Opens the index to add to it, and makes it where there is none.
    pub fn create(&self) -> Result<HistoryIndex, Failure> {
        let path = self.path()?;
        HistoryIndex::create(&path).map_err(|error| match error.is_write_error() {
            true => Failure::unwritable("--index", &error),
            false => Failure::reading(error),
        })
    }
}

/// The folder of the user.
pub fn here() -> Result<PathBuf, Failure> {
    let here = std::env::current_dir();
    here.map_err(|problem| Failure::Internal(format!("the current folder: {problem}")))
}

/// A path as the user would write it: from here, where it lies below.
pub fn shown(path: &Path) -> String {
    let from_here = here().ok();
    let from_here = from_here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    from_here
        .unwrap_or_else(|| path.to_owned())
        .display()
        .to_string()
}

/// Does what was asked for.
pub fn history(args: HistoryArgs) -> Result<Status, Failure> {
    match args.command {
        HistoryCommand::Add(args) => add::add(&args),
        HistoryCommand::Show(args) => show::show(&args),
        HistoryCommand::Check(args) => show::check(&args),
        HistoryCommand::Accept(args) => accept::accept(&args),
        HistoryCommand::Page(args) => show::page(&args),
    }
}
