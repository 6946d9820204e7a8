//! Secondary figures of a comparison: they inform, they never decide.
//!
//! Every one is `None` where it cannot be formed, and finite otherwise. What is marked as naive
//! takes every sample for independent, which samples of one process are not.
//!
//! Wall times counted by size, for tools that read histograms.

use crate::benchmark::ContenderId;
use crate::estimate::{Interval, LogRatio};

/// Everything that is shown of the judged metric beside the verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// The baseline.
    pub baseline: SideFigures,
    /// The candidate; `None` for a contender alone.
    pub candidate: Option<SideFigures>,
    /// The two sides against each other; `None` for a contender alone.
    pub between: Option<BetweenFigures>,
    /// The steadiness of the run; `None` without pairs.
    pub stability: Option<StabilityFigures>,
}

/// The distribution of one side, per iteration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SideFigures {
    /// Percentiles 1 to 99 of a histogram with three significant digits, in the unit of the metric.
    pub percentiles: Vec<f64>,
    /// Skewness of the logarithms, a pure number.
    pub log_skewness: Option<f64>,
    /// Excess kurtosis of the logarithms, a pure number.
    pub log_excess_kurtosis: Option<f64>,
    /// W and the p-value that the logarithms are normal; up to 5,000 samples.
    pub shapiro_wilk: Option<Tested>,
    /// Distributions fitted to the values, the likeliest first.
    pub fits: Vec<Fit>,
    /// (mean − min)/mean, a share.
    pub mean_over_min: Option<f64>,
    /// Standard deviations from the smallest value up to the mean.
    pub min_sigmas: Option<f64>,
    /// Standard deviations from the mean up to the largest value.
    pub max_sigmas: Option<f64>,
    /// The samples of the first half of the run; `None` for a single sample.
    pub first_half: Option<FirstHalf>,
}

/// The first half of one side's samples, to be laid over the whole.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstHalf {
    /// Median, in the unit of the metric.
    pub median: f64,
    /// As [`SideFigures::percentiles`].
    pub percentiles: Vec<f64>,
    /// Kolmogorov–Smirnov distance from the second half; naive.
    pub against_second: Option<Tested>,
}

/// A test statistic, a pure number, and its two-sided p-value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tested {
    /// The statistic.
    pub statistic: f64,
    /// The p-value.
    pub p: f64,
}

named! {
    /// A shape with a location and a scale.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Family: name(self) {
        /// Location is the mean, scale the standard deviation.
        Normal = "normal",
        /// The same of the logarithms.
        LogNormal = "log-normal",
        /// Location is the mode, the standard deviation scale·π/√6.
        Gumbel = "gumbel",
    }
}

/// The member of a family under which the values are the most likely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Of which family.
    pub family: Family,
    /// In the unit of the metric; of its logarithm for the log-normal.
    pub location: f64,
    /// As the location.
    pub scale: f64,
    /// Σ ln density; it depends on the unit, so only differences between families mean anything.
    pub log_likelihood: f64,
}

/// A change and the interval that a method gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// ln(candidate/baseline).
    pub effect: LogRatio,
    /// At the confidence 1 − α; `None` where there is none.
    pub interval: Option<Interval>,
}

/// The two sides compared by other methods.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BetweenFigures {
    /// Of the minima.
    pub min: Option<LogRatio>,
    /// Of the medians.
    pub median: Option<LogRatio>,
    /// Of the means.
    pub mean: Option<LogRatio>,
    /// The median of all ratios of a candidate's sample to a baseline's (Hodges–Lehmann); its
    /// interval is naive.
    pub shift: Option<Change>,
    /// Which of a pair was larger, with the sign test; naive.
    pub pairs: Option<PairSigns>,
    /// Welch's test of the logarithms; naive.
    pub welch: Option<TTested>,
    /// Student's test of the logarithms; naive.
    pub student: Option<TTested>,
    /// Student's test of the paired differences of logarithms; naive.
    pub student_paired: Option<TTested>,
    /// z and the normal p-value of the mean paired difference; naive.
    pub z_paired: Option<Tested>,
    /// Wilcoxon's signed ranks of the block effects.
    pub signed_rank: Option<SignedRanks>,
    /// Mann–Whitney U of the samples; naive.
    pub mann_whitney: Option<RankSums>,
    /// The p-value of the rank-sum test without corrections; naive.
    pub rank_sum_p: Option<f64>,
    /// Distance of the two distributions; naive.
    pub kolmogorov_smirnov: Option<Tested>,
    /// Wasserstein-1 distance of the two distributions as a share of the median of both.
    pub wasserstein: Option<f64>,
    /// Outlying paired differences by direction.
    pub opposite_peaks: Option<OppositePeaks>,
}

/// A t test of a difference of logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TTested {
    /// The difference as a change.
    pub change: Change,
    /// The difference in standard errors.
    pub t: f64,
    /// Degrees of freedom.
    pub df: f64,
    /// Two-sided.
    pub p: f64,
}

/// Number of pairs in which the candidate's value was below, at and above the baseline's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairSigns {
    /// Below: the candidate needed less.
    pub less: usize,
    /// Equal.
    pub equal: usize,
    /// Above.
    pub greater: usize,
    /// The sign test.
    pub p: f64,
}

/// Ranks of the sizes of block effects, summed by sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedRanks {
    /// Of effects below zero: the candidate needed less.
    pub less: f64,
    /// Of effects above zero.
    pub greater: f64,
    /// Exact up to 200 effects, normal beyond.
    pub p: f64,
}

/// All pairs of a baseline's and a candidate's sample, by which is larger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankSums {
    /// Pairs whose baseline value is the larger one, ties counted half.
    pub u_baseline: f64,
    /// Pairs whose candidate value is the larger one, ties counted half.
    pub u_candidate: f64,
    /// Exact for small samples, normal with corrections beyond.
    pub p: f64,
}

/// Paired differences further than five scaled MADs from their median.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OppositePeaks {
    /// Below: the baseline was hit.
    pub below: usize,
    /// Above: the candidate was hit.
    pub above: usize,
    /// That a peak is as likely to go either way; `None` without peaks.
    pub p: Option<f64>,
}

/// The steadiness of the effect over the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StabilityFigures {
    /// θ̂ of the first half of the replicates (of the blocks, where there is one replicate only).
    pub first_half: Option<LogRatio>,
    /// θ̂ of the rest.
    pub second_half: Option<LogRatio>,
    /// Where the scatter of the block effects comes from; `None` where every replicate is a single
    /// block.
    pub spread: Option<Spread>,
}

/// Standard deviations of block effects, in log-ratio units, of the effects as the estimate sees
/// them: limited to 1.5 scales around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Of blocks within their replicate.
    pub within: f64,
    /// Between replicates, beyond what their blocks explain: what placement and process alone do.
    pub between: f64,
}

named! {
    /// The unit of a whole step of a histogram.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum HistogramUnit: name(self) {
        /// The unit that tools take for granted.
        Nanoseconds = "nanoseconds",
        /// Where whole nanoseconds would lose digits.
        Picoseconds = "picoseconds",
    }
}

impl HistogramUnit {
    /// The number of units in a millisecond.
    pub fn per_millisecond(self) -> u64 {
        match self {
            HistogramUnit::Nanoseconds => 1_000_000,
            HistogramUnit::Picoseconds => 1_000_000_000,
        }
    }
}

/// High dynamic range histograms of the wall times of a run, all of one shape, so that they can be
/// laid over each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histograms {
    /// Of the values of all of them.
    pub unit: HistogramUnit,
    /// Decimal digits to which values are told apart, 1 to 5.
    pub significant_digits: u8,
    /// The largest value they have a bucket for, at least 2 and below 2⁶³. The smallest told apart
    /// from 0 is 1.
    pub highest: u64,
    /// One per contender that ran, in the order of the plan.
    pub contenders: Vec<ContenderHistogram>,
}

/// Times of a contender counted by size, one count per sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContenderHistogram {
    /// The benchmark, as an index into the plan.
    pub benchmark: usize,
    /// The contender.
    pub contender: ContenderId,
    /// The largest value that was counted.
    pub largest: u64,
    /// The count of every bucket, the lowest first, up to the highest bucket that holds something.
    pub counts: Vec<u64>,
}
