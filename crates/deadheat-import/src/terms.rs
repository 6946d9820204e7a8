//! Applies the rules of `deadheat.toml` and of the command line to recorded data, which contain no
//! plan.

use std::path::Path;

use crate::results::{ResultBenchmark, Results};
use deadheat::parts::exit::Failure;
use deadheat::parts::report::first_of;
use deadheat::parts::rules::Rules;
use deadheat::parts::settings::Selection;
use deadheat::parts::terminal::to_stderr;
use deadheat_model::{BenchmarkOverrides, LevelOverride, Looks, Metric, Origin, RulesOfSome, Run};

/// The settings for judging saved results, which contain no plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// Smallest relative change worth acting on; 0.01 is 1%.
    pub margin: f64,
    /// The accepted probability of any wrong verdict, from 0 to 1.
    pub alpha: f64,
    /// The name of the metric that the verdict is about; `None` means the first metric of each
    /// benchmark.
    pub metric: Option<String>,
    /// Rules for some of the benchmarks. If several match, the last one that sets a key wins.
    pub rules: Vec<RulesOfSome>,
}

impl Terms {
    /// Returns the settings that these rules contain.
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

/// Removes the benchmarks that `include` and `exclude` of the rules file leave out. Returns their
/// names.
pub fn keep_selected(rules: &Rules, results: &mut Results) -> Vec<String> {
    let selection = rules.selection(Selection::default());
    let is_left_out = |one: &mut ResultBenchmark| !selection.names(&one.name);
    let removed = results.benchmarks.extract_if(.., is_left_out);
    removed.map(|one| one.name).collect()
}

/// Prints a note with the benchmarks that the rules file leaves out.
pub fn tell_of_left_out(mut names: Vec<String>) {
    /// The largest number of names in the note.
    const NAMED: usize = 5;
    names.sort();
    names.dedup();
    if !names.is_empty() {
        let names = first_of(names, NAMED);
        to_stderr("note", &format!("the rules file leaves out {names}"));
    }
}

/// Applies the rules for some benchmarks to a recording. A race keeps the rules of its plan. `file`
/// is the name of the recording in errors.
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
            // Only a rules file can set rules for some benchmarks.
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

/// Returns the settings for a benchmark of a recording, which is analysed once, after `replicates`
/// replicates. Settings about the time budget or about single iterations do not apply to
/// recordings.
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
