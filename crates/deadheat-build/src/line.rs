//! The line of commits that a history is shown along, and what git knows of others.

use std::collections::HashSet;
use std::path::Path;

use crate::commits::{CommitInfo, Parents};
use crate::error::BuildError;
use crate::repository::{Repository, Revisions};
use crate::subprocess::Interruption;

/// Names on one command line of git, of 64 digits at most.
const AT_ONCE: usize = 1_000;

/// A line of commits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// From one commit, which belongs to it, to another; up to `HEAD` from the first commit of all
    /// where there are no such.
    pub range: Option<Revisions>,
    /// The end of the line, where there is no range; `HEAD` if nobody says.
    pub tip: Option<String>,
    /// The parents that are followed.
    pub parents: Parents,
}

impl Line {
    /// Returns true for the line up to `HEAD`, which needs no name that git must know.
    pub fn is_of_head(&self) -> bool {
        self.range.is_none() && self.tip.is_none()
    }

    /// The full names of the newest commits of the line, so many at most, each before its parents.
    ///
    /// # Errors
    ///
    /// A range that git does not know, and git where it fails.
    pub fn newest(
        &self,
        directory: &Path,
        at_most: Option<usize>,
        interruption: Interruption<'_>,
    ) -> Result<Vec<String>, BuildError> {
        let repository = Repository::around(directory, interruption)?;
        let commit = |name: Option<&str>| repository.commit(name.unwrap_or("HEAD"));
        let (base, head) = match &self.range {
            Some(range) => {
                let base = range.base.as_deref().map(|base| repository.commit(base));
                (base.transpose()?, commit(range.head.as_deref())?)
            }
            // A repository without a commit has no line.
            None => match commit(self.tip.as_deref()) {
                Err(BuildError::UnknownRevision { .. }) if self.is_of_head() => {
                    return Ok(Vec::new());
                }
                head => (None, head?),
            },
        };
        let mut args = vec!["rev-list".to_owned(), "--topo-order".to_owned()];
        if self.parents == Parents::First {
            args[1] = "--first-parent".to_owned();
        }
        args.extend(at_most.map(|at_most| format!("--max-count={at_most}")));
        args.push(head.id);
        args.extend(base.as_ref().map(|base| format!("^{}", base.id)));
        args.push("--".to_owned());
        let listing = repository
            .try_git(args)?
            .output_of_git(&head.name, "rev-list")?;
        let mut commits = lines(&listing);
        let is_whole = at_most.is_none_or(|at_most| commits.len() < at_most);
        commits.extend(base.filter(|_| is_whole).map(|base| base.id));
        Ok(commits)
    }
}

/// The commit that a name means.
///
/// # Errors
///
/// A folder that is in no repository, and a name that means no commit.
pub fn commit_named(
    directory: &Path,
    name: &str,
    interruption: Interruption<'_>,
) -> Result<CommitInfo, BuildError> {
    Repository::around(directory, interruption)?.commit_info(name)
}

/// Those of these full names of commits that the repository has. A shallow clone lacks most, and a
/// partial one is not made to fetch them.
///
/// # Errors
///
/// A folder that is in no repository, and git where it fails.
pub fn known_commits(
    directory: &Path,
    ids: &[String],
    interruption: Interruption<'_>,
) -> Result<HashSet<String>, BuildError> {
    let repository = Repository::around(directory, interruption)?;
    let mut known = HashSet::new();
    for ids in ids.chunks(AT_ONCE) {
        let mut command = repository.git();
        command.env("GIT_NO_LAZY_FETCH", "1");
        command.args(["rev-list", "--no-walk=unsorted", "--ignore-missing"]);
        command.args(ids).arg("--");
        let done = repository.interruption.run(&mut command, None)?;
        known.extend(lines(
            &done.output_of_git("the commits of the history", "rev-list")?,
        ));
    }
    Ok(known)
}

fn lines(listing: &[u8]) -> Vec<String> {
    let listing = String::from_utf8_lossy(listing);
    listing.lines().map(str::to_owned).collect()
}
