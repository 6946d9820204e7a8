//! Commands on neutral links: another one in every replicate, tried once
//! before anything is timed.

use deadheat_model::{Block, ContenderId, Slot};

use super::cause::{Cause, ContenderFailure};
use super::command::CommandContenders;
use super::command_images::launch;
use super::output_check::Difference;
use crate::error::{EngineError, Moment};
use crate::launcher::wire::Launch;
use crate::placement::{CommandPlacements, Variant};

/// The links of the replicate that runs.
#[derive(Default)]
pub(super) struct Linked {
    pub(super) placements: CommandPlacements,
    /// The benchmark and replicate that the images are of.
    entered: Option<(usize, u32)>,
    /// One per contender of that benchmark.
    pub(super) variants: Vec<Option<Variant>>,
}

impl CommandContenders<'_> {
    /// Races the commands that have neutral links on them.
    #[must_use]
    pub fn with_placements(mut self, placements: CommandPlacements) -> Self {
        self.linked.placements = placements;
        self
    }

    /// Has the links of a replicate ready and tried. Nothing is linked any
    /// more when this returns.
    pub(super) fn enter_replicate(&mut self, block: &Block) -> Result<(), EngineError> {
        let (benchmark, replicate) = (block.benchmark, block.replicate);
        if self.linked.entered == Some((benchmark, replicate))
            || !self.linked.placements.concerns(benchmark)
        {
            return Ok(());
        }
        let count = self.benchmarks[benchmark].contenders.len();
        self.linked.variants = vec![None; count];
        let mut tried: Vec<Option<Variant>> = vec![None; count];
        // A block that is not primed counts on its first contender having run
        // last.
        let first = block.slots.first().map_or(0, |slot| slot.contender.index());
        let order: Vec<usize> = (0..count).filter(|c| *c != first).chain([first]).collect();
        'again: loop {
            for contender in 0..count {
                let variant = self.linked.placements.link(
                    benchmark,
                    contender,
                    replicate,
                    self.interrupts,
                )?;
                self.start_from(benchmark, contender, variant)?;
            }
            for contender in order.iter().copied() {
                let Some(variant) = self.linked.variants[contender].clone() else {
                    continue;
                };
                if tried[contender].as_ref() == Some(&variant) {
                    continue;
                }
                if let Some(reason) = self.flaw(block, contender, &variant)? {
                    let placements = &mut self.linked.placements;
                    placements.refuse(benchmark, contender, replicate, reason);
                    continue 'again;
                }
                tried[contender] = Some(variant);
            }
            break;
        }
        self.linked.entered = Some((benchmark, replicate));
        let variants = &self.linked.variants;
        let placements = &mut self.linked.placements;
        self.placed = Some(placements.placed(benchmark, replicate, variants));
        Ok(())
    }

    /// From now on this contender is started from this file.
    fn start_from(
        &mut self,
        benchmark: usize,
        contender: usize,
        variant: Option<Variant>,
    ) -> Result<(), EngineError> {
        let image = self.benchmarks[benchmark].contenders[contender].command;
        let file = variant.as_ref().map(|variant| variant.executable.as_path());
        self.launcher.vary(image, file)?;
        self.linked.variants[contender] = variant;
        Ok(())
    }

    /// Launches a contender once and forgets what it took: a new file has not
    /// been read by anybody. What is wrong with the link, if the command does
    /// not fail in the same way on the user's own; where outputs are compared,
    /// also when it answers otherwise than there.
    fn flaw(
        &mut self,
        block: &Block,
        contender: usize,
        variant: &Variant,
    ) -> Result<Option<String>, EngineError> {
        let failure = match self.try_once(block, contender) {
            Ok(None) => return Ok(None),
            Ok(Some(difference)) => {
                let command = &self.benchmarks[block.benchmark].commands[contender];
                let line = |line: Option<String>| line.unwrap_or_else(|| "nothing".to_owned());
                return Ok(Some(format!(
                    "'{}' answers otherwise than as linked by you: line {} is {}, not {}; try {}",
                    command.text,
                    difference.line,
                    line(difference.found),
                    line(difference.expected),
                    variant.executable.display()
                )));
            }
            Err(EngineError::Contender(failure)) => failure,
            Err(error) => return Err(error),
        };
        self.start_from(block.benchmark, contender, None)?;
        match self.try_once(block, contender) {
            Err(EngineError::Contender(own)) if alike(&own, &failure) => {
                return Err(EngineError::Contender(own));
            }
            Ok(_) | Err(EngineError::Contender(_)) => {}
            Err(error) => return Err(error),
        }
        Ok(Some(format!(
            "'{}' {}; started as linked by you it does not; try {}",
            failure.command,
            failure.cause,
            variant.executable.display()
        )))
    }

    /// Launches a contender as it is placed now; where outputs are compared,
    /// after a launch on the user's own link, whose output it should repeat.
    fn try_once(
        &mut self,
        block: &Block,
        contender: usize,
    ) -> Result<Option<Difference>, EngineError> {
        let slot = Slot {
            contender: ContenderId(contender as u8),
            padding: 0,
        };
        let moment = Moment::Block {
            replicate: block.replicate,
            block: block.index,
            slot: None,
        };
        let images = &self.benchmarks[block.benchmark].contenders;
        let placed = launch(images, &slot);
        let own = images[contender]
            .own
            .map(|image| Launch { image, ..placed });
        let launches: Vec<Launch> = own.into_iter().chain([placed]).collect();
        self.launched += launches.len() as u64;
        let reply = self.launcher.run(&launches, self.interrupts)?;
        let measured = reply.measured[launches.len() - 1];
        self.judge(block.benchmark, slot.contender, moment, &measured)?;
        if own.is_none() {
            return Ok(None);
        }
        self.difference(0, 1).map_err(|error| {
            let cause = Cause::NoOutput { path: None, error };
            self.failure(block.benchmark, contender, moment, cause)
        })
    }
}

fn alike(one: &ContenderFailure, other: &ContenderFailure) -> bool {
    one.cause.to_string() == other.cause.to_string()
}
