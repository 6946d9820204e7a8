//! Decides which harness benchmarks can run side by side, and launches the trials for it.

use std::time::Instant;

use deadheat_model::{HarnessCalls, RepetitionLength};

use super::adapter::{IterationUsage, Repetition};
use super::adapter_of;
use super::contenders::HarnessContenders;
use super::launch::{Launch, failure};
use super::pilot::HarnessSide;
use crate::command_failure::HarnessError;
use crate::error::EngineError;
use crate::order::Moment;

/// The results of a trial that launches each side on one core.
#[derive(Clone, Debug, PartialEq)]
pub struct HarnessTrial {
    /// The CPU time of each side.
    pub sides: Vec<IterationUsage>,
    /// The nanoseconds until all sides ended.
    pub took_ns: f64,
}

/// The order in which a trial launches the sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialOf {
    /// The sides run one after the other.
    Turns,
    /// All sides start at the same moment.
    SideBySide,
}

/// The reason why launches of a benchmark must take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InTurns {
    /// The source of the benchmark rules out launches side by side: the benchmark uses several
    /// threads, or is timed by wall time.
    ByItsSource,
    /// The user can remove this obstacle; the text describes it.
    Because(&'static str),
}

/// Returns the reason why launches of a benchmark must take turns; `None` if they can run side by
/// side.
pub fn why_in_turns(calls: &HarnessCalls) -> Option<InTurns> {
    let adapter = adapter_of(calls.harness);
    if calls.threads > 1 || adapter.is_timed_by_wall(&calls.benchmark) {
        return Some(InTurns::ByItsSource);
    }
    let is_fixed = match calls.length {
        RepetitionLength::Iterations(_) => true,
        RepetitionLength::Own => adapter.fixes_iterations(&calls.benchmark),
        RepetitionLength::Seconds(_) => false,
    };
    (!is_fixed).then_some(InTurns::Because(
        "both sides need a fixed number of iterations, which Google Benchmark supports since 1.8 \
         (in the source: ->Iterations(N))",
    ))
}

impl HarnessTrial {
    /// Combines two trials: returns, for each side, the usage with less CPU time, and the shorter
    /// duration.
    pub fn least(self, other: Self) -> Self {
        let pairs = self.sides.into_iter().zip(other.sides);
        let least = |(one, other): (IterationUsage, IterationUsage)| {
            if one.cpu_ns <= other.cpu_ns {
                one
            } else {
                other
            }
        };
        Self {
            sides: pairs.map(least).collect(),
            took_ns: self.took_ns.min(other.took_ns),
        }
    }
}

impl HarnessContenders<'_> {
    /// Launches each side of a benchmark once on one core, with the parameters in `calls`.
    pub fn try_launches(
        &mut self,
        (index, benchmark): (usize, &str),
        sides: &[HarnessSide<'_>],
        calls: &[HarnessCalls],
        of: TrialOf,
    ) -> Result<HarnessTrial, EngineError> {
        let place = [index as u64, u64::MAX, 0];
        let launcher = &mut self.launcher;
        let hash_seed = launcher.hash_seed(place);
        let sides = sides.iter().zip(calls).enumerate();
        let launches: Vec<Launch<'_>> = sides
            .map(|(contender, (side, calls))| Launch {
                contender,
                hash_seed,
                is_side_by_side: of == TrialOf::SideBySide,
                ..trial_launch((benchmark, side.contender), calls)
            })
            .collect();
        launcher.settle_to_share(place)?;
        let began = Instant::now();
        let at_once = match of {
            TrialOf::Turns => 1,
            TrialOf::SideBySide => launches.len().max(1),
        };
        let launched = launches.chunks(at_once);
        let launched: Result<Vec<_>, _> = launched
            .map(|launches| launcher.launch_together(launches))
            .collect();
        let took_ns = began.elapsed().as_nanos() as f64;
        launcher.cores.release();
        let usage = |repetitions: &Vec<Repetition>| IterationUsage::of(repetitions);
        let usages = launched?.iter().flatten().filter_map(usage).collect();
        Ok(HarnessTrial {
            sides: usages,
            took_ns,
        })
    }

    /// Returns the error for a benchmark that cannot run side by side although the user requested
    /// it.
    pub fn not_side_by_side(
        &self,
        (benchmark, side): (&str, &str),
        calls: &HarnessCalls,
        reason: &'static str,
    ) -> EngineError {
        let launch = trial_launch((benchmark, side), calls);
        failure(&launch, HarnessError::InTurns(reason))
    }
}

fn trial_launch<'a>((benchmark, side): (&'a str, &'a str), calls: &'a HarnessCalls) -> Launch<'a> {
    Launch {
        position: (benchmark, side, Moment::Pilot),
        contender: 0,
        adapter: adapter_of(calls.harness),
        program: &calls.program,
        benchmark: &calls.benchmark,
        length: calls.length,
        warm_up: calls.warm_up,
        repetitions: calls.repetitions,
        is_side_by_side: false,
        variant: None,
        path_padding: None,
        padding: 0,
        hash_seed: 0,
        fixed_addresses: calls.fixes_addresses,
        named_by_link: false,
    }
}
