//! Which rule judges a benchmark, and what came of it.

use deadheat_model::{Estimate, LookEstimate, Looks, Origin, Run, Samples};
use deadheat_stats::adjusted_p;

use crate::analyse::Options;
use crate::effect_estimate::{EffectEstimate, Level};
use crate::looks::planned_looks;
use crate::stopping::{BenchmarkState, Scan, estimate};

/// By which rule a benchmark is judged, and what came of it.
pub(crate) struct FinalDecision {
    /// One per candidate.
    pub(crate) effect_estimates: Vec<Option<EffectEstimate>>,
    /// One per candidate, paid for the looks.
    pub(crate) p_values: Vec<Option<f64>>,
    /// How wide the interval of a candidate that is alone would be.
    pub(crate) level: Level,
    /// The share of α that the look spends which ended the race; 1 where no
    /// other was possible.
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
            let p_values = effect_estimates
                .iter()
                .map(|j| j.as_ref()?.p_value)
                .collect();
            let anytime = matches!(level, Level::Anytime(_));
            FinalDecision {
                effect_estimates,
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
            // A scan has taken one look at least.
            let last = scan.looks.len().saturating_sub(1);
            FinalDecision {
                effect_estimates: scan.effect_estimates,
                p_values,
                level: Level::Nominal(looks.levels[last]),
                weight: weights[last],
                anytime: false,
                budget_spent,
                used: scan.at,
                looks: scan.looks,
            }
        };
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

/// A planned look that a race took, judged again.
#[derive(Clone, Debug, PartialEq)]
pub struct LookTaken {
    /// Replicates looked at.
    pub replicates: usize,
    /// One per candidate; `None` when there was nothing to form an effect
    /// from.
    pub estimates: Vec<Option<Estimate>>,
}

impl LookTaken {
    pub(crate) fn of(replicates: usize, effect_estimates: &[Option<EffectEstimate>]) -> Self {
        let estimates = effect_estimates.iter().map(|j| j.as_ref().map(estimate));
        LookTaken {
            replicates,
            estimates: estimates.collect(),
        }
    }
}

/// Every look a race took at a benchmark, up to the one that ended it: the
/// intervals that the promise "all of them hold the truth" speaks of. None
/// for a benchmark the plan does not know.
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
