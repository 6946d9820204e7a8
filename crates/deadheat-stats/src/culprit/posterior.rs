//! What is known of the culprit, and whether that is enough.

use super::model::{StepSize, Weighed};

/// Neighbouring commits that no race can tell apart: all but the last do not build.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CommitGroup {
    /// The first of them.
    pub first: usize,
    /// The last of them, which builds.
    pub last: usize,
    /// The probability that one of them is the culprit.
    pub probability: f64,
}

/// The end of a search: what is known with probability 1 − α at least.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Answer {
    /// The step is at this commit, or at one of these that cannot be told apart.
    Commits(CommitGroup),
    /// There is no step of the size of the margin.
    NoStep {
        /// The probability of that.
        probability: f64,
    },
    /// Times changed, but no single step explains the races: there are several, or creep.
    NoSingleStep {
        /// The probability of that.
        probability: f64,
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
    alpha: f64,
}

impl Posterior {
    pub(super) fn new(weighed: Weighed, unbuildable: &[bool], alpha: f64) -> Self {
        let mut first = 1;
        let builds = (1..unbuildable.len()).filter(|commit| !unbuildable[*commit]);
        let groups = builds.map(|last| {
            let probability = weighed.up_to[last] - weighed.up_to[first - 1];
            let group = CommitGroup {
                first,
                last,
                probability: probability.min(1.0),
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
            up_to: weighed.up_to,
            alpha,
        }
    }

    /// The answer, once one has a probability of 1 − α.
    pub fn answer(&self) -> Option<Answer> {
        let enough = 1.0 - self.alpha;
        let no_step = self.no_change + self.small_step;
        if no_step >= enough {
            let probability = no_step;
            return Some(Answer::NoStep { probability });
        }
        if self.no_single_step >= enough {
            let probability = self.no_single_step;
            return Some(Answer::NoSingleStep { probability });
        }
        let mut groups = self.groups.iter();
        let group = groups.find(|group| group.probability >= enough);
        group.map(|group| Answer::Commits(*group))
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

    /// The same, given that there is one step or none: races between two commits say nothing of
    /// other histories that they would not say of any two.
    pub(super) fn side(&self, from: usize, to: usize) -> f64 {
        let all = self.step_probability() + self.no_change;
        let between = self.step_between(from, to);
        (between / all.max(f64::MIN_POSITIVE)).min(1.0)
    }
}
