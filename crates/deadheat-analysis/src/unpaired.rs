//! Recordings without blocks: two samples side by side, and a weaker verdict.
//!
//! Whatever drifts while one side runs and then the other counts as change here, and no formula can
//! tell it apart. What can be kept is the rule that what was drawn once is one observation.
//!
//! Of saved results that is a file. What a process drew cannot be known from inside it, nor what an
//! hour drew from within it: two files of an unchanged suite were told apart in 32 of 45 rows by
//! their samples, and those of pyperf in 46 % by their processes, on a machine with nothing else to
//! do. So one file a side gets no verdict. Files that were recorded in turns are set each against
//! its neighbour in time, as the blocks of a race are.
//!
//! A table of somebody's own may name its processes, which are taken at their word. Where it names
//! none a sample is an observation, and the interval allows for one layout of memory.

use deadheat_model::{
    Comparison, ContenderId, Metric, Observation, ResultSide, Run, Samples, Warning,
};

use crate::effect_estimate::{excludes_zero, verdict};
use crate::effects::{tick, ticks_per_sample};
use crate::figures::Figured;
use crate::metrics::metric_rows;
use crate::raced::{Members, Options, Typical, side};
use crate::recordings::turns;
use crate::unpaired_estimate::{Logs, Terms, Unpaired};
use crate::warnings::{self, Traces};

/// Compares every candidate with the baseline; `empty` is what stands in every row, and the second
/// of the answer the p-values of the rows.
pub(crate) fn unpaired(
    run: &Run,
    (index, samples, members): (usize, &Samples, &Members),
    empty: Comparison,
    baseline_values: &[f64],
    (figured, options): (Option<&Figured>, Options),
) -> (Vec<Comparison>, Vec<Option<f64>>) {
    let header = &run.header;
    let benchmark = &header.plan.benchmarks[index];
    let judged = header.plan.judged(index);
    let candidates = benchmark.contenders.len().saturating_sub(1);
    let mut terms = Terms {
        // As for pairs, all intervals hold together.
        level: header.plan.alpha(index) / candidates.max(1) as f64,
        margin: header.plan.margin(index),
        each: observation(run, samples),
        single_files: !run.sides.is_empty() && run.sides.iter().all(|side| side.files.len() == 1),
        turns: None,
    };
    let saved = |name: &str| run.sides.iter().find(|side| side.name == name);
    let logs = |metric: &Metric, id| Logs::of(header, samples, metric, id);
    let baselines: Vec<Option<Logs>> = samples
        .metrics()
        .iter()
        .map(|metric| logs(metric, ContenderId::BASELINE))
        .collect();
    let mut comparisons = Vec::new();
    let mut p_values = Vec::new();
    for id in benchmark.candidates() {
        let mut values = members.values(samples, judged, id);
        let name = &benchmark.contenders[id.index()].name;
        let Some(candidate) = side(name, &mut values, Typical::Location) else {
            continue;
        };
        let sides: Option<[&ResultSide; 2]> = saved(&empty.baseline.name)
            .zip(saved(&candidate.name))
            .map(Into::into);
        terms.turns = sides.and_then(|[first, second]| turns(first, second));
        let control_comparison = |metric: &Metric| {
            let place = samples.metrics().iter().position(|m| m == metric)?;
            let baseline = baselines[place].as_ref()?;
            let candidate = logs(metric, id)?;
            let ticks = tick(metric, header).and_then(|tick| {
                let column = samples.column(metric)?;
                ticks_per_sample(tick, column, samples.samples(), id)
            });
            Some(Unpaired::of(baseline, &candidate, metric, ticks, &terms))
        };
        let Some(found) = control_comparison(judged) else {
            continue;
        };
        let sides = (&empty.baseline, Some((id, &candidate)));
        let metrics = metric_rows(run, samples, index, members, sides, |metric| {
            if metric == judged {
                let call = found.judged.as_ref()?.call;
                return Some((found.estimate()?, call.map(verdict)));
            }
            let other = control_comparison(metric)?;
            let estimate = other.estimate_of_the_table()?;
            let call = estimate.interval.and(other.call_of_the_table(metric));
            Some((estimate, call.map(verdict)))
        });
        let judged = found.judged.as_ref();
        let (figures, plots) = figured
            .map(|figured| figured.against(id, None, options.plots))
            .unzip();
        let mut comparison = Comparison {
            candidate: Some(candidate),
            estimate: found.estimate(),
            verdict: judged.and_then(|judged| judged.call).map(verdict),
            excludes_zero: excludes_zero(judged.and_then(|judged| judged.interval)),
            provisional: judged.is_some_and(|judged| judged.call.is_some()),
            metrics,
            figures: figures.filter(|_| !options.without_figures).map(Box::new),
            plots: plots.flatten(),
            ..empty.clone()
        };
        let mut warnings = found.doubts();
        let summary = benchmark.saved.as_ref().and_then(|s| s.summary.clone());
        warnings.extend(summary.map(|statistic| Warning::OnlySummaries { statistic }));
        warnings.extend(warnings::about_the_tails(
            baseline_values,
            &values,
            &comparison,
            terms.margin,
        ));
        let traces = Traces {
            benchmark,
            samples,
            members,
            candidate: id,
        };
        warnings.extend(traces.doubts(&comparison, terms.margin));
        warnings.extend(warnings::about_the_code(&comparison, header, benchmark));
        warnings.extend(warnings::about_the_race(
            &comparison,
            header,
            index,
            0,
            false,
            false,
        ));
        // Neither interpreters nor virtual machines link what they run.
        let tools = run.sides.iter().flat_map(|side| &side.files);
        let linked = tools.map(|file| file.tool.as_str()).all(|tool| {
            let unlinked = ["pyperf", "pytest-benchmark", "JMH", "BenchmarkDotNet"];
            !unlinked.iter().any(|name| tool.starts_with(name))
        });
        if linked && comparison.verdict.is_some() {
            warnings.push(Warning::PlacementFixed { reason: None });
        }
        warnings.extend(warnings::about_the_counters(header));
        // There may be many comparisons, with a few each.
        warnings.shrink_to_fit();
        comparison.warnings = warnings;
        p_values.push(comparison.estimate.as_ref().and_then(|e| e.p_value));
        comparisons.push(comparison);
    }
    (comparisons, p_values)
}

/// The unit that counts as one observation. Replicates are the files of a side, where any side has
/// several, and else processes.
fn observation(run: &Run, samples: &Samples) -> Observation {
    let mut replicates = samples.blocks().iter().map(|block| block.replicate);
    let first = replicates.next();
    let several = replicates.any(|other| Some(other) != first);
    match (run.sides.is_empty(), several) {
        (false, true) => Observation::File,
        (false, false) | (true, true) => Observation::Process,
        (true, false) => Observation::Sample,
    }
}
