//! A program that Valgrind starts: its words and its surroundings.

use std::fs::File;
use std::io::pipe;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use deadheat_model::{ExitPolicy, Input};

use super::error::ProfileError;
use crate::executable::{find_executable, is_executable};
use crate::interrupt::Interrupts;
use crate::memory_layout::at_fixed_addresses;
use crate::subprocess::{Answer, Captured, run_captured};

/// A program that is counted, and its surroundings.
pub(crate) struct Counted<'a> {
    pub(crate) program: &'a str,
    pub(crate) arguments: &'a [String],
    pub(crate) directory: Option<&'a Path>,
    /// Variables that it does not see.
    pub(crate) hidden: &'a [&'static str],
    pub(crate) stdin: Stdio,
    pub(crate) patience: Option<Duration>,
    pub(crate) policy: &'a ExitPolicy,
}

impl Counted<'_> {
    /// Lets `command`, which ends with the options of Valgrind, start it.
    pub(super) fn hand_to(self, command: &mut Command) -> Result<(), ProfileError> {
        run_within(command, self.directory)?;
        // What Valgrind says of a program that is not there hardly names it.
        let found = match self.directory {
            // It starts where the program runs, and looks from there.
            Some(folder) if self.program.contains('/') => {
                let here = folder.join(self.program);
                is_executable(&here).then(|| self.program.into())
            }
            _ => find_executable(self.program),
        };
        let Some(found) = found else {
            let program = self.program.to_owned();
            return Err(ProfileError::NoProgram { program });
        };
        command.arg(found).args(self.arguments).stdin(self.stdin);
        for variable in self.hidden {
            command.env_remove(variable);
        }
        Ok(())
    }
}

/// Has `command` run in this folder, or in that of deadheat.
pub(super) fn run_within(
    command: &mut Command,
    directory: Option<&Path>,
) -> Result<(), ProfileError> {
    let Some(directory) = directory else {
        return Ok(());
    };
    if !directory.is_dir() {
        let folder = directory.display().to_string();
        return Err(ProfileError::NoFolder { folder });
    }
    command.current_dir(directory);
    Ok(())
}

/// Runs it where addresses are drawn for nobody, since what lies where decides how often some
/// functions loop; what it prints is nobody's business.
pub(super) fn run(
    command: Command,
    patience: Option<Duration>,
    interrupts: &Interrupts,
) -> Result<Captured, ProfileError> {
    let (here, there) = pipe().map_err(ProfileError::Folder)?;
    let answer = Answer::Piped {
        here,
        there,
        shown: false,
    };
    let captured = at_fixed_addresses(true, || {
        run_captured(command, answer, None, patience, interrupts)
    });
    Ok(captured?)
}

pub(super) fn stdin(input: &Input) -> Result<Stdio, ProfileError> {
    match input {
        Input::Null => Ok(Stdio::null()),
        Input::File(file) => match File::open(file) {
            Ok(open) => Ok(open.into()),
            Err(error) => Err(ProfileError::Input {
                file: file.display().to_string(),
                error,
            }),
        },
    }
}
