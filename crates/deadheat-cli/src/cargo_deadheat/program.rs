//! The `cargo-deadheat` command: which of its parts is called.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
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
    if let Some(code) = role(&name, &args) {
        return code;
    }
    let done = match args.first().is_some_and(|first| first == "placements") {
        true => placements::placements(&Placements::parse_from(args).args),
        false => bench::bench(args),
    };
    match done {
        Ok(status) => status.into(),
        Err(failure) => failure.report().into(),
    }
}

/// What a program of ours does that was started by the `name` of a compiler
/// or linker; `None` when it goes by its own.
pub fn role(name: &Path, args: &[OsString]) -> Option<ExitCode> {
    match name.file_name().and_then(OsStr::to_str)? {
        Roles::COMPILER => Some(match rustc::compile(name, args.to_vec()) {
            Ok(status) => status.into(),
            Err(failure) => failure.report().into(),
        }),
        Roles::LINKER => Some(rustc::link(args).into()),
        _ => None,
    }
}
