//! Rows of saved results that lie apart from the others.
//!
//! One recording a side gives no verdict. But where it holds many benchmarks,
//! most of which did not change, the scatter of their effects is what two
//! recordings differ by anyway, and a row far beyond it deserves a race first.
//!
//! The rule, which was fixed before any data were looked at: ten rows or more;
//! further from their median than 3.5 scaled median absolute deviations
//! (Iglewicz and Hoaglin 1993), and than the margin.

use deadheat_model::{Comparison, LogRatio, Warning};
use deadheat_stats::summary::{median, scaled_mad};

/// Fewer rows say nothing of each other.
const LEAST_ROWS: usize = 10;

/// So many deviations from the middle.
const FAR: f64 = 3.5;

/// Marks the rows that stand out among those of their candidate that have an
/// effect and no verdict.
pub(crate) fn stands_out(comparisons: &mut [Comparison]) {
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    for (place, one) in comparisons.iter().enumerate() {
        let single = |warning: &Warning| matches!(warning, Warning::FewObservations { .. });
        let candidate = one.candidate.as_ref().filter(|_| one.estimate.is_some());
        let Some(candidate) = candidate.filter(|_| one.warnings.iter().any(single)) else {
            continue;
        };
        match groups.iter_mut().find(|(name, _)| *name == candidate.name) {
            Some((_, places)) => places.push(place),
            None => groups.push((candidate.name.clone(), vec![place])),
        }
    }
    for (_, places) in groups.iter().filter(|(_, all)| all.len() >= LEAST_ROWS) {
        let effect = |place: &usize| comparisons[*place].estimate.as_ref().map(|e| e.effect.0);
        let effects: Vec<f64> = places.iter().filter_map(effect).collect();
        let Some((middle, scale)) = median(&effects).zip(scaled_mad(&effects)) else {
            continue;
        };
        for (place, effect) in places.iter().zip(effects) {
            let one = &mut comparisons[*place];
            let apart = (effect - middle).abs();
            // Where most rows are exactly alike there is no scale, and z would
            // be no number.
            let z = apart / scale;
            if apart > LogRatio::from_change(one.margin).0 && z > FAR && z.is_finite() {
                one.warnings.push(Warning::StandsOut { z });
            }
        }
    }
}
