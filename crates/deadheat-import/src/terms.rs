//! The rules of `deadheat.toml` and of the command line for recorded data, which carry no plan.

use std::path::Path;

use crate::results::Results;
use deadheat::parts::exit::Failure;
use deadheat::parts::rules::Rules;
use deadheat::parts::settings::Selection;
use deadheat_model::{BenchmarkOverrides, LevelOverride, Looks, Metric, Origin, RulesOfSome, Run};

/// The terms that saved results, which carry no plan, are judged by.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// Smallest relative change worth acting on; 0.01 is 1 %.
    pub margin: f64,
    /// Chance of any wrong verdict that the user accepts.
    pub alpha: f64,
    /// The metric the verdict speaks of, by name; without one the first of
    /// each benchmark.
    pub metric: Option<String>,
    /// Rules of some benchmarks; the last that fits wins, key by key.
    pub rules: Vec<RulesOfSome>,
}

impl Terms {
    /// The terms that these rules ask for.
    pub fn new(rules: &Rules) -> Self {
        let settings = rules.settings();
        Self {
            margin: settings.margin(),
            alpha: settings.alpha(),
            metric: settings.metric.map(|metric| metric.name().to_owned()),
            rules: rules.some(),
        }
    }

    /// Returns the metric that a benchmark is judged by, if the user chose one.
    pub(crate) fn metric_of(&self, benchmark: &str) -> Option<String> {
        let own = RulesOfSome::of(&self.rules, benchmark).metric;
        own.map(|metric| metric.name().to_owned())
            .or_else(|| self.metric.clone())
    }
}

/// Removes the benchmarks that the filters of the rules file leave out.
pub fn keep_selected(rules: &Rules, results: &mut Results) {
    let selection = rules.selection(Selection::default());
    results.benchmarks.retain(|one| selection.names(&one.name));
}

/// Gives the benchmarks of a recording their own rules; a race keeps those
/// it was planned with. `file` is the recording, for messages.
pub(crate) fn govern(rules: &Rules, run: &mut Run, file: &Path) -> Result<(), Failure> {
    if run.header.origin == Origin::Race || !run.sides.is_empty() {
        return Ok(());
    }
    let some = rules.some();
    let end = run.header.plan.design.looks.max_replicates();
    for index in 0..run.header.plan.benchmarks.len() {
        let recorded = run.header.metrics_of(index);
        let benchmark = &mut run.header.plan.benchmarks[index];
        benchmark.overrides = recorded_rules(&some, &benchmark.name, end);
        let asked = benchmark.overrides.judged.take();
        benchmark.overrides.judged = asked.map(|metric| metric.as_in(&recorded));
        if let Some(judged) = &benchmark.overrides.judged
            && !recorded.contains(judged)
        {
            let known: Vec<&str> = recorded.iter().map(Metric::name).collect();
            // Only a file has rules of some benchmarks.
            let path = rules.gate().config.unwrap_or_default();
            return Err(Failure::Usage(format!(
                "metric {judged} of benchmark '{}' in {}: {} records only {}",
                benchmark.name,
                path.display(),
                file.display(),
                known.join(", ")
            )));
        }
    }
    Ok(())
}

/// The settings decided for a benchmark of a recording, which is looked at once, after this many
/// replicates, has no time to spend, and does not hold single iterations.
pub(crate) fn recorded_rules(
    some: &[RulesOfSome],
    benchmark: &str,
    replicates: u32,
) -> BenchmarkOverrides {
    let rules = RulesOfSome::of(some, benchmark);
    let level = |alpha| LevelOverride {
        alpha,
        looks: Looks {
            at: vec![replicates],
            levels: vec![alpha],
            weights: vec![1.0],
        },
    };
    BenchmarkOverrides {
        margin: rules.margin,
        level: rules.alpha.map(level),
        judged: rules.metric,
        ..BenchmarkOverrides::default()
    }
}
