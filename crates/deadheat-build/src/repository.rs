//! The user's repository, asked through git.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::child::{Finished, Interruption};
use crate::error::BuildError;

/// Variables by which git is told, as by a hook, which repository to use: the
/// folder should tell.
const LOCAL: [&str; 9] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
    "GIT_SHALLOW_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
];

/// A working tree and the repository behind it.
#[derive(Debug)]
pub(crate) struct Repository<'a> {
    /// The top of the working tree, absolute.
    pub(crate) top: PathBuf,
    /// Where the user stands, below the top.
    pub(crate) inside: PathBuf,
    /// What all working trees share.
    pub(crate) common: PathBuf,
    pub(crate) interruption: Interruption<'a>,
}

/// A commit by the name the user has for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Commit {
    pub(crate) name: String,
    pub(crate) id: String,
}

impl Commit {
    /// The id as people read it.
    pub(crate) fn short(&self) -> &str {
        self.id.get(..8).unwrap_or(&self.id)
    }
}

impl<'a> Repository<'a> {
    /// The repository around `directory`.
    pub(crate) fn around(
        directory: &Path,
        interruption: Interruption<'a>,
    ) -> Result<Self, BuildError> {
        let mut command = git_in(directory);
        command.args(["rev-parse", "--path-format=absolute"]);
        command.args(["--show-toplevel", "--git-common-dir"]);
        let done = interruption.run(&mut command, None)?;
        let missing = |said| BuildError::NoRepository {
            directory: directory.to_owned(),
            said,
        };
        if !done.status.success() {
            return Err(missing(done.said()));
        }
        let [top, common] = two_lines(&done.stdout)
            .ok_or_else(|| missing("git names no working tree".to_owned()))?;
        let directory = directory
            .canonicalize()
            .map_err(BuildError::at(directory))?;
        let inside = directory
            .strip_prefix(&top)
            .map_err(|_| missing(format!("git names {}", top.display())))?;
        Ok(Self {
            inside: inside.to_owned(),
            top,
            common,
            interruption,
        })
    }

    /// Git at the top.
    pub(crate) fn git(&self) -> Command {
        git_in(&self.top)
    }

    /// Runs git, which may fail.
    pub(crate) fn try_git<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
    ) -> Result<Finished, BuildError> {
        self.interruption.run(self.git().args(args), None)
    }

    /// The commit that `name` means.
    pub(crate) fn commit(&self, name: &str) -> Result<Commit, BuildError> {
        let wanted = format!("{name}^{{commit}}");
        let done = self.try_git(["rev-parse", "--verify", "--end-of-options", &wanted])?;
        let id = String::from_utf8_lossy(&done.stdout).trim().to_owned();
        if !done.status.success() || id.is_empty() {
            return Err(BuildError::UnknownRevision {
                revision: name.to_owned(),
                said: done.said(),
            });
        }
        Ok(Commit {
            name: name.to_owned(),
            id,
        })
    }

    /// A file of a commit, by its path below the top.
    pub(crate) fn file_of(
        &self,
        commit: &Commit,
        path: &Path,
    ) -> Result<Option<Vec<u8>>, BuildError> {
        let mut object = OsString::from(format!("{}:", commit.id));
        object.push(path);
        let args = [OsStr::new("cat-file"), OsStr::new("blob"), &object];
        let done = self.try_git(args)?;
        Ok(done.status.success().then_some(done.stdout))
    }

    /// Whether git knows any of these files of the working tree.
    pub(crate) fn tracks(&self, paths: &[&str]) -> Result<bool, BuildError> {
        let done = self.try_git(["ls-files", "--"].iter().chain(paths))?;
        Ok(done.status.success() && !done.stdout.is_empty())
    }

    /// Submodules of the working tree with changes inside.
    pub(crate) fn dirty_submodules(&self) -> Result<Vec<PathBuf>, BuildError> {
        if !self.top.join(".gitmodules").exists() {
            return Ok(Vec::new());
        }
        let done = self.try_git([
            "--no-optional-locks",
            "status",
            "--porcelain=v2",
            "-z",
            "--untracked-files=no",
            "--ignore-submodules=none",
        ])?;
        // `1 XY S<c><m><u> mH mI mW hH hI path`
        let entries = done.stdout.split(|byte| *byte == 0);
        let dirty = entries.filter_map(|entry| {
            let mut words = entry.splitn(9, |byte| *byte == b' ');
            let kind = words.nth(2)?;
            let path = words.nth(5)?;
            let changed = kind.first() == Some(&b'S') && kind != b"S...";
            changed.then(|| PathBuf::from(OsStr::from_bytes(path)))
        });
        Ok(dirty.collect())
    }
}

/// Git in a folder, its words in English and to be read.
pub(crate) fn git_in(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(folder)
        .env("LC_ALL", "C")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    forget_the_repository(&mut command);
    command
}

/// Lets the folder say which repository it is.
pub(crate) fn forget_the_repository(command: &mut Command) {
    for variable in LOCAL {
        command.env_remove(variable);
    }
}

fn two_lines(text: &[u8]) -> Option<[PathBuf; 2]> {
    let mut lines = text.split(|byte| *byte == b'\n');
    let mut path = || Some(PathBuf::from(OsString::from_vec(lines.next()?.to_vec())));
    Some([path()?, path()?]).filter(|[top, _]| top.is_absolute())
}
