//! What it does to a piece of work when another core is busy.

use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::work::{Work, quantile};
use crate::affinity::hold_on;

/// Windows in which the other core is idle or busy: as in a race, so that what
/// drifts cancels.
const WINDOWS: [bool; 8] = [false, true, true, false, true, false, false, true];

/// How long to wait for the other core to get busy or come to rest.
const PATIENCE: Duration = Duration::from_millis(20);

/// After that it has to be busy for a moment: frequencies follow.
const SETTLING: Duration = Duration::from_millis(1);

const REST: u8 = 0;
const BUSY: u8 = 1;
const OVER: u8 = 2;

/// The relative change of the time of a piece of work on this core while the
/// same work keeps `other` busy: 0.01 is one per cent longer. `None` when the
/// other core may not be used, or too little got done.
pub(super) fn slowdown(work: &Work, other: u32, seconds: f64) -> Option<f64> {
    let wanted = AtomicU8::new(REST);
    let state = AtomicU8::new(REST);
    thread::scope(|scope| {
        let rival = scope.spawn(|| {
            if hold_on(other).is_err() {
                state.store(OVER, Ordering::Release);
                return;
            }
            compete(work, &wanted, &state);
        });
        let mut times = [Vec::new(), Vec::new()];
        for busy in WINDOWS {
            wanted.store(if busy { BUSY } else { REST }, Ordering::Release);
            rival.thread().unpark();
            wait_for(&state, if busy { BUSY } else { REST });
            let window = seconds / WINDOWS.len() as f64;
            work.pieces(window, &mut times[usize::from(busy)]);
        }
        let failed = state.load(Ordering::Acquire) == OVER;
        wanted.store(OVER, Ordering::Release);
        rival.thread().unpark();
        let [quiet, busy] = &mut times;
        let medians = quantile(quiet, 0.5).zip(quantile(busy, 0.5));
        let (quiet, busy) = medians.filter(|(quiet, _)| *quiet > 0.0 && !failed)?;
        Some(busy / quiet - 1.0)
    })
}

fn compete(work: &Work, wanted: &AtomicU8, state: &AtomicU8) {
    loop {
        match wanted.load(Ordering::Acquire) {
            REST => {
                state.store(REST, Ordering::Release);
                thread::park();
            }
            BUSY => {
                state.store(BUSY, Ordering::Release);
                work.keep_busy();
            }
            _ => return,
        }
    }
}

fn wait_for(state: &AtomicU8, wanted: u8) {
    let since = Instant::now();
    while state.load(Ordering::Acquire) != wanted && since.elapsed() < PATIENCE {
        std::hint::spin_loop();
    }
    let since = Instant::now();
    while since.elapsed() < SETTLING {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SampleClock;

    #[test]
    fn a_core_that_is_not_there_competes_with_nobody() {
        let (clock, _) = SampleClock::choose();
        assert_eq!(slowdown(&Work::sized(&clock), 1023, 0.01), None);
    }

    #[test]
    fn both_halves_of_the_windows_have_as_many_of_each() {
        for half in WINDOWS.chunks(4) {
            assert_eq!(half.iter().filter(|busy| **busy).count(), 2);
        }
    }

    #[test]
    fn a_core_that_is_there_gives_a_number() {
        let (clock, _) = SampleClock::choose();
        let work = Work::sized(&clock);
        let cores = crate::affinity::cores_of_this_thread().unwrap();
        let found = slowdown(&work, cores[0], 0.05);
        assert!(found.is_some_and(|change| change > -1.0), "{found:?}");
    }
}
