//! The git repository of the current folder, as the source of commits for a history.

use std::collections::HashSet;
use std::path::PathBuf;

use deadheat::parts::exit::Failure;
use deadheat::parts::model::Commit;
use deadheat::parts::system::Interrupts;
use deadheat_build::{BuildError, CommitInfo, Interruption, Line, commit_named, known_commits};
use deadheat_options::repository::{commit, failure, here, interrupts};

use crate::command::LineArgs;
use crate::window::GitHistory;

pub struct Repository {
    directory: PathBuf,
    line: Line,
    interrupts: Interrupts,
}

impl Repository {
    /// Returns the repository of the current folder, with the line of commits that the options
    /// select.
    pub fn around(args: &LineArgs) -> Result<Self, Failure> {
        Ok(Self {
            directory: here()?,
            line: Line {
                range: args.range.clone(),
                tip: args.tip.clone(),
                parents: args.parents.of_each(),
            },
            interrupts: interrupts()?,
        })
    }

    fn ask<T>(
        &self,
        question: impl FnOnce(Interruption<'_>) -> Result<T, BuildError>,
    ) -> Result<T, BuildError> {
        let is_interrupted = || self.interrupts.requested().is_some();
        question(Interruption(&is_interrupted))
    }

    pub fn commit(&self, name: &str) -> Result<Commit, Failure> {
        let found = self.ask(|stop| commit_named(&self.directory, name, stop));
        found
            .map(|found: CommitInfo| commit(&found))
            .map_err(failure)
    }

    pub fn commit_if_known(&self, name: &str) -> Result<Option<Commit>, Failure> {
        let found = self.ask(|stop| commit_named(&self.directory, name, stop));
        match found {
            Ok(found) => Ok(Some(commit(&found))),
            Err(error) if is_absent(&error) => Ok(None),
            Err(BuildError::UnknownRevision { .. }) => Ok(None),
            Err(error) => Err(failure(error)),
        }
    }
}

fn is_absent(error: &BuildError) -> bool {
    matches!(
        error,
        BuildError::NoRepository { .. } | BuildError::NotStarted { .. }
    )
}

impl GitHistory for Repository {
    fn newest(&self, at_most: Option<usize>) -> Result<Option<Vec<String>>, Failure> {
        let found = self.ask(|stop| self.line.newest(&self.directory, at_most, stop));
        match found {
            Ok(line) => Ok(Some(line)),
            Err(error) if is_absent(&error) && self.line.is_of_head() => Ok(None),
            Err(error) => Err(failure(error)),
        }
    }

    fn known(&self, ids: &[String]) -> Result<HashSet<String>, Failure> {
        if ids.is_empty() {
            return Ok(HashSet::new());
        }
        let known = self.ask(|stop| known_commits(&self.directory, ids, stop));
        known.map_err(failure)
    }
}
