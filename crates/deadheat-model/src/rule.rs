//! When to stop: asked by the engine, answered elsewhere.

use crate::analysis::Standing;
use crate::samples::Samples;

/// The answer to "shall we go on?".
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Another replicate is needed.
    GoOn,
    /// The verdict of this benchmark is settled, or no replicate is left.
    Stop,
}

/// Judges the data after every completed replicate.
///
/// The engine calls this and knows no statistics itself.
pub trait StoppingRule {
    /// Whether the benchmark needs more replicates; `samples` holds everything
    /// measured for it so far.
    fn decide(&mut self, benchmark: usize, samples: &Samples) -> Decision;

    /// Where the race stands, for people watching. Never used to stop.
    fn standing(&mut self, benchmark: usize, samples: &Samples) -> Option<Standing>;
}
