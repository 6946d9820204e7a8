//! The sources of a commit, in a folder of their own.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::child::Interruption;
use crate::error::BuildError;
use crate::repository::{Commit, Repository};
use crate::slot::{Slot, remove_folder};

/// The name of the folder in its slot.
pub(crate) const NAME: &str = "tree";

/// A worktree of git's while a commit is built. Unless it is kept, nothing
/// remains of it, neither here nor in git's list.
#[derive(Debug)]
pub(crate) struct Tree<'a> {
    repository: &'a Repository<'a>,
    slot: Option<Slot>,
    /// Where it is.
    pub(crate) path: PathBuf,
}

impl<'a> Tree<'a> {
    /// Checks the commit out into the slot.
    pub(crate) fn check_out(
        repository: &'a Repository<'a>,
        commit: &Commit,
        slot: Slot,
    ) -> Result<Self, BuildError> {
        remove_worktree(repository, &slot.folder);
        let folder = slot.folder.clone();
        let tree = Self {
            repository,
            path: folder.join(NAME),
            slot: Some(slot),
        };
        remove_folder(&folder).map_err(BuildError::at(&folder))?;
        fs::create_dir(&folder).map_err(BuildError::at(&folder))?;
        let mut command = repository.git();
        // Hooks are for the trees that people work in.
        command.args(["-c", "core.hooksPath=/dev/null", "worktree", "add"]);
        command.args(["--quiet", "--detach"]);
        command.arg(&tree.path).arg(&commit.id);
        let done = repository.interruption.run(&mut command, tree.lock())?;
        match done.status.success() {
            true => Ok(tree),
            false => Err(BuildError::Git {
                revision: commit.name.clone(),
                command: "worktree add".to_owned(),
                said: done.said(),
            }),
        }
    }

    /// What is held while the tree is there.
    pub(crate) fn lock(&self) -> Option<&fs::File> {
        self.slot.as_ref().map(|slot| &slot.lock)
    }

    /// Takes the tree from git's list and leaves the files where they are:
    /// what was built may read them, and is linked anew in their folders.
    pub(crate) fn detach(&self) -> Result<(), BuildError> {
        let aside = self.path.with_file_name("aside");
        fs::rename(&self.path, &aside).map_err(BuildError::at(&self.path))?;
        if let Some(slot) = &self.slot {
            remove_worktree(self.repository, &slot.folder);
        }
        let link = aside.join(".git");
        fs::remove_file(&link).map_err(BuildError::at(&link))?;
        fs::rename(&aside, &self.path).map_err(BuildError::at(&self.path))
    }

    /// Gives the slot back with all that is in it.
    pub(crate) fn keep(mut self) -> Option<Slot> {
        self.slot.take()
    }
}

impl Drop for Tree<'_> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            remove_worktree(self.repository, &slot.folder);
            let _ = slot.clear();
        }
    }
}

/// Takes the tree of a slot out of git's list, if it is there, with its files.
/// Other worktrees of the user's are not touched, not even broken ones.
pub(crate) fn remove_worktree(repository: &Repository<'_>, slot: &Path) {
    let path = slot.join(NAME);
    // Not to be interrupted: it is what an interruption asks for.
    let never = Interruption(&|| false);
    if !listed(repository, &never).is_ok_and(|paths| paths.contains(&path)) {
        return;
    }
    let mut command = repository.git();
    // Twice: also one that was being made when git was killed.
    command.args(["worktree", "remove", "--force", "--force"]);
    // Git refuses where the files are gone and the folder is not.
    let done = never.run(command.arg(&path), None);
    if !done.is_ok_and(|done| done.status.success()) {
        let _ = remove_folder(&path);
        let mut again = repository.git();
        again.args(["worktree", "remove", "--force", "--force"]);
        let _ = never.run(again.arg(&path), None);
    }
}

/// Where the worktrees in git's list are.
pub(crate) fn worktrees(repository: &Repository<'_>) -> Result<Vec<PathBuf>, BuildError> {
    listed(repository, &repository.interruption)
}

fn listed(
    repository: &Repository<'_>,
    interruption: &Interruption<'_>,
) -> Result<Vec<PathBuf>, BuildError> {
    let mut command = repository.git();
    command.args([
        OsStr::new("worktree"),
        "list".as_ref(),
        "--porcelain".as_ref(),
    ]);
    let done = interruption.run(&mut command, None)?;
    let lines = done.stdout.split(|byte| *byte == b'\n');
    let paths = lines.filter_map(|line| line.strip_prefix(b"worktree "));
    Ok(paths
        .map(|path| PathBuf::from(OsString::from_vec(path.to_vec())))
        .collect())
}
