//! The commit that changed the time, found by races between commits: the posterior over culprits,
//! the next race, and when enough is known.
//!
//! Commits are numbered from 0 for GOOD to n for BAD, so that any of 1 to n may be the culprit. A
//! [`CulpritSearch`] takes races between any two of them, in any order; its [`Posterior`] has the
//! answer once that is known with probability 1 − α, and else it names the [`NextRace`], which may
//! stop as soon as it [is decided](CulpritSearch::is_decided).
//!
//! | question | file |
//! | --- | --- |
//! | how likely is each commit, given the races? | `model` |
//! | what may be said? | `posterior` |
//! | which race next, and how long? | here |

use std::fmt;

use self::model::Model;
pub use self::model::{CommitRace, StepSize};
pub use self::posterior::{Answer, CommitGroup, Posterior};

mod model;
mod posterior;

/// A race may stop when it leaves a doubt about its side of at most this share of α. The races that
/// follow test it again; the last one, of the culprit against its parent, tests them all.
const DECIDED: f64 = 0.25;
/// How often the level of one more commit speaks for the wrong one of a single step and others.
const DOUBT_OF_A_LEVEL: f64 = 0.2;
/// The error of a race of six replicates, once it has some forty.
const LAST_ERROR: f64 = 0.4;

/// Estimates beyond, of an hour against a tenth of a microsecond, are none; errors below are finer
/// than any race, and errors above and degrees of freedom beyond change nothing.
const LARGEST_ESTIMATE: f64 = 25.0;
const ERRORS: (f64, f64) = (1e-6, 1e3);
const MOST_DF: f64 = 1e6;

/// The reason why a search cannot begin, or not take a race.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CulpritError {
    /// No commit after GOOD has any weight, or one has a weight that is negative or not finite.
    Weights,
    /// The margin is not a fraction strictly between 0 and 1.
    MarginOutOfRange {
        /// The margin asked for.
        margin: f64,
    },
    /// α is not a probability strictly between 0 and 1/2.
    AlphaOutOfRange {
        /// The α asked for.
        alpha: f64,
    },
    /// There is no commit of this number.
    NoSuchCommit {
        /// Its number.
        commit: usize,
        /// The number of BAD.
        last: usize,
    },
    /// The commit was said to be unbuildable, so it cannot be raced.
    Unbuildable {
        /// Its number.
        commit: usize,
    },
    /// The commit is an end of the range or was raced, so it cannot be unbuildable.
    Needed {
        /// Its number.
        commit: usize,
    },
    /// The estimate is beyond ±25 and so no ratio of two times, its standard error is not positive,
    /// or its degrees of freedom are below 1.
    Estimate {
        /// The baseline of the race.
        from: usize,
        /// The candidate of the race.
        to: usize,
    },
}

impl fmt::Display for CulpritError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Weights => {
                f.write_str("the weights of commits must be finite, none negative, and not all 0")
            }
            Self::MarginOutOfRange { margin } => write!(
                f,
                "the margin must lie strictly between 0 and 1, not at {margin}"
            ),
            Self::AlphaOutOfRange { alpha } => write!(
                f,
                "the error rate must lie strictly between 0 and 1/2, not at {alpha}"
            ),
            Self::NoSuchCommit { commit, last } => {
                write!(f, "there is no commit {commit}; the last is {last}")
            }
            Self::Unbuildable { commit } => {
                write!(f, "commit {commit} does not build and cannot be raced")
            }
            Self::Needed { commit } => write!(
                f,
                "commit {commit} is an end of the range or was raced: it must build"
            ),
            Self::Estimate { from, to } => write!(
                f,
                "the race of commit {to} against {from} has no estimate with an error"
            ),
        }
    }
}

impl std::error::Error for CulpritError {}

/// The race that lowers the doubt most for its cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NextRace {
    /// The baseline.
    pub from: usize,
    /// The candidate.
    pub to: usize,
    /// The expected fall of the entropy, in bits.
    pub bits: f64,
    /// The cost, as it was told.
    pub seconds: f64,
}

/// A search for the commit between GOOD and BAD at which the time changed.
///
/// ```
/// use deadheat_stats::{Answer, CommitRace, CulpritSearch};
///
/// let mut search = CulpritSearch::uniform(16, 0.01, 0.05)?;
/// let answer = loop {
///     let posterior = search.posterior();
///     if let Some(answer) = posterior.answer() {
///         break answer;
///     }
///     let next = search.next_race(&posterior, &[], |_, _| 60.0).expect("a race that tells");
///     // Here it would be raced; the step of 3 % is at commit 11.
///     let theta = if next.from < 11 && next.to >= 11 { 0.03 } else { 0.0 };
///     search.add(CommitRace { from: next.from, to: next.to, theta, se: 0.001, df: 10.0 })?;
/// };
/// assert!(matches!(answer, Answer::Commits(group) if (group.first, group.last) == (11, 11)));
/// # Ok::<(), deadheat_stats::CulpritError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CulpritSearch {
    model: Model,
    /// Of all commits, GOOD and BAD included.
    unbuildable: Vec<bool>,
    /// From the older commit to the newer one.
    races: Vec<CommitRace>,
    alpha: f64,
}

impl CulpritSearch {
    /// A search among so many commits after GOOD, BAD included, each as likely as the others.
    ///
    /// # Errors
    ///
    /// No commits, or a `margin` (a fraction, .01 for 1 %) or an `alpha` out of range.
    pub fn uniform(commits: usize, margin: f64, alpha: f64) -> Result<Self, CulpritError> {
        Self::weighted(&vec![1.0; commits], margin, alpha)
    }

    /// A search among commits whose prior probabilities are in proportion to `weights`, as the sizes
    /// of their diffs. One with weight 0 is known not to be the culprit.
    ///
    /// # Errors
    ///
    /// Weights that are not finite, negative or all 0, or a `margin` or an `alpha` out of range.
    pub fn weighted(weights: &[f64], margin: f64, alpha: f64) -> Result<Self, CulpritError> {
        let largest = weights.iter().copied().fold(0.0, f64::max);
        let sound = |weight: &f64| weight.is_finite() && *weight >= 0.0;
        if largest <= 0.0 || !weights.iter().all(sound) {
            return Err(CulpritError::Weights);
        }
        if !(margin > 0.0 && margin < 1.0) {
            return Err(CulpritError::MarginOutOfRange { margin });
        }
        if !(alpha > 0.0 && alpha < 0.5) {
            return Err(CulpritError::AlphaOutOfRange { alpha });
        }
        // In units of the largest, so that the sum does not overflow.
        let total: f64 = weights.iter().map(|weight| weight / largest).sum();
        let prior = weights.iter().map(|weight| weight / largest / total);
        Ok(Self {
            model: Model {
                prior: prior.collect(),
                // A margin of the smallest doubles is finer than any error.
                margin: margin.ln_1p().max(ERRORS.0),
            },
            unbuildable: vec![false; weights.len() + 1],
            races: Vec::new(),
            alpha,
        })
    }

    /// The number of BAD.
    pub fn last(&self) -> usize {
        self.model.prior.len()
    }

    /// The races so far, each from the older commit to the newer one.
    pub fn races(&self) -> &[CommitRace] {
        &self.races
    }

    /// Takes a race into account, in whatever order and direction; one of a commit against itself
    /// says nothing.
    ///
    /// # Errors
    ///
    /// A commit that is not there or not buildable, or an estimate without an error.
    pub fn add(&mut self, race: CommitRace) -> Result<(), CulpritError> {
        let race = self.checked(race)?;
        self.races.extend(race);
        Ok(())
    }

    /// Notes that a commit cannot be built: it joins the next one that can, and the two can no
    /// longer be told apart.
    ///
    /// # Errors
    ///
    /// A commit that is not there, is GOOD or BAD, or was raced.
    pub fn mark_unbuildable(&mut self, commit: usize) -> Result<(), CulpritError> {
        let last = self.last();
        if commit > last {
            return Err(CulpritError::NoSuchCommit { commit, last });
        }
        let raced = |race: &CommitRace| race.from == commit || race.to == commit;
        if commit == 0 || commit == last || self.races.iter().any(raced) {
            return Err(CulpritError::Needed { commit });
        }
        self.unbuildable[commit] = true;
        Ok(())
    }

    /// The probabilities of all answers.
    pub fn posterior(&self) -> Posterior {
        self.posterior_of(&self.races)
    }

    /// Returns true if a race that is still running may stop: the answer is known with it, the
    /// doubt which side of it the step is on is at most a quarter of α, or no number of replicates
    /// could halve that doubt, whichever side they spoke for.
    ///
    /// The last is so where what is left is that the race as a whole is off.
    ///
    /// # Errors
    ///
    /// As of [`add`](Self::add).
    pub fn is_decided(&self, running: CommitRace) -> Result<bool, CulpritError> {
        let Some(running) = self.checked(running)? else {
            return Ok(true);
        };
        let with = |race: CommitRace| {
            let races = [&self.races[..], &[race]].concat();
            self.posterior_of(&races)
        };
        let doubt = |posterior: &Posterior| {
            let inside = posterior.side(running.from, running.to);
            inside.min(1.0 - inside)
        };
        let posterior = with(running);
        let left = doubt(&posterior);
        if posterior.answer().is_some() || left <= self.alpha * DECIDED {
            return Ok(true);
        }
        let step = posterior.step.map_or(0.0, |step| step.theta);
        let least = [0.0, step].map(|theta| {
            let se = running.se * LAST_ERROR;
            doubt(&with(CommitRace {
                theta,
                se,
                ..running
            }))
        });
        Ok(left <= 2.0 * least[0].min(least[1]))
    }

    /// The race with the largest expected fall of the entropy per second; `None` where no race tells
    /// anything.
    ///
    /// The first race is that of the ends, which tells whether there is a step and how large it is.
    /// From then on each commit may race either end, and the `built` ones one another, for `seconds`
    /// that may include the builds; a pair without a positive cost is left out. A race is taken for
    /// a channel that tells on which side the step is and errs as often as it may when it stops. One
    /// of a commit that was not raced before is another channel, too, which tells less well whether
    /// there is a single step at all.
    pub fn next_race(
        &self,
        posterior: &Posterior,
        built: &[usize],
        seconds: impl Fn(usize, usize) -> f64,
    ) -> Option<NextRace> {
        let last = self.last();
        let doubt = self.alpha * DECIDED;
        let mut was_raced = vec![false; self.unbuildable.len()];
        for race in &self.races {
            was_raced[race.from] = true;
            was_raced[race.to] = true;
        }
        let weigh = |(from, to): (usize, usize)| {
            let seconds = seconds(from, to);
            let several = posterior.no_single_step;
            let of_sides = (1.0 - several) * bits_of_a_race(posterior.side(from, to), doubt);
            let of_levels = if was_raced[from] && was_raced[to] {
                0.0
            } else {
                bits_of_a_race(several, DOUBT_OF_A_LEVEL)
            };
            let bits = of_sides + of_levels;
            let next = NextRace {
                from,
                to,
                bits,
                seconds,
            };
            (bits > 0.0 && seconds > 0.0 && seconds.is_finite()).then_some(next)
        };
        if self.races.is_empty() {
            return weigh((0, last));
        }
        let with_ends = (1..last).flat_map(|commit| [(0, commit), (commit, last)]);
        let among_built = built.iter().flat_map(|from| {
            let later = built.iter().filter(move |to| *to > from);
            later.map(move |to| (*from, *to))
        });
        let can_race = |commit: usize| commit <= last && !self.unbuildable[commit];
        [(0, last)]
            .into_iter()
            .chain(with_ends)
            .chain(among_built)
            .filter(|(from, to)| can_race(*from) && can_race(*to))
            .filter_map(weigh)
            .reduce(|best, other| {
                let is_better = other.bits / other.seconds > best.bits / best.seconds;
                if is_better { other } else { best }
            })
    }

    /// The race from the older commit to the newer one, within the bounds that keep all that is
    /// computed of it finite; `None` for one of a commit against itself.
    fn checked(&self, race: CommitRace) -> Result<Option<CommitRace>, CulpritError> {
        let CommitRace { from, to, .. } = race;
        let last = self.last();
        for commit in [from, to] {
            if commit > last {
                return Err(CulpritError::NoSuchCommit { commit, last });
            }
            if self.unbuildable[commit] {
                return Err(CulpritError::Unbuildable { commit });
            }
        }
        let known = race.theta.abs() <= LARGEST_ESTIMATE && race.se > 0.0 && race.df >= 1.0;
        if !known {
            return Err(CulpritError::Estimate { from, to });
        }
        let forwards = CommitRace {
            from: from.min(to),
            to: from.max(to),
            theta: if from < to { race.theta } else { -race.theta },
            se: race.se.clamp(ERRORS.0, ERRORS.1),
            df: race.df.min(MOST_DF),
        };
        Ok((from != to).then_some(forwards))
    }

    fn posterior_of(&self, races: &[CommitRace]) -> Posterior {
        // Without a commit that builds between the ends any change is one step.
        let has_shapes = self.unbuildable.iter().filter(|no| !**no).count() > 2;
        let weighed = self.model.weigh(races, has_shapes, 1.0);
        Posterior::new(weighed, &self.unbuildable, self.alpha)
    }
}

/// The entropy, in bits, that a race takes away which tells whether something of this probability
/// is so, and errs with probability `doubt`: what a binary symmetric channel carries (Shannon 1948).
fn bits_of_a_race(probability: f64, doubt: f64) -> f64 {
    let told = probability * (1.0 - doubt) + (1.0 - probability) * doubt;
    (binary_entropy(told) - binary_entropy(doubt)).max(0.0)
}

fn binary_entropy(p: f64) -> f64 {
    let part = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
    part(p) + part(1.0 - p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_race_tells_most_where_both_sides_are_as_likely_and_nothing_where_one_is_certain() {
        let told: Vec<f64> = (0..=10)
            .map(|p| bits_of_a_race(f64::from(p) / 10.0, 0.01))
            .collect();
        assert!(told[..6].is_sorted() && told[0] < 1e-12 && told[10] < 1e-12);
        assert!(told[5] > 0.9 && told[5] < 1.0);
        assert!((told[2] - told[8]).abs() < 1e-12);
    }
}
