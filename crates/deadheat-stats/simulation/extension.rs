//! Simulates whole races of single blocks with given plans of looks: how often each verdict is
//! given, how often it is wrong, and after how many replicates.

use rand_core::Rng;

use deadheat_stats::clusters::Clusters;
use deadheat_stats::estimate::{Call, Floor, call, pooled_huber};
use deadheat_stats::formula::guard_interval;
use deadheat_stats::looks::Spending;
use deadheat_stats::rng::{chi_squared, normal, uniform};

/// The margin of the races.
pub const MARGIN: f64 = 0.01;

/// The distribution of the effects of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scatter {
    /// Normal effects.
    Normal,
    /// Student's t with 3 degrees of freedom.
    HeavyTails,
    /// Stretches of ten blocks on average; in three of ten the scatter is five times as large.
    Bursts,
}

impl Scatter {
    /// All kinds of scatter.
    pub const ALL: [Self; 3] = [Self::Normal, Self::HeavyTails, Self::Bursts];

    /// Fills `effects` with those of one race, with this mean effect and spread.
    fn fill(self, effects: &mut [f64], effect: f64, spread: f64, rng: &mut impl Rng) {
        let mut loud = false;
        for one in effects {
            let deviation = match self {
                Self::Normal => normal(rng),
                Self::HeavyTails => normal(rng) / (chi_squared(3, rng) / 3.0).sqrt(),
                Self::Bursts => {
                    if uniform(rng) < 0.1 {
                        loud = uniform(rng) < 0.3;
                    }
                    normal(rng) * if loud { 5.0 } else { 1.0 }
                }
            };
            *one = effect + spread * deviation;
        }
    }
}

/// The outcomes of many races, as shares of them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Outcomes {
    /// The share called a dead heat with a true change inside the margin.
    pub equivalent: f64,
    /// The share called slower with a true change above 0.
    pub slower: f64,
    /// The share with a wrong call.
    pub wrong: f64,
    /// Mean number of replicates.
    pub replicates: f64,
}

/// Runs many races with this true change, by all of `plans` on the same blocks.
pub fn outcomes(
    plans: &[Spending],
    (scatter, spread): (Scatter, f64),
    change: f64,
    runs: usize,
    rng: &mut impl Rng,
) -> Vec<Outcomes> {
    let longest = plans.iter().filter_map(|plan| plan.looks.last()).max();
    let mut effects = vec![0.0; longest.copied().unwrap_or(0)];
    let mut sums = vec![Outcomes::default(); plans.len()];
    for _ in 0..runs {
        scatter.fill(&mut effects, change.ln_1p(), spread, rng);
        for (plan, sum) in plans.iter().zip(&mut sums) {
            let (called, at) = race(plan, &effects);
            sum.replicates += at as f64;
            match called {
                Call::Undecided => {}
                Call::Equivalent if change < MARGIN => sum.equivalent += 1.0,
                Call::Slower if change > 0.0 => sum.slower += 1.0,
                _ => sum.wrong += 1.0,
            }
        }
    }
    let share = |sum: f64| sum / runs.max(1) as f64;
    let shares = sums.iter().map(|sum| Outcomes {
        equivalent: share(sum.equivalent),
        slower: share(sum.slower),
        wrong: share(sum.wrong),
        replicates: share(sum.replicates),
    });
    shares.collect()
}

/// The call of a race with these effects, and the number of replicates after which it is made.
fn race(plan: &Spending, effects: &[f64]) -> (Call, usize) {
    let mut last = (Call::Undecided, 0);
    for (at, level) in plan.looks.iter().zip(&plan.levels) {
        let seen = Clusters::singletons(&effects[..*at]);
        let interval = pooled_huber(&seen, Floor::default())
            .ok()
            .and_then(|found| found.few_blocks_interval(*level));
        let called = interval.map_or(Call::Undecided, |interval| call(interval, MARGIN));
        // The guard is computed last, because it only widens the interval and costs more than all
        // the rest.
        let called = match (called, interval) {
            (Call::Undecided, _) | (_, None) => Call::Undecided,
            (called, Some((low, high))) => guard_interval(seen.effects(), *level)
                .map_or(called, |guard| {
                    call((low.min(guard.0), high.max(guard.1)), MARGIN)
                }),
        };
        last = (called, *at);
        if called != Call::Undecided {
            break;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;

    fn found(scatter: Scatter, spread: f64, change: f64, runs: usize) -> [Outcomes; 2] {
        let plans = [
            Spending::plan(40, 0.05).unwrap(),
            Spending::extended(200, 0.05).unwrap().unwrap(),
        ];
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(55);
        let found = outcomes(&plans, (scatter, spread), change, runs, &mut rng);
        found.try_into().unwrap()
    }

    #[test]
    fn a_race_that_may_go_on_errs_no_more_often_than_promised() {
        // Four binomial standard errors above the limit.
        let (runs, most) = (1_000, 0.05 + 4.0 * (0.05_f64 * 0.95 / 1_000.0).sqrt());
        for scatter in Scatter::ALL {
            // No change with a spread too large for forty replicates to decide, and a change equal
            // to the margin.
            for (change, spread) in [(0.0, 0.04), (MARGIN, 0.01)] {
                let [_, extended] = found(scatter, spread, change, runs);
                assert!(extended.wrong <= most, "{scatter:?}: {extended:?}");
            }
        }
    }

    #[test]
    fn extended_plans_keep_early_decisions_and_find_more() {
        for scatter in Scatter::ALL {
            // With stretches of large scatter, forty blocks of the same spread do not decide.
            let quiet = if scatter == Scatter::Bursts { 0.5 } else { 1.0 };
            for (change, spread) in [(0.05, 0.02), (0.02, 0.01), (0.0, 0.005)] {
                let [forty, extended] = found(scatter, quiet * spread, change, 400);
                assert!(extended.replicates < 1.05 * forty.replicates, "{scatter:?}");
            }
        }
        let [forty, extended] = found(Scatter::Normal, 0.02, 0.01, 400);
        assert!(
            forty.slower < 0.9 && extended.slower > 0.95,
            "{forty:?} {extended:?}"
        );
    }

    #[test]
    fn shares_are_of_the_runs_and_a_race_ends_at_a_look() {
        let [forty, extended] = found(Scatter::Normal, 1e-6, 0.05, 10);
        let clear = Outcomes {
            slower: 1.0,
            replicates: 6.0,
            ..Outcomes::default()
        };
        assert_eq!([forty, extended], [clear; 2]);
        let [forty, extended] = found(Scatter::Normal, 10.0, 0.0, 1);
        assert_eq!((forty.replicates, extended.replicates), (40.0, 200.0));
        assert_eq!(
            found(Scatter::Normal, 1.0, 0.0, 0),
            [Outcomes::default(); 2]
        );
    }
}
