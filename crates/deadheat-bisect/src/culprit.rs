//! The mathematics of a search for the commit that changed the time: the posterior over culprits,
//! the next race, and the answer.
//!
//! Commits are numbered from 0 for GOOD to n for BAD, so that any of 1 to n may be the culprit. A
//! [`CulpritSearch`] takes races between any two of them, in any order. Its [`Posterior`] has the
//! answer once its probability is 1 − α. Until then the search names the [`NextRace`],
//! which may stop as soon as it [is decided](CulpritSearch::is_decided).
//!
//! This file derives the answer. `model` computes the probability of each commit, given the races,
//! and
//! `search` chooses the next race and its length.

mod model;
mod search;

use model::Model;
pub use model::{CommitRace, StepSize};
pub use search::{CulpritError, CulpritSearch, NextRace};

/// From this probability on, no step of the sought size is likelier than one.
pub(crate) const LIKELIER: f64 = 0.5;

/// Neighbouring commits that no race can distinguish, because only the last builds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CommitGroup {
    /// The first of them.
    pub first: usize,
    /// The last of them, which builds.
    pub last: usize,
    /// The probability that one of them is the culprit.
    pub probability: f64,
    /// True if the last was raced against the commit before the first, which shows the step alone.
    pub is_confirmed: bool,
}

/// The answer of a search, with a probability of at least 1 − α.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Answer {
    /// The step is at this commit, or at one of this group, and a race against the commit before
    /// confirmed it. A step of the sought size is likelier than a smaller one.
    Commits(CommitGroup),
    /// No step is as large as the margin.
    NoStep {
        /// Its probability.
        probability: f64,
    },
    /// The time changed, but no single step explains the races: there are several steps, or creep.
    /// The largest change is between these two raced neighbours, where another search may find a
    /// step.
    NoSingleStep {
        /// Its probability.
        probability: f64,
        /// The older one of the neighbours.
        from: usize,
        /// The newer one.
        to: usize,
    },
}

/// The probabilities of all hypotheses, given the races so far. Those of the groups, of no change
/// and of no single step add up to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    /// The commits from the first after GOOD to BAD, with the probability of a step of any size.
    pub groups: Vec<CommitGroup>,
    /// The probability that the time did not change, or by much less than the margin.
    pub no_change: f64,
    /// The probability of a step below half the margin, which is included in that of the groups.
    pub small_step: f64,
    /// The probability that the time changed, but not by a single step.
    pub no_single_step: f64,
    /// The size of the step, if there is one; `None` if a step is impossible.
    pub step: Option<StepSize>,
    /// The probability that the culprit is one of the first k commits after GOOD.
    up_to: Vec<f64>,
    /// The raced neighbours whose levels differ most, if there is no single step.
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

    /// The answer, once one has a probability of 1 − α. A commit must also be confirmed, and its
    /// step must probably be of the sought size.
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

    /// The probability that no step is as large as half the margin.
    pub fn no_step(&self) -> f64 {
        self.no_change + self.small_step
    }

    /// Returns true if the place of the step is known, and it is probably too small to be named, but
    /// not surely too small to be denied.
    fn is_size_open(&self) -> bool {
        let is_known = self.known_group().is_some_and(|group| group.is_confirmed);
        is_known && (LIKELIER..1.0 - self.alpha).contains(&self.no_step())
    }

    /// The group with a probability of 1 − α, confirmed or not.
    fn known_group(&self) -> Option<CommitGroup> {
        let is_known = |group: &&CommitGroup| group.probability >= 1.0 - self.alpha;
        self.groups.iter().find(is_known).copied()
    }

    /// The fewest groups among which the culprit is with probability `level` if there is a step,
    /// the likeliest first.
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

    /// The probability of a step of any size.
    pub fn step_probability(&self) -> f64 {
        self.up_to.last().copied().unwrap_or(0.0)
    }

    /// The probability that the step is at a commit k with `from` < k ≤ `to`, so that a race of the
    /// two shows it. Commits after BAD count as BAD.
    pub fn step_between(&self, from: usize, to: usize) -> f64 {
        let last = self.up_to.len() - 1;
        let (low, high) = (from.min(to).min(last), from.max(to).min(last));
        (self.up_to[high] - self.up_to[low]).clamp(0.0, 1.0)
    }

    /// The same probability, given that there is one step or none.
    fn side(&self, from: usize, to: usize) -> f64 {
        let all = self.step_probability() + self.no_change;
        let between = self.step_between(from, to);
        (between / all.max(f64::MIN_POSITIVE)).min(1.0)
    }
}
