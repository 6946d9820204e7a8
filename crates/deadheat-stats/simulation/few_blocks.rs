//! The simulation behind the table of [`few_blocks`](deadheat_stats::few_blocks): the true
//! distribution of T = θ̂/SE of single normal blocks.
//!
//! To find critical values at levels of 10⁻⁴ by counting, more than 10⁸ simulated runs would be
//! necessary. The simulation therefore computes most of each probability. The mean x̄ and the
//! standard deviation s of a normal sample are independent of its *shape*, the values (x − x̄)/s.
//! θ̂ and SE follow from x̄, s and the shape: θ̂ = x̄ + s·h, SE = s·g. Given the shape, P(|T| > t)
//! is therefore a tail probability of Student's √P·x̄/s, which is known exactly, and only shapes
//! are drawn at random (the "swindle" of the Princeton study, Andrews et al. 1972; Simon 1976).

use rand_core::Rng;

use deadheat_stats::clusters::Clusters;
use deadheat_stats::dist::{t_critical, t_two_sided_p};
use deadheat_stats::estimate::{Floor, pooled_huber};
use deadheat_stats::few_blocks::Stretch;
use deadheat_stats::rng::normal;

/// The levels to which the table is fitted. Between them the fit is as close to the simulated
/// values.
pub const FITTED_LEVELS: [f64; 9] = [0.1, 0.05, 0.02, 0.01, 0.003, 0.001, 0.0005, 0.0002, 0.0001];

/// The distribution of T over P single normal blocks without a difference.
#[derive(Debug, Clone)]
pub struct NullDistribution {
    df: f64,
    shapes: Vec<Shape>,
}

/// The map by which the shape of a sample turns Student's t = √P·x̄/s into T = (t +
/// `shift`)/`error`.
#[derive(Debug, Clone, Copy)]
struct Shape {
    shift: f64,
    error: f64,
}

/// A probability from a simulation and its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chance {
    /// The probability itself.
    pub p: f64,
    /// Its standard error.
    pub error: f64,
}

impl NullDistribution {
    /// Draws the shapes of `draws` samples of `replicates` blocks; `None` below two replicates or
    /// two draws.
    pub fn simulate(replicates: usize, draws: usize, rng: &mut impl Rng) -> Option<Self> {
        let mut effects = vec![0.0; replicates];
        let shapes: Vec<Shape> = (0..draws)
            .filter_map(|_| {
                effects.fill_with(|| normal(rng));
                shape_of(&effects)
            })
            .collect();
        (shapes.len() >= 2).then(|| Self {
            df: (replicates - 1) as f64,
            shapes,
        })
    }

    /// P(|T| > `t`), for t ≥ 0.
    pub fn two_sided_p(&self, t: f64) -> Chance {
        let n = self.shapes.len() as f64;
        let (mut sum, mut squares) = (0.0, 0.0);
        for shape in &self.shapes {
            let reach = t * shape.error;
            let p = self.above(reach - shape.shift) + self.above(reach + shape.shift);
            sum += p;
            squares += p * p;
        }
        let p = sum / n;
        let variance = (squares / n - p * p).max(0.0);
        Chance {
            p,
            error: (variance / (n - 1.0)).sqrt(),
        }
    }

    /// The t with P(|T| > t) = `two_sided_level`, raised until even one standard error more is
    /// within the level, so that simulation error widens the interval.
    ///
    /// ln P is nearly linear in ln t, so the secant method needs three or four passes over all
    /// shapes.
    pub fn critical(&self, two_sided_level: f64) -> f64 {
        let excess = |ln_t: f64| {
            let found = self.two_sided_p(ln_t.exp());
            (found.p + found.error).ln() - two_sided_level.ln()
        };
        let start = t_critical(two_sided_level, self.df).ln();
        let (mut before, mut now) = (start, start + 0.05);
        let (mut was, mut is) = (excess(before), excess(now));
        for _ in 0..40 {
            if is.abs() < 1e-4 || is == was {
                break;
            }
            let next = now - is * (now - before) / (is - was);
            (before, was) = (now, is);
            (now, is) = (next, excess(next));
        }
        now.exp()
    }

    fn above(&self, t: f64) -> f64 {
        let tail = 0.5 * t_two_sided_p(t, self.df);
        if t < 0.0 { 1.0 - tail } else { tail }
    }
}

fn shape_of(effects: &[f64]) -> Option<Shape> {
    let found = pooled_huber(&Clusters::singletons(effects), Floor::default()).ok()?;
    let n = effects.len() as f64;
    let mean = effects.iter().sum::<f64>() / n;
    let squares: f64 = effects.iter().map(|x| (x - mean).powi(2)).sum();
    let students = (n * (n - 1.0) / squares).sqrt();
    (found.se > 0.0 && students.is_finite()).then_some(Shape {
        shift: (found.theta - mean) * students,
        error: found.se * students,
    })
}

/// The lowest stretch for `replicates` that is not below any critical value of `null` at
/// [`FITTED_LEVELS`]. Both constants are rounded in the conservative direction, to four and two
/// decimals.
pub fn fit(replicates: usize, null: &NullDistribution) -> Stretch {
    let targets = FITTED_LEVELS.map(|level| (t_critical(level, null.df), null.critical(level)));
    // The factor that lifts the curve with this bend above every target, and how far the curve is
    // then above the worst fitted one.
    let lifted = |bend: f64| {
        let unit = Stretch::new(replicates, 1.0, bend);
        let ratios = targets.map(|(t, critical)| critical / unit.apply(t));
        let highest = ratios.into_iter().fold(1.0, f64::max);
        let lowest = ratios.into_iter().fold(f64::MAX, f64::min);
        (highest, highest / lowest)
    };
    // A larger bend lowers the curve, so rounding it down is conservative.
    let bend =
        (100.0 * least_by(|ln_bend| lifted(ln_bend.exp()).1, 0.0, 5.0).exp()).floor() / 100.0;
    Stretch::new(replicates, (1e4 * lifted(bend).0).ceil() / 1e4, bend)
}

/// The minimum of a function that first falls and then rises, by golden-section search.
fn least_by(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_8;
    while high - low > 1e-6 {
        let (left, right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
        if f(left) <= f(right) {
            high = right
        } else {
            low = left
        }
    }
    low.midpoint(high)
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;
    use deadheat_stats::few_blocks;

    fn simulated(replicates: usize, draws: usize) -> NullDistribution {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1972 + replicates as u64);
        NullDistribution::simulate(replicates, draws, &mut rng).unwrap()
    }

    #[test]
    fn tails_given_the_shape_agree_with_counted_runs() {
        let (runs, t) = (20_000, 2.5);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut effects = [0.0; 8];
        let beyond = (0..runs)
            .filter(|_| {
                effects.fill_with(|| normal(&mut rng));
                let found = pooled_huber(&Clusters::singletons(&effects), Floor::default());
                found.unwrap().t_statistic().unwrap().abs() > t
            })
            .count();
        let known = simulated(8, 20_000).two_sided_p(t);
        let counted = beyond as f64 / runs as f64;
        let binomial = (known.p * (1.0 - known.p) / runs as f64).sqrt();
        let bound = 4.0 * binomial.hypot(known.error);
        assert!((counted - known.p).abs() < bound, "{counted} {known:?}");
    }

    #[test]
    fn two_replicates_are_students() {
        let found = simulated(2, 100).two_sided_p(12.706204736174705);
        assert!((found.p - 0.05).abs() < 1e-12, "{found:?}");
    }

    /// A critical value 3% off changes a probability that falls as t^−ν by at most 3% of ν, and the
    /// draws add 4 standard errors.
    #[test]
    fn the_table_gives_the_levels_it_promises() {
        for (replicates, draws) in [
            (6, 30_000),
            (8, 30_000),
            (11, 20_000),
            (22, 8_000),
            (47, 4_000),
        ] {
            let null = simulated(replicates, draws);
            for level in [0.05, 0.01, 0.001] {
                let found = null.two_sided_p(few_blocks::critical(level, replicates));
                let too_wide = 0.03 * null.df * level;
                assert!(
                    found.p <= level + 4.0 * found.error
                        && found.p >= level - too_wide - 4.0 * found.error,
                    "P = {replicates} at {level}: {found:?}"
                );
            }
        }
    }

    #[test]
    fn the_fit_finds_the_row_of_the_table() {
        // 30,000 draws determine the critical values to about 2% (.0001 at P = 8), so only these
        // are compared, not the constants.
        let refitted = fit(8, &simulated(8, 30_000));
        for level in FITTED_LEVELS {
            let ratio = refitted.apply(t_critical(level, 7.0)) / few_blocks::critical(level, 8);
            assert!((ratio - 1.0).abs() < 0.08, "{level}: {ratio}");
        }
    }

    #[test]
    fn nothing_is_simulated_from_less_than_two_replicates() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for replicates in [0, 1] {
            assert!(NullDistribution::simulate(replicates, 10, &mut rng).is_none());
        }
        assert!(NullDistribution::simulate(6, 0, &mut rng).is_none());
    }

    #[test]
    fn a_chance_is_as_uncertain_as_it_scatters_from_simulation_to_simulation() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(70);
        let chances: Vec<Chance> = (0..60)
            .map(|_| {
                let null = NullDistribution::simulate(7, 400, &mut rng).unwrap();
                // At small t the probability hardly varies with the shape, and its mean square does
                // not measure its scatter.
                null.two_sided_p(0.5)
            })
            .collect();
        let ps: Vec<f64> = chances.iter().map(|chance| chance.p).collect();
        let scatter = deadheat_stats::summary::std_dev(&ps).unwrap();
        let stated = chances.iter().map(|chance| chance.error).sum::<f64>() / 60.0;
        // A standard deviation of sixty values is accurate to a tenth.
        assert!((scatter / stated - 1.0).abs() < 0.3, "{scatter} {stated}");
    }

    #[test]
    fn a_critical_value_leaves_room_for_one_standard_error() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(71);
        let null = NullDistribution::simulate(9, 2_000, &mut rng).unwrap();
        for level in [0.05, 0.01, 0.001] {
            let found = null.two_sided_p(null.critical(level));
            let with_room = found.p + found.error;
            assert!(
                (with_room / level - 1.0).abs() < 1e-3,
                "{with_room} {level}"
            );
            assert!(found.error > 0.0);
        }
    }
}
