//! What is known of a build that was kept.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::elsewhere::Elsewhere;
use crate::note::Note;

const SCHEMA: &str = "deadheat.build/1";
const FILE: &str = "index.json";

/// A finished build. It is written last, as a whole or not at all, so what
/// has one is complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Index {
    schema: String,
    /// Where it was built: the paths in it lead nowhere else.
    folder: PathBuf,
    pub(crate) commit: String,
    pub(crate) executables: Vec<Kept>,
    /// What later builds may take over, below the folder `target`.
    pub(crate) dependencies: Vec<PathBuf>,
    /// What it was made of besides the commit.
    pub(crate) elsewhere: Vec<Elsewhere>,
    /// What there was to say, and is as true when it is raced again.
    pub(crate) notes: Vec<Note>,
}

/// An executable of a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

impl Index {
    pub(crate) fn new(folder: &Path, commit: &str) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            folder: folder.to_owned(),
            commit: commit.to_owned(),
            executables: Vec::new(),
            dependencies: Vec::new(),
            elsewhere: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// That of the build in `folder`, if it is finished and its executables
    /// are still there.
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        let text = fs::read(folder.join(FILE)).ok()?;
        let index: Self = serde_json::from_slice(&text).ok()?;
        let is_whole = index.schema == SCHEMA
            && index.folder == folder
            && index.executables.iter().all(|kept| kept.path.is_file());
        is_whole.then_some(index)
    }

    /// Declares the build finished.
    pub(crate) fn write(&self) -> io::Result<()> {
        let new = self.folder.join("index.new");
        let text = serde_json::to_vec_pretty(self)?;
        let written = fs::write(&new, text)
            .and_then(|()| fs::File::open(&new)?.sync_all())
            .and_then(|()| fs::rename(&new, self.folder.join(FILE)));
        if written.is_err() {
            let _ = fs::remove_file(&new);
        }
        written
    }

    /// Whether a build now would be made of the same.
    pub(crate) fn is_current(&self) -> bool {
        self.elsewhere.iter().all(Elsewhere::is_unchanged)
    }

    /// Lets the build be made again.
    pub(crate) fn forget(&self) -> io::Result<()> {
        match fs::remove_file(self.folder.join(FILE)) {
            Err(problem) if problem.kind() != io::ErrorKind::NotFound => Err(problem),
            _ => Ok(()),
        }
    }

    /// Remembers that the build was used just now.
    pub(crate) fn touch(&self) -> io::Result<()> {
        let file = fs::File::options()
            .append(true)
            .open(self.folder.join(FILE))?;
        file.set_modified(SystemTime::now())
    }

    /// When the build in `folder` was used last.
    pub(crate) fn used(folder: &Path) -> Option<SystemTime> {
        fs::metadata(folder.join(FILE)).ok()?.modified().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_finished_build_whose_executables_are_there_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        assert_eq!(Index::read(folder), None);
        let mut index = Index::new(folder, "c0ffee");
        let path = folder.join("program");
        index.executables.push(Kept {
            name: "program".to_owned(),
            path: path.clone(),
        });
        index.write().unwrap();
        assert_eq!(Index::read(folder), None, "the executable is gone");
        fs::write(&path, "").unwrap();
        assert_eq!(Index::read(folder), Some(index.clone()));
        // A copy of the repository has none of its own.
        let copy = tempfile::tempdir().unwrap();
        fs::copy(folder.join(FILE), copy.path().join(FILE)).unwrap();
        assert_eq!(Index::read(copy.path()), None);
        fs::write(
            folder.join(FILE),
            &serde_json::to_vec(&index).unwrap()[..40],
        )
        .unwrap();
        assert_eq!(Index::read(folder), None, "torn");
    }

    #[test]
    fn an_index_that_cannot_be_written_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(FILE)).unwrap();
        fs::write(folder.path().join(FILE).join("x"), "").unwrap();
        assert!(Index::new(folder.path(), "c").write().is_err());
        assert!(!folder.path().join("index.new").exists());
    }
}
