//! Functions in worker processes, on their way into a race.

use deadheat_engine::{EngineError, FunctionContenders, FunctionOptions, Interrupts, LinkProgram};
use deadheat_model::{Benchmark, Environment, Front, Metric, NeutralLinks, Plan, RaceSettings};

use super::entries::{BenchmarkRace, PilotedContenders};
use super::error::{RaceError, not_started};
use super::planning::{add_own_links, complete};

/// Blocks in a replicate where neither the user nor a pilot says.
const BLOCKS: u32 = 25;

/// Replicates of a benchmark on the user's own link, beside neutral ones.
const OWN_LINK_REPLICATES: u32 = 6;

pub(super) fn contenders<'a>(
    race: &BenchmarkRace,
    metrics: &[Metric],
    interrupts: &'a Interrupts,
) -> Result<FunctionContenders<'a>, RaceError> {
    let options = FunctionOptions {
        program: race.program.clone(),
        shown: race.shown,
        metrics: metrics.to_vec(),
        sample_time: race.settings.sample_time,
        timeout: race.settings.timeout(Front::Bench),
        pinning: race.settings.pinning(Front::Bench),
        seed: race.settings.seed(),
        placements: race.placements.clone().map(LinkProgram::new),
    };
    FunctionContenders::new(options, interrupts).map_err(RaceError::NotStarted)
}

impl PilotedContenders for FunctionContenders<'_> {
    fn called(&self) -> &'static str {
        "functions"
    }

    fn blocks(&self, settings: &RaceSettings) -> u32 {
        settings.blocks.unwrap_or(BLOCKS)
    }

    fn pilot(
        &mut self,
        index: usize,
        benchmark: &mut Benchmark,
        settings: &RaceSettings,
    ) -> Result<(), EngineError> {
        let piloted = FunctionContenders::pilot(self, index, benchmark);
        complete(benchmark, piloted.as_ref().ok(), settings.blocks);
        piloted.map(drop)
    }

    fn enter(
        &mut self,
        plan: &mut Plan,
        failed: &dyn Fn(usize) -> bool,
        _race: &BenchmarkRace,
        interrupts: &Interrupts,
    ) -> Result<Vec<NeutralLinks>, RaceError> {
        let not_started = |error| not_started(error, interrupts);
        let links = self.neutral_links().map_err(not_started)?;
        let linked: Vec<bool> = plan
            .benchmarks
            .iter()
            .map(|benchmark| self.has_neutral_links(benchmark))
            .collect();
        add_own_links(plan, OWN_LINK_REPLICATES, |of| linked[of] && !failed(of));
        FunctionContenders::enter(self, plan).map_err(not_started)?;
        Ok(links)
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
