//! What the engine hands over after each block, and who takes it.

use crate::placement::Placed;
use crate::run::{BenchmarkFailure, RunEnd};
use crate::samples::Sample;

/// One completed block as measured. The buffers are reused between blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockRecord {
    /// Index of the benchmark in the plan.
    pub benchmark: usize,
    /// The replicate, counted from 0.
    pub replicate: u32,
    /// The block within the replicate, counted from 0.
    pub index: u32,
    /// Whether a discarded launch preceded the first slot.
    pub primed: bool,
    /// Nanoseconds from the start of the run to the end of this block.
    pub elapsed_ns: u64,
    /// One entry per slot, in the order run.
    pub samples: Vec<Sample>,
    /// Metric values, slot by slot; within a slot in the run's column order.
    pub values: Vec<f64>,
}

/// The record could not be kept.
#[derive(Debug)]
pub struct SinkError {
    /// The file or device, in words.
    pub place: String,
    /// What the system said.
    pub source: std::io::Error,
}

impl std::fmt::Display for SinkError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { place, source } = self;
        write!(f, "cannot write {place}: {source}")
    }
}

impl std::error::Error for SinkError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Takes raw samples as they are measured. The engine starts the next block
/// only after `block` has returned.
pub trait RecordSink {
    /// Keeps one completed block.
    fn block(&mut self, block: &BlockRecord) -> Result<(), SinkError>;
    /// Notes where the code lies in a replicate, before its first block.
    fn placed(&mut self, placed: &Placed) -> Result<(), SinkError>;
    /// Notes that a benchmark cannot be raced any further.
    fn failed(&mut self, failure: &BenchmarkFailure) -> Result<(), SinkError>;
    /// Notes how the run ended.
    fn end(&mut self, end: &RunEnd) -> Result<(), SinkError>;
}

/// Keeps nothing: for runs that stay in memory.
#[derive(Clone, Copy, Debug)]
pub struct Unrecorded;

impl RecordSink for Unrecorded {
    fn block(&mut self, _block: &BlockRecord) -> Result<(), SinkError> {
        Ok(())
    }

    fn placed(&mut self, _placed: &Placed) -> Result<(), SinkError> {
        Ok(())
    }

    fn failed(&mut self, _failure: &BenchmarkFailure) -> Result<(), SinkError> {
        Ok(())
    }

    fn end(&mut self, _end: &RunEnd) -> Result<(), SinkError> {
        Ok(())
    }
}
