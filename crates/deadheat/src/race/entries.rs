//! A race of benchmarks as it is asked for, and what its contenders have to do before the plan is
//! frozen, as functions in workers do it.

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
use super::session::PlanUse;
use super::{RaceError, not_started};

/// A race of benchmarks: how they are raced and judged, and what it leaves behind.
#[derive(Clone, Debug, Default)]
pub struct BenchmarkRace {
    /// The program of functions that name none: the one that races functions of its own.
    pub program: Option<WorkerProgram>,
    /// Shows on standard error what other programs print.
    pub shown: bool,
    /// The settings by which the benchmarks are raced and judged. Blocks of
    /// executables of harnesses are the repetitions in a launch.
    pub settings: RaceSettings,
    /// The run file; `None` for a new one below `.deadheat/runs`.
    pub save: Option<PathBuf>,
    /// The folder that `.deadheat` is looked for in.
    pub folder: PathBuf,
    /// The command that runs the same race again; empty when it is not known.
    pub command: Vec<String>,
    /// The program that makes neutral links, if replicates are to run on some:
    /// one that understands `placements EXECUTABLE SEED…`.
    pub placements: Option<LinkProgram>,
    /// The way of each side to be built, where these are two; else empty.
    pub builds: Vec<String>,
    /// What the sides have besides the code under test.
    pub surroundings: Surroundings,
    /// The commits that the sides were built from; empty where one is none.
    pub commits: Vec<Commit>,
    /// The question that ends a benchmark in place of its verdict.
    pub until: Option<Until>,
    /// Where the plan comes from, and what becomes of it.
    pub use_of_plan: PlanUse,
    /// The conditions that this host measures under, where it races a part.
    pub conditions: Conditions,
}

/// A benchmark that a bench target offers to race.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The benchmark as a plan has it before its pilot. Functions that name no program are those of
    /// this one, which is started anew for them.
    pub benchmark: Benchmark,
    /// True if it is left out unless somebody asks for it.
    pub ignored: bool,
}

impl Planned {
    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.benchmark.name
    }
}

/// The benchmarks of a race, and those that are left out of it.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    /// The benchmarks, their calls as they are before a pilot has completed them: all of
    /// functions in workers, or all of executables of harnesses.
    pub benchmarks: Vec<Benchmark>,
    /// The metrics of every sample of a function; executables of harnesses have their own.
    pub metrics: Vec<Metric>,
    /// Benchmarks that somebody might look for.
    pub left_out: Vec<LeftOut>,
    /// Rules of some benchmarks; the last that fits wins, key by key.
    pub rules: Vec<RulesOfSome>,
}

/// Contenders whose benchmarks are completed by pilots.
pub(super) trait PilotedContenders: Contenders {
    /// The contenders as messages call them.
    fn called(&self) -> &'static str;

    /// Blocks in a replicate of a benchmark whose pilot does not say.
    fn blocks(&self, settings: &RaceSettings) -> u32;

    /// Learns which benchmarks are to be piloted.
    fn expect(&mut self, _benchmarks: &[Benchmark]) -> Result<(), EngineError> {
        Ok(())
    }

    /// Returns true if these benchmarks, which were piloted, race in rounds.
    fn can_race_in_rounds(&mut self, _benchmarks: &[Benchmark]) -> bool {
        false
    }

    /// What the user should know of the way in which they are raced, known once the pilots have run.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Runs the pilot of a benchmark, writes into it what was found, and gives back the
    /// nanoseconds that a replicate of it costs on the user's own link. A benchmark whose pilot
    /// failed is planned all the same, so that it has a place in the run. So many `more` pilots are
    /// to come.
    fn pilot(
        &mut self,
        index: usize,
        benchmark: &mut Benchmark,
        settings: &RaceSettings,
        more: usize,
    ) -> Result<Option<f64>, EngineError>;

    /// Returns why a benchmark whose pilot ended so is left out, or `None` where it failed.
    fn reason_to_leave_out(&self, _error: &EngineError) -> Option<LeftOutReason> {
        None
    }

    /// Enters the race of a plan, to which the benchmarks on the user's own links are added where
    /// neutral ones take the place of these, but for those that `failed`. Returns the neutral
    /// links.
    fn enter(
        &mut self,
        plan: &mut Plan,
        failed: &dyn Fn(usize) -> bool,
        race: &BenchmarkRace,
        interrupts: &Interrupts,
    ) -> Result<Vec<NeutralLinks>, RaceError>;

    /// Enters the race of a plan that was frozen before, to which nothing is added. Returns the
    /// neutral links that there are here.
    #[cfg(feature = "commands")]
    fn enter_frozen(
        &mut self,
        plan: &Plan,
        race: &BenchmarkRace,
        interrupts: &Interrupts,
    ) -> Result<Vec<NeutralLinks>, RaceError>;

    /// Returns the environment with what these contenders know of it.
    fn known_of(&self, environment: Environment) -> Environment;

    /// The resolution of the clock that times a sample, in nanoseconds.
    fn tick_ns(&self) -> f64;
}

/// Blocks in a replicate where neither the user nor a pilot says.
const BLOCKS: u32 = 25;

/// Replicates of a benchmark on the user's own links, beside neutral ones.
pub(super) const OWN_LINK_REPLICATES: u32 = 6;

/// Blocks in a replicate, where they are not found by a pilot. What callgrind counts is the same in
/// every block of a process.
fn blocks_of(settings: &RaceSettings) -> Option<u32> {
    settings.blocks.or(settings.callgrind().then_some(1))
}

/// The variable that, as `0`, has every benchmark of a suite race to its end in processes of its
/// own before the next: for those who measure what one start for many changes.
const FORKS_VARIABLE: &str = "DEADHEAT_FORKS";

/// Functions in worker processes, on their way into a race.
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
        forks: std::env::var_os(FORKS_VARIABLE).is_none_or(|value| value != "0"),
        sample_time: race.settings.sample_time,
        timeout: race.settings.timeout(Front::Bench),
        pinning: race.settings.pinning(Front::Bench),
        seed: race.settings.seed(),
        // Wherever a linker puts the code, it executes the same.
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
                "'{program}' is started for each benchmark, and does not fork from one start: {reason}"
            )
        };
        let mut notes: Vec<String> = self.unforked().into_iter().map(note).collect();
        // Both sides may be started by one name.
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
        // All parts of a race have blocks of one kind, and each has a pilot of its own.
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
            // The warm-up is the trial of a link: one that fails it is replaced, and one that failed
            // in a block would end the benchmark.
            benchmark.without_warm_up &= !linked;
        }
        // One race of many is asked for its effect alone.
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
