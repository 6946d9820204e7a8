//! Selects the commits of a history and puts them in order.
//!
//! Git determines the order. Only the needed parts of git's line of commits and of the index are
//! read, so runs of commits that are not selected cost nothing, even if there are 100,000.

use std::collections::{HashMap, HashSet};

use deadheat::parts::exit::Failure;

use crate::index_store::HistoryIndex;
use crate::query_store::IndexedCommit;
use crate::timeline::CommitOrder;

/// The number of git commits to read at first for each wanted commit, because not every commit was
/// raced.
const FOR_EACH: usize = 4;

/// The factor by which the number of git commits to read grows, until enough raced commits are
/// found.
const GROWTH: usize = 8;

pub trait GitHistory {
    /// Returns the full ids of the commits on the line, newest first, at most `at_most` of them;
    /// `None` without git.
    ///
    /// # Errors
    ///
    /// Fails if git fails.
    fn newest(&self, at_most: Option<usize>) -> Result<Option<Vec<String>>, Failure>;

    /// Returns those of these commits that are in the repository.
    ///
    /// # Errors
    ///
    /// Fails if git fails.
    fn known(&self, ids: &[String]) -> Result<HashSet<String>, Failure>;
}

/// The selection of commits that the user asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestedCommits {
    /// The newest raced commits, at most this number of them.
    Newest(usize),
    /// The commits since a time, in seconds since 1970-01-01 UTC.
    Since(u64),
    /// All commits of the line.
    All,
    /// All commits of the line, which the user gave as a range. Commits that git does not know are
    /// left out if they are older or younger than the range.
    Range,
}

/// A selected commit that was raced.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowCommit {
    pub indexed: IndexedCommit,
    pub order: CommitOrder,
    /// The position on the line, counted from the newest commit; `None` if the commit is off the
    /// line.
    pub position: Option<usize>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Window {
    /// The selected commits, oldest first.
    pub commits: Vec<WindowCommit>,
    /// The part of git's line of commits that was read, as full ids, newest first.
    pub line: Vec<String>,
    /// The number of commits from the period of the selected commits that git does not know;
    /// `commits` includes them.
    pub unknown: usize,
    /// The number of commits from the period of the selected commits that git has on another line;
    /// `commits` excludes them.
    pub off_line: usize,
    /// False if git is missing, and the commits are ordered by their times.
    pub has_git: bool,
    /// True if the index has commits older than the selected ones. Always false for a range that
    /// the user gave.
    pub older: bool,
}

impl Window {
    /// Selects the commits that the user asks for.
    ///
    /// # Errors
    ///
    /// Fails if the index cannot be read, or if git fails.
    pub fn of(
        index: &HistoryIndex,
        git: &dyn GitHistory,
        asked: RequestedCommits,
    ) -> Result<Self, Failure> {
        let Some((line, mut commits)) = on_line(index, git, asked)? else {
            return Self::by_time(index, asked);
        };
        let times = || {
            commits
                .iter()
                .filter_map(|one| one.indexed.commit.committed_at)
        };
        let (first, last) = (times().min(), times().max());
        let (since, until) = match asked {
            RequestedCommits::Since(seconds) => (seconds, u64::MAX),
            RequestedCommits::All => (0, u64::MAX),
            RequestedCommits::Newest(_) => (first.unwrap_or(0), u64::MAX),
            RequestedCommits::Range => (first.unwrap_or(u64::MAX), last.unwrap_or(0)),
        };
        let named: HashSet<&str> = line.iter().map(String::as_str).collect();
        let mut strays = index.commits_since(since, None).map_err(Failure::reading)?;
        strays.retain(|one| {
            let is_in_time = one.commit.committed_at.is_none_or(|time| time <= until);
            is_in_time && !named.contains(&*one.commit.id)
        });
        let ids: Vec<String> = strays.iter().map(|one| one.commit.id.clone()).collect();
        let known = git.known(&ids)?;
        let all = strays.len();
        strays.retain(|one| !known.contains(&one.commit.id));
        let unknown = strays.len();
        for stray in strays {
            insert_by_time(&mut commits, stray);
        }
        let is_rest_unknown = matches!(
            asked,
            RequestedCommits::Newest(_) | RequestedCommits::Since(_)
        );
        let older = is_rest_unknown && index.has_before(since).map_err(Failure::reading)?;
        Ok(Self {
            commits,
            line,
            unknown,
            off_line: all - unknown,
            has_git: true,
            older,
        })
    }

    fn by_time(index: &HistoryIndex, asked: RequestedCommits) -> Result<Self, Failure> {
        let (since, at_most) = match asked {
            RequestedCommits::Newest(count) => (0, Some(count)),
            RequestedCommits::Since(seconds) => (seconds, None),
            RequestedCommits::All | RequestedCommits::Range => (0, None),
        };
        let found = index.commits_since(since, at_most);
        let found = found.map_err(Failure::reading)?;
        let first = found.first().and_then(|one| one.commit.committed_at);
        let older = first.map(|first| index.has_before(first)).transpose();
        let commit = |indexed| WindowCommit {
            indexed,
            order: CommitOrder::ByTime,
            position: None,
        };
        Ok(Self {
            commits: found.into_iter().map(commit).collect(),
            older: older.map_err(Failure::reading)?.unwrap_or(false),
            ..Self::default()
        })
    }
}

/// A part of git's line of commits, newest first, and the indexed commits on it, oldest first.
type Found = (Vec<String>, Vec<WindowCommit>);

/// Reads the line of commits as far as needed for the selection; `None` without git.
fn on_line(
    index: &HistoryIndex,
    git: &dyn GitHistory,
    asked: RequestedCommits,
) -> Result<Option<Found>, Failure> {
    let mut at_most = match asked {
        RequestedCommits::Newest(count) => Some(count.saturating_mul(FOR_EACH).max(256)),
        RequestedCommits::Since(_) => Some(256),
        RequestedCommits::All | RequestedCommits::Range => None,
    };
    loop {
        let Some(line) = git.newest(at_most)? else {
            return Ok(None);
        };
        let found = index.commits_named(&line).map_err(Failure::reading)?;
        let places = line.iter().enumerate();
        let places: HashMap<&str, usize> = places.map(|(place, id)| (&**id, place)).collect();
        let oldest = found.iter().max_by_key(|one| places.get(&*one.commit.id));
        let is_older = |one: &IndexedCommit, since| {
            let time = one.commit.committed_at;
            time.is_some_and(|time| time < since)
        };
        let is_enough = match asked {
            RequestedCommits::Newest(count) => found.len() >= count,
            RequestedCommits::Since(since) => oldest.is_some_and(|one| is_older(one, since)),
            RequestedCommits::All | RequestedCommits::Range => true,
        };
        let is_whole = at_most.is_none_or(|at_most| line.len() < at_most);
        if !is_enough && !is_whole {
            at_most = at_most.map(|at_most| at_most.saturating_mul(GROWTH));
            continue;
        }
        let mut commits: Vec<WindowCommit> = found
            .into_iter()
            .map(|indexed| WindowCommit {
                position: places.get(&*indexed.commit.id).copied(),
                indexed,
                order: CommitOrder::OnLine,
            })
            .collect();
        commits.sort_by_key(|one| one.position);
        match asked {
            RequestedCommits::Newest(count) => commits.truncate(count),
            // The author of a commit chooses its date, so a commit with an older date between
            // younger ones is not left out.
            RequestedCommits::Since(since) => {
                let is_younger = |one: &WindowCommit| !is_older(&one.indexed, since);
                let last = commits.iter().rposition(is_younger);
                commits.truncate(last.map_or(0, |last| last + 1));
            }
            RequestedCommits::All | RequestedCommits::Range => {}
        }
        commits.reverse();
        return Ok(Some((line, commits)));
    }
}

/// Inserts a commit that git does not know before the first younger commit.
fn insert_by_time(commits: &mut Vec<WindowCommit>, stray: IndexedCommit) {
    let time = stray.commit.committed_at;
    let is_younger = |one: &WindowCommit| one.indexed.commit.committed_at > time;
    let place = commits.iter().position(is_younger);
    let stray = WindowCommit {
        indexed: stray,
        order: CommitOrder::ByTime,
        position: None,
    };
    commits.insert(place.unwrap_or(commits.len()), stray);
}
