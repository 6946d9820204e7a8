//! A search for the commit that changed the time: what was asked, what happened in order, where it
//! stands, and the answer.
//!
//! Commits are numbered from 0 for GOOD to the last for BAD, so that any but GOOD may be the
//! culprit. Sizes of steps and estimates are those of the newer commit against the older one.

use std::path::PathBuf;
use std::time::Duration;

use crate::estimate::LogRatio;
use crate::metric::Metric;

/// A search as it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct BisectLog {
    /// The question.
    pub request: BisectRequest,
    /// All that happened, in order.
    pub events: Vec<BisectEvent>,
}

impl BisectLog {
    /// The answer, if the search came to one and did not go on after it.
    pub fn end(&self) -> Option<&BisectEnd> {
        match self.events.last() {
            Some(BisectEvent::Ended(end)) => Some(end),
            _ => None,
        }
    }

    /// The seconds that builds and races took.
    pub fn seconds(&self) -> f64 {
        self.events.iter().map(BisectEvent::seconds).sum()
    }
}

/// The question of a search, which stays the same however often it is taken up again.
#[derive(Clone, Debug, PartialEq)]
pub struct BisectRequest {
    /// The version of deadheat that asked first.
    pub tool_version: String,
    /// Unix time of the first second.
    pub started_at: Option<u64>,
    /// The words that ask again.
    pub command: Vec<String>,
    /// GOOD as it was named.
    pub good: String,
    /// BAD as it was named.
    pub bad: String,
    /// All commits from GOOD to BAD, the oldest first.
    pub commits: Vec<BisectCommit>,
    /// Commits between the ends that lie on no first parent's line, and are not searched.
    pub aside: usize,
    /// The metric that is searched by.
    pub judged: Metric,
    /// The smallest step that is looked for.
    pub margin: LogRatio,
    /// The probability that the answer is wrong.
    pub alpha: f64,
    /// The way in which the prior is spread over commits.
    pub prior: BisectPrior,
}

impl BisectRequest {
    /// The number of BAD.
    pub fn last(&self) -> usize {
        self.commits.len().saturating_sub(1)
    }

    /// The commit of this number by the first characters of its name, as git shortens it.
    pub fn short(&self, commit: usize) -> &str {
        let id = self.commits.get(commit).map_or("", |commit| &*commit.id);
        id.get(..8).unwrap_or(id)
    }
}

/// A commit of the range.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BisectCommit {
    /// Its name, in full.
    pub id: String,
    /// Unix time of the commit.
    pub committed_at: Option<u64>,
    /// The first line of its message.
    pub subject: String,
    /// Lines that it changes, where the prior rests on these.
    pub lines: Option<u64>,
}

named! {
    /// The way in which the prior is spread over commits.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub listed enum BisectPrior: name(self) {
        /// Each commit is as likely as the others.
        #[default]
        Uniform = "uniform",
        /// In proportion to the lines that it changes, and one more.
        Diff = "diff",
    }
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum BisectEvent {
    /// A commit was built, or its build was found.
    Built(CommitBuilt),
    /// A commit does not build, or cannot be raced.
    Unbuildable(CommitUnbuildable),
    /// A race began.
    Begun(CommitsBegun),
    /// The benchmark that is searched by was chosen among several.
    Chosen(BenchmarkChosen),
    /// A race ended.
    Raced(CommitsRaced),
    /// The search was taken up again, at this second of Unix time.
    Resumed(Option<u64>),
    /// The search came to its end.
    Ended(BisectEnd),
}

impl BisectEvent {
    /// The seconds it took.
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
    /// True if it was built before.
    pub was_kept: bool,
    /// The time it took.
    pub seconds: f64,
    /// A digest of all executables that are raced; `None` where these are not all that matters.
    pub digest: Option<String>,
}

/// A commit that cannot be raced.
#[derive(Clone, Debug, PartialEq)]
pub struct CommitUnbuildable {
    /// Its number.
    pub commit: usize,
    /// The reason, in words.
    pub reason: String,
    /// The time it took to find out.
    pub seconds: f64,
}

/// A race of two commits that began.
#[derive(Clone, Debug, PartialEq)]
pub struct CommitsBegun {
    /// The older one.
    pub from: usize,
    /// The newer one.
    pub to: usize,
    /// The run file.
    pub file: PathBuf,
}

/// A benchmark that was chosen after the race of the ends.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchmarkChosen {
    /// Its name.
    pub benchmark: String,
    /// The other benchmarks whose change at the ends is called.
    pub called: Vec<String>,
}

/// A race of two commits that ended.
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
    /// Replicates it rests on.
    pub replicates: usize,
    /// The time it took.
    pub seconds: f64,
    /// The run file.
    pub file: PathBuf,
    /// True if it was cut off, and counts with the replicates that were complete.
    pub was_cut: bool,
    /// True if it speaks of the source: code lay elsewhere in every replicate, or instructions
    /// were counted.
    pub is_placed: bool,
}

/// The end of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct BisectEnd {
    /// The answer.
    pub answer: BisectAnswer,
    /// The size of the step, where there is one.
    pub step: Option<StepEstimate>,
    /// The commits between which it was found, where no single step explains all races.
    pub within: Option<(usize, usize)>,
}

/// The answer of a search.
#[derive(Clone, Debug, PartialEq)]
pub enum BisectAnswer {
    /// It is this commit, or one of these that cannot be told apart.
    Commits(CommitShare),
    /// There is no step of the size of the margin, with this probability.
    NoStep(f64),
    /// No single step explains the races, and none was found between the neighbours that differ
    /// most: several steps, or creep.
    NoSingleStep(SeveralSteps),
    /// It was not found out.
    Open(OpenSearch),
}

/// A change that is no single step.
#[derive(Clone, Debug, PartialEq)]
pub struct SeveralSteps {
    /// The older one of the raced neighbours that differ most.
    pub from: usize,
    /// The newer one.
    pub to: usize,
    /// The probability that there is no single step.
    pub probability: f64,
}

/// A search that was not finished.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenSearch {
    /// The reason.
    pub reason: OpenReason,
    /// The commits that hold the culprit with probability 1 − α if there is a step, the likeliest
    /// first.
    pub commits: Vec<CommitShare>,
    /// The probability that there is no step.
    pub no_step: f64,
}

named! {
    /// The reason why a search was not finished.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub listed enum OpenReason: name(self) {
        /// The time for it was over.
        Budget = "budget",
        /// It had as many races as it may.
        Races = "races",
        /// No further race would tell anything.
        Exhausted = "exhausted",
    }
}

/// Neighbouring commits that no race can tell apart, and their probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommitShare {
    /// The first of them.
    pub first: usize,
    /// The last of them, which alone builds.
    pub last: usize,
    /// The probability that one of them is the culprit.
    pub probability: f64,
}

/// The size of the step with the interval that holds it with probability 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepEstimate {
    /// The mean.
    pub effect: LogRatio,
    /// The lower end.
    pub low: LogRatio,
    /// The upper end.
    pub high: LogRatio,
}

/// Where a search stands.
#[derive(Clone, Debug, PartialEq)]
pub struct BisectStanding {
    /// The fewest commits that hold the culprit with probability 1 − α if there is a step, the
    /// likeliest first.
    pub commits: Vec<CommitShare>,
    /// The commit before the first of them, and the last of them.
    pub between: (usize, usize),
    /// The probability that there is a step at one of them.
    pub held: f64,
    /// The probability that there is no step of the size of the margin.
    pub no_step: f64,
    /// The probability that there is no single step.
    pub several: f64,
    /// The size of the step, if there is one.
    pub step: Option<StepEstimate>,
    /// The race that just ended with its own interval of 95 %; `None` behind other events.
    pub race: Option<StepEstimate>,
    /// Races that are expected until the answer.
    pub races_left: u32,
    /// Seconds that these take with their builds.
    pub seconds_left: f64,
}

/// A search replayed, for those who tell of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Bisection {
    /// The search as it was recorded.
    pub log: BisectLog,
    /// Where it stood after each event; `None` behind those that change nothing.
    pub standings: Vec<Option<BisectStanding>>,
    /// The commits that the answer names, as git tells of them.
    pub details: Vec<CommitDetails>,
    /// Commands that tell more or go on, each behind what it does.
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

    /// Neighbours among the built commits whose executables are the same bytes.
    pub fn alike(&self) -> Vec<(usize, usize)> {
        same_builds(&self.log.events)
    }
}

/// Neighbours among the built commits whose executables are the same bytes, so that no commit after
/// the older one up to the newer one can have changed the time.
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

/// A commit as git tells of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitDetails {
    /// Its number.
    pub commit: usize,
    /// Who wrote it.
    pub author: String,
    /// The files that it changes, each with the lines added and removed; `None` for bytes.
    pub files: Vec<(String, Option<(u64, u64)>)>,
}

/// The limits of a search, which may differ each time it is taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BisectLimits {
    /// The time for builds and races of this sitting.
    pub budget: Option<Duration>,
    /// The most races in all.
    pub races: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_are_alike_where_neighbours_have_the_same_bytes() {
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
