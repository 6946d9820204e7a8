//! Rules of one benchmark on their way into the plan.

use deadheat_analysis::LooksError;
use deadheat_model::{
    Benchmark, BenchmarkOverrides, FailOn, LevelOverride, Looks, RaceSettings, RulesOfSome,
};

/// What is decided for a benchmark otherwise than for all. `looks` plans the
/// looks for a chance of a wrong verdict of its own.
pub(crate) fn benchmark_overrides<E: From<LooksError>>(
    some: &[RulesOfSome],
    benchmark: &str,
    looks: impl FnOnce(f64) -> Result<Looks, E>,
) -> Result<BenchmarkOverrides, E> {
    let rules = RulesOfSome::of(some, benchmark);
    let level = match rules.alpha {
        Some(alpha) => Some(LevelOverride {
            alpha,
            looks: looks(alpha)?,
        }),
        None => None,
    };
    Ok(BenchmarkOverrides {
        margin: rules.margin,
        level,
        judged: rules.metric,
        budget: rules.budget,
    })
}

/// Notes in every benchmark that must not be slower the comparisons for which this has to hold
/// together. A race that is confirmed by a second one need not hold for more than itself.
pub(crate) fn hold_together(
    benchmarks: &mut [Benchmark],
    settings: &RaceSettings,
    some: &[RulesOfSome],
) {
    let is_member = |benchmark: &Benchmark| {
        let own = RulesOfSome::of(some, &benchmark.name).fail_on;
        let asked = own.as_ref().or(settings.fail_on.as_ref());
        asked.is_some_and(|asked| asked.contains(&FailOn::Slower))
    };
    let members = benchmarks.iter().filter(|one| is_member(one));
    let family: usize = members.map(|one| one.candidates().count()).sum();
    if family > 1 && !settings.confirm() {
        let members = benchmarks.iter_mut().filter(|one| is_member(one));
        members.for_each(|one| one.family = family as u32);
    }
}

/// What is decided for a benchmark of a recording, which is looked at once,
/// after so many replicates, and has no time to spend.
#[cfg(feature = "commands")]
pub(crate) fn recorded_rules(
    some: &[RulesOfSome],
    benchmark: &str,
    replicates: u32,
) -> BenchmarkOverrides {
    let rules = RulesOfSome::of(some, benchmark);
    BenchmarkOverrides {
        margin: rules.margin,
        level: rules.alpha.map(|alpha| LevelOverride {
            alpha,
            looks: Looks {
                at: vec![replicates],
                levels: vec![alpha],
                weights: vec![1.0],
            },
        }),
        judged: rules.metric,
        budget: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_analysis::planned_looks;
    use deadheat_model::{Contender, Glob, Metric, RaceSettings, Workload};

    fn some(metric: &str) -> Vec<RulesOfSome> {
        vec![RulesOfSome {
            name: Glob::new("parse/*"),
            rules: RaceSettings {
                alpha: Some(0.01),
                metric: Some(Metric::from_name(metric)),
                ..RaceSettings::default()
            },
        }]
    }

    #[test]
    fn a_benchmark_gets_the_looks_of_its_own_level() {
        let looks = |alpha| planned_looks(0, 40, alpha);
        let own = benchmark_overrides(&some("cpu"), "parse/json", looks).unwrap();
        let level = own.level.unwrap();
        assert_eq!(level.looks, planned_looks(0, 40, 0.01).unwrap());
        assert_eq!(level.looks.at, planned_looks(0, 40, 0.05).unwrap().at);
        assert_eq!(own.judged, Some(Metric::Cpu));
        assert!(
            benchmark_overrides(&some("cpu"), "sort", looks)
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn all_that_must_not_be_slower_hold_together_unless_a_second_race_confirms() {
        let contender = |name: &str| Contender {
            name: name.to_owned(),
            workload: Workload::Recording,
        };
        let benchmark = |name: &str, contenders: &[&str]| Benchmark {
            name: name.to_owned(),
            contenders: contenders.iter().copied().map(contender).collect(),
            ..Benchmark::default()
        };
        let free = RulesOfSome {
            name: Glob::new("free"),
            rules: RaceSettings {
                fail_on: Some(Vec::new()),
                ..RaceSettings::default()
            },
        };
        let families = |settings: &RaceSettings| {
            let mut all = [
                benchmark("free", &["a", "b"]),
                benchmark("two", &["a", "b"]),
                benchmark("three", &["a", "b", "c"]),
            ];
            hold_together(&mut all, settings, std::slice::from_ref(&free));
            all.map(|one| one.family)
        };
        let mut settings = RaceSettings::default();
        assert_eq!(families(&settings), [0, 0, 0]);
        settings.fail_on = Some(vec![FailOn::Slower]);
        assert_eq!(families(&settings), [0, 3, 3]);
        settings.confirm = Some(true);
        assert_eq!(families(&settings), [0, 0, 0]);
    }
}
