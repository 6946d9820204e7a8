//! Builds command lines of git. Arguments that come from a user, a file or a repository can never
//! be parsed as options: the names of options are `&'static str`, and all other arguments follow
//! `--end-of-options` or `--`.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use deadheat_link::REPOSITORY_VARIABLES;

use crate::error::BuildError;
use crate::subprocess::{Finished, Interruption};

#[derive(Debug)]
pub(crate) struct Git {
    command: Command,
    /// The subcommand, for messages.
    name: &'static str,
    has_ended: bool,
}

/// Options that stop git from running programs that the repository's configuration names: hooks,
/// which `update-ref` and `worktree add` run, the file system monitor, and the check of signatures.
const STARTS_NOTHING: [&str; 6] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    // `true` would start gpg, whose output git prints before the commit id.
    "-c",
    "log.showSignature=false",
];

impl Git {
    /// Creates a git subcommand that runs in `folder`, with English messages, captured output and
    /// disabled hooks. `globals` are options of git itself; `words` are the subcommand and its
    /// first options.
    pub(crate) fn new(folder: &Path, globals: &[&'static str], words: &[&'static str]) -> Self {
        let mut command = Command::new("git");
        command
            .current_dir(folder)
            .env("LC_ALL", "C")
            // Otherwise, `git replace` could make git check out other content under the id of a
            // commit.
            .env("GIT_NO_REPLACE_OBJECTS", "1")
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

    pub(crate) fn options(mut self, words: &[&'static str]) -> Self {
        assert!(!self.has_ended, "options come before all other words");
        self.command.args(words);
        self
    }

    pub(crate) fn number(mut self, option: &'static str, number: usize) -> Self {
        assert!(!self.has_ended, "options come before all other words");
        self.command.arg(format!("{option}={number}"));
        self
    }

    /// Adds an option and its value as one argument, such as `--disambiguate=ea105b9e`.
    pub(crate) fn attached(mut self, option: &'static str, value: &str) -> Self {
        assert!(!self.has_ended, "options come before all other words");
        self.command.arg(format!("{option}={value}"));
        self
    }

    /// Adds an option and its value as two arguments. Git takes the second one as the value even if
    /// it starts with a dash.
    pub(crate) fn value(mut self, option: &'static str, value: impl AsRef<OsStr>) -> Self {
        assert!(!self.has_ended, "options come before all other words");
        self.command.arg(option).arg(value);
        self
    }

    /// Adds arguments from outside this program (revisions, ref names, folders) after
    /// `--end-of-options`.
    pub(crate) fn words<S: AsRef<OsStr>>(mut self, words: impl IntoIterator<Item = S>) -> Self {
        if !std::mem::replace(&mut self.has_ended, true) {
            self.command.arg("--end-of-options");
        }
        self.command.args(words);
        self
    }

    /// Adds `--` and paths, which come last. With an empty list, git reads no earlier argument as a
    /// path.
    pub(crate) fn paths<S: AsRef<OsStr>>(mut self, paths: impl IntoIterator<Item = S>) -> Self {
        self.has_ended = true;
        self.command.arg("--").args(paths);
        self
    }

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

    /// Runs the command and returns its standard output. Errors name `revision`.
    pub(crate) fn output(
        self,
        revision: &str,
        interruption: &Interruption<'_>,
    ) -> Result<Vec<u8>, BuildError> {
        let name = self.name;
        self.run(interruption, None)?.output_of_git(revision, name)
    }
}

/// Removes the environment variables that select a git repository, so that the working directory
/// selects it.
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
