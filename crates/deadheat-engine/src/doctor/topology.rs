//! Which cores there are, which of them share one, and which are set apart.

use super::cpu_list::cpu_list;
use super::root::Root;

const CORES: &str = "sys/devices/system/cpu";

/// The cores of a machine, as it tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Topology {
    pub(super) online: Vec<u32>,
    /// Cores that the scheduler leaves alone.
    pub(super) isolated: Vec<u32>,
    /// Cores that need no timer while one task runs.
    pub(super) tickless: Vec<u32>,
    /// Whether threads share cores.
    pub(super) smt: Option<bool>,
}

impl Topology {
    pub(super) fn of(root: &Root) -> Self {
        let list =
            |file: &str| cpu_list(&root.text(&format!("{CORES}/{file}")).unwrap_or_default());
        let online = list("online");
        let mut isolated = list("isolated");
        isolated.extend(partition(root));
        isolated.sort_unstable();
        isolated.dedup();
        let smt = root.number::<u8>(&format!("{CORES}/smt/active"));
        let smt = smt.map(|active| active == 1).or_else(|| {
            // Kernels before 4.19 have no such file, but tell who shares.
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

/// Cores of a cpuset partition that is isolated, where this process is in one.
fn partition(root: &Root) -> Vec<u32> {
    let groups = root.text("proc/self/cgroup").unwrap_or_default();
    let Some(path) = groups.lines().find_map(|line| line.strip_prefix("0::")) else {
        return Vec::new();
    };
    let folder = format!("sys/fs/cgroup{}", path.trim_end_matches('/'));
    match root.line(&format!("{folder}/cpuset.cpus.partition")) {
        Some(kind) if kind == "isolated" => cpu_list(
            &root
                .text(&format!("{folder}/cpuset.cpus.effective"))
                .unwrap_or_default(),
        ),
        _ => Vec::new(),
    }
}

/// The other cores that are threads of the same one.
pub(super) fn siblings(root: &Root, core: u32) -> Vec<u32> {
    let mut shared = shared(root, core).unwrap_or_default();
    shared.retain(|one| *one != core);
    shared
}

fn shared(root: &Root, core: u32) -> Option<Vec<u32>> {
    let folder = format!("{CORES}/cpu{core}/topology");
    let list = root
        .text(&format!("{folder}/thread_siblings_list"))
        .or_else(|| root.text(&format!("{folder}/core_cpus_list")))?;
    let list = cpu_list(&list);
    (!list.is_empty()).then_some(list)
}

/// A number that cores of equal speed share; 0 where the system does not tell.
pub(super) fn speed(root: &Root, core: u32) -> u64 {
    let folder = format!("{CORES}/cpu{core}");
    ["cpu_capacity", "cpufreq/cpuinfo_max_freq"]
        .iter()
        .find_map(|file| root.number(&format!("{folder}/{file}")))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::root::fake::machine;
    use super::*;

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
            (
                "sys/devices/system/cpu/cpu1/cpufreq/cpuinfo_max_freq",
                "4500000\n",
            ),
        ]);
        let cores = Topology::of(&root);
        assert_eq!(cores.online, [0, 1, 2, 3]);
        assert_eq!(cores.isolated, [3]);
        assert!(cores.tickless.is_empty());
        assert_eq!(cores.smt, Some(true));
        assert_eq!(siblings(&root, 1), [3]);
        assert!(siblings(&root, 0).is_empty());
        assert_eq!((speed(&root, 1), speed(&root, 0)), (4_500_000, 0));
    }

    #[test]
    fn without_the_newer_file_the_lists_of_siblings_tell_whether_cores_are_shared() {
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
}
