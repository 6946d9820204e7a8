//! A loop that does nothing but read the clock, and notices when it was gone.

use crate::clock::SampleClock;

/// Gaps shorter than this many nanoseconds are no interruption: a cache that
/// has to be filled takes that long. The shortest interrupt takes longer.
const SHORTEST_GAP_NS: f64 = 1_000.0;

/// And no shorter than so many readings: where reading is a system call,
/// readings differ among themselves.
const READINGS: f64 = 10.0;

/// What a loop noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Gaps {
    pub(super) count: u64,
    pub(super) longest_ns: f64,
    pub(super) lost_ns: f64,
    pub(super) watched_ns: f64,
}

/// Reads the clock for this long, on the core the calling thread is on.
pub(super) fn spin(clock: &SampleClock, seconds: f64) -> Gaps {
    let shortest = SHORTEST_GAP_NS.max(READINGS * clock.resolution_ns());
    let mut gaps = Gaps::default();
    let begin = clock.start();
    let mut last = begin;
    loop {
        let now = clock.start();
        let step_ns = clock.ns_between(last, now);
        if step_ns >= shortest {
            gaps.count += 1;
            gaps.lost_ns += step_ns;
            gaps.longest_ns = gaps.longest_ns.max(step_ns);
        }
        last = now;
        gaps.watched_ns = clock.ns_between(begin, now);
        if gaps.watched_ns >= seconds * 1e9 {
            return gaps;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_lie_within_the_time_that_was_watched() {
        let (clock, _) = SampleClock::choose();
        let gaps = spin(&clock, 0.02);
        assert!(gaps.watched_ns >= 0.02e9);
        assert!(gaps.longest_ns <= gaps.lost_ns && gaps.lost_ns <= gaps.watched_ns);
        assert_eq!(gaps.count == 0, gaps.lost_ns == 0.0);
    }
}
