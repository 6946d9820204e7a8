//! Profiles both sides of each pair, with counts of callgrind or samples of perf.

use std::path::Path;
use std::time::Duration;

use deadheat::parts::engine::{Interrupts, NumberedFile, Valgrind};
use deadheat::parts::exit::Failure;
use deadheat::parts::format::FormatError;
use deadheat::parts::model::{
    Benchmark, CommandLine, Contender, Harness, HarnessCalls, LeftOut, LeftOutReason, WorkerCalls,
    Workload,
};
use deadheat::parts::take_over_signals;

use crate::call_graph::{paired_functions, paired_stacks};
use crate::command::Profiler;
use crate::explanation::{Counted, ExplainedPair, Explanation};
use crate::judge::finding;
use crate::profile::Profile;
use crate::run_callgrind::{below_benchmark, count, everything};
use crate::run_error::ProfileError;
use crate::run_pairs::Pairs;
use crate::run_perf::{Perf, SCRIPT};
use crate::run_profiler::FoundProfiler;
use crate::run_program::{LaunchLength, Program, run_hook};
use crate::run_worker::ProfiledWorker;
use crate::wire_callgrind::read_callgrind;
use crate::wire_perf::read_perf_script;

/// The number of instructions that a sample should have. In a sample this long, the loop around the
/// calls and the clock readings hardly count.
const ENOUGH: u64 = 1_000_000;

/// Profiles both sides of each pair with the profiler `by`. `timeout` limits each command, launch
/// or sample. Calls `begins` before each benchmark, with its name, its index and the number of
/// benchmarks.
pub(crate) fn explanation(
    pairs: Pairs,
    by: Profiler,
    timeout: Option<Duration>,
    mut begins: impl FnMut(&str, usize, usize),
) -> Result<Explanation, Failure> {
    let interrupts = take_over_signals()?;
    let profiler = FoundProfiler::find(by, &interrupts);
    let profiler = profiler.map_err(|error| failure(&error, &interrupts))?;
    let counting = Counting {
        timeout,
        profiler: &profiler,
        interrupts: &interrupts,
    };
    let mut explained = Vec::new();
    let mut left_out = pairs.left_out.clone();
    for (place, benchmark) in pairs.benchmarks.iter().enumerate() {
        begins(&benchmark.name, place, pairs.benchmarks.len());
        match counting.benchmark(benchmark, &pairs, &mut explained)? {
            Ok(()) => {}
            Err(reason) => left_out.push(LeftOut {
                benchmark: benchmark.name.clone(),
                reason: LeftOutReason::Skipped(reason),
            }),
        }
    }
    if let (true, Some(first)) = (explained.is_empty(), left_out.first()) {
        let reason = match &first.reason {
            LeftOutReason::Skipped(reason) | LeftOutReason::NotAlike(reason) => reason.clone(),
            LeftOutReason::OnlyIn(side) => format!("only '{side}' has this benchmark"),
        };
        let text = format!(
            "benchmark '{}' cannot be explained: {reason}",
            first.benchmark
        );
        return Err(Failure::Usage(text));
    }
    Ok(Explanation {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        counter: profiler.version().to_owned(),
        unit: profiler.unit(),
        run: pairs.run,
        pairs: explained,
        left_out,
    })
}

fn failure(error: &ProfileError, interrupts: &Interrupts) -> Failure {
    let text = error.to_string();
    match (error, interrupts.requested()) {
        (ProfileError::Interrupted, Some(signal)) => Failure::Interrupted { text, signal },
        _ if error.is_of_the_plan() => Failure::Usage(text),
        _ if error.is_of_a_contender() => Failure::Contender(text),
        _ => Failure::Internal(text),
    }
}

/// The profiles of a pair, or the reason why deadheat cannot profile the pair.
type CountedPair = Result<(Counted, [Profile; 2]), String>;

struct Counting<'a> {
    timeout: Option<Duration>,
    profiler: &'a FoundProfiler,
    interrupts: &'a Interrupts,
}

impl Counting<'_> {
    /// Appends the pairs of a benchmark, whose first contender is the baseline. The inner error is
    /// the reason why deadheat cannot profile the benchmark.
    fn benchmark(
        &self,
        benchmark: &Benchmark,
        pairs: &Pairs,
        explained: &mut Vec<ExplainedPair>,
    ) -> Result<Result<(), String>, Failure> {
        let rivals = &benchmark.contenders[..benchmark.rivals()];
        let Some((old, others)) = rivals
            .split_first()
            .filter(|(_, others)| !others.is_empty())
        else {
            return Ok(Err("it has only one contender".to_owned()));
        };
        let unit = self.profiler.unit();
        for new in others {
            let counted = self.pair(old, new);
            let counted = counted.map_err(|error| self.blamed(error, benchmark, old))?;
            let (counted, [old_profile, new_profile]) = match counted {
                Ok(counted) => counted,
                Err(reason) => return Ok(Err(reason)),
            };
            let sides = [&old_profile, &new_profile];
            let totals = sides.map(|profile| profile.total);
            let wall = pairs.wall(benchmark, &new.name);
            explained.push(ExplainedPair {
                benchmark: benchmark.name.clone(),
                names: [old.name.clone(), new.name.clone()],
                counted,
                totals,
                finding: finding(totals, unit, wall.as_ref()),
                wall,
                functions: paired_functions(sides),
                stacks: paired_stacks(sides),
            });
        }
        Ok(Ok(()))
    }

    /// Converts an error into a failure that names the benchmark. Messages about commands already
    /// name the command.
    fn blamed(&self, error: NotCounted, benchmark: &Benchmark, old: &Contender) -> Failure {
        let failure = match error {
            NotCounted::Profile(error) => failure(&error, self.interrupts),
            NotCounted::Data(failure) => failure,
        };
        match (failure, &old.workload) {
            (failure, Workload::Command(_)) => failure,
            (failure @ Failure::Interrupted { .. }, _) => failure,
            (failure, _) => failure.of_part(&format!("benchmark '{}'", benchmark.name)),
        }
    }

    fn pair(&self, old: &Contender, new: &Contender) -> Result<CountedPair, NotCounted> {
        match (&old.workload, &new.workload) {
            (Workload::Command(old), Workload::Command(new)) => self
                .commands([old, new])
                .map(|profiles| Ok((Counted::Command, profiles))),
            (Workload::Worker(old), Workload::Worker(new)) => match self.profiler {
                FoundProfiler::Callgrind(_) => self.samples([old, new]),
                FoundProfiler::Perf(perf) => self.sampling(perf).workers([old, new]),
            }
            .map(Ok),
            (Workload::Harness(old), Workload::Harness(new))
                if old.harness == Harness::GoogleBenchmark =>
            {
                match self.profiler {
                    FoundProfiler::Callgrind(valgrind) => self.launches(valgrind, [old, new]),
                    FoundProfiler::Perf(perf) => self.sampling(perf).launches([old, new]),
                }
                .map(Ok)
            }
            (Workload::Harness(old), _) => Ok(Err(format!(
                "deadheat explain cannot select benchmarks in executables of {}\nhelp: explain \
                 whole commands: deadheat explain -- 'OLD …' 'NEW …'",
                old.harness.name()
            ))),
            _ => Ok(Err(
                "the run file does not record the program of its functions\nhelp: give the bench \
                 target: deadheat explain PROGRAM"
                    .to_owned(),
            )),
        }
    }

    fn commands(&self, sides: [&CommandLine; 2]) -> Result<[Profile; 2], NotCounted> {
        let [mut setups, mut cleanups] = [Vec::new(), Vec::new()];
        for side in sides {
            let (hooks, folder) = (&side.hooks, side.directory.as_deref());
            // A setup or cleanup that both sides share runs once. For example, a second server
            // could not use the port of the first.
            for (all, one) in [(&mut setups, &hooks.setup), (&mut cleanups, &hooks.cleanup)] {
                let one = one.as_ref().map(|words| (words, folder));
                all.extend(one.filter(|one| !all.contains(one)));
            }
        }
        let hook = |(words, folder): (&Vec<String>, Option<&Path>)| {
            run_hook(words, folder, self.interrupts).map_err(NotCounted::Profile)
        };
        setups.into_iter().try_for_each(hook)?;
        let mut period = None;
        let counted = both(sides, |line| {
            let line = &CommandLine {
                timeout: self.timeout.or(line.timeout),
                ..line.clone()
            };
            let located = |words| (words, line.directory.as_deref());
            let prepare = || line.hooks.prepare.iter().map(located).try_for_each(hook);
            let conclude = || line.hooks.conclude.iter().map(located).try_for_each(hook);
            if let (FoundProfiler::Perf(perf), None) = (self.profiler, period) {
                prepare()?;
                let program = Program::of_command(line)?;
                let whole = program.map_or(Ok(0), |one| perf.measure(one, self.interrupts))?;
                conclude()?;
                period = Some(perf.period(whole));
            }
            prepare()?;
            let counted = match (Program::of_command(line)?, self.profiler) {
                (None, _) => Ok(Profile::default()),
                (Some(program), FoundProfiler::Callgrind(valgrind)) => {
                    profile(&count(valgrind, program, everything(), self.interrupts)?)
                }
                (Some(program), FoundProfiler::Perf(perf)) => {
                    sampled(&perf.sample(program, period.unwrap_or_default(), self.interrupts)?)
                }
            };
            conclude()?;
            counted
        });
        let cleaned = cleanups.into_iter().try_for_each(hook);
        let counted = counted?;
        cleaned?;
        Ok(counted)
    }

    fn sampling<'a>(&'a self, perf: &'a Perf) -> Sampling<'a> {
        Sampling {
            profiler: self.profiler,
            perf,
            timeout: self.timeout,
            interrupts: self.interrupts,
        }
    }

    fn samples(&self, sides: [&WorkerCalls; 2]) -> Result<(Counted, [Profile; 2]), NotCounted> {
        let mut iterations = None;
        let profiles = both(sides, |calls| {
            let timeout = self.timeout;
            let mut worker = ProfiledWorker::start(self.profiler, calls, timeout, self.interrupts)?;
            // Both sides take the same sample. A first sample of the baseline determines its number
            // of calls.
            let single = profile(&[worker.counted(SEED, 1)?])?;
            let enough = ENOUGH.div_ceil(single.total.max(1)).clamp(1, MOST_CALLS);
            let iterations = *iterations.get_or_insert(enough);
            let counted = profile(&[worker.counted(SEED, iterations)?]);
            worker.leave();
            counted
        })?;
        let iterations = iterations.unwrap_or(1);
        Ok((Counted::Sample { iterations }, profiles))
    }

    fn launches(
        &self,
        valgrind: &Valgrind,
        sides: [&HarnessCalls; 2],
    ) -> Result<(Counted, [Profile; 2]), NotCounted> {
        let launch = |calls: &HarnessCalls, length, below| {
            let program = Program::of_launch(calls, length, self.timeout);
            let collect = if below {
                below_benchmark(&calls.benchmark)
            } else {
                everything()
            };
            profile(&count(valgrind, program, collect, self.interrupts)?)
        };
        // Google Benchmark before 1.8 rejects a number of iterations.
        let one = LaunchLength::Iterations(1);
        let (first, counts) = match launch(sides[0], one, true) {
            Err(NotCounted::Profile(ProfileError::Failed { .. })) => {
                (launch(sides[0], LaunchLength::Shortest, true)?, false)
            }
            launched => (launched?, true),
        };
        let below = first.total > 0;
        let iterations = match own_iterations(&sides[0].benchmark) {
            Some(own) => own,
            None if counts && below => ENOUGH.div_ceil(first.total.max(1)).clamp(1, MOST_CALLS),
            None => 1,
        };
        let length = if counts {
            LaunchLength::Iterations(iterations)
        } else {
            LaunchLength::Shortest
        };
        let profiles = both(sides, |calls| launch(calls, length, below))?;
        let counted = if below && profiles[1].total > 0 {
            Counted::BenchmarkFunction { iterations }
        } else if below {
            let profiles = both(sides, |calls| launch(calls, length, false))?;
            return Ok((Counted::Launch { iterations }, profiles));
        } else {
            Counted::Launch { iterations }
        };
        Ok((counted, profiles))
    }
}

/// The approximate total time of the samples that perf takes of the baseline.
const WHILE: Duration = Duration::from_millis(500);
/// The shortest duration of a sample. The number of calls per sample is doubled until a sample
/// takes this long.
const SAMPLE: Duration = Duration::from_millis(10);
const MOST_SAMPLES: u32 = 1_000;
/// The shortest launch of the baseline, in instructions or in nanoseconds on a processor. deadheat
/// raises the number of iterations until a launch takes this much.
const LAUNCH: u64 = 500_000_000;
/// If a launch has this many iterations, the number is not raised further.
const MOST_ITERATIONS: u64 = 1_000_000_000;

/// The option of Google Benchmark that accepts a number of iterations from release 1.8 on.
const LENGTH: &str = "benchmark_min_time";

/// Samples workers and Google Benchmark launches with perf. Both sides make the same number of
/// calls, which is derived from a measurement of the baseline.
struct Sampling<'a> {
    profiler: &'a FoundProfiler,
    perf: &'a Perf,
    timeout: Option<Duration>,
    interrupts: &'a Interrupts,
}

impl Sampling<'_> {
    fn workers(&self, sides: [&WorkerCalls; 2]) -> Result<(Counted, [Profile; 2]), NotCounted> {
        let start =
            |calls| ProfiledWorker::start(self.profiler, calls, self.timeout, self.interrupts);
        // A separate worker determines the number of calls; its samples are not read.
        let mut first = start(sides[0])?;
        let mut iterations = 1;
        let mut took = first.calls(SEED, iterations, 1)?;
        while took < SAMPLE && iterations < MOST_CALLS {
            iterations *= 2;
            took = first.calls(SEED, iterations, 1)?;
        }
        drop(first);
        let samples = WHILE.as_nanos() / took.as_nanos().max(1);
        let samples = samples.clamp(1, MOST_SAMPLES.into()) as u32;
        let profiles = both(sides, |calls| {
            let mut worker = start(calls)?;
            worker.calls(SEED, iterations, samples)?;
            sampled(&worker.sampled()?.unwrap_or_default())
        })?;
        let iterations = iterations * u64::from(samples);
        Ok((Counted::Worker { iterations }, profiles))
    }

    fn launches(&self, sides: [&HarnessCalls; 2]) -> Result<(Counted, [Profile; 2]), NotCounted> {
        let (perf, timeout, interrupts) = (self.perf, self.timeout, self.interrupts);
        let measured = |iterations| {
            let length = LaunchLength::Iterations(iterations);
            let program = Program::of_launch(sides[0], length, timeout);
            perf.measure(program, interrupts)
                .map_err(|error| match error {
                    ProfileError::Failed { program, ended, .. } if ended.contains(LENGTH) => {
                        ProfileError::NoLength { program }
                    }
                    error => error,
                })
        };
        let own = own_iterations(&sides[0].benchmark);
        let mut iterations = own.unwrap_or(1);
        let mut whole = measured(iterations)?;
        while own.is_none() && whole < LAUNCH && iterations < MOST_ITERATIONS {
            iterations *= (LAUNCH / whole.max(1) + 1).clamp(2, 10);
            whole = measured(iterations)?;
        }
        let period = perf.period(whole);
        let profiles = both(sides, |calls| {
            let length = LaunchLength::Iterations(iterations);
            let program = Program::of_launch(calls, length, timeout);
            sampled(&perf.sample(program, period, interrupts)?)
        })?;
        Ok((Counted::Launch { iterations }, profiles))
    }
}

const SEED: u64 = 1;
/// The largest number of calls in a sample, because a worker may have to prepare a separate input
/// for each call in advance.
const MOST_CALLS: u64 = 1 << 12;

enum NotCounted {
    Profile(ProfileError),
    Data(Failure),
}

impl From<ProfileError> for NotCounted {
    fn from(error: ProfileError) -> Self {
        Self::Profile(error)
    }
}

impl From<FormatError> for NotCounted {
    fn from(error: FormatError) -> Self {
        Self::Data(Failure::reading(error))
    }
}

/// Returns the number of iterations that a Google Benchmark benchmark fixes in its name.
fn own_iterations(benchmark: &str) -> Option<u64> {
    let mut parts = benchmark.split('/').skip(1);
    parts.find_map(|part| part.strip_prefix("iterations:")?.parse().ok())
}

fn both<T>(
    [old, new]: [T; 2],
    mut count: impl FnMut(T) -> Result<Profile, NotCounted>,
) -> Result<[Profile; 2], NotCounted> {
    Ok([count(old)?, count(new)?])
}

fn profile(dumps: &[NumberedFile]) -> Result<Profile, NotCounted> {
    let mut whole = Profile::default();
    for dump in dumps {
        whole.add(&read_callgrind(&dump.name, &dump.text)?);
    }
    Ok(whole)
}

fn sampled(printed: &str) -> Result<Profile, NotCounted> {
    Ok(read_perf_script(SCRIPT, printed)?)
}
