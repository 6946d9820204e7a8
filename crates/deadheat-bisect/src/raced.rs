//! The effects of the benchmarks of a race, from its run.

use deadheat::parts::analysis::{Options, analyse, measured_effects};
use deadheat::parts::model::{Analysis, Benchmark, Comparison, Metric, Run, Scope, Verdict};

use crate::log::{UnmeasuredBenchmark, UnmeasuredReason};
use crate::session::{RaceResults, RacedBenchmark};

/// Returns the name of a benchmark with its parameters, which is unique in the run.
fn name_of(benchmark: &Benchmark) -> String {
    let values = benchmark.parameters.iter();
    let values: Vec<String> = values
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    match values.is_empty() {
        true => benchmark.name.clone(),
        false => format!("{} [{}]", benchmark.name, values.join(", ")),
    }
}

/// Returns the name without the parameters, for filters.
pub(crate) fn plain_name(name: &str) -> &str {
    match name.rsplit_once(" [") {
        Some((plain, rest)) if rest.ends_with(']') => plain,
        _ => name,
    }
}

/// Returns the result of every benchmark of a run, over all replicates.
pub(crate) fn race_results(run: &Run, was_cut: bool) -> RaceResults {
    let benchmarks = raced_benchmarks(run);
    let left_out = run.header.left_out.iter().map(|one| UnmeasuredBenchmark {
        benchmark: one.benchmark.clone(),
        reason: UnmeasuredReason::LeftOut(one.reason.clone()),
    });
    let failures = run.first_failures();
    let planned = run.header.plan.benchmarks.iter().enumerate();
    let without = planned.filter_map(|(index, benchmark)| {
        let name = name_of(benchmark);
        let reason = match failures.get(&index) {
            Some(failed) => UnmeasuredReason::Failed(failed.message.clone()),
            None => UnmeasuredReason::TooFewReplicates,
        };
        let has_result = benchmarks.iter().any(|one| one.name == name);
        (!has_result && benchmark.rerun.is_none()).then_some(UnmeasuredBenchmark {
            benchmark: name,
            reason,
        })
    });
    RaceResults {
        unmeasured: left_out.chain(without).collect(),
        benchmarks,
        was_cut,
    }
}

/// Returns the result of every benchmark with a standard error. A benchmark that failed has no
/// result, although it may have replicates from before its failure.
fn raced_benchmarks(run: &Run) -> Vec<RacedBenchmark> {
    let options = Options {
        without_figures: true,
        ..Options::default()
    };
    let analysis = analyse(run, options);
    let judged = |benchmark: &Benchmark| {
        analysis.comparisons.iter().find(|one| {
            let same =
                one.benchmark == benchmark.name && one.details.parameters == benchmark.parameters;
            same && one.candidate.is_some()
        })
    };
    let benchmarks = &run.header.plan.benchmarks;
    let mut raced: Vec<RacedBenchmark> = Vec::new();
    for found in measured_effects(run)
        .iter()
        .filter(|one| one.candidate == 0)
    {
        let benchmark = &benchmarks[found.benchmark];
        raced.push(RacedBenchmark {
            name: name_of(benchmark),
            judged: run.header.plan.judged(found.benchmark).clone(),
            effect: found.effect,
            se: found.se,
            df: found.df,
            replicates: found.replicates,
            is_called: judged(benchmark)
                .is_some_and(|one| matches!(one.verdict, Some(Verdict::Faster | Verdict::Slower))),
            is_placed: judged(benchmark).is_some_and(speaks_of_the_source),
        });
    }
    raced.extend(exact(run, &analysis, &raced));
    let has_failed = |name: &str| {
        let mut failed = run.failures.iter();
        failed.any(|one| name_of(&benchmarks[one.benchmark]) == name)
    };
    raced.retain(|one| !has_failed(&one.name));
    raced
}

/// Returns true if code layout cannot have caused the change: every replicate had another layout,
/// or instructions were counted, which do not depend on the layout.
fn speaks_of_the_source(comparison: &Comparison) -> bool {
    comparison.evidence.scope == Scope::Source || comparison.terms.metric == Metric::Instructions
}

/// Returns the benchmarks whose counts are equal in all replicates. `measured_effects` omits these
/// benchmarks, because they lack a standard error, but for counts the error is known to be 0.
fn exact(run: &Run, analysis: &Analysis, known: &[RacedBenchmark]) -> Vec<RacedBenchmark> {
    let benchmarks = run.header.plan.benchmarks.iter();
    let unknown = benchmarks.filter(|one| {
        let name = name_of(one);
        one.rerun.is_none() && !known.iter().any(|known| known.name == name)
    });
    let found = unknown.filter_map(|benchmark| {
        let comparison = analysis.comparisons.iter().find(|one| {
            one.benchmark == benchmark.name && one.details.parameters == benchmark.parameters
        })?;
        let estimate = comparison.estimate.as_ref()?;
        let is_count = !comparison.terms.metric.is_pace();
        (is_count && estimate.replicates >= 2).then(|| RacedBenchmark {
            name: name_of(benchmark),
            judged: comparison.terms.metric.clone(),
            effect: estimate.effect,
            se: 0.0,
            df: (estimate.replicates - 1) as f64,
            replicates: estimate.replicates,
            is_called: estimate.effect.0 != 0.0,
            is_placed: speaks_of_the_source(comparison),
        })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_benchmark_with_parameters_is_found_by_its_name_alone() {
        let benchmark = Benchmark {
            name: "sort".to_owned(),
            parameters: vec![("n".to_owned(), "10".to_owned())],
            ..Benchmark::default()
        };
        assert_eq!(name_of(&benchmark), "sort [n=10]");
        assert_eq!(plain_name("sort [n=10]"), "sort");
        assert_eq!(plain_name("a[0]"), "a[0]");
    }
}
