//! Launches on neutral links: every replicate another one of each side, tried
//! before its first launch.

use deadheat_model::{Block, Placed};

use super::cause::GoogleBenchmarkProblem as Problem;
use super::contenders::GoogleBenchmarkContenders;
use super::launch::problem_of;
use crate::error::EngineError;
use crate::placement::{CommandPlacements, Variant};

/// The links of the replicate that runs.
#[derive(Default)]
pub(super) struct Linked {
    pub(super) placements: CommandPlacements,
    /// One per contender of the benchmark; none where it runs as the user
    /// linked it.
    pub(super) variants: Vec<Option<Variant>>,
    /// Where the code lies in the replicate that has just begun.
    pub(super) placed: Option<Placed>,
}

impl GoogleBenchmarkContenders<'_> {
    /// Has the links of a replicate ready and tried. Nothing is linked any
    /// more when this returns.
    pub(super) fn link(&mut self, block: &Block) -> Result<(), EngineError> {
        let (benchmark, replicate) = (block.benchmark, block.replicate);
        let count = self.benchmarks[benchmark].contenders.len();
        self.linked.variants = vec![None; count];
        if !self.linked.placements.concerns(benchmark) {
            return Ok(());
        }
        let mut tried: Vec<Option<Variant>> = vec![None; count];
        // A block that is not primed counts on its first contender having run
        // last.
        let first = block.slots.first().map_or(0, |slot| slot.contender.index());
        let order: Vec<usize> = (0..count).filter(|c| *c != first).chain([first]).collect();
        'again: loop {
            for contender in 0..count {
                let interrupts = self.launcher.interrupts;
                let placements = &mut self.linked.placements;
                let variant = placements.link(benchmark, contender, replicate, interrupts)?;
                self.linked.variants[contender] = variant;
            }
            for contender in order.iter().copied() {
                let variant = self.linked.variants[contender].clone();
                if variant.is_none() || tried[contender] == variant {
                    continue;
                }
                if let Some(reason) = self.flaw(block, contender, variant.as_ref())? {
                    let placements = &mut self.linked.placements;
                    placements.refuse(benchmark, contender, replicate, reason);
                    continue 'again;
                }
                tried[contender] = variant;
            }
            break;
        }
        let variants = &self.linked.variants;
        let placed = self
            .linked
            .placements
            .placed(benchmark, replicate, variants);
        self.linked.placed = Some(placed);
        Ok(())
    }

    /// What is wrong with a link, if the user's own does not fail in the same
    /// way: one repetition, forgotten. A new file has not been read by anybody
    /// either.
    fn flaw(
        &mut self,
        block: &Block,
        contender: usize,
        variant: Option<&Variant>,
    ) -> Result<Option<String>, EngineError> {
        let Err(error) = self.once(block, contender, variant, 0) else {
            return Ok(None);
        };
        let Some(problem) = problem_of(&error).cloned() else {
            return Err(error);
        };
        if let Err(own) = self.once(block, contender, None, 0)
            && problem_of(&own).is_none_or(|own| own.is_like(&problem))
        {
            return Err(own);
        }
        let EngineError::Function(failure) = error else {
            return Err(error);
        };
        Ok(Some(on_link(&failure.contender, &problem, variant)))
    }
}

fn on_link(contender: &Option<String>, problem: &Problem, variant: Option<&Variant>) -> String {
    let contender = contender.as_deref().unwrap_or_default();
    let file = variant.map(|variant| variant.executable.display().to_string());
    let file = file.unwrap_or_default();
    format!("'{contender}' {problem}; on your own link it does not; see {file}")
}
