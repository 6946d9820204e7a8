//! The plots of a comparison: points and curves, not pictures.
//!
//! All series are thinned to what an eye can distinguish, so that a million samples take as little
//! space as a thousand. Thinning is for drawing only: the numbers that reports print are computed
//! from all samples. Values are per iteration, in the unit of the judged metric; all numbers are
//! finite.

use crate::estimate::{Estimate, LogRatio};
use crate::figures::Family;
use crate::samples::Flags;

/// The plots of one comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Plots {
    /// The effects of the blocks, in the order they were run; `None` if the samples are not paired,
    /// or if too many values are zero to form ratios.
    pub differences: Option<DifferenceSeries>,
    /// Pairs of neighbouring samples of the two sides; `None` if the samples are not paired.
    pub pairs: Option<PairCloud>,
    /// The estimate of every replicate, in the order run, thinned; empty if the samples are not
    /// paired.
    pub replicates: Vec<ReplicateEstimate>,
    /// The interval at every look, the earliest first; empty if the race was not judged at planned
    /// looks.
    pub looks: Vec<LookEstimate>,
    /// The ascending edges of the bins in which both sides are counted, one more edge than bins;
    /// empty without samples.
    pub edges: Vec<f64>,
    /// The baseline.
    pub baseline: Distribution,
    /// The candidate; `None` if the benchmark has only one contender.
    pub candidate: Option<Distribution>,
}

impl Plots {
    /// Returns the distributions of the sides, the baseline first.
    pub fn sides(&self) -> impl Iterator<Item = &Distribution> {
        std::iter::once(&self.baseline).chain(&self.candidate)
    }
}

/// The effects of the blocks of all judged replicates, in the order they were run.
#[derive(Clone, Debug, PartialEq)]
pub struct DifferenceSeries {
    /// Blocks, thinned. Thinning keeps excluded blocks and the extreme values of every section, as
    /// far as the limit on the number of points allows.
    pub points: Vec<Difference>,
    /// Number of blocks before thinning.
    pub blocks: u32,
    /// Position of the first block of every replicate, thinned like the points. Empty for commands,
    /// where every block is a replicate.
    pub starts: Vec<u32>,
    /// Running median of the effects of neighbouring blocks that were not excluded, which shows
    /// drift: pairs of a position and the median around it. Empty if there are too few blocks.
    pub drift: Vec<(u32, LogRatio)>,
}

/// The effect of one block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Position among all blocks of the benchmark, counted from 0.
    pub position: u32,
    /// Index of the replicate that the block belongs to.
    pub replicate: u32,
    /// Position of the block in its replicate.
    pub block: u32,
    /// The effect.
    pub effect: LogRatio,
    /// True if the baseline ran first: ABBA, not BAAB. In a block of more than two contenders, true
    /// if it ran before the candidate.
    pub baseline_first: bool,
    /// Evidence of disturbance of the baseline's samples.
    pub baseline_flags: Flags,
    /// Evidence of disturbance of the candidate's samples.
    pub candidate_flags: Flags,
    /// True if evidence of disturbance excluded the block from the estimate.
    pub dropped: bool,
}

/// Neighbouring samples of the two sides, one point per pair.
#[derive(Clone, Debug, PartialEq)]
pub struct PairCloud {
    /// Pairs, thinned.
    pub points: Vec<PairPoint>,
    /// Number of pairs before thinning.
    pub pairs: u32,
}

/// Two samples that were neighbours in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairPoint {
    /// The baseline's value.
    pub baseline: f64,
    /// The candidate's value.
    pub candidate: f64,
    /// True if the baseline's sample was taken first: AB, not BA.
    pub baseline_first: bool,
}

/// The estimate of one replicate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplicateEstimate {
    /// Index of the replicate.
    pub replicate: u32,
    /// The median of the effects of the replicate's blocks that were not excluded.
    pub effect: LogRatio,
    /// Lower quartile of the effects of the replicate's blocks that were not excluded.
    pub low: LogRatio,
    /// Upper quartile of the effects of the replicate's blocks that were not excluded.
    pub high: LogRatio,
    /// Number of blocks of the replicate that were not excluded.
    pub blocks: u32,
}

/// The estimate at one look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LookEstimate {
    /// Number of replicates at the look.
    pub replicates: u32,
    /// The estimate at the look.
    pub estimate: Estimate,
}

/// The distribution of the values of one side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    /// Number of samples in each bin.
    pub counts: Vec<u32>,
    /// Samples of the first half of the run in each bin, scaled so that their total equals that of
    /// all samples; empty for a single sample.
    pub first_half: Vec<f64>,
    /// Number of samples below the first edge.
    pub below: u32,
    /// Number of samples at or above the last edge.
    pub above: u32,
    /// Fitted densities over the range of the bins.
    pub curves: Vec<DensityCurve>,
    /// Quartiles and whiskers; `None` without samples.
    pub box_plot: Option<BoxPlot>,
    /// A smooth density for a violin plot, over the part of the bins' range in which this side has
    /// values: pairs of a value and its density, scaled to a maximum of 1. Empty if all values are
    /// equal.
    pub violin: Vec<(f64, f64)>,
    /// The empirical distribution function, thinned: pairs of a value and the share of samples at
    /// or below it.
    pub ecdf: Vec<(f64, f64)>,
    /// A normal plot of the logarithms, thinned: pairs of a standard normal quantile and ln of the
    /// value there. Empty if too many values are zero to take logarithms.
    pub normal_quantiles: Vec<(f64, f64)>,
    /// Intercept and slope of the line through the quartiles of `normal_quantiles`. All points are
    /// on it if ln t is normal.
    pub normal_line: Option<(f64, f64)>,
}

impl Distribution {
    /// Returns the number of samples outside the bins.
    pub fn outside(&self) -> u64 {
        u64::from(self.below) + u64::from(self.above)
    }

    /// Returns the number of all samples, inside and outside the bins.
    pub fn samples(&self) -> u64 {
        let inside = self.counts.iter().map(|count| u64::from(*count));
        inside.sum::<u64>() + self.outside()
    }
}

/// A fitted density, as the number of samples that it predicts for a bin around each value. The
/// curve can therefore be drawn over the histogram.
#[derive(Clone, Debug, PartialEq)]
pub struct DensityCurve {
    /// The fitted family.
    pub family: Family,
    /// Pairs of a value and the predicted count.
    pub points: Vec<(f64, f64)>,
}

/// A box plot as defined by Tukey.
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
    /// Values beyond the whiskers, thinned; the extreme values are kept.
    pub outliers: Vec<f64>,
    /// Number of values beyond the whiskers before thinning.
    pub beyond: u32,
}
