//! Secondary figures of the judged metric, which do not affect the verdict, and histograms of all
//! wall times.
//!
//! Figures are computed once, in the final analysis. The stopping rules do not use them.

use deadheat_model::{
    BetweenFigures, Change, ContenderHistogram, ContenderId, Family, Figures, FirstHalf, Fit,
    HistogramUnit, Histograms, Interval, LogRatio, Metric, OppositePeaks, PairSigns, Plots,
    RankSums, Run, RunHeader, Samples, SideFigures, SignedRanks, Spread, StabilityFigures, TTested,
    Tested,
};
use deadheat_stats::rank::signed_ranks;
use deadheat_stats::summary::{mean, median_of_sorted};
use deadheat_stats::{
    Averaged, Centred, Clusters, Floor, Histogram, TTest, TwoSamples, best_fits_of,
    clamped_components, count_signs, mean_over_min, opposite_peaks, pooled_huber, shapiro_wilk,
    shift_with_interval, signed_rank_asymptotic_p, signed_rank_exact_p, student_of, student_paired,
    welch_of,
};

use crate::effects::Effects;
use crate::plots::{Paired, PlotCandidate, PlotInputs, Sorted, plots};
use crate::raced::{MOST_ZEROS, Members, tick, zero_as};

/// The data from which the figures of a benchmark are computed.
pub(crate) struct Figured<'a> {
    /// The two-sided level of all intervals. It is not adjusted for the number of candidates or
    /// figures.
    level: f64,
    samples: &'a Samples,
    members: &'a Members,
    measured: Measured,
    baseline: SideData,
}

impl<'a> Figured<'a> {
    /// Prepares the figures of a benchmark; `None` if the judged metric was not recorded.
    pub(crate) fn of(
        header: &RunHeader,
        benchmark: usize,
        samples: &'a Samples,
        members: &'a Members,
    ) -> Option<Self> {
        let judged = header.plan.judged(benchmark);
        let measured = Measured::of((header, benchmark), samples, judged)?;
        let baseline = SideData::of(&measured, members.indices(ContenderId::BASELINE));
        Some(Self {
            level: header.plan.alpha(benchmark),
            samples,
            members,
            measured,
            baseline,
        })
    }

    /// Returns the figures of a benchmark that has only a baseline, and its plots with at most
    /// `points` points per series.
    pub(crate) fn alone(&self, points: Option<usize>) -> (Figures, Option<Box<Plots>>) {
        let plots = points.map(|points| Box::new(plots(&self.material(None), points)));
        let figures = Figures {
            baseline: self.baseline.figures.clone(),
            candidate: None,
            between: None,
            stability: None,
        };
        (figures, plots)
    }

    /// Returns the figures of one candidate, and its plots with at most `points` points per series.
    /// `judged` are its effects and the number of replicates that were judged; `None` if samples
    /// are not paired.
    pub(crate) fn against(
        &self,
        candidate: ContenderId,
        judged: Option<(&Effects, usize)>,
        points: Option<usize>,
    ) -> (Figures, Option<Box<Plots>>) {
        let data = SideData::of(&self.measured, self.members.indices(candidate));
        let plots = points.map(|points| {
            let paired = judged.map(|(effects, judged)| Paired {
                effects,
                judged,
                pairs: self.pairs(candidate),
            });
            let rival = PlotCandidate {
                side: (sorted(&data), self.members.indices(candidate)),
                paired,
            };
            Box::new(plots(&self.material(Some(rival)), points))
        });
        let clusters = judged.map(|(effects, replicates)| effects.clusters(replicates));
        let between = between(
            &self.measured,
            &self.baseline,
            &data,
            clusters.map(|clusters| clusters.effects()),
            &self.pairs(candidate),
            self.level,
        );
        let figures = Figures {
            baseline: self.baseline.figures.clone(),
            candidate: Some(data.figures),
            between: Some(between),
            stability: judged
                .map(|(effects, replicates)| stability(effects, self.samples, replicates)),
        };
        (figures, plots)
    }

    /// Returns the sample indices of the pairs of baseline and candidate, without those of dropped
    /// blocks.
    fn pairs(&self, candidate: ContenderId) -> Vec<(usize, usize)> {
        let mut pairs = Measured::pairs(self.samples, candidate);
        let baseline = self.members.indices(ContenderId::BASELINE);
        pairs.retain(|(of_baseline, _)| baseline.binary_search(&(*of_baseline as u32)).is_ok());
        pairs
    }

    fn material<'b>(&'b self, candidate: Option<PlotCandidate<'b>>) -> PlotInputs<'b> {
        PlotInputs {
            samples: self.samples,
            values: &self.measured.values,
            logs: &self.measured.logs,
            baseline: (
                sorted(&self.baseline),
                self.members.indices(ContenderId::BASELINE),
            ),
            candidate,
        }
    }
}

fn sorted(side: &SideData) -> Sorted<'_> {
    Sorted {
        values: &side.values,
        logs: &side.logs,
        fits: &side.figures.fits,
    }
}

/// Compares the candidate with the baseline. `effects` are the block effects that were judged. If
/// they are `None`, samples are not paired, and `pairs` is not used. Intervals are at the two-sided
/// `level`.
pub(super) fn between(
    measured: &Measured,
    baseline: &SideData,
    candidate: &SideData,
    effects: Option<&[f64]>,
    pairs: &[(usize, usize)],
    level: f64,
) -> BetweenFigures {
    let mut figures = BetweenFigures::default();
    samples_apart(&mut figures, baseline, candidate, level);
    if let Some(effects) = effects {
        let logs = !(baseline.logs.is_empty() || candidate.logs.is_empty());
        pairs_together(&mut figures, measured, pairs, logs, level);
        figures.signed_rank = signed_rank(effects).filter(|_| logs);
    }
    figures
}

/// Fills in the figures that need no pairs.
fn samples_apart(
    figures: &mut BetweenFigures,
    baseline: &SideData,
    candidate: &SideData,
    level: f64,
) {
    let (first, second) = (&baseline.values, &candidate.values);
    let least = |sorted: &[f64]| sorted.first().copied();
    figures.min = log_ratio(least(first), least(second));
    figures.mean = log_ratio(mean(first), mean(second));
    figures.median = log_ratio(median_of_sorted(first), median_of_sorted(second));
    if let Some(both) = TwoSamples::new(first, second) {
        let found = both.rank_sum();
        figures.mann_whitney = Some(RankSums {
            u_baseline: found.u_first,
            u_candidate: found.u_second,
            p: both.mann_whitney_p(),
        });
        figures.rank_sum_p = Some(both.rank_sum_p());
        figures.kolmogorov_smirnov = Some(kolmogorov_smirnov(&both));
        let median = Some(both.median()).filter(|median| *median > 0.0);
        figures.wasserstein = both
            .wasserstein_1()
            .zip(median)
            .map(|(distance, median)| distance / median)
            .filter(|share| share.is_finite());
    }

    let (first, second) = (&baseline.logs, &candidate.logs);
    figures.shift = shift_with_interval(first, second, level)
        .map(|(shift, interval)| change(shift, interval, level));
    if let (Some(first), Some(second)) = (&baseline.averaged_logs, &candidate.averaged_logs) {
        figures.welch = welch_of(first, second).map(|found| t_tested(found, level));
        figures.student = student_of(first, second).map(|found| t_tested(found, level));
    }
}

fn kolmogorov_smirnov(both: &TwoSamples) -> Tested {
    let found = both.kolmogorov_smirnov();
    Tested {
        statistic: found.statistic,
        p: found.p,
    }
}

/// Fills in the figures made of pairs: neighbours in time within a block.
fn pairs_together(
    figures: &mut BetweenFigures,
    measured: &Measured,
    pairs: &[(usize, usize)],
    logs: bool,
    level: f64,
) {
    let differences = |column: &[f64]| -> Vec<f64> {
        let difference = |(first, second): &(usize, usize)| column[*second] - column[*first];
        pairs.iter().map(difference).collect()
    };
    if pairs.is_empty() {
        return;
    }
    // Signs are counted from the values, because different values may have the same logarithm.
    figures.pairs = count_signs(&differences(&measured.values)).map(|signs| PairSigns {
        less: signs.less,
        equal: signs.equal,
        greater: signs.greater,
        p: signs.sign_test_p(),
    });
    if !logs {
        return;
    }
    let differences = differences(&measured.logs);
    let by_t = student_paired(&differences);
    figures.z_paired = by_t.map(|found| found.by_normal()).map(|found| Tested {
        statistic: found.z,
        p: found.p,
    });
    figures.student_paired = by_t.map(|found| t_tested(found, level));
    figures.opposite_peaks = opposite_peaks(&differences).map(|found| OppositePeaks {
        below: found.below,
        above: found.above,
        p: found.p,
    });
}

fn signed_rank(effects: &[f64]) -> Option<SignedRanks> {
    let ranks = signed_ranks(effects)?;
    Some(SignedRanks {
        less: ranks.negative,
        greater: ranks.positive,
        p: signed_rank_exact_p(effects).or_else(|| signed_rank_asymptotic_p(effects))?,
    })
}

/// Returns the log-ratio as a difference of logarithms, so that swapping the sides changes only its
/// sign; `None` if a value is missing or not positive.
fn log_ratio(baseline: Option<f64>, candidate: Option<f64>) -> Option<LogRatio> {
    let log = |value: Option<f64>| value.filter(|v| *v > 0.0).map(f64::ln);
    Some(LogRatio(log(candidate)? - log(baseline)?))
}

fn change(effect: f64, interval: Option<(f64, f64)>, level: f64) -> Change {
    Change {
        effect: LogRatio(effect),
        interval: interval.map(|(low, high)| Interval {
            low: LogRatio(low),
            high: LogRatio(high),
            confidence: 1.0 - level,
        }),
    }
}

fn t_tested(found: TTest, level: f64) -> TTested {
    TTested {
        change: change(found.difference, found.interval(level), level),
        t: found.t,
        df: found.df,
        p: found.p_value(),
    }
}

/// Values and their logarithms, parallel to the samples.
pub(super) struct Measured {
    pub(super) values: Vec<f64>,
    /// ln of the values; a zero counts as half the smallest step of the metric. Always finite.
    pub(super) logs: Vec<f64>,
}

impl Measured {
    /// Returns the values of a metric with their logarithms; `None` if the metric was not recorded.
    pub(super) fn of(
        (header, benchmark): (&RunHeader, usize),
        samples: &Samples,
        metric: &Metric,
    ) -> Option<Measured> {
        let column = samples.column(metric)?;
        let benchmark = &header.plan.benchmarks[benchmark];
        let zero_as = zero_as(column, tick(metric, header, benchmark));
        let mut measured = Measured {
            values: Vec::with_capacity(column.len()),
            logs: Vec::with_capacity(column.len()),
        };
        for (whole, sample) in column.iter().zip(samples.samples()) {
            let calls = if metric.adds_up() {
                sample.iterations as f64
            } else {
                1.0
            };
            measured.values.push(whole / calls);
            let ticking = if *whole > 0.0 { *whole } else { zero_as };
            // The quotient of a tiny value may underflow to zero.
            measured.logs.push(match ticking / calls {
                quotient if quotient > 0.0 => quotient.ln(),
                _ => ticking.ln() - calls.ln(),
            });
        }
        Some(measured)
    }

    /// Returns the sample indices of all pairs, the baseline first: in each block, the i-th sample
    /// of the baseline with the i-th of the candidate. In ABBA blocks these are (x₁, x₂) and (x₄,
    /// x₃), in BAAB blocks (x₂, x₁) and (x₃, x₄), which are neighbours in time.
    pub(super) fn pairs(samples: &Samples, candidate: ContenderId) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for block in samples.blocks() {
            let of = |id: ContenderId| {
                let slots = &samples.samples()[block.range()];
                let mine = slots.iter().enumerate();
                mine.filter(move |(_, sample)| sample.contender == id)
                    .map(|(slot, _)| block.first + slot)
            };
            pairs.extend(of(ContenderId::BASELINE).zip(of(candidate)));
        }
        pairs
    }
}

/// The number of significant decimal digits of histograms. Three is usual for histogram logs.
const DIGITS: u8 = 3;

/// The smallest positive value is this many steps of the histogram. From 1,024 steps on, a bucket
/// is narrower than a thousandth of its values.
const STEPS: f64 = 2_048.0;

/// The largest number of steps of a value. Values beyond 2⁵⁰ times the smallest positive value
/// count as this many steps.
const MOST_STEPS: u64 = 1 << 61;

/// Returns percentiles 1 to 99 of ascending values that are finite and not negative, each within
/// 0.05 % of an order statistic; empty without values.
///
/// The smallest positive value sets the unit, so that times far below a nanosecond keep their
/// digits.
pub(super) fn percentiles(sorted: &[f64]) -> Vec<f64> {
    let (Some(&least), Some(&most)) = (sorted.first(), sorted.last()) else {
        return Vec::new();
    };
    if !most.is_finite() {
        return Vec::new();
    }
    if most == 0.0 {
        return vec![0.0; 99];
    }
    let unit = sorted[sorted.partition_point(|value| *value <= 0.0)];
    // The cast saturates if the quotient is too large.
    let steps = |value: f64| ((value / unit * STEPS).round() as u64).min(MOST_STEPS);
    // Values are not recorded, because their order already tells how many each bucket holds.
    let Ok(buckets) = Histogram::new(steps(most), DIGITS) else {
        return Vec::new();
    };
    // The bucket of the first value with at least `percent` per cent of all values at or below it.
    let percentile = |percent: usize| {
        let value = sorted[(sorted.len() * percent).div_ceil(100) - 1];
        let middle = buckets.median_equivalent(steps(value)) as f64;
        (middle / STEPS * unit).clamp(least, most)
    };
    (1..100).map(percentile).collect()
}

/// The values of one side, sorted once for all figures.
pub(super) struct SideData {
    /// The values per iteration, ascending.
    pub(super) values: Vec<f64>,
    /// Logarithms of the values, ascending; empty if there are too many zeros.
    pub(super) logs: Vec<f64>,
    /// The mean and spread of the logarithms; `None` if there are fewer than two.
    averaged_logs: Option<Averaged>,
    pub(super) figures: SideFigures,
}

impl SideData {
    /// Computes the figures of the samples at the indices `members`, which are in the order taken.
    pub(super) fn of(measured: &Measured, members: &[u32]) -> SideData {
        let at = |column: &[f64]| -> Vec<f64> {
            let value = |index: &u32| column[*index as usize];
            members.iter().map(value).collect()
        };
        let values = at(&measured.values);
        let zeros = values.iter().filter(|value| **value <= 0.0).count();
        let halves = Halves::of(values);
        let first_half = halves.first_half();
        let values = halves.together();
        let mut logs = Vec::new();
        if zeros == 0 {
            // The order of the logarithms is that of the values.
            logs.clone_from(&values);
            logs.iter_mut().for_each(|log| *log = log.ln());
        } else if zeros as f64 <= MOST_ZEROS * values.len() as f64 {
            logs = at(&measured.logs);
            logs.sort_unstable_by(f64::total_cmp);
        }
        let (centred, centred_logs) = (Centred::new(&values), Centred::new(&logs));
        let sigmas = centred.as_ref().and_then(Centred::sigma_distances);
        // With a zero among the values, a log-normal distribution cannot fit.
        let all_logs = centred_logs.as_ref().filter(|_| zeros == 0);
        let fits = best_fits_of(&values, centred.as_ref(), all_logs);
        let figures = SideFigures {
            percentiles: percentiles(&values),
            log_skewness: centred_logs.as_ref().and_then(Centred::skewness),
            log_excess_kurtosis: centred_logs.as_ref().and_then(Centred::excess_kurtosis),
            shapiro_wilk: shapiro_wilk(&logs).map(|found| Tested {
                statistic: found.w,
                p: found.p,
            }),
            fits: fits.into_iter().map(fit).collect(),
            mean_over_min: mean_over_min(&values),
            min_sigmas: sigmas.map(|sigmas| sigmas.0),
            max_sigmas: sigmas.map(|sigmas| sigmas.1),
            first_half,
        };
        SideData {
            values,
            logs,
            averaged_logs: centred_logs.as_ref().and_then(Averaged::of),
            figures,
        }
    }
}

fn fit(fit: deadheat_stats::Fit) -> Fit {
    Fit {
        family: match fit.family {
            deadheat_stats::Family::Normal => Family::Normal,
            deadheat_stats::Family::LogNormal => Family::LogNormal,
            deadheat_stats::Family::Gumbel => Family::Gumbel,
        },
        location: fit.location,
        scale: fit.scale,
        log_likelihood: fit.log_likelihood,
    }
}

/// The first and the second half of the values in the order taken. Each half is sorted, which makes
/// sorting all values fast.
struct Halves {
    /// The first half of the values. For an odd number of values, it has one value less than the
    /// second half.
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Halves {
    fn of(mut values: Vec<f64>) -> Self {
        let mut second = values.split_off(values.len() / 2);
        values.sort_unstable_by(f64::total_cmp);
        second.sort_unstable_by(f64::total_cmp);
        Self {
            first: values,
            second,
        }
    }

    fn first_half(&self) -> Option<FirstHalf> {
        Some(FirstHalf {
            percentiles: percentiles(&self.first),
            against_second: TwoSamples::new(&self.first, &self.second)
                .map(|both| kolmogorov_smirnov(&both)),
            median: median_of_sorted(&self.first)?,
        })
    }

    /// Returns all values, ascending.
    fn together(self) -> Vec<f64> {
        let mut all = self.first;
        all.extend(self.second);
        // The stable sort detects the two sorted halves and merges them.
        all.sort_by(f64::total_cmp);
        all
    }
}

/// Returns the estimate of each half of the first `replicates` replicates, and the spread of the
/// blocks within and between replicates. Disturbed blocks are included.
pub(super) fn stability(
    effects: &Effects,
    samples: &Samples,
    replicates: usize,
) -> StabilityFigures {
    if effects.too_many_zeros(replicates) {
        return StabilityFigures::default();
    }
    let floor = effects.floor(samples, replicates);
    let clusters = effects.clusters(replicates);
    let (first, second) = halves(clusters.effects(), effects.sizes(replicates));
    let spread = pooled_huber(&clusters, floor)
        .ok()
        .and_then(|pooled| clamped_components(&clusters, &pooled))
        .map(|components| Spread {
            within: components.within.sqrt(),
            between: components.between.sqrt(),
        });
    StabilityFigures {
        first_half: location(first, floor),
        second_half: location(second, floor),
        spread,
    }
}

/// Splits the effects after the first half of the replicates. A single replicate is split between
/// its blocks.
fn halves<'a>(effects: &'a [f64], sizes: &[usize]) -> (&'a [f64], &'a [f64]) {
    let at = match sizes.len() {
        0 | 1 => effects.len() / 2,
        several => sizes[..several / 2].iter().sum(),
    };
    effects.split_at(at)
}

/// Returns the location (θ̂) of the effects, which does not depend on how blocks are grouped into
/// replicates.
fn location(effects: &[f64], floor: Floor) -> Option<LogRatio> {
    let pooled = pooled_huber(&Clusters::singletons(effects), floor).ok()?;
    Some(LogRatio(pooled.theta))
}

/// Times below this, in nanoseconds, need a finer unit to keep three digits.
const FINE_BELOW_NS: f64 = 1_000.0;

/// The largest value of a histogram; larger ones are clamped to it. Readers store values and the
/// bounds of buckets as signed 64-bit integers.
const MOST: u64 = 1 << 62;

/// Returns histograms of the wall times per iteration of every contender that ran, except controls:
/// one count per sample, to three significant digits. Empty if no wall time was recorded.
///
/// The unit is the nanosecond. If a positive time is below a microsecond, whole nanoseconds would
/// lose its digits, so all values of the run are in picoseconds. A run that also has times of 53
/// days or more keeps nanoseconds, because picoseconds would overflow.
///
/// Histograms are computed one by one as the iterator advances: if any sample of the run takes some
/// days, each histogram takes 200 kB, and a table of 780 kB may lead to ten thousand histograms.
pub fn histograms(run: &Run) -> Histograms<impl Iterator<Item = ContenderHistogram>> {
    let mut all: Vec<(usize, ContenderId, Vec<f64>)> = Vec::new();
    let plans = &run.header.plan.benchmarks;
    for (benchmark, (plan, samples)) in plans.iter().zip(&run.benchmarks).enumerate() {
        for (contender, times) in wall_times(samples, plan.rivals()) {
            all.push((benchmark, contender, times));
        }
    }
    let times = || all.iter().flat_map(|(_, _, times)| times.iter().copied());
    let smallest = times().filter(|ns| *ns > 0.0).fold(f64::INFINITY, f64::min);
    let largest = times().fold(0.0, f64::max);
    let fine = smallest < FINE_BELOW_NS && largest < MOST as f64 / 1e3;
    let (unit, per_ns) = if fine {
        (HistogramUnit::Picoseconds, 1e3)
    } else {
        (HistogramUnit::Nanoseconds, 1.0)
    };
    // The cast saturates.
    let steps = move |ns: f64| ((ns * per_ns).round() as u64).min(MOST);
    let highest = steps(largest).max(2);
    let count = move |(benchmark, contender, times): (usize, ContenderId, Vec<f64>)| {
        let mut histogram = Histogram::new(highest, DIGITS).ok()?;
        let mut largest = 0;
        for ns in times {
            histogram.record(steps(ns));
            largest = largest.max(steps(ns));
        }
        Some(ContenderHistogram {
            benchmark,
            contender,
            largest,
            counts: histogram.counts().to_vec(),
        })
    };
    Histograms {
        unit,
        significant_digits: DIGITS,
        highest,
        contenders: all.into_iter().filter_map(count),
    }
}

/// Returns the wall times per iteration, in nanoseconds, of every contender that ran.
fn wall_times(
    samples: &Samples,
    contenders: usize,
) -> impl Iterator<Item = (ContenderId, Vec<f64>)> {
    let members = Members::of(samples, contenders);
    (0..contenders).filter_map(move |index| {
        let contender = ContenderId(index as u8);
        let times = members.values(samples, &Metric::Wall, contender);
        (!times.is_empty()).then_some((contender, times))
    })
}

#[cfg(test)]
mod tests {
    use deadheat_stats::rng::normal;
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn exact(sorted: &[f64], percent: usize) -> f64 {
        sorted[(sorted.len() * percent).div_ceil(100) - 1]
    }

    #[test]
    fn percentiles_agree_with_order_statistics_to_a_thousandth() {
        for (n, base) in [(99, 0.003), (1_000, 1.0), (20_000, 1e9), (5_000, 1e-250)] {
            // A long tail over six orders of magnitude, and no two values alike.
            let sorted: Vec<f64> = (0..n)
                .map(|i| base * (f64::from(i) / f64::from(n) * 14.0).exp())
                .collect();
            let found = percentiles(&sorted);
            assert_eq!(found.len(), 99);
            for (index, found) in found.iter().enumerate() {
                let exact = exact(&sorted, index + 1);
                assert!(
                    (found / exact - 1.0).abs() < 1e-3,
                    "{n} {index}: {found} {exact}"
                );
            }
        }
    }

    #[test]
    fn percentiles_are_those_of_a_histogram_that_counts_all_values() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        for n in [1, 2, 7, 99, 100, 101, 250, 1_000] {
            for (spread, grid) in [(0.01, 0.0), (3.0, 0.0), (40.0, 0.0), (1.0, 0.5)] {
                let mut sorted: Vec<f64> = (0..n)
                    .map(|_| (spread * normal(&mut rng)).exp())
                    .map(|x| {
                        if grid > 0.0 {
                            (x / grid).round() * grid
                        } else {
                            x
                        }
                    })
                    .collect();
                sorted.sort_unstable_by(f64::total_cmp);
                let unit = sorted.iter().copied().find(|x| *x > 0.0).unwrap_or(1.0);
                let steps = |x: f64| ((x / unit * STEPS).round() as u64).min(MOST_STEPS);
                let mut histogram = Histogram::new(steps(sorted[n - 1]), DIGITS).unwrap();
                sorted.iter().for_each(|x| histogram.record(steps(*x)));
                for (index, found) in percentiles(&sorted).into_iter().enumerate() {
                    let mut seen = 0;
                    let mut buckets = histogram.iter_recorded();
                    let bucket = buckets.find(|bucket| {
                        seen += bucket.count;
                        100 * seen >= (index as u64 + 1) * histogram.len()
                    });
                    let middle = histogram.median_equivalent(bucket.unwrap().lowest) as f64;
                    let counted = (middle / STEPS * unit).clamp(sorted[0], sorted[n - 1]);
                    assert_eq!(found, counted, "{n} {spread} {index}");
                }
            }
        }
    }

    #[test]
    fn equal_values_and_few_values_are_their_own_percentiles() {
        assert_eq!(percentiles(&[7.25; 12]), vec![7.25; 99]);
        assert_eq!(percentiles(&[0.0; 3]), vec![0.0; 99]);
        assert_eq!(percentiles(&[3.5]), vec![3.5; 99]);
        let two = percentiles(&[1.0, 2.0]);
        assert!((two[49] - 1.0).abs() < 1e-3 && (two[50] - 2.0).abs() < 1e-3);
        assert!(percentiles(&[]).is_empty());
    }

    #[test]
    fn extreme_values_saturate_and_stay_numbers() {
        for values in [
            &[5e-324, 1e300][..],
            &[0.0, 5e-324],
            &[0.0, 1e300, f64::MAX],
            &[f64::MIN_POSITIVE, 1.0],
        ] {
            let found = percentiles(values);
            assert_eq!(found.len(), 99);
            assert!(found.windows(2).all(|pair| pair[0] <= pair[1]), "{found:?}");
            assert!(found.iter().all(|p| *p >= values[0] && p.is_finite()));
        }
    }

    #[test]
    fn a_run_is_halved_between_replicates_and_one_replicate_between_blocks() {
        let effects = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(halves(&effects, &[1, 3, 2]).0, [1.0]);
        assert_eq!(halves(&effects, &[2, 2, 1, 1]).0, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(halves(&effects, &[6]).1, [4.0, 5.0, 6.0]);
        assert_eq!(halves(&[], &[]).0, []);
    }
}
