//! The looks (interim analyses) of a run, and how much of α each may spend.
//!
//! The share of α spent by a look is the fraction of replicates seen, to the power 1.5 (Lan &
//! DeMets 1983, Kim & DeMets 1987): by the look at P of Pmax replicates, at most α·(P/Pmax)^1.5 of
//! all runs without a difference are called different.
//!
//! A run may take more than forty replicates just because they are cheap, without a request of the
//! user. The chance to continue should not delay the decision of such a run. So the run spends
//! seven tenths of α over its first forty replicates, by the same power, and the rest evenly over
//! the following replicates, at closer looks ([`Spending::extended`]).
//!
//! An [`e_value`] allows a look after every replicate; its confidence sequence is [`critical_t`].
//! It is a mixture over effect sizes, in units of the unknown standard deviation, of invariant
//! likelihood ratios (Lindon, Ham, Tingley & Bojinov 2022; Wang & Ramdas 2024), with n = P
//! replicate estimates and ν = n − 1.
//!
//! If every replicate is a single block, T = θ̂/SE does not follow Student's t. With a look after
//! each of 6 to 200 replicates, false positives for normal runs were .049 at α = .05, which leaves
//! no slack, and .011 at .01. With [`few_blocks`](crate::few_blocks) (`equivalent_t` for the
//! evidence, `stretched_t` for the interval) they are .032 and .006.

use crate::summary::finite;

/// The exponent of the spending function.
pub const SPENDING_POWER: f64 = 1.5;

/// The number of replicates over which a run of up to 200 replicates (an extended run) spends most
/// of its α.
const FIRST_PART: usize = 40;

/// The share of α that a run of up to 200 replicates spends over its first 40. Below .68, the level
/// of the look at six replicates would be stricter than the signed-rank [guard](crate::formula) of
/// six blocks can reach.
const SHARE_OF_FIRST_PART: f64 = 0.7;

/// The largest number of replicates of a run that may go beyond 40 replicates.
pub const MOST_EXTENDED: usize = 200;

/// The first looks, in replicates. From 11 on, each is about √2 times the previous one.
const GROWTH: [usize; 10] = [6, 8, 11, 16, 22, 31, 44, 62, 88, 125];

/// A look after at least this percentage of the last look's replicates is dropped, because it is
/// not worth its share of α.
const TOO_CLOSE_PERCENT: usize = 85;

/// The reason why a plan could not be made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SpendingError {
    /// A run needs at least one replicate.
    NoReplicates,
    /// α is not a probability strictly between 0 and 1.
    AlphaOutOfRange {
        /// The rejected α.
        alpha: f64,
    },
}

impl std::fmt::Display for SpendingError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoReplicates => f.write_str("a run needs at least one replicate"),
            Self::AlphaOutOfRange { alpha } => {
                write!(f, "the error rate must be above 0 and below 1, not {alpha}")
            }
        }
    }
}

impl std::error::Error for SpendingError {}

/// The looks of a run, and their levels, fixed before its first sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Spending {
    /// Replicates seen at each look, ascending.
    pub looks: Vec<usize>,
    /// The two-sided nominal level of each look's interval.
    pub levels: Vec<f64>,
    /// The share of α that each look spends, w_j = t_j^1.5 − t_{j−1}^1.5 with t = P/Pmax; the
    /// shares add up to 1.
    pub weights: Vec<f64>,
}

impl Spending {
    /// The looks of a run of at most `max_replicates` with overall error rate `alpha`.
    /// For Pmax 11, 22, 40 or 88 and α 0.05 or 0.01 the levels are tabulated. They use up α exactly
    /// for t-statistics of normal replicates (the example `spending` recomputes them). Otherwise
    /// look j gets its increment α·w_j, a union bound that is valid whatever the dependence between
    /// looks. Below six replicates there is one look, at the end.
    pub fn plan(max_replicates: usize, alpha: f64) -> Result<Self, SpendingError> {
        check(max_replicates, alpha)?;
        let looks = schedule(max_replicates);
        let last = max_replicates as f64;
        let weights = weights(&looks, |look| (look as f64 / last).powf(SPENDING_POWER));
        let levels = match tabled_levels(max_replicates, alpha) {
            Some(levels) => levels.to_vec(),
            None => weights.iter().map(|w| alpha * w).collect(),
        };
        Ok(Self {
            looks,
            levels,
            weights,
        })
    }

    /// The looks of a run that may go beyond forty replicates. Its maximum, from 45 to 200
    /// replicates, is the last tabulated look within `max_replicates`. `None` if that is below 45.
    ///
    /// Up to forty replicates, the looks until P together spend α·.7·(P/40)^1.5; beyond forty,
    /// α·(.7 + .3·(P − 40)/160). The last look spends the rest of α. So the looks in the first
    /// forty replicates have the same levels whatever the maximum is. For α .05, .01 and .001 the
    /// levels are tabulated. Between these, the levels of the next smaller α are scaled up, which
    /// spends slightly less than α. Below .001, look j gets its increment α·w_j.
    pub fn extended(max_replicates: usize, alpha: f64) -> Result<Option<Self>, SpendingError> {
        check(max_replicates, alpha)?;
        let within = EXTENDED.partition_point(|row| row.look <= max_replicates);
        let Some((last, before)) = EXTENDED[..within].split_last() else {
            return Ok(None);
        };
        let Some(closing) = last.closing else {
            return Ok(None);
        };
        let looks: Vec<usize> = EXTENDED[..within].iter().map(|row| row.look).collect();
        let weights = weights(&looks, |look| {
            let beyond = look.saturating_sub(FIRST_PART) as f64;
            let first = look.min(FIRST_PART) as f64 / FIRST_PART as f64;
            match look {
                look if look == last.look => 1.0,
                _ => {
                    SHARE_OF_FIRST_PART * first.powf(SPENDING_POWER)
                        + (1.0 - SHARE_OF_FIRST_PART) * beyond / (MOST_EXTENDED - FIRST_PART) as f64
                }
            }
        });
        // Compared with a tolerance, because α may have been computed.
        let tabled = EXTENDED_ALPHAS
            .iter()
            .position(|tabled| *tabled <= alpha * (1.0 + 1e-12));
        let levels = match tabled {
            Some(tabled) => {
                let levels = before.iter().map(|row| row.levels).chain([closing]);
                let share = alpha / EXTENDED_ALPHAS[tabled];
                levels.map(|levels| share * levels[tabled]).collect()
            }
            None => weights.iter().map(|w| alpha * w).collect(),
        };
        Ok(Some(Self {
            looks,
            levels,
            weights,
        }))
    }

    /// A single look after `replicates`, at level `alpha`.
    pub fn fixed(replicates: usize, alpha: f64) -> Result<Self, SpendingError> {
        check(replicates, alpha)?;
        Ok(Self {
            looks: vec![replicates],
            levels: vec![alpha],
            weights: vec![1.0],
        })
    }

    /// Returns the index of the last look that a run of this many replicates has reached. A run
    /// that ends early is judged at that look.
    pub fn last_completed(&self, replicates: usize) -> Option<usize> {
        self.looks
            .partition_point(|&look| look <= replicates)
            .checked_sub(1)
    }
}

/// min(1, min_j p_j/w_j): one p-value for a run from the p-values of its looks so far (a weighted
/// Bonferroni bound, Holm 1979). `weights` may be longer: looks not reached are ignored.
pub fn adjusted_p(p_values_per_look: &[f64], weights: &[f64]) -> f64 {
    let looks = p_values_per_look.iter().zip(weights);
    looks
        .filter(|(_, w)| **w > 0.0)
        .map(|(p, w)| p / w)
        .fold(1.0, f64::min)
        .max(0.0)
}

/// The tabulated two-sided levels of a plan with the looks 6, 8, 11, …, Pmax.
pub fn tabled_levels(max_replicates: usize, alpha: f64) -> Option<&'static [f64]> {
    let is = |value: f64| (alpha - value).abs() < 1e-12;
    let levels: &[f64] = match max_replicates {
        11 if is(0.05) => &[0.0199, 0.0185, 0.0295],
        22 if is(0.05) => &[0.00711, 0.00587, 0.00919, 0.0181, 0.0296],
        40 if is(0.05) => &[0.00290, 0.00226, 0.00362, 0.00701, 0.0112, 0.0200, 0.0289],
        88 if is(0.05) => &[
            0.000829, 0.000617, 0.000994, 0.00186, 0.00306, 0.00571, 0.0102, 0.0180, 0.0317,
        ],
        11 if is(0.01) => &[0.00394, 0.00313, 0.00497],
        22 if is(0.01) => &[0.00145, 0.00107, 0.00165, 0.00323, 0.00526],
        40 if is(0.01) => &[
            0.000595, 0.000408, 0.000705, 0.00136, 0.00201, 0.00359, 0.00506,
        ],
        88 if is(0.01) => &[
            0.000183, 0.000117, 0.000163, 0.00034, 0.000567, 0.00103, 0.00182, 0.00332, 0.00572,
        ],
        _ => return None,
    };
    Some(levels)
}

/// A look of a run that may go beyond 40 replicates.
struct ExtendedLook {
    look: usize,
    /// The level of the look for every α of [`EXTENDED_ALPHAS`].
    levels: [f64; 3],
    /// The levels that replace `levels` if the plan ends with this look; `None` if no plan does.
    closing: Option<[f64; 3]>,
}

const fn look(look: usize, levels: [f64; 3], closing: Option<[f64; 3]>) -> ExtendedLook {
    ExtendedLook {
        look,
        levels,
        closing,
    }
}

const EXTENDED_ALPHAS: [f64; 3] = [0.05, 0.01, 0.001];

/// The looks of extended runs, computed by the example `spending`.
#[rustfmt::skip]
const EXTENDED: [ExtendedLook; 31] = [
    look(6, [0.00203, 0.000407, 0.0000407], None),
    look(7, [0.00124, 0.000216, 0.0000183], None),
    look(8, [0.00117, 0.000198, 0.0000166], None),
    look(9, [0.00125, 0.000212, 0.0000179], None),
    look(10, [0.0014, 0.000236, 0.00002], None),
    look(11, [0.00158, 0.000264, 0.0000223], None),
    look(12, [0.00176, 0.000296, 0.0000248], None),
    look(14, [0.0026, 0.000452, 0.0000394], None),
    look(16, [0.00323, 0.000555, 0.0000478], None),
    look(18, [0.00385, 0.000658, 0.0000561], None),
    look(20, [0.00451, 0.000758, 0.0000644], None),
    look(22, [0.00522, 0.000872, 0.0000724], None),
    look(25, [0.00691, 0.00117, 0.0000988], None),
    look(28, [0.00834, 0.00139, 0.000116], None),
    look(31, [0.00979, 0.00163, 0.000134], None),
    look(35, [0.0124, 0.00208, 0.000173], None),
    look(40, [0.016, 0.00269, 0.000223], None),
    look(45, [0.00592, 0.000847, 0.0000585], Some([0.031, 0.00541, 0.000466])),
    look(50, [0.00417, 0.000573, 0.0000393], Some([0.028, 0.0048, 0.000414])),
    look(56, [0.00351, 0.00048, 0.0000333], Some([0.0254, 0.00432, 0.000374])),
    look(63, [0.00329, 0.000446, 0.0000324], Some([0.0231, 0.00397, 0.000344])),
    look(71, [0.00321, 0.000456, 0.0000331], Some([0.0214, 0.00365, 0.000321])),
    look(80, [0.0032, 0.000477, 0.0000362], Some([0.0199, 0.00341, 0.000301])),
    look(90, [0.00343, 0.000503, 0.0000392], Some([0.0185, 0.00316, 0.000281])),
    look(100, [0.0036, 0.000522, 0.0000415], Some([0.0173, 0.00296, 0.000262])),
    look(112, [0.00389, 0.000597, 0.0000471], Some([0.0161, 0.00275, 0.000243])),
    look(126, [0.00438, 0.000662, 0.0000532], Some([0.0147, 0.0025, 0.000221])),
    look(141, [0.00484, 0.000735, 0.0000596], Some([0.0133, 0.00223, 0.000196])),
    look(160, [0.0056, 0.000865, 0.0000712], Some([0.0114, 0.0019, 0.000165])),
    look(178, [0.00595, 0.000922, 0.0000739], Some([0.00955, 0.00154, 0.000131])),
    look(200, [0.00679, 0.00106, 0.0000861], Some([0.00679, 0.00106, 0.0000861])),
];

fn check(replicates: usize, alpha: f64) -> Result<(), SpendingError> {
    if replicates == 0 {
        return Err(SpendingError::NoReplicates);
    }
    if !(alpha > 0.0 && alpha < 1.0) {
        return Err(SpendingError::AlphaOutOfRange { alpha });
    }
    Ok(())
}

fn schedule(max_replicates: usize) -> Vec<usize> {
    // In u128 neither the doubling nor the percentage can overflow.
    let last = max_replicates as u128;
    let mut looks = GROWTH.map(|look| look as u128).to_vec();
    while looks[looks.len() - 1] < last {
        looks.push(2 * looks[looks.len() - 2]);
    }
    looks.retain(|look| 100 * look <= TOO_CLOSE_PERCENT as u128 * last);
    looks
        .into_iter()
        .map(|look| look as usize)
        .chain([max_replicates])
        .collect()
}

/// Each look's share of α, given the total spent by each look.
fn weights(looks: &[usize], spent: impl Fn(usize) -> f64) -> Vec<f64> {
    let before = std::iter::once(0.0).chain(looks.iter().map(|&look| spent(look)));
    looks
        .iter()
        .zip(before)
        .map(|(&look, before)| spent(look) - before)
        .collect()
}

/// The default prior weight `g` of [`e_value`], in replicates: small values favour large effects,
/// large values small ones.
pub const DEFAULT_G: f64 = 2.0;

/// E = √r·[(1 + r·t²/ν)/(1 + t²/ν)]^(−(ν+1)/2) with r = g/(g + n), for the t-statistic of `n`
/// replicates.
///
/// Without a difference its expectation is at most 1 at any stopping time, so rejecting at E ≥ 1/α
/// has an error rate of at most α. Returns 1 (no evidence) for fewer than two replicates, or if `g`
/// is not positive. Values too large to represent become `f64::MAX`.
pub fn e_value(t: f64, n: usize, g: f64) -> f64 {
    if n < 2 || !(g > 0.0 && g.is_finite()) || t.is_nan() {
        return 1.0;
    }
    let (r, nu) = (prior_share(n, g), (n - 1) as f64);
    // (1 + r·q)/(1 + q) = 1 − (1 − r)·q/(1 + q) with q = t²/ν: this form is right even if t²
    // overflows.
    let explained = 1.0 / (1.0 + nu / (t * t));
    let log_ratio = (-(1.0 - r) * explained).ln_1p();
    (0.5 * r.ln() - 0.5 * (nu + 1.0) * log_ratio)
        .exp()
        .min(f64::MAX)
}

/// The half-width, in standard errors, of a confidence sequence after `n` replicates: the |t| at
/// which E reaches 1/α, √(ν(1 − q)/(q − r)) with q = (α²r)^(1/n).
///
/// `None` if no t is large enough (q ≤ r, for the first few replicates) and for arguments out of
/// range.
pub fn critical_t(n: usize, alpha: f64, g: f64) -> Option<f64> {
    if n < 2 || !(alpha > 0.0 && alpha < 1.0) || !(g > 0.0 && g.is_finite()) {
        return None;
    }
    let (r, nu) = (prior_share(n, g), (n - 1) as f64);
    let log_q = (2.0 * alpha.ln() + r.ln()) / n as f64;
    let room = log_q.exp() - r;
    if room <= 0.0 {
        return None;
    }
    finite((nu * -log_q.exp_m1() / room).sqrt())
}

/// The smallest number of replicates for which [`critical_t`] exists: with fewer, even the largest
/// t-statistic is not evidence at level `alpha`. Small values of `alpha` need many: 6 for .05,
/// about 80 for 1e-60.
pub fn fewest_at_any_time(alpha: f64, g: f64) -> usize {
    let is_finite = |n: &usize| critical_t(*n, alpha, g).is_some();
    (2..MOST_TO_ANY_TIME)
        .find(is_finite)
        .unwrap_or(MOST_TO_ANY_TIME)
}

/// A number of replicates at which [`critical_t`] exists for any α, down to the smallest positive
/// number.
const MOST_TO_ANY_TIME: usize = 1_000;

fn prior_share(n: usize, g: f64) -> f64 {
    g / (g + n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tabled_plans_keep_their_looks_and_levels() {
        let forty = Spending::plan(40, 0.05).unwrap();
        assert_eq!(forty.looks, [6, 8, 11, 16, 22, 31, 40]);
        assert_eq!(
            forty.levels,
            [0.00290, 0.00226, 0.00362, 0.00701, 0.0112, 0.0200, 0.0289]
        );
        assert_eq!(Spending::plan(11, 0.01).unwrap().looks, [6, 8, 11]);
        assert_eq!(Spending::plan(22, 0.05).unwrap().looks, [6, 8, 11, 16, 22]);
        assert_eq!(
            Spending::plan(88, 0.01).unwrap().looks,
            [6, 8, 11, 16, 22, 31, 44, 62, 88]
        );
    }

    #[test]
    fn a_smaller_error_takes_more_replicates_before_any_t_is_rare_enough() {
        assert_eq!(fewest_at_any_time(0.05, DEFAULT_G), 6);
        let many = fewest_at_any_time(1e-60, DEFAULT_G);
        assert!(critical_t(many, 1e-60, DEFAULT_G).is_some());
        assert!(critical_t(many - 1, 1e-60, DEFAULT_G).is_none());
        assert!((60..100).contains(&many), "{many}");
        let least = fewest_at_any_time(f64::MIN_POSITIVE, DEFAULT_G);
        assert!(least < MOST_TO_ANY_TIME, "{least}");
    }

    #[test]
    fn every_tabled_level_belongs_to_a_look() {
        for max in [11, 22, 40, 88] {
            for alpha in [0.05, 0.01] {
                let plan = Spending::plan(max, alpha).unwrap();
                assert_eq!(plan.levels, tabled_levels(max, alpha).unwrap());
                assert_eq!(plan.levels.len(), plan.looks.len());
            }
        }
    }

    #[test]
    fn a_look_close_to_the_last_is_dropped() {
        assert_eq!(Spending::plan(12, 0.05).unwrap().looks, [6, 8, 12]);
        assert_eq!(Spending::plan(13, 0.05).unwrap().looks, [6, 8, 11, 13]);
        assert_eq!(Spending::plan(7, 0.05).unwrap().looks, [7]);
        assert_eq!(
            Spending::plan(100, 0.05).unwrap().looks,
            [6, 8, 11, 16, 22, 31, 44, 62, 100]
        );
    }

    #[test]
    fn long_runs_go_on_growing_by_the_square_root_of_two() {
        let plan = Spending::plan(1_000, 0.05).unwrap();
        assert_eq!(plan.looks[8..], [88, 125, 176, 250, 352, 500, 704, 1_000]);
        assert!(Spending::plan(usize::MAX, 0.05).unwrap().looks.len() < 140);
    }

    #[test]
    fn fewer_than_six_replicates_are_looked_at_once() {
        for max in 1..6 {
            assert_eq!(Spending::plan(max, 0.05), Spending::fixed(max, 0.05));
            assert_eq!(Spending::plan(max, 0.05).unwrap().levels, [0.05]);
        }
    }

    #[test]
    fn shares_of_alpha_add_up_to_the_whole() {
        for max in 1..300 {
            let plan = Spending::plan(max, 0.02).unwrap();
            assert!(
                (plan.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12,
                "{max}"
            );
            assert!(
                (plan.levels.iter().sum::<f64>() - 0.02).abs() < 1e-12,
                "{max}"
            );
            assert!(plan.weights.iter().all(|&w| w > 0.0), "{max}");
            assert!(plan.looks.is_sorted_by(|a, b| a < b), "{max}");
            assert_eq!(plan.looks.last(), Some(&max));
        }
    }

    fn extended(max: usize, alpha: f64) -> Spending {
        Spending::extended(max, alpha).unwrap().unwrap()
    }

    #[test]
    fn an_extended_run_has_the_same_first_forty_replicates_whatever_its_end() {
        let longest = extended(MOST_EXTENDED, 0.05);
        assert_eq!(longest.looks.len(), 31);
        for (max, end) in [(45, 45), (49, 45), (55, 50), (199, 178), (1_000, 200)] {
            let plan = extended(max, 0.05);
            let before = plan.looks.len() - 1;
            assert_eq!(plan.looks[before], end);
            assert_eq!(plan.looks[..before], longest.looks[..before]);
            assert_eq!(plan.levels[..before], longest.levels[..before]);
            assert!(plan.levels[before] >= longest.levels[before], "{max}");
        }
        assert_eq!(Spending::extended(44, 0.05), Ok(None));
        assert_eq!(Spending::extended(3, 0.05), Ok(None));
        assert!(Spending::extended(100, 0.0).is_err());
    }

    #[test]
    fn the_shares_of_an_extended_run_add_up_and_no_look_costs_less_than_its_share() {
        for max in [45, 56, 112, 200] {
            for alpha in [0.3, 0.05, 0.02, 0.01, 0.001, 0.0001] {
                let plan = extended(max, alpha);
                let spent = |looks: usize| plan.weights[..looks].iter().sum::<f64>();
                assert!((spent(plan.looks.len()) - 1.0).abs() < 1e-12, "{max}");
                assert!((spent(17) - SHARE_OF_FIRST_PART).abs() < 1e-12, "{max}");
                for (level, weight) in plan.levels.iter().zip(&plan.weights) {
                    let share = level / (alpha * weight);
                    // The tables are accurate to a few percent.
                    assert!(share > 0.96, "{max} {alpha}: {level} for {weight}");
                }
            }
        }
    }

    #[test]
    fn between_the_tabled_alphas_levels_are_in_proportion_to_the_next_below() {
        let (tabled, between) = (extended(90, 0.01), extended(90, 0.03));
        for (tabled, between) in tabled.levels.iter().zip(&between.levels) {
            assert!((between / tabled - 3.0).abs() < 1e-9);
        }
        let next = extended(90, 0.05);
        assert!(
            between
                .levels
                .iter()
                .zip(&next.levels)
                .all(|(one, other)| one <= other)
        );
    }

    #[test]
    fn a_run_cut_short_concludes_at_its_last_completed_look() {
        let plan = Spending::plan(40, 0.05).unwrap();
        assert_eq!(plan.last_completed(5), None);
        assert_eq!(plan.last_completed(6), Some(0));
        assert_eq!(plan.last_completed(21), Some(3));
        assert_eq!(plan.last_completed(500), Some(6));
    }

    #[test]
    fn the_adjusted_p_is_the_smallest_for_its_share() {
        assert_eq!(adjusted_p(&[0.125, 0.125], &[0.25, 0.5, 0.25]), 0.25);
        assert_eq!(adjusted_p(&[0.9, 0.8], &[0.25, 0.75]), 1.0);
        assert_eq!(adjusted_p(&[], &[1.0]), 1.0);
        assert_eq!(adjusted_p(&[0.0], &[0.0]), 1.0);
    }

    #[test]
    fn impossible_plans_are_refused() {
        assert_eq!(Spending::plan(0, 0.05), Err(SpendingError::NoReplicates));
        for alpha in [0.0, 1.0, -0.5] {
            assert_eq!(
                Spending::fixed(9, alpha),
                Err(SpendingError::AlphaOutOfRange { alpha })
            );
        }
        assert!(Spending::plan(40, f64::NAN).is_err());
    }

    fn close(got: f64, want: f64, tolerance: f64) {
        assert!((got - want).abs() <= tolerance, "{got} is not {want}");
    }

    #[test]
    fn the_worked_examples_come_out_as_printed() {
        close(e_value(3.0, 10, DEFAULT_G), 6.04422, 5e-6);
        close(e_value(5.0, 6, DEFAULT_G), 9.48148, 5e-6);
        close(critical_t(10, 0.05, DEFAULT_G).unwrap(), 4.079245, 5e-7);
        close(critical_t(6, 0.05, DEFAULT_G).unwrap(), 9.134533, 5e-7);
    }

    #[test]
    fn at_the_critical_value_the_evidence_is_exactly_one_over_alpha() {
        for n in [6, 10, 40, 1_000] {
            for alpha in [0.05, 0.01] {
                let Some(t) = critical_t(n, alpha, DEFAULT_G) else {
                    continue;
                };
                close(e_value(t, n, DEFAULT_G) * alpha, 1.0, 1e-10);
                close(e_value(-t, n, DEFAULT_G) * alpha, 1.0, 1e-10);
            }
        }
    }

    #[test]
    fn the_first_replicates_can_prove_nothing() {
        assert_eq!(critical_t(1, 0.05, DEFAULT_G), None);
        assert_eq!(critical_t(2, 0.05, DEFAULT_G), None);
        assert_eq!(e_value(1e9, 1, DEFAULT_G), 1.0);
    }

    #[test]
    fn arguments_out_of_range_are_no_evidence_and_have_no_critical_value() {
        assert_eq!(e_value(f64::NAN, 10, DEFAULT_G), 1.0);
        for g in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(e_value(3.0, 10, g), 1.0, "{g}");
            assert_eq!(critical_t(10, 0.05, g), None, "{g}");
        }
        for alpha in [0.0, 1.0, -0.1, 1.5, f64::NAN] {
            assert_eq!(critical_t(10, alpha, DEFAULT_G), None, "{alpha}");
        }
    }

    #[test]
    fn two_replicates_are_evidence_already() {
        // r = ½, ν = 1, t = 1: E = √½·(1.5/2)^(−1).
        close(e_value(1.0, 2, 2.0), 0.5_f64.sqrt() / 0.75, 1e-12);
        assert!(critical_t(2, 0.9, 0.1).is_some());
    }

    #[test]
    fn no_t_however_large_overflows() {
        for t in [0.0, 1e-300, 1e200, f64::MAX, -f64::MAX] {
            for n in [2, 6, 1_000_000, usize::MAX] {
                assert!(e_value(t, n, DEFAULT_G).is_finite(), "{t} {n}");
            }
        }
        assert!(critical_t(usize::MAX, 1e-300, 1e300).is_none_or(f64::is_finite));
    }

    #[test]
    fn no_difference_at_all_is_evidence_against_one() {
        assert!(e_value(0.0, 40, DEFAULT_G) < 1.0);
    }
}
