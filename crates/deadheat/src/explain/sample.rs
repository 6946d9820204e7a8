//! Workers and launches of Google Benchmark, sampled by perf: both sides make the same number of calls,
//! as many as take a while.

use std::time::Duration;

use deadheat_engine::{CountedWorker, Dump, Interrupts, Perf, ProfileError, WorkerProfiler};
use deadheat_model::{Counted, HarnessCalls, Profile, WorkerCalls};

use super::sides::{MOST_CALLS, NotCounted, SEED, both, own_iterations, sampled};

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

/// perf around workers and launches.
pub(super) struct Sampling<'a> {
    pub(super) perf: &'a Perf,
    pub(super) timeout: Option<Duration>,
    pub(super) interrupts: &'a Interrupts,
}

impl Sampling<'_> {
    /// Both workers, each with the same number of calls.
    pub(super) fn workers(
        &self,
        sides: [&WorkerCalls; 2],
    ) -> Result<(Counted, [Profile; 2]), NotCounted> {
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
    pub(super) fn launches(
        &self,
        sides: [&HarnessCalls; 2],
    ) -> Result<(Counted, [Profile; 2]), NotCounted> {
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
