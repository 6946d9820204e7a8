//! Runs a program under a profiler: a command, or an executable of Google Benchmark.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deadheat::parts::engine::{
    Captured, Ending, Interrupts, Tool, ToolInput, find_executable, google_benchmark_launch,
    is_executable, without_valgrind,
};
use deadheat::parts::model::{CommandLine, ExitPolicy, HarnessCalls, Input};

use crate::run_error::{ProfileError, Under};

pub(crate) struct Program {
    name: String,
    tool: Tool,
    policy: ExitPolicy,
}

/// The number of iterations in a launch of Google Benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaunchLength {
    /// Exactly this number of iterations, which Google Benchmark accepts from release 1.8 on.
    Iterations(u64),
    /// As few as possible: one, unless the benchmark fixes the number itself.
    Shortest,
}

impl Program {
    /// Returns the program of a command; `None` if the command is empty.
    pub(crate) fn of_command(line: &CommandLine) -> Result<Option<Self>, ProfileError> {
        let Some((program, arguments)) = without_valgrind(&line.words).split_first() else {
            return Ok(None);
        };
        let input = match &line.input {
            Input::Null => ToolInput::NONE,
            Input::File(file) => ToolInput::open(file).map_err(|error| ProfileError::Input {
                file: file.display().to_string(),
                error,
            })?,
        };
        Ok(Some(Self {
            name: program.clone(),
            tool: Tool {
                directory: line.directory.clone(),
                input,
                patience: line.timeout,
                ..Tool::new(program, arguments)
            },
            policy: line.exit_policy.clone(),
        }))
    }

    pub(crate) fn of_launch(
        calls: &HarnessCalls,
        length: LaunchLength,
        patience: Option<Duration>,
    ) -> Self {
        let tool = google_benchmark_launch(
            calls,
            &match length {
                LaunchLength::Iterations(count) => format!("{count}x"),
                LaunchLength::Shortest => "0.000000001".to_owned(),
            },
        );
        Self {
            name: tool.program.to_string_lossy().into_owned(),
            tool: Tool { patience, ..tool },
            policy: ExitPolicy::ZeroOnly,
        }
    }

    pub(crate) fn run_under(
        self,
        profiler: &Path,
        arguments: Vec<OsString>,
        variables: &[(&'static str, Option<&'static str>)],
        interrupts: &Interrupts,
    ) -> Result<Ended, ProfileError> {
        let Self {
            name,
            mut tool,
            policy,
        } = self;
        ensure_folder(tool.directory.as_deref())?;
        // Profilers report a missing program without a clear message.
        let Some(found) = find(&name, tool.directory.as_deref()) else {
            return Err(ProfileError::NoProgram { program: name });
        };
        tool.program = found;
        tool.variables.extend(variables);
        let tool = tool.under(profiler, arguments);
        let captured = tool.run_at_fixed_addresses(interrupts)?;
        Ok(Ended {
            name,
            captured,
            policy,
        })
    }
}

/// Returns the executable of a program that will run in `directory`, or in the current folder if
/// that is `None`.
fn find(program: &str, directory: Option<&Path>) -> Option<PathBuf> {
    match directory {
        // The profiler runs in the folder and resolves the path from there.
        Some(folder) if program.contains('/') => {
            is_executable(&folder.join(program)).then(|| program.into())
        }
        _ => find_executable(program),
    }
}

fn ensure_folder(directory: Option<&Path>) -> Result<(), ProfileError> {
    match directory.filter(|folder| !folder.is_dir()) {
        None => Ok(()),
        Some(folder) => Err(ProfileError::NoFolder {
            folder: folder.display().to_string(),
        }),
    }
}

pub(crate) struct Ended {
    pub(crate) name: String,
    pub(crate) captured: Captured,
    pub(crate) policy: ExitPolicy,
}

impl Ended {
    /// Returns an error unless the program ended with an accepted exit code.
    pub(crate) fn check(self, under: Under) -> Result<(), ProfileError> {
        let program = self.name;
        let ended = match &self.captured.ending {
            None => return Ok(()),
            Some(Ending::Exited(code)) if self.policy.accepts(*code) => return Ok(()),
            Some(Ending::Silent(patience)) => {
                return Err(ProfileError::TimedOut {
                    program,
                    under,
                    patience: *patience,
                });
            }
            Some(killed @ Ending::Signalled(_)) => killed.to_string(),
            Some(_) => self.captured.problem().unwrap_or_default(),
        };
        Err(ProfileError::Failed {
            program,
            under: Some(under),
            ended,
        })
    }
}

pub(crate) fn run_hook(
    words: &[String],
    directory: Option<&Path>,
    interrupts: &Interrupts,
) -> Result<(), ProfileError> {
    let Some((program, arguments)) = words.split_first() else {
        return Ok(());
    };
    ensure_folder(directory)?;
    let hook = Tool {
        directory: directory.map(Path::to_owned),
        ..Tool::new(program, arguments)
    };
    match hook.run_at_fixed_addresses(interrupts)?.problem() {
        None => Ok(()),
        Some(ended) => Err(ProfileError::Failed {
            program: words.join(" "),
            under: None,
            ended,
        }),
    }
}
