//! The primary estimate: the effect of each block from its four slots, one Huber location over all
//! blocks, its standard error between replicates, the interval, and the conclusion that the
//! interval allows ([`Call`]).
//!
//! Blocks are pooled, so a replicate with more blocks has more weight. A block far from the rest
//! has no more influence than one 1.5 scales away (Huber 1964). The standard error is computed from
//! the sums of scores per replicate, because blocks of one process share its memory layout and are
//! not independent (Kalibera & Jones 2013).
//!
//! A [`PooledEstimate`] holds the effect after some replicates and its uncertainty.

use crate::clusters::Clusters;
use crate::dist::{normal_cdf, normal_quantile, t_critical, t_two_sided_p};
use crate::few_blocks;
use crate::summary::{IQR_PER_SD, MAD_TO_SD, MEAN_ABS_DEV_TO_SD, finite, middle, quantile};

/// The order in which baseline (A) and candidate (B) fill the four slots of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// Baseline, candidate, candidate, baseline.
    Abba,
    /// Candidate, baseline, baseline, candidate.
    Baab,
}

impl Order {
    /// +1 for `Abba`, −1 for `Baab`.
    pub fn sign(self) -> f64 {
        match self {
            Order::Abba => 1.0,
            Order::Baab => -1.0,
        }
    }

    /// The order after baseline and candidate exchange roles.
    pub fn swapped(self) -> Self {
        match self {
            Order::Abba => Order::Baab,
            Order::Baab => Order::Abba,
        }
    }
}

/// Contrasts of the four slots of a block, in log-ratio units. Each is zero if the position of a
/// slot in the block does not matter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Diagnostics {
    /// ½(x₃ + x₄ − x₁ − x₂): how much slower the second half of the block is, whichever side runs.
    pub drift: f64,
    /// drift · [`Order::sign`]: how much slower a side is after the other side than after itself.
    pub carry_over: f64,
    /// ½(x₂ + x₄ − x₁ − x₃): how much slower the second slot of each half is.
    pub second_position: f64,
}

/// The effect of a block, s·½(x₂ + x₃ − x₁ − x₄). s is the sign of the order, and x are the
/// logarithms of the four slots' times per iteration.
///
/// A linear drift cancels. Exchanging the roles negates the result to the last bit, because the sum
/// is computed as (x₂ − x₁) + (x₃ − x₄), which rounds equally in both orders.
pub fn block_effect(x: [f64; 4], order: Order) -> f64 {
    order.sign() * half_sum_of_differences(x[1], x[0], x[2], x[3])
}

/// The diagnostics of a block, from the same four numbers as [`block_effect`].
pub fn diagnostics(x: [f64; 4], order: Order) -> Diagnostics {
    let drift = half_sum_of_differences(x[2], x[0], x[3], x[1]);
    Diagnostics {
        drift,
        carry_over: order.sign() * drift,
        second_position: half_sum_of_differences(x[1], x[0], x[3], x[2]),
    }
}

/// ½((a − b) + (c − d)). Halving first is exact and keeps the differences of huge numbers finite.
fn half_sum_of_differences(a: f64, b: f64, c: f64, d: f64) -> f64 {
    ((0.5 * a - 0.5 * b) + (0.5 * c - 0.5 * d)).clamp(-f64::MAX, f64::MAX)
}

/// The clamp of Huber's ψ, in scales.
pub const HUBER_CLAMP: f64 = 1.5;

/// Log ratios closer than this are equal. The logarithm of a time in nanoseconds has a rounding
/// error of about 4e-15, and with a scale estimated from rounding errors every real difference
/// would be an outlier.
const ROUNDING: f64 = 1e-12;

/// A standard error below this many scales is the rounding error of scores that cancel exactly.
const ROUNDING_OF_SCORES: f64 = 1e-13;

/// Larger effects are not log ratios of times (those are within ±1,500) and would overflow when
/// squared.
const LARGEST_EFFECT: f64 = 1e100;

/// The resolution of the clock, which sets a lower bound for the estimated scale of effects.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Floor {
    /// The smallest step of the clock (tick) divided by the median sample time, in log-ratio units;
    /// `None` if the tick is unknown. Values that are not positive and finite count as unknown.
    pub relative_tick: Option<f64>,
}

impl Floor {
    fn tick(self) -> Option<f64> {
        self.relative_tick
            .filter(|tick| tick.is_finite() && *tick > 0.0)
    }
}

/// The reason why there is no estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EstimateError {
    /// There are no blocks.
    NoBlocks,
    /// An effect is not finite, or is too large for a log ratio of times.
    NotAnEffect {
        /// Index of the replicate, counted from 0.
        replicate: usize,
        /// Index of the block in the replicate, counted from 0.
        block: usize,
    },
}

impl std::fmt::Display for EstimateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoBlocks => f.write_str("no blocks to estimate from"),
            Self::NotAnEffect { replicate, block } => write!(
                f,
                "block {block} of replicate {replicate} has no finite effect"
            ),
        }
    }
}

impl std::error::Error for EstimateError {}

/// The pooled Huber location of all block effects with its replicate-clustered standard error.
///
/// With the block effects d and the clock's smallest step relative to a sample, tick
/// ([`Floor::relative_tick`]), σ̂ = max(1.4826…·median|d − median d|, ½·tick). θ̂ solves Σψ((d −
/// θ)/σ̂) = 0 with ψ clamped at ±1.5. With c_p = Σ_k ψ((d_pk − θ̂)/σ̂) per replicate and D blocks
/// inside the clamp, SE = (σ̂/D)·√(P/(P − 1)·Σ(c_p − c̄)²). If there is a single replicate, each
/// block counts as a replicate.
///
/// If σ̂ would be 0 and tick is unknown, σ̂ is IQR/1.349, or if that is 0 too, 1.2533·mean|d −
/// median|. Costs O(N).
///
/// With few blocks σ̂ is uncertain, which the t quantile does not take into account: 95% intervals
/// over single normal blocks (K = 1) cover the truth in 92.2% of runs at N = 6, 93.6% at 11 and
/// 94.8% at 22. For K = 1, [`few_blocks`] has critical values with the right
/// coverage, and [`PooledEstimate::few_blocks_interval`] uses them.
pub fn pooled_huber(replicates: &Clusters, floor: Floor) -> Result<PooledEstimate, EstimateError> {
    let effects = replicates.effects();
    if effects.is_empty() {
        return Err(EstimateError::NoBlocks);
    }
    if let Some((replicate, block)) = replicates.first_beyond(LARGEST_EFFECT) {
        return Err(EstimateError::NotAnEffect { replicate, block });
    }
    let mut scratch = effects.to_vec();
    let centre = middle(&mut scratch);
    let identical = effects.iter().all(|d| (d - centre).abs() <= ROUNDING);
    let scale = scale(effects, centre, identical, floor, &mut scratch);
    let theta = if scale > 0.0 {
        location(effects, centre, HUBER_CLAMP * scale)
    } else {
        centre
    };

    // At least half the blocks are within one unscaled MAD of the median, so at the root D is never
    // really 0.
    let inliers = clamped_sum(effects, theta, HUBER_CLAMP * scale).1.max(1);
    let p = replicates.replicates();
    let units = if p >= 2 {
        *replicates
    } else {
        replicates.ungrouped()
    };
    let se = if identical {
        0.0
    } else {
        standard_error(units, theta, scale, inliers, scratch)
    };
    let timer_limited = identical && effects.len() >= 2;
    Ok(PooledEstimate {
        theta,
        scale,
        se,
        df: (p - 1) as f64,
        replicates: p,
        blocks: effects.len(),
        inliers,
        timer_limited,
        least_half_width: floor
            .tick()
            .filter(|_| se == 0.0)
            .map(|tick| least_half_width(tick, timer_limited, effects.len())),
    })
}

/// The uncertainty due to the clock if the standard error is 0: `tick`, the smallest step of the
/// clock, if all N effects are equal; otherwise `tick`/√N.
fn least_half_width(tick: f64, timer_limited: bool, blocks: usize) -> f64 {
    if timer_limited {
        tick
    } else {
        tick / (blocks as f64).sqrt()
    }
}

/// σ̂, at least half the smallest step of the clock. If this step is unknown, σ̂ without this
/// bound, or a substitute for a σ̂ of 0.
fn scale(effects: &[f64], centre: f64, identical: bool, floor: Floor, scratch: &mut [f64]) -> f64 {
    for (deviation, d) in scratch.iter_mut().zip(effects) {
        *deviation = (d - centre).abs();
    }
    let mad = MAD_TO_SD * middle(scratch);
    if let Some(tick) = floor.tick() {
        return mad.max(0.5 * tick);
    }
    if identical {
        return 0.0;
    }
    if mad > ROUNDING {
        return mad;
    }
    let mean_deviation = scratch.iter().sum::<f64>() / scratch.len() as f64;
    scratch.copy_from_slice(effects);
    scratch.sort_unstable_by(f64::total_cmp);
    let quartile = |q| quantile(scratch, q).unwrap_or(centre);
    let iqr = (quartile(0.75) - quartile(0.25)) / IQR_PER_SD;
    if iqr > ROUNDING {
        iqr
    } else {
        MEAN_ABS_DEV_TO_SD * mean_deviation
    }
}

/// The θ with Σ clamp(d − θ, ±`clamp`) = 0, starting from the median.
///
/// The sum is piecewise linear and never increases with θ, so a Newton step on the right piece hits
/// the root, usually in the second or third step. If a step would leave the bracket, the bracket is
/// halved instead. The plain fixed-point iteration has the same limit but converges slowly.
fn location(effects: &[f64], start: f64, clamp: f64) -> f64 {
    let (mut theta, mut low, mut high) = (start, f64::NEG_INFINITY, f64::INFINITY);
    for _ in 0..200 {
        let (sum, inliers) = clamped_sum(effects, theta, clamp);
        if sum == 0.0 {
            break;
        }
        // The root is in the direction of the sum's sign.
        if sum > 0.0 {
            low = theta
        } else {
            high = theta
        }
        let newton = theta + sum / inliers.max(1) as f64;
        let next = if newton > low && newton < high {
            newton
        } else {
            low.midpoint(high)
        };
        if next == theta || !next.is_finite() {
            break;
        }
        let moved = (next - theta).abs();
        theta = next;
        if moved <= 4.0 * f64::EPSILON * theta.abs() {
            break;
        }
    }
    theta
}

/// Σ clamp(d − θ, ±`clamp`) and the number of blocks inside the clamp.
///
/// Four independent sums hide the latency of each addition.
fn clamped_sum(effects: &[f64], theta: f64, clamp: f64) -> (f64, usize) {
    let (fours, rest) = effects.as_chunks::<4>();
    let (mut sums, mut inliers) = ([0.0; 4], [0; 4]);
    for four in fours {
        for lane in 0..4 {
            let deviation = four[lane] - theta;
            sums[lane] += deviation.clamp(-clamp, clamp);
            inliers[lane] += usize::from(deviation.abs() <= clamp);
        }
    }
    let mut sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    let mut inlying = inliers.iter().sum::<usize>();
    for d in rest {
        let deviation = d - theta;
        sum += deviation.clamp(-clamp, clamp);
        inlying += usize::from(deviation.abs() <= clamp);
    }
    (sum, inlying)
}

/// (σ̂/D)·√(P/(P − 1)·Σ(c_p − c̄)²), where P is the number of units; 0 if there is a single unit or
/// σ̂ is 0.
fn standard_error(
    units: Clusters,
    theta: f64,
    scale: f64,
    inliers: usize,
    mut scratch: Vec<f64>,
) -> f64 {
    if units.replicates() < 2 || scale == 0.0 {
        return 0.0;
    }
    let p = units.replicates() as f64;
    let clamp = HUBER_CLAMP * scale;
    let score = |unit: &[f64]| match unit {
        // A fast path for units of a single block, the common case in races of commands.
        [d] => (d - theta).clamp(-clamp, clamp),
        _ => clamped_sum(unit, theta, clamp).0,
    };
    scratch.clear();
    scratch.extend(units.iter().map(|unit| score(unit) / scale));
    let mean = scratch.iter().sum::<f64>() / p;
    let squares: f64 = scratch.iter().map(|c| (c - mean).powi(2)).sum();
    let in_scales = (p / (p - 1.0) * squares).sqrt() / inliers as f64;
    if in_scales > ROUNDING_OF_SCORES {
        scale * in_scales
    } else {
        0.0
    }
}

/// Fewer replicates than this get an interval but no verdict. The crate deadheat-analysis applies
/// this limit.
pub const MIN_REPLICATES_FOR_VERDICT: usize = 6;

/// Fewer blocks than this in total get an estimate only.
pub const MIN_BLOCKS: usize = 6;

/// The standard deviation, in log-ratio units, that the memory layout may add to a single replicate
/// (τ).
pub const LAYOUT_ALLOWANCE: f64 = 0.005;

/// A pooled Huber estimate. Every figure is finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PooledEstimate {
    /// θ̂, the effect in log-ratio units: ln(candidate / baseline).
    pub theta: f64,
    /// σ̂, the scale of a single block's effect.
    pub scale: f64,
    /// The standard error of θ̂: between replicates for P ≥ 2, between blocks for P = 1, and 0 if
    /// the data show no spread or there is a single block.
    pub se: f64,
    /// Degrees of freedom, P − 1.
    pub df: f64,
    /// The number of replicates, P.
    pub replicates: usize,
    /// The number of blocks, N.
    pub blocks: usize,
    /// D, the number of blocks whose effect is within 1.5 scales of θ̂.
    pub inliers: usize,
    /// True if all effects are equal, so that the clock limits the precision.
    pub timer_limited: bool,
    /// The lower bound of the interval's half-width due to the resolution of the clock, if `se` is
    /// 0 and the resolution is known.
    pub least_half_width: Option<f64>,
}

impl PooledEstimate {
    /// θ̂ ± half-width at the given two-sided level (0.05 for 95% confidence).
    ///
    /// For P ≥ 2 the half-width is SE times the t quantile with P − 1 degrees of freedom. For P = 1
    /// with two or more blocks it is the provisional z·√(SE² + τ²). For P ≥ 2 with an SE of 0, the
    /// half-width is the bound due to the clock; if the resolution of the clock is unknown as well,
    /// the interval is θ̂ alone, provided that the level is at least [`agreement_p`]. `None` if the
    /// level is not in (0, 1), for a single block, or if too few replicates agree.
    pub fn interval(&self, two_sided_level: f64) -> Option<(f64, f64)> {
        self.around(two_sided_level, |level| t_critical(level, self.df))
    }

    /// [`interval`](Self::interval) for replicates of few blocks each (K = 1 in races of commands).
    /// The half-width is SE times a t quantile with P − 1 degrees of freedom. [`few_blocks`]
    /// enlarges this quantile as if each of the N blocks were a replicate. Use this interval if K
    /// is below ten, because the plain interval then covers the truth too rarely.
    pub fn few_blocks_interval(&self, two_sided_level: f64) -> Option<(f64, f64)> {
        self.around(two_sided_level, |level| {
            few_blocks::stretched_t(t_critical(level, self.df), self.blocks)
        })
    }

    fn around(&self, level: f64, critical: impl Fn(f64) -> f64) -> Option<(f64, f64)> {
        if !(level > 0.0 && level < 1.0) {
            return None;
        }
        let multiplier = if self.replicates >= 2 {
            critical(level)
        } else {
            -normal_quantile(0.5 * level)
        };
        let half = match self.spread()? {
            Spread::Sampled(error) => multiplier * error,
            Spread::Clock(bound) => bound,
            Spread::None if agreement_p(self.replicates) <= level => 0.0,
            Spread::None => return None,
        };
        let half = half.max(self.least_half_width.unwrap_or(0.0));
        finite(self.theta - half).zip(finite(self.theta + half))
    }

    /// θ̂ divided by its error. For P ≥ 2 the error is SE, or if SE is 0, the bound due to the
    /// clock; for P = 1 it is SE combined with [`LAYOUT_ALLOWANCE`]. `None` for a single block, or
    /// if SE is 0 and the bound is unknown.
    pub fn t_statistic(&self) -> Option<f64> {
        match self.spread()? {
            Spread::Sampled(error) | Spread::Clock(error) => finite(self.theta / error),
            Spread::None => None,
        }
    }

    /// The two-sided p-value if all replicates show the same effect and the resolution of the clock
    /// is unknown: [`agreement_p`], or 1 for an effect of 0. `None` if the replicates differ or the
    /// resolution is known.
    pub fn p_of_agreement(&self) -> Option<f64> {
        match self.spread()? {
            Spread::None if self.theta == 0.0 => Some(1.0),
            Spread::None => Some(agreement_p(self.replicates)),
            Spread::Sampled(_) | Spread::Clock(_) => None,
        }
    }

    /// The two-sided p-value of [`t_statistic`](Self::t_statistic): t with P − 1 degrees of
    /// freedom, or normal (and provisional) for P = 1. For P ≥ 2, if SE is 0 and the resolution of
    /// the clock is unknown, [`p_of_agreement`](Self::p_of_agreement). `None` for a single block.
    pub fn p_value(&self) -> Option<f64> {
        self.two_sided_p(|t| t_two_sided_p(t, self.df))
    }

    /// [`p_value`](Self::p_value) for replicates of few blocks each: the level at which
    /// [`few_blocks_interval`](Self::few_blocks_interval) just touches 0. Never below the plain
    /// p-value.
    pub fn few_blocks_p_value(&self) -> Option<f64> {
        self.two_sided_p(|t| t_two_sided_p(few_blocks::equivalent_t(t, self.blocks), self.df))
    }

    fn two_sided_p(&self, of: impl Fn(f64) -> f64) -> Option<f64> {
        if let Some(p) = self.p_of_agreement() {
            return Some(p);
        }
        let t = self.t_statistic()?;
        Some(if self.replicates >= 2 {
            of(t)
        } else {
            2.0 * normal_cdf(-t.abs())
        })
    }

    fn spread(&self) -> Option<Spread> {
        match (self.replicates, self.blocks) {
            (_, 0 | 1) => None,
            (1, _) => Some(Spread::Sampled(self.se.hypot(LAYOUT_ALLOWANCE))),
            _ if self.se > 0.0 => Some(Spread::Sampled(self.se)),
            _ => match self.least_half_width {
                Some(bound) => Some(Spread::Clock(bound)),
                None => self.timer_limited.then_some(Spread::None),
            },
        }
    }
}

/// The two-sided p-value if all P = `replicates` replicates show the same effect. Without a true
/// difference, each has either sign with probability ½, so all signs agree with probability
/// 2^(1−P).
pub fn agreement_p(replicates: usize) -> f64 {
    (1.0 - replicates as f64).exp2().min(1.0)
}

/// The two-sided p-value if all observations of a side are equal and the two sides differ: of all
/// ways to assign the observations to sides of these sizes, 2 separate the values.
pub fn separation_p(first: usize, second: usize) -> f64 {
    let (few, many) = (first.min(second), first.max(second));
    let ways = (1..=few).fold(1.0, |ways: f64, k| ways * (many + k) as f64 / k as f64);
    (2.0 / ways).min(1.0)
}

/// Returns the smallest number of replicates whose agreement is significant at a two-sided level:
/// the first with an [`agreement_p`] of at most the level.
pub fn replicates_that_agree(level: f64) -> usize {
    (1.0 - level.log2()).ceil().max(1.0) as usize
}

/// The source of an interval's width.
enum Spread {
    /// All effects are equal, and the resolution of the clock is unknown.
    None,
    /// A standard error, to be multiplied by a quantile.
    Sampled(f64),
    /// The bound due to the resolution of the clock, the same at every level.
    Clock(f64),
}

/// The conclusion that an interval allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Call {
    /// The whole interval is inside the margin: a dead heat.
    Equivalent,
    /// The whole interval is below zero: the candidate takes less time.
    Faster,
    /// The whole interval is above zero: the candidate takes more time.
    Slower,
    /// The interval allows no conclusion: the race continues, or ends as too close to call.
    Undecided,
}

/// The call for an interval of log ratios and a margin δ given as a fraction (0.01 for 1%).
///
/// In this order: inside (−ln(1 + δ), ln(1 + δ)), equivalent; upper end below 0, faster; lower end
/// above 0, slower; else undecided. All use the same interval, so any wrong call requires that the
/// interval misses the truth (for equivalence, see Schuirmann 1987, by interval inclusion). If the
/// margin is not positive, no interval is equivalent.
pub fn call(interval: (f64, f64), margin: f64) -> Call {
    let (low, high) = interval;
    let widest = margin.max(0.0).ln_1p();
    if low > -widest && high < widest && low <= high {
        return Call::Equivalent;
    }
    match (low, high) {
        (_, high) if high < 0.0 => Call::Faster,
        (low, _) if low > 0.0 => Call::Slower,
        _ => Call::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const D: [f64; 12] = [
        -0.012, 0.004, -0.021, -0.008, 0.310, -0.015, -0.011, 0.002, -0.018, -0.009, -0.027, -0.013,
    ];
    const UNKNOWN: Floor = Floor {
        relative_tick: None,
    };

    fn close(got: f64, want: f64, tolerance: f64) {
        assert!((got - want).abs() <= tolerance, "{got} is not {want}");
    }

    fn ticking(tick: f64) -> Floor {
        Floor {
            relative_tick: Some(tick),
        }
    }

    #[test]
    fn a_candidate_that_takes_a_tenth_longer_shows_in_both_orders() {
        let (a, b) = (1_f64.ln(), 1.1_f64.ln());
        assert_eq!(block_effect([a, b, b, a], Order::Abba), b);
        assert_eq!(block_effect([b, a, a, b], Order::Baab), b);
    }

    #[test]
    fn a_linear_drift_leaves_the_effect_alone_and_shows_as_drift() {
        let x = [0.0, 0.25, 0.5, 0.75];
        for order in [Order::Abba, Order::Baab] {
            assert_eq!(block_effect(x, order), 0.0);
            assert_eq!(diagnostics(x, order).drift, 0.5);
            assert_eq!(diagnostics(x, order).carry_over, order.sign() * 0.5);
            assert_eq!(diagnostics(x, order).second_position, 0.25);
        }
    }

    #[test]
    fn a_slow_second_place_shows_only_as_second_position() {
        let found = diagnostics([0.0, 0.5, 0.0, 0.5], Order::Abba);
        assert_eq!(
            found,
            Diagnostics {
                drift: 0.0,
                carry_over: 0.0,
                second_position: 0.5
            }
        );
    }

    #[test]
    fn changing_roles_changes_the_sign_and_nothing_else() {
        let x = [13.81, 13.8000001, 13.92, 13.7];
        for order in [Order::Abba, Order::Baab] {
            assert_eq!(block_effect(x, order), -block_effect(x, order.swapped()));
            assert_eq!(order.swapped().swapped(), order);
        }
    }

    #[test]
    fn the_test_vector_of_the_specification_comes_out_as_printed() {
        let sizes = [3; 4];
        let found = pooled_huber(&Clusters::new(&D, &sizes).unwrap(), UNKNOWN).unwrap();
        close(found.scale, 0.00741301, 5e-9);
        close(found.theta, -0.010595121, 5e-10);
        close(found.se, 0.002237978, 5e-10);
        close(found.t_statistic().unwrap(), -4.734239, 5e-7);
        close(found.p_value().unwrap(), 0.0178656, 5e-8);
        assert_eq!((found.replicates, found.blocks, found.df), (4, 12, 3.0));
        assert!(!found.timer_limited);
    }

    #[test]
    fn newton_finds_the_limit_of_the_plain_iteration() {
        let found = pooled_huber(&Clusters::singletons(&D), UNKNOWN).unwrap();
        let mut theta = -0.0115;
        for _ in 0..2_000 {
            let psi = |d: &f64| ((d - theta) / found.scale).clamp(-HUBER_CLAMP, HUBER_CLAMP);
            theta += found.scale * D.iter().map(psi).sum::<f64>() / D.len() as f64;
        }
        close(found.theta, theta, 1e-15);
    }

    #[test]
    fn a_coarse_clock_widens_the_scale_to_half_a_tick() {
        let found = pooled_huber(&Clusters::singletons(&D), ticking(0.04)).unwrap();
        assert_eq!(found.scale, 0.02);
    }

    #[test]
    fn without_a_tick_the_scale_falls_back_to_quartiles_then_to_mean_deviation() {
        let quartiles = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.01, 0.02, 0.03, 0.04];
        let found = pooled_huber(&Clusters::singletons(&quartiles), UNKNOWN).unwrap();
        close(found.scale, 0.0175 / IQR_PER_SD, 1e-15);
        let lonely = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.01];
        let found = pooled_huber(&Clusters::singletons(&lonely), UNKNOWN).unwrap();
        close(found.scale, 0.001 * MEAN_ABS_DEV_TO_SD, 1e-15);
        assert!(found.interval(0.05).is_some());
    }

    #[test]
    fn no_blocks_and_bad_blocks_are_refused_by_name() {
        assert_eq!(
            pooled_huber(&Clusters::singletons(&[]), UNKNOWN),
            Err(EstimateError::NoBlocks)
        );
        let sizes = [1, 2];
        for bad in [f64::NAN, f64::NEG_INFINITY, 1e200] {
            let effects = [0.0, 1.0, bad];
            let clusters = Clusters::new(&effects, &sizes).unwrap();
            let expected = EstimateError::NotAnEffect {
                replicate: 1,
                block: 1,
            };
            assert_eq!(pooled_huber(&clusters, UNKNOWN), Err(expected));
        }
    }

    #[test]
    fn identical_effects_are_as_uncertain_as_one_tick() {
        let sizes = [2; 3];
        let clusters = Clusters::new(&[0.25; 6], &sizes).unwrap();
        let found = pooled_huber(&clusters, ticking(0.0625)).unwrap();
        assert!(found.timer_limited);
        assert_eq!(found.interval(0.05), Some((0.1875, 0.3125)));
        let found = pooled_huber(&clusters, UNKNOWN).unwrap();
        assert!(found.timer_limited);
        assert_eq!(
            (found.theta, found.interval(0.05), found.p_value()),
            (0.25, None, Some(0.25)),
            "three replicates agree by chance in one of four"
        );
    }

    #[test]
    fn replicates_with_the_same_effect_are_as_sure_as_their_agreement() {
        let found = |effect: f64, replicates: usize| {
            let effects = vec![effect; replicates];
            pooled_huber(&Clusters::singletons(&effects), UNKNOWN).unwrap()
        };
        let six = found(0.25, 6);
        assert_eq!(six.interval(0.05), Some((0.25, 0.25)));
        assert_eq!(six.few_blocks_interval(0.05), Some((0.25, 0.25)));
        assert_eq!(six.interval(0.03), None);
        assert_eq!(six.p_value(), Some(1.0 / 32.0));
        assert_eq!(six.few_blocks_p_value(), Some(1.0 / 32.0));
        assert_eq!(found(-0.1, 11).p_value(), Some(1.0 / 1024.0));
        assert_eq!(found(0.0, 6).p_value(), Some(1.0));
        assert_eq!(found(0.0, 6).interval(0.05), Some((0.0, 0.0)));
        assert_eq!(found(0.25, 5).interval(0.05), None);
        assert!((separation_p(6, 6) - 2.0 / 924.0).abs() < 1e-15);
        assert!((separation_p(3, 2) - 0.2).abs() < 1e-15);
        assert_eq!([separation_p(1, 1), separation_p(0, 5)], [1.0, 1.0]);
        for level in [0.05, 0.0029, 0.001, 1.0 / 32.0] {
            let enough = replicates_that_agree(level);
            assert!(agreement_p(enough) <= level && agreement_p(enough - 1) > level);
        }
        let ticking = pooled_huber(&Clusters::singletons(&[0.25; 6]), ticking(0.0625)).unwrap();
        assert_eq!(ticking.p_of_agreement(), None, "the clock's step is wider");
    }

    #[test]
    fn replicates_that_agree_exactly_are_as_uncertain_as_a_tick_over_root_n() {
        let sizes = [2; 2];
        let clusters = Clusters::new(&[0.0, 0.5, 0.5, 0.0], &sizes).unwrap();
        let found = pooled_huber(&clusters, ticking(0.125)).unwrap();
        assert_eq!((found.se, found.timer_limited), (0.0, false));
        assert_eq!(found.interval(0.05), Some((0.25 - 0.0625, 0.25 + 0.0625)));
        assert_eq!(found.t_statistic(), Some(4.0));
        assert_eq!(
            pooled_huber(&clusters, UNKNOWN).unwrap().interval(0.05),
            None
        );
    }

    #[test]
    fn one_replicate_is_provisional_and_allows_for_layout() {
        let sizes = [12];
        let found = pooled_huber(&Clusters::new(&D, &sizes).unwrap(), UNKNOWN).unwrap();
        let by_block = pooled_huber(&Clusters::singletons(&D), UNKNOWN).unwrap();
        assert_eq!((found.se, found.df), (by_block.se, 0.0));
        let (low, high) = found.interval(0.05).unwrap();
        close(
            0.5 * (high - low),
            1.959963984540054 * found.se.hypot(LAYOUT_ALLOWANCE),
            1e-15,
        );
    }

    #[test]
    fn one_block_gives_an_estimate_and_nothing_else() {
        for floor in [UNKNOWN, ticking(0.001)] {
            let found = pooled_huber(&Clusters::singletons(&[0.5]), floor).unwrap();
            assert_eq!((found.theta, found.timer_limited), (0.5, false));
            assert_eq!((found.interval(0.05), found.p_value()), (None, None));
        }
    }

    #[test]
    fn a_level_outside_nought_to_one_has_no_interval() {
        let found = pooled_huber(&Clusters::singletons(&D), UNKNOWN).unwrap();
        for level in [0.0, 1.0, -0.1, f64::NAN] {
            assert_eq!(found.interval(level), None);
        }
    }

    #[test]
    fn an_interval_inside_the_margin_is_a_dead_heat() {
        assert_eq!(call((-0.003, 0.004), 0.01), Call::Equivalent);
    }

    #[test]
    fn a_difference_too_small_to_matter_is_still_a_dead_heat() {
        assert_eq!(call((0.001, 0.004), 0.01), Call::Equivalent);
        assert_eq!(call((-0.004, -0.001), 0.01), Call::Equivalent);
    }

    #[test]
    fn an_interval_on_one_side_of_zero_names_the_winner() {
        assert_eq!(call((-0.03, -0.001), 0.01), Call::Faster);
        assert_eq!(call((0.001, 0.03), 0.01), Call::Slower);
    }

    #[test]
    fn an_interval_across_zero_and_the_margin_decides_nothing() {
        assert_eq!(call((-0.02, 0.005), 0.01), Call::Undecided);
        assert_eq!(call((-0.02, 0.02), 0.01), Call::Undecided);
    }

    #[test]
    fn touching_the_margin_or_zero_is_not_enough() {
        let edge = 0.01_f64.ln_1p();
        assert_eq!(call((-edge, 0.0), 0.01), Call::Undecided);
        assert_eq!(call((0.0, edge), 0.01), Call::Undecided);
        assert_eq!(call((-0.5, 0.0), 0.01), Call::Undecided);
    }

    #[test]
    fn the_margin_is_a_factor_and_so_the_same_both_ways() {
        // Just inside ln 1.5 on both sides, although 1/1.5 is a change of only −33%.
        let just_inside = 1.5_f64.ln() - 1e-9;
        assert_eq!(call((-just_inside, just_inside), 0.5), Call::Equivalent);
    }

    #[test]
    fn no_margin_leaves_faster_and_slower() {
        for margin in [0.0, -1.0, f64::NAN] {
            assert_eq!(call((0.0, 0.0), margin), Call::Undecided);
            assert_eq!(call((0.1, 0.2), margin), Call::Slower);
        }
    }
}
