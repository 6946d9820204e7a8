//! The traits through which the engine hands over its measurements and learns when to stop, so that
//! it needs no knowledge of files or statistics.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use crate::analysis::Standing;
use crate::estimate::MeasuredEffect;
use crate::observed::Observed;
use crate::run::{BenchmarkFailure, Placed, RunEnd};
use crate::samples::{BlockRecord, Samples};

/// The error if a measurement could not be recorded.
#[derive(Debug)]
pub struct SinkError {
    /// The file or device, in words.
    pub place: String,
    /// The error of the operating system.
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

/// A recorder of raw samples. The engine starts the next block only after `block` has returned.
pub trait RecordSink {
    /// Records one completed block.
    fn block(&mut self, block: &BlockRecord) -> Result<(), SinkError>;
    /// Records the code placement of a replicate, before its first block.
    fn placed(&mut self, placed: &Placed) -> Result<(), SinkError>;
    /// Records a change in the observed processes of a contender, before the block in which it was
    /// observed.
    fn observed(&mut self, observed: &Observed) -> Result<(), SinkError>;
    /// Records that a benchmark failed and is not raced any further.
    fn failed(&mut self, failure: &BenchmarkFailure) -> Result<(), SinkError>;
    /// Records how the run ended.
    fn end(&mut self, end: &RunEnd) -> Result<(), SinkError>;
}

/// A recorder that discards everything, for runs that stay in memory.
#[derive(Clone, Copy, Debug)]
pub struct Unrecorded;

impl RecordSink for Unrecorded {
    fn block(&mut self, _block: &BlockRecord) -> Result<(), SinkError> {
        Ok(())
    }

    fn placed(&mut self, _placed: &Placed) -> Result<(), SinkError> {
        Ok(())
    }

    fn observed(&mut self, _observed: &Observed) -> Result<(), SinkError> {
        Ok(())
    }

    fn failed(&mut self, _failure: &BenchmarkFailure) -> Result<(), SinkError> {
        Ok(())
    }

    fn end(&mut self, _end: &RunEnd) -> Result<(), SinkError> {
        Ok(())
    }
}

/// The decision after a replicate of a benchmark.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Another replicate is needed.
    GoOn,
    /// The verdict of this benchmark is settled, or no replicate is left.
    Stop,
}

/// A condition that ends the race of a benchmark in place of a verdict. At every look of the plan,
/// a closure decides if the effect is known well enough.
///
/// Measuring the level of a commit ends when the error is small enough; a search for a culprit
/// commit ends by its posterior probabilities.
#[derive(Clone)]
pub struct Until(Rc<RefCell<Question>>);

type Question = dyn FnMut(&str, MeasuredEffect) -> bool;

impl Until {
    /// Returns a condition from a closure, which receives the name of the benchmark and its effect
    /// so far.
    pub fn new(question: impl FnMut(&str, MeasuredEffect) -> bool + 'static) -> Self {
        Self(Rc::new(RefCell::new(question)))
    }

    /// Returns true if the closure accepts the effect so far as precise enough.
    pub fn is_enough(&self, benchmark: &str, effect: MeasuredEffect) -> bool {
        (self.0.borrow_mut())(benchmark, effect)
    }
}

impl fmt::Debug for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Until")
    }
}

/// A rule that judges the data after every completed replicate.
///
/// The engine calls it, and computes no statistics itself.
pub trait StoppingRule {
    /// Decides whether the benchmark needs more replicates; `samples` holds everything measured for
    /// it so far.
    fn decide(&mut self, benchmark: usize, samples: &Samples) -> Decision;

    /// Returns the interim result of the race, for display only. It never stops the race.
    fn standing(&mut self, benchmark: usize, samples: &Samples) -> Option<Standing>;
}
