//! Commits as git tells of them: one, a range in its order, or the line that a history is shown
//! along.

use std::collections::HashSet;
use std::path::Path;

use crate::error::BuildError;
use crate::repository::{Repository, Revisions};
use crate::subprocess::Interruption;

/// A commit of git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitInfo {
    /// Its name, all digits of it.
    pub id: String,
    /// The names of its parents, the first parent first.
    pub parents: Vec<String>,
    /// The time of the commit in seconds since 1970-01-01 UTC.
    pub committed_at: Option<u64>,
    /// The first line of its message.
    pub subject: String,
}

/// The changes of a commit, and who made them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitChanges {
    /// Its name, all digits of it.
    pub id: String,
    /// The name of its author.
    pub author: String,
    /// The files that differ from the first parent, each with the lines added and removed; `None`
    /// where it is no text.
    pub files: Vec<(String, Option<(u64, u64)>)>,
}

impl CommitChanges {
    /// The lines added and removed.
    pub fn lines(&self) -> u64 {
        let lines = self.files.iter().filter_map(|(_, lines)| *lines);
        lines.map(|(added, removed)| added + removed).sum()
    }

    /// Reads the records of `git log -z --numstat` in the format below.
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

/// The parents that a range is followed along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parents {
    /// The first of each commit: a merge counts as one commit.
    #[default]
    First,
    /// All of each commit.
    All,
}

/// The commits after one and up to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitRange {
    /// The commit before the first one, an ancestor of the last.
    pub good: CommitInfo,
    /// The commits, each after its parents; the last is the end of the range.
    pub commits: Vec<CommitInfo>,
}

/// One field of `git log` ends with a NUL; a record too.
const FORMAT: &str = "--format=tformat:%H%x00%P%x00%ct%x00%s";

impl CommitInfo {
    /// The name as people read it.
    pub fn short(&self) -> &str {
        self.id.get(..8).unwrap_or(&self.id)
    }

    /// Reads the records of `git log -z` in the format above.
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
    /// The commit that `name` means, as git tells of it.
    pub(crate) fn commit_info(&self, name: &str) -> Result<CommitInfo, BuildError> {
        let id = self.commit(name)?.id;
        let done = self.try_git(["log", "-z", "--no-walk", FORMAT, &id, "--"])?;
        let listing = done.output_of_git(name, "log")?;
        CommitInfo::read(&listing)
            .pop()
            .ok_or_else(|| BuildError::Git {
                revision: name.to_owned(),
                command: "log".to_owned(),
                said: "it knows nothing of the commit".to_owned(),
            })
    }

    /// The commit that two have in common; `None` where there is none.
    pub(crate) fn merge_base(&self, one: &str, other: &str) -> Result<Option<String>, BuildError> {
        let done = self.try_git(["merge-base", one, other])?;
        let id = String::from_utf8_lossy(&done.stdout).trim().to_owned();
        Ok((done.status.success() && !id.is_empty()).then_some(id))
    }

    /// The changes of each of these commits, in this order.
    pub(crate) fn changes(&self, ids: &[&str]) -> Result<Vec<CommitChanges>, BuildError> {
        let mut found = Vec::new();
        // So many fit into a command line on any system.
        for some in ids.chunks(1000) {
            let mut args = vec![
                "log",
                "-z",
                "--no-walk=unsorted",
                "--numstat",
                "--no-renames",
            ];
            args.extend(["--diff-merges=first-parent", CHANGES]);
            args.extend(some);
            args.push("--");
            let name = some.first().copied().unwrap_or_default();
            let listing = self.try_git(args)?.output_of_git(name, "log")?;
            found.extend(CommitChanges::read(&listing));
        }
        Ok(found)
    }

    /// The commit that the working tree is, where no file of it differs and none is new.
    pub(crate) fn clean_head(&self) -> Result<Option<CommitInfo>, BuildError> {
        let mut command = self.git();
        command.args(["--no-optional-locks", "status", "--porcelain"]);
        let done = self.interruption.run(&mut command, None)?;
        let is_clean = done.status.success() && done.stdout.is_empty();
        is_clean.then(|| self.commit_info("HEAD")).transpose()
    }

    /// The commits after `good` and up to `bad`, of which it has to be an ancestor: along first
    /// parents one that they lead to.
    pub(crate) fn range(
        &self,
        good: &str,
        bad: &str,
        parents: Parents,
    ) -> Result<CommitRange, BuildError> {
        let (start, end) = (self.commit_info(good)?, self.commit_info(bad)?);
        let ids = [&*start.id, &*end.id];
        let is_ancestor = self.try_git(["merge-base", "--is-ancestor", ids[0], ids[1]])?;
        if !is_ancestor.status.success() {
            return Err(self.no_ancestor(good, bad)?);
        }
        let between = format!("{}..{}", start.id, end.id);
        let mut args = vec!["log", "-z", "--reverse", "--topo-order", FORMAT];
        if parents == Parents::First {
            args.push("--first-parent");
        }
        args.extend([&*between, "--"]);
        let listing = self.try_git(args)?.output_of_git(bad, "log")?;
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

    /// The reason why one commit is no ancestor of the other.
    fn no_ancestor(&self, good: &str, bad: &str) -> Result<BuildError, BuildError> {
        let done = self.try_git(["rev-parse", "--is-shallow-repository"])?;
        let is_shallow = String::from_utf8_lossy(&done.stdout).trim() == "true";
        let (good, bad) = (good.to_owned(), bad.to_owned());
        Ok(if is_shallow {
            BuildError::Shallow { good, bad }
        } else {
            BuildError::NoAncestor { good, bad }
        })
    }
}

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
