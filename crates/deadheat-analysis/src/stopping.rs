//! Stopping rules, by which the engine decides when a race is over.

use deadheat_model::{Decision, Plan, RunHeader, Samples, Standing, StoppingRule, Until};
use deadheat_stats::Level;

use crate::decision::{BenchmarkState, all_conclusive, measured};
use crate::effects::{Effects, estimate};

/// The state that all stopping rules share. It keeps the effects so far, so that each look reads
/// only new samples.
struct Watch {
    header: RunHeader,
    benchmark_states: Vec<Option<BenchmarkState>>,
}

impl Watch {
    fn new(header: &RunHeader) -> Self {
        Self {
            benchmark_states: vec![None; header.plan.benchmarks.len()],
            header: header.clone(),
        }
    }

    fn benchmark_state(&mut self, benchmark: usize, samples: &Samples) -> &BenchmarkState {
        let benchmark_state = self.benchmark_states[benchmark]
            .get_or_insert_with(|| BenchmarkState::new(&self.header, benchmark));
        benchmark_state.extend(samples);
        benchmark_state
    }

    fn plan(&self) -> &Plan {
        &self.header.plan
    }

    /// Returns the decision on a rerun, which stops after its fixed number of replicates because it
    /// has no verdict; `None` for any other benchmark.
    fn beside(&self, benchmark: usize, samples: &Samples) -> Option<Decision> {
        let own_link = self.plan().benchmarks[benchmark].rerun?;
        let blocks = self.plan().blocks_per_replicate(benchmark) as usize;
        let complete = samples.blocks().len() / blocks;
        Some(if complete >= own_link.replicates as usize {
            Decision::Stop
        } else {
            Decision::GoOn
        })
    }

    /// Returns the current estimate of the first candidate without a conclusive verdict, or of the
    /// first candidate if all verdicts are conclusive.
    fn standing(&mut self, benchmark: usize, samples: &Samples) -> Option<Standing> {
        let alpha = self.plan().alpha(benchmark);
        let benchmark_state = self.benchmark_state(benchmark, samples);
        let replicates = benchmark_state.candidates.first()?.replicates();
        let effect_estimates =
            benchmark_state.estimate_effects(samples, replicates, Level::Anytime(alpha));
        effect_estimates
            .iter()
            .enumerate()
            .filter_map(|(index, effect_estimate)| Some((index + 1, effect_estimate.as_ref()?)))
            .min_by_key(|(_, effect_estimate)| effect_estimate.conclusive())
            .map(|(candidate, effect_estimate)| Standing {
                candidate,
                estimate: estimate(effect_estimate),
            })
    }
}

/// Stops at the first planned look at which every candidate has a conclusive verdict, or at the
/// last look.
pub struct PlannedRule {
    watch: Watch,
}

impl PlannedRule {
    /// Creates the rule for the plan of a run.
    pub fn new(header: &RunHeader) -> Self {
        Self {
            watch: Watch::new(header),
        }
    }
}

impl StoppingRule for PlannedRule {
    fn decide(&mut self, benchmark: usize, samples: &Samples) -> Decision {
        if let Some(decision) = self.watch.beside(benchmark, samples) {
            return decision;
        }
        let looks = self.watch.plan().looks(benchmark).clone();
        let blocks_per_replicate = self.watch.plan().blocks_per_replicate(benchmark);
        // Most calls are between looks, so the blocks are counted before anything is computed.
        let complete = samples.blocks().len() / blocks_per_replicate as usize;
        if complete >= looks.max_replicates() as usize {
            return Decision::Stop;
        }
        let Some(look) = looks.at.iter().position(|at| *at as usize == complete) else {
            return Decision::GoOn;
        };
        let benchmark_state = self.watch.benchmark_state(benchmark, samples);
        let effect_estimates =
            benchmark_state.estimate_effects(samples, complete, Level::Nominal(looks.levels[look]));
        if benchmark_state.settled(&effect_estimates, looks.levels[look]) {
            Decision::Stop
        } else {
            Decision::GoOn
        }
    }

    fn standing(&mut self, benchmark: usize, samples: &Samples) -> Option<Standing> {
        self.watch.standing(benchmark, samples)
    }
}

/// Stops at the first planned look at which [`Until`] accepts the effect of every candidate, or at
/// the last look. The verdict does not matter.
///
/// The intervals of all planned looks together have the confidence of the race, so any look may end
/// it.
pub struct UntilRule {
    watch: Watch,
    until: Until,
}

impl UntilRule {
    /// Creates the rule for the plan of a run. The rule calls `until` at each look of the plan.
    pub fn new(header: &RunHeader, until: Until) -> Self {
        Self {
            watch: Watch::new(header),
            until,
        }
    }
}

impl StoppingRule for UntilRule {
    fn decide(&mut self, benchmark: usize, samples: &Samples) -> Decision {
        if let Some(decision) = self.watch.beside(benchmark, samples) {
            return decision;
        }
        let plan = self.watch.plan();
        let complete = samples.blocks().len() / plan.blocks_per_replicate(benchmark) as usize;
        let looks = plan.looks(benchmark);
        if complete >= looks.max_replicates() as usize {
            return Decision::Stop;
        }
        if !looks.at.iter().any(|at| *at as usize == complete) {
            return Decision::GoOn;
        }
        let state = self.watch.benchmark_state(benchmark, samples);
        let candidates = state.candidates.len();
        let effects = measured(state, samples, (benchmark, complete));
        let name = &self.watch.plan().benchmarks[benchmark].name;
        let is_known = |effect| self.until.is_enough(name, effect);
        // A candidate without a standard error is missing in `effects`.
        if effects.len() == candidates && effects.into_iter().all(is_known) {
            Decision::Stop
        } else {
            Decision::GoOn
        }
    }

    fn standing(&mut self, benchmark: usize, samples: &Samples) -> Option<Standing> {
        self.watch.standing(benchmark, samples)
    }
}

/// Stops once every candidate has a conclusive verdict by an interval that is valid at any time. It
/// is for runs that are resumed after their plan has ended.
pub struct AnytimeRule {
    watch: Watch,
    next: Vec<usize>,
}

impl AnytimeRule {
    /// Creates the rule for resuming a run.
    pub fn new(header: &RunHeader) -> Self {
        Self {
            next: vec![0; header.plan.benchmarks.len()],
            watch: Watch::new(header),
        }
    }
}

impl StoppingRule for AnytimeRule {
    fn decide(&mut self, benchmark: usize, samples: &Samples) -> Decision {
        if let Some(decision) = self.watch.beside(benchmark, samples) {
            return decision;
        }
        let alpha = self.watch.plan().alpha(benchmark);
        let looks = self.watch.plan().looks(benchmark).clone();
        let first = self.next[benchmark] == 0;
        let benchmark_state = self.watch.benchmark_state(benchmark, samples);
        let replicates = benchmark_state
            .candidates
            .first()
            .map_or(0, Effects::replicates);
        if first {
            // A race that its plan had decided is not continued.
            let complete = benchmark_state.complete_replicates(samples);
            let planned = benchmark_state.scan(samples, complete, &looks);
            if planned.is_some_and(|scan| scan.conclusive && scan.at == complete) {
                return Decision::Stop;
            }
        }
        if replicates < self.next[benchmark] {
            return Decision::GoOn;
        }
        let effect_estimates =
            benchmark_state.estimate_effects(samples, replicates, Level::Anytime(alpha));
        // The interval is valid at any number of replicates. The next look waits for 1 % more of
        // them, so that a long run does not spend its time on looks.
        self.next[benchmark] = replicates + 1 + replicates / 100;
        if all_conclusive(&effect_estimates) {
            Decision::Stop
        } else {
            Decision::GoOn
        }
    }

    fn standing(&mut self, benchmark: usize, samples: &Samples) -> Option<Standing> {
        self.watch.standing(benchmark, samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::looks::planned_looks;
    use deadheat_model::{
        Benchmark, BlockRecord, Contender, ContenderId, Design, Environment, Flags, Metric, Origin,
        Rerun, RerunKind, Sample, Workload,
    };

    /// Returns the header of a run with one benchmark.
    fn header(own_link: Option<Rerun>) -> RunHeader {
        let contender = |name: &str| Contender {
            name: name.to_owned(),
            workload: Workload::Recording,
        };
        RunHeader {
            command: Vec::new(),
            tool_version: "test".to_owned(),
            started_at: None,
            origin: Origin::Race,
            plan: Plan {
                design: Design {
                    looks: planned_looks(0, 40, 0.05).unwrap(),
                    blocks_per_replicate: 2,
                    ..Design::default()
                },
                seed: 1,
                benchmarks: vec![Benchmark {
                    name: "b".to_owned(),
                    contenders: vec![contender("a"), contender("b")],
                    rerun: own_link,
                    ..Benchmark::default()
                }],
            },
            environment: Environment::default(),
            metrics: vec![Metric::Wall],
            tick_ns: None,
            left_out: Vec::new(),
        }
    }

    fn stops_after(header: &RunHeader, rule: &mut dyn StoppingRule) -> u32 {
        let mut samples = Samples::new(vec![Metric::Wall]);
        for replicate in 0..40 {
            for index in 0..2 {
                let sample = |id| Sample {
                    contender: ContenderId(id),
                    flags: Flags::NONE,
                    exit_code: None,
                    iterations: 1,
                };
                // The values differ slightly, because equal blocks never give a conclusive verdict.
                let wobble = f64::from(replicate * 2 + index);
                let record = BlockRecord {
                    replicate,
                    index,
                    samples: [0, 1, 1, 0].map(sample).to_vec(),
                    values: vec![1e6, 2e6 + wobble, 2e6 - wobble, 1e6 + wobble],
                    ..BlockRecord::default()
                };
                samples.push(&record).unwrap();
            }
            if rule.decide(0, &samples) == Decision::Stop {
                return replicate + 1;
            }
        }
        panic!("{:?} never stops", header.plan.benchmarks[0].name)
    }

    #[test]
    fn what_stands_beside_takes_its_replicates_whatever_they_say() {
        for replicates in [1, 6, 11] {
            let beside = header(Some(Rerun {
                kind: RerunKind::OwnLink,
                of: 0,
                replicates,
            }));
            let planned = stops_after(&beside, &mut PlannedRule::new(&beside));
            let anytime = stops_after(&beside, &mut AnytimeRule::new(&beside));
            assert_eq!((planned, anytime), (replicates, replicates));
        }
        let alone = header(None);
        assert_eq!(stops_after(&alone, &mut PlannedRule::new(&alone)), 6);
    }
}
