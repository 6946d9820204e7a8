//! Checks out the sources of a commit into a separate folder. Submodules come from the user's local
//! copies. This uses no network and does not change the user's files.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use deadheat_link::{OutsideError, join_inside};

use crate::disk::remove_folder;
use crate::error::{BuildError, Note};
use crate::git::Git;
use crate::repository::{Commit, Repository};
use crate::slot::Slot;
use crate::subprocess::Interruption;

/// A pattern for the keys of `.gitmodules` that contain paths of submodules.
const PATHS: &str = r"^submodule\..*\.path$";

/// The name of the folder that contains the sources, in the folder of a build.
pub(crate) const NAME: &str = "tree";

/// The option of git that checks out all files of a commit. In a working tree with a sparse
/// check-out, a new worktree would otherwise lack the same files.
const ALL_FILES: [&str; 2] = ["-c", "core.sparseCheckout=false"];

/// A git worktree while a commit is built. Unless it is kept, it is removed when dropped, from disk
/// and from git's list.
#[derive(Debug)]
pub(crate) struct Tree<'a> {
    repository: &'a Repository<'a>,
    slot: Option<Slot>,
    pub(crate) path: PathBuf,
}

impl<'a> Tree<'a> {
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
        let done = Git::new(&repository.top, &ALL_FILES, &["worktree", "add"])
            .options(&["--quiet", "--detach"])
            .words([tree.path.as_os_str(), commit.id.as_ref()])
            .run(&repository.interruption, tree.lock())?;
        done.output_of_git(&commit.name, "worktree add")?;
        Ok(tree)
    }

    /// Returns the lock of the slot, which is held while the tree exists.
    pub(crate) fn lock(&self) -> Option<&fs::File> {
        self.slot.as_ref().map(|slot| &slot.lock)
    }

    /// Removes the tree from git's list but keeps the files, because executables may read them, and
    /// neutral links are made in their folders.
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

/// Removes the worktree of a slot, if it exists, from disk and from git's list. The user's other
/// worktrees are not touched, not even broken ones.
pub(crate) fn remove_worktree(repository: &Repository<'_>, slot: &Path) {
    let path = slot.join(NAME);
    // Ignores interruptions, because it runs after one.
    let never = Interruption(&|| false);
    if !worktrees(repository, &never).is_ok_and(|paths| paths.contains(&path)) {
        return;
    }
    let remove = || {
        // `--force` twice also removes a worktree whose creation was killed.
        let git = repository.git(&["worktree", "remove", "--force", "--force"]);
        let done = git.words([&path]).run(&never, None);
        done.is_ok_and(|done| done.status.success())
    };
    // Git refuses if the files are gone but the folder exists.
    if !remove() {
        let _ = remove_folder(&path);
        remove();
    }
}

pub(crate) fn worktrees(
    repository: &Repository<'_>,
    interruption: &Interruption<'_>,
) -> Result<Vec<PathBuf>, BuildError> {
    let git = repository.git(&["worktree", "list", "--porcelain"]);
    let done = git.run(interruption, None)?;
    let lines = done.stdout.split(|byte| *byte == b'\n');
    let paths = lines.filter_map(|line| line.strip_prefix(b"worktree "));
    Ok(paths
        .map(|path| PathBuf::from(OsString::from_vec(path.to_vec())))
        .collect())
}

/// Checks out the submodules of a commit into its tree.
pub(crate) struct Submodules<'a> {
    pub(crate) repository: &'a Repository<'a>,
    pub(crate) commit: &'a Commit,
    /// The path of a temporary index for git.
    pub(crate) scratch: &'a Path,
    pub(crate) notes: Vec<Note>,
    pub(crate) count: usize,
}

/// The largest number of submodules of a commit. Each takes several calls of git, of which some
/// read the whole `.gitmodules`: 8,000 took more than two minutes.
const MOST_SUBMODULES: usize = 1_000;

/// A repository that may have submodules: the commit's own, or a submodule at any depth.
struct Level {
    git_dir: PathBuf,
    commit: String,
    /// The folder in which the user has checked out the repository.
    theirs: PathBuf,
    /// The folder into which the repository is checked out.
    ours: PathBuf,
    /// The path relative to the top of the outermost repository.
    inside: PathBuf,
}

impl Submodules<'_> {
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
        let listing = self.output(level, &["ls-tree", "-r", "-z"], &[&level.commit])?;
        for entry in listing.split(|byte| *byte == 0) {
            // `160000 commit ID\tPATH`
            let Some(entry) = entry.strip_prefix(b"160000 commit ") else {
                continue;
            };
            self.count += 1;
            if self.count > MOST_SUBMODULES {
                return Err(BuildError::TooManySubmodules {
                    revision: self.commit.name.clone(),
                    most: MOST_SUBMODULES,
                });
            }
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
        let outside = |error: OutsideError| BuildError::SubmoduleOutside {
            revision: self.commit.name.clone(),
            error,
        };
        let ours = join_inside(&level.ours, path).map_err(outside)?;
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
            ours,
            inside,
        };
        for git_dir in known {
            next.git_dir = git_dir;
            if self.has_commit(&next)? {
                fs::create_dir_all(&next.ours).map_err(BuildError::at(&next.ours))?;
                self.output(&next, &["read-tree"], &[id])?;
                self.output(&next, &["checkout-index", "--all", "--force"], &[])?;
                // Some build files treat a submodule without `.git` as not fetched. Git does not
                // mistake an empty folder of this name for a repository.
                let git = next.ours.join(".git");
                fs::create_dir_all(&git).map_err(BuildError::at(&git))?;
                return self.level(&next);
            }
        }
        Err(BuildError::Submodule {
            revision: self.commit.name.clone(),
            path: next.inside,
            commit: id.to_owned(),
        })
    }

    /// Returns the git folders of the user's copies of a submodule: the copy checked out at this
    /// path, and the copy with the name that the commit gives to the submodule.
    fn git_dirs(&self, level: &Level, path: &Path) -> Result<Vec<PathBuf>, BuildError> {
        let mut known = Vec::new();
        // At another commit, this path may be a symbolic link in the user's working tree.
        if let Ok(theirs) = join_inside(&level.theirs, path)
            && theirs.join(".git").exists()
        {
            let git = Git::new(&theirs, &[], &["rev-parse", "--absolute-git-dir"]);
            let done = self.repository.run(git)?;
            if done.status.success() {
                let text = done.stdout.strip_suffix(b"\n").unwrap_or(&done.stdout);
                known.push(PathBuf::from(OsStr::from_bytes(text)));
            }
        }
        let question = ["config", "--file", ".gitmodules", "-z", "--get-regexp"];
        let names = self.output(level, &[&question[..], &[PATHS]].concat(), &[])?;
        for entry in names.split(|byte| *byte == 0) {
            // `submodule.NAME.path\nPATH`
            let mut parts = entry.splitn(2, |byte| *byte == b'\n');
            let name = parts
                .next()
                .and_then(|key| key.strip_prefix(b"submodule.")?.strip_suffix(b".path"));
            if let (Some(name), Some(value)) = (name, parts.next())
                && value == path.as_os_str().as_bytes()
            {
                let modules = level.git_dir.join("modules");
                if let Some(folder) = module_of(&modules, Path::new(OsStr::from_bytes(name)))
                    && !known.contains(&folder)
                {
                    known.push(folder);
                }
            }
        }
        Ok(known)
    }

    fn has_commit(&self, level: &Level) -> Result<bool, BuildError> {
        let object = format!("{}^{{commit}}", level.commit);
        let git = self.git(level, &["cat-file", "-e"]).words([&object]);
        let done = self.repository.run(git)?;
        Ok(done.status.success())
    }

    /// Creates a git command for the repository of a level, with the folder to fill as its working
    /// tree.
    fn git(&self, level: &Level, words: &[&'static str]) -> Git {
        let is_there = level.ours.is_dir();
        let folder = if is_there {
            &level.ours
        } else {
            &self.repository.top
        };
        Git::new(folder, &[], words)
            .variable("GIT_INDEX_FILE", self.scratch)
            .variable("GIT_DIR", &level.git_dir)
            .variable("GIT_WORK_TREE", &level.ours)
    }

    fn output(
        &self,
        level: &Level,
        words: &[&'static str],
        revisions: &[&str],
    ) -> Result<Vec<u8>, BuildError> {
        let mut git = self.git(level, words);
        if !revisions.is_empty() {
            git = git.words(revisions);
        }
        let revision = format!("{}, {}", self.commit.name, level.ours.display());
        self.repository.output(git, &revision)
    }
}

/// Returns the git folder of the submodule `name`, if it exists. Names with `..` are rejected, as
/// by git, because they could name a folder of the tree, which the commit fills. A name that leads
/// into the git folder of another submodule is rejected too, because the content of that folder is
/// not trusted.
fn module_of(modules: &Path, name: &Path) -> Option<PathBuf> {
    let folder = join_inside(modules, name).ok()?;
    let mut above = folder.ancestors().skip(1);
    let is_within = above
        .by_ref()
        .take_while(|folder| *folder != modules)
        .any(|folder| folder.join("HEAD").exists());
    (!is_within && folder.join("HEAD").exists()).then_some(folder)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_submodule_has_a_repository_only_below_modules() {
        let folder = tempfile::tempdir().unwrap();
        let modules = folder.path().join("modules");
        for repository in [
            "modules/lib",
            "modules/third/party",
            "evil",
            "modules/lib/evil",
        ] {
            let repository = folder.path().join(repository);
            fs::create_dir_all(&repository).unwrap();
            fs::write(repository.join("HEAD"), "").unwrap();
        }
        symlink("../evil", modules.join("link")).unwrap();
        for name in ["lib", "third/party"] {
            let found = module_of(&modules, Path::new(name));
            assert_eq!(found, Some(modules.join(name)));
        }
        let absolute = folder.path().join("evil").display().to_string();
        for name in [
            "../evil",
            "lib/../../evil",
            &absolute,
            "link",
            "lib/evil",
            "third",
            "",
            "lib/..",
            "./lib",
        ] {
            assert_eq!(module_of(&modules, Path::new(name)), None, "{name}");
        }
    }
}
