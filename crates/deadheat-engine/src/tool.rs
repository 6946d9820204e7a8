//! Tools that deadheat starts outside of races, such as profilers. Each leads a process group,
//! which is killed on a time-out, on an interrupt and when deadheat dies.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, pipe};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::executable::run_in;
use crate::interrupt::{Interrupted, Interrupts};
use crate::launch_folder::LaunchFolder;
use crate::memory_layout::at_fixed_addresses;
use crate::subprocess::{Answer, Job, run};

pub use crate::subprocess::{Captured, Ending};

/// The command line and the environment of a tool that is run once.
#[derive(Debug)]
pub struct Tool {
    /// The executable of the tool.
    pub program: PathBuf,
    /// The arguments of the tool.
    pub arguments: Vec<OsString>,
    /// The working directory of the tool; deadheat's if `None`. Relative folders in `PATH` still
    /// refer to the working directory of deadheat.
    pub directory: Option<PathBuf>,
    /// Environment variables with their values; `None` removes the variable.
    pub variables: Vec<(&'static str, Option<&'static str>)>,
    /// The standard input of the tool.
    pub input: ToolInput,
    /// The maximum time without output, or the maximum run time if the output is discarded; `None`
    /// for no limit.
    pub patience: Option<Duration>,
}

/// The standard input of a tool.
#[derive(Debug)]
pub struct ToolInput(Option<File>);

impl ToolInput {
    /// An empty input.
    pub const NONE: Self = Self(None);

    /// Opens a file as the standard input of a tool.
    pub fn open(file: &Path) -> io::Result<Self> {
        Ok(Self(Some(File::open(file)?)))
    }
}

/// The error of running a tool.
#[derive(Debug)]
pub enum ToolError {
    /// A signal asked deadheat to stop.
    Interrupted,
    /// The pipe or the file for the output of the tool cannot be created.
    Output(io::Error),
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => f.write_str("interrupted"),
            Self::Output(error) => write!(f, "the output of a tool cannot be captured: {error}"),
        }
    }
}

impl std::error::Error for ToolError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Interrupted => None,
            Self::Output(error) => Some(error),
        }
    }
}

impl From<Interrupted> for ToolError {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

impl Tool {
    /// Returns a tool with these arguments, without input or time limit.
    pub fn new(
        program: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            directory: None,
            variables: Vec::new(),
            input: ToolInput::NONE,
            patience: None,
        }
    }

    /// Returns a tool that runs `tool` with `arguments`, followed by the command line of this tool.
    pub fn under(self, tool: &Path, mut arguments: Vec<OsString>) -> Self {
        arguments.push(self.program.into());
        arguments.extend(self.arguments);
        Self {
            program: tool.to_owned(),
            arguments,
            ..self
        }
    }

    /// Runs the tool and returns its standard output.
    pub fn read(self, interrupts: &Interrupts) -> Result<Captured, ToolError> {
        self.run(Answer::Printed, interrupts)
    }

    /// Runs the tool with its standard output in a new file of the folder.
    pub fn write_into(
        self,
        folder: &LaunchFolder,
        name: &str,
        interrupts: &Interrupts,
    ) -> Result<Captured, ToolError> {
        let file = folder.create(name).map_err(ToolError::Output)?;
        self.run(Answer::Filed(file.into()), interrupts)
    }

    /// Runs the tool without address space randomization, because the addresses decide how often
    /// some functions loop. Discards its standard output.
    pub fn run_at_fixed_addresses(self, interrupts: &Interrupts) -> Result<Captured, ToolError> {
        let (here, there) = pipe().map_err(ToolError::Output)?;
        let answer = Answer::Piped {
            here,
            there,
            shown: false,
        };
        at_fixed_addresses(true, || self.run(answer, interrupts))
    }

    fn run(self, answer: Answer, interrupts: &Interrupts) -> Result<Captured, ToolError> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        if let Some(directory) = &self.directory {
            run_in(&mut command, directory);
        }
        for (name, value) in self.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let job = Job {
            command,
            input: self.input.0.map_or_else(Stdio::null, Stdio::from),
            answer,
            watch: None,
        };
        Ok(run(job, None, self.patience, interrupts)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Tool {
        Tool::new("sh", ["-c", script])
    }

    fn text(captured: Captured) -> String {
        assert_eq!(captured.problem(), None);
        String::from_utf8(captured.output).unwrap()
    }

    #[test]
    fn a_tool_has_its_folder_its_variables_and_its_input() {
        let interrupts = Interrupts::install().unwrap();
        let folder = LaunchFolder::new().unwrap();
        let written = shell("echo read").write_into(&folder, "input.1", &interrupts);
        assert_eq!(text(written.unwrap()), "");
        let tool = Tool {
            directory: Some("/".into()),
            variables: vec![("DEADHEAT_TOOL", Some("set")), ("PWD", None)],
            input: ToolInput::open(&folder.path().join("input.1")).unwrap(),
            ..shell("pwd; echo $DEADHEAT_TOOL; cat")
        };
        assert_eq!(text(tool.read(&interrupts).unwrap()), "/\nset\nread\n");
        assert_eq!(text(shell("cat").read(&interrupts).unwrap()), "");
        let missing = ToolInput::open(&folder.path().join("input.2"));
        assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_tool_under_another_one_keeps_its_words_and_its_variables() {
        let interrupts = Interrupts::install().unwrap();
        let tool = Tool {
            variables: vec![("DEADHEAT_TOOL", Some("outer"))],
            ..shell("echo $DEADHEAT_TOOL $INNER")
        };
        let tool = tool.under(Path::new("/usr/bin/env"), vec!["INNER=inner".into()]);
        assert_eq!(text(tool.read(&interrupts).unwrap()), "outer inner\n");
    }

    #[test]
    fn the_output_at_fixed_addresses_is_discarded_and_a_failure_has_its_words() {
        let interrupts = Interrupts::install().unwrap();
        let run = |tool: Tool| tool.run_at_fixed_addresses(&interrupts).unwrap();
        assert_eq!(text(run(shell("echo said"))), "");
        let failed = run(shell("echo lost >&2; exit 3")).problem();
        assert_eq!(failed.unwrap(), "exited with code 3: lost");
        let missing = run(Tool::new("/nowhere/tool", ["x"])).ending;
        assert!(
            matches!(missing, Some(Ending::NotStarted(_))),
            "{missing:?}"
        );
        let slow = Tool {
            patience: Some(Duration::from_millis(100)),
            ..shell("sleep 1000")
        };
        let ending = run(slow).ending;
        assert!(matches!(ending, Some(Ending::Silent(_))), "{ending:?}");
    }
}
