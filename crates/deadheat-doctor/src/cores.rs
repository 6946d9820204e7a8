//! The cores of a machine: their topology, which of them to watch, and which to race on.

use std::thread;

use deadheat_engine::{
    AffinityError, check_allowed, core_capacity, core_speed, fastest_cores, pin_this_thread,
};
use deadheat_model::Pinning;
use deadheat_model::doctor::{CoreWatch, Facts, PinAdvice, PinReason};

use crate::procfs::Root;

const CORES: &str = "sys/devices/system/cpu";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Topology {
    pub(crate) online: Vec<u32>,
    /// Cores on which the scheduler places no tasks by itself.
    pub(crate) isolated: Vec<u32>,
    /// Cores on which the kernel stops the timer interrupt while only one task runs there.
    pub(crate) tickless: Vec<u32>,
    /// True if hardware threads share cores; `None` if the system does not report it.
    pub(crate) smt: Option<bool>,
}

impl Topology {
    pub(crate) fn of(root: &Root) -> Self {
        let list = |file: &str| listed(root, &format!("{CORES}/{file}"));
        let online = list("online");
        let mut isolated = list("isolated");
        isolated.extend(partition(root));
        isolated.sort_unstable();
        isolated.dedup();
        let smt = root.number::<u8>(&format!("{CORES}/smt/active"));
        let smt = smt.map(|active| active == 1).or_else(|| {
            // Kernels before 4.19 lack this file, but list siblings.
            let lists = online.iter().filter_map(|core| shared(root, *core));
            let mut lists = lists.peekable();
            lists.peek()?;
            Some(lists.any(|shared| shared.len() > 1))
        });
        Self {
            online,
            isolated,
            tickless: list("nohz_full"),
            smt,
        }
    }
}

/// Returns the cores of an isolated cpuset partition that contains this process.
fn partition(root: &Root) -> Vec<u32> {
    let groups = root.text("proc/self/cgroup").unwrap_or_default();
    let Some(path) = groups.lines().find_map(|line| line.strip_prefix("0::")) else {
        return Vec::new();
    };
    let folder = format!("sys/fs/cgroup{}", path.trim_end_matches('/'));
    match root.line(&format!("{folder}/cpuset.cpus.partition")) {
        Some(kind) if kind == "isolated" => {
            listed(root, &format!("{folder}/cpuset.cpus.effective"))
        }
        _ => Vec::new(),
    }
}

pub(crate) fn siblings(root: &Root, core: u32) -> Vec<u32> {
    let mut shared = shared(root, core).unwrap_or_default();
    shared.retain(|one| *one != core);
    shared
}

fn shared(root: &Root, core: u32) -> Option<Vec<u32>> {
    let folder = format!("{CORES}/cpu{core}/topology");
    let text = ["thread_siblings_list", "core_cpus_list"]
        .iter()
        .find_map(|file| root.text(&format!("{folder}/{file}")))?;
    let list = cpu_list(&text);
    (!list.is_empty()).then_some(list)
}

pub(crate) fn fast(root: &Root, cores: &[u32]) -> Vec<u32> {
    fastest_cores(cores, |core| core_speed(root.folder(), core))
}

pub(crate) fn speeds(root: &Root, cores: &[u32]) -> Facts {
    let speed = |core: &u32| core_speed(root.folder(), *core) as f64;
    let fast = fast(root, cores);
    let (fast, slow): (Vec<u32>, Vec<u32>) = cores.iter().partition(|core| fast.contains(core));
    let best = fast.iter().map(speed).fold(0.0, f64::max);
    let slowest = slow.iter().map(speed).reduce(f64::min);
    let is_kind = |core: &u32| core_capacity(root.folder(), *core).is_some();
    Facts::Speeds {
        slowest: slowest.map(|slowest| slowest / best),
        avoided: fast.iter().all(is_kind),
        fast,
        slow,
    }
}

fn listed(root: &Root, file: &str) -> Vec<u32> {
    cpu_list(&root.text(file).unwrap_or_default())
}

/// Parses a list such as `0-3,5`. Returns an empty list for other text, because kernels write
/// `(null)` or nothing for a list that was never set.
pub(crate) fn cpu_list(text: &str) -> Vec<u32> {
    let mut cores = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        match (from.trim().parse::<u32>(), to.trim().parse::<u32>()) {
            (Ok(from), Ok(to)) if from <= to && to < 65_536 => cores.extend(from..=to),
            _ => return Vec::new(),
        }
    }
    cores
}

/// The largest number of watched cores; with more, each would be watched too briefly.
pub(crate) const MOST_CORES: usize = 8;

/// Returns true if this process may use a core that is not in its inherited set. A short-lived
/// thread tries it.
pub(crate) fn accepts(core: u32) -> bool {
    let tried = thread::spawn(move || pin_this_thread(core).is_ok());
    tried.join().unwrap_or(false)
}

/// Returns the cores to watch; `None` means any core that the scheduler chooses.
pub(crate) fn candidates(
    pinning: &Pinning,
    root: &Root,
    topology: &Topology,
    reachable: &[u32],
) -> Result<Vec<Option<u32>>, AffinityError> {
    let cores = match pinning {
        Pinning::Inherit => Vec::new(),
        Pinning::Cores(cores) => {
            check_allowed(cores, reachable)?;
            let mut cores = cores.clone();
            cores.sort_unstable();
            cores.dedup();
            cores
        }
        Pinning::Auto => fast(root, reachable),
    };
    let chosen = spread_out(&cores, &topology.isolated);
    Ok(if chosen.is_empty() {
        vec![None]
    } else {
        chosen.into_iter().map(Some).collect()
    })
}

/// Chooses at most [`MOST_CORES`] cores: isolated ones for at most half of them, then an even
/// selection of the others that includes the first and the last.
fn spread_out(cores: &[u32], isolated: &[u32]) -> Vec<u32> {
    if cores.len() <= MOST_CORES {
        return cores.to_vec();
    }
    let (mut chosen, others): (Vec<u32>, Vec<u32>) =
        cores.iter().partition(|core| isolated.contains(core));
    chosen.truncate(MOST_CORES / 2);
    let room = (MOST_CORES - chosen.len()).min(others.len());
    for step in 0..room {
        let place = step * (others.len() - 1) / (room - 1).max(1);
        chosen.push(others[place]);
    }
    chosen.sort_unstable();
    chosen
}

/// A core counts as quieter than the others if it loses to other work at most this share of the
/// time that the others usually lose, and if the difference is at least [`CLEARLY`].
const QUIETER: f64 = 0.5;
/// The smallest difference that counts between the times that two cores lose, as a share of all
/// time. Watching cores for a short time does not show smaller differences.
const CLEARLY: f64 = 0.002;

/// Returns the advice on pinning from the watched cores. `allowed` are the cores that deadheat was
/// started with, and `fast` those of them that are not slow.
pub(crate) fn advice(
    asked: &Pinning,
    cores: &[CoreWatch],
    allowed: &[u32],
    fast: &[u32],
) -> PinAdvice {
    let advice = |pinning, cores, reason| PinAdvice {
        pinning,
        cores,
        reason,
        start_with: Vec::new(),
    };
    let on_one = |core, reason| advice(Pinning::Cores(vec![core]), vec![core], reason);
    let known: Vec<(u32, &CoreWatch)> = cores
        .iter()
        .filter_map(|watch| Some((watch.core?, watch)))
        .collect();
    let best = |isolated: bool| {
        let some = known
            .iter()
            .filter(|(_, watch)| watch.isolated || !isolated);
        some.min_by(|(_, one), (_, other)| one.lost.total_cmp(&other.lost))
    };
    if let Some((core, _)) = best(true) {
        let mut found = on_one(*core, PinReason::Isolated);
        if !allowed.contains(core) {
            // The process of deadheat itself stays on a core that is not isolated.
            found.start_with = allowed.iter().take(1).copied().chain([*core]).collect();
        }
        return found;
    }
    match (asked, known.as_slice()) {
        (Pinning::Inherit, _) | (_, []) => {
            advice(Pinning::Auto, Vec::new(), PinReason::NotCompared)
        }
        _ if allowed.len() == 1 => advice(Pinning::Inherit, allowed.to_vec(), PinReason::OnlyOne),
        (_, [(core, _)]) => on_one(*core, PinReason::NotCompared),
        _ => {
            let alike = || match asked {
                Pinning::Cores(cores) => advice(asked.clone(), cores.clone(), PinReason::Alike),
                _ => {
                    let last = fast.last().copied();
                    advice(Pinning::Auto, last.into_iter().collect(), PinReason::Alike)
                }
            };
            let Some((core, watch)) = best(false) else {
                return alike();
            };
            let mut others: Vec<f64> = known.iter().map(|(_, watch)| watch.lost).collect();
            others.sort_by(f64::total_cmp);
            // With two cores, this index selects the worse one, which is the other core.
            let usual = others[others.len() / 2];
            if watch.lost <= QUIETER * usual && watch.lost + CLEARLY <= usual {
                on_one(*core, PinReason::Quietest)
            } else {
                alike()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::procfs::fake::machine;

    #[test]
    fn siblings_and_isolated_cores_are_read() {
        let (_folder, root) = machine(&[
            ("sys/devices/system/cpu/online", "0-3\n"),
            ("sys/devices/system/cpu/isolated", "3\n"),
            ("sys/devices/system/cpu/nohz_full", "(null)\n"),
            ("sys/devices/system/cpu/smt/active", "1\n"),
            (
                "sys/devices/system/cpu/cpu1/topology/thread_siblings_list",
                "1,3\n",
            ),
        ]);
        let cores = Topology::of(&root);
        assert_eq!(cores.online, [0, 1, 2, 3]);
        assert_eq!(cores.isolated, [3]);
        assert!(cores.tickless.is_empty());
        assert_eq!(cores.smt, Some(true));
        assert_eq!(siblings(&root, 1), [3]);
        assert!(siblings(&root, 0).is_empty());
    }

    #[test]
    fn slow_cores_are_named_with_their_share_of_the_speed() {
        let core = |core: u32, file: &str| format!("sys/devices/system/cpu/cpu{core}/{file}");
        let (_folder, root) = machine(&[
            (&core(0, "cpu_capacity"), "446\n"),
            (&core(1, "cpu_capacity"), "446\n"),
            (&core(2, "cpu_capacity"), "1009\n"),
            (&core(3, "cpu_capacity"), "1024\n"),
            // The capacity decides.
            (&core(0, "cpufreq/cpuinfo_max_freq"), "9000000\n"),
        ]);
        let big_little = Facts::Speeds {
            fast: vec![2, 3],
            slow: vec![0, 1],
            slowest: Some(446.0 / 1024.0),
            avoided: true,
        };
        assert_eq!(speeds(&root, &[0, 1, 2, 3]), big_little);
        let found = candidates(&Pinning::Auto, &root, &Topology::of(&root), &[0, 1, 2, 3]);
        assert_eq!(found, Ok(vec![Some(2), Some(3)]));

        let (_folder, root) = machine(&[
            (&core(0, "cpufreq/cpuinfo_max_freq"), "5000000\n"),
            (&core(1, "cpufreq/cpuinfo_max_freq"), "3800000\n"),
        ]);
        let hybrid = Facts::Speeds {
            fast: vec![0],
            slow: vec![1],
            slowest: Some(0.76),
            avoided: false,
        };
        assert_eq!(speeds(&root, &[0, 1]), hybrid);

        let (_folder, hidden) = machine(&[]);
        let alike = Facts::Speeds {
            fast: vec![0, 1],
            slow: vec![],
            slowest: None,
            avoided: false,
        };
        assert_eq!(speeds(&hidden, &[0, 1]), alike);
    }

    #[test]
    fn falls_back_to_sibling_lists_without_the_smt_file() {
        let shared = "sys/devices/system/cpu/cpu0/topology/thread_siblings_list";
        let smt = |list: &str| {
            let (_folder, root) =
                machine(&[("sys/devices/system/cpu/online", "0"), (shared, list)]);
            Topology::of(&root).smt
        };
        assert_eq!(smt("0\n"), Some(false));
        assert_eq!(smt("0,64\n"), Some(true));
        let (_folder, nothing) = machine(&[]);
        assert_eq!(Topology::of(&nothing).smt, None);
    }

    #[test]
    fn a_cpuset_partition_can_be_isolated_too() {
        let (_folder, root) = machine(&[
            ("proc/self/cgroup", "0::/race.slice\n"),
            (
                "sys/fs/cgroup/race.slice/cpuset.cpus.partition",
                "isolated\n",
            ),
            ("sys/fs/cgroup/race.slice/cpuset.cpus.effective", "6-7\n"),
        ]);
        assert_eq!(Topology::of(&root).isolated, [6, 7]);
    }

    #[test]
    fn cores_stand_alone_or_in_ranges() {
        assert_eq!(cpu_list("0-3,8,10-11\n"), [0, 1, 2, 3, 8, 10, 11]);
        assert_eq!(cpu_list("0"), [0]);
    }

    #[test]
    fn parses_anything_but_a_core_list_as_empty() {
        for text in ["", "\n", "(null)", " (null)\n", "3-1", "0-99999999"] {
            assert!(cpu_list(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn watches_an_even_selection_of_many_cores() {
        let many: Vec<u32> = (0..64).collect();
        let chosen = spread_out(&many, &[]);
        assert_eq!(chosen, [0, 9, 18, 27, 36, 45, 54, 63]);
        let apart = spread_out(&many, &[5, 6]);
        assert_eq!(apart.len(), MOST_CORES);
        assert!(apart.contains(&5) && apart.contains(&6) && apart.contains(&63));
        let all_apart: Vec<u32> = (0..64).collect();
        assert_eq!(spread_out(&many, &all_apart).len(), MOST_CORES / 2);
        assert_eq!(spread_out(&[3, 4], &[]), [3, 4]);
    }

    fn watched(core: u32, lost: f64, isolated: bool) -> CoreWatch {
        CoreWatch {
            core: Some(core),
            seconds: 0.5,
            taken_away: 100.0,
            longest_ns: 1e4,
            lost,
            waiting: None,
            stolen: None,
            interrupts: None,
            isolated,
        }
    }

    fn of(asked: Pinning, cores: &[CoreWatch], allowed: &[u32]) -> (Pinning, PinReason) {
        let found = advice(&asked, cores, allowed, allowed);
        (found.pinning, found.reason)
    }

    #[test]
    fn a_core_that_is_clearly_quieter_is_advised() {
        let two = |one, other| {
            let cores = [watched(0, one, false), watched(1, other, false)];
            of(Pinning::Auto, &cores, &[0, 1])
        };
        let first = (Pinning::Cores(vec![0]), PinReason::Quietest);
        assert_eq!(two(0.001, 0.03), first);
        assert_eq!(two(0.0001, 0.001), (Pinning::Auto, PinReason::Alike));
        assert_eq!(two(0.02, 0.03), (Pinning::Auto, PinReason::Alike));
        let asked = Pinning::Cores(vec![0, 1]);
        let cores = [watched(0, 0.02, false), watched(1, 0.03, false)];
        assert_eq!(
            of(asked.clone(), &cores, &[0, 1, 2]),
            (asked, PinReason::Alike)
        );
    }

    #[test]
    fn advises_isolated_cores_first_and_starting_with_them() {
        let cores = [watched(0, 0.0, false), watched(3, 0.001, true)];
        let found = advice(&Pinning::Auto, &cores, &[0, 1], &[0, 1]);
        assert_eq!(found.pinning, Pinning::Cores(vec![3]));
        assert_eq!(found.reason, PinReason::Isolated);
        assert_eq!(found.start_with, [0, 3]);
        let given = advice(&Pinning::Auto, &cores, &[0, 1, 3], &[0, 1, 3]);
        assert!(given.start_with.is_empty());
    }

    #[test]
    fn automatic_pinning_is_said_to_choose_a_fast_core() {
        let cores = [watched(0, 0.001, false), watched(1, 0.001, false)];
        let found = advice(&Pinning::Auto, &cores, &[0, 1, 2, 3], &[0, 1]);
        assert_eq!((found.reason, found.cores), (PinReason::Alike, vec![1]));
    }

    #[test]
    fn advice_without_a_comparison_says_so() {
        let one = [watched(2, 0.1, false)];
        let asked = Pinning::Cores(vec![2]);
        let here = (asked.clone(), PinReason::NotCompared);
        assert_eq!(of(asked, &one, &[0, 1, 2]), here);
        let only = (Pinning::Inherit, PinReason::OnlyOne);
        assert_eq!(of(Pinning::Auto, &one, &[2]), only);
        let mut moved = watched(0, 0.1, false);
        moved.core = None;
        let nothing = (Pinning::Auto, PinReason::NotCompared);
        assert_eq!(of(Pinning::Inherit, &[moved.clone()], &[0, 1]), nothing);
        assert_eq!(of(Pinning::Auto, &[moved], &[]), nothing);
    }
}
