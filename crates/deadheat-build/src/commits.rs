//! Reads commits from git: a single commit, an ordered range, or the commits of a history.

use std::collections::HashSet;
use std::path::Path;

use deadheat_model::is_object_id;

use crate::error::BuildError;
use crate::git::Git;
use crate::repository::{Repository, Revisions};
use crate::subprocess::Interruption;

/// A commit of git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitInfo {
    /// The full commit id.
    pub id: String,
    /// The full ids of the commit's parents, the first parent first.
    pub parents: Vec<String>,
    /// The time of the commit in seconds since 1970-01-01 UTC.
    pub committed_at: Option<u64>,
    /// The first line of the commit message.
    pub subject: String,
}

/// The author of a commit, and the files that the commit changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitChanges {
    /// The full commit id.
    pub id: String,
    /// The name of the commit's author.
    pub author: String,
    /// The changed files: the path, and the numbers of lines added and removed relative to the
    /// first parent; `None` for a binary file.
    pub files: Vec<(String, Option<(u64, u64)>)>,
}

impl CommitChanges {
    /// Returns the total number of lines added and removed in text files.
    pub fn lines(&self) -> u64 {
        let lines = self.files.iter().filter_map(|(_, lines)| *lines);
        lines.map(|(added, removed)| added + removed).sum()
    }

    fn read(listing: &[u8]) -> Vec<Self> {
        let text = String::from_utf8_lossy(listing);
        let records = text.split('\u{1}').skip(1);
        let record = |record: &str| {
            let mut fields = record.splitn(3, '\u{2}');
            let mut field = || fields.next().unwrap_or_default();
            let (id, author, files) = (field().to_owned(), field().to_owned(), field());
            let file = |line: &str| {
                let mut parts = line.trim_start_matches('\n').splitn(3, '\t');
                let (added, removed) = (parts.next()?.parse(), parts.next()?.parse());
                let lines = added.ok().zip(removed.ok());
                Some((parts.next()?.to_owned(), lines))
            };
            let files = files.split('\0').filter_map(file).collect();
            Self { id, author, files }
        };
        records.map(record).collect()
    }
}

const CHANGES: &str = "--format=tformat:%x01%H%x02%an%x02";

/// The parents that a range of commits follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parents {
    /// Only first parents: a merge counts as one commit.
    #[default]
    First,
    /// All parents.
    All,
}

/// The commits after a start commit, up to an end commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitRange {
    /// The start commit, an ancestor of the end commit. The range does not include it.
    pub good: CommitInfo,
    /// The commits of the range, each after its parents. The last one is the end commit.
    pub commits: Vec<CommitInfo>,
}

/// A `git log` format in which every field and every record ends with a NUL.
const FORMAT: &str = "--format=tformat:%H%x00%P%x00%ct%x00%s";

impl CommitInfo {
    /// Returns the first 8 digits of the commit id.
    pub fn short(&self) -> &str {
        self.id.get(..8).unwrap_or(&self.id)
    }

    fn read(listing: &[u8]) -> Vec<Self> {
        let text = String::from_utf8_lossy(listing);
        let fields: Vec<&str> = text.split('\0').collect();
        let commit = |fields: &[&str]| Self {
            id: fields[0].trim().to_owned(),
            parents: fields[1].split_whitespace().map(str::to_owned).collect(),
            committed_at: fields[2].parse().ok(),
            subject: fields[3].to_owned(),
        };
        fields.chunks_exact(4).map(commit).collect()
    }
}

impl Repository<'_> {
    pub(crate) fn commit_info(&self, name: &str) -> Result<CommitInfo, BuildError> {
        let id = self.commit(name)?.id;
        let git = self.git(&["log", "-z", "--no-walk", FORMAT]);
        let listing = self.output(git.words([&id]).paths(NONE), name)?;
        CommitInfo::read(&listing)
            .pop()
            .ok_or_else(|| BuildError::Git {
                revision: name.to_owned(),
                command: "log".to_owned(),
                said: "it printed nothing".to_owned(),
            })
    }

    /// Returns the merge base of two commits; `None` if they have no common ancestor.
    pub(crate) fn merge_base(&self, one: &str, other: &str) -> Result<Option<String>, BuildError> {
        let done = self.run(self.git(&["merge-base"]).words([one, other]))?;
        let id = String::from_utf8_lossy(&done.stdout).trim().to_owned();
        Ok((done.status.success() && !id.is_empty()).then_some(id))
    }

    pub(crate) fn changes(&self, ids: &[&str]) -> Result<Vec<CommitChanges>, BuildError> {
        let mut found = Vec::new();
        // This many ids fit on a command line on every system.
        for some in ids.chunks(1000) {
            let git = self
                .git(&["log", "-z", "--no-walk=unsorted", "--numstat"])
                .options(&["--no-renames", "--diff-merges=first-parent", CHANGES]);
            let name = some.first().copied().unwrap_or_default();
            let listing = self.output(git.words(some).paths(NONE), name)?;
            found.extend(CommitChanges::read(&listing));
        }
        Ok(found)
    }

    /// Returns the commit of the working tree; `None` if the tree has changed or new files.
    pub(crate) fn clean_head(&self) -> Result<Option<CommitInfo>, BuildError> {
        // Git's configuration and `.gitmodules`, which a commit can contain, may hide changes.
        let git = Git::new(
            &self.top,
            &["--no-optional-locks"],
            &["status", "--porcelain"],
        )
        .options(&["--untracked-files=normal", "--ignore-submodules=none"]);
        let done = self.run(git)?;
        let is_clean = done.status.success() && done.stdout.is_empty();
        is_clean.then(|| self.commit_info("HEAD")).transpose()
    }

    /// Returns the commits after `good` up to `bad`. `good` must be an ancestor of `bad`; with
    /// [`Parents::First`], an ancestor by first parents.
    pub(crate) fn range(
        &self,
        good: &str,
        bad: &str,
        parents: Parents,
    ) -> Result<CommitRange, BuildError> {
        let (start, end) = (self.commit_info(good)?, self.commit_info(bad)?);
        let ids = [&*start.id, &*end.id];
        let is_ancestor = self.run(self.git(&["merge-base", "--is-ancestor"]).words(ids))?;
        if !is_ancestor.status.success() {
            let swapped = [ids[1], ids[0]];
            let git = self.git(&["merge-base", "--is-ancestor"]);
            let reversed = self.run(git.words(swapped))?;
            return Err(self.no_ancestor(good, bad, reversed.status.success())?);
        }
        let between = format!("{}..{}", start.id, end.id);
        let mut git = self.git(&["log", "-z", "--reverse", "--topo-order", FORMAT]);
        if parents == Parents::First {
            git = git.options(&["--first-parent"]);
        }
        let listing = self.output(git.words([&between]).paths(NONE), bad)?;
        let commits = CommitInfo::read(&listing);
        let before = commits.first().and_then(|commit| commit.parents.first());
        if let Some(before) = before.filter(|before| **before != start.id)
            && parents == Parents::First
        {
            return Err(BuildError::OffTheLine {
                good: good.to_owned(),
                bad: bad.to_owned(),
                before: before.get(..8).unwrap_or(before).to_owned(),
            });
        }
        Ok(CommitRange {
            good: start,
            commits,
        })
    }

    fn no_ancestor(
        &self,
        good: &str,
        bad: &str,
        is_reversed: bool,
    ) -> Result<BuildError, BuildError> {
        let is_shallow = self.is_shallow()?;
        let (good, bad) = (good.to_owned(), bad.to_owned());
        Ok(if is_shallow && !is_reversed {
            BuildError::Shallow { good, bad }
        } else {
            BuildError::NoAncestor {
                good,
                bad,
                is_reversed,
            }
        })
    }
}

/// An empty list of paths, which makes git add `--`. Earlier arguments are then revisions, even if
/// files have the same names.
const NONE: [&str; 0] = [];

/// The largest number of ids, of at most 64 digits, on one git command line.
const AT_ONCE: usize = 1_000;

/// A line of commits in a history: a range, or all commits up to a tip.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The baseline, which is included, and the candidate. `None` for the line from the first
    /// commit of the repository to `tip`.
    pub range: Option<Revisions>,
    /// The last commit of the line if `range` is `None`; `None` for `HEAD`.
    pub tip: Option<String>,
    /// The parents that the line follows.
    pub parents: Parents,
}

impl Line {
    /// Returns true if the line ends at `HEAD` because the user named neither a range nor a tip.
    pub fn is_of_head(&self) -> bool {
        self.range.is_none() && self.tip.is_none()
    }

    /// Returns the full ids of the newest commits of the line, up to `at_most`, each before its
    /// parents.
    ///
    /// # Errors
    ///
    /// The range or the tip does not exist, or git fails.
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
            // In a repository without commits, the line is empty.
            None => match commit(self.tip.as_deref()) {
                Err(BuildError::UnknownRevision { .. }) if self.is_of_head() => {
                    return Ok(Vec::new());
                }
                head => (None, head?),
            },
        };
        let order = match self.parents {
            Parents::First => "--first-parent",
            Parents::All => "--topo-order",
        };
        let mut git = repository.git(&["rev-list", order]);
        if let Some(at_most) = at_most {
            git = git.number("--max-count", at_most);
        }
        let without = base.as_ref().map(|base| format!("^{}", base.id));
        let git = git.words([&head.id]).words(without).paths(NONE);
        let listing = repository.output(git, &head.name)?;
        let mut commits = lines(&listing);
        let is_whole = at_most.is_none_or(|at_most| commits.len() < at_most);
        commits.extend(base.filter(|_| is_whole).map(|base| base.id));
        Ok(commits)
    }
}

/// Returns the commit that a name refers to.
///
/// # Errors
///
/// The folder is not in a repository, or the name does not refer to a commit.
pub fn commit_named(
    directory: &Path,
    name: &str,
    interruption: Interruption<'_>,
) -> Result<CommitInfo, BuildError> {
    Repository::around(directory, interruption)?.commit_info(name)
}

/// Returns the full commit ids among `ids` that the repository contains. A shallow clone lacks most
/// older commits. In a partial clone, missing commits are not fetched.
///
/// # Errors
///
/// The folder is not in a repository, or git fails.
pub fn known_commits(
    directory: &Path,
    ids: &[String],
    interruption: Interruption<'_>,
) -> Result<HashSet<String>, BuildError> {
    let repository = Repository::around(directory, interruption)?;
    let mut known = HashSet::new();
    // The ids come from run files, which are untrusted input.
    let ids: Vec<&String> = ids.iter().filter(|id| is_object_id(id)).collect();
    for ids in ids.chunks(AT_ONCE) {
        let git = repository
            .git(&["rev-list", "--no-walk=unsorted", "--ignore-missing"])
            .variable("GIT_NO_LAZY_FETCH", "1");
        let git = git.words(ids).paths(NONE);
        known.extend(lines(
            &repository.output(git, "the commits of the history")?,
        ));
    }
    Ok(known)
}

fn lines(listing: &[u8]) -> Vec<String> {
    let listing = String::from_utf8_lossy(listing);
    listing.lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read_of_every_commit_and_file() {
        let text = b"\x01aa\x02A b\x02\0\n3\t1\tsrc/a b.c\0-\t-\tx.png\0\0\x01bb\x02C\x02\0";
        let [first, second] = &CommitChanges::read(text)[..] else {
            panic!("two commits");
        };
        let files = [
            ("src/a b.c".to_owned(), Some((3, 1))),
            ("x.png".to_owned(), None),
        ];
        assert_eq!((&*first.author, &first.files[..]), ("A b", &files[..]));
        assert_eq!((first.lines(), second.lines()), (4, 0));
        assert_eq!(second.id, "bb");
    }

    #[test]
    fn records_are_read_whatever_a_subject_holds() {
        let text = b"aa\0bb cc\x0012\0a: b|c \"d\"\0bb\0\0x\0\0";
        let commits = CommitInfo::read(text);
        let [first, second] = &commits[..] else {
            panic!("{commits:?}");
        };
        assert_eq!((&*first.id, &*first.subject), ("aa", "a: b|c \"d\""));
        assert_eq!(first.parents, ["bb", "cc"]);
        assert_eq!((first.committed_at, second.committed_at), (Some(12), None));
        assert!(second.parents.is_empty());
    }
}
