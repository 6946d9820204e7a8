//! The `cargo-deadheat` command: which of its parts is called.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use deadheat_link::Roles;

use super::{bench, rustc};
use crate::placements;

/// Make neutral links of an executable, for programs
#[derive(Debug, Parser)]
#[command(name = "cargo-deadheat placements")]
struct Placements {
    #[command(flatten)]
    args: placements::PlacementsArgs,
}

/// The whole program, from the name and arguments of this process to its exit
/// code.
pub fn cargo_deadheat() -> ExitCode {
    let mut args = std::env::args_os();
    let name = PathBuf::from(args.next().unwrap_or_default());
    let args: Vec<OsString> = args.collect();
    let done = match name.file_name().and_then(OsStr::to_str) {
        Some(Roles::COMPILER) => rustc::compile(&name, args),
        Some(Roles::LINKER) => return rustc::link(&args).into(),
        _ if args.first().is_some_and(|first| first == "placements") => {
            placements::placements(&Placements::parse_from(args).args)
        }
        _ => bench::bench(args),
    };
    match done {
        Ok(status) => status.into(),
        Err(failure) => failure.report().into(),
    }
}
