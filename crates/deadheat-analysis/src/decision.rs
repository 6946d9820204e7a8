//! The decision on a benchmark: which rule judges its effects, the interim analyses (looks) that
//! the race took, and their result. Also its control, which compares the baseline with a second
//! copy of itself.
//!
//! A control is judged at the look that ended the race of its benchmark, like a candidate, but does
//! not influence when the race ends. Its p-value is still adjusted for the looks, because the end
//! of the race depends on the baseline, with which the control is compared.
//!
//! Calculations over many races, such as levels of commits or the probability of a culprit, use
//! effects with their standard errors instead ([`measured_effects`]).

use deadheat_model::{
    Control, Estimate, LogRatio, LookEstimate, Looks, MeasuredEffect, Origin, Run, RunHeader,
    Samples, Verdict,
};
use deadheat_stats::dist::t_critical;
use deadheat_stats::{Level, adjusted_p};

use crate::effects::{EffectEstimate, Effects, estimate};
use crate::hosts::estimate_over_hosts;
use crate::looks::planned_looks;
use crate::raced::{Options, Raced};
use crate::waiting;

/// The state from which a stopping rule judges one benchmark.
#[derive(Clone, Debug)]
pub(crate) struct BenchmarkState {
    /// One list of effects per candidate.
    pub(crate) candidates: Vec<Effects>,
    pub(crate) blocks_per_replicate: usize,
    /// The samples and effects without scheduling delay; `None` if it may not be subtracted.
    waiting_out: Option<WaitingOut>,
    /// The number of comparisons that share the α of a gate. The verdict "slower" ends the race
    /// only if its p-value is at most the level divided by this number.
    family: f64,
}

/// Samples and effects of the judged metric without scheduling delay.
#[derive(Clone, Debug)]
struct WaitingOut {
    samples: Samples,
    candidates: Vec<Effects>,
}

impl BenchmarkState {
    pub(crate) fn new(header: &RunHeader, benchmark: usize) -> Self {
        let plan = &header.plan;
        let judged = plan.judged(benchmark);
        let candidates: Vec<Effects> = plan.benchmarks[benchmark]
            .candidates()
            .map(|id| Effects::new(judged, id, header, benchmark).with_diagnostics())
            .collect();
        let waiting_out = waiting::may_be_taken_out(header, benchmark).then(|| WaitingOut {
            samples: Samples::new(vec![judged.clone()]),
            candidates: candidates.clone(),
        });
        Self {
            candidates,
            blocks_per_replicate: plan.blocks_per_replicate(benchmark) as usize,
            waiting_out,
            family: f64::from(plan.benchmarks[benchmark].family.max(1)),
        }
    }

    pub(crate) fn extend(&mut self, samples: &Samples) {
        for effects in &mut self.candidates {
            effects.extend(samples);
        }
        if let Some(out) = &mut self.waiting_out {
            waiting::extend_without(&mut out.samples, samples);
            for effects in &mut out.candidates {
                effects.extend(&out.samples);
            }
        }
    }

    pub(crate) fn samples_seen(&self, samples: &Samples, replicates: usize) -> usize {
        match self.candidates.first() {
            Some(effects) => effects.samples_seen(replicates),
            None => samples.samples().len(),
        }
    }

    /// Returns the effects by which the first `replicates` replicates are judged, and the samples
    /// that they are computed from. These samples may lack all metrics except the judged one.
    pub(crate) fn judged<'a>(
        &'a self,
        samples: &'a Samples,
        replicates: usize,
    ) -> (&'a [Effects], &'a Samples) {
        match &self.waiting_out {
            Some(out) if waiting::is_taken_out(samples, self.samples_seen(samples, replicates)) => {
                (&out.candidates, &out.samples)
            }
            _ => (&self.candidates, samples),
        }
    }

    /// Returns true for a run that was merged from the parts of several hosts.
    fn is_of_hosts(&self) -> bool {
        let mut candidates = self.candidates.iter();
        candidates.any(|effects| effects.machines().is_some())
    }

    pub(crate) fn complete_replicates(&self, samples: &Samples) -> usize {
        samples.blocks().len() / self.blocks_per_replicate
    }

    /// Judges every candidate on the first `replicates` replicates.
    ///
    /// With k candidates each interval uses 1/k of the level, so that all of them contain the true
    /// effects at the same time. (Holm's step-down, which the adjusted p-values use, protects the
    /// decision "not zero" but not an interval, and "equivalent" is read from the interval.)
    pub(crate) fn estimate_effects(
        &self,
        samples: &Samples,
        replicates: usize,
        level: Level,
    ) -> Vec<Option<EffectEstimate>> {
        let level = level.shared_by(self.candidates.len());
        let (candidates, samples) = self.judged(samples, replicates);
        candidates
            .iter()
            .map(|effects| estimate_over_hosts(effects, samples, replicates, level))
            .collect()
    }

    /// Returns true if a look at this level ends the race: every candidate has a conclusive
    /// verdict, and the p-value of every "slower" is at most the level divided by `family`.
    /// Otherwise the race continues, and its last look counts. The intervals of all looks together
    /// have the confidence of the race, so a later look does not raise the error rate of the
    /// verdict.
    pub(crate) fn settled(&self, estimates: &[Option<EffectEstimate>], level: f64) -> bool {
        let slower = |one: &&EffectEstimate| one.verdict == Some(Verdict::Slower);
        let held = |one: &EffectEstimate| one.p_value.is_none_or(|p| p <= level / self.family);
        let mut slower = estimates.iter().flatten().filter(slower);
        all_conclusive(estimates) && (self.family <= 1.0 || slower.all(held))
    }

    /// Judges the planned looks one after another, up to and including the look that ends the race.
    /// Each item holds the number of replicates and one estimate per candidate.
    pub(crate) fn looks<'a>(
        &'a self,
        samples: &'a Samples,
        replicates: usize,
        looks: &'a Looks,
    ) -> impl Iterator<Item = (usize, Vec<Option<EffectEstimate>>)> + 'a {
        let mut over = false;
        let planned = looks.at.iter().zip(&looks.levels);
        planned.map_while(move |(at, level)| {
            let at = *at as usize;
            if over || at > replicates {
                return None;
            }
            let effect_estimates = self.estimate_effects(samples, at, Level::Nominal(*level));
            over = self.settled(&effect_estimates, *level);
            Some((at, effect_estimates))
        })
    }

    /// Returns the result of the looks that the race took; `None` if it did not reach its first
    /// look.
    pub(crate) fn scan(&self, samples: &Samples, replicates: usize, looks: &Looks) -> Option<Scan> {
        let mut scan: Option<Scan> = None;
        for (at, effect_estimates) in self.looks(samples, replicates, looks) {
            let scan = scan.get_or_insert_with(|| Scan {
                at,
                conclusive: false,
                effect_estimates: Vec::new(),
                p_values: vec![Vec::new(); effect_estimates.len()],
                looks: Vec::new(),
            });
            for (list, effect_estimate) in scan.p_values.iter_mut().zip(&effect_estimates) {
                // Without a p-value a look counts as if p were 1.
                list.push(
                    effect_estimate
                        .as_ref()
                        .and_then(|j| j.p_value)
                        .unwrap_or(1.0),
                );
            }
            scan.conclusive = self.settled(&effect_estimates, looks.levels[scan.looks.len()]);
            scan.looks.push(LookTaken::of(at, &effect_estimates));
            scan.at = at;
            scan.effect_estimates = effect_estimates;
        }
        scan
    }
}

/// The last look of a race, and all looks before it.
#[derive(Clone, Debug)]
pub(crate) struct Scan {
    /// The number of replicates at the last look.
    pub(crate) at: usize,
    pub(crate) conclusive: bool,
    /// One estimate per candidate.
    pub(crate) effect_estimates: Vec<Option<EffectEstimate>>,
    /// The p-values of all looks taken, one list per candidate.
    pub(crate) p_values: Vec<Vec<f64>>,
    pub(crate) looks: Vec<LookTaken>,
}

pub(crate) fn all_conclusive(effect_estimates: &[Option<EffectEstimate>]) -> bool {
    !effect_estimates.is_empty()
        && effect_estimates
            .iter()
            .all(|j| j.as_ref().is_some_and(EffectEstimate::conclusive))
}

/// An interim analysis (look) of a race, computed again from its samples.
#[derive(Clone, Debug, PartialEq)]
pub struct LookTaken {
    /// The number of replicates that the look uses.
    pub replicates: usize,
    /// One estimate per candidate; `None` if no effect could be computed.
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

/// The final decision on a benchmark. The rule depends on how the race ended.
pub(crate) struct FinalDecision {
    /// One estimate per candidate.
    pub(crate) effect_estimates: Vec<Option<EffectEstimate>>,
    /// One p-value per candidate, adjusted for the looks by their weights.
    pub(crate) p_values: Vec<Option<f64>>,
    /// One p-value per candidate, adjusted for the looks by their levels: α times the smallest p_j
    /// / level_j.
    pub(crate) p_looks: Vec<Option<f64>>,
    /// The level of the interval if there is one candidate. Several candidates divide it among
    /// them.
    pub(crate) level: Level,
    /// The weight of the look that ended the race in the adjusted p-value; 1 if only one look was
    /// possible.
    pub(crate) weight: f64,
    /// True if the budget ran out before the race was decided.
    pub(crate) budget_spent: bool,
    /// The number of replicates that the decision uses.
    pub(crate) used: usize,
    /// The planned looks that were taken; empty if the race was not judged at planned looks.
    pub(crate) looks: Vec<LookTaken>,
}

impl FinalDecision {
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
        let once = |level| {
            let effect_estimates = benchmark_state.estimate_effects(samples, all, level);
            let p_values: Vec<Option<f64>> = effect_estimates
                .iter()
                .map(|j| j.as_ref()?.p_value)
                .collect();
            FinalDecision {
                effect_estimates,
                p_looks: p_values.clone(),
                p_values,
                level,
                weight: 1.0,
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
            // A scan contains at least one look.
            let last = scan.looks.len().saturating_sub(1);
            FinalDecision {
                effect_estimates: scan.effect_estimates,
                p_values,
                p_looks,
                level: Level::Nominal(looks.levels[last]),
                weight: weights[last],
                budget_spent,
                used: scan.at,
                looks: scan.looks,
            }
        };
        let final_decision = if benchmark_state.is_of_hosts() {
            // The parts did not take looks, so the merged run is judged once.
            once(Level::Nominal(alpha))
        } else if run.header.origin != Origin::Race {
            let looks = planned_looks(0, all as u32, alpha).ok();
            let replayed = looks.filter(|_| options.replay_looks).and_then(|looks| {
                let scan = benchmark_state.scan(samples, all, &looks)?;
                Some(planned(scan, &looks, false))
            });
            replayed.unwrap_or_else(|| once(Level::Nominal(alpha)))
        } else {
            let complete = benchmark_state.complete_replicates(samples);
            let most = planned_at.max_replicates() as usize;
            let scan = benchmark_state.scan(samples, complete, planned_at);
            let ended_by_plan = !run.went_on(index, samples)
                && scan.as_ref().is_some_and(|scan| {
                    scan.at == complete && (scan.conclusive || scan.at == most)
                });
            match scan {
                Some(scan) if ended_by_plan => planned(scan, planned_at, false),
                _ if run.left_its_plan() => once(Level::Anytime(alpha)),
                Some(scan) => planned(scan, planned_at, true),
                // The budget ended the race before its first planned look. The analysis here is
                // then the only one, so it may spend all of α.
                None => FinalDecision {
                    budget_spent: !benchmark_state.candidates.is_empty(),
                    ..once(Level::Nominal(alpha))
                },
            }
        };
        (benchmark_state, final_decision)
    }

    /// Returns the estimates of one candidate at the planned looks, without the looks that lack
    /// one.
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

fn replicates(samples: &Samples) -> usize {
    let mut numbers: Vec<u32> = samples.blocks().iter().map(|b| b.replicate).collect();
    numbers.dedup();
    numbers.len()
}

/// Returns every look that a race took at a benchmark, up to the look that ended it. All their
/// intervals together have the confidence of the race. Empty if the run lacks the benchmark.
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
    /// The p-value, adjusted for the looks; `None` if there is too little data for a verdict.
    pub(crate) p_value: Option<f64>,
}

impl ControlComparison {
    /// Judges the control at the look that ended the race. `None` without a control, or if no
    /// effect could be computed.
    pub(crate) fn new(raced: &Raced<'_>, final_decision: &FinalDecision) -> Option<Self> {
        let (header, index) = (&raced.run.header, raced.index);
        let plan = &header.plan;
        let benchmark = &plan.benchmarks[index];
        let mut effects = Effects::new(plan.judged(index), benchmark.control()?, header, index);
        effects.extend(raced.samples);
        // Without candidates the length of the race was fixed in advance.
        let (level, weight) = match final_decision.level {
            Level::Nominal(_) if benchmark.rivals() == 1 => {
                (Level::Nominal(plan.alpha(index)), 1.0)
            }
            level => (level, final_decision.weight),
        };
        let effect_estimate =
            estimate_over_hosts(&effects, raced.samples, final_decision.used, level)?;
        // A control separates only on data that would suffice for a verdict.
        let enough = effect_estimate.verdict.is_some();
        let p_value = effect_estimate.p_value.filter(|_| enough);
        Some(Self {
            p_value: p_value.map(|p| (p / weight).min(1.0)),
            effect_estimate,
        })
    }

    /// Returns the control. Its `separated` is set later, because it depends on all controls of the
    /// run.
    pub(crate) fn control(&self) -> Control {
        Control {
            estimate: estimate(&self.effect_estimate),
            separated: false,
        }
    }
}

/// The two-sided level of the interval from which the standard error of an effect is derived. It is
/// a level that verdicts often have: the corrections that widen intervals are designed for such
/// levels.
const LEVEL: f64 = 0.05;

/// Returns the effect of every candidate of every benchmark, over all replicates of the run, in the
/// order of the plan. Effects without a standard error are left out, such as those of a single
/// replicate or of times that are all zero.
///
/// The verdict may use fewer replicates: those that the look which ended the race analysed.
pub fn measured_effects(run: &Run) -> Vec<MeasuredEffect> {
    let plan = &run.header.plan;
    let mut all = Vec::new();
    for (index, samples) in run.benchmarks.iter().enumerate() {
        if plan.benchmarks[index].rerun.is_some() {
            continue;
        }
        let mut state = BenchmarkState::new(&run.header, index);
        state.extend(samples);
        let replicates = state.candidates.first().map_or(0, |one| one.replicates());
        all.extend(measured(&state, samples, (index, replicates)));
    }
    all
}

pub(crate) fn measured(
    state: &BenchmarkState,
    samples: &Samples,
    (benchmark, replicates): (usize, usize),
) -> Vec<MeasuredEffect> {
    let estimates = state.estimate_effects(samples, replicates, Level::Nominal(LEVEL));
    let numbered = estimates.iter().enumerate();
    numbered
        .filter_map(|(candidate, estimate)| of_estimate(estimate.as_ref()?, benchmark, candidate))
        .collect()
}

/// Returns the effect of an estimate. Its standard error is derived from the interval of the
/// estimate: a t interval with this standard error has the same width. So it includes everything
/// that widened the interval: few blocks per replicate, a guard, or the resolution of the clock.
fn of_estimate(
    estimate: &EffectEstimate,
    benchmark: usize,
    candidate: usize,
) -> Option<MeasuredEffect> {
    let pooled = &estimate.pooled;
    let (low, high) = estimate.interval?;
    if pooled.replicates < 2 || pooled.df < 1.0 {
        return None;
    }
    let half = 0.5 * (high - low);
    let se = half / t_critical(1.0 - estimate.confidence(), pooled.df);
    (se.is_finite() && se > 0.0).then_some(MeasuredEffect {
        benchmark,
        candidate,
        effect: LogRatio(pooled.theta),
        se,
        df: pooled.df,
        replicates: pooled.replicates,
    })
}
