//! Both sides of each pair, counted by callgrind or sampled by perf, and set side by side.

use std::path::Path;
use std::time::Duration;

use deadheat_analysis::{finding, paired_functions, paired_stacks};
use deadheat_engine::{
    CountedWorker, Dump, Interrupts, LaunchLength, Perf, ProfileError, Valgrind, WorkerProfiler,
    run_hook,
};
use deadheat_format::{FormatError, read_callgrind, read_perf_script};
use deadheat_model::{
    Benchmark, CommandLine, Contender, Counted, ExplainedPair, Explanation, Harness, HarnessCalls,
    LeftOut, LeftOutReason, Profile, ProfileUnit, WorkerCalls, Workload,
};

use super::{ExplainSpec, Profiler};
use crate::exit::Failure;
use crate::race::take_over_signals;

/// Instructions that a sample should have: beside so many, those of a loop around a call and of a
/// reading of the clock are few.
const ENOUGH: u64 = 1_000_000;
/// Counts what both sides of each pair execute. `begins` is told the benchmark that is
/// counted, its place, and how many there are.
pub fn explain(
    spec: &ExplainSpec,
    mut begins: impl FnMut(&str, usize, usize),
) -> Result<Explanation, Failure> {
    let interrupts = take_over_signals()?;
    let failed = |error: ProfileError| failure(&error, &interrupts);
    let tool = Tool::find(spec.by, &interrupts).map_err(failed)?;
    let counting = Counting {
        spec,
        tool: &tool,
        interrupts: &interrupts,
    };
    let unit = tool.unit();
    let mut pairs = Vec::new();
    let mut left_out = spec.left_out.clone();
    for (place, benchmark) in spec.benchmarks.iter().enumerate() {
        begins(&benchmark.name, place, spec.benchmarks.len());
        let rivals = &benchmark.contenders[..benchmark.rivals()];
        let Some((old, others)) = rivals
            .split_first()
            .filter(|(_, others)| !others.is_empty())
        else {
            let reason = "it has one contender only";
            left_out.push(skipped(benchmark, reason));
            continue;
        };
        for new in others {
            let counted = counting.pair(old, new);
            let counted = counted.map_err(|error| {
                let failure = match error {
                    NotCounted::Profile(error) => failed(error),
                    NotCounted::Data(failure) => failure,
                };
                match (failure, &old.workload) {
                    // The message names the command.
                    (failure, Workload::Command(_)) => failure,
                    (failure @ Failure::Interrupted { .. }, _) => failure,
                    (failure, _) => failure.of_part(&format!("benchmark '{}'", benchmark.name)),
                }
            })?;
            match counted {
                Ok((counted, [old_profile, new_profile])) => {
                    let sides = [&old_profile, &new_profile];
                    let totals = sides.map(|profile| profile.total);
                    let wall = spec.wall(benchmark, &new.name);
                    pairs.push(ExplainedPair {
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
                Err(reason) => {
                    left_out.push(skipped(benchmark, &reason));
                    break;
                }
            }
        }
    }
    if let (true, Some(first)) = (pairs.is_empty(), left_out.first()) {
        let reason = match &first.reason {
            LeftOutReason::Skipped(reason) | LeftOutReason::NotAlike(reason) => reason.clone(),
            LeftOutReason::OnlyIn(side) => format!("only '{side}' has it"),
        };
        let text = format!(
            "benchmark '{}' cannot be explained: {reason}",
            first.benchmark
        );
        return Err(Failure::Usage(text));
    }
    Ok(Explanation {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        counter: tool.version().to_owned(),
        unit,
        run: spec.run.clone(),
        pairs,
        left_out,
    })
}

fn skipped(benchmark: &Benchmark, reason: &str) -> LeftOut {
    LeftOut {
        benchmark: benchmark.name.clone(),
        reason: LeftOutReason::Skipped(reason.to_owned()),
    }
}

/// The failure of a program that could not be counted.
fn failure(error: &ProfileError, interrupts: &Interrupts) -> Failure {
    let text = error.to_string();
    match (error, interrupts.requested()) {
        (ProfileError::Interrupted, Some(signal)) => Failure::Interrupted { text, signal },
        _ if error.is_of_the_plan() => Failure::Usage(text),
        _ if error.is_of_a_contender() => Failure::Contender(text),
        _ => Failure::Internal(text),
    }
}

/// The profiler that both sides run under.
enum Tool {
    Callgrind(Valgrind),
    Perf(Perf),
}

impl Tool {
    /// Finds the one that is wanted. perf is chosen by itself only where it samples by instructions.
    fn find(by: Profiler, interrupts: &Interrupts) -> Result<Self, ProfileError> {
        let callgrind = || Valgrind::find(interrupts).map(Self::Callgrind);
        match by {
            Profiler::Callgrind => callgrind(),
            Profiler::Perf => Perf::find(interrupts).map(Self::Perf),
            Profiler::Auto if Perf::counts_instructions() => match Perf::find(interrupts) {
                Err(ProfileError::NoPerf) => callgrind(),
                found => found.map(Self::Perf),
            },
            Profiler::Auto => callgrind(),
        }
    }

    fn version(&self) -> &str {
        match self {
            Self::Callgrind(valgrind) => valgrind.version(),
            Self::Perf(perf) => perf.version(),
        }
    }

    fn unit(&self) -> ProfileUnit {
        match self {
            Self::Callgrind(_) => ProfileUnit::Instructions,
            Self::Perf(perf) if perf.is_by_instructions() => ProfileUnit::InstructionSamples,
            Self::Perf(_) => ProfileUnit::TimeSamples,
        }
    }
}

/// What was counted of a pair, or the reason why pairs of this kind are not.
type CountedPair = Result<(Counted, [Profile; 2]), String>;

struct Counting<'a> {
    spec: &'a ExplainSpec,
    tool: &'a Tool,
    interrupts: &'a Interrupts,
}

impl Counting<'_> {
    fn pair(&self, old: &Contender, new: &Contender) -> Result<CountedPair, NotCounted> {
        match (&old.workload, &new.workload) {
            (Workload::Command(old), Workload::Command(new)) => {
                self.commands([old, new]).map(|profiles| Ok((Counted::Command, profiles)))
            }
            (Workload::Worker(old), Workload::Worker(new)) => match self.tool {
                Tool::Callgrind(valgrind) => self.samples(valgrind, [old, new]),
                Tool::Perf(perf) => self.sampling(perf).workers([old, new]),
            }
            .map(Ok),
            (Workload::Harness(old), Workload::Harness(new))
                if old.harness == Harness::GoogleBenchmark =>
            {
                match self.tool {
                    Tool::Callgrind(valgrind) => self.launches(valgrind, [old, new]),
                    Tool::Perf(perf) => self.sampling(perf).launches([old, new]),
                }
                .map(Ok)
            }
            (Workload::Harness(old), _) => Ok(Err(format!(
                "executables of {} are raced and not explained\nhelp: their commands can be, as \
                 deadheat explain -- 'OLD …' 'NEW …'",
                old.harness.name()
            ))),
            _ => Ok(Err(
                "the run does not say which program holds its functions\nhelp: give the bench target, as \
                 deadheat explain PROGRAM"
                    .to_owned(),
            )),
        }
    }

    fn commands(&self, sides: [&CommandLine; 2]) -> Result<[Profile; 2], NotCounted> {
        let [mut setups, mut cleanups] = [Vec::new(), Vec::new()];
        for side in sides {
            let (hooks, folder) = (&side.hooks, side.directory.as_deref());
            // One setup for both sides is one setup: the second start of a server would fail.
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
                timeout: self.spec.timeout.or(line.timeout),
                ..line.clone()
            };
            let beside = |words| (words, line.directory.as_deref());
            let prepare = || line.hooks.prepare.iter().map(beside).try_for_each(hook);
            let conclude = || line.hooks.conclude.iter().map(beside).try_for_each(hook);
            if let (Tool::Perf(perf), None) = (self.tool, period) {
                prepare()?;
                let whole = perf.measure_command(line, self.interrupts)?;
                conclude()?;
                period = Some(perf.period(whole));
            }
            prepare()?;
            let counted = match self.tool {
                Tool::Callgrind(valgrind) => {
                    profile(&valgrind.count_command(line, self.interrupts)?)
                }
                Tool::Perf(perf) => {
                    let period = period.unwrap_or_default();
                    sampled(&perf.sample_command(line, period, self.interrupts)?)
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
            perf,
            timeout: self.spec.timeout,
            interrupts: self.interrupts,
        }
    }

    fn samples(
        &self,
        valgrind: &Valgrind,
        sides: [&WorkerCalls; 2],
    ) -> Result<(Counted, [Profile; 2]), NotCounted> {
        let mut iterations = None;
        let profiles = both(sides, |calls| {
            let timeout = self.spec.timeout;
            let profiler = WorkerProfiler::Callgrind(valgrind);
            let mut worker = CountedWorker::start(profiler, calls, timeout, self.interrupts)?;
            // Both sides take the same samples, the baseline's first one says of how many calls.
            let single = profile(&[worker.sample(SEED, 1)?])?;
            let enough = ENOUGH.div_ceil(single.total.max(1)).clamp(1, MOST_CALLS);
            let iterations = *iterations.get_or_insert(enough);
            let counted = profile(&[worker.sample(SEED, iterations)?]);
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
            let timeout = self.spec.timeout;
            let dumps = valgrind.count_launch(calls, length, below, timeout, self.interrupts);
            profile(&dumps?)
        };
        // Releases before 1.8 refuse a number of iterations.
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

/// The time that all samples of the baseline take, about.
const WHILE: Duration = Duration::from_millis(500);
/// The time that one of them takes: calls that share an input, or have all theirs made first.
const SAMPLE: Duration = Duration::from_millis(10);
/// Samples at most.
const MOST_SAMPLES: u32 = 1_000;
/// Instructions, or nanoseconds on a processor, that a launch of the baseline should take, and its
/// iterations at most.
const LAUNCH: u64 = 500_000_000;
const MOST_ITERATIONS: u64 = 1_000_000_000;

/// The option of Google Benchmark that takes a number of iterations from release 1.8 on, and complains
/// of one before.
const LENGTH: &str = "benchmark_min_time";

/// perf around workers and launches of Google Benchmark: both sides make the same number of calls, as
/// many as take a while.
struct Sampling<'a> {
    perf: &'a Perf,
    timeout: Option<Duration>,
    interrupts: &'a Interrupts,
}

impl Sampling<'_> {
    /// Both workers, each with the same number of calls.
    fn workers(&self, sides: [&WorkerCalls; 2]) -> Result<(Counted, [Profile; 2]), NotCounted> {
        let start = |calls| {
            let profiler = WorkerProfiler::Perf(self.perf);
            CountedWorker::start(profiler, calls, self.timeout, self.interrupts)
        };
        // A worker of its own finds out how many calls these are, and is not looked at.
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
            let dumps: Vec<Dump> = worker.sampled()?.into_iter().collect();
            sampled(&dumps)
        })?;
        let iterations = iterations * u64::from(samples);
        Ok((Counted::Worker { iterations }, profiles))
    }

    /// Both launches of Google Benchmark, each with the same number of iterations.
    fn launches(&self, sides: [&HarnessCalls; 2]) -> Result<(Counted, [Profile; 2]), NotCounted> {
        let (perf, timeout, interrupts) = (self.perf, self.timeout, self.interrupts);
        let measured = |iterations| {
            let whole = perf.measure_launch(sides[0], iterations, timeout, interrupts);
            whole.map_err(|error| match error {
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
            let dump = perf.sample_launch(calls, iterations, period, timeout, interrupts)?;
            sampled(&[dump])
        })?;
        Ok((Counted::Launch { iterations }, profiles))
    }
}

/// The seed of the input: the same on both sides.
const SEED: u64 = 1;
/// Calls in a sample at most: where each call has an input of its own, all of them are made first.
const MOST_CALLS: u64 = 1 << 12;

/// The reason why a pair was not counted.
enum NotCounted {
    Profile(ProfileError),
    Data(Failure),
}

impl From<ProfileError> for NotCounted {
    fn from(error: ProfileError) -> Self {
        Self::Profile(error)
    }
}

/// The iterations that a benchmark of Google Benchmark asks for itself, as its name says.
fn own_iterations(benchmark: &str) -> Option<u64> {
    let mut parts = benchmark.split('/').skip(1);
    parts.find_map(|part| part.strip_prefix("iterations:")?.parse().ok())
}

/// What `count` makes of either side.
fn both<T>(
    [old, new]: [T; 2],
    mut count: impl FnMut(T) -> Result<Profile, NotCounted>,
) -> Result<[Profile; 2], NotCounted> {
    Ok([count(old)?, count(new)?])
}

/// All that callgrind wrote, added up.
fn profile(dumps: &[Dump]) -> Result<Profile, NotCounted> {
    read_all(dumps, read_callgrind)
}

/// All samples that perf printed, added up.
fn sampled(dumps: &[Dump]) -> Result<Profile, NotCounted> {
    read_all(dumps, read_perf_script)
}

fn read_all(
    dumps: &[Dump],
    read: fn(&str, &str) -> Result<Profile, FormatError>,
) -> Result<Profile, NotCounted> {
    let mut whole = Profile::default();
    for dump in dumps {
        let read = read(&dump.name, &dump.text);
        whole.add(&read.map_err(|error| NotCounted::Data(Failure::reading(error)))?);
    }
    Ok(whole)
}
