//! The simulation behind the tabulated levels of [`looks`](deadheat_stats::looks): the error rate
//! of repeated t-tests of one growing sample.
//!
//! Replicates are independent N(0, 1); the t-statistic does not depend on their scale. Levels of
//! 10⁻⁴ would need about 10⁸ simulated runs for an accuracy of 1%, so the simulation goes backwards
//! in time. The t-statistic at look j is drawn *from its far tail*, whose probability is known
//! exactly. The earlier looks follow from it, because a normal sample with given mean and spread is
//! a randomly rotated vector. Only the probability that one of those looks had rejected already is
//! estimated from the draws.

use rand_core::Rng;

use deadheat_stats::dist::t_critical;
use deadheat_stats::looks::Spending;
use deadheat_stats::rng::{chi_squared, normal, uniform};

/// The two-sided level for each look at which the probability of rejecting by look j is α times the
/// sum of the first j `weights`.
///
/// `looks` are the numbers of replicates, ascending, from 2 up, each with a weight. With n `draws`
/// per look, the relative standard error of a level is below √(2/n). Returns `None` for looks that
/// are not ascending or start below 2, or without draws.
pub fn recompute_levels(
    (looks, weights): (&[usize], &[f64]),
    alpha: f64,
    draws: usize,
    rng: &mut impl Rng,
) -> Option<Vec<f64>> {
    let ascending = looks.is_sorted_by(|a, b| a < b) && *looks.first()? >= 2;
    let weighted = looks.len() == weights.len();
    if !(ascending && weighted) || draws == 0 || !(alpha > 0.0 && alpha < 1.0) {
        return None;
    }
    let mut levels: Vec<f64> = Vec::with_capacity(looks.len());
    let mut spent = 0.0;
    for (j, weight) in weights.iter().enumerate() {
        let increment = alpha * weight;
        spent += increment;
        // A run rejects only once, so the level is between this look's increment and all that may
        // be spent by now.
        let level = match j {
            0 => spent,
            _ => level_of_look(&looks[..=j], &levels, increment, spent, draws, rng),
        };
        levels.push(level);
    }
    Some(levels)
}

/// The level at which the last of `looks` rejects, without a rejection at an earlier look, with
/// probability `increment`.
pub fn level_of_look(
    looks: &[usize],
    earlier: &[f64],
    increment: f64,
    widest: f64,
    draws: usize,
    rng: &mut impl Rng,
) -> f64 {
    let (&now, before) = looks.split_last().expect("a look to find the level of");
    let critical = critical_values(before, earlier);
    // p-values of the last look, one from each of `draws` equal slices of (0, widest), smallest
    // first. They are exact draws from the tail, and more even than independent ones.
    let slice = widest / draws as f64;
    let mut found = 0.0;
    for i in 0..draws {
        let p = (i as f64 + uniform(rng)) * slice;
        let t = t_critical(p, (now - 1) as f64);
        if !rejected_before(t, now, before, &critical, rng) {
            if found + slice >= increment {
                return (i as f64 + (increment - found) / slice) * slice;
            }
            found += slice;
        }
    }
    widest
}

/// Returns true if a run with t-statistic `t` at `now` replicates exceeded a critical value at one
/// of the looks `before`.
///
/// The computation goes back from m replicates with mean M and residual norm R to the first n. The
/// residuals are a randomly rotated vector in m − 1 dimensions: one dimension is the contrast
/// between the first n and the rest, n − 1 are the residuals within the first n. A vector of
/// independent normals has such a direction.
fn rejected_before(
    t: f64,
    now: usize,
    before: &[usize],
    critical: &[f64],
    rng: &mut impl Rng,
) -> bool {
    let mut m = now as f64;
    let (mut mean, mut residual) = (t / (m * (m - 1.0)).sqrt(), 1.0_f64);
    for (&look, &bound) in before.iter().zip(critical).rev() {
        let n = look as f64;
        let contrast = normal(rng);
        let within = chi_squared((n - 1.0) as u32, rng);
        let beyond = chi_squared((m - n - 1.0) as u32, rng);
        let length = contrast * contrast + within + beyond;
        mean += residual * contrast * ((m - n) / (n * m) / length).sqrt();
        residual *= (within / length).sqrt();
        m = n;
        if mean.abs() * (n * (n - 1.0)).sqrt() > bound * residual {
            return true;
        }
    }
    false
}

/// The share of `runs` without a difference in which some look of `plan` rejects, by a forward
/// simulation. It shares no code with [`recompute_levels`] and so checks it.
pub fn false_rejections(plan: &Spending, runs: usize, rng: &mut impl Rng) -> f64 {
    let critical = critical_values(&plan.looks, &plan.levels);
    let rejected = (0..runs)
        .filter(|_| run_rejects(&plan.looks, &critical, rng))
        .count();
    rejected as f64 / runs.max(1) as f64
}

fn run_rejects(looks: &[usize], critical: &[f64], rng: &mut impl Rng) -> bool {
    let (mut seen, mut sum, mut squares) = (0, 0.0, 0.0);
    for (&look, &bound) in looks.iter().zip(critical) {
        while seen < look {
            let x = normal(rng);
            seen += 1;
            sum += x;
            squares += x * x;
        }
        let n = look as f64;
        let error = ((squares - sum * sum / n) / (n * (n - 1.0))).sqrt();
        if (sum / n).abs() > bound * error {
            return true;
        }
    }
    false
}

fn critical_values(looks: &[usize], levels: &[f64]) -> Vec<f64> {
    looks
        .iter()
        .zip(levels)
        .map(|(&look, &level)| t_critical(level, (look - 1) as f64))
        .collect()
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;

    const DRAWS: usize = 20_000;

    fn seeded() -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(1987)
    }

    fn levels_of(plan: &Spending, rng: &mut Xoshiro256PlusPlus) -> Vec<f64> {
        recompute_levels((&plan.looks, &plan.weights), 0.05, DRAWS, rng).unwrap()
    }

    #[test]
    fn the_tabled_levels_are_recomputed_by_simulation() {
        // 2% for the three digits of the table, from an earlier simulation, and four standard
        // errors √(2/n) of this one.
        let bound = 0.02 + 4.0 * (2.0 / DRAWS as f64).sqrt();
        for max in [11, 22] {
            let plan = Spending::plan(max, 0.05).unwrap();
            let levels = levels_of(&plan, &mut seeded());
            for (found, tabled) in levels.iter().zip(&plan.levels) {
                assert!(
                    (found / tabled - 1.0).abs() < bound,
                    "Pmax {max}: {found} against {tabled}"
                );
            }
        }
    }

    #[test]
    fn runs_without_a_difference_are_called_different_no_more_often_than_promised() {
        let runs = 20_000;
        for max in [11, 22] {
            let plan = Spending::plan(max, 0.05).unwrap();
            let share = false_rejections(&plan, runs, &mut seeded());
            let four_errors = 4.0 * (0.05 * 0.95 / runs as f64).sqrt();
            assert!((share - 0.05).abs() < four_errors, "Pmax {max}: {share}");
        }
    }

    #[test]
    fn a_single_look_may_spend_everything() {
        let levels = recompute_levels((&[9], &[1.0]), 0.05, 1, &mut seeded()).unwrap();
        assert_eq!(levels, [0.05]);
    }

    #[test]
    fn a_look_after_looks_that_reject_nothing_costs_its_increment() {
        for draws in [7, 50] {
            let level = level_of_look(&[6, 8], &[1e-300], 0.02, 0.05, draws, &mut seeded());
            assert!((level - 0.02).abs() < 1e-12, "{level}");
        }
    }

    #[test]
    fn few_draws_scatter_about_the_level_that_many_find() {
        let mut rng = seeded();
        let runs = 4_000;
        let plan = Spending::plan(11, 0.05).unwrap();
        let plan = (&plan.looks[..], &plan.weights[..]);
        let levels = (0..runs).map(|_| recompute_levels(plan, 0.05, 10, &mut rng).unwrap()[2]);
        let mean = levels.sum::<f64>() / f64::from(runs);
        let many = recompute_levels(plan, 0.05, 100_000, &mut rng).unwrap()[2];
        assert!((mean / many - 1.0).abs() < 0.02, "{mean} {many}");
    }

    #[test]
    fn looks_that_do_not_ascend_have_no_levels() {
        for looks in [&[][..], &[1, 5], &[6, 6], &[8, 6]] {
            let weights = vec![0.5; looks.len()];
            assert_eq!(
                recompute_levels((looks, &weights), 0.05, 100, &mut seeded()),
                None
            );
        }
        for (weights, draws) in [(&[0.5, 0.5][..], 0), (&[1.0], 100)] {
            let looks = &[6, 8][..];
            assert_eq!(
                recompute_levels((looks, weights), 0.05, draws, &mut seeded()),
                None
            );
        }
    }
}
