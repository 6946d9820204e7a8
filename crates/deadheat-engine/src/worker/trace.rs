//! The contender that is called: noted by the worker, read by the coordinator when it
//! has to explain why no answer comes.

use std::io::{PipeReader, PipeWriter, Read, Write};

use super::baton::set_nonblocking;
use crate::function::{Disagreement, FunctionBenchmark, Gauge, Reading};

/// Stands for everything that is no contender: making and dropping inputs.
const NOBODY: u8 = 0;

/// A benchmark as its coordinator calls it: all its contenders, or one alone as
/// number 0. It notes who is called before every sample.
///
/// Notes go through a pipe nobody waits at: a byte wakes no other process,
/// which would cost more than it tells. When the pipe is full, notes are lost.
pub(super) struct Traced<'a> {
    pub(super) benchmark: &'a mut dyn FunctionBenchmark,
    /// The place of the only contender wanted.
    pub(super) only: Option<usize>,
    pub(super) notes: &'a PipeWriter,
}

impl Traced<'_> {
    fn note(&self, who: u8) {
        let mut notes = self.notes;
        // Whoever reads them may be gone; the other pipes will tell.
        let _ = notes.write(&[who]);
    }

    /// Notes that nobody is called any more: another process goes on.
    pub(super) fn idle(&self) {
        self.note(NOBODY);
    }
}

impl FunctionBenchmark for Traced<'_> {
    fn contenders(&self) -> usize {
        self.only.map_or_else(|| self.benchmark.contenders(), |_| 1)
    }

    fn threads(&self) -> u32 {
        self.benchmark.threads()
    }

    fn most_iterations(&self) -> u64 {
        self.benchmark.most_iterations()
    }

    fn renews_input(&self) -> bool {
        self.benchmark.renews_input()
    }

    fn prepare(&mut self, seed: u64) {
        self.note(NOBODY);
        self.benchmark.prepare(seed);
    }

    fn sample(&mut self, contender: usize, iterations: u64, gauge: &Gauge) -> Reading {
        self.note(u8::try_from(contender + 1).unwrap_or(NOBODY));
        let contender = self.only.unwrap_or(contender);
        self.benchmark.sample(contender, iterations, gauge)
    }

    /// Of one alone only what it says about itself: nobody else was called.
    fn check(&self) -> Result<(), Disagreement> {
        self.note(NOBODY);
        match (self.benchmark.check(), self.only) {
            (Err(Disagreement::WithItself { .. }), Some(_)) => {
                Err(Disagreement::WithItself { contender: 0 })
            }
            (Err(Disagreement::WithBaseline { .. }), Some(_)) => Ok(()),
            (checked, _) => checked,
        }
    }
}

/// The coordinator's end of the notes.
#[derive(Debug)]
pub(crate) struct Trace {
    notes: PipeReader,
    last: u8,
    used: bool,
}

impl Trace {
    pub(super) fn new(notes: PipeReader) -> std::io::Result<Self> {
        set_nonblocking(&notes)?;
        Ok(Self {
            notes,
            last: NOBODY,
            used: false,
        })
    }

    /// Reads what was noted; whether there was anything.
    pub(super) fn moved_on(&mut self) -> bool {
        let mut buffer = [0; 512];
        let mut moved = false;
        // An end of the pipe, an error and nothing to read are all the same.
        while let Ok(bytes @ 1..) = self.notes.read(&mut buffer) {
            self.last = buffer[bytes - 1];
            moved = true;
        }
        self.used |= moved;
        moved
    }

    /// Returns whether anything was ever found noted.
    pub(super) fn was_used(&self) -> bool {
        self.used
    }

    /// The contender that was called last, unless something else came after.
    pub(crate) fn contender(&mut self) -> Option<usize> {
        self.moved_on();
        usize::from(self.last).checked_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SampleClock;
    use crate::function::ByReference;
    use std::cell::Cell;
    use std::rc::Rc;

    fn traced<'a>(benchmark: &'a mut dyn FunctionBenchmark, notes: &'a PipeWriter) -> Traced<'a> {
        Traced {
            benchmark,
            only: None,
            notes,
        }
    }

    #[test]
    fn the_last_contender_called_is_known_until_something_else_happens() {
        let (read, write) = std::io::pipe().unwrap();
        set_nonblocking(&write).unwrap();
        let mut trace = Trace::new(read).unwrap();
        assert!(!trace.moved_on());
        let mut functions = ByReference::new(|seed| seed);
        functions.add(|seed| *seed);
        functions.add(|seed| *seed);
        let gauge = Gauge::new(SampleClock::os());
        let mut traced = traced(&mut functions, &write);
        traced.prepare(1);
        assert!(trace.moved_on() && trace.contender().is_none());
        traced.sample(0, 1, &gauge);
        traced.sample(1, 1, &gauge);
        assert_eq!(trace.contender(), Some(1));
        assert_eq!(trace.contender(), Some(1), "asking changes nothing");
        traced.check().unwrap();
        assert_eq!(trace.contender(), None);
    }

    #[test]
    fn a_full_pipe_holds_nobody_up() {
        let (_read, write) = std::io::pipe().unwrap();
        set_nonblocking(&write).unwrap();
        let mut functions = ByReference::new(|seed| seed);
        functions.add(|seed| *seed);
        let mut traced = traced(&mut functions, &write);
        for seed in 0..100_000 {
            traced.prepare(seed);
        }
    }

    #[test]
    fn only_the_contender_that_was_asked_for_is_called() {
        let calls = Rc::new(Cell::new([0, 0]));
        let count = |place: usize| {
            let calls = Rc::clone(&calls);
            move |_: &u64| {
                let mut counts = calls.get();
                counts[place] += 1;
                calls.set(counts);
            }
        };
        let mut functions = ByReference::new(|seed| seed);
        functions.add(count(0));
        functions.add(count(1));
        let (_read, write) = std::io::pipe().unwrap();
        let mut alone = Traced {
            only: Some(1),
            ..traced(&mut functions, &write)
        };
        alone.prepare(1);
        alone.sample(0, 3, &Gauge::new(SampleClock::os()));
        assert_eq!((alone.contenders(), calls.get()), (1, [0, 3]));
        assert_eq!(alone.check(), Ok(()));
    }
}
