//! The control, which compares the baseline with a second copy of itself, and the controls of a run
//! that separated (found a difference).

use deadheat_model::{Comparison, Control, Warning};
use deadheat_stats::holm;

use crate::decision::ControlComparison;
use crate::effects::excludes_zero;
use crate::inputs::Inputs;

/// Returns the control. Its `separated` is set later by [`separation`], which needs all controls of
/// the run.
pub(super) fn from_inputs(inputs: &Inputs<'_>) -> Option<Control> {
    inputs.control.map(ControlComparison::control)
}

pub(crate) struct Separation {
    /// One per benchmark: true if its control separated.
    pub(crate) separated: Vec<bool>,
    /// Set if any control separated. Every verdict of the run is then provisional.
    pub(crate) warning: Option<Warning>,
}

/// Finds the controls that separated. Holm's correction over all controls keeps the probability
/// that chance alone separates any of them at most α per run. `p_values` holds the p-value of the
/// control of each benchmark.
pub(crate) fn separation(
    benchmarks: &[&[Comparison]],
    p_values: &[Option<f64>],
    alpha: f64,
) -> Separation {
    let judged: Vec<(usize, f64)> = p_values
        .iter()
        .enumerate()
        .filter_map(|(index, p)| Some((index, (*p)?)))
        .collect();
    let adjusted = holm(&judged.iter().map(|(_, p)| *p).collect::<Vec<f64>>());
    let mut separated = vec![false; benchmarks.len()];
    let mut least: Option<(f64, usize)> = None;
    for ((index, p), adjusted) in judged.iter().zip(adjusted) {
        let mut controls = benchmarks[*index]
            .iter()
            .filter_map(|one| one.aspects.control);
        let interval = controls
            .next()
            .and_then(|control| control.estimate.interval);
        let ends = interval.map(|interval| (interval.low.0, interval.high.0));
        separated[*index] = adjusted <= alpha && excludes_zero(ends);
        if separated[*index] && least.is_none_or(|(other, _)| *p < other) {
            least = Some((*p, *index));
        }
    }
    let warning = least.and_then(|(_, index)| {
        let first = benchmarks[index].first()?;
        Some(Warning::ControlSeparated {
            benchmark: first.benchmark.clone(),
            change: first.aspects.control?.estimate.effect.change(),
            separated: separated.iter().filter(|one| **one).count(),
            of: judged.len(),
        })
    });
    Separation { separated, warning }
}
