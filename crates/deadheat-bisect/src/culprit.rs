//! The mathematics of a search for the commit that changed the time: the posterior over culprits,
//! the next race, and the answer.
//!
//! Commits are numbered from 0 for GOOD to n for BAD, so that any of 1 to n may be the culprit. A
//! [`CulpritSearch`] takes races between any two of them, in any order. Its [`Posterior`] has the
//! answer once its probability is 1 − α. Until then the search names the [`NextRace`],
//! which may stop as soon as it [is decided](CulpritSearch::is_decided).
//!
//! This file derives the answer. `model` computes the probability of each commit, given the races,
//! and `search` chooses the next race and its length.

mod model;
mod search;

use model::Model;
pub use model::{CommitRace, StepSize};
pub use search::{CulpritError, CulpritSearch, NextRace};

/// A step of the sought size is likelier than its absence only if the probability of *no step* is
/// below this.
pub(crate) const LIKELIER: f64 = 0.5;

/// Neighbouring commits that no race can distinguish, because only the last builds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CommitGroup {
    /// The number of the first commit.
    pub first: usize,
    /// The number of the last commit, the only one that builds.
    pub last: usize,
    /// The probability that the culprit is in this group.
    pub probability: f64,
    /// True if the last commit was raced against the commit before the first, so that the race
    /// shows the step alone.
    pub is_confirmed: bool,
}

/// The answer of a search, with a probability of at least 1 − α.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Answer {
    /// The time changed at this commit, or at a commit of this group. A race against the commit
    /// before the group confirmed it. The change is probably of the sought size, and not smaller.
    Commits(CommitGroup),
    /// No commit changes the time by as much as the margin.
    NoStep {
        /// The probability of this answer.
        probability: f64,
    },
    /// The time changed, but the races do not fit a change at a single commit: several commits, or
    /// many small changes, caused it. The largest change is between two raced commits without a
    /// raced commit between them, where another search may find a single culprit.
    NoSingleStep {
        /// The probability of this answer.
        probability: f64,
        /// The number of the older of the two raced commits.
        from: usize,
        /// The number of the newer of the two raced commits.
        to: usize,
    },
}

/// The probability of each hypothesis, given the races so far: the time changed in one step, in one
/// of the `groups`; it did not change; or it changed, but not in a single step. These probabilities
/// add up to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    /// The groups of commits from the first after GOOD to BAD, each with the probability of a step
    /// of any size.
    pub groups: Vec<CommitGroup>,
    /// The probability that the time did not change, or by much less than the margin.
    pub no_change: f64,
    /// The probability of a step below half the margin, which is included in the probabilities of
    /// `groups`.
    pub small_step: f64,
    /// The probability that the time changed, but not by a single step.
    pub no_single_step: f64,
    /// The size of the step, if there is one; `None` if a step is impossible.
    pub step: Option<StepSize>,
    /// The probability that the culprit is one of the first k commits after GOOD.
    up_to: Vec<f64>,
    /// The two raced commits whose levels differ most, among the pairs without a raced commit
    /// between them, if the change is not a single step.
    widest_gap: Option<(usize, usize)>,
    alpha: f64,
}

impl Posterior {
    fn new(model: &Model, races: &[CommitRace], unbuildable: &[bool], alpha: f64) -> Self {
        // If no commit between the ends builds, any change is one step.
        let may_be_several = unbuildable.iter().filter(|no| !**no).count() > 2;
        let weighed = model.weigh(races, may_be_several, 1.0);
        let mut first = 1;
        let builds = (1..unbuildable.len()).filter(|commit| !unbuildable[*commit]);
        let groups = builds.map(|last| {
            let probability = weighed.up_to[last] - weighed.up_to[first - 1];
            let mut sides = races.iter().map(|race| (race.from, race.to));
            let group = CommitGroup {
                first,
                last,
                probability: probability.min(1.0),
                is_confirmed: sides.any(|sides| sides == (first - 1, last)),
            };
            first = last + 1;
            group
        });
        Self {
            groups: groups.collect(),
            no_change: weighed.no_change,
            small_step: weighed.small_step,
            no_single_step: weighed.no_single_step,
            step: weighed.step,
            widest_gap: (weighed.no_single_step >= 1.0 - alpha).then(|| model.widest_gap(races)),
            up_to: weighed.up_to,
            alpha,
        }
    }

    /// Returns the answer, once one has a probability of 1 − α. If the answer is a commit, the commit
    /// must also be confirmed, and its step must probably be of the sought size.
    pub fn answer(&self) -> Option<Answer> {
        let enough = 1.0 - self.alpha;
        let no_step = self.no_step();
        if no_step >= enough {
            let probability = no_step;
            return Some(Answer::NoStep { probability });
        }
        if let Some((from, to)) = self.widest_gap {
            let probability = self.no_single_step;
            return Some(Answer::NoSingleStep {
                probability,
                from,
                to,
            });
        }
        let known = self.known_group();
        let known = known.filter(|group| group.is_confirmed && !self.is_size_open());
        known.map(Answer::Commits)
    }

    /// Returns the probability that no step is as large as half the margin.
    pub fn no_step(&self) -> f64 {
        self.no_change + self.small_step
    }

    /// Returns true if the place of the step is known and confirmed, but its size is open: probably
    /// the step is below half the margin, but not with a probability of 1 − α.
    fn is_size_open(&self) -> bool {
        let is_known = self.known_group().is_some_and(|group| group.is_confirmed);
        is_known && (LIKELIER..1.0 - self.alpha).contains(&self.no_step())
    }

    /// Returns the group with a probability of 1 − α, confirmed or not.
    fn known_group(&self) -> Option<CommitGroup> {
        let is_known = |group: &&CommitGroup| group.probability >= 1.0 - self.alpha;
        self.groups.iter().find(is_known).copied()
    }

    /// Returns the smallest set of groups that contains the culprit with probability `level` if
    /// there is a step, the likeliest first.
    pub fn credible_groups(&self, level: f64) -> Vec<CommitGroup> {
        let mut groups = self.groups.clone();
        groups.sort_by(|one, other| other.probability.total_cmp(&one.probability));
        let wanted = level * self.step_probability();
        let mut held = 0.0;
        let enough = groups.iter().position(|group| {
            held += group.probability;
            held >= wanted
        });
        groups.truncate(enough.map_or(groups.len(), |place| place + 1));
        groups
    }

    /// Returns the probability of a step of any size.
    pub fn step_probability(&self) -> f64 {
        self.up_to.last().copied().unwrap_or(0.0)
    }

    /// Returns the probability that the step is at a commit k with `from` < k ≤ `to`, so that a
    /// race of `from` against `to` shows it. Commits after BAD count as BAD.
    pub fn step_between(&self, from: usize, to: usize) -> f64 {
        let last = self.up_to.len() - 1;
        let (low, high) = (from.min(to).min(last), from.max(to).min(last));
        (self.up_to[high] - self.up_to[low]).clamp(0.0, 1.0)
    }

    /// Returns the probability that the step is between `from` and `to`, given that there is one
    /// step or none.
    fn side(&self, from: usize, to: usize) -> f64 {
        let all = self.step_probability() + self.no_change;
        let between = self.step_between(from, to);
        (between / all.max(f64::MIN_POSITIVE)).min(1.0)
    }
}
