//! Which rule judges a benchmark, what came of it, and its control: the baseline against its second
//! copy.
//!
//! A control is judged where the race of its benchmark ended, as a candidate would be, and has no
//! say in when that is. What that look spends it pays for, since the end depends on a baseline that
//! both have in common.

use deadheat_model::{Comparison, Control, LookEstimate, Looks, Origin, Run, Samples, Warning};
use deadheat_stats::{adjusted_p, holm};

use crate::benchmark_state::{BenchmarkState, LookTaken, Scan};
use crate::effect_estimate::{EffectEstimate, Formula, Level, estimate, excludes_zero};
use crate::effects::Effects;
use crate::hosts::estimate_over_hosts;
use crate::looks::planned_looks;
use crate::raced::{Options, Raced};

/// By which rule a benchmark is judged, and what came of it.
pub(crate) struct FinalDecision {
    /// One per candidate.
    pub(crate) effect_estimates: Vec<Option<EffectEstimate>>,
    /// One per candidate, paid for the looks.
    pub(crate) p_values: Vec<Option<f64>>,
    /// One per candidate, paid for the looks by their levels: α times the least p_j over level_j.
    pub(crate) p_looks: Vec<Option<f64>>,
    /// The level of the interval of a candidate that is alone.
    pub(crate) level: Level,
    /// The share of α that the look spends which ended the race; 1 where no other was possible.
    pub(crate) weight: f64,
    pub(crate) anytime: bool,
    /// The budget ran out before the race was decided.
    pub(crate) budget_spent: bool,
    /// Replicates looked at.
    pub(crate) used: usize,
    /// The planned looks that were taken; empty under any other rule.
    pub(crate) looks: Vec<LookTaken>,
}

impl FinalDecision {
    /// Finds the rule that fits how the benchmark came to its end.
    pub(crate) fn of(
        run: &Run,
        index: usize,
        samples: &Samples,
        options: Options,
    ) -> (BenchmarkState, FinalDecision) {
        let plan = &run.header.plan;
        let (alpha, planned_at) = (plan.alpha(index), plan.looks(index));
        let mut benchmark_state = BenchmarkState::new(&run.header, index);
        benchmark_state.extend(samples);
        let all = match benchmark_state.candidates.first() {
            Some(effects) => effects.replicates(),
            None => replicates(samples),
        };
        let recording = run.header.origin != Origin::Race;
        let once = |benchmark_state: &BenchmarkState, level| {
            let effect_estimates = benchmark_state.estimate_effects(samples, all, level);
            let p_values: Vec<Option<f64>> = effect_estimates
                .iter()
                .map(|j| j.as_ref()?.p_value)
                .collect();
            let anytime = matches!(level, Level::Anytime(_));
            FinalDecision {
                effect_estimates,
                p_looks: p_values.clone(),
                p_values,
                level,
                weight: 1.0,
                anytime,
                budget_spent: false,
                used: all,
                looks: Vec::new(),
            }
        };
        let planned = |scan: Scan, looks: &Looks, budget_spent| {
            let weights = &looks.weights;
            let paid = |list: &Vec<f64>| Some(adjusted_p(list, &weights[..list.len()]));
            let p_values = scan.p_values.iter().map(paid).collect();
            let by_levels = |list: &Vec<f64>| {
                let shares = list.iter().zip(&looks.levels).map(|(p, level)| p / level);
                shares
                    .reduce(f64::min)
                    .map(|share| (share * alpha).min(1.0))
            };
            let p_looks = scan.p_values.iter().map(by_levels).collect();
            // A scan has taken one look at least.
            let last = scan.looks.len().saturating_sub(1);
            FinalDecision {
                effect_estimates: scan.effect_estimates,
                p_values,
                p_looks,
                level: Level::Nominal(looks.levels[last]),
                weight: weights[last],
                anytime: false,
                budget_spent,
                used: scan.at,
                looks: scan.looks,
            }
        };
        // Its parts looked at nothing, and all of them are looked at once.
        if benchmark_state.is_of_hosts() {
            let final_decision = once(&benchmark_state, Level::Nominal(alpha));
            return (benchmark_state, final_decision);
        }
        if recording {
            let looks = planned_looks(0, all as u32, alpha).ok();
            let final_decision = match looks.filter(|_| options.replay_looks) {
                Some(looks) => benchmark_state
                    .scan(samples, all, &looks)
                    .map(|scan| planned(scan, &looks, false)),
                None => None,
            };
            let final_decision =
                final_decision.unwrap_or_else(|| once(&benchmark_state, Level::Nominal(alpha)));
            return (benchmark_state, final_decision);
        }
        let complete = benchmark_state.complete_replicates(samples);
        let most = planned_at.max_replicates() as usize;
        let scan = benchmark_state.scan(samples, complete, planned_at);
        let ended_by_plan = !run.went_on(index, samples)
            && scan
                .as_ref()
                .is_some_and(|scan| scan.at == complete && (scan.conclusive || scan.at == most));
        let final_decision = match scan {
            Some(scan) if ended_by_plan => planned(scan, planned_at, false),
            _ if run.left_its_plan() => once(&benchmark_state, Level::Anytime(alpha)),
            Some(scan) => planned(scan, planned_at, true),
            // Cut by its budget before the first look: an interval, no verdict.
            None => {
                let budget_spent = !benchmark_state.candidates.is_empty();
                FinalDecision {
                    budget_spent,
                    ..once(&benchmark_state, Level::Nominal(alpha))
                }
            }
        };
        (benchmark_state, final_decision)
    }
}

impl FinalDecision {
    /// The estimate of one candidate at every planned look that gave one.
    pub(crate) fn looks_at(&self, candidate: usize) -> Vec<LookEstimate> {
        let estimate = |look: &LookTaken| {
            Some(LookEstimate {
                replicates: look.replicates as u32,
                estimate: (*look.estimates.get(candidate)?)?,
            })
        };
        self.looks.iter().filter_map(estimate).collect()
    }
}

/// Replicates that there are samples of.
fn replicates(samples: &Samples) -> usize {
    let mut numbers: Vec<u32> = samples.blocks().iter().map(|b| b.replicate).collect();
    numbers.dedup();
    numbers.len()
}

/// Every look a race took at a benchmark, up to the one that ended it: the intervals that the
/// promise "all of them hold the truth" speaks of. None for a benchmark the plan does not know.
pub fn looks_taken(run: &Run, benchmark: usize) -> Vec<LookTaken> {
    let Some(samples) = run.benchmarks.get(benchmark) else {
        return Vec::new();
    };
    let mut benchmark_state = BenchmarkState::new(&run.header, benchmark);
    benchmark_state.extend(samples);
    let complete = benchmark_state.complete_replicates(samples);
    let looks = run.header.plan.looks(benchmark);
    benchmark_state
        .looks(samples, complete, looks)
        .map(|(replicates, effect_estimates)| LookTaken::of(replicates, &effect_estimates))
        .collect()
}

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
        let mut effects = Effects::new(plan.judged(index), benchmark.control()?, header, index);
        effects.extend(raced.samples);
        // With nobody to decide on, when the race ended was known before.
        let (level, weight) = match final_decision.level {
            Level::Nominal(_) if benchmark.rivals() == 1 => {
                (Level::Nominal(plan.alpha(index)), 1.0)
            }
            level => (level, final_decision.weight),
        };
        let effect_estimate = estimate_over_hosts(
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

    /// The control as known before the other controls of the run are.
    pub(crate) fn control(&self) -> Control {
        Control {
            estimate: estimate(&self.effect_estimate),
            separated: false,
        }
    }
}

/// Says which controls separated, paid for by all of them, so that chance alone separates any in at
/// most α of runs; one does, and every verdict of the run is provisional. `p_values` are those of
/// the controls, one per benchmark.
pub(crate) fn mark_separated_controls(
    benchmarks: &mut [&mut [Comparison]],
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
    for comparison in benchmarks.iter_mut().flat_map(|some| some.iter_mut()) {
        comparison.provisional |= comparison.verdict.is_some();
        comparison.warnings.insert(0, warning.clone());
    }
}
