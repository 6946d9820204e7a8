//! Command lines of git. Words that come from a user, a file or a repository cannot become options:
//! the types keep them apart from deadheat's own words.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use deadheat_link::REPOSITORY_VARIABLES;

use crate::error::BuildError;
use crate::subprocess::{Finished, Interruption};

/// A git command. Deadheat's own words are literals of this program and come first; every other
/// word follows `--end-of-options` or `--`.
#[derive(Debug)]
pub(crate) struct Git {
    command: Command,
    /// The subcommand, for messages.
    name: &'static str,
    has_ended: bool,
}

/// Options that keep git from starting programs that the repository's configuration names: its hooks,
/// which `update-ref` starts as well as `worktree add`, and a monitor of files.
const STARTS_NOTHING: [&str; 4] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
];

impl Git {
    /// A git subcommand in a folder, with English messages and captured output, which starts no hook.
    /// `globals` are options of git itself.
    pub(crate) fn new(folder: &Path, globals: &[&'static str], words: &[&'static str]) -> Self {
        let mut command = Command::new("git");
        command
            .current_dir(folder)
            .env("LC_ALL", "C")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        forget_the_repository(&mut command);
        command.args(STARTS_NOTHING).args(globals).args(words);
        Self {
            command,
            name: words.first().copied().unwrap_or("git"),
            has_ended: false,
        }
    }

    /// Adds options of deadheat's own.
    pub(crate) fn options(mut self, words: &[&'static str]) -> Self {
        assert!(!self.has_ended, "options come before all other words");
        self.command.args(words);
        self
    }

    /// Adds an option with a number, such as `--max-count=3`.
    pub(crate) fn number(mut self, option: &'static str, number: usize) -> Self {
        assert!(!self.has_ended, "options come before all other words");
        self.command.arg(format!("{option}={number}"));
        self
    }

    /// Adds an option with its value as the next word, which git reads as a value whatever it says.
    pub(crate) fn value(mut self, option: &'static str, value: impl AsRef<OsStr>) -> Self {
        assert!(!self.has_ended, "options come before all other words");
        self.command.arg(option).arg(value);
        self
    }

    /// Adds words that are not deadheat's own: revisions, names of refs, folders.
    pub(crate) fn words<S: AsRef<OsStr>>(mut self, words: impl IntoIterator<Item = S>) -> Self {
        if !std::mem::replace(&mut self.has_ended, true) {
            self.command.arg("--end-of-options");
        }
        self.command.args(words);
        self
    }

    /// Adds paths, which come last; none says that no word before them is a path.
    pub(crate) fn paths<S: AsRef<OsStr>>(mut self, paths: impl IntoIterator<Item = S>) -> Self {
        self.has_ended = true;
        self.command.arg("--").args(paths);
        self
    }

    /// Sets a variable of git's environment.
    pub(crate) fn variable(mut self, name: &'static str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs the command, and returns its output even if git fails.
    pub(crate) fn run(
        mut self,
        interruption: &Interruption<'_>,
        lock: Option<&std::fs::File>,
    ) -> Result<Finished, BuildError> {
        interruption.run(&mut self.command, lock)
    }

    /// Runs the command for `revision`, which an error names, and returns its standard output.
    pub(crate) fn output(
        self,
        revision: &str,
        interruption: &Interruption<'_>,
    ) -> Result<Vec<u8>, BuildError> {
        let name = self.name;
        self.run(interruption, None)?.output_of_git(revision, name)
    }
}

/// Removes the variables that select a repository, so that the folder selects it.
pub(crate) fn forget_the_repository(command: &mut Command) {
    for variable in REPOSITORY_VARIABLES {
        command.env_remove(variable);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(git: &Git) -> Vec<String> {
        let words = git.command.get_args();
        words
            .skip(STARTS_NOTHING.len())
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn words_of_others_come_after_the_end_of_options() {
        let git = Git::new(Path::new("/"), &["-c", "x.y=z"], &["log", "-z"])
            .number("--max-count", 3)
            .words(["--output=x"])
            .words(["^main"])
            .paths(["-p"]);
        let expected = [
            "-c",
            "x.y=z",
            "log",
            "-z",
            "--max-count=3",
            "--end-of-options",
            "--output=x",
            "^main",
            "--",
            "-p",
        ];
        assert_eq!(words_of(&git), expected);
    }

    #[test]
    #[should_panic(expected = "options come before")]
    fn an_option_after_the_words_of_others_is_a_fault() {
        let _ = Git::new(Path::new("/"), &[], &["log"])
            .words(["a"])
            .options(&["--all"]);
    }
}
