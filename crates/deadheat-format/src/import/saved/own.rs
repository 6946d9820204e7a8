//! Recordings of deadheat itself, and tables of samples.

use std::path::Path;

use deadheat_model::{Benchmark, Metric, ResultBenchmark, ResultState, Results, Run};

use super::rows::tool;
use crate::error::FormatError;
use crate::import::csv::read_csv_from;
use crate::import::recording::RecordingPlan;
use crate::run_file::read_run_from;

/// Reads a run file.
pub(super) fn read_run(file: &Path, text: &[u8]) -> Result<Results, FormatError> {
    Ok(results(file, &read_run_from(text, file)?, "deadheat"))
}

/// Reads tidy CSV.
pub(super) fn read_table(file: &Path, text: &[u8]) -> Result<Results, FormatError> {
    // Nothing is decided here.
    let plan = RecordingPlan {
        margin: 0.01,
        alpha: 0.05,
        judged: Metric::Wall,
    };
    Ok(results(
        file,
        &read_csv_from(text, file, &plan)?,
        "tidy CSV",
    ))
}

/// Every contender by itself. Which samples were taken together is forgotten:
/// it means nothing beside another file.
fn results(file: &Path, run: &Run, tool: &str) -> Results {
    let version = Some(&run.header.tool_version).filter(|version| !version.is_empty());
    let mut results = Results::new(file.to_string_lossy(), self::tool(tool, version));
    let environment = &run.header.environment;
    results.facts.system = Some(environment.system.clone()).filter(|system| !system.is_empty());
    results.facts.cpu.clone_from(&environment.cpu);
    results.facts.cores = environment.cores;
    results.facts.debug_build = environment.debug_build.then_some(true);
    for (index, planned) in run.header.plan.benchmarks.iter().enumerate() {
        if planned.own_link.is_some() {
            continue;
        }
        let failed = run.failures.iter().find(|failed| failed.benchmark == index);
        for contender in 0..planned.rivals() {
            // What was measured before it failed stands for nothing.
            let measured = match failed {
                Some(failed) => ResultBenchmark {
                    state: ResultState::Failed(failed.message.clone()),
                    ..ResultBenchmark::default()
                },
                None => rows(run, index, contender),
            };
            results.push(ResultBenchmark {
                name: name(planned, contender),
                parameters: planned.parameters.clone(),
                ..measured
            });
        }
    }
    results
}

/// Where a benchmark has several contenders each of them is one here.
fn name(benchmark: &Benchmark, contender: usize) -> String {
    match &benchmark.contenders[..benchmark.rivals()] {
        [_] => benchmark.name.clone(),
        several => format!("{}/{}", benchmark.name, several[contender].name),
    }
}

fn rows(run: &Run, index: usize, contender: usize) -> ResultBenchmark {
    let samples = &run.benchmarks[index];
    let mut rows = ResultBenchmark {
        metrics: samples.metrics().to_vec(),
        ..ResultBenchmark::default()
    };
    for block in samples.blocks() {
        for at in block.range() {
            let sample = &samples.samples()[at];
            if sample.contender.index() != contender {
                continue;
            }
            rows.processes.push(block.replicate);
            for metric in samples.metrics() {
                let value = samples.column(metric).map_or(0.0, |column| column[at]);
                rows.values.push(if metric.adds_up() {
                    value / sample.iterations as f64
                } else {
                    value
                });
            }
        }
    }
    // The metric that the race was judged by comes first.
    let judged = &run.header.plan.design.judged;
    let width = rows.metrics.len();
    if let Some(place) = rows.metrics.iter().position(|metric| metric == judged) {
        rows.metrics[..=place].rotate_right(1);
        for row in rows.values.chunks_exact_mut(width.max(1)) {
            row[..=place].rotate_right(1);
        }
    }
    rows
}
