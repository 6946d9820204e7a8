//! The commit that changed the time, found by races between commits: the posterior over culprits,
//! the next race, and when enough is known.
//!
//! Commits are numbered from 0 for GOOD to n for BAD, so that any of 1 to n may be the culprit. A
//! [`CulpritSearch`] takes races between any two of them, in any order. Its [`Posterior`] has the
//! answer once that is known with probability 1 − α; until then the search names the [`NextRace`],
//! which may stop as soon as it [is decided](CulpritSearch::is_decided).
//!
//! What may be said is here. How likely each commit is, given the races, is worked out in `model`;
//! which race comes next, and how long, in `search`.

mod model;
mod search;

use model::Model;
pub use model::{CommitRace, StepSize};
pub use search::{CulpritError, CulpritSearch, NextRace};

/// Neighbouring commits that no race can tell apart: all but the last do not build.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CommitGroup {
    /// The first of them.
    pub first: usize,
    /// The last of them, which builds.
    pub last: usize,
    /// The probability that one of them is the culprit.
    pub probability: f64,
    /// True if the last was raced against the commit before the first: the race that shows the step
    /// itself.
    pub is_confirmed: bool,
}

/// The end of a search: what is known with probability 1 − α at least.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Answer {
    /// The step is at this commit, or at one of these that cannot be told apart, and a race against
    /// the commit before showed it.
    Commits(CommitGroup),
    /// There is no step of the size of the margin.
    NoStep {
        /// The probability of that.
        probability: f64,
    },
    /// Times changed, but no single step explains the races: there are several, or creep. The
    /// largest change lies between two raced neighbours, where another search may go on.
    NoSingleStep {
        /// The probability of that.
        probability: f64,
        /// The older one of the neighbours.
        from: usize,
        /// The newer one.
        to: usize,
    },
}

/// The probabilities of all hypotheses, given the races so far: of the groups, of no change and of
/// no single step, which add up to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    /// Commits from the first after GOOD to BAD, with the probability of a step of any size.
    pub groups: Vec<CommitGroup>,
    /// The probability that nothing changed.
    pub no_change: f64,
    /// The probability of a step below half the margin, which is a part of that of the groups.
    pub small_step: f64,
    /// The probability that times changed otherwise than by one step.
    pub no_single_step: f64,
    /// The size of the step, if there is one; `None` where that is out of the question.
    pub step: Option<StepSize>,
    /// The probability that the culprit is one of the first k commits after GOOD.
    up_to: Vec<f64>,
    /// The raced neighbours whose levels differ most, where there is no single step.
    widest_gap: Option<(usize, usize)>,
    alpha: f64,
}

impl Posterior {
    fn new(model: &Model, races: &[CommitRace], unbuildable: &[bool], alpha: f64) -> Self {
        // Without a commit that builds between the ends any change is one step.
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

    /// The answer, once one has a probability of 1 − α; a commit must be confirmed, too.
    pub fn answer(&self) -> Option<Answer> {
        let enough = 1.0 - self.alpha;
        let no_step = self.no_change + self.small_step;
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
        let known = self.known_group().filter(|group| group.is_confirmed);
        known.map(Answer::Commits)
    }

    /// The group that holds the culprit with probability 1 − α, confirmed or not.
    fn known_group(&self) -> Option<CommitGroup> {
        let is_known = |group: &&CommitGroup| group.probability >= 1.0 - self.alpha;
        self.groups.iter().find(is_known).copied()
    }

    /// The fewest groups, the likeliest first, that hold the culprit with probability `level` if
    /// there is a step: what a search without an answer has narrowed it down to.
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

    /// The probability that the step lies between two commits, `from` < k ≤ `to`: that a race
    /// between them shows it. Commits beyond BAD count as BAD.
    pub fn step_between(&self, from: usize, to: usize) -> f64 {
        let last = self.up_to.len() - 1;
        let (low, high) = (from.min(to).min(last), from.max(to).min(last));
        (self.up_to[high] - self.up_to[low]).clamp(0.0, 1.0)
    }

    /// The same, given that there is one step or none.
    fn side(&self, from: usize, to: usize) -> f64 {
        let all = self.step_probability() + self.no_change;
        let between = self.step_between(from, to);
        (between / all.max(f64::MIN_POSITIVE)).min(1.0)
    }
}
