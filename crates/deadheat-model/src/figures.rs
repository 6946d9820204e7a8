//! Secondary figures of a comparison, which never affect the verdict.
//!
//! Every figure is `None` if it cannot be formed, and finite otherwise. Figures marked as naive
//! treat all samples as independent, which samples of one process are not.
//!
//! Also histograms of wall times, for tools that read them.

use crate::benchmark::ContenderId;
use crate::estimate::{Interval, LogRatio};

/// All secondary figures of the judged metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// The baseline.
    pub baseline: SideFigures,
    /// The candidate; `None` if the benchmark has only one contender.
    pub candidate: Option<SideFigures>,
    /// The two sides compared by methods other than that of the race; `None` if the benchmark has
    /// only one contender.
    pub between: Option<BetweenFigures>,
    /// The steadiness of the effect during the run; `None` if the samples are not paired.
    pub stability: Option<StabilityFigures>,
}

/// The distribution of one side, per iteration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SideFigures {
    /// Percentiles 1 to 99 of a histogram with three significant digits, in the unit of the metric.
    pub percentiles: Vec<f64>,
    /// Skewness of the logarithms, dimensionless.
    pub log_skewness: Option<f64>,
    /// Excess kurtosis of the logarithms, dimensionless.
    pub log_excess_kurtosis: Option<f64>,
    /// The Shapiro–Wilk test of the logarithms for normality, for up to 5,000 samples.
    pub shapiro_wilk: Option<Tested>,
    /// Distributions fitted to the values, the most likely first.
    pub fits: Vec<Fit>,
    /// (mean − min)/mean, dimensionless.
    pub mean_over_min: Option<f64>,
    /// Distance from the smallest value to the mean, in standard deviations.
    pub min_sigmas: Option<f64>,
    /// Distance from the mean to the largest value, in standard deviations.
    pub max_sigmas: Option<f64>,
    /// Figures of the samples of the first half of the run; `None` for a single sample.
    pub first_half: Option<FirstHalf>,
}

/// The first half of one side's samples, for comparison with all samples.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstHalf {
    /// Median, in the unit of the metric.
    pub median: f64,
    /// Percentiles 1 to 99, in the unit of the metric.
    pub percentiles: Vec<f64>,
    /// Kolmogorov–Smirnov test of the first half against the second. It is naive: it treats all
    /// samples as independent.
    pub against_second: Option<Tested>,
}

/// A dimensionless test statistic and its two-sided p-value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tested {
    /// The test statistic.
    pub statistic: f64,
    /// The p-value.
    pub p: f64,
}

named! {
    /// A family of distributions with a location and a scale.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Family: name(self) {
        /// Normal: location is the mean, scale the standard deviation.
        Normal = "normal",
        /// Log-normal: location and scale are mean and standard deviation of the logarithms.
        LogNormal = "log-normal",
        /// Gumbel: location is the mode, and the standard deviation is scale·π/√6.
        Gumbel = "gumbel",
    }
}

/// The maximum-likelihood fit of one family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The fitted family.
    pub family: Family,
    /// Location, in the unit of the metric; for the log-normal family, of its logarithm.
    pub location: f64,
    /// Scale, in the same unit as the location.
    pub scale: f64,
    /// Σ ln density. It depends on the unit, so only differences between families are meaningful.
    pub log_likelihood: f64,
}

/// A change as estimated by one method, with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// ln(candidate/baseline).
    pub effect: LogRatio,
    /// The interval at confidence 1 − α; `None` if the method gives none.
    pub interval: Option<Interval>,
}

/// The two sides compared by methods other than that of the race.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BetweenFigures {
    /// Change of the minimum.
    pub min: Option<LogRatio>,
    /// Change of the median.
    pub median: Option<LogRatio>,
    /// Change of the mean.
    pub mean: Option<LogRatio>,
    /// The median of all ratios of a candidate's sample to a baseline's sample (Hodges–Lehmann).
    /// Its interval is naive: it treats all samples as independent.
    pub shift: Option<Change>,
    /// Numbers of pairs in which the candidate's value was below, at and above the baseline's, with
    /// the sign test. The test is naive: it treats all pairs as independent.
    pub pairs: Option<PairSigns>,
    /// Welch's test of the logarithms. It is naive: it treats all samples as independent.
    pub welch: Option<TTested>,
    /// Student's test of the logarithms. It is naive: it treats all samples as independent.
    pub student: Option<TTested>,
    /// Student's test of the paired differences of logarithms. It is naive: it treats all pairs as
    /// independent.
    pub student_paired: Option<TTested>,
    /// z and the normal p-value of the mean paired difference of logarithms. They are naive: they
    /// treat all pairs as independent.
    pub z_paired: Option<Tested>,
    /// Wilcoxon's signed-rank test of the block effects.
    pub signed_rank: Option<SignedRanks>,
    /// Mann–Whitney U of the samples. Its p-value is naive: it treats all samples as independent.
    pub mann_whitney: Option<RankSums>,
    /// The p-value of the rank-sum test without corrections. It is naive: it treats all samples as
    /// independent.
    pub rank_sum_p: Option<f64>,
    /// Kolmogorov–Smirnov test of the two distributions. It is naive: it treats all samples as
    /// independent.
    pub kolmogorov_smirnov: Option<Tested>,
    /// Wasserstein-1 distance of the two distributions, as a share of the median of all values of
    /// both sides.
    pub wasserstein: Option<f64>,
    /// Paired differences far from their median, by direction.
    pub opposite_peaks: Option<OppositePeaks>,
}

/// A t test of a difference of logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TTested {
    /// The difference of means as a change.
    pub change: Change,
    /// The difference divided by its standard error.
    pub t: f64,
    /// Degrees of freedom.
    pub df: f64,
    /// Two-sided p-value of equal means.
    pub p: f64,
}

/// Number of pairs in which the candidate's value was below, at and above the baseline's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairSigns {
    /// Pairs in which the candidate needed less.
    pub less: usize,
    /// Pairs with equal values.
    pub equal: usize,
    /// Pairs in which the candidate needed more.
    pub greater: usize,
    /// Two-sided p-value of the sign test.
    pub p: f64,
}

/// Sums of the ranks of the absolute block effects, by sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedRanks {
    /// Rank sum of the effects below zero, in which the candidate needed less.
    pub less: f64,
    /// Rank sum of the effects above zero.
    pub greater: f64,
    /// Two-sided p-value: exact for up to 200 effects, normal approximation beyond.
    pub p: f64,
}

/// The numbers of pairs, among all pairs of a baseline's sample and a candidate's sample, in which
/// the baseline's value or the candidate's value is larger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankSums {
    /// Pairs whose baseline value is the larger one, ties counted half.
    pub u_baseline: f64,
    /// Pairs whose candidate value is the larger one, ties counted half.
    pub u_candidate: f64,
    /// Two-sided p-value: exact for small samples, normal approximation with corrections beyond.
    pub p: f64,
}

/// Paired differences further than five scaled MADs from their median.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OppositePeaks {
    /// Differences far below the median: the baseline was disturbed.
    pub below: usize,
    /// Differences far above the median: the candidate was disturbed.
    pub above: usize,
    /// P-value of the hypothesis that peaks are equally likely in both directions; `None` without
    /// peaks.
    pub p: Option<f64>,
}

/// The steadiness of the effect over the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StabilityFigures {
    /// The estimated effect of the first half of the replicates, or of the blocks if there is only
    /// one replicate.
    pub first_half: Option<LogRatio>,
    /// The estimated effect of the second half of the replicates, or of the blocks if there is only
    /// one replicate.
    pub second_half: Option<LogRatio>,
    /// Components of the scatter of block effects; `None` if every replicate is a single block.
    pub spread: Option<Spread>,
}

/// Standard deviations of block effects, in log-ratio units. Effects further than 1.5 scales from
/// the estimate are moved to that limit first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Standard deviation between blocks of one replicate.
    pub within: f64,
    /// Standard deviation between replicates beyond what their blocks explain, caused by placement
    /// and process.
    pub between: f64,
}

named! {
    /// The unit of the whole numbers in a histogram.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum HistogramUnit: name(self) {
        /// The unit that most tools expect.
        Nanoseconds = "nanoseconds",
        /// Picoseconds, used if whole nanoseconds would lose significant digits.
        Picoseconds = "picoseconds",
    }
}

impl HistogramUnit {
    /// Returns the number of units in a millisecond.
    pub fn per_millisecond(self) -> u64 {
        match self {
            HistogramUnit::Nanoseconds => 1_000_000,
            HistogramUnit::Picoseconds => 1_000_000_000,
        }
    }
}

/// High dynamic range (HDR) histograms of the wall times of a run. All have the same buckets, so
/// that they can be overlaid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histograms<Contenders> {
    /// The unit of all values.
    pub unit: HistogramUnit,
    /// Decimal digits of precision, 1 to 5.
    pub significant_digits: u8,
    /// Largest value with a bucket, at least 2 and below 2⁶³. The smallest value distinguished from
    /// 0 is 1.
    pub highest: u64,
    /// One [`ContenderHistogram`] per contender that ran, in the order of the plan.
    pub contenders: Contenders,
}

/// Histogram of the times of a contender, one count per sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContenderHistogram {
    /// Index of the benchmark in the plan.
    pub benchmark: usize,
    /// The contender.
    pub contender: ContenderId,
    /// The largest value that was counted.
    pub largest: u64,
    /// Counts of the buckets, the lowest first, up to the highest bucket that is not empty.
    pub counts: Vec<u64>,
}
