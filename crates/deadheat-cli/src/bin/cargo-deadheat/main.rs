//! The `cargo-deadheat` command: races of `cargo bench` with placements drawn
//! anew. Cargo and rustc start it again under other names, to compile and to
//! link, and bench programs ask it for neutral links.

mod arguments;
mod bench;
mod compilation;
// One subcommand of two programs.
#[path = "../../placements.rs"]
mod placements;
mod rustc;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use deadheat_link::Roles;

/// Make neutral links of an executable, for programs
#[derive(Debug, Parser)]
#[command(name = "cargo-deadheat placements")]
struct Placements {
    #[command(flatten)]
    args: placements::PlacementsArgs,
}

fn main() -> ExitCode {
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
