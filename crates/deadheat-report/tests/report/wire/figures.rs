//! Secondary figures.

use schemars::JsonSchema;
use serde::Deserialize;

use super::numbers::{Amount, Change, Interval, Positive, Probability, Share};
use super::presence::Nullable;

/// Figures called naive assume that all samples are independent; samples of one
/// process are not.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    baseline: SideFigures,
    /// null for a contender that ran alone.
    candidate: Nullable<SideFigures>,
    /// null for a contender that ran alone.
    between: Nullable<BetweenFigures>,
    /// How steady the effect was over the run; null without pairs.
    stability: Nullable<Stability>,
}

/// The distribution of one side. Values are per iteration, in the unit of the
/// metric.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SideFigures {
    percentiles: Percentiles,
    /// Of the logarithms; a number without a unit.
    log_skewness: Nullable<f64>,
    /// Of the logarithms; a number without a unit.
    log_excess_kurtosis: Nullable<f64>,
    /// W of the logarithms, naive; null beyond 5,000 samples.
    shapiro_wilk: Nullable<Tested>,
    /// Distributions fitted by maximum likelihood, the likeliest first.
    fits: Vec<Fit>,
    /// (mean - min)/mean.
    mean_over_min: Nullable<Share>,
    /// Standard deviations from the mean down to the smallest value.
    min_sigmas: Nullable<Amount>,
    /// Standard deviations from the mean up to the largest value.
    max_sigmas: Nullable<Amount>,
    /// The first half of the samples, to compare with all of them; null for a
    /// single sample.
    first_half: Nullable<FirstHalf>,
}

/// Percentiles 1 to 99 of a histogram with three significant digits; empty
/// without samples.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("maxItems" = 99))]
struct Percentiles(Vec<Amount>);

/// A statistic (a number without a unit) with its two-sided p-value.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Tested {
    statistic: f64,
    p_value: Probability,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Fit {
    family: Family,
    /// In the unit of the metric; of its natural logarithm for the log-normal.
    location: f64,
    /// In the unit of the location.
    scale: Positive,
    /// Only differences between families are meaningful.
    log_likelihood: f64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
enum Family {
    Normal,
    LogNormal,
    Gumbel,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct FirstHalf {
    /// In the unit of the metric.
    median: Amount,
    percentiles: Percentiles,
    /// Kolmogorov-Smirnov distance from the other half, naive.
    against_second: Nullable<Tested>,
}

/// Comparisons of the two sides by other methods. Changes are
/// candidate/baseline - 1; intervals have the confidence 1 - alpha. Values that
/// cannot be computed are null.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BetweenFigures {
    min_change: Nullable<Change>,
    median_change: Nullable<Change>,
    mean_change: Nullable<Change>,
    /// Hodges-Lehmann: the median of all ratios of a candidate's sample to a
    /// baseline's; the interval is naive.
    shift: Nullable<Shift>,
    /// Pairs of neighbours in a block in which the candidate's value is less
    /// than, equal to and greater than the baseline's, and the sign test;
    /// naive. null without pairs.
    pairs: Nullable<Pairs>,
    /// Welch's t test of the logarithms; naive.
    welch: Nullable<TTest>,
    /// Student's t test of the logarithms; naive.
    student: Nullable<TTest>,
    /// Student's t test of the differences of logarithms within pairs; naive.
    student_paired: Nullable<TTest>,
    /// The mean of the differences of logarithms within pairs, divided by its
    /// standard error, by the normal distribution; naive.
    z_paired: Nullable<Tested>,
    /// Wilcoxon's rank sums of the block effects below and above zero.
    signed_rank: Nullable<SignedRank>,
    /// All pairs of a baseline's and a candidate's sample, by which sample is
    /// larger; ties count half; naive.
    mann_whitney: Nullable<MannWhitney>,
    /// The p-value of the rank sums without corrections for ties and
    /// continuity; naive.
    rank_sum_p: Nullable<Probability>,
    /// The largest distance of the two distribution functions; naive.
    kolmogorov_smirnov: Nullable<Tested>,
    /// Wasserstein-1 distance as a share of the median of both sides.
    wasserstein: Nullable<Amount>,
    /// Numbers of paired differences more than five scaled MADs below and above
    /// their median, and the test that both are equally likely (`p_value` is
    /// null without any).
    opposite_peaks: Nullable<OppositePeaks>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Shift {
    change: Change,
    /// null if the data do not allow an interval.
    ci: Nullable<Interval>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Pairs {
    less: u64,
    equal: u64,
    greater: u64,
    p_value: Probability,
}

/// A t test; impossible without spread, or with fewer than two values on a
/// side.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TTest {
    change: Change,
    /// null if the data do not allow an interval.
    ci: Nullable<Interval>,
    /// ln(1 + change).
    log_difference: f64,
    /// The interval of `log_difference`.
    log_ci: Nullable<(f64, f64)>,
    t: f64,
    /// Degrees of freedom; rarely whole for Welch's test.
    df: Positive,
    p_value: Probability,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct SignedRank {
    less: Amount,
    greater: Amount,
    p_value: Probability,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct MannWhitney {
    u_baseline: Amount,
    u_candidate: Amount,
    p_value: Probability,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct OppositePeaks {
    below: u64,
    above: u64,
    p_value: Nullable<Probability>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Stability {
    /// The estimate of the first half of the replicates, or of the blocks if
    /// there is only one replicate.
    first_half_change: Nullable<Change>,
    /// The estimate of the rest.
    second_half_change: Nullable<Change>,
    /// Standard deviations of block effects, as relative changes; null if every
    /// replicate is a single block.
    spread: Nullable<Spread>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Spread {
    /// The standard deviation of blocks within their replicate.
    within: Amount,
    /// The standard deviation between replicates beyond that of their blocks:
    /// the effect of placement and process.
    between: Amount,
}
