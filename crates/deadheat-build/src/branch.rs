//! A branch that holds files and no sources: read and added to through git's plumbing, so that
//! nothing is checked out and the working tree stays as it is.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::BuildError;
use crate::repository::{Commit, Repository};
use crate::subprocess::Interruption;

/// The identity of commits where the user has none.
const NOBODY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "deadheat"),
    ("GIT_AUTHOR_EMAIL", "deadheat@localhost"),
    ("GIT_COMMITTER_NAME", "deadheat"),
    ("GIT_COMMITTER_EMAIL", "deadheat@localhost"),
];

/// Times that a commit is made anew because somebody else was faster.
const ATTEMPTS: u32 = 20;

/// A branch of the repository around a folder.
#[derive(Debug)]
pub struct Branch<'a> {
    repository: Repository<'a>,
    name: String,
}

impl<'a> Branch<'a> {
    /// The branch of this name, which need not be there yet.
    ///
    /// # Errors
    ///
    /// A folder that is in no repository, or a name that git does not take.
    pub fn of(
        directory: &Path,
        name: &str,
        interruption: Interruption<'a>,
    ) -> Result<Self, BuildError> {
        let repository = Repository::around(directory, interruption)?;
        let done = repository.try_git(["check-ref-format", "--branch", name])?;
        done.output_of_git(name, "check-ref-format")?;
        Ok(Self {
            repository,
            name: name.to_owned(),
        })
    }

    /// The commit that the branch is at; `None` where there is no such branch.
    fn tip(&self) -> Result<Option<Commit>, BuildError> {
        match self.repository.commit(&self.name) {
            Ok(commit) => Ok(Some(commit)),
            Err(BuildError::UnknownRevision { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The paths of all files; `None` where there is no such branch.
    ///
    /// # Errors
    ///
    /// A git that fails.
    pub fn files(&self) -> Result<Option<Vec<PathBuf>>, BuildError> {
        let tip = self.tip()?;
        let files = tip.map(|tip| self.repository.files_of(&tip)).transpose()?;
        Ok(files.map(|mut files| {
            files.retain(|path| !path.as_os_str().is_empty());
            files
        }))
    }

    /// The bytes of a file.
    ///
    /// # Errors
    ///
    /// A git that fails, or a file that is not there.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>, BuildError> {
        let tip = self.repository.commit(&self.name)?;
        let bytes = self.repository.file_of(&tip, path)?;
        bytes.ok_or_else(|| self.failed("cat-file", format!("{} is not there", path.display())))
    }

    /// Commits files to the branch, each under its name there, and makes the branch where there is
    /// none. `scratch` is a folder for an index of git's, which is not the user's. Returns false
    /// where the branch holds all of that already.
    ///
    /// # Errors
    ///
    /// A git that fails, or others who commit faster each time.
    pub fn add(
        &self,
        files: &[(PathBuf, String)],
        message: &str,
        scratch: &Path,
    ) -> Result<bool, BuildError> {
        let mut blobs = Vec::new();
        for (file, name) in files {
            let args = [OsStr::new("hash-object"), OsStr::new("-w")];
            let args = args
                .into_iter()
                .chain([OsStr::new("--no-filters"), OsStr::new("--")]);
            let path = std::path::absolute(file).map_err(BuildError::at(file))?;
            let args: Vec<&OsStr> = args.chain([path.as_os_str()]).collect();
            let done = self.repository.try_git(args)?;
            blobs.push((self.answer(done, "hash-object")?, name));
        }
        for attempt in 0..ATTEMPTS {
            let tip = self.tip()?;
            let index = scratch.join(format!("index-{attempt}"));
            if let Some(tip) = &tip {
                self.plumb(&index, &["read-tree", &tip.id])?;
            }
            for (blob, name) in &blobs {
                let entry = format!("100644,{blob},{name}");
                self.plumb(&index, &["update-index", "--add", "--cacheinfo", &entry])?;
            }
            let tree = self.plumb(&index, &["write-tree"])?;
            let mut args = vec!["commit-tree", "-m", message, &*tree];
            if let Some(tip) = &tip {
                let before = format!("{}^{{tree}}", tip.id);
                if self.plumb(&index, &["rev-parse", &before])? == tree {
                    return Ok(false);
                }
                args.extend(["-p", &tip.id]);
            }
            let commit = self.plumb(&index, &args)?;
            let reference = format!("refs/heads/{}", self.name);
            // Nothing where there was no branch: it must not have come into being meanwhile.
            let before = tip.map_or_else(|| "0".repeat(commit.len()), |tip| tip.id);
            let args = ["update-ref", &*reference, &*commit, &*before];
            let done = self.repository.try_git(args)?;
            if done.status.success() {
                return Ok(true);
            }
            if attempt + 1 == ATTEMPTS {
                return Err(self.failed("update-ref", done.said()));
            }
        }
        Ok(false)
    }

    /// Runs git with an index of its own, and with an identity where there is none.
    fn plumb(&self, index: &Path, args: &[&str]) -> Result<String, BuildError> {
        let mut command: Command = self.repository.git();
        command.args(args).env("GIT_INDEX_FILE", index);
        if args[0] == "commit-tree" && !self.has_identity()? {
            command.envs(NOBODY);
        }
        let done = self.repository.interruption.run(&mut command, None)?;
        self.answer(done, args[0])
    }

    fn has_identity(&self) -> Result<bool, BuildError> {
        let done = self.repository.try_git(["var", "GIT_COMMITTER_IDENT"])?;
        Ok(done.status.success())
    }

    fn answer(
        &self,
        done: crate::subprocess::Finished,
        command: &str,
    ) -> Result<String, BuildError> {
        let answer = done.output_of_git(&self.name, command)?;
        let answer = OsStr::from_bytes(answer.trim_ascii());
        Ok(answer.to_string_lossy().into_owned())
    }

    fn failed(&self, command: &str, said: String) -> BuildError {
        BuildError::Git {
            revision: self.name.clone(),
            command: command.to_owned(),
            said,
        }
    }
}
