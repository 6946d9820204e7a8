//! The seam between the session and whatever is timed.

use deadheat_model::{Block, BlockRecord, Metric, Placed, Slot};

use crate::error::EngineError;

/// The contenders of a plan, ready to be run. The session drives them; it
/// does not know what they are.
pub trait Contenders {
    /// The metrics of every sample, in column order.
    fn metrics(&self) -> &[Metric];
    /// Gets a benchmark ready: its setup hooks.
    fn open(&mut self, benchmark: usize) -> Result<(), EngineError>;
    /// Runs these slots and forgets what they took.
    fn warm_up(&mut self, benchmark: usize, slots: &[Slot]) -> Result<(), EngineError>;
    /// Runs a block and fills in the samples and values of `record`, whose
    /// buffers are empty. The session fills in the rest.
    fn run(&mut self, block: &Block, record: &mut BlockRecord) -> Result<(), EngineError>;
    /// Where the code lies in the replicate that has just begun, once for each
    /// replicate whose placement was drawn. Asked after its first block.
    fn placed(&mut self) -> Option<Placed> {
        None
    }
    /// Processes launched since this was last asked.
    fn launched(&mut self) -> u64;
    /// Leaves a benchmark: its cleanup hooks. Called once for every `open`,
    /// also after a failure.
    fn close(&mut self, benchmark: usize) -> Result<(), EngineError>;
}
