//! A program that a profiler starts: its words, its surroundings, and its end.

use std::fs::File;
use std::io::pipe;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use deadheat_model::{CommandLine, ExitPolicy, Input};

use super::error::{ProfileError, Under, killed_by};
use super::words::without_valgrind;
use crate::executable::{find_executable, is_executable};
use crate::interrupt::Interrupts;
use crate::memory_layout::at_fixed_addresses;
use crate::subprocess::{Answer, Captured, Ending, run_captured};

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

impl<'a> Counted<'a> {
    /// A command of a race; `None` where it has no words.
    pub(crate) fn of_command(line: &'a CommandLine) -> Result<Option<Self>, ProfileError> {
        let Some((program, arguments)) = without_valgrind(&line.words).split_first() else {
            return Ok(None);
        };
        Ok(Some(Self {
            program,
            arguments,
            directory: line.directory.as_deref(),
            hidden: &[],
            stdin: stdin(&line.input)?,
            patience: line.timeout,
            policy: &line.exit_policy,
        }))
    }

    /// Lets `command`, which ends with the options of a profiler, start it.
    pub(crate) fn hand_to(self, command: &mut Command) -> Result<(), ProfileError> {
        run_within(command, self.directory)?;
        // What a profiler says of a program that is not there hardly names it.
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
fn run_within(command: &mut Command, directory: Option<&Path>) -> Result<(), ProfileError> {
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
pub(crate) fn run(
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

fn stdin(input: &Input) -> Result<Stdio, ProfileError> {
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

/// Runs a hook in this folder, or in that of deadheat; it is not counted.
pub fn run_hook(
    words: &[String],
    directory: Option<&Path>,
    interrupts: &Interrupts,
) -> Result<(), ProfileError> {
    let Some((program, arguments)) = words.split_first() else {
        return Ok(());
    };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    run_within(&mut command, directory)?;
    match run(command, None, interrupts)?.problem() {
        None => Ok(()),
        Some(ended) => Err(ProfileError::Failed {
            program: words.join(" "),
            under: None,
            ended,
        }),
    }
}

/// The reason, if any, why a program did not do its work under this profiler.
pub(crate) fn checked(
    program: &str,
    under: Under,
    captured: &Captured,
    policy: &ExitPolicy,
) -> Result<(), ProfileError> {
    let program = program.to_owned();
    let ended = match &captured.ending {
        None => return Ok(()),
        Some(Ending::Exited(code)) if policy.accepts(*code) => return Ok(()),
        Some(Ending::Silent(patience)) => {
            return Err(ProfileError::TimedOut {
                program,
                under,
                patience: *patience,
            });
        }
        Some(Ending::Signalled(signal)) => killed_by(*signal),
        Some(_) => captured.problem().unwrap_or_default(),
    };
    Err(ProfileError::Failed {
        program,
        under: Some(under),
        ended,
    })
}
