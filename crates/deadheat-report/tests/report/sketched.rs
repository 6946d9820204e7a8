//! Comparisons with something to draw, made by hand.

use deadheat_model::{
    Analysis, Difference, DifferenceSeries, Distribution, Flags, LogRatio, Plots, Verdict,
};

use crate::fixtures::*;

/// Samples of a bell around the middle of so many bins, `shift` bins off, and
/// of a tail to the right.
fn distribution(bins: u32, shift: f64) -> Distribution {
    let count = |bin: u32| {
        let z = (f64::from(bin) - f64::from(bins) / 2.0 - shift) / (f64::from(bins) / 9.0);
        let tail = if z > 0.0 { 6.0 * (-z).exp() } else { 0.0 };
        (60.0 * (-z * z / 2.0).exp() + tail) as u32
    };
    Distribution {
        counts: (0..bins).map(count).collect(),
        above: 3,
        ..Distribution::default()
    }
}

/// A difference of two per cent that drifts a little, in six replicates of
/// thirty blocks; two blocks were left out, and one lies far off.
fn differences() -> DifferenceSeries {
    let point = |position: u32| {
        let wobble = f64::from(position * 37 % 41) / 41.0 - 0.5;
        let layout = f64::from(position / 30 * 7 % 5) / 5.0 - 0.5;
        let effect = match position {
            77 => 0.31,
            _ => -0.02 + 0.012 * wobble + 0.008 * layout,
        };
        Difference {
            position,
            replicate: position / 30,
            block: position % 30,
            effect: LogRatio(effect),
            baseline_first: position.is_multiple_of(2),
            baseline_flags: Flags::NONE,
            candidate_flags: match position {
                50 | 120 => Flags::PREEMPTED,
                _ => Flags::NONE,
            },
            dropped: position == 50 || position == 120,
        }
    };
    DifferenceSeries {
        points: (0..180).map(point).collect(),
        blocks: 180,
        starts: (0..6).map(|replicate| replicate * 30).collect(),
        drift: Vec::new(),
    }
}

/// Plots of a race.
pub fn plots(bins: u32) -> Plots {
    let edge = |bin: u32| 640e3 + f64::from(bin) * 90e3 / f64::from(bins);
    Plots {
        differences: Some(differences()),
        pairs: None,
        replicates: Vec::new(),
        looks: Vec::new(),
        edges: (0..=bins).map(edge).collect(),
        baseline: distribution(bins, f64::from(bins) / 12.0),
        candidate: Some(distribution(bins, -f64::from(bins) / 12.0)),
    }
}

/// A race of two commands with plots of so many bins.
pub fn drawn(bins: u32) -> Analysis {
    let mut one = comparison(Some(Verdict::Faster), -0.0213, 0.0041);
    one.warnings = vec![];
    one.plots = Some(Box::new(plots(bins)));
    analysis(vec![one])
}
