//! Tries commands side by side and applies the result to the race.

use deadheat_model::{Block, ContenderId, Plan, SideBySide, Slot};

use super::command::CommandContenders;
use super::command_launch::launch;
use super::side_by_side::{CommandTrial, LaunchUsage, sharing, side_by_side};
use crate::affinity::AffinityError;
use crate::error::EngineError;
use crate::launcher::wire::{Launch, MAX_LAUNCHES, Measured, Sharing};
use crate::random::{Purpose, below, stream};

/// The factor in the time limit of a trial: the limit is this multiple of the time of its launches
/// one after the other, plus [`TRIAL_MS`].
const TRIAL_FACTOR: f64 = 4.0;
const TRIAL_MS: f64 = 1_000.0;

impl CommandContenders<'_> {
    pub(super) fn shared_core(&self, block: &Block) -> Result<u32, EngineError> {
        let place = [block.benchmark as u64, u64::from(block.replicate), 0];
        let mut draw = stream(self.seed, Purpose::Core, place);
        match self.shared_cores.len() {
            0 => Err(AffinityError::Hidden.into()),
            count => Ok(self.shared_cores[below(&mut draw, count as u64) as usize]),
        }
    }

    /// Launches every contender of a benchmark alone, and then all of them side by side. Returns
    /// `None` if the contenders have no common core or a contender fails alone.
    pub fn try_side_by_side(
        &mut self,
        benchmark: usize,
        how: SideBySide,
    ) -> Result<Option<CommandTrial>, EngineError> {
        let Some(core) = self.shared_cores.first().copied() else {
            return Ok(None);
        };
        let contenders = &self.benchmarks[benchmark].contenders;
        let slots = (0..contenders.len()).map(|contender| Slot {
            contender: ContenderId(contender as u8),
            padding: 0,
        });
        let launches: Vec<Launch> = slots.map(|slot| launch(contenders, &slot)).collect();
        if launches.len() > MAX_LAUNCHES {
            return Ok(None);
        }
        self.launched += 2 * launches.len() as u64;
        let alone = self.launcher.run(&launches, self.interrupts)?.to_vec();
        let alone = self.usages(benchmark, &alone)?;
        let Some(alone) = alone else {
            return Ok(None);
        };
        let group = launches.len();
        let alone_ms: f64 = alone.iter().map(|one| one.wall_ns / 1e6).sum();
        let shared = Sharing {
            trial_ms: (TRIAL_FACTOR * alone_ms + TRIAL_MS) as u32,
            ..sharing(how, core)
        };
        let together =
            self.launcher
                .run_side_by_side((shared, group), &launches, self.interrupts)?;
        let together = together.to_vec();
        Ok(Some(CommandTrial {
            alone,
            together: self.usages(benchmark, &together)?,
        }))
    }

    fn usages(
        &self,
        benchmark: usize,
        measured: &[Measured],
    ) -> Result<Option<Vec<LaunchUsage>>, EngineError> {
        if self.interrupts.requested().is_some() {
            return Err(EngineError::Interrupted);
        }
        let commands = self.benchmarks[benchmark].commands.iter().zip(measured);
        let usages = commands.map(|(command, measured)| {
            let is_accepted = measured.outcome.is_accepted_by(&command.exit_policy);
            is_accepted.then(|| LaunchUsage::of(measured))
        });
        Ok(usages.collect())
    }

    /// Applies the completed plan after the calibration run: sets which benchmarks run side by
    /// side, and registers benchmarks that are reruns of others.
    pub fn arrange(&mut self, plan: &Plan) {
        self.side_by_side = side_by_side(plan);
        for (index, benchmark) in plan.benchmarks.iter().enumerate() {
            if index < self.benchmarks.len() {
                continue;
            }
            let of = benchmark.rerun.map_or(0, |rerun| rerun.of);
            // A rerun launches the same images as the benchmark that it reruns.
            let same = self.benchmarks[of].clone();
            self.benchmarks.push(same);
            for list in [
                &mut self.warm,
                &mut self.is_traced,
                &mut self.fixes_addresses,
            ] {
                if list.contains(&of) {
                    list.push(index);
                }
            }
            self.witness.is_like(index, of);
            self.page_draws.copy_libraries(index, of);
        }
    }
}
