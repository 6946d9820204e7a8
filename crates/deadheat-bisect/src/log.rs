//! A search for the commit that changed the time: the question, the events in order, what is known
//! after each, and the answer.
//!
//! Commits are numbered from 0 for GOOD to the last for BAD, so that any but GOOD may be the
//! culprit. Steps and estimates compare the newer commit with the older one.

use std::path::PathBuf;
use std::time::Duration;

use deadheat::parts::model::{LogRatio, Metric, named};

/// A search as it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct BisectLog {
    /// The question.
    pub request: BisectRequest,
    /// The events, in order.
    pub events: Vec<BisectEvent>,
}

impl BisectLog {
    /// The end of the search, unless it was continued after it.
    pub fn end(&self) -> Option<&BisectEnd> {
        match self.events.last() {
            Some(BisectEvent::Ended(end)) => Some(end),
            _ => None,
        }
    }

    /// The time of all builds and races, in seconds.
    pub fn seconds(&self) -> f64 {
        self.events.iter().map(BisectEvent::seconds).sum()
    }
}

/// The question of a search, which stays the same if the search is continued.
#[derive(Clone, Debug, PartialEq)]
pub struct BisectRequest {
    /// The version of deadheat that began the search.
    pub tool_version: String,
    /// Unix time of the begin, in seconds.
    pub started_at: Option<u64>,
    /// The command line that began the search.
    pub command: Vec<String>,
    /// GOOD as the user named it.
    pub good: String,
    /// BAD as the user named it.
    pub bad: String,
    /// All commits from GOOD to BAD, the oldest first.
    pub commits: Vec<BisectCommit>,
    /// The number of commits that came by merges and are not searched.
    pub aside: usize,
    /// The metric that is compared.
    pub judged: Metric,
    /// The smallest step worth finding.
    pub margin: LogRatio,
    /// The probability that the answer is wrong.
    pub alpha: f64,
    /// How likely each commit is before any race.
    pub prior: BisectPrior,
}

impl BisectRequest {
    /// The number of BAD.
    pub fn last(&self) -> usize {
        self.commits.len().saturating_sub(1)
    }

    /// The first eight characters of the id of a commit; empty if the range has no such commit.
    pub fn short(&self, commit: usize) -> &str {
        let id = self.commits.get(commit).map_or("", |commit| &*commit.id);
        id.get(..8).unwrap_or(id)
    }
}

/// A commit of the range.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BisectCommit {
    /// The full id.
    pub id: String,
    /// Unix time of the commit, in seconds.
    pub committed_at: Option<u64>,
    /// The first line of its message.
    pub subject: String,
    /// The number of lines that it changes, if the prior depends on it.
    pub lines: Option<u64>,
}

named! {
    /// How likely each commit is before any race.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub listed enum BisectPrior: name(self) {
        /// Each commit is as likely as the others.
        #[default]
        Uniform = "uniform",
        /// In proportion to the number of lines that it changes, plus one.
        Diff = "diff",
    }
}

/// An event of a search.
#[derive(Clone, Debug, PartialEq)]
pub enum BisectEvent {
    /// A commit was built, or its build was found in the store.
    Built(CommitBuilt),
    /// A commit does not build, or cannot be raced.
    Unbuildable(CommitUnbuildable),
    /// A race began.
    Begun(CommitsBegun),
    /// One of several benchmarks was chosen for the search.
    Chosen(BenchmarkChosen),
    /// A race ended.
    Raced(CommitsRaced),
    /// The search was continued, at this Unix time in seconds.
    Resumed(Option<u64>),
    /// The search ended.
    Ended(BisectEnd),
}

impl BisectEvent {
    /// The time that the event took, in seconds.
    pub fn seconds(&self) -> f64 {
        match self {
            Self::Built(built) => built.seconds,
            Self::Unbuildable(failed) => failed.seconds,
            Self::Raced(raced) => raced.seconds,
            Self::Begun(_) | Self::Chosen(_) | Self::Resumed(_) | Self::Ended(_) => 0.0,
        }
    }
}

/// A commit that builds.
#[derive(Clone, Debug, PartialEq)]
pub struct CommitBuilt {
    /// Its number.
    pub commit: usize,
    /// True if the store already had the build.
    pub was_kept: bool,
    /// The time of the build, in seconds.
    pub seconds: f64,
    /// A digest of all executables that are raced; `None` if the race also depends on other files.
    pub digest: Option<String>,
}

/// A commit that cannot be raced.
#[derive(Clone, Debug, PartialEq)]
pub struct CommitUnbuildable {
    /// Its number.
    pub commit: usize,
    /// The reason, in words.
    pub reason: String,
    /// The time of the attempt, in seconds.
    pub seconds: f64,
}

/// The begin of a race of two commits.
#[derive(Clone, Debug, PartialEq)]
pub struct CommitsBegun {
    /// The older one.
    pub from: usize,
    /// The newer one.
    pub to: usize,
    /// The run file.
    pub file: PathBuf,
}

/// The benchmark that was chosen after the race of GOOD and BAD.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchmarkChosen {
    /// Its name.
    pub benchmark: String,
    /// The other benchmarks that are faster or slower in that race.
    pub called: Vec<String>,
}

/// The end of a race of two commits.
#[derive(Clone, Debug, PartialEq)]
pub struct CommitsRaced {
    /// The older one.
    pub from: usize,
    /// The newer one.
    pub to: usize,
    /// The benchmark.
    pub benchmark: String,
    /// The estimate.
    pub effect: LogRatio,
    /// Its standard error, on the log scale.
    pub se: f64,
    /// Degrees of freedom of the error.
    pub df: f64,
    /// The number of replicates.
    pub replicates: usize,
    /// The time of the race, in seconds.
    pub seconds: f64,
    /// The run file.
    pub file: PathBuf,
    /// True if the race was cut off, so that only its complete replicates count.
    pub was_cut: bool,
    /// True if the result holds for the source: every replicate had another code layout, or
    /// instructions were counted.
    pub is_placed: bool,
}

/// The end of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct BisectEnd {
    /// The answer.
    pub answer: BisectAnswer,
    /// The size of the step, if there is one.
    pub step: Option<StepEstimate>,
    /// The commits between which the step was found, if no single step explains all races.
    pub within: Option<(usize, usize)>,
}

/// The answer of a search.
#[derive(Clone, Debug, PartialEq)]
pub enum BisectAnswer {
    /// The step is at this commit, or at one of these neighbours.
    Commits(CommitShare),
    /// No step is as large as the margin, with this probability.
    NoStep(f64),
    /// No single step explains the races, not even between the neighbours that differ most: the
    /// time changed in several steps, or gradually.
    NoSingleStep(SeveralSteps),
    /// The search did not find an answer.
    Open(OpenSearch),
}

/// A change in more than one step.
#[derive(Clone, Debug, PartialEq)]
pub struct SeveralSteps {
    /// The older one of the raced neighbours that differ most.
    pub from: usize,
    /// The newer one.
    pub to: usize,
    /// The probability that one step does not explain the races.
    pub probability: f64,
}

/// A search that was not finished.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenSearch {
    /// The reason.
    pub reason: OpenReason,
    /// The commits among which the culprit is with probability 1 − α if there is a step, the
    /// likeliest first.
    pub commits: Vec<CommitShare>,
    /// The probability that there is no step.
    pub no_step: f64,
}

named! {
    /// The reason why a search was not finished.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub listed enum OpenReason: name(self) {
        /// The time budget was used up.
        Budget = "budget",
        /// The limit of races was reached.
        Races = "races",
        /// No further race would add information.
        Exhausted = "exhausted",
    }
}

/// Neighbouring commits that no race can distinguish, and their probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommitShare {
    /// The first of them.
    pub first: usize,
    /// The last of them, the only one that builds.
    pub last: usize,
    /// The probability that one of them is the culprit.
    pub probability: f64,
}

/// The size of a step with its interval of 95%.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepEstimate {
    /// The mean.
    pub effect: LogRatio,
    /// The lower end.
    pub low: LogRatio,
    /// The upper end.
    pub high: LogRatio,
}

/// What is known after some events of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct BisectStanding {
    /// The fewest commits among which the culprit is with probability 1 − α if there is a step, the
    /// likeliest first.
    pub commits: Vec<CommitShare>,
    /// The part of the history that contains all of `commits`: the commit before the earliest, and the
    /// latest.
    pub between: (usize, usize),
    /// The probability that there is a step at one of them.
    pub held: f64,
    /// The probability that no step is as large as the margin.
    pub no_step: f64,
    /// The probability that the times changed, but not in one step.
    pub several: f64,
    /// The size of the step, if there is one.
    pub step: Option<StepEstimate>,
    /// The race that just ended, with its own interval of 95%; `None` after other events.
    pub race: Option<StepEstimate>,
    /// The expected number of races until the answer.
    pub races_left: u32,
    /// The expected time of these races and their builds, in seconds.
    pub seconds_left: f64,
}

/// A search with all that its answer and its story say.
#[derive(Clone, Debug, PartialEq)]
pub struct Bisection {
    /// The search as it was recorded.
    pub log: BisectLog,
    /// What was known after each event; `None` after events that change nothing.
    pub standings: Vec<Option<BisectStanding>>,
    /// The commits that the answer names, with their details from git.
    pub details: Vec<CommitDetails>,
    /// Commands to run next, each after a description of what it does.
    pub commands: Vec<(String, String)>,
}

impl Bisection {
    /// The races that ended.
    pub fn races(&self) -> impl Iterator<Item = &CommitsRaced> {
        self.log.events.iter().filter_map(|event| match event {
            BisectEvent::Raced(raced) => Some(raced),
            _ => None,
        })
    }

    /// The commits that cannot be raced.
    pub fn unbuildable(&self) -> impl Iterator<Item = &CommitUnbuildable> {
        self.log.events.iter().filter_map(|event| match event {
            BisectEvent::Unbuildable(failed) => Some(failed),
            _ => None,
        })
    }

    /// Neighbouring built commits with identical executables.
    pub fn alike(&self) -> Vec<(usize, usize)> {
        same_builds(&self.log.events)
    }
}

/// Neighbouring built commits with identical executables: no commit after the older one, up to and
/// including the newer one, can have changed the time.
pub fn same_builds(events: &[BisectEvent]) -> Vec<(usize, usize)> {
    let built = events.iter().filter_map(|event| match event {
        BisectEvent::Built(built) => Some((built.commit, built.digest.as_deref()?)),
        _ => None,
    });
    let mut built: Vec<(usize, &str)> = built.collect();
    built.sort_unstable();
    built.dedup_by_key(|(commit, _)| *commit);
    let alike = built.windows(2).filter(|pair| pair[0].1 == pair[1].1);
    alike.map(|pair| (pair[0].0, pair[1].0)).collect()
}

/// The details of a commit from git.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitDetails {
    /// Its number.
    pub commit: usize,
    /// The author.
    pub author: String,
    /// The files that it changes, each with the lines added and removed; `None` for binary files.
    pub files: Vec<(String, Option<(u64, u64)>)>,
}

/// The limits of a search, which may change when it is continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BisectLimits {
    /// The time for builds and races of this process.
    pub budget: Option<Duration>,
    /// The most races of the whole search.
    pub races: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_with_the_same_digest_are_the_same_build() {
        let built = |commit, digest: Option<&str>| {
            BisectEvent::Built(CommitBuilt {
                commit,
                was_kept: false,
                seconds: 1.0,
                digest: digest.map(str::to_owned),
            })
        };
        let events = [
            built(0, Some("a")),
            built(9, Some("b")),
            built(5, Some("b")),
            built(3, Some("a")),
            built(5, Some("b")),
            built(7, None),
        ];
        assert_eq!(same_builds(&events), [(0, 3), (5, 9)]);
    }
}
