//! A core, watched for a moment: by a loop on it that reads the clock and notices when it was gone,
//! and by what the kernel counts meanwhile.

use deadheat_engine::SampleClock;
use deadheat_model::doctor::{BusyLine, CoreWatch};

use crate::procfs::{InterruptCounts, Interrupts, Stat, interrupts, stat, waited_ns};
use crate::root::Root;

/// A core as it was watched, and what interrupted it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Watched {
    pub(crate) watch: CoreWatch,
    /// Interrupts of the timer and of devices, per second.
    pub(crate) timer: Option<f64>,
    pub(crate) device: Option<f64>,
    pub(crate) busiest: Option<BusyLine>,
    /// Share of the time that each core of the machine was busy meanwhile.
    pub(crate) busy: Vec<(u32, f64)>,
}

impl Watched {
    /// Share of the time that a core of the machine was busy meanwhile.
    pub(crate) fn busy_share(&self, core: u32) -> Option<f64> {
        let of_core = self.busy.iter().find(|(one, _)| *one == core);
        of_core.map(|(_, share)| *share)
    }
}

/// Counts of the kernel since the start.
struct Counted {
    stat: Option<Stat>,
    interrupts: Option<Interrupts>,
    waited_ns: Option<u64>,
}

impl Counted {
    fn now(root: &Root) -> Self {
        Self {
            stat: root.read("proc/stat", stat),
            interrupts: root.read("proc/interrupts", interrupts),
            waited_ns: root.read("proc/thread-self/schedstat", waited_ns),
        }
    }
}

/// Watches the core that the calling thread is held on, or wherever it is moved to.
pub(crate) fn watch(
    clock: &SampleClock,
    root: &Root,
    core: Option<u32>,
    isolated: bool,
    seconds: f64,
) -> Watched {
    let before = Counted::now(root);
    let gaps = spin(clock, seconds);
    let after = Counted::now(root);
    let watched_s = gaps.watched_ns / 1e9;
    let came = before
        .interrupts
        .zip(after.interrupts)
        .and_then(|(before, after)| after.since(&before, core));
    let waited = before
        .waited_ns
        .zip(after.waited_ns)
        .map(|(before, after)| after.saturating_sub(before) as f64 / gaps.watched_ns);
    let (stolen, busy) = match before.stat.zip(after.stat) {
        Some((before, after)) => passed(&before, &after, core),
        None => (None, Vec::new()),
    };
    let rate =
        |of: fn(&InterruptCounts) -> u64| came.as_ref().map(|came| of(came) as f64 / watched_s);
    Watched {
        watch: CoreWatch {
            core,
            seconds: watched_s,
            taken_away: gaps.count as f64 / watched_s,
            longest_ns: gaps.longest_ns,
            lost: gaps.lost_ns / gaps.watched_ns,
            waiting: waited.map(|share| share.min(1.0)),
            stolen,
            interrupts: rate(|came| came.all),
            isolated,
        },
        timer: rate(|came| came.timer),
        device: rate(|came| came.device),
        busiest: came.and_then(|came| {
            let (label, name, count) = came.busiest?;
            Some(BusyLine {
                label,
                name,
                per_second: count as f64 / watched_s,
            })
        }),
        busy,
    }
}

/// The stolen share of the watched core, and how busy every core was.
fn passed(before: &Stat, after: &Stat, core: Option<u32>) -> (Option<f64>, Vec<(u32, f64)>) {
    let of_core = |core: &u32| Some(after.cores.get(core)?.since(*before.cores.get(core)?));
    let watched = match core {
        None => Some(after.all.since(before.all)),
        Some(core) => of_core(&core),
    };
    let busy = after.cores.keys();
    let busy = busy.filter_map(|core| Some((*core, of_core(core)?.busy_share()?)));
    (
        watched.and_then(|times| times.stolen_share()),
        busy.collect(),
    )
}

/// Gaps shorter than this many nanoseconds are no interruption: a cache that has to be filled takes
/// that long. The shortest interrupt takes longer.
const SHORTEST_GAP_NS: f64 = 1_000.0;

/// And no shorter than so many readings: where reading is a system call, readings differ among
/// themselves.
const READINGS: f64 = 10.0;

/// The gaps that a loop noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Gaps {
    pub(crate) count: u64,
    pub(crate) longest_ns: f64,
    pub(crate) lost_ns: f64,
    pub(crate) watched_ns: f64,
}

/// Reads the clock for this long, on the core the calling thread is on.
pub(crate) fn spin(clock: &SampleClock, seconds: f64) -> Gaps {
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
    use crate::root::fake::machine;

    #[test]
    fn where_the_kernel_tells_nothing_the_loop_still_does() {
        let (clock, _) = SampleClock::choose();
        let (_folder, root) = machine(&[]);
        let seen = watch(&clock, &root, None, false, 0.01);
        assert!(seen.watch.seconds >= 0.01 && (0.0..=1.0).contains(&seen.watch.lost));
        assert_eq!((seen.watch.waiting, seen.watch.stolen), (None, None));
        assert_eq!((seen.timer, seen.busiest), (None, None));
        assert!(seen.busy.is_empty());
    }

    #[test]
    fn shares_are_those_of_the_watched_core() {
        let at = |steal: u32| {
            let text =
                format!("cpu 0 0 0 0 0 0 0 0\ncpu0 9 0 0 9 0 0 0 0\ncpu1 5 0 0 5 0 0 0 {steal}\n");
            stat(&text).unwrap()
        };
        let (stolen, busy) = passed(&at(0), &at(30), Some(1));
        assert_eq!(stolen, Some(1.0));
        assert_eq!(busy, [(1, 0.0)], "nothing passed on the other");
        assert_eq!(passed(&at(0), &at(30), Some(7)).0, None);
    }

    #[test]
    fn gaps_lie_within_the_time_that_was_watched() {
        let (clock, _) = SampleClock::choose();
        let gaps = spin(&clock, 0.02);
        assert!(gaps.watched_ns >= 0.02e9);
        assert!(gaps.longest_ns <= gaps.lost_ns && gaps.lost_ns <= gaps.watched_ns);
        assert_eq!(gaps.count == 0, gaps.lost_ns == 0.0);
    }
}
