//! Refuses the commands that measure, on systems other than Linux.

use std::ffi::OsString;
use std::process::ExitCode;

use deadheat::parts::exit::Failure;
use deadheat::parts::system::needs_linux;

use crate::{bare_race, normalise};

/// The commands that exist on Linux only.
const COMMANDS: [&str; 14] = [
    "run",
    "bench",
    "rev",
    "load",
    "bisect",
    "plan",
    "pack",
    "explain",
    "doctor",
    "calibrate",
    "clean",
    "link",
    "placements",
    "load-worker",
];

/// Returns `None`, because this process is not a contender.
pub fn contender() -> Option<ExitCode> {
    None
}

/// Returns `None`, because only races have owners, and races exist on Linux only.
pub fn watched_owner() -> Option<()> {
    None
}

/// Returns `None`, because no build calls this program.
pub fn role() -> Option<ExitCode> {
    None
}

pub struct Words {
    /// The words to parse.
    pub parsed: Vec<OsString>,
}

impl Words {
    /// Fails if the user names a command that exists on Linux only, or two commands to race.
    pub fn of(typed: Vec<OsString>, command: &clap::Command) -> Result<Self, Failure> {
        let words = bare_race::with_run(typed, command);
        let asked = match &words[..] {
            [_, history, extend, ..] if history == "history" && extend == "extend" => {
                Some("deadheat history extend".to_owned())
            }
            [_, first, ..] if COMMANDS.iter().any(|known| first == known) => {
                Some(format!("deadheat {}", first.display()))
            }
            _ => None,
        };
        match asked {
            Some(asked) => Err(Failure::Usage(needs_linux(&asked))),
            None => Ok(Self {
                parsed: normalise::normalise(words.into_iter()),
            }),
        }
    }
}

/// Refuses to race, and returns the exit code.
pub fn cargo_deadheat() -> ExitCode {
    Failure::Usage(needs_linux("cargo deadheat"))
        .report()
        .into()
}
