//! Who is being called: noted by the worker, read by the coordinator when it
//! has to explain why no answer comes.
#![allow(unsafe_code)]

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;

use crate::function::{Disagreement, FunctionBenchmark, Gauge, Reading};

/// Stands for everything that is no contender: making and dropping inputs.
const NOBODY: u8 = 0;

/// A benchmark that notes who is called before every sample.
///
/// Notes go through a pipe nobody waits at: a byte wakes no other process,
/// which would cost more than it tells. When the pipe is full, notes are lost.
pub(super) struct Traced<'a> {
    benchmark: &'a mut dyn FunctionBenchmark,
    notes: &'a PipeWriter,
}

impl<'a> Traced<'a> {
    pub(super) fn new(benchmark: &'a mut dyn FunctionBenchmark, notes: &'a PipeWriter) -> Self {
        Self { benchmark, notes }
    }

    fn note(&self, who: u8) {
        let mut notes = self.notes;
        // Whoever reads them may be gone; the other pipes will tell.
        let _ = notes.write(&[who]);
    }
}

impl Traced<'_> {
    /// Notes that nobody is called any more: another process goes on.
    pub(super) fn idle(&self) {
        self.note(NOBODY);
    }
}

impl FunctionBenchmark for Traced<'_> {
    fn contenders(&self) -> usize {
        self.benchmark.contenders()
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
        self.benchmark.sample(contender, iterations, gauge)
    }

    fn check(&self) -> Result<(), Disagreement> {
        self.note(NOBODY);
        self.benchmark.check()
    }
}

/// The coordinator's end of the notes.
#[derive(Debug)]
pub(super) struct Trace {
    notes: PipeReader,
    last: u8,
}

impl Trace {
    pub(super) fn new(notes: PipeReader) -> std::io::Result<Self> {
        set_nonblocking(&notes)?;
        Ok(Self {
            notes,
            last: NOBODY,
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
        moved
    }

    /// The contender that was called last, unless something else came after.
    pub(super) fn contender(&mut self) -> Option<usize> {
        self.moved_on();
        usize::from(self.last).checked_sub(1)
    }
}

/// Lets reading or writing fail where it would wait.
pub(super) fn set_nonblocking(end: &impl AsRawFd) -> std::io::Result<()> {
    // SAFETY: plain system call on a descriptor that is open.
    match unsafe { libc::fcntl(end.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SampleClock;
    use crate::function::ByReference;

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
        let mut traced = Traced::new(&mut functions, &write);
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
        let mut traced = Traced::new(&mut functions, &write);
        for seed in 0..100_000 {
            traced.prepare(seed);
        }
    }
}
