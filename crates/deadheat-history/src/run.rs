//! `deadheat history`: dispatches to the subcommands.

use deadheat::parts::exit::{Failure, Status};

use crate::command::{HistoryArgs, HistoryCommand};
use crate::run_accept::accept;
use crate::run_add::{add, push};
#[cfg(target_os = "linux")]
use crate::run_extend::extend;
use crate::run_show::{check, page, show};

/// Runs the subcommand that the user chose.
pub fn history(args: HistoryArgs) -> Result<Status, Failure> {
    match args.command {
        HistoryCommand::Add(args) => add(&args),
        HistoryCommand::Push(args) => push(&args),
        HistoryCommand::Show(args) => show(&args),
        HistoryCommand::Check(args) => check(&args),
        HistoryCommand::Accept(args) => accept(&args),
        #[cfg(target_os = "linux")]
        HistoryCommand::Extend(args) => extend(*args),
        HistoryCommand::Page(args) => page(&args),
    }
}
