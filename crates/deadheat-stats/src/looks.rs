//! When a run may be looked at, and what each look may cost.
//!
//! α is spent as the fraction of replicates seen to the power 1.5 (Lan & DeMets 1983, Kim & DeMets
//! 1987): by the look at P of Pmax replicates, at most α·(P/Pmax)^1.5 of all runs without a
//! difference may have been called different.

/// The exponent of the spending function.
pub const SPENDING_POWER: f64 = 1.5;

/// Looks grow by √2 from 11 on; every later one is twice the last but one.
const GROWTH: [usize; 10] = [6, 8, 11, 16, 22, 31, 44, 62, 88, 125];

/// A look this close to the last one, as a percentage of it, is not worth its share of α.
const TOO_CLOSE_PERCENT: usize = 85;

/// The reason why there is no plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SpendingError {
    /// A run needs at least one replicate.
    NoReplicates,
    /// α is not a probability strictly between 0 and 1.
    AlphaOutOfRange {
        /// The α asked for.
        alpha: f64,
    },
}

impl std::fmt::Display for SpendingError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoReplicates => f.write_str("a run needs at least one replicate"),
            Self::AlphaOutOfRange { alpha } => write!(
                f,
                "the error rate must lie strictly between 0 and 1, not at {alpha}"
            ),
        }
    }
}

impl std::error::Error for SpendingError {}

/// The looks of a run, fixed before its first sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Spending {
    /// Replicates seen at each look, ascending.
    pub looks: Vec<usize>,
    /// The two-sided nominal level of each look's interval.
    pub levels: Vec<f64>,
    /// Each look's share of α, w_j = t_j^1.5 − t_{j−1}^1.5 with t = P/Pmax; they add up to 1.
    pub weights: Vec<f64>,
}

impl Spending {
    /// The looks of a run of at most `max_replicates` with overall error rate `alpha`.
    ///
    /// For Pmax 11, 22, 40 or 88 and α 0.05 or 0.01 the levels are the tabled ones, which use up α
    /// exactly for t-statistics of normal replicates (the example `spending` recomputes them).
    /// Otherwise look j costs its increment α·w_j: a union bound, valid whatever the looks have in
    /// common. Below six replicates there is one look at the end.
    pub fn plan(max_replicates: usize, alpha: f64) -> Result<Self, SpendingError> {
        check(max_replicates, alpha)?;
        let looks = schedule(max_replicates);
        let weights = weights(&looks);
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

    /// A single look after `replicates`, at level `alpha`.
    pub fn fixed(replicates: usize, alpha: f64) -> Result<Self, SpendingError> {
        check(replicates, alpha)?;
        Ok(Self {
            looks: vec![replicates],
            levels: vec![alpha],
            weights: vec![1.0],
        })
    }

    /// The last look a run of this many replicates has reached: where a run cut short concludes.
    pub fn last_completed(&self, replicates: usize) -> Option<usize> {
        self.looks
            .partition_point(|&look| look <= replicates)
            .checked_sub(1)
    }
}

/// min(1, min_j p_j/w_j): one p-value for a run from the p-values of the looks it made (a weighted
/// Bonferroni bound, Holm 1979). `weights` may be longer: looks not reached count nothing.
pub fn adjusted_p(p_values_per_look: &[f64], weights: &[f64]) -> f64 {
    let looks = p_values_per_look.iter().zip(weights);
    looks
        .filter(|(_, w)| **w > 0.0)
        .map(|(p, w)| p / w)
        .fold(1.0, f64::min)
        .max(0.0)
}

/// The two-sided levels tabled for these looks, each with the schedule 6, 8, 11, …, Pmax.
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

fn weights(looks: &[usize]) -> Vec<f64> {
    let last = looks[looks.len() - 1] as f64;
    let spent = |look: usize| (look as f64 / last).powf(SPENDING_POWER);
    let before = std::iter::once(0.0).chain(looks.iter().map(|&look| spent(look)));
    looks
        .iter()
        .zip(before)
        .map(|(&look, before)| spent(look) - before)
        .collect()
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
}
