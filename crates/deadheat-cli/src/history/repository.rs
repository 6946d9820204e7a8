//! Questions of a history to git: the line of commits, the commits that it knows, and the meaning
//! of names.

use std::collections::HashSet;
use std::path::PathBuf;

use clap::Args;
use deadheat::parts::engine::Interrupts;
use deadheat::parts::exit::Failure;
use deadheat::parts::history::LineOfCommits;
use deadheat::parts::model::Commit;
use deadheat_build::{
    BuildError, CommitInfo, Interruption, Line, Parents, Revisions, commit_named, known_commits,
};

use crate::history_index::here;
use crate::rev::{self, failure};

/// The commits of git that make the line.
#[derive(Clone, Debug, Default, Args)]
pub struct LineArgs {
    /// From commit A, which counts, to commit B [default: the newest up to HEAD]
    #[arg(long, value_name = "A..B", value_parser = range, help_heading = "Commits")]
    pub range: Option<Revisions>,
    /// The newest commit [default: HEAD]
    #[arg(
        long,
        value_name = "COMMIT",
        help_heading = "Commits",
        conflicts_with = "range"
    )]
    pub tip: Option<String>,
    /// Follow all parents of merges, and not the first alone
    #[arg(long, help_heading = "Commits")]
    pub all_parents: bool,
}

/// Reads `A..B`.
pub fn range(text: &str) -> Result<Revisions, String> {
    let range = Revisions::parse(text).map_err(|error| error.to_string())?;
    match range.head {
        Some(_) => Ok(range),
        None => Err("write A..B, the first and the last commit".to_owned()),
    }
}

/// The repository around the user.
pub struct Repository {
    directory: PathBuf,
    line: Line,
    interrupts: Interrupts,
}

impl Repository {
    /// The one around the current folder, with the line that is asked for.
    pub fn around(args: &LineArgs) -> Result<Self, Failure> {
        let interrupts = Interrupts::install()
            .map_err(|problem| Failure::Internal(format!("signals: {problem}")))?;
        Ok(Self {
            directory: here()?,
            line: Line {
                range: args.range.clone(),
                tip: args.tip.clone(),
                parents: match args.all_parents {
                    true => Parents::All,
                    false => Parents::First,
                },
            },
            interrupts,
        })
    }

    fn ask<T>(
        &self,
        question: impl FnOnce(Interruption<'_>) -> Result<T, BuildError>,
    ) -> Result<T, BuildError> {
        let is_interrupted = || self.interrupts.requested().is_some();
        question(Interruption(&is_interrupted))
    }

    /// The commit that a name means.
    pub fn commit(&self, name: &str) -> Result<Commit, Failure> {
        let found = self.ask(|stop| commit_named(&self.directory, name, stop));
        found
            .map(|found: CommitInfo| rev::commit(&found))
            .map_err(failure)
    }

    /// The commit that a name means, where git knows it.
    pub fn commit_if_known(&self, name: &str) -> Result<Option<Commit>, Failure> {
        let found = self.ask(|stop| commit_named(&self.directory, name, stop));
        match found {
            Ok(found) => Ok(Some(rev::commit(&found))),
            Err(error) if is_absent(&error) => Ok(None),
            Err(BuildError::UnknownRevision { .. }) => Ok(None),
            Err(error) => Err(failure(error)),
        }
    }
}

/// Asks git something that Ctrl-C ends.
pub fn asking<T>(
    question: impl FnOnce(Interruption<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let interrupts = Interrupts::install()
        .map_err(|problem| Failure::Internal(format!("signals: {problem}")))?;
    let is_interrupted = || interrupts.requested().is_some();
    question(Interruption(&is_interrupted))
}

/// True where there is no repository, or no git to ask.
fn is_absent(error: &BuildError) -> bool {
    matches!(
        error,
        BuildError::NoRepository { .. } | BuildError::NotStarted { .. }
    )
}

impl LineOfCommits for Repository {
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
