//! Rules of one benchmark on their way into the plan.

use deadheat_analysis::LooksError;
use deadheat_model::{BenchmarkOverrides, LevelOverride, Looks, RulesOfSome};

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
    use deadheat_model::{Glob, Metric, RaceSettings};

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
}
