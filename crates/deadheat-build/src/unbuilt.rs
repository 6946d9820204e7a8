//! A side of a race before it is built, whose files are read from git or from the working tree.

use std::path::Path;

use crate::disk;
use crate::error::BuildError;
use crate::repository::{Commit, Repository};

/// A commit, or the working tree.
#[derive(Clone, Debug)]
pub(crate) struct Unbuilt {
    pub(crate) name: String,
    pub(crate) commit: Option<Commit>,
}

impl Unbuilt {
    /// Returns the content of a file, by its path relative to the top; `None` if the side lacks the
    /// file.
    pub(crate) fn file(
        &self,
        repository: &Repository<'_>,
        path: &Path,
    ) -> Result<Option<Vec<u8>>, BuildError> {
        match &self.commit {
            Some(commit) => repository.file_of(commit, path),
            None => Ok(disk::read(repository.top.join(path)).ok()),
        }
    }
}
