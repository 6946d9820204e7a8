//! The sources of a commit, in a folder of their own; and its submodules, from what the user has of
//! them: no network is asked, and nothing of the user's is written.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::disk::remove_folder;
use crate::error::{BuildError, Note};
use crate::repository::{Commit, Repository, git_in};
use crate::slot::Slot;
use crate::subprocess::Interruption;

/// The name of the folder in its slot.
pub(crate) const NAME: &str = "tree";

/// A worktree of git's while a commit is built. Unless it is kept, nothing remains of it, neither
/// here nor in git's list.
#[derive(Debug)]
pub(crate) struct Tree<'a> {
    repository: &'a Repository<'a>,
    slot: Option<Slot>,
    /// Its folder.
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
        done.output_of_git(&commit.name, "worktree add")?;
        Ok(tree)
    }

    /// The lock that is held while the tree is there.
    pub(crate) fn lock(&self) -> Option<&fs::File> {
        self.slot.as_ref().map(|slot| &slot.lock)
    }

    /// Takes the tree from git's list and leaves the files where they are: what was built may read
    /// them, and is linked anew in their folders.
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
    pub(crate) fn keep(mut self) -> Slot {
        let slot = self.slot.take();
        slot.expect("a tree has its slot until it is kept")
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

/// Takes the tree of a slot out of git's list, if it is there, with its files. Other worktrees of
/// the user's are not touched, not even broken ones.
pub(crate) fn remove_worktree(repository: &Repository<'_>, slot: &Path) {
    let path = slot.join(NAME);
    // Not to be interrupted: it is what an interruption asks for.
    let never = Interruption(&|| false);
    if !worktrees(repository, &never).is_ok_and(|paths| paths.contains(&path)) {
        return;
    }
    let remove = || {
        let mut command = repository.git();
        // Twice: also one that was being made when git was killed.
        command.args(["worktree", "remove", "--force", "--force"]);
        let done = never.run(command.arg(&path), None);
        done.is_ok_and(|done| done.status.success())
    };
    // Git refuses where the files are gone and the folder is not.
    if !remove() {
        let _ = remove_folder(&path);
        remove();
    }
}

/// The worktrees in git's list.
pub(crate) fn worktrees(
    repository: &Repository<'_>,
    interruption: &Interruption<'_>,
) -> Result<Vec<PathBuf>, BuildError> {
    let mut command = repository.git();
    command.args(["worktree", "list", "--porcelain"]);
    let done = interruption.run(&mut command, None)?;
    let lines = done.stdout.split(|byte| *byte == b'\n');
    let paths = lines.filter_map(|line| line.strip_prefix(b"worktree "));
    Ok(paths
        .map(|path| PathBuf::from(OsString::from_vec(path.to_vec())))
        .collect())
}

/// Fills the folders of submodules.
pub(crate) struct Submodules<'a> {
    pub(crate) repository: &'a Repository<'a>,
    pub(crate) commit: &'a Commit,
    /// A file name for what git notes down on the way.
    pub(crate) scratch: &'a Path,
    pub(crate) notes: Vec<Note>,
}

/// One level: a repository with submodules in it.
struct Level {
    git_dir: PathBuf,
    commit: String,
    /// The folder in which the user has it checked out, and the one in which it is to be.
    theirs: PathBuf,
    ours: PathBuf,
    /// Below the top of all.
    inside: PathBuf,
}

impl Submodules<'_> {
    /// Fills those below `tree`, in which the commit is checked out.
    pub(crate) fn fill(&mut self, tree: &Path) -> Result<(), BuildError> {
        let filled = self.level(&Level {
            git_dir: self.repository.common.clone(),
            commit: self.commit.id.clone(),
            theirs: self.repository.top.clone(),
            ours: tree.to_owned(),
            inside: PathBuf::new(),
        });
        let _ = fs::remove_file(self.scratch);
        filled
    }

    fn level(&mut self, level: &Level) -> Result<(), BuildError> {
        if !level.ours.join(".gitmodules").exists() {
            return Ok(());
        }
        let listing = self.git(level, &["ls-tree", "-r", "-z", &level.commit])?;
        for entry in listing.split(|byte| *byte == 0) {
            // `160000 commit ID\tPATH`
            let Some(entry) = entry.strip_prefix(b"160000 commit ") else {
                continue;
            };
            let mut parts = entry.splitn(2, |byte| *byte == b'\t');
            if let (Some(id), Some(path)) = (parts.next(), parts.next()) {
                let id = String::from_utf8_lossy(id).into_owned();
                self.submodule(level, &id, Path::new(OsStr::from_bytes(path)))?;
            }
        }
        Ok(())
    }

    fn submodule(&mut self, level: &Level, id: &str, path: &Path) -> Result<(), BuildError> {
        let inside = level.inside.join(path);
        let known = self.git_dirs(level, path)?;
        if known.is_empty() {
            self.notes.push(Note::SubmoduleLeftOut {
                revision: self.commit.name.clone(),
                path: inside,
            });
            return Ok(());
        }
        let mut next = Level {
            git_dir: PathBuf::new(),
            commit: id.to_owned(),
            theirs: level.theirs.join(path),
            ours: level.ours.join(path),
            inside,
        };
        for git_dir in known {
            next.git_dir = git_dir;
            if self.has_commit(&next)? {
                fs::create_dir_all(&next.ours).map_err(BuildError::at(&next.ours))?;
                self.git(&next, &["read-tree", id])?;
                self.git(&next, &["checkout-index", "--all", "--force"])?;
                return self.level(&next);
            }
        }
        Err(BuildError::Submodule {
            revision: self.commit.name.clone(),
            path: next.inside,
            commit: id.to_owned(),
        })
    }

    /// The repositories that the user has of a submodule: of the one checked out at this path, and
    /// of the one the commit calls by this name.
    fn git_dirs(&self, level: &Level, path: &Path) -> Result<Vec<PathBuf>, BuildError> {
        let mut known = Vec::new();
        let theirs = level.theirs.join(path);
        if theirs.join(".git").exists() {
            let mut command = git_in(&theirs);
            command.args(["rev-parse", "--absolute-git-dir"]);
            let done = self.repository.interruption.run(&mut command, None)?;
            if done.status.success() {
                let text = done.stdout.strip_suffix(b"\n").unwrap_or(&done.stdout);
                known.push(PathBuf::from(OsStr::from_bytes(text)));
            }
        }
        let paths = ["-z", "--get-regexp", r"^submodule\..*\.path$"];
        let names = self.git(
            level,
            &[&["config", "--file", ".gitmodules"], &paths[..]].concat(),
        )?;
        for entry in names.split(|byte| *byte == 0) {
            // `submodule.NAME.path\nPATH`
            let mut parts = entry.splitn(2, |byte| *byte == b'\n');
            let name = parts
                .next()
                .and_then(|key| key.strip_prefix(b"submodule.")?.strip_suffix(b".path"));
            if let (Some(name), Some(value)) = (name, parts.next())
                && value == path.as_os_str().as_bytes()
            {
                let folder = level.git_dir.join("modules").join(OsStr::from_bytes(name));
                if folder.join("HEAD").exists() && !known.contains(&folder) {
                    known.push(folder);
                }
            }
        }
        Ok(known)
    }

    fn has_commit(&self, level: &Level) -> Result<bool, BuildError> {
        let object = format!("{}^{{commit}}", level.commit);
        let mut command = self.command(level);
        command.args(["cat-file", "-e", &object]);
        let done = self.repository.interruption.run(&mut command, None)?;
        Ok(done.status.success())
    }

    /// Git on the repository of a level, with our folder for its files.
    fn command(&self, level: &Level) -> Command {
        let is_there = level.ours.is_dir();
        let mut command = git_in(if is_there {
            &level.ours
        } else {
            &self.repository.top
        });
        command
            .env("GIT_INDEX_FILE", self.scratch)
            .env("GIT_DIR", &level.git_dir)
            .env("GIT_WORK_TREE", &level.ours);
        command
    }

    fn git(&self, level: &Level, args: &[&str]) -> Result<Vec<u8>, BuildError> {
        let mut command = self.command(level);
        let done = self.repository.interruption.run(command.args(args), None)?;
        let revision = format!("{}, {}", self.commit.name, level.ours.display());
        done.output_of_git(&revision, args[0])
    }
}
