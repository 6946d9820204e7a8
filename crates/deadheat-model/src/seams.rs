//! The two seams that keep the engine ignorant: what it hands over after each block, and when it is
//! to stop.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use crate::analysis::Standing;
use crate::estimate::MeasuredEffect;
use crate::observed::Observed;
use crate::run::{BenchmarkFailure, Placed, RunEnd};
use crate::samples::{BlockRecord, Samples};

/// The record could not be kept.
#[derive(Debug)]
pub struct SinkError {
    /// The file or device, in words.
    pub place: String,
    /// The error of the system.
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

/// Takes raw samples as they are measured. The engine starts the next block only after `block` has
/// returned.
pub trait RecordSink {
    /// Keeps one completed block.
    fn block(&mut self, block: &BlockRecord) -> Result<(), SinkError>;
    /// Notes where the code lies in a replicate, before its first block.
    fn placed(&mut self, placed: &Placed) -> Result<(), SinkError>;
    /// Notes a change in what was observed of the processes of a contender, before the block in
    /// which it was seen.
    fn observed(&mut self, observed: &Observed) -> Result<(), SinkError>;
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

/// The answer to "shall we go on?".
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Another replicate is needed.
    GoOn,
    /// The verdict of this benchmark is settled, or no replicate is left.
    Stop,
}

/// A question at every look of a plan, in place of the verdict: is enough known of this benchmark?
///
/// Levels of commits ask for an error that is small enough, a search for a culprit asks its
/// posterior.
#[derive(Clone)]
pub struct Until(Rc<RefCell<Question>>);

type Question = dyn FnMut(&str, MeasuredEffect) -> bool;

impl Until {
    /// The question, which is asked with the name of the benchmark.
    pub fn new(question: impl FnMut(&str, MeasuredEffect) -> bool + 'static) -> Self {
        Self(Rc::new(RefCell::new(question)))
    }

    /// Asks.
    pub fn is_enough(&self, benchmark: &str, effect: MeasuredEffect) -> bool {
        (self.0.borrow_mut())(benchmark, effect)
    }
}

impl fmt::Debug for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Until")
    }
}

/// Judges the data after every completed replicate.
///
/// The engine calls this and knows no statistics itself.
pub trait StoppingRule {
    /// Decides whether the benchmark needs more replicates; `samples` holds everything measured for
    /// it so far.
    fn decide(&mut self, benchmark: usize, samples: &Samples) -> Decision;

    /// Where the race stands, for people watching. Never used to stop.
    fn standing(&mut self, benchmark: usize, samples: &Samples) -> Option<Standing>;
}
