//! The baseline against its second copy: what the race makes of no difference.
//!
//! A control is judged where the race of its benchmark ended, as a candidate
//! would be, and has no say in when that is. What that look spends it pays for,
//! since the end depends on a baseline that both have in common.

use deadheat_model::{Comparison, Control, Warning};
use deadheat_stats::holm;

use crate::analyse::excludes_zero;
use crate::decision::FinalDecision;
use crate::effect_estimate::{EffectEstimate, Level, estimate_effect};
use crate::effects::Effects;
use crate::formula::Formula;
use crate::per_benchmark::Raced;
use crate::stopping::estimate;

/// The baseline of a benchmark against its second copy.
pub(crate) struct ControlComparison {
    effect_estimate: EffectEstimate,
    /// Paid for the looks; `None` where there is too little to judge by.
    pub(crate) p_value: Option<f64>,
}

impl ControlComparison {
    /// `None` without a control, or when no effect can be formed.
    pub(crate) fn new(raced: &Raced<'_>, final_decision: &FinalDecision) -> Option<Self> {
        let (header, index) = (&raced.run.header, raced.index);
        let plan = &header.plan;
        let benchmark = &plan.benchmarks[index];
        let mut effects = Effects::new(plan.judged(index), benchmark.control()?, header);
        effects.extend(raced.samples);
        // With nobody to decide on, when the race ended was known before.
        let (level, weight) = match final_decision.level {
            Level::Nominal(_) if benchmark.rivals() == 1 => {
                (Level::Nominal(plan.alpha(index)), 1.0)
            }
            level => (level, final_decision.weight),
        };
        let effect_estimate = estimate_effect(
            &effects,
            raced.samples,
            final_decision.used,
            level,
            Formula::of(header, index),
            plan.margin(index),
        )?;
        // Nobody is called different by what would not do for a verdict.
        let enough = effect_estimate.call.is_some();
        let p_value = effect_estimate.p_value.filter(|_| enough);
        Some(Self {
            p_value: p_value.map(|p| (p / weight).min(1.0)),
            effect_estimate,
        })
    }

    /// What is known before the other controls of the run are.
    pub(crate) fn control(&self) -> Control {
        Control {
            estimate: estimate(&self.effect_estimate),
            separated: false,
        }
    }
}

/// Says which controls separated, paid for by all of them, so that chance
/// alone separates any in at most α of runs; one does, and every verdict of the
/// run is provisional. `p_values` are those of the controls, one per benchmark.
pub(crate) fn judge_the_controls(
    benchmarks: &mut [Vec<Comparison>],
    p_values: &[Option<f64>],
    alpha: f64,
) {
    let judged: Vec<(usize, f64)> = p_values
        .iter()
        .enumerate()
        .filter_map(|(index, p)| Some((index, (*p)?)))
        .collect();
    let adjusted = holm(&judged.iter().map(|(_, p)| *p).collect::<Vec<f64>>());
    let mut separated = 0;
    let mut least: Option<(f64, usize)> = None;
    for ((index, p), adjusted) in judged.iter().zip(adjusted) {
        let found = benchmarks[*index].iter_mut().filter_map(|one| {
            let control = one.control.as_mut()?;
            let interval = control.estimate.interval;
            let ends = interval.map(|interval| (interval.low.0, interval.high.0));
            control.separated = adjusted <= alpha && excludes_zero(ends);
            Some(control.separated)
        });
        if found.fold(false, |any, separated| any | separated) {
            separated += 1;
            if least.is_none_or(|(other, _)| *p < other) {
                least = Some((*p, *index));
            }
        }
    }
    let Some(first) = least.and_then(|(_, index)| benchmarks[index].first()) else {
        return;
    };
    let Some(control) = first.control else {
        return;
    };
    let warning = Warning::ControlSeparated {
        benchmark: first.benchmark.clone(),
        change: control.estimate.effect.change(),
        separated,
        of: judged.len(),
    };
    for comparison in benchmarks.iter_mut().flatten() {
        comparison.provisional |= comparison.verdict.is_some();
        comparison.warnings.insert(0, warning.clone());
    }
}
