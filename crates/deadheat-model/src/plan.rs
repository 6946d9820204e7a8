//! The plan of a run, frozen before the first sample.

use std::collections::HashMap;
use std::time::Duration;

use crate::benchmark::{Benchmark, BenchmarkOverrides, LevelOverride, Rerun, RerunKind};
use crate::metric::Metric;
use crate::race_settings::{Design, Looks};
use crate::setting_values::ShareRange;
use crate::workload::Workload;

/// Everything that is decided before the first sample is taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The settings by which the race is run and judged.
    pub design: Design,
    /// The seed of all random choices of the run.
    pub seed: u64,
    /// The benchmarks, in the order in which they race.
    pub benchmarks: Vec<Benchmark>,
}

/// The reason why a plan cannot be run.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanError {
    /// A number is outside its range.
    OutOfRange {
        /// The option that set the number, or the key in `deadheat.toml` and the benchmark that it
        /// is for.
        of: String,
        /// The value given.
        value: f64,
        /// The values allowed, in words.
        range: &'static str,
    },
    /// The looks are not in rising order, lack a level or a weight, or do not fit α.
    MalformedLooks,
    /// A benchmark has no contender, or too many.
    Contenders {
        /// The name of the benchmark.
        benchmark: String,
        /// Number of contenders of the benchmark.
        count: usize,
        /// The largest allowed number of contenders.
        max: usize,
    },
    /// The plan has no benchmark to race.
    Empty,
    /// Callgrind counts only instructions, but another metric is to be judged.
    NotCounted {
        /// The name of the benchmark.
        benchmark: String,
        /// The metric that is to be judged.
        judged: Metric,
    },
    /// The control is not a second copy of the baseline.
    Control {
        /// The name of the benchmark.
        benchmark: String,
        /// The problem, in words.
        problem: &'static str,
    },
    /// A rerun in the plan is invalid.
    Rerun {
        /// The name of the rerun.
        benchmark: String,
        /// Index of the rerun in the plan.
        index: usize,
        /// Index of the benchmark that the rerun should repeat.
        of: usize,
        /// The problem, in words.
        problem: &'static str,
    },
}

impl std::fmt::Display for PlanError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::OutOfRange { of, value, range } => {
                write!(f, "{of} must be {range}, not {value}")
            }
            Self::MalformedLooks => f.write_str(
                "each look must have more replicates than the one before, a level and a weight; \
                 the levels must fit alpha, and the weights must not add up to more than 1",
            ),
            Self::Contenders {
                benchmark,
                count,
                max,
            } => write!(
                f,
                "benchmark '{benchmark}' has {count} contenders; between 1 and {max} can race"
            ),
            Self::Empty => f.write_str("there is no benchmark to run"),
            Self::NotCounted { benchmark, judged } => write!(
                f,
                "--callgrind counts instructions and nothing else, so benchmark '{benchmark}' cannot \
                 be judged by {judged} (--metric)"
            ),
            Self::Control { benchmark, problem } => write!(
                f,
                "benchmark '{benchmark}' cannot have a control: {problem}"
            ),
            Self::Rerun {
                benchmark,
                index,
                of,
                problem,
            } => write!(
                f,
                "benchmark {index} ('{benchmark}') cannot be a rerun of benchmark {of}: {problem} (numbers \
                 start at 0)"
            ),
        }
    }
}

impl std::error::Error for PlanError {}

impl Plan {
    /// The largest number of contenders in a benchmark.
    pub const MAX_CONTENDERS: usize = 64;

    /// Returns the number of blocks in a replicate of a benchmark, at least 1.
    pub fn blocks_per_replicate(&self, benchmark: usize) -> u32 {
        let own = self.benchmarks.get(benchmark);
        own.and_then(|benchmark| benchmark.blocks_per_replicate)
            .unwrap_or(self.design.blocks_per_replicate)
            .max(1)
    }

    /// Returns true if a benchmark races in rounds: one replicate of each undecided benchmark, then
    /// the next replicate of each.
    pub fn races_in_rounds(&self, benchmark: usize) -> bool {
        let benchmark = self.benchmarks.get(benchmark);
        self.design.rounds && benchmark.is_some_and(|one| one.rerun.is_none())
    }

    /// Returns true if the part of the race that this machine runs includes a benchmark. A race
    /// that is not divided includes all benchmarks.
    pub fn races(&self, benchmark: &Benchmark) -> bool {
        let part = self.design.shard;
        part.is_none_or(|part| part.races(&benchmark.name, &benchmark.parameters))
    }

    /// Returns the number of contenders of all benchmarks.
    pub fn contender_count(&self) -> usize {
        let contenders = self.benchmarks.iter().map(|of| of.contenders.len());
        contenders.sum()
    }

    /// Checks every invariant of the plan.
    pub fn validate(&self) -> Result<(), PlanError> {
        let design = &self.design;
        let out_of_range = |flag: &str, value, range| {
            let of = flag.to_owned();
            Err(PlanError::OutOfRange { of, value, range })
        };
        if !ShareRange::MARGIN.holds(design.margin) {
            return out_of_range("--margin", design.margin, ShareRange::MARGIN.words);
        }
        if !ShareRange::ALPHA.holds(design.alpha) {
            return out_of_range("--alpha", design.alpha, ShareRange::ALPHA.words);
        }
        if let Some(quantile) = design.quantile
            && !ShareRange::QUANTILE.holds(quantile)
        {
            return out_of_range("--quantile", quantile, ShareRange::QUANTILE.words);
        }
        if design.blocks_per_replicate == 0 {
            return out_of_range("--blocks", 0.0, "at least 1");
        }
        let looks = &design.looks;
        if !looks.are_well_formed(design.alpha) {
            return Err(PlanError::MalformedLooks);
        }
        if self.benchmarks.is_empty() {
            return Err(PlanError::Empty);
        }
        for (index, benchmark) in self.benchmarks.iter().enumerate() {
            let judged = self.judged(index);
            if design.callgrind && *judged != Metric::Instructions {
                return Err(PlanError::NotCounted {
                    benchmark: benchmark.name.clone(),
                    judged: judged.clone(),
                });
            }
            if benchmark.blocks_per_replicate == Some(0) {
                return out_of_range("--blocks", 0.0, "at least 1");
            }
            let count = benchmark.contenders.len();
            if !(1..=Self::MAX_CONTENDERS).contains(&count) {
                return Err(PlanError::Contenders {
                    benchmark: benchmark.name.clone(),
                    count,
                    max: Self::MAX_CONTENDERS,
                });
            }
            benchmark.validate_control()?;
        }
        self.validate_benchmark_overrides()?;
        self.validate_reruns()
    }

    fn validate_reruns(&self) -> Result<(), PlanError> {
        let reruns = self.reruns();
        for (index, benchmark) in self.benchmarks.iter().enumerate() {
            let Some(rerun) = benchmark.rerun else {
                continue;
            };
            let of = self.benchmarks[..index].get(rerun.of);
            let problem = match of {
                None => "a rerun comes after the benchmark that it reruns",
                Some(of) if of.rerun.is_some() => "that benchmark is a rerun itself",
                Some(of)
                    if of.contenders.len() != benchmark.contenders.len()
                        || of.control != benchmark.control =>
                {
                    "the two have different numbers of contenders"
                }
                Some(of) if of.name != benchmark.name || of.parameters != benchmark.parameters => {
                    "the two have different names"
                }
                Some(of) if rerun.kind == RerunKind::Turns && of.side_by_side.is_none() => {
                    "that benchmark does not race side by side"
                }
                Some(_) if reruns.get(&(rerun.of, rerun.kind)) != Some(&index) => {
                    "that benchmark already has a rerun of this kind"
                }
                Some(_) if rerun.replicates == 0 => "it has no replicates",
                Some(_) => continue,
            };
            return Err(PlanError::Rerun {
                benchmark: benchmark.name.clone(),
                index,
                of: rerun.of,
                problem,
            });
        }
        Ok(())
    }

    /// Returns the index of the rerun of a benchmark, if the plan has a rerun of this kind.
    pub fn rerun(&self, of: usize, kind: RerunKind) -> Option<usize> {
        let is_it = |rerun: Rerun| rerun.of == of && rerun.kind == kind;
        let mut benchmarks = self.benchmarks.iter();
        benchmarks.position(|other| other.rerun.is_some_and(is_it))
    }

    /// Returns the indices of all reruns, by the index of the benchmark and the kind. For many
    /// look-ups this is faster than [`Self::rerun`], which searches the whole plan.
    pub fn reruns(&self) -> HashMap<(usize, RerunKind), usize> {
        let mut reruns = HashMap::new();
        for (index, benchmark) in self.benchmarks.iter().enumerate() {
            if let Some(rerun) = benchmark.rerun {
                reruns.entry((rerun.of, rerun.kind)).or_insert(index);
            }
        }
        reruns
    }

    /// Returns the index of the rerun of a benchmark with the user's own link, if the plan has one.
    pub fn own_link_of(&self, benchmark: usize) -> Option<usize> {
        self.rerun(benchmark, RerunKind::OwnLink)
    }
}

/// The settings of one benchmark: its overrides, or else the settings of the run.
impl Plan {
    fn own(&self, benchmark: usize) -> Option<&BenchmarkOverrides> {
        Some(&self.benchmarks.get(benchmark)?.overrides)
    }

    /// Returns the smallest relative change of a benchmark worth acting on.
    pub fn margin(&self, benchmark: usize) -> f64 {
        let own = self.own(benchmark).and_then(|own| own.margin);
        own.unwrap_or(self.design.margin)
    }

    /// Returns the accepted probability of a wrong verdict on a benchmark.
    pub fn alpha(&self, benchmark: usize) -> f64 {
        let own = self.own(benchmark).and_then(|own| own.level.as_ref());
        own.map_or(self.design.alpha, |level| level.alpha)
    }

    /// Returns the looks at which the verdict on a benchmark may be reached.
    pub fn looks(&self, benchmark: usize) -> &Looks {
        let own = self.own(benchmark).and_then(|own| own.level.as_ref());
        own.map_or(&self.design.looks, |level| &level.looks)
    }

    /// Returns all numbers of replicates at which any verdict may be reached, ascending.
    pub fn all_looks(&self) -> Vec<u32> {
        let of_each = (0..self.benchmarks.len()).map(|benchmark| self.looks(benchmark));
        let all = of_each.chain([&self.design.looks]);
        let mut at: Vec<u32> = all.flat_map(|looks| looks.at.iter().copied()).collect();
        at.sort_unstable();
        at.dedup();
        at
    }

    /// Returns the largest number of replicates of any benchmark.
    pub fn max_replicates(&self) -> u32 {
        self.all_looks().last().copied().unwrap_or(0)
    }

    /// Returns the judged metric of a benchmark: from its overrides, from a result file, or from
    /// the design.
    pub fn judged(&self, benchmark: usize) -> &Metric {
        let own = self.own(benchmark).and_then(|own| own.judged.as_ref());
        let saved = self.benchmarks.get(benchmark);
        let saved = saved.and_then(|benchmark| benchmark.saved.as_ref()?.judged.as_ref());
        own.or(saved).unwrap_or(&self.design.judged)
    }

    /// Returns the judged quantile of a benchmark's single iterations; `None` if their centre is
    /// judged.
    pub fn quantile(&self, benchmark: usize) -> Option<f64> {
        let own = self.own(benchmark).and_then(|own| own.quantile);
        own.or(self.design.quantile)
    }

    /// Returns the time limit of a benchmark, if it has one.
    pub fn budget(&self, benchmark: usize) -> Option<Duration> {
        self.own(benchmark)?.budget
    }

    pub(crate) fn validate_benchmark_overrides(&self) -> Result<(), PlanError> {
        for benchmark in &self.benchmarks {
            let refused = |rule, value, range| {
                let of = format!("{rule} of benchmark '{}'", benchmark.name);
                Err(PlanError::OutOfRange { of, value, range })
            };
            let overrides = &benchmark.overrides;
            if let Some(margin) = overrides.margin
                && !ShareRange::MARGIN.holds(margin)
            {
                return refused("margin", margin, ShareRange::MARGIN.words);
            }
            if let Some(quantile) = overrides.quantile
                && !ShareRange::QUANTILE.holds(quantile)
            {
                return refused("quantile", quantile, ShareRange::QUANTILE.words);
            }
            if let Some(LevelOverride { alpha, looks }) = &overrides.level {
                if !ShareRange::ALPHA.holds(*alpha) {
                    return refused("alpha", *alpha, ShareRange::ALPHA.words);
                }
                if !looks.are_well_formed(*alpha) {
                    return Err(PlanError::MalformedLooks);
                }
            }
        }
        Ok(())
    }
}

impl Benchmark {
    /// Checks that the control, if there is one, is a copy of the first contender.
    pub(crate) fn validate_control(&self) -> Result<(), PlanError> {
        let problem = match (&self.contenders[..], self.control) {
            (_, false) => return Ok(()),
            ([baseline, .., copy], true) if alike(&baseline.workload, &copy.workload) => {
                return Ok(());
            }
            ([_, .., _], true) => "its last contender is not a copy of its first",
            (_, true) => "it has only one contender",
        };
        Err(PlanError::Control {
            benchmark: self.name.clone(),
            problem,
        })
    }
}

/// Returns true if two workloads do the same work, possibly in different worker processes.
fn alike(one: &Workload, other: &Workload) -> bool {
    match (one, other) {
        (Workload::Worker(one), Workload::Worker(other)) => {
            let mut moved = other.clone();
            moved.process = one.process;
            *one == moved
        }
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::{Contender, Saved, SideBySide};

    fn plan(margin: f64, alpha: f64) -> Plan {
        let contender = |name: &str| Contender {
            name: name.to_owned(),
            workload: Workload::Recording,
        };
        Plan {
            design: Design {
                margin,
                alpha,
                looks: Looks {
                    at: vec![6, 11],
                    levels: vec![0.02, 0.03],
                    weights: vec![0.4, 0.6],
                },
                ..Design::default()
            },
            seed: 1,
            benchmarks: vec![Benchmark {
                name: "b".to_owned(),
                parameters: vec![],
                contenders: vec![contender("a"), contender("b")],
                ..Benchmark::default()
            }],
        }
    }

    #[test]
    fn a_sound_plan_is_accepted() {
        assert_eq!(plan(0.01, 0.05).validate(), Ok(()));
    }

    #[test]
    fn a_margin_or_alpha_out_of_range_names_its_flag() {
        for (margin, alpha, flag) in [
            (0.0, 0.05, "--margin"),
            (1.0, 0.05, "--margin"),
            (f64::NAN, 0.05, "--margin"),
            (0.01, 0.0, "--alpha"),
            (0.01, 0.7, "--alpha"),
        ] {
            let error = plan(margin, alpha).validate().unwrap_err();
            assert!(error.to_string().contains(flag), "{error}");
        }
    }

    #[test]
    fn a_rerun_follows_a_benchmark_of_its_name_with_as_many_contenders() {
        let own = |of, replicates| {
            Some(Rerun {
                of,
                replicates,
                kind: RerunKind::OwnLink,
            })
        };
        let with = |own_links: &[Option<Rerun>]| {
            let mut plan = plan(0.01, 0.05);
            for own_link in own_links {
                let mut benchmark = plan.benchmarks[0].clone();
                benchmark.rerun = *own_link;
                plan.benchmarks.push(benchmark);
            }
            plan
        };
        assert_eq!(with(&[own(0, 6), None, own(2, 6)]).validate(), Ok(()));
        let three = with(&[None, own(1, 6)]);
        assert_eq!(three.own_link_of(1), Some(2));
        assert_eq!(three.own_link_of(0), None);
        let mut fewer = with(&[own(0, 6)]);
        fewer.benchmarks[1].contenders.pop();
        let mut renamed = with(&[own(0, 6)]);
        renamed.benchmarks[1].name.push('2');
        let mut turns = with(&[own(0, 6)]);
        let rerun = turns.benchmarks[1].rerun.as_mut();
        rerun.unwrap().kind = RerunKind::Turns;
        for (bad, problem) in [
            (renamed, "different names"),
            (turns.clone(), "does not race side by side"),
            (with(&[own(1, 6)]), "comes after the benchmark"),
            (with(&[own(7, 6)]), "comes after the benchmark"),
            (with(&[own(0, 6), own(1, 6)]), "is a rerun itself"),
            (fewer, "different numbers of contenders"),
            (with(&[own(0, 6), own(0, 6)]), "already has a rerun"),
            (with(&[own(0, 0)]), "no replicates"),
        ] {
            let error = bad.validate().unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
        turns.benchmarks[0].side_by_side = Some(SideBySide::default());
        assert_eq!(turns.validate(), Ok(()));
    }

    #[test]
    fn looks_that_do_not_rise_are_refused() {
        let mut plan = plan(0.01, 0.05);
        plan.design.looks.at = vec![11, 6];
        assert_eq!(plan.validate(), Err(PlanError::MalformedLooks));
    }

    #[test]
    fn looks_whose_levels_do_not_fit_alpha_are_refused() {
        let spoilt: [fn(&mut Looks); 5] = [
            |looks| looks.levels[0] = 0.06,
            |looks| looks.levels[0] = 1e-12,
            |looks| looks.levels[1] = f64::NAN,
            |looks| looks.weights[1] = 0.7,
            |looks| looks.weights = vec![-0.4, 1.4],
        ];
        for spoil in spoilt {
            let mut plan = plan(0.01, 0.05);
            assert_eq!(plan.validate(), Ok(()));
            spoil(&mut plan.design.looks);
            assert_eq!(plan.validate(), Err(PlanError::MalformedLooks));
        }
    }

    fn looks(alpha: f64, at: &[u32]) -> Looks {
        Looks {
            at: at.to_vec(),
            levels: vec![alpha; at.len()],
            weights: vec![1.0 / at.len() as f64; at.len()],
        }
    }

    fn plan_with(overrides: BenchmarkOverrides) -> Plan {
        let contender = Contender {
            name: "a".to_owned(),
            workload: Workload::Recording,
        };
        let benchmark = |overrides| Benchmark {
            name: "b".to_owned(),
            contenders: vec![contender.clone()],
            overrides,
            ..Benchmark::default()
        };
        Plan {
            design: Design {
                looks: looks(0.05, &[6, 11]),
                ..Design::default()
            },
            seed: 1,
            benchmarks: vec![
                benchmark(BenchmarkOverrides::default()),
                benchmark(overrides),
            ],
        }
    }

    fn level(alpha: f64, at: &[u32]) -> Option<LevelOverride> {
        let looks = looks(alpha, at);
        Some(LevelOverride { alpha, looks })
    }

    #[test]
    fn a_benchmark_has_its_overrides_and_the_others_the_settings_of_the_run() {
        let plan = plan_with(BenchmarkOverrides {
            margin: Some(0.05),
            level: level(0.01, &[8, 11]),
            judged: Some(Metric::Cpu),
            quantile: Some(0.99),
            budget: Some(Duration::from_secs(3)),
        });
        assert_eq!(plan.validate(), Ok(()));
        assert_eq!((plan.margin(0), plan.margin(1)), (0.01, 0.05));
        assert_eq!((plan.alpha(0), plan.alpha(1)), (0.05, 0.01));
        assert_eq!(
            (&plan.looks(0).at[..], &plan.looks(1).at[..]),
            (&[6, 11][..], &[8, 11][..])
        );
        assert_eq!(
            (plan.judged(0), plan.judged(1)),
            (&Metric::Wall, &Metric::Cpu)
        );
        assert_eq!((plan.quantile(0), plan.quantile(1)), (None, Some(0.99)));
        assert_eq!(
            (plan.budget(0), plan.budget(1)),
            (None, Some(Duration::from_secs(3)))
        );
        assert_eq!(plan.all_looks(), [6, 8, 11]);
        // A benchmark that the plan lacks has the settings of the run.
        assert_eq!(plan.margin(9), 0.01);
    }

    #[test]
    fn an_override_weighs_more_than_what_a_file_told() {
        let mut plan = plan_with(BenchmarkOverrides::default());
        plan.benchmarks[1].saved = Some(Saved {
            judged: Some(Metric::User),
            ..Saved::default()
        });
        assert_eq!(plan.judged(1), &Metric::User);
        plan.benchmarks[1].overrides.judged = Some(Metric::Cpu);
        assert_eq!(plan.judged(1), &Metric::Cpu);
    }

    #[test]
    fn overrides_that_cannot_hold_name_their_benchmark() {
        let margin = |margin| BenchmarkOverrides {
            margin: Some(margin),
            ..BenchmarkOverrides::default()
        };
        let sure = |alpha, at: &[u32]| BenchmarkOverrides {
            level: level(alpha, at),
            ..BenchmarkOverrides::default()
        };
        for rules in [
            margin(0.0),
            margin(1.0),
            margin(f64::NAN),
            sure(0.6, &[11]),
            sure(0.0, &[11]),
        ] {
            let error = plan_with(rules).validate().unwrap_err().to_string();
            assert!(error.contains("benchmark 'b'"), "{error}");
        }
        for at in [&[11, 6][..], &[0], &[]] {
            assert_eq!(
                plan_with(sure(0.01, at)).validate(),
                Err(PlanError::MalformedLooks),
                "{at:?}"
            );
        }
    }

    #[test]
    fn a_benchmark_may_take_more_or_fewer_replicates_than_the_others() {
        for (end, most) in [(8, 11), (22, 22)] {
            let plan = plan_with(BenchmarkOverrides {
                level: level(0.05, &[6, end]),
                ..BenchmarkOverrides::default()
            });
            assert_eq!(plan.validate(), Ok(()));
            assert_eq!(plan.looks(1).max_replicates(), end);
            assert_eq!(plan.max_replicates(), most);
        }
    }
}
