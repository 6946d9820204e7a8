//! The probabilities, given races, of a step at each commit, of no change, and of other changes.
//!
//! *Culprit k* means that commit k multiplies the time by e^Δ and no other commit changes it. Then a
//! race of j against i < j estimates Δ if i < k ≤ j, and 0 otherwise. With δ = ln(1 + margin), the
//! hypotheses and their prior probabilities are
//!
//! | hypothesis | prior | true value of a race |
//! | --- | --- | --- |
//! | nothing changed | .10 | 0 |
//! | negligible changes | .05 | x_j − x_i, with levels x that differ by a small part of δ |
//! | a small step, δ/16 ≤ \|Δ\| < δ/2 | .10 | Δ or 0 |
//! | a step, δ/2 ≤ \|Δ\| | .65 | Δ or 0 |
//! | no single step | .10 | x_j − x_i, each raced commit with an independent level x |
//!
//! The prior over commits is uniform or given by weights. The prior of Δ is uniform in ln \|Δ\| and
//! the same for both signs. The answer *no step* means the first three hypotheses together. It
//! excludes steps from half the margin on, so that races cannot deny a step of exactly the margin
//! by showing a little less.
//!
//! *Negligible changes* are differences that a precise race measures although they do not matter,
//! such as .05% from the place of a function, if the margin is 5%. Without this hypothesis, such
//! races fit neither no change nor any step of the grid, and several steps were reported.
//!
//! The likelihood of an estimate θ̂ with standard error SE and ν degrees of freedom is Student's
//! density of (θ̂ − truth)/SE. It results from the likelihood of normal replicates by integrating
//! their unknown scale over 1/σ, so it does not depend on the stopping rule of the race (Jeffreys
//! 1961; Berger & Wolpert 1988). The model assumes that one race in twenty has an additional error
//! of about 1%. Otherwise one disturbed race would outweigh any number of good ones.
//!
//! *No single step* covers histories of another shape, such as creep and several steps, for which the
//! answer would otherwise be a wrong commit. Its levels are independent and normal with a spread
//! from δ/2 up (δ/128 to δ/16 for negligible changes), and the errors of its races are normal with
//! the variance of t. If there is a single step, each further commit lowers its probability by a
//! factor of about SE over the spread. If there is creep, every race that shows something between 0
//! and Δ raises it.
//!
//! The model assumes that every replicate has another code layout, so that two races of one commit
//! have independent errors. The caller must arrange this.

use deadheat_stats::dist::t_log_density;

const NO_CHANGE: f64 = 0.10;
const NEGLIGIBLE_CHANGES: f64 = 0.05;
const SMALL_STEP: f64 = 0.10;
const STEP: f64 = 0.65;
const NO_SINGLE_STEP: f64 = 0.10;

/// The smallest step of the grid as a share of the margin; smaller steps count as no change.
const SMALLEST: f64 = 1.0 / 16.0;
/// The smallest size of a step that the answer *no step* excludes, as a share of the margin.
const SOUGHT: f64 = 0.5;
/// The largest step that is considered, as a log-ratio: a factor of twenty. If a race shows more
/// than half of it, the limit is higher.
const LARGEST: f64 = 3.0;

/// The share of races that the model assumes to have an additional error.
const STRAY_SHARE: f64 = 0.05;
/// The standard deviation of the additional error, as a log-ratio.
const STRAY_SPREAD: f64 = 0.01;

/// The spreads of levels that differ negligibly, as shares of the margin.
const NEGLIGIBLE: (f64, f64) = (1.0 / 128.0, 1.0 / 16.0);

/// The likelihood is averaged over this many assumed standard deviations of the levels of commits.
const SPREADS: usize = 12;

/// The race of two commits, which has ended or is still running.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CommitRace {
    /// The number of the baseline commit, from 0 for GOOD to n for BAD.
    pub from: usize,
    /// The number of the candidate commit, from 0 for GOOD to n for BAD.
    pub to: usize,
    /// θ̂ = ln(time of `to` / time of `from`).
    pub theta: f64,
    /// The standard error of `theta`.
    pub se: f64,
    /// The degrees of freedom of the standard error.
    pub df: f64,
}

/// The size of a step, Δ, if there is one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepSize {
    /// The mean of the posterior of the size of the step, Δ.
    pub theta: f64,
    /// The 2.5% quantile of the posterior of the size of the step, Δ.
    pub low: f64,
    /// The 97.5% quantile of the posterior of the size of the step, Δ.
    pub high: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Weighed {
    /// The probability that the culprit is one of the first k commits after GOOD, with a step of
    /// any size.
    pub up_to: Vec<f64>,
    /// The probability that the time did not change, or by much less than the margin.
    pub no_change: f64,
    /// The probability of a small step, which is included in `up_to`.
    pub small_step: f64,
    /// The probability that there is no single step.
    pub no_single_step: f64,
    /// The size of the step, if there is one.
    pub step: Option<StepSize>,
}

#[derive(Debug, Clone)]
pub(super) struct Model {
    /// The prior probability of each commit after GOOD, if there is a step.
    pub prior: Vec<f64>,
    /// δ, a log ratio.
    pub margin: f64,
}

impl Model {
    /// Computes the probabilities of the hypotheses. Each race is from the older commit to the
    /// newer one. A `fineness` of 2 halves the distances of the grid.
    ///
    /// No race can tell the commits of a segment apart, so they have the same likelihood, and one
    /// term per segment and step of the grid is enough. If `may_be_several` is false, any change is
    /// one step.
    pub fn weigh(&self, races: &[CommitRace], may_be_several: bool, fineness: f64) -> Weighed {
        let grid = self.grid(races, fineness);
        let likelihoods: Vec<_> = races.iter().map(RaceLikelihood::new).collect();
        let unchanged: f64 = likelihoods.iter().map(|race| race.log_density(0.0)).sum();
        let gains: Vec<Vec<f64>> = likelihoods
            .iter()
            .map(|race| {
                let none = race.log_density(0.0);
                let gain = |point: &StepPoint| race.log_density(point.step) - none;
                grid.iter().map(gain).collect()
            })
            .collect();
        let segments = self.segments(races);
        let mut terms = Vec::with_capacity(segments.len() * grid.len());
        let mut inside = vec![0.0; grid.len()];
        for segment in &segments {
            for (race, gain) in races.iter().zip(&gains) {
                let sign = match segment.from {
                    node if node == race.from => 1.0,
                    node if node == race.to => -1.0,
                    _ => continue,
                };
                for (sum, gain) in inside.iter_mut().zip(gain) {
                    *sum += sign * gain;
                }
            }
            let same = segment.prior.ln() + unchanged;
            let with_prior = grid.iter().zip(&inside);
            terms.extend(with_prior.map(|(point, gain)| same + point.log_prior + gain));
        }
        let no_change = NO_CHANGE.ln() + unchanged;
        let negligible = NEGLIGIBLE_CHANGES.ln() + free_levels(races, self.negligible_spreads());
        let several = if may_be_several { NO_SINGLE_STEP } else { 0.0 };
        let no_single_step = several.ln() + free_levels(races, self.spreads(races));
        // Relative to the largest term; terms that underflow become 0.
        let largest = [no_change, negligible, no_single_step]
            .into_iter()
            .chain(terms.iter().copied())
            .fold(f64::MIN, f64::max);
        for term in &mut terms {
            *term = (*term - largest).exp();
        }
        let no_change = (no_change - largest).exp() + (negligible - largest).exp();
        let no_single_step = (no_single_step - largest).exp();
        let total = no_change + no_single_step + terms.iter().sum::<f64>();

        let mut of_points = vec![0.0; grid.len()];
        let (mut step, mut up_to) = (0.0, vec![0.0]);
        for (segment, terms) in segments.iter().zip(terms.chunks(grid.len())) {
            for (of_point, term) in of_points.iter_mut().zip(terms) {
                *of_point += term;
            }
            let of_segment = terms.iter().sum::<f64>() / total;
            let per_prior = if segment.prior > 0.0 {
                of_segment / segment.prior
            } else {
                0.0
            };
            for prior in &self.prior[segment.from..segment.to] {
                step += per_prior * prior;
                up_to.push(step);
            }
        }
        let points = grid.iter().zip(&of_points);
        let small = points.filter(|(point, _)| !point.is_sought);
        Weighed {
            up_to,
            no_change: no_change / total,
            small_step: small.map(|(_, term)| term).sum::<f64>() / total,
            no_single_step: no_single_step / total,
            step: step_size(&grid, &of_points),
        }
    }

    /// Returns the segments. A segment has the commits after one raced commit, up to and including
    /// the next raced commit. GOOD and BAD count as raced.
    fn segments(&self, races: &[CommitRace]) -> Vec<Segment> {
        let mut nodes = vec![0, self.prior.len()];
        nodes.extend(races.iter().flat_map(|race| [race.from, race.to]));
        nodes.sort_unstable();
        nodes.dedup();
        let between = nodes.windows(2).map(|pair| Segment {
            from: pair[0],
            to: pair[1],
            prior: self.prior[pair[0]..pair[1]].iter().sum(),
        });
        between.collect()
    }

    /// Returns steps of both signs with their prior probabilities, for the trapezoid rule in ln
    /// \|Δ\|.
    ///
    /// Near an estimate the distance of points is a third of the smallest error that all races
    /// together could have. With this distance the rule is exact to a few thousandths for
    /// bell-shaped functions. The distance grows away from the estimates, because the tails of t
    /// are flat. The remaining error is nearly the same for all commits, and cancels.
    fn grid(&self, races: &[CommitRace], fineness: f64) -> Vec<StepPoint> {
        let largest = largest_step(races);
        let together = (races.len() as f64).sqrt().max(1.0);
        let (smallest, sought) = (self.margin * SMALLEST, self.margin * SOUGHT);
        let mut grid = Vec::new();
        for sign in [1.0, -1.0] {
            for (low, high, prior, is_sought) in [
                (smallest, sought, SMALL_STEP, false),
                (sought, largest, STEP, true),
            ] {
                let mut sizes = Vec::new();
                let mut size = low;
                while size < high {
                    sizes.push(size);
                    let widths = races.iter().map(|race| {
                        let away = (sign * race.theta - size).abs();
                        0.35 * race.se / together + 0.15 * away
                    });
                    size += widths.fold(0.2 * size, f64::min) / fineness;
                }
                sizes.push(high);
                let all = (high / low).ln();
                for (place, size) in sizes.iter().enumerate() {
                    let before = sizes[place.saturating_sub(1)];
                    let after = sizes[(place + 1).min(sizes.len() - 1)];
                    let share = 0.5 * (after / before).ln() / all;
                    grid.push(StepPoint {
                        step: sign * size,
                        log_prior: (0.5 * prior * share).ln(),
                        is_sought,
                    });
                }
            }
        }
        grid
    }

    /// Returns the two raced commits whose levels differ most, among the pairs without a raced
    /// commit between them. The levels are estimated with the likeliest spread.
    pub fn widest_gap(&self, races: &[CommitRace]) -> (usize, usize) {
        let spreads = self.spreads(races);
        let levels = spreads.map(|spread| FreeLevels::new(races, spread));
        let likeliest = levels.max_by(|one, other| one.log_evidence.total_cmp(&other.log_evidence));
        let gap = |segment: &Segment| {
            let difference = |levels: &FreeLevels| levels.difference(segment.from, segment.to);
            likeliest.as_ref().map_or(0.0, difference).abs()
        };
        let segments = self.segments(races);
        let widest = segments
            .iter()
            .max_by(|one, other| gap(one).total_cmp(&gap(other)));
        widest.map_or((0, self.prior.len()), |segment| (segment.from, segment.to))
    }

    /// Returns standard deviations of levels for the hypothesis of no single step.
    fn spreads(&self, races: &[CommitRace]) -> impl Iterator<Item = f64> {
        spaced(self.margin * SOUGHT, largest_step(races))
    }

    fn negligible_spreads(&self) -> impl Iterator<Item = f64> {
        spaced(self.margin * NEGLIGIBLE.0, self.margin * NEGLIGIBLE.1)
    }
}

/// Returns spreads from `low` to `high`, evenly spaced on a log scale.
fn spaced(low: f64, high: f64) -> impl Iterator<Item = f64> {
    (0..SPREADS).map(move |place| {
        let share = (place as f64 + 0.5) / SPREADS as f64;
        low * (high / low).powf(share)
    })
}

/// Returns the logarithm of the likelihood if each raced commit has an independent level, averaged
/// over the spreads.
fn free_levels(races: &[CommitRace], spreads: impl Iterator<Item = f64>) -> f64 {
    let terms = spreads.map(|spread| FreeLevels::new(races, spread).log_evidence);
    let terms: Vec<f64> = terms.collect();
    let largest = terms.iter().copied().fold(f64::MIN, f64::max);
    let sum: f64 = terms.iter().map(|term| (term - largest).exp()).sum();
    largest + (sum / terms.len() as f64).ln()
}

/// The commits after `from` up to `to`, and their prior probability.
struct Segment {
    from: usize,
    to: usize,
    prior: f64,
}

/// A step of the grid, with the logarithm of its prior probability.
struct StepPoint {
    step: f64,
    log_prior: f64,
    is_sought: bool,
}

/// Returns the largest step size of the grid: [`LARGEST`], or twice the largest estimate if that is
/// more.
fn largest_step(races: &[CommitRace]) -> f64 {
    let shown = races.iter().map(|race| 2.0 * race.theta.abs());
    shown.fold(LARGEST, f64::max)
}

/// The likelihood of a race as a function of its true value.
struct RaceLikelihood {
    theta: f64,
    df: f64,
    /// Without the additional error: the scale, and the logarithm of the weighted density at the
    /// mode.
    sound: (f64, f64),
    /// With the additional error: the scale, and the logarithm of the weighted density at the mode.
    stray: (f64, f64),
}

impl RaceLikelihood {
    fn new(race: &CommitRace) -> Self {
        let middle = t_log_density(0.0, race.df);
        let off = race.se.hypot(STRAY_SPREAD);
        let part = |share: f64, scale: f64| (scale, share.ln() + middle - scale.ln());
        Self {
            theta: race.theta,
            df: race.df,
            sound: part(1.0 - STRAY_SHARE, race.se),
            stray: part(STRAY_SHARE, off),
        }
    }

    fn log_density(&self, truth: f64) -> f64 {
        let (one, other) = (self.part(self.sound, truth), self.part(self.stray, truth));
        one.max(other) + (-(one - other).abs()).exp().ln_1p()
    }

    fn part(&self, (scale, middle): (f64, f64), truth: f64) -> f64 {
        let t = (self.theta - truth) / scale;
        middle - 0.5 * (self.df + 1.0) * (t * t / self.df).ln_1p()
    }
}

/// Returns true if the race more likely has the additional error than not. `inside` is the
/// probability that a step of size `step` lies between the two commits of the race.
pub(super) fn is_off(race: &CommitRace, inside: f64, step: f64) -> bool {
    let race = RaceLikelihood::new(race);
    let density = |part: (f64, f64)| {
        let at = |truth: f64| race.part(part, truth).exp();
        inside * at(step) + (1.0 - inside) * at(0.0)
    };
    density(race.stray) > density(race.sound)
}

/// The levels of commits as independent normal variables, given races between them.
struct FreeLevels<'a> {
    races: &'a [CommitRace],
    /// The variance of a level.
    variance: f64,
    /// The Cholesky factor of the covariance of the races, with a row for each race.
    factor: Vec<Vec<f64>>,
    /// Each race minus its prediction by the earlier races, in standard deviations.
    residuals: Vec<f64>,
    log_evidence: f64,
}

impl<'a> FreeLevels<'a> {
    fn new(races: &'a [CommitRace], spread: f64) -> Self {
        let mut levels = Self {
            races,
            variance: spread * spread,
            factor: Vec::with_capacity(races.len()),
            residuals: Vec::with_capacity(races.len()),
            log_evidence: 0.0,
        };
        for race in races {
            let mut row = levels.row(race.from, race.to);
            // The other races cannot reduce the error of this race.
            let own = race.se * race.se * t_variance(race.df);
            let variance = (2.0 * levels.variance + own - dot(&row, &row)).max(own);
            let residual = (race.theta - dot(&row, &levels.residuals)) / variance.sqrt();
            let log_variance = (std::f64::consts::TAU * variance).ln();
            levels.log_evidence -= 0.5 * (residual * residual + log_variance);
            levels.residuals.push(residual);
            row.push(variance.sqrt());
            levels.factor.push(row);
        }
        levels
    }

    fn difference(&self, from: usize, to: usize) -> f64 {
        dot(&self.row(from, to), &self.residuals)
    }

    /// Returns the covariances of a difference of two levels with the residuals so far.
    fn row(&self, from: usize, to: usize) -> Vec<f64> {
        let mut row = Vec::with_capacity(self.factor.len() + 1);
        for (race, above) in self.races.iter().zip(&self.factor) {
            let (before, diagonal) = above.split_at(row.len());
            let shared = self.variance * shared_levels((from, to), (race.from, race.to));
            row.push((shared - dot(&row, before)) / diagonal[0]);
        }
        row
    }
}

/// Returns the covariance of two differences of levels, in units of the variance of a level.
fn shared_levels(one: (usize, usize), other: (usize, usize)) -> f64 {
    let same = |a: usize, b: usize| f64::from(u8::from(a == b));
    same(one.0, other.0) + same(one.1, other.1) - same(one.0, other.1) - same(one.1, other.0)
}

/// Returns the variance of Student's t. For fewer than three degrees of freedom it is that of
/// three.
fn t_variance(df: f64) -> f64 {
    let df = df.max(3.0);
    df / (df - 2.0)
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// Returns the mean and the quantiles of the size of the step, over the grid with these `weights`;
/// `None` if all weights are 0.
fn step_size(grid: &[StepPoint], weights: &[f64]) -> Option<StepSize> {
    let mut sizes: Vec<(f64, f64)> = grid
        .iter()
        .zip(weights)
        .filter(|(_, weight)| **weight > 0.0)
        .map(|(point, weight)| (point.step, *weight))
        .collect();
    sizes.sort_by(|one, other| one.0.total_cmp(&other.0));
    let total: f64 = sizes.iter().map(|(_, weight)| weight).sum();
    let parts = sizes.iter().map(|(step, weight)| step * (weight / total));
    let quantile = |share: f64| {
        let mut below = 0.0;
        let found = sizes.iter().find(|(_, weight)| {
            below += weight;
            below >= share * total
        });
        found.or(sizes.last()).map(|(step, _)| *step)
    };
    Some(StepSize {
        low: quantile(0.025)?,
        high: quantile(0.975)?,
        theta: parts.sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn race(from: usize, to: usize, theta: f64, se: f64) -> CommitRace {
        CommitRace {
            from,
            to,
            theta,
            se,
            df: 9.0,
        }
    }

    fn weighed(races: &[CommitRace], fineness: f64) -> Weighed {
        let model = Model {
            prior: vec![1.0 / 64.0; 64],
            margin: f64::ln_1p(0.01),
        };
        model.weigh(races, true, fineness)
    }

    /// Returns races over short and long distances, which together do not decide the search.
    fn some_races() -> Vec<CommitRace> {
        vec![
            race(0, 64, 0.012, 0.002),
            race(0, 32, 0.001, 0.002),
            race(48, 64, 0.007, 0.002),
            race(0, 40, 0.003, 0.001),
            race(40, 64, 0.011, 0.001),
            race(40, 48, 0.004, 0.002),
        ]
    }

    #[test]
    fn a_grid_eight_times_finer_changes_no_probability_by_a_hundredth() {
        let all = some_races();
        let exact_again = [&all[..], &vec![race(40, 41, 0.010, 0.0002); 12]].concat();
        for races in [&all[..1], &all[..3], &all, &exact_again] {
            let (plain, fine) = (weighed(races, 1.0), weighed(races, 8.0));
            let near = |one: f64, other: f64| {
                assert!((one - other).abs() < 0.01, "{one} and {other} of {races:?}");
            };
            near(plain.no_change, fine.no_change);
            near(plain.small_step, fine.small_step);
            near(plain.no_single_step, fine.no_single_step);
            for (plain, fine) in plain.up_to.iter().zip(&fine.up_to) {
                near(*plain, *fine);
            }
        }
    }

    #[test]
    fn without_a_race_the_hypotheses_have_their_prior() {
        let prior = weighed(&[], 1.0);
        let near = |got: f64, want: f64| assert!((got - want).abs() < 1e-12, "{got}");
        near(prior.no_change, NO_CHANGE + NEGLIGIBLE_CHANGES);
        near(prior.small_step, SMALL_STEP);
        near(prior.no_single_step, NO_SINGLE_STEP);
        near(prior.up_to[16], (SMALL_STEP + STEP) / 4.0);
        near(prior.step.unwrap().theta, 0.0);
    }

    /// By hand: the covariance of races (0, 2) and (0, 1) is σ²·(2 1; 1 2) plus their error
    /// variances.
    #[test]
    fn the_evidence_of_free_levels_is_a_normal_density() {
        let races = [
            CommitRace {
                df: 1e6,
                ..race(0, 2, 0.03, 0.01)
            },
            CommitRace {
                df: 1e6,
                ..race(0, 1, -0.01, 0.02)
            },
        ];
        let (a, b, c) = (2.0 * 4e-4 + 1e-4, 4e-4, 2.0 * 4e-4 + 4e-4);
        let determinant: f64 = a * c - b * b;
        let square = (c * 9e-4 + 2.0 * b * 3e-4 + a * 1e-4) / determinant;
        let want = -0.5 * square - 0.5 * determinant.ln() - std::f64::consts::TAU.ln();
        let got = FreeLevels::new(&races, 0.02).log_evidence;
        assert!((got - want).abs() < 1e-4, "{got} {want}");
        let turned = FreeLevels::new(&[races[1], races[0]], 0.02).log_evidence;
        assert!((got - turned).abs() < 1e-12);
    }

    #[test]
    fn the_widest_gap_is_where_races_by_way_of_others_show_the_largest_change() {
        let model = Model {
            prior: vec![1.0 / 64.0; 64],
            margin: f64::ln_1p(0.01),
        };
        // Levels of 0, .01, .04 and .03.
        let races = [
            race(0, 64, 0.03, 0.001),
            race(0, 10, 0.01, 0.001),
            race(50, 64, -0.01, 0.001),
        ];
        assert_eq!(model.widest_gap(&races), (10, 50));
        assert_eq!(model.widest_gap(&[]), (0, 64));
        let levels = FreeLevels::new(&races, 0.03);
        assert!((levels.difference(10, 50) - 0.03).abs() < 0.001);
        assert!((levels.difference(50, 10) + levels.difference(10, 50)).abs() < 1e-12);
    }

    #[test]
    fn one_disturbed_race_does_not_decide_against_two_good_ones() {
        let good = race(0, 32, 0.01, 0.001);
        let off = CommitRace { theta: 0.0, ..good };
        let ends = race(0, 64, 0.01, 0.001);
        let weighed = weighed(&[ends, good, good, off], 1.0);
        assert!(weighed.up_to[32] > 0.9, "{weighed:?}");
    }
}
