//! Plots made by hand: two sides whose values follow from their place.

use deadheat_model::{
    Analysis, BoxPlot, DensityCurve, Difference, DifferenceSeries, Distribution, Family, Flags,
    LogRatio, LookEstimate, PairCloud, PairPoint, Plots, ReplicateEstimate,
};

use crate::fixtures::*;

/// Blocks of every replicate.
const BLOCKS: u32 = 5;
const REPLICATES: u32 = 8;
pub const POINTS: u32 = BLOCKS * REPLICATES;

/// A number between -1 and 1 that looks drawn.
fn scatter(place: u32) -> f64 {
    (f64::from(place) * 2.399_963).sin()
}

fn difference(position: u32) -> Difference {
    let wild = if position == 13 { 400.0 } else { 1.0 };
    Difference {
        position,
        replicate: position / BLOCKS,
        block: position % BLOCKS,
        effect: LogRatio(0.096 + 0.006 * wild * scatter(position)),
        baseline_first: position.is_multiple_of(2),
        baseline_flags: Flags::NONE,
        candidate_flags: if position % 17 == 3 {
            Flags::PREEMPTED
        } else {
            Flags::NONE
        },
        dropped: position % 17 == 3,
    }
}

fn distribution(median: f64, edges: &[f64]) -> Distribution {
    let bins = edges.len() - 1;
    let hill = |bin: usize, high: f64| {
        let middle = (edges[bin] + edges[bin + 1]) / 2.0;
        let far = (middle / median - 1.0) / 0.02;
        high * (-far * far / 2.0).exp()
    };
    let curve = |family, shift: f64| DensityCurve {
        family,
        points: (0..bins)
            .map(|bin| (edges[bin], hill(bin, 11.0 + shift)))
            .collect(),
    };
    let quantile = |step: i32| f64::from(step) * 0.25;
    Distribution {
        counts: (0..bins).map(|bin| hill(bin, 12.0) as u32).collect(),
        first_half: (0..bins).map(|bin| hill(bin, 13.5).round()).collect(),
        below: 0,
        above: 1,
        curves: vec![
            curve(Family::LogNormal, 0.0),
            curve(Family::Normal, -1.0),
            curve(Family::Gumbel, 1.0),
        ],
        box_plot: Some(BoxPlot {
            whisker_low: median * 0.95,
            lower: median * 0.985,
            median,
            upper: median * 1.015,
            whisker_high: median * 1.05,
            outliers: vec![median * 1.07, median * 3.0],
            beyond: 2,
        }),
        violin: (0..bins).map(|bin| (edges[bin], hill(bin, 1.0))).collect(),
        ecdf: (0..=20)
            .map(|step| {
                let share = f64::from(step) / 20.0;
                (median * (0.95 + 0.1 * share), share)
            })
            .collect(),
        normal_quantiles: (-8..=8)
            .map(|step| (quantile(step), median.ln() + 0.02 * quantile(step)))
            .collect(),
        normal_line: Some((median.ln(), 0.02)),
    }
}

/// Everything there can be to draw of a comparison.
pub fn plots() -> Plots {
    let edges: Vec<f64> = (0..=24)
        .map(|edge| 640.0e3 + 6.0e3 * f64::from(edge))
        .collect();
    let drift = (0..REPLICATES).map(|replicate| (replicate * BLOCKS, LogRatio(0.095)));
    let look = |replicates: u32| LookEstimate {
        replicates,
        estimate: estimate(0.1012, 0.04 / f64::from(replicates)),
    };
    Plots {
        differences: Some(DifferenceSeries {
            points: (0..POINTS).map(difference).collect(),
            blocks: POINTS,
            starts: (0..REPLICATES)
                .map(|replicate| replicate * BLOCKS)
                .collect(),
            drift: drift.collect(),
        }),
        pairs: Some(PairCloud {
            points: (0..POINTS)
                .map(|place| PairPoint {
                    baseline: 685.9e3 * (1.0 + 0.02 * scatter(place)),
                    candidate: 755.3e3 * (1.0 + 0.02 * scatter(place + 1)),
                    baseline_first: place.is_multiple_of(2),
                })
                .collect(),
            pairs: POINTS,
        }),
        replicates: (0..REPLICATES)
            .map(|replicate| ReplicateEstimate {
                replicate,
                effect: LogRatio(0.096 + 0.003 * scatter(replicate)),
                low: LogRatio(0.09),
                high: LogRatio(0.102),
                blocks: BLOCKS,
            })
            .collect(),
        looks: [4, 6, 8].map(look).to_vec(),
        baseline: distribution(685.9e3, &edges),
        candidate: Some(distribution(755.3e3, &edges)),
        edges,
    }
}

/// An analysis with everything to draw of every comparison.
pub fn drawn(mut analysis: Analysis) -> Analysis {
    for comparison in &mut analysis.comparisons {
        let mut plots = plots();
        if comparison.candidate.is_none() {
            plots.candidate = None;
            plots.differences = None;
            plots.pairs = None;
            plots.replicates.clear();
            plots.looks.clear();
        }
        comparison.plots = Some(Box::new(plots));
    }
    analysis
}
