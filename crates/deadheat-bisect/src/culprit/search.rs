//! A search for the culprit: its races, the next race, and whether a running race may stop.

use std::fmt;

use super::Posterior;
use super::model::{CommitRace, Model, is_off};

/// A race may stop once the probability that it is wrong about whether the step lies between its
/// two commits is at most this share of α. Later races test the result again, and the last race, of
/// the culprit against the commit before, tests all of them.
const DECIDED: f64 = 0.25;
/// The assumed probability that a race of a new commit misleads about whether there is a single
/// step.
const DOUBT_OF_A_LEVEL: f64 = 0.2;
/// The assumed probability that the repetition of a race, which may have an additional error,
/// misleads about whether there is a single step.
const DOUBT_OF_A_REPEAT: f64 = 0.02;
/// The standard error of a race of some forty replicates, relative to that of its first six.
const LAST_ERROR: f64 = 0.4;

/// The largest possible estimate, as a log ratio: an hour to a tenth of a microsecond.
const LARGEST_ESTIMATE: f64 = 25.0;
/// The limits to which standard errors are clamped. Smaller errors are below the precision of any
/// race, and larger errors change nothing.
const ERRORS: (f64, f64) = (1e-6, 1e3);
/// The limit to which degrees of freedom are clamped, because more change nothing.
const MOST_DF: f64 = 1e6;

/// The reason why a search cannot begin, or cannot use a race.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CulpritError {
    /// No commit after GOOD has any weight, or one has a weight that is negative or not finite.
    Weights,
    /// The margin is not a fraction strictly between 0 and 1.
    MarginOutOfRange {
        /// The rejected margin.
        margin: f64,
    },
    /// α is not a probability strictly between 0 and 1/2.
    AlphaOutOfRange {
        /// The rejected α.
        alpha: f64,
    },
    /// The range does not have a commit of this number.
    NoSuchCommit {
        /// The number of the commit.
        commit: usize,
        /// The number of the last commit of the range (BAD).
        last: usize,
    },
    /// The commit is marked as unbuildable, so it cannot be raced.
    Unbuildable {
        /// The number of the commit.
        commit: usize,
    },
    /// The commit is an end of the range or was raced, so it cannot be unbuildable.
    Needed {
        /// The number of the commit.
        commit: usize,
    },
    /// The estimate is outside ±25, which is impossible for the log ratio of two times, its
    /// standard error is not positive, or its degrees of freedom are below 1.
    Estimate {
        /// The number of the baseline commit of the race.
        from: usize,
        /// The number of the candidate commit of the race.
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
                write!(f, "commit {commit} does not exist; the last one is {last}")
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
                "the race of commit {to} against {from} has no estimate with a standard error"
            ),
        }
    }
}

impl std::error::Error for CulpritError {}

/// The race with the most information for its cost, as the next step of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NextRace {
    /// The number of the baseline commit.
    pub from: usize,
    /// The number of the candidate commit.
    pub to: usize,
    /// The expected decrease of the entropy over the hypotheses, in bits.
    pub bits: f64,
    /// The cost that the caller gave for the race, in seconds.
    pub seconds: f64,
}

/// A search for the commit between GOOD and BAD at which the time changed.
///
/// ```
/// use deadheat_bisect::culprit::{Answer, CommitRace, CulpritSearch};
///
/// let mut search = CulpritSearch::uniform(16, 0.01, 0.05)?;
/// let answer = loop {
///     let posterior = search.posterior();
///     if let Some(answer) = posterior.answer() {
///         break answer;
///     }
///     let next = search.next_race(&posterior, &[], |_, _| 60.0).expect("a useful race");
///     // A caller would race the two; the step of 3% is at commit 11.
///     let theta = if next.from < 11 && next.to >= 11 { 0.03 } else { 0.0 };
///     search.add(CommitRace { from: next.from, to: next.to, theta, se: 0.001, df: 10.0 })?;
/// };
/// assert!(matches!(answer, Answer::Commits(group) if (group.first, group.last) == (11, 11)));
/// # Ok::<(), deadheat_bisect::culprit::CulpritError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CulpritSearch {
    model: Model,
    /// True for each commit that does not build, from GOOD to BAD.
    unbuildable: Vec<bool>,
    /// All races, each from the older commit to the newer one.
    races: Vec<CommitRace>,
    alpha: f64,
}

impl CulpritSearch {
    /// Creates a search among this number of commits after GOOD up to BAD, which are equally
    /// likely.
    ///
    /// # Errors
    ///
    /// The number of commits is 0, or `margin` (a fraction, .01 for 1%) or `alpha` is out of range.
    pub fn uniform(commits: usize, margin: f64, alpha: f64) -> Result<Self, CulpritError> {
        Self::weighted(&vec![1.0; commits], margin, alpha)
    }

    /// Creates a search among commits whose prior probabilities are in proportion to `weights`, for
    /// example the sizes of their diffs. A commit of weight 0 cannot be the culprit.
    ///
    /// # Errors
    ///
    /// A weight is negative or not finite, all are 0, or `margin` or `alpha` is out of range.
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
        // Relative to the largest weight, so that the sum does not overflow.
        let total: f64 = weights.iter().map(|weight| weight / largest).sum();
        let prior = weights.iter().map(|weight| weight / largest / total);
        Ok(Self {
            model: Model {
                prior: prior.collect(),
                // A smaller margin is below the precision of any race.
                margin: margin.ln_1p().max(ERRORS.0),
            },
            unbuildable: vec![false; weights.len() + 1],
            races: Vec::new(),
            alpha,
        })
    }

    /// Returns the search between two commits, with the races between them. It may find a step even
    /// if the whole range has several. In the new search `from` is GOOD, with number 0.
    ///
    /// # Errors
    ///
    /// A commit does not exist or does not build, or all commits between them have weight 0.
    pub fn between(&self, from: usize, to: usize) -> Result<Self, CulpritError> {
        for commit in [from, to] {
            self.check_commit(commit)?;
        }
        let (from, to) = (from.min(to), from.max(to));
        let total: f64 = self.model.prior[from..to].iter().sum();
        if total <= 0.0 {
            return Err(CulpritError::Weights);
        }
        let prior = self.model.prior[from..to].iter().map(|prior| prior / total);
        let within = |race: &&CommitRace| from <= race.from && race.to <= to;
        let races = self.races.iter().filter(within).map(|race| CommitRace {
            from: race.from - from,
            to: race.to - from,
            ..*race
        });
        Ok(Self {
            model: Model {
                prior: prior.collect(),
                margin: self.model.margin,
            },
            unbuildable: self.unbuildable[from..=to].to_vec(),
            races: races.collect(),
            alpha: self.alpha,
        })
    }

    /// Returns the number of the last commit of the range (BAD).
    pub fn last(&self) -> usize {
        self.model.prior.len()
    }

    /// Returns the races so far, each from the older commit to the newer one.
    pub fn races(&self) -> &[CommitRace] {
        &self.races
    }

    /// Adds a race, in any order and direction. A race of a commit against itself is ignored.
    ///
    /// # Errors
    ///
    /// A commit does not exist or does not build, or the estimate or its error is impossible.
    pub fn add(&mut self, race: CommitRace) -> Result<(), CulpritError> {
        let race = self.checked(race)?;
        self.races.extend(race);
        Ok(())
    }

    /// Marks a commit as unbuildable. It forms a group with the next commit that builds, because no
    /// race can distinguish the two.
    ///
    /// # Errors
    ///
    /// The commit does not exist, is GOOD or BAD, or was raced.
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

    /// Computes the probabilities of all hypotheses.
    pub fn posterior(&self) -> Posterior {
        self.posterior_of(&self.races)
    }

    /// Returns true if a running race may stop, for one of three reasons: it gives the answer; the
    /// probability of error about the side of the step is at most a quarter of α; or further
    /// replicates could not halve that probability, because the race as a whole may have an
    /// additional error.
    ///
    /// # Errors
    ///
    /// The errors of [`add`](Self::add).
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
        // The side is known, and every replicate helps to tell the size.
        if posterior.is_size_open() {
            return Ok(false);
        }
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

    /// Returns the race with the largest expected decrease of the entropy per second, given the
    /// posterior of the races so far; `None` if no race adds information.
    ///
    /// The first race is GOOD against BAD, which shows whether there is a step and its size. The
    /// last race is the culprit against the commit before, which confirms it. In between, each
    /// commit may race GOOD or BAD, and the commits in `built` may race each other. `seconds` is
    /// the cost of a race, which may include builds; pairs without a positive cost are left out.
    ///
    /// The expected information of a race comes from two questions. Every race answers whether the
    /// step lies between its two commits, with the error rate at which the race may stop. A race of
    /// a new commit also answers, less reliably, whether there is a single step at all. The best
    /// race for the second question repeats a race whose result was neither 0 nor the step, because
    /// either that race was disturbed, or a commit has a third level.
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
        let step = posterior.step.map_or(0.0, |step| step.theta);
        let is_off = |race: &&CommitRace| is_off(race, posterior.side(race.from, race.to), step);
        let off = self.races.iter().filter(is_off);
        let off: Vec<(usize, usize)> = off.map(|race| (race.from, race.to)).collect();
        let weigh = |(from, to): (usize, usize)| {
            let seconds = seconds(from, to);
            let several = posterior.no_single_step;
            let of_sides = (1.0 - several) * bits_of_a_race(posterior.side(from, to), doubt);
            let of_levels = if !(was_raced[from] && was_raced[to]) {
                bits_of_a_race(several, DOUBT_OF_A_LEVEL)
            } else if off.contains(&(from, to)) {
                bits_of_a_race(several, DOUBT_OF_A_REPEAT)
            } else {
                0.0
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
        if let Some((from, to)) = self.due(posterior) {
            let seconds = seconds(from, to);
            let bits = bits_of_a_race(posterior.side(from, to), doubt);
            return Some(NextRace {
                from,
                to,
                bits,
                seconds,
            });
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

    /// Returns the race that must come next, whatever its cost: GOOD against BAD, or a race that
    /// confirms the culprit or the size of its step.
    fn due(&self, posterior: &Posterior) -> Option<(usize, usize)> {
        if self.races.is_empty() {
            return Some((0, self.last()));
        }
        let known = posterior.known_group();
        let due = known.filter(|group| !group.is_confirmed || posterior.is_size_open());
        due.map(|group| (group.first - 1, group.last))
    }

    /// Returns the race as one from the older commit to the newer one, with its standard error and
    /// its degrees of freedom limited so that all results are finite. `None` if both commits are
    /// the same.
    fn checked(&self, race: CommitRace) -> Result<Option<CommitRace>, CulpritError> {
        let CommitRace { from, to, .. } = race;
        for commit in [from, to] {
            self.check_commit(commit)?;
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

    fn check_commit(&self, commit: usize) -> Result<(), CulpritError> {
        let last = self.last();
        match self.unbuildable.get(commit) {
            None => Err(CulpritError::NoSuchCommit { commit, last }),
            Some(true) => Err(CulpritError::Unbuildable { commit }),
            Some(false) => Ok(()),
        }
    }

    fn posterior_of(&self, races: &[CommitRace]) -> Posterior {
        Posterior::new(&self.model, races, &self.unbuildable, self.alpha)
    }
}

/// Returns the information in bits about an event of this probability, if a race errs with
/// probability `doubt`. The race is a binary symmetric channel (Shannon 1948).
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
    fn a_race_has_most_information_if_both_sides_are_equally_likely() {
        let told: Vec<f64> = (0..=10)
            .map(|p| bits_of_a_race(f64::from(p) / 10.0, 0.01))
            .collect();
        assert!(told[..6].is_sorted() && told[0] < 1e-12 && told[10] < 1e-12);
        assert!(told[5] > 0.9 && told[5] < 1.0);
        assert!((told[2] - told[8]).abs() < 1e-12);
    }
}
