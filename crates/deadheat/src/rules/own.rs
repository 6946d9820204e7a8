//! Rules of one benchmark on their way into the plan.

use deadheat_analysis::LooksError;
use deadheat_model::{Benchmark, Looks, Metric, OwnLevel, OwnRules, RulesOfSome};

use crate::race::RaceError;

/// What is decided for a benchmark otherwise than for all. `looks` plans the
/// looks for a chance of a wrong verdict of its own.
pub(crate) fn own_rules<E: From<LooksError>>(
    some: &[RulesOfSome],
    benchmark: &str,
    looks: impl FnOnce(f64) -> Result<Looks, E>,
) -> Result<OwnRules, E> {
    let rules = RulesOfSome::of(some, benchmark);
    let level = match rules.alpha {
        Some(alpha) => Some(OwnLevel {
            alpha,
            looks: looks(alpha)?,
        }),
        None => None,
    };
    Ok(OwnRules {
        margin: rules.margin,
        level,
        judged: rules.metric,
        budget: rules.budget,
    })
}

/// What is decided for a benchmark of a recording, which is looked at once,
/// after so many replicates, and has no time to spend.
#[cfg(feature = "commands")]
pub(crate) fn recorded_rules(some: &[RulesOfSome], benchmark: &str, replicates: u32) -> OwnRules {
    let rules = RulesOfSome::of(some, benchmark);
    OwnRules {
        margin: rules.margin,
        level: rules.alpha.map(|alpha| OwnLevel {
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

/// A benchmark can only be judged by what is measured of `whom`.
pub(crate) fn refuse_own_unmeasured(
    benchmarks: &[Benchmark],
    measured: &[Metric],
    whom: &str,
) -> Result<(), RaceError> {
    for benchmark in benchmarks {
        if let Some(judged) = &benchmark.rules.judged
            && !measured.contains(judged)
        {
            let known: Vec<&str> = measured.iter().map(Metric::name).collect();
            return Err(RaceError::Design(format!(
                "benchmark '{}': the metric {judged} that its rules in deadheat.toml name is not \
                 measured; of {whom} there are {}",
                benchmark.name,
                known.join(", ")
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_analysis::planned_looks;
    use deadheat_model::{Glob, RaceSettings};

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
        let own = own_rules(&some("cpu"), "parse/json", looks).unwrap();
        let level = own.level.unwrap();
        assert_eq!(level.looks, planned_looks(0, 40, 0.01).unwrap());
        assert_eq!(level.looks.at, planned_looks(0, 40, 0.05).unwrap().at);
        assert_eq!(own.judged, Some(Metric::Cpu));
        assert!(own_rules(&some("cpu"), "sort", looks).unwrap().is_empty());
    }

    #[test]
    fn a_metric_that_is_not_measured_names_the_benchmark() {
        let looks = |alpha| planned_looks(0, 40, alpha);
        let benchmark = |metric| Benchmark {
            name: "parse/json".to_owned(),
            rules: own_rules(&some(metric), "parse/json", looks).unwrap(),
            ..Benchmark::default()
        };
        let measured = [Metric::Wall, Metric::Cpu];
        assert!(refuse_own_unmeasured(&[benchmark("cpu")], &measured, "functions").is_ok());
        let error = refuse_own_unmeasured(&[benchmark("cpus")], &measured, "functions");
        let told = error.unwrap_err().to_string();
        assert!(
            told.contains("'parse/json'") && told.contains("wall, cpu"),
            "{told}"
        );
    }
}
