//! A core, watched for a moment: by a loop on it, and by what the kernel
//! counts meanwhile.

use deadheat_model::doctor::{BusyLine, CoreWatch};

use super::interrupts::{Came, Interrupts, interrupts};
use super::load::waited_ns;
use super::root::Root;
use super::spin::spin;
use super::stat::{Stat, stat};
use crate::clock::SampleClock;

/// A core as it was watched, and what interrupted it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Watched {
    pub(super) watch: CoreWatch,
    /// Interrupts of the timer and of devices, per second.
    pub(super) timer: Option<f64>,
    pub(super) device: Option<f64>,
    pub(super) busiest: Option<BusyLine>,
    /// Share of the time that each core of the machine was busy meanwhile.
    pub(super) busy: Vec<(u32, f64)>,
}

/// What the kernel has counted so far.
struct Counted {
    stat: Option<Stat>,
    interrupts: Option<Interrupts>,
    waited_ns: Option<u64>,
}

impl Counted {
    fn now(root: &Root) -> Self {
        let waited = root.text("proc/thread-self/schedstat");
        Self {
            stat: root.text("proc/stat").and_then(|text| stat(&text)),
            interrupts: root
                .text("proc/interrupts")
                .and_then(|text| interrupts(&text)),
            waited_ns: waited.and_then(|text| waited_ns(&text)),
        }
    }
}

/// Watches the core that the calling thread is held on, or wherever it is
/// moved to.
pub(super) fn watch(
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
    let rate = |of: fn(&Came) -> u64| came.as_ref().map(|came| of(came) as f64 / watched_s);
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
    let stolen = match core {
        None => Some(after.all.since(before.all)),
        Some(core) => after
            .cores
            .get(&core)
            .zip(before.cores.get(&core))
            .map(|(after, before)| after.since(*before)),
    };
    let busy = after.cores.iter().filter_map(|(core, after)| {
        let share = after.since(*before.cores.get(core)?).busy_share()?;
        Some((*core, share))
    });
    (
        stolen.and_then(|times| times.stolen_share()),
        busy.collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::super::root::fake::machine;
    use super::*;

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
}
