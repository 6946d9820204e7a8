//! How often a race of single blocks (K = 1) ends in a false positive, by simulating whole runs
//! look by look.
//!
//! [`few_blocks`](deadheat_stats::few_blocks) is fitted to normal blocks and one look. This
//! simulation checks the promised rate with all looks of a run and with the noise of real commands.
//! With one kind of noise no critical value keeps the rate: if slots switch between modes far apart
//! ([`Noise::Modes`]), most blocks of an early look may be in the same narrow cluster, and σ̂, a
//! median, sees only that cluster. False positives are then .12 with the looks to 11 replicates and
//! .14 with those to 40, with either distribution of T. The [`guard`](deadheat_stats::guard_p)
//! prevents that.

use rand_core::Rng;

use deadheat_stats::clusters::Clusters;
use deadheat_stats::dist::{t_critical, t_two_sided_p};
use deadheat_stats::estimate::{Floor, pooled_huber};
use deadheat_stats::few_blocks::stretched_t;
use deadheat_stats::formula::guard_p;
use deadheat_stats::looks::{DEFAULT_G, Spending, critical_t};
use deadheat_stats::rng::{chi_squared, coin, normal, uniform};

/// The spread of an undisturbed slot, in log-ratio units. Only in [`Noise::Spikes`] its size
/// matters.
const SLOT_SD: f64 = 0.02;

/// The share of a slot's deviation that the next slot keeps with [`Noise::Drift`].
const PERSISTENCE: f64 = 0.95;

/// The noise of the slots x₁..x₄ (ln time) of a block whose two sides are equally fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    /// Normal slots.
    Normal,
    /// The effect itself is Student's t with 3 degrees of freedom.
    HeavyTails,
    /// Normal slots, 2% of which take 10 to 1,000 times as long.
    Spikes,
    /// Log-normal slots: every disturbance makes a run slower, some of them much slower.
    Skew,
    /// Each slot keeps 95% of the deviation of the slot before it, also across blocks.
    Drift,
    /// 30% of the slots run in a slower mode, a hundred slot spreads away.
    Modes,
}

impl Noise {
    /// All kinds of noise.
    pub const ALL: [Self; 6] = [
        Self::Normal,
        Self::HeavyTails,
        Self::Spikes,
        Self::Skew,
        Self::Drift,
        Self::Modes,
    ];

    /// Fills `effects` with one run's block effects, s·½(x₂ + x₃ − x₁ − x₄) with a fair coin for s.
    pub fn fill(self, effects: &mut [f64], rng: &mut impl Rng) {
        let mut level = normal(rng) / (1.0 - PERSISTENCE * PERSISTENCE).sqrt();
        for effect in effects {
            if self == Self::HeavyTails {
                *effect = normal(rng) / (chi_squared(3, rng) / 3.0).sqrt();
                continue;
            }
            let mut slot = || match self {
                Self::Spikes => SLOT_SD * normal(rng) + spike(rng),
                Self::Skew => normal(rng).exp(),
                Self::Drift => {
                    level = PERSISTENCE * level + normal(rng);
                    level
                }
                Self::Modes => normal(rng) + if uniform(rng) < 0.3 { 100.0 } else { 0.0 },
                Self::Normal | Self::HeavyTails => normal(rng),
            };
            let [x1, x2, x3, x4] = [slot(), slot(), slot(), slot()];
            let sign = if coin(rng) { 0.5 } else { -0.5 };
            *effect = sign * (x2 + x3 - x1 - x4);
        }
    }
}

/// The logarithm of a factor between 10 and 1,000 with a probability of 2%, otherwise 0.
fn spike(rng: &mut impl Rng) -> f64 {
    if uniform(rng) < 0.02 {
        (1.0 + 2.0 * uniform(rng)) * std::f64::consts::LN_10
    } else {
        0.0
    }
}

/// The looks of a run, and the critical |T| at each.
#[derive(Debug, Clone, PartialEq)]
pub struct Boundary {
    looks: Vec<Look>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Look {
    replicates: usize,
    plain: f64,
    calibrated: f64,
    /// The level of a plain t interval with that width, at which the guard is applied.
    level: f64,
}

/// The share of runs called different, for each way to judge T.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FalseCalls {
    /// T compared with Student's t.
    pub plain: f64,
    /// T compared with its own distribution ([`few_blocks`](deadheat_stats::few_blocks)).
    pub calibrated: f64,
    /// As `calibrated`, and the [`guard`](deadheat_stats::guard_p) must exclude 0 too: the rule of
    /// real races.
    pub guarded: f64,
}

impl Boundary {
    /// The looks and levels of a plan.
    pub fn of_plan(plan: &Spending) -> Self {
        let looks = plan.looks.iter().zip(&plan.levels);
        Self::through(looks.map(|(&p, &level)| (p, t_critical(level, p.saturating_sub(1) as f64))))
    }

    /// A look after every replicate from `first` to `last` by the anytime rule.
    pub fn anytime(first: usize, last: usize, alpha: f64) -> Self {
        Self::through((first..=last).filter_map(|p| Some((p, critical_t(p, alpha, DEFAULT_G)?))))
    }

    fn through(critical: impl Iterator<Item = (usize, f64)>) -> Self {
        let looks = critical.map(|(replicates, plain)| Look {
            replicates,
            plain,
            calibrated: stretched_t(plain, replicates),
            level: t_two_sided_p(plain, replicates.saturating_sub(1) as f64),
        });
        Self {
            looks: looks.collect(),
        }
    }

    /// The false positives among `runs` simulated runs.
    pub fn false_calls(&self, noise: Noise, runs: usize, rng: &mut impl Rng) -> FalseCalls {
        let longest = self.looks.iter().map(|look| look.replicates).max();
        let mut effects = vec![0.0; longest.unwrap_or(0)];
        let (mut plain, mut calibrated, mut guarded) = (0, 0, 0);
        for _ in 0..runs {
            noise.fill(&mut effects, rng);
            let called = self.calls(&effects);
            plain += usize::from(called.plain);
            calibrated += usize::from(called.calibrated);
            guarded += usize::from(called.guarded);
        }
        let share = |calls: usize| calls as f64 / runs.max(1) as f64;
        FalseCalls {
            plain: share(plain),
            calibrated: share(calibrated),
            guarded: share(guarded),
        }
    }

    /// Which of the rules call a run with these effects at some look.
    fn calls(&self, effects: &[f64]) -> Called {
        let mut called = Called::default();
        for look in &self.looks {
            let seen = Clusters::singletons(effects).prefix(look.replicates);
            let t = pooled_huber(&seen, Floor::default())
                .ok()
                .and_then(|found| found.t_statistic())
                .map_or(0.0, f64::abs);
            called.plain |= t > look.plain;
            if t > look.calibrated {
                called.calibrated = true;
                called.guarded |= guard_p(seen.effects()) <= look.level;
            }
            if called.guarded {
                break;
            }
        }
        called
    }
}

/// The rules by which a run is called.
#[derive(Debug, Clone, Copy, Default)]
struct Called {
    plain: bool,
    calibrated: bool,
    guarded: bool,
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;
    use deadheat_stats::few_blocks::critical;
    use deadheat_stats::formula::guard_interval;

    #[test]
    fn a_call_is_an_interval_without_nought() {
        let plan = Spending::fixed(8, 0.05).unwrap();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
        let mut effects = [0.0; 8];
        for _ in 0..300 {
            Noise::Normal.fill(&mut effects, &mut rng);
            let found = pooled_huber(&Clusters::singletons(&effects), Floor::default()).unwrap();
            let misses = |(low, high): (f64, f64)| low > 0.0 || high < 0.0;
            let called = Boundary::of_plan(&plan).calls(&effects);
            assert_eq!(called.plain, misses(found.interval(0.05).unwrap()));
            let calibrated = misses(found.few_blocks_interval(0.05).unwrap());
            assert_eq!(called.calibrated, calibrated);
            let guarded = misses(guard_interval(&effects, 0.05).unwrap());
            assert_eq!(called.guarded, calibrated && guarded);
        }
    }

    #[test]
    fn a_plan_is_bounded_by_critical_values() {
        let plan = Spending::plan(11, 0.05).unwrap();
        let boundary = Boundary::of_plan(&plan);
        assert_eq!(boundary.looks.len(), 3);
        assert_eq!(boundary.looks[1].calibrated, critical(0.0185, 8));
    }

    #[test]
    fn looks_at_which_nothing_could_be_called_are_left_out() {
        // At α = .05 no evidence from three replicates is enough.
        let first = Boundary::anytime(2, 9, 0.05).looks[0];
        assert!(critical_t(first.replicates - 1, 0.05, DEFAULT_G).is_none());
        assert!(first.calibrated >= first.plain);
    }

    #[test]
    fn every_noise_is_as_often_positive_as_negative() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
        let mut effects = vec![0.0; 10_000];
        for noise in Noise::ALL {
            noise.fill(&mut effects, &mut rng);
            let positive = effects.iter().filter(|d| **d > 0.0).count() as f64;
            // Four binomial standard errors.
            assert!((positive - 5_000.0).abs() < 200.0, "{noise:?}: {positive}");
        }
    }

    /// The share of 20,000 effects of a noise that are beyond `limit`.
    fn share_beyond(noise: Noise, limit: f64) -> f64 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(10);
        let mut effects = vec![0.0; 20_000];
        noise.fill(&mut effects, &mut rng);
        let beyond = effects.iter().filter(|d| d.abs() > limit).count();
        beyond as f64 / effects.len() as f64
    }

    #[test]
    fn every_noise_has_its_documented_tails() {
        let near = |got: f64, want: f64| {
            let four_errors = 4.0 * (want * (1.0 - want) / 20_000.0).sqrt();
            assert!((got - want).abs() < four_errors, "{got} is not {want}");
        };
        // With 2% per slot, at least one of four slots has a spike in 1 − .98⁴ of the blocks. Its
        // effect is half of ln 10 to ln 1,000, and only another spike cancels it.
        near(share_beyond(Noise::Spikes, 1.0), 0.0776 * 0.985);
        assert_eq!(share_beyond(Noise::Spikes, 8.0), 0.0);
        // Two slots against two, each slow with probability .3: equal in .4246 of the blocks,
        // different by two in .0882.
        near(share_beyond(Noise::Modes, 25.0), 1.0 - 0.4246);
        near(share_beyond(Noise::Modes, 75.0), 0.0882);
        // Student's t with 3 degrees of freedom, and a normal number: ½·√4 is 1.
        near(share_beyond(Noise::HeavyTails, 3.182), 0.05);
        near(share_beyond(Noise::Normal, 1.96), 0.05);
        // The variance of the ABBA effect of a walk that keeps .95: sd² = (1 − ½(ρ + 2ρ² − ρ³))/(1
        // − ρ²) = .525.
        near(share_beyond(Noise::Drift, 1.96 * 0.525_f64.sqrt()), 0.05);
        // Log-normal slots sometimes move a block far out, normal ones never that far.
        assert!(share_beyond(Noise::Skew, 8.0) > 0.005);
    }

    #[test]
    fn shares_are_of_the_runs() {
        let boundary = Boundary::of_plan(&Spending::fixed(8, 0.9).unwrap());
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
        let found = boundary.false_calls(Noise::Normal, 400, &mut rng);
        assert!((0.8..=1.0).contains(&found.plain), "{found:?}");
        assert!((0.8..=1.0).contains(&found.calibrated), "{found:?}");
        assert_eq!(boundary.false_calls(Noise::Normal, 0, &mut rng).plain, 0.0);
    }
}
