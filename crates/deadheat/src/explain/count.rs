//! Both sides of each pair, counted by callgrind and set side by side.

use std::path::Path;

use deadheat_analysis::{finding, paired_functions, paired_stacks};
use deadheat_engine::{CountedWorker, Dump, Interrupts, LaunchLength, ProfileError, Valgrind};
use deadheat_format::read_callgrind;
use deadheat_model::{
    Benchmark, CommandLine, Contender, Counted, ExplainedPair, Explanation, Harness, HarnessCalls,
    LeftOut, LeftOutReason, Profile, WorkerCalls, Workload,
};

use super::spec::ExplainSpec;
use crate::exit::Failure;
use crate::race::take_over_signals;

/// The seed of the input: the same on both sides.
const SEED: u64 = 1;
/// Instructions that a sample should have: beside so many, those of a loop around a call and of a
/// reading of the clock are few.
const ENOUGH: u64 = 1_000_000;
/// Calls in a sample at most: where each call has an input of its own, all of them are made first.
const MOST_CALLS: u64 = 1 << 12;

/// Counts what both sides of each pair execute. `begins` is told the benchmark that is
/// counted, its place, and how many there are.
pub fn explain(
    spec: &ExplainSpec,
    mut begins: impl FnMut(&str, usize, usize),
) -> Result<Explanation, Failure> {
    let interrupts = take_over_signals()?;
    let failed = |error: ProfileError| failure(&error, &interrupts);
    let valgrind = Valgrind::find(&interrupts).map_err(failed)?;
    let counting = Counting {
        spec,
        valgrind: &valgrind,
        interrupts: &interrupts,
    };
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
                        finding: finding(totals, wall.as_ref()),
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
        counter: valgrind.version().to_owned(),
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

/// What was counted of a pair, or the reason why pairs of this kind are not.
type CountedPair = Result<(Counted, [Profile; 2]), String>;

struct Counting<'a> {
    spec: &'a ExplainSpec,
    valgrind: &'a Valgrind,
    interrupts: &'a Interrupts,
}

impl Counting<'_> {
    fn pair(&self, old: &Contender, new: &Contender) -> Result<CountedPair, NotCounted> {
        match (&old.workload, &new.workload) {
            (Workload::Command(old), Workload::Command(new)) => {
                self.commands([old, new]).map(|profiles| Ok((Counted::Command, profiles)))
            }
            (Workload::Worker(old), Workload::Worker(new)) => self.samples([old, new]).map(Ok),
            (Workload::Harness(old), Workload::Harness(new))
                if old.harness == Harness::GoogleBenchmark =>
            {
                self.launches([old, new]).map(Ok)
            }
            (Workload::Harness(old), _) => Ok(Err(format!(
                "executables of {} are raced and not explained; their commands can be, as \
                 deadheat explain -- 'OLD …' 'NEW …'",
                old.harness.name()
            ))),
            _ => Ok(Err(
                "the run does not say which program holds its functions; give the bench target, as \
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
            self.valgrind.run_hook(words, folder, self.interrupts)
        };
        setups.into_iter().try_for_each(hook)?;
        let counted = both(sides, |line| {
            let line = &CommandLine {
                timeout: self.spec.timeout.or(line.timeout),
                ..line.clone()
            };
            let beside = |words| (words, line.directory.as_deref());
            line.hooks.prepare.iter().map(beside).try_for_each(hook)?;
            let dumps = self.valgrind.count_command(line, self.interrupts)?;
            line.hooks.conclude.iter().map(beside).try_for_each(hook)?;
            profile(&dumps)
        });
        let cleaned = cleanups.into_iter().try_for_each(hook);
        let counted = counted?;
        cleaned?;
        Ok(counted)
    }

    fn samples(&self, sides: [&WorkerCalls; 2]) -> Result<(Counted, [Profile; 2]), NotCounted> {
        let mut iterations = None;
        let profiles = both(sides, |calls| {
            let timeout = self.spec.timeout;
            let mut worker = CountedWorker::start(self.valgrind, calls, timeout, self.interrupts)?;
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

    fn launches(&self, sides: [&HarnessCalls; 2]) -> Result<(Counted, [Profile; 2]), NotCounted> {
        let launch = |calls: &HarnessCalls, length, below| {
            let timeout = self.spec.timeout;
            let dumps = self
                .valgrind
                .count_launch(calls, length, below, timeout, self.interrupts);
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
    let mut whole = Profile::default();
    for dump in dumps {
        let read = read_callgrind(&dump.name, &dump.text);
        whole.add(&read.map_err(|error| NotCounted::Data(Failure::reading(error)))?);
    }
    Ok(whole)
}
