//! `/proc/stat`: what every core did since the system started.

use std::collections::BTreeMap;

/// Times of a core, in steps of the kernel's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CoreTimes {
    pub(super) total: u64,
    pub(super) busy: u64,
    pub(super) stolen: u64,
}

/// The whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) all: CoreTimes,
    pub(super) cores: BTreeMap<u32, CoreTimes>,
    /// Tasks that run or want to.
    pub(super) running: Option<u32>,
}

impl CoreTimes {
    /// What passed since an earlier reading.
    pub(super) fn since(self, earlier: Self) -> Self {
        Self {
            total: self.total.saturating_sub(earlier.total),
            busy: self.busy.saturating_sub(earlier.busy),
            stolen: self.stolen.saturating_sub(earlier.stolen),
        }
    }

    /// Share of the time that the hypervisor gave to others.
    pub(super) fn stolen_share(self) -> Option<f64> {
        (self.total > 0).then(|| self.stolen as f64 / self.total as f64)
    }

    /// Share of the time that something ran.
    pub(super) fn busy_share(self) -> Option<f64> {
        (self.total > 0).then(|| self.busy as f64 / self.total as f64)
    }

    /// `user nice system idle iowait irq softirq steal`; guests are counted
    /// in the first two, and old kernels end earlier.
    fn of(numbers: &[u64]) -> Self {
        let at = |index: usize| numbers.get(index).copied().unwrap_or(0);
        Self {
            total: (0..8).map(at).sum(),
            busy: at(0) + at(1) + at(2) + at(5) + at(6),
            stolen: at(7),
        }
    }
}

/// The text of the file. `None` when it holds no times.
pub(super) fn stat(text: &str) -> Option<Stat> {
    let mut stat = Stat::default();
    let mut found = false;
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let Some(name) = words.next() else { continue };
        let numbers: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
        match name.strip_prefix("cpu") {
            Some("") => {
                stat.all = CoreTimes::of(&numbers);
                found = true;
            }
            Some(core) => {
                if let Ok(core) = core.parse() {
                    stat.cores.insert(core, CoreTimes::of(&numbers));
                }
            }
            None if name == "procs_running" => {
                stat.running = numbers.first().map(|count| *count as u32);
            }
            None => {}
        }
    }
    found.then_some(stat)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIRTUAL_MACHINE: &str = "\
cpu  7685407 1159033 1013455 5243751 47252 0 7337 1998 0 0
cpu0 3706307 574486 466706 2817241 11922 0 596 984 0 0
cpu1 3979099 584546 546748 2426510 35330 0 6741 1014 0 0
intr 55427979 0 0 0
ctxt 198333842
procs_running 5
procs_blocked 0
";

    #[test]
    fn times_are_read_for_every_core() {
        let stat = stat(VIRTUAL_MACHINE).unwrap();
        assert_eq!(stat.running, Some(5));
        assert_eq!(stat.cores.len(), 2);
        assert_eq!(stat.cores[&1].stolen, 1014);
        assert_eq!(stat.all.total, 15_158_233);
        assert_eq!(stat.all.busy, 7685407 + 1159033 + 1013455 + 7337);
    }

    #[test]
    fn shares_are_those_of_what_passed_in_between() {
        let earlier = CoreTimes::of(&[10, 0, 0, 80, 0, 0, 0, 10]);
        let later = CoreTimes::of(&[60, 0, 0, 80, 0, 0, 0, 60]);
        let passed = later.since(earlier);
        assert_eq!(passed.stolen_share(), Some(0.5));
        assert_eq!(passed.busy_share(), Some(0.5));
        // The counters of a core that went off and came back begin anew.
        assert_eq!(earlier.since(later).stolen_share(), None);
    }

    #[test]
    fn a_text_without_times_is_none() {
        assert_eq!(stat(""), None);
        assert_eq!(stat("intr 1 2 3\n"), None);
        assert_eq!(stat("cpu  1 2 3 4\n").unwrap().all.total, 10);
    }
}
