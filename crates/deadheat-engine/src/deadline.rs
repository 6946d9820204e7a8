//! A deadline for several races in a row: a timer sends SIGALRM, which stops a race and all its
//! processes as Ctrl-C does.

use std::time::Duration;

use nix::sys::signal::{SigEvent, SigevNotify, Signal};
use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
use nix::time::ClockId;

use crate::clock::Clock as _;
use crate::clock::OsClock;
use crate::interrupt::Interrupts;

/// A running timer. Dropping it stops the timer.
#[derive(Debug)]
pub struct Deadline {
    _timer: Timer,
    clock: OsClock,
    time: Duration,
}

impl Deadline {
    /// Starts a timer. `_interrupts` proves that SIGALRM stops races and does not end the program.
    ///
    /// # Errors
    ///
    /// If the system cannot create another timer.
    pub fn start(time: Duration, _interrupts: &Interrupts) -> nix::Result<Self> {
        let event = SigEvent::new(SigevNotify::SigevSignal {
            signal: Signal::SIGALRM,
            si_value: 0,
        });
        let mut timer = Timer::new(ClockId::CLOCK_MONOTONIC, event)?;
        // A timer of 0 would never expire.
        let whole = time.max(Duration::from_nanos(1)).into();
        timer.set(Expiration::OneShot(whole), TimerSetTimeFlags::empty())?;
        Ok(Self {
            _timer: timer,
            clock: OsClock::start(),
            time,
        })
    }

    /// Returns true if `signal`, which stopped a race, came from this timer.
    pub fn sent(&self, signal: i32) -> bool {
        // Allows 10 ms, because the clock starts after the timer.
        let passed = Duration::from_nanos(self.clock.elapsed_ns()) + Duration::from_millis(10);
        signal == Signal::SIGALRM as i32 && passed >= self.time
    }
}
