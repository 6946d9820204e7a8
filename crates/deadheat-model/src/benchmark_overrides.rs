//! Settings of one benchmark that differ from those of the run.

use std::time::Duration;

use crate::metric::Metric;
use crate::plan::{BenchmarkOverrides, LevelOverride, Plan, PlanError};
use crate::race_settings::Looks;
use crate::setting_values::ShareRange;

impl Plan {
    fn own(&self, benchmark: usize) -> Option<&BenchmarkOverrides> {
        Some(&self.benchmarks.get(benchmark)?.overrides)
    }

    /// Smallest relative change of a benchmark worth acting on.
    pub fn margin(&self, benchmark: usize) -> f64 {
        let own = self.own(benchmark).and_then(|own| own.margin);
        own.unwrap_or(self.design.margin)
    }

    /// Chance of a wrong verdict on a benchmark that is accepted.
    pub fn alpha(&self, benchmark: usize) -> f64 {
        let own = self.own(benchmark).and_then(|own| own.level.as_ref());
        own.map_or(self.design.alpha, |level| level.alpha)
    }

    /// When the verdict on a benchmark may be called.
    pub fn looks(&self, benchmark: usize) -> &Looks {
        let own = self.own(benchmark).and_then(|own| own.level.as_ref());
        own.map_or(&self.design.looks, |level| &level.looks)
    }

    /// Every number of replicates at which some verdict may be called, rising.
    pub fn all_looks(&self) -> Vec<u32> {
        let of_each = (0..self.benchmarks.len()).map(|benchmark| self.looks(benchmark));
        let all = of_each.chain([&self.design.looks]);
        let mut at: Vec<u32> = all.flat_map(|looks| looks.at.iter().copied()).collect();
        at.sort_unstable();
        at.dedup();
        at
    }

    /// The most replicates that any benchmark may take.
    pub fn max_replicates(&self) -> u32 {
        self.all_looks().last().copied().unwrap_or(0)
    }

    /// The metric that the verdict on a benchmark speaks of: by its overrides, by what a file told
    /// of it, or that of the design.
    pub fn judged(&self, benchmark: usize) -> &Metric {
        let own = self.own(benchmark).and_then(|own| own.judged.as_ref());
        let saved = self.benchmarks.get(benchmark);
        let saved = saved.and_then(|benchmark| benchmark.saved.as_ref()?.judged.as_ref());
        own.or(saved).unwrap_or(&self.design.judged)
    }

    /// The quantile of single iterations that the verdict on a benchmark speaks of; `None` for
    /// their centre.
    pub fn quantile(&self, benchmark: usize) -> Option<f64> {
        let own = self.own(benchmark).and_then(|own| own.quantile);
        own.or(self.design.quantile)
    }

    /// Time that a benchmark may take for itself, if it has a limit of its own.
    pub fn budget(&self, benchmark: usize) -> Option<Duration> {
        self.own(benchmark)?.budget
    }

    /// Checks the overrides of each benchmark.
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
                if !looks.are_well_formed() {
                    return Err(PlanError::MalformedLooks);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Benchmark, Contender, Saved};
    use crate::race_settings::Design;
    use crate::workload::Workload;

    fn looks(at: &[u32]) -> Looks {
        Looks {
            at: at.to_vec(),
            levels: vec![0.01; at.len()],
            weights: vec![1.0 / at.len() as f64; at.len()],
        }
    }

    fn plan(overrides: BenchmarkOverrides) -> Plan {
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
                looks: looks(&[6, 11]),
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
        let looks = looks(at);
        Some(LevelOverride { alpha, looks })
    }

    #[test]
    fn a_benchmark_has_its_overrides_and_the_others_the_settings_of_the_run() {
        let plan = plan(BenchmarkOverrides {
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
        // A benchmark the plan does not know is as all.
        assert_eq!(plan.margin(9), 0.01);
    }

    #[test]
    fn an_override_weighs_more_than_what_a_file_told() {
        let mut plan = plan(BenchmarkOverrides::default());
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
            let error = plan(rules).validate().unwrap_err().to_string();
            assert!(error.contains("benchmark 'b'"), "{error}");
        }
        for at in [&[11, 6][..], &[0], &[]] {
            assert_eq!(
                plan(sure(0.01, at)).validate(),
                Err(PlanError::MalformedLooks),
                "{at:?}"
            );
        }
    }

    #[test]
    fn a_benchmark_may_take_more_or_fewer_replicates_than_the_others() {
        for (end, most) in [(8, 11), (22, 22)] {
            let plan = plan(BenchmarkOverrides {
                level: level(0.05, &[6, end]),
                ..BenchmarkOverrides::default()
            });
            assert_eq!(plan.validate(), Ok(()));
            assert_eq!(plan.looks(1).max_replicates(), end);
            assert_eq!(plan.max_replicates(), most);
        }
    }
}
