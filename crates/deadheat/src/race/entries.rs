//! The request for a race of benchmarks, and the trait for contenders that need a calibration run
//! before the plan is frozen. This file implements the trait for functions in worker processes.

use std::path::PathBuf;

use deadheat_engine::{
    Contenders, EngineError, FunctionContenders, FunctionError, FunctionFailure, FunctionOptions,
    Interrupts, LinkProgram, Moment, WorkerProgram,
};
use deadheat_model::{
    Arrangement, Benchmark, Commit, Conditions, Environment, Front, LeftOut, LeftOutReason, Metric,
    NeutralLinks, Plan, RaceSettings, RulesOfSome, Surroundings, Until,
};

use super::planning::{add_own_links, complete, not_one_by_one};
use super::{RaceError, not_started};
use crate::settings::PlanUse;

/// The request for a race of benchmarks, except the benchmarks themselves: settings, programs and
/// files.
#[derive(Clone, Debug, Default)]
pub struct BenchmarkRace {
    /// The worker program of benchmarks that name no program. A bench target that races its own
    /// functions sets its own path.
    pub program: Option<WorkerProgram>,
    /// True to show the output of worker programs and harness executables on standard error.
    pub shown: bool,
    /// The settings of the race and of its verdict. For executables of other harnesses, the number
    /// of blocks in a replicate is the number of repetitions in a launch.
    pub settings: RaceSettings,
    /// The run file; `None` for a new one below `.deadheat/runs`.
    pub save: Option<PathBuf>,
    /// The folder that contains `.deadheat`.
    pub folder: PathBuf,
    /// The command that repeats the race; empty if it is unknown.
    pub command: Vec<String>,
    /// The program that makes neutral links. It must understand `placements EXECUTABLE SEED…`. If
    /// `None`, all programs run as they were linked.
    pub placements: Option<LinkProgram>,
    /// Build options of each side, the baseline first, if the sides were built differently;
    /// otherwise empty.
    pub builds: Vec<String>,
    /// Differences between the sides other than the code under test, such as package versions.
    pub surroundings: Surroundings,
    /// The commits that the sides were built from; empty if a side was not built from a commit.
    pub commits: Vec<Commit>,
    /// The condition that ends the race of a benchmark; `None` to end it at its verdict.
    pub until: Option<Until>,
    /// The source of the plan (made for this race, or saved before), and whether to race it.
    pub use_of_plan: PlanUse,
    /// The limits and disturbances of this machine. deadheat records them for a part of a race, and
    /// in a plan that is saved.
    pub conditions: Conditions,
}

/// A benchmark that a bench target offers to race.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The benchmark as it is before its calibration run. If its functions name no program,
    /// deadheat starts the running program again for them.
    pub benchmark: Benchmark,
    /// True if the benchmark races only with `--ignored` or `--include-ignored`.
    pub ignored: bool,
}

impl Planned {
    pub(crate) fn name(&self) -> &str {
        &self.benchmark.name
    }
}

/// The benchmarks of a race, the benchmarks left out, and the rules for single benchmarks.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    /// The benchmarks to race, before their calibration runs. Either all are functions in workers,
    /// or all are in executables of other harnesses.
    pub benchmarks: Vec<Benchmark>,
    /// The metrics that are recorded with every sample of a function. Unused for executables of
    /// other harnesses.
    pub metrics: Vec<Metric>,
    /// Benchmarks that are left out, each with its reason.
    pub left_out: Vec<LeftOut>,
    /// Rules for benchmarks selected by name. If several rules set the same key for a benchmark,
    /// the last rule wins.
    pub rules: Vec<RulesOfSome>,
}

/// Contenders whose benchmarks need a calibration run (pilot) before the plan is frozen.
pub(super) trait PilotedContenders: Contenders {
    /// Returns the plural noun for these contenders in messages, such as "functions".
    fn called(&self) -> &'static str;

    /// Returns the number of blocks in a replicate, for benchmarks whose calibration run does not
    /// choose it.
    fn blocks(&self, settings: &RaceSettings) -> u32;

    /// Prepares for the calibration runs of these benchmarks.
    fn expect(&mut self, _benchmarks: &[Benchmark]) -> Result<(), EngineError> {
        Ok(())
    }

    /// Returns true if these benchmarks can race in rounds, with one replicate of each benchmark
    /// per round. Called after the calibration runs.
    fn can_race_in_rounds(&mut self, _benchmarks: &[Benchmark]) -> bool {
        false
    }

    /// Returns notes for the user on how the benchmarks race. Called after the calibration runs.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Makes the calibration run of a benchmark, and sets the calls and blocks of the benchmark.
    /// Returns the time of a replicate on the user's own link, in nanoseconds. If the calibration
    /// run fails, the benchmark stays in the plan, so that the run records the failure. `more` is
    /// the number of calibration runs that follow.
    fn pilot(
        &mut self,
        index: usize,
        benchmark: &mut Benchmark,
        settings: &RaceSettings,
        more: usize,
    ) -> Result<Option<f64>, EngineError>;

    /// Returns the reason for leaving out a benchmark whose calibration run ended with this error;
    /// `None` if the benchmark counts as failed.
    fn reason_to_leave_out(&self, _error: &EngineError) -> Option<LeftOutReason> {
        None
    }

    /// Prepares the race of a plan, and returns its neutral links. Adds to the plan a rerun on the
    /// user's own link for each benchmark that races on neutral links, except those for which
    /// `failed` returns true.
    fn enter(
        &mut self,
        plan: &mut Plan,
        failed: &dyn Fn(usize) -> bool,
        race: &BenchmarkRace,
        interrupts: &Interrupts,
    ) -> Result<Vec<NeutralLinks>, RaceError>;

    /// Prepares the race of a saved plan, and does not change the plan. Returns the neutral links
    /// that this machine can make.
    #[cfg(feature = "commands")]
    fn enter_frozen(
        &mut self,
        plan: &Plan,
        race: &BenchmarkRace,
        interrupts: &Interrupts,
    ) -> Result<Vec<NeutralLinks>, RaceError>;

    /// Returns `environment` with the facts that these contenders know, such as the cores on which
    /// they run.
    fn known_of(&self, environment: Environment) -> Environment;

    /// Returns the resolution of the clock that times a sample, in nanoseconds.
    fn tick_ns(&self) -> f64;
}

/// The number of blocks in a replicate, if neither the user nor a calibration run chooses it.
const BLOCKS: u32 = 25;

/// Maximum number of replicates of a rerun on the user's own link, in a race on neutral links.
pub(super) const OWN_LINK_REPLICATES: u32 = 6;

/// Returns the number of blocks in a replicate, if it does not depend on the calibration run: the
/// user's choice, or 1 for callgrind, whose counts are the same in every block of a process.
fn blocks_of(settings: &RaceSettings) -> Option<u32> {
    settings.blocks.or(settings.callgrind().then_some(1))
}

/// An environment variable for measuring the effect of forking. By default, deadheat starts a
/// worker program once, and forks the processes of all benchmarks from it. With the value `0`,
/// deadheat starts the program for each benchmark, and races each benchmark to its end before the
/// next.
const FORKS_VARIABLE: &str = "DEADHEAT_FORKS";

pub(super) fn function_contenders<'a>(
    race: &BenchmarkRace,
    metrics: &[Metric],
    interrupts: &'a Interrupts,
) -> Result<FunctionContenders<'a>, RaceError> {
    if race.settings.arrangement == Some(Arrangement::SideBySide) {
        return Err(RaceError::Design(
            "--arrangement side-by-side does not apply to functions; it works for commands and \
             executables of Google Benchmark"
                .to_owned(),
        ));
    }
    let options = FunctionOptions {
        program: race.program.clone(),
        shown: race.shown,
        metrics: if race.settings.callgrind() {
            vec![Metric::Instructions]
        } else {
            metrics.to_vec()
        },
        callgrind: race.settings.callgrind(),
        budget: race.settings.budget,
        forks: std::env::var_os(FORKS_VARIABLE).is_none_or(|value| value != "0"),
        sample_time: race.settings.sample_time,
        timeout: race.settings.timeout(Front::Bench),
        pinning: race.settings.pinning(Front::Bench),
        seed: race.settings.seed(),
        // The counts of callgrind do not depend on code placement, so neutral links are
        // unnecessary.
        placements: race
            .placements
            .clone()
            .filter(|_| !race.settings.callgrind()),
    };
    FunctionContenders::new(options, interrupts).map_err(RaceError::NotStarted)
}

impl PilotedContenders for FunctionContenders<'_> {
    fn called(&self) -> &'static str {
        "functions"
    }

    fn blocks(&self, settings: &RaceSettings) -> u32 {
        blocks_of(settings).unwrap_or(BLOCKS)
    }

    fn expect(&mut self, benchmarks: &[Benchmark]) -> Result<(), EngineError> {
        FunctionContenders::expect(self, benchmarks)
    }

    fn can_race_in_rounds(&mut self, benchmarks: &[Benchmark]) -> bool {
        FunctionContenders::can_race_in_rounds(self, benchmarks)
    }

    fn notes(&self) -> Vec<String> {
        let note = |(program, reason): (String, String)| {
            format!(
                "'{program}' starts again for each benchmark and does not fork from one start: \
                 {reason}"
            )
        };
        let mut notes: Vec<String> = self.unforked().into_iter().map(note).collect();
        // The programs of the two sides may have the same name, so the same note may occur twice.
        notes.dedup();
        notes
    }

    fn pilot(
        &mut self,
        index: usize,
        benchmark: &mut Benchmark,
        settings: &RaceSettings,
        more: usize,
    ) -> Result<Option<f64>, EngineError> {
        let piloted = FunctionContenders::pilot(self, index, benchmark, more);
        let of_quantile = benchmark.blocks_per_replicate.is_some();
        let margin = benchmark.overrides.margin.unwrap_or(settings.margin());
        let asked = (blocks_of(settings), margin);
        let cost_ns = complete(benchmark, piloted.as_ref().ok(), asked);
        // All parts of a race need the same kind of blocks, but each part has its own calibration
        // run.
        benchmark.in_pairs &= settings.part().is_none();
        let pilot = piloted?.pilot;
        let clock = (self.tick_ns(), self.clock_facts().overhead_ns);
        match not_one_by_one(benchmark, &pilot, clock).filter(|_| of_quantile) {
            None => Ok(cost_ns),
            Some((contender, why)) => Err(EngineError::Function(Box::new(FunctionFailure {
                benchmark: benchmark.name.clone(),
                contender: Some(contender),
                moment: Moment::Pilot,
                cause: FunctionError::NotOneByOne(why),
                link: None,
                stderr_tail: None,
            }))),
        }
    }

    fn reason_to_leave_out(&self, error: &EngineError) -> Option<LeftOutReason> {
        match error {
            EngineError::Function(failure) => match &failure.cause {
                FunctionError::Skipped(reason) => Some(LeftOutReason::Skipped(reason.clone())),
                _ => None,
            },
            _ => None,
        }
    }

    fn enter(
        &mut self,
        plan: &mut Plan,
        failed: &dyn Fn(usize) -> bool,
        race: &BenchmarkRace,
        interrupts: &Interrupts,
    ) -> Result<Vec<NeutralLinks>, RaceError> {
        let not_started = |error| not_started(error, interrupts);
        let links = self.neutral_links().map_err(not_started)?;
        let linked: Vec<bool> = plan
            .benchmarks
            .iter()
            .map(|benchmark| self.has_neutral_links(benchmark))
            .collect();
        for (benchmark, linked) in plan.benchmarks.iter_mut().zip(&linked) {
            // The warm-up also tests each new link: deadheat replaces a link that fails in the
            // warm-up, but a failure in a block would end the benchmark.
            benchmark.without_warm_up &= !linked;
        }
        // A race with `until` is one of many in a search, which needs only its effect.
        if race.until.is_none() {
            add_own_links(plan, OWN_LINK_REPLICATES, |of| linked[of] && !failed(of));
        }
        FunctionContenders::enter(self, plan).map_err(not_started)?;
        Ok(links)
    }

    #[cfg(feature = "commands")]
    fn enter_frozen(
        &mut self,
        plan: &Plan,
        _race: &BenchmarkRace,
        interrupts: &Interrupts,
    ) -> Result<Vec<NeutralLinks>, RaceError> {
        FunctionContenders::enter_frozen(self, plan).map_err(|error| not_started(error, interrupts))
    }

    fn known_of(&self, environment: Environment) -> Environment {
        Environment {
            pinned: self.pinned().to_vec(),
            clock: Some(self.clock_facts()),
            ..environment
        }
    }

    fn tick_ns(&self) -> f64 {
        FunctionContenders::tick_ns(self)
    }
}
