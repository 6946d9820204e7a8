//! Catches Ctrl-C and the other signals that ask deadheat to stop. A handler records the signal,
//! and deadheat acts on it when it polls; the signal alone does not end the process.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::os::raw::c_int;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use nix::poll::ppoll;
use nix::sys::signal::{
    SaFlags, SigAction, SigHandler, SigSet, SigmaskHow, Signal, sigaction, signal,
};
use nix::sys::time::TimeSpec;

static COUNT: AtomicU32 = AtomicU32::new(0);
static LAST: AtomicI32 = AtomicI32::new(0);

thread_local! {
    /// The signal mask of this thread from before an [`Interrupts`] was installed; `None` if this
    /// thread has no `Interrupts`.
    static BEFORE: Cell<Option<SigSet>> = const { Cell::new(None) };
}

/// The signals that ask deadheat to stop: those that end a process by default and that users or
/// supervisors send.
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

/// Blocks the signals that ask deadheat to stop, except while deadheat polls for them. Dropping
/// this value restores the signal mask and the signal actions.
///
/// A program that runs several races in a row keeps one `Interrupts` throughout. The `Interrupts`
/// of the single races then change nothing, and a signal between two races does not end the
/// program.
#[derive(Debug)]
pub struct Interrupts {
    original: SigSet,
    previous: Vec<(Signal, SigAction)>,
    /// True if this thread already had an `Interrupts`. Dropping this value then restores nothing.
    nested: bool,
}

/// Restores the default action of SIGCHLD, which the parent may have set to ignore. The kernel would
/// then discard the exit statuses and the CPU times of processes that this process and its children
/// start.
pub fn keep_status_of_children() {
    // SAFETY: installs a default action, no handler of ours.
    let _ = unsafe { signal(Signal::SIGCHLD, SigHandler::SigDfl) };
}

/// Makes a write beyond the file size limit (`ulimit -f`) fail with an error instead of killing
/// this process. Programs that this process starts have the default action again.
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
        // SAFETY: restores the previous action.
        let _ = unsafe { sigaction(Signal::SIGXFSZ, &old) };
    }
}

impl Interrupts {
    /// Blocks the signals that ask to stop and installs their handler. A signal that was ignored,
    /// such as SIGHUP under `nohup`, stays ignored.
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
                // SAFETY: restores the previous action.
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

    /// Returns the signal mask that deadheat was started with.
    pub(crate) fn original_mask(&self) -> &SigSet {
        &self.original
    }

    /// Returns how often signals have asked this process to stop so far.
    #[cfg(feature = "commands")]
    pub(crate) fn count(&self) -> u32 {
        COUNT.load(Ordering::SeqCst)
    }

    /// Returns the last signal that asked deadheat to stop, pending ones included; `None` if there
    /// was none.
    pub fn requested(&self) -> Option<i32> {
        // Delivers pending signals without blocking.
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
            // SAFETY: restores an action that was installed before.
            let _ = unsafe { sigaction(*signal, action) };
        }
        let _ = self.original.thread_set_mask();
    }
}

/// Returns the last signal that asked deadheat to stop, if an [`Interrupts`] of this thread blocks
/// signals; `None` otherwise, because signals then take effect at once.
pub fn held_back_signal() -> Option<i32> {
    let original = BEFORE.get()?;
    let _ = ppoll(&mut [], Some(TimeSpec::new(0, 0)), Some(original));
    match LAST.load(Ordering::SeqCst) {
        0 => None,
        signal => Some(signal),
    }
}

/// The error of an operation that ended because a signal asked deadheat to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interrupted;

/// Returns the name of a signal in parentheses, to follow its number; empty if it has no name.
pub(crate) fn signal_name(signal: i32) -> String {
    match Signal::try_from(signal) {
        // Seen on a fleet of machines: a program built with -march=native and raced on an older
        // machine.
        Ok(Signal::SIGILL) => {
            " (SIGILL, typical of a program built for another processor)".to_owned()
        }
        Ok(signal) => format!(" ({})", signal.as_str()),
        Err(_) => String::new(),
    }
}
