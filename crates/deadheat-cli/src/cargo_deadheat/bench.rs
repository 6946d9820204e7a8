//! `cargo deadheat`: `cargo bench`, with compiler and linker stood in for.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use deadheat::exit::{Failure, Status};
use deadheat::model::Json;
use deadheat_link::Roles;

use super::arguments::{Arguments, Bench};
use super::rustc::WRAPPED;

const HELP: &str = "\
Races the bench targets of a package with a new placement per replicate

Usage: cargo deadheat [OPTIONS OF cargo bench] [-- OPTIONS OF THE RACES]

This is `cargo bench`, except that what it links is recorded, and linked anew
for the races: function sections aligned, and shuffled by a seed. So a verdict
speaks of the source, and not of where the linker happened to put the code.
Cargo.toml and profiles stay as they are.

  cargo deadheat --bench text
  cargo deadheat --bench text -- sum --margin 0.5%
  cargo deadheat --bench text -- --help

Names of benchmarks stand behind `--`, as do all options of the races.

Options:
  -h, --help     Print this
      --version  Print the version

All other options are those of `cargo bench`, see `cargo bench --help`.";

/// Understands `cargo-deadheat deadheat …`, which is what cargo makes of
/// `cargo deadheat …`, and `cargo-deadheat …`.
pub fn bench(mut args: Vec<OsString>) -> Result<Status, Failure> {
    if args.first().is_some_and(|first| first == "deadheat") {
        args.remove(0);
    }
    match Arguments::read(&args) {
        Arguments::Help => println!("{HELP}"),
        Arguments::Version => println!("cargo-deadheat {}", env!("CARGO_PKG_VERSION")),
        Arguments::Stray(word) => {
            return Err(Failure::Usage(format!(
                "cargo deadheat does not know what to do with '{word}'; to race only the \
                 benchmarks whose names contain it, put it behind `--`: cargo deadheat -- {word} \
                 (a value of an option can stand after `=`: --option={word})"
            )));
        }
        Arguments::Bench(bench) => return Err(race(&bench, &args)),
    }
    Ok(Status::Done)
}

/// Becomes `cargo bench`, and returns only when it cannot.
fn race(bench: &Bench, args: &[OsString]) -> Failure {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    match prepared(bench, &cargo) {
        Err(failure) => failure,
        Ok(mut command) => {
            let problem = command.args(args).exec();
            Failure::Internal(format!("{}: {problem}", cargo.display()))
        }
    }
}

/// `cargo bench` without the arguments.
fn prepared(bench: &Bench, cargo: &OsStr) -> Result<Command, Failure> {
    let internal = |error: &dyn std::fmt::Display| Failure::Internal(error.to_string());
    let program = std::env::current_exe().map_err(|problem| {
        Failure::Internal(format!("cargo-deadheat cannot find itself: {problem}"))
    })?;
    let target = target_dir(bench, cargo)?;
    let roles = Roles::give(&target, &program).map_err(|error| internal(&error))?;
    for executable in roles
        .remove_unrecorded()
        .map_err(|error| internal(&error))?
    {
        let executable = executable.display();
        eprintln!(
            "deadheat: the record of how {executable} was linked is gone; it is linked again"
        );
    }
    let mut command = Command::new(cargo);
    command
        .arg("bench")
        .env("RUSTC_WORKSPACE_WRAPPER", roles.compiler())
        .env("DEADHEAT_PLACEMENTS", program);
    if let Some(theirs) = their_wrapper() {
        command.env(WRAPPED, theirs);
    }
    Ok(command)
}

/// A wrapper of the compiler that was there before, and stays in use.
fn their_wrapper() -> Option<OsString> {
    // Both are read by cargo, the first before the second.
    [
        "RUSTC_WORKSPACE_WRAPPER",
        "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
    ]
    .into_iter()
    .filter_map(std::env::var_os)
    .find(|wrapper| !wrapper.is_empty())
    // When a bench program starts `cargo deadheat` again, it is ours.
    .filter(|wrapper| Path::new(wrapper).file_name() != Some(Roles::COMPILER.as_ref()))
}

/// The folder in which cargo will build, absolute.
fn target_dir(bench: &Bench, cargo: &OsStr) -> Result<PathBuf, Failure> {
    if let Some(folder) = &bench.target_dir {
        return std::path::absolute(folder).map_err(|problem| {
            Failure::Usage(format!("--target-dir {}: {problem}", folder.display()))
        });
    }
    let metadata = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .args(&bench.metadata)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|problem| Failure::Internal(format!("{}: {problem}", cargo.display())))?;
    if !metadata.status.success() {
        // Cargo has said why.
        return Err(Failure::Usage(
            "`cargo metadata` does not know which package to race".to_owned(),
        ));
    }
    let text = String::from_utf8_lossy(&metadata.stdout);
    let folder = Json::parse(&text).and_then(|metadata| {
        let folder = metadata.as_object()?.get("target_directory")?;
        folder.as_text().map(PathBuf::from)
    });
    folder.ok_or_else(|| Failure::Internal("`cargo metadata` names no target_directory".to_owned()))
}
