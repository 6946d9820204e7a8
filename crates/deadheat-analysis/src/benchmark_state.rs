//! The effects of one benchmark so far, and the looks taken at them.

use deadheat_model::{Estimate, Looks, RunHeader, Samples};
use deadheat_stats::Call;

use crate::effect_estimate::{EffectEstimate, Formula, Level, estimate};
use crate::effects::Effects;
use crate::hosts::estimate_over_hosts;
use crate::waiting;

/// Everything a rule must know of a run to judge one of its benchmarks.
#[derive(Clone, Debug)]
pub(crate) struct BenchmarkState {
    /// One series per candidate.
    pub(crate) candidates: Vec<Effects>,
    pub(crate) margin: f64,
    pub(crate) formula: Formula,
    pub(crate) blocks_per_replicate: usize,
    /// The same without the time spent waiting for a core, where the plan may take it out.
    waiting_out: Option<WaitingOut>,
    /// Comparisons at whose level "slower" has to hold before it ends the race.
    family: f64,
}

/// The judged metric without the time spent waiting for a core.
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
            margin: plan.margin(benchmark),
            formula: Formula::of(header, benchmark),
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

    /// The samples of all contenders that were seen after so many replicates.
    pub(crate) fn samples_seen(&self, samples: &Samples, replicates: usize) -> usize {
        match self.candidates.first() {
            Some(effects) => effects.samples_seen(replicates),
            None => samples.samples().len(),
        }
    }

    /// The effects that so many replicates are judged by, and the samples that they were made of,
    /// of which only the judged metric is certain to be there.
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

    /// Returns true for a run merged of the parts of several hosts.
    pub(crate) fn is_of_hosts(&self) -> bool {
        let mut candidates = self.candidates.iter();
        candidates.any(|effects| effects.machines().is_some())
    }

    /// Complete replicates of a race.
    pub(crate) fn complete_replicates(&self, samples: &Samples) -> usize {
        samples.blocks().len() / self.blocks_per_replicate
    }

    /// Judges every candidate after so many replicates.
    ///
    /// With k candidates each interval is held at a k-th of the level, so that all of them hold
    /// together. (Holm's step-down, which the adjusted p-values use, protects the decision "not
    /// zero" but not an interval, and "equivalent" is read from the interval.)
    pub(crate) fn estimate_effects(
        &self,
        samples: &Samples,
        replicates: usize,
        level: Level,
    ) -> Vec<Option<EffectEstimate>> {
        let share = self.candidates.len().max(1) as f64;
        let level = match level {
            Level::Nominal(level) => Level::Nominal(level / share),
            Level::Anytime(alpha) => Level::Anytime(alpha / share),
        };
        let (candidates, samples) = self.judged(samples, replicates);
        candidates
            .iter()
            .map(|effects| {
                estimate_over_hosts(
                    effects,
                    samples,
                    replicates,
                    level,
                    self.formula,
                    self.margin,
                )
            })
            .collect()
    }

    /// Returns true if a look of this level ends the race: every candidate can be called, and a
    /// "slower" holds at the level of its family. Until then the race goes on, and what counts is
    /// its last look. The intervals of all looks hold the truth together, so the promise of the
    /// verdict is the same at a later one.
    pub(crate) fn settled(&self, estimates: &[Option<EffectEstimate>], level: f64) -> bool {
        let slower = |one: &&EffectEstimate| one.call == Some(Call::Slower);
        let held = |one: &EffectEstimate| one.p_value.is_none_or(|p| p <= level / self.family);
        let mut slower = estimates.iter().flatten().filter(slower);
        all_conclusive(estimates) && (self.family <= 1.0 || slower.all(held))
    }

    /// The looks as they would have been taken, judged one by one, up to and including the one that
    /// ends the race.
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

    /// The outcome of the looks; `None` when not even the first was reached.
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
                // A look without a p-value is no evidence.
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

/// The look a race ended with.
#[derive(Clone, Debug)]
pub(crate) struct Scan {
    /// Replicates at that look.
    pub(crate) at: usize,
    pub(crate) conclusive: bool,
    /// One per candidate.
    pub(crate) effect_estimates: Vec<Option<EffectEstimate>>,
    /// Per candidate, the p-values of all looks taken.
    pub(crate) p_values: Vec<Vec<f64>>,
    /// All looks taken, this one included.
    pub(crate) looks: Vec<LookTaken>,
}

pub(crate) fn all_conclusive(effect_estimates: &[Option<EffectEstimate>]) -> bool {
    !effect_estimates.is_empty()
        && effect_estimates
            .iter()
            .all(|j| j.as_ref().is_some_and(EffectEstimate::conclusive))
}

/// A planned look that a race took, judged again.
#[derive(Clone, Debug, PartialEq)]
pub struct LookTaken {
    /// Replicates looked at.
    pub replicates: usize,
    /// One per candidate; `None` when there was nothing to form an effect from.
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
