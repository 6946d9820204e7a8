//! The plots of a comparison: points and curves, not pictures.
//!
//! Everything is thinned to what an eye can tell apart, so that a million samples take no more room
//! than a thousand. Values are per iteration, in the unit of the metric judged; all numbers are
//! finite. Thinning is for drawing only: every figure beside a plot is worked out from all samples.

use crate::estimate::{Estimate, LogRatio};
use crate::figures::Family;
use crate::samples::Flags;

/// The plots of one comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Plots {
    /// The paired differences that were judged, in the order they were run; `None` without pairs,
    /// and where zeros forbid ratios.
    pub differences: Option<DifferenceSeries>,
    /// Baseline against candidate; `None` without pairs.
    pub pairs: Option<PairCloud>,
    /// The estimate of every replicate, in the order run, thinned; empty without pairs.
    pub replicates: Vec<ReplicateEstimate>,
    /// The interval at every look taken, the earliest first; empty where the race was judged by
    /// another rule than planned looks.
    pub looks: Vec<LookEstimate>,
    /// Edges of the bins that both sides are counted in, rising; one more than there are bins, and
    /// empty without samples.
    pub edges: Vec<f64>,
    /// The baseline.
    pub baseline: Distribution,
    /// The candidate; `None` for a contender alone.
    pub candidate: Option<Distribution>,
}

impl Plots {
    /// The distributions of the sides, the baseline first.
    pub fn sides(&self) -> impl Iterator<Item = &Distribution> {
        std::iter::once(&self.baseline).chain(&self.candidate)
    }
}

/// The effects of blocks in the order they were run, of the replicates that were judged.
#[derive(Clone, Debug, PartialEq)]
pub struct DifferenceSeries {
    /// Blocks, thinned; every dropped one, and the extremes of every stretch, are among them as far
    /// as there is room.
    pub points: Vec<Difference>,
    /// Blocks there were before thinning.
    pub blocks: u32,
    /// Positions of the first block of every replicate, thinned like the points. Of whole commands,
    /// where a block is a replicate, it is empty.
    pub starts: Vec<u32>,
    /// Medians of neighbouring blocks, which show where the difference drifts: a position and the
    /// median around it, dropped ones aside; empty where there are too few.
    pub drift: Vec<(u32, LogRatio)>,
}

/// The effect of one block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Its place among all blocks of the benchmark, counted from 0.
    pub position: u32,
    /// Its replicate.
    pub replicate: u32,
    /// Its place in the replicate.
    pub block: u32,
    /// The effect.
    pub effect: LogRatio,
    /// True if the baseline ran first: ABBA, not BAAB; in a row of more than two, whether it ran
    /// before the candidate.
    pub baseline_first: bool,
    /// Evidence of disturbance seen on the baseline's samples.
    pub baseline_flags: Flags,
    /// The same on the candidate's.
    pub candidate_flags: Flags,
    /// True if the block was left out of the estimate for that evidence.
    pub dropped: bool,
}

/// Neighbouring samples of the two sides, one point a pair.
#[derive(Clone, Debug, PartialEq)]
pub struct PairCloud {
    /// Pairs, thinned.
    pub points: Vec<PairPoint>,
    /// Pairs there were before thinning.
    pub pairs: u32,
}

/// Two samples that were neighbours in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairPoint {
    /// The baseline's value.
    pub baseline: f64,
    /// The candidate's value.
    pub candidate: f64,
    /// True if the baseline's was taken first: AB, not BA.
    pub baseline_first: bool,
}

/// The estimate of one replicate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplicateEstimate {
    /// The replicate.
    pub replicate: u32,
    /// The median of the effects of its blocks that were not dropped.
    pub effect: LogRatio,
    /// Their lower quartile.
    pub low: LogRatio,
    /// Their upper quartile.
    pub high: LogRatio,
    /// Number of these.
    pub blocks: u32,
}

/// The estimate at one look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LookEstimate {
    /// Replicates looked at.
    pub replicates: u32,
    /// The evidence seen.
    pub estimate: Estimate,
}

/// The distribution of the values of one side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    /// Samples of each bin.
    pub counts: Vec<u32>,
    /// Samples of the first half of the run in each bin, scaled so that they are as many as all
    /// samples; empty for a single sample.
    pub first_half: Vec<f64>,
    /// Samples below the first edge.
    pub below: u32,
    /// Samples at or above the last edge.
    pub above: u32,
    /// Fitted densities over the range of the bins.
    pub curves: Vec<DensityCurve>,
    /// Quartiles and whiskers; `None` without samples.
    pub box_plot: Option<BoxPlot>,
    /// A smooth density over the part of the range of the bins where this side has values, for a
    /// violin: values and densities, the largest of which is
    /// 1. Empty where all values are equal.
    pub violin: Vec<(f64, f64)>,
    /// Values and the share of samples at or below them, thinned.
    pub ecdf: Vec<(f64, f64)>,
    /// Standard normal quantiles and ln of the value there, thinned; empty where zeros forbid
    /// logarithms.
    pub normal_quantiles: Vec<(f64, f64)>,
    /// Intercept and slope of the line through the quartiles of `normal_quantiles`, where they
    /// would lie if ln t were normal.
    pub normal_line: Option<(f64, f64)>,
}

impl Distribution {
    /// Samples outside the bins.
    pub fn outside(&self) -> u64 {
        u64::from(self.below) + u64::from(self.above)
    }

    /// All samples, those outside the bins too.
    pub fn samples(&self) -> u64 {
        let inside = self.counts.iter().map(|count| u64::from(*count));
        inside.sum::<u64>() + self.outside()
    }
}

/// A fitted density, in the samples it expects in a bin around a value, so that it can be laid over
/// the counts.
#[derive(Clone, Debug, PartialEq)]
pub struct DensityCurve {
    /// Whose density.
    pub family: Family,
    /// Values and expected counts.
    pub points: Vec<(f64, f64)>,
}

/// A box plot after Tukey.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxPlot {
    /// The smallest value within 1.5 interquartile ranges of the box.
    pub whisker_low: f64,
    /// Lower quartile.
    pub lower: f64,
    /// Median.
    pub median: f64,
    /// Upper quartile.
    pub upper: f64,
    /// The largest value within 1.5 interquartile ranges of the box.
    pub whisker_high: f64,
    /// Values beyond the whiskers, thinned; the extremes are among them.
    pub outliers: Vec<f64>,
    /// Values beyond the whiskers before thinning.
    pub beyond: u32,
}
