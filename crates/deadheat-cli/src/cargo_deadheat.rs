//! The `cargo-deadheat` command: `cargo bench` with placements drawn anew. Cargo and rustc start it
//! again under other names, to compile and to link, and bench programs ask it for neutral links.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Parser;
use deadheat::parts::answer::to_stdout;
use deadheat::parts::exit::{Failure, Status, code};
use deadheat::parts::terminal::to_stderr;
use deadheat_build::{Revisions, stand_in, target_dir};
use deadheat_link::Roles;

use crate::cargo_arguments::{Arguments, Bench};
use crate::link::{PlacementsArgs, placements};
use crate::{rev, rustc};

/// The text of `cargo deadheat --help`.
pub const HELP: &str = "\
Races the bench targets of a package, or two revisions of them, with a new
placement per replicate

Usage: cargo deadheat [BASE[..HEAD]] [OPTIONS OF cargo bench] [-- OPTIONS OF THE RACES]

With BASE, a revision of git, every benchmark of it is raced against the same
one of the working tree as it is, or of HEAD. Both are built with the same
options, and what is built of a commit is kept.

  cargo deadheat main
  cargo deadheat HEAD~1 --bench text -- sum
  cargo deadheat v1.0..v1.1

One source can be built in two ways, to see whether a feature, a flag or a
compiler pays. Without BASE that is the working tree.

  cargo deadheat --base-args '--features a' --cand-args '--features b'
  cargo deadheat HEAD..HEAD --cand-env RUSTFLAGS='-C target-cpu=native'

Without BASE, the benchmarks race what they put against each other.
This is `cargo bench`, except that what it links is recorded, and linked anew
for the races: function sections aligned, and shuffled by a seed. So a verdict
speaks of the source, and not of where the linker happened to put the code.
Cargo.toml and profiles stay as they are.

  cargo deadheat --bench text
  cargo deadheat --bench text -- sum --margin 0.5%
  cargo deadheat --bench text -- --help

Names of benchmarks stand behind `--`, as do all options of the races.

Options:
      --benches-from REV      Build both sides with the bench targets of this one
      --base-args ARGS        Options of cargo bench for the baseline alone
      --base-env NAME=VALUE   A variable for the build of the baseline
      --base-toolchain NAME   The toolchain of rustup that builds the baseline
      --cand-args, --cand-env, --cand-toolchain
                              The same for the candidate
  -h, --help                  Print this
      --version               Print the version

All other options are those of `cargo bench`, see `cargo bench --help`.";

/// Understands `cargo-deadheat deadheat …`, which is what cargo makes of
/// `cargo deadheat …`, and `cargo-deadheat …`.
fn bench(mut args: Vec<OsString>) -> Result<Status, Failure> {
    if args.first().is_some_and(|first| first == "deadheat") {
        args.remove(0);
    }
    match Arguments::read(&args) {
        Arguments::Help => to_stdout(&format!("{HELP}\n"))?,
        Arguments::Version => {
            to_stdout(&format!("cargo-deadheat {}\n", env!("CARGO_PKG_VERSION")))?;
        }
        Arguments::Stray(word) => {
            return Err(Failure::Usage(format!(
                "cargo deadheat does not know what to do with '{word}': one revision, or \
                 BASE..HEAD, is all it needs; to race only the benchmarks whose names contain \
                 it, put it behind `--`: cargo deadheat -- {word} (a value of an option can \
                 stand after `=`: --option={word})"
            )));
        }
        Arguments::Bench(bench) => match bench.base.clone() {
            Some(base) => {
                return rev::CargoRace::of(bench, cargo(), rev::parsed(&base)?)?.race();
            }
            None if bench.ways.is_empty() => return Err(race(&bench, &args)),
            None => {
                let twice = Revisions::working_tree_twice();
                return rev::CargoRace::of(bench, cargo(), twice)?.race();
            }
        },
    }
    Ok(Status::Done)
}

fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Becomes `cargo bench`, and returns only when it cannot.
fn race(bench: &Bench, args: &[OsString]) -> Failure {
    let cargo = cargo();
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
    let program = std::env::current_exe().map_err(|problem| {
        Failure::Internal(format!("cargo-deadheat cannot find itself: {problem}"))
    })?;
    let named = bench.target_dir.as_deref();
    let target = target_dir(cargo, Path::new("."), named, &bench.metadata)
        .map_err(|error| rev::failure(error.into()))?;
    let mut command = Command::new(cargo);
    command.arg("bench").env("DEADHEAT_PLACEMENTS", &program);
    let notes = stand_in(&mut command, &target, &program)
        .map_err(|error| Failure::Internal(error.to_string()))?;
    for note in notes {
        to_stderr("deadheat", &note.to_string());
    }
    Ok(command)
}

/// Make neutral links of an executable, for programs
#[derive(Debug, Parser)]
#[command(name = "cargo-deadheat placements")]
struct Placements {
    #[command(flatten)]
    args: PlacementsArgs,
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
    let done = if args.first().is_some_and(|first| first == "placements") {
        placements(&Placements::parse_from(args).args)
    } else {
        bench(args)
    };
    code(done)
}

/// Does the work of the compiler or linker by whose `name` a program of ours was started, and
/// returns the exit code; `None` when the program goes by its own name.
pub fn role(name: &Path, args: &[OsString]) -> Option<ExitCode> {
    match name.file_name().and_then(OsStr::to_str)? {
        Roles::COMPILER => Some(code(Err(rustc::compile(name, args)))),
        Roles::LINKER => Some(rustc::link(args).into()),
        _ => None,
    }
}
