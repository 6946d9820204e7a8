//! Ctrl-C and its relatives: noticed, never lost, never fatal by themselves.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::os::raw::c_int;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use nix::poll::ppoll;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, SigmaskHow, Signal, sigaction};
use nix::sys::time::TimeSpec;

static COUNT: AtomicU32 = AtomicU32::new(0);
static LAST: AtomicI32 = AtomicI32::new(0);

thread_local! {
    /// The mask of this thread from before it took over signals.
    static BEFORE: Cell<Option<SigSet>> = const { Cell::new(None) };
}

/// The signals that ask deadheat to stop: all that would end it by default and
/// that somebody may send.
const SIGNALS: [Signal; 7] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGALRM,
];

extern "C" fn note(signal: c_int) {
    LAST.store(signal, Ordering::SeqCst);
    COUNT.fetch_add(1, Ordering::SeqCst);
}

/// Signals that ask to stop, held back except where someone waits for them.
/// The old mask and actions come back when this is dropped.
///
/// A program that races many times in a row holds one of these all the while: those of the
/// single races then leave everything as it is, and no signal between two races
/// ends the program.
#[derive(Debug)]
pub struct Interrupts {
    original: SigSet,
    previous: Vec<(Signal, SigAction)>,
    /// True if another one of this thread has taken over already.
    nested: bool,
}

/// Lets a write beyond the largest size of a file (`ulimit -f`) fail with an error, instead of ending
/// this process. A program that this process starts has the default again.
pub fn outlive_file_limits() {
    extern "C" fn nothing(_: c_int) {}
    let action = SigAction::new(
        SigHandler::Handler(nothing),
        SaFlags::SA_RESTART,
        SigSet::empty(),
    );
    // SAFETY: the handler does nothing.
    let old = unsafe { sigaction(Signal::SIGXFSZ, &action) };
    if let Ok(old) = old
        && matches!(old.handler(), SigHandler::SigIgn)
    {
        // SAFETY: puts back the action found.
        let _ = unsafe { sigaction(Signal::SIGXFSZ, &old) };
    }
}

impl Interrupts {
    /// Takes over the signals that ask to stop. One that was ignored (as under
    /// `nohup`) stays ignored.
    pub fn install() -> nix::Result<Self> {
        if let Some(original) = BEFORE.get() {
            return Ok(Self {
                original,
                previous: Vec::new(),
                nested: true,
            });
        }
        let mut held = SigSet::empty();
        for signal in SIGNALS {
            held.add(signal);
        }
        let original = held.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
        let action = SigAction::new(SigHandler::Handler(note), SaFlags::empty(), SigSet::empty());
        let mut previous = Vec::new();
        for signal in SIGNALS {
            // SAFETY: `note` only stores to atomics.
            let old = unsafe { sigaction(signal, &action) }?;
            if matches!(old.handler(), SigHandler::SigIgn) {
                // SAFETY: puts back the action found.
                unsafe { sigaction(signal, &old) }?;
            } else {
                previous.push((signal, old));
            }
        }
        BEFORE.set(Some(original));
        Ok(Self {
            original,
            previous,
            nested: false,
        })
    }

    /// The mask deadheat was started with.
    pub(crate) fn original_mask(&self) -> &SigSet {
        &self.original
    }

    /// The number of signals that came in so far in this process.
    #[cfg(feature = "commands")]
    pub(crate) fn count(&self) -> u32 {
        COUNT.load(Ordering::SeqCst)
    }

    /// The signal that asks to stop, if one came, held-back ones included.
    pub fn requested(&self) -> Option<i32> {
        // Lets in what is waiting, without waiting.
        let _ = ppoll(&mut [], Some(TimeSpec::new(0, 0)), Some(self.original));
        match LAST.load(Ordering::SeqCst) {
            0 => None,
            signal => Some(signal),
        }
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        if self.nested {
            return;
        }
        BEFORE.set(None);
        for (signal, action) in &self.previous {
            // SAFETY: puts back an action that was installed before.
            let _ = unsafe { sigaction(*signal, action) };
        }
        let _ = self.original.thread_set_mask();
    }
}

/// The signal that asks to stop while an [`Interrupts`] of this thread holds signals back; `None`
/// otherwise, because signals then act at once.
pub fn held_back_signal() -> Option<i32> {
    let original = BEFORE.get()?;
    let _ = ppoll(&mut [], Some(TimeSpec::new(0, 0)), Some(original));
    match LAST.load(Ordering::SeqCst) {
        0 => None,
        signal => Some(signal),
    }
}

/// A signal asks deadheat to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interrupted;

/// The name of a signal in brackets, behind its number; nothing where it has none.
pub(crate) fn signal_name(signal: i32) -> String {
    match Signal::try_from(signal) {
        // Seen on a fleet: built with -march=native on one machine, and raced on an older one.
        Ok(Signal::SIGILL) => {
            " (SIGILL, as of a program that was built for another processor)".to_owned()
        }
        Ok(signal) => format!(" ({})", signal.as_str()),
        Err(_) => String::new(),
    }
}
