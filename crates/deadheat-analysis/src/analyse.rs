//! The analysis of a run: all at once, or benchmark by benchmark for callers that do not hold all
//! of its samples.

use std::borrow::Cow;
use std::collections::HashSet;
use std::thread;

use deadheat_model::{
    Analysis, Benchmark, Contender, EndReason, Ending, FailedBenchmark, Gates, LeftOut,
    LeftOutReason, Origin, Plan, Processes, RerunKind, Run, Samples, Workload,
};

use crate::benchmark::benchmark;
use crate::raced::{Options, Part, Raced, RerunSamples};
#[cfg(feature = "recordings")]
use crate::recordings::about_the_recordings;
use crate::suite::{Answers, in_suite, overall};

/// Analyses a run. Pure: the same run gives the same analysis.
pub fn analyse(run: &Run, options: Options) -> Analysis {
    analyse_with(run, options, &|index| Cow::Borrowed(&run.benchmarks[index]))
}

/// Analyses a run whose samples are not in memory: `samples` returns the samples of one benchmark,
/// and is called from several threads. A recording with several files per side must still have its
/// samples in memory, because the mean over all benchmarks is computed file by file.
pub fn analyse_with<'s>(
    run: &Run,
    options: Options,
    samples: &(dyn Fn(usize) -> Cow<'s, Samples> + Sync),
) -> Analysis {
    let per_benchmark = PerBenchmarkAnalysis::new(run, options);
    // Searching all benchmarks for the reruns of each of 50,000 took longer than reading their
    // files.
    let reruns = run.header.plan.reruns();
    let part = |index: &usize| {
        let of_kind = |kind| {
            let rerun = *reruns.get(&(*index, kind))?;
            Some((rerun, samples(rerun)))
        };
        let own_link = of_kind(RerunKind::OwnLink);
        let turns = of_kind(RerunKind::Turns);
        let reruns = RerunSamples {
            own_link: own_link.as_ref().map(|(index, own)| (*index, &**own)),
            turns: turns.as_ref().map(|(index, own)| (*index, &**own)),
        };
        per_benchmark.benchmark(*index, &samples(*index), reruns)
    };
    let answered = (0..run.benchmarks.len()).filter(|index| per_benchmark.has_answer(*index));
    let answered: Vec<usize> = answered.collect();
    let cores = match answered.len() {
        ..FEW_BENCHMARKS => 1,
        _ => thread::available_parallelism().map_or(1, usize::from),
    };
    let mut answers = Answers::for_benchmarks(answered.len());
    // In chunks, because all results at once, in the lists of the threads and in `answers`, would
    // need twice the memory.
    for some in answered.chunks(MOST_AT_ONCE * cores) {
        let each = some.len().div_ceil(cores);
        let (mine, others) = some.split_at(each);
        thread::scope(|scope| {
            let others: Vec<_> = others
                .chunks(each)
                .map(|some| scope.spawn(|| some.iter().map(part).collect::<Vec<Part>>()))
                .collect();
            mine.iter().for_each(|index| answers.add(part(index)));
            for other in others {
                match other.join() {
                    Ok(parts) => parts.into_iter().for_each(|part| answers.add(part)),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
    }
    per_benchmark.whole(answers)
}

/// The largest number of benchmarks that each thread analyses before the results of all threads are
/// combined.
const MOST_AT_ONCE: usize = 1_024;

/// The smallest number of benchmarks for which several threads are worthwhile: a benchmark of 60
/// samples takes some 20 µs.
const FEW_BENCHMARKS: usize = 64;

/// Analyses the benchmarks of a run one by one, from any number of threads, and combines the
/// results into the same analysis as [`analyse`](crate::analyse).
pub struct PerBenchmarkAnalysis<'a> {
    run: &'a Run,
    options: Options,
    /// The indices of the benchmarks that failed.
    failed: HashSet<usize>,
}

impl<'a> PerBenchmarkAnalysis<'a> {
    /// Creates an analysis of a run, which need not hold its samples.
    pub fn new(run: &'a Run, options: Options) -> Self {
        let failed = run.failures.iter().map(|one| one.benchmark).collect();
        Self {
            run,
            options,
            failed,
        }
    }

    /// Returns true if a benchmark gets rows in the analysis. Failed benchmarks and reruns do not,
    /// and p-values are not adjusted for them.
    pub fn has_answer(&self, benchmark: usize) -> bool {
        let planned = self.run.header.plan.benchmarks.get(benchmark);
        planned.is_some_and(|planned| planned.rerun.is_none()) && !self.failed.contains(&benchmark)
    }

    /// Analyses one benchmark, for which [`has_answer`](Self::has_answer) is true, from its samples
    /// and those of its reruns ([`Plan::reruns`]).
    pub fn benchmark(&self, index: usize, samples: &Samples, reruns: RerunSamples<'_>) -> Part {
        let raced = Raced {
            run: self.run,
            index,
            samples,
            reruns: reruns.without(&self.failed),
        };
        benchmark(&raced, self.options)
    }

    /// Combines the results of all benchmarks, in the order of the plan, into the analysis of the
    /// run.
    pub fn gather(&self, parts: Vec<Part>) -> Analysis {
        let mut answers = Answers::for_benchmarks(parts.len());
        parts.into_iter().for_each(|part| answers.add(part));
        self.whole(answers)
    }

    /// Returns the benchmarks of this run that should have raced but lack samples. The report on a
    /// suite of 53 once showed the only benchmark that the budget had time for, and did not mention
    /// the others.
    fn not_begun(&self, answers: &Answers) -> Vec<LeftOut> {
        let run = self.run;
        if run.header.origin != Origin::Race {
            return Vec::new();
        }
        let plan = &run.header.plan;
        let answered = (0..plan.benchmarks.len()).filter(|index| self.has_answer(*index));
        let answered = answered
            .zip(answers.counts())
            .map(|(index, count)| (&plan.benchmarks[index], count));
        answered
            .filter(|(benchmark, count)| *count == 0 && plan.races(benchmark))
            .map(|(benchmark, _)| LeftOut {
                benchmark: benchmark.name.clone(),
                reason: LeftOutReason::Skipped(reason_not_begun(run).to_owned()),
            })
            .collect()
    }

    fn whole(&self, answers: Answers) -> Analysis {
        let run = self.run;
        let plan = &run.header.plan;
        let mut left_out = run.header.left_out.clone();
        left_out.extend(self.not_begun(&answers));
        let comparisons = in_suite(run, answers);
        Analysis {
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            seed: (run.header.origin == Origin::Race).then_some(plan.seed),
            design: plan.design.clone(),
            failures: failures(run),
            left_out,
            overall: overall(run, &comparisons),
            comparisons,
            #[cfg(feature = "recordings")]
            warnings: about_the_recordings(&run.sides),
            #[cfg(not(feature = "recordings"))]
            warnings: Vec::new(),
            gates: Gates::default(),
            builds: run.header.environment.builds.clone(),
            surroundings: run.header.environment.surroundings.clone(),
            sides: run.sides.clone(),
            processes: processes(plan),
            of_builds: is_of_builds(plan),
            launches: run.launches,
            elapsed_seconds: run.elapsed_ns as f64 / 1e9,
            ending: match (&run.end, run.header.origin) {
                (Some(end), _) => Ending::Recorded(end.reason.clone()),
                (None, Origin::Race) => Ending::Cut,
                (None, _) => Ending::Recording,
            },
            second_race: None,
            calibration: run.header.environment.calibration.clone(),
        }
    }
}

fn reason_not_begun(run: &Run) -> &'static str {
    let merged = run.header.environment.merged.as_ref();
    if merged.is_some_and(|parts| parts.missing().next().is_some()) {
        return "the part that races this benchmark is missing";
    }
    match run.end.as_ref().map(|end| &end.reason) {
        Some(EndReason::Budget) => "the time budget ended before its first block",
        Some(_) => "the race ended before its first block",
        None => "the recording ends before its first block",
    }
}

fn failures(run: &Run) -> Vec<FailedBenchmark> {
    let first_failures = run.first_failures();
    let failed = |(index, benchmark): (usize, &Benchmark)| {
        let first = first_failures.get(&index)?;
        let name = match benchmark.rerun {
            Some(rerun) => format!("{} ({})", benchmark.name, rerun.kind.label()),
            None => benchmark.name.clone(),
        };
        Some(FailedBenchmark {
            benchmark: name,
            parameters: benchmark.parameters.clone(),
            message: first.message.clone(),
        })
    };
    let benchmarks = run.header.plan.benchmarks.iter().enumerate();
    benchmarks.filter_map(failed).collect()
}

/// Returns true if the contenders of each benchmark are builds of the same work: workers in
/// separate processes, the same benchmark of a harness, or benchmarks in different executables of a
/// harness.
fn is_of_builds(plan: &Plan) -> bool {
    let is_build =
        |baseline: &Contender, other: &Contender| match (&baseline.workload, &other.workload) {
            (Workload::Worker(one), Workload::Worker(other)) => one.process != other.process,
            (Workload::Harness(one), Workload::Harness(other)) => {
                one.benchmark == other.benchmark || one.program != other.program
            }
            _ => false,
        };
    let mut benchmarks = plan.benchmarks.iter();
    benchmarks.all(|benchmark| match &benchmark.contenders[..] {
        [baseline, others @ ..] => others.iter().all(|other| is_build(baseline, other)),
        [] => true,
    })
}

fn processes(plan: &Plan) -> Processes {
    let contenders = plan.benchmarks.iter().flat_map(|one| &one.contenders);
    let kinds = contenders.map(|contender| match &contender.workload {
        Workload::Function(_) => Processes::Workers,
        Workload::Worker(calls) if calls.program.server().is_some() => Processes::ServerWorkers,
        Workload::Worker(_) => Processes::ProgramWorkers,
        Workload::Harness(_) => Processes::HarnessLaunches,
        Workload::Command(_) | Workload::Recording => Processes::Launches,
    });
    let mut others = kinds.filter(|kind| *kind != Processes::Launches);
    others.next().unwrap_or_default()
}
