//! The lock files of cargo that a commit gets from the other side or from the working tree.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use deadheat_link::join_inside;

use crate::disk::{self, unless_gone};
use crate::error::{BuildError, Note};
use crate::repository::{Commit, Repository, Revisions, Unbuilt};

/// A lock file of the other side or of the working tree with which a commit is built.
#[derive(Debug)]
pub(crate) struct GivenLock {
    /// The path relative to the top.
    pub(crate) path: PathBuf,
    pub(crate) text: Vec<u8>,
    note: Note,
}

impl GivenLock {
    /// Returns the lock files to write into the sources of a commit, for these folders. If `giver`
    /// is another side, they are its lock files; otherwise, they are those of the working tree that
    /// the commit lacks.
    pub(crate) fn all(
        repository: &Repository<'_>,
        folders: &[PathBuf],
        commit: &Commit,
        giver: Option<&Unbuilt>,
    ) -> Result<Vec<Self>, BuildError> {
        let is_other = |it: &&Unbuilt| it.commit.as_ref().is_none_or(|it| it.id != commit.id);
        let giver = giver.filter(is_other);
        let working_tree = Unbuilt {
            name: Revisions::WORKING_TREE.to_owned(),
            commit: None,
        };
        let mut all = Vec::new();
        for folder in folders {
            let path = folder.join("Cargo.lock");
            let own = repository.file_of(commit, &path)?;
            let has_manifest = || repository.holds(commit, &folder.join("Cargo.toml"));
            if (own.is_some() && giver.is_none()) || !has_manifest()? {
                continue;
            }
            let Some(text) = giver.unwrap_or(&working_tree).file(repository, &path)? else {
                continue;
            };
            if own.as_ref() == Some(&text) {
                continue;
            }
            let revision = commit.name.clone();
            let note = match giver {
                None => Note::BorrowedLock {
                    revision,
                    path: path.clone(),
                },
                Some(giver) => Note::LockOfOther {
                    revision,
                    path: path.clone(),
                    from: giver.name.clone(),
                },
            };
            all.push(Self { path, text, note });
        }
        Ok(all)
    }

    /// Writes the lock file into the sources of the commit below `top`, and returns a note for the
    /// user. The commit's own lock file may be a symbolic link, so it is removed first. The folder
    /// of the lock file is not a link, because git tracks no files behind links.
    pub(crate) fn write(&self, top: &Path) -> Result<Note, BuildError> {
        let to = top.join(&self.path);
        unless_gone(fs::remove_file(&to))
            .and_then(|()| File::create_new(&to)?.write_all(&self.text))
            .map_err(BuildError::at(&to))?;
        Ok(self.note.clone())
    }
}

/// Replaces symbolic links named `Cargo.lock` in these folders below `top` by copies, because cargo
/// writes through a link, which may lead out of the sources.
pub(crate) fn replace_links(top: &Path, folders: &[PathBuf]) -> Result<(), BuildError> {
    for folder in folders {
        let folder = match folder.as_os_str().is_empty() {
            true => Ok(top.to_owned()),
            false => join_inside(top, folder),
        };
        let Ok(path) = folder.map(|folder| folder.join("Cargo.lock")) else {
            continue;
        };
        // If the link cannot be read, it stays, and cargo reports it.
        if path.is_symlink()
            && let Ok(text) = disk::read(&path)
        {
            fs::remove_file(&path)
                .and_then(|()| File::create_new(&path)?.write_all(&text))
                .map_err(BuildError::at(&path))?;
        }
    }
    Ok(())
}

/// Fails if the side that gives its lock files has none, or if the working tree would get one.
pub(crate) fn check_giver(
    repository: &Repository<'_>,
    folders: &[PathBuf],
    giver: &Unbuilt,
    taker: &Unbuilt,
) -> Result<(), BuildError> {
    if taker.commit.is_none() {
        return Err(BuildError::LockForWorkingTree(giver.name.clone()));
    }
    for folder in folders {
        if giver
            .file(repository, &folder.join("Cargo.lock"))?
            .is_some()
        {
            return Ok(());
        }
    }
    Err(BuildError::NoLock(giver.name.clone()))
}
