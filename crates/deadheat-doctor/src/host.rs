//! The host: hardware or a virtual machine, the kind of container if there is one, and the control
//! groups of this process with their limits.

use deadheat_model::doctor::{Host, Quota};

use crate::procfs::{Root, of_cpuinfo, value_of};

pub(crate) fn host(root: &Root) -> Host {
    let cpuinfo = root.text("proc/cpuinfo").unwrap_or_default();
    let maker = maker(root);
    match says_hypervisor(&cpuinfo) {
        Some(true) => {
            // Only on the real machine, because tests with files must not execute the CPUID
            // instruction.
            let by_cpuid = || root.is_real().then(hypervisor).flatten();
            Host::VirtualMachine(maker.or_else(by_cpuid))
        }
        Some(false) if maker.as_deref() == Some("Xen") => Host::VirtualMachine(maker),
        Some(false) => Host::Hardware,
        None => match maker {
            Some(maker) => Host::VirtualMachine(Some(maker)),
            None if root.has("sys/class/dmi/id/sys_vendor") => Host::Hardware,
            None => Host::Unknown,
        },
    }
}

/// Returns true if the processor reports a hypervisor; `None` if processors of this family do not
/// report it.
fn says_hypervisor(cpuinfo: &str) -> Option<bool> {
    let flags = of_cpuinfo(cpuinfo, "flags")?;
    Some(flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

/// Returns the maker of the virtual machine according to the firmware.
fn maker(root: &Root) -> Option<String> {
    const KNOWN: [(&str, &str); 10] = [
        ("qemu", "KVM/QEMU"),
        ("kvm", "KVM"),
        ("vmware", "VMware"),
        ("innotek", "VirtualBox"),
        ("virtualbox", "VirtualBox"),
        ("microsoft corporation virtual machine", "Hyper-V"),
        ("xen", "Xen"),
        ("amazon ec2", "Amazon EC2"),
        ("google compute engine", "Google Compute Engine"),
        ("apple virtualization", "Apple Virtualization"),
    ];
    let folder = "sys/class/dmi/id";
    let dmi = |file: &str| root.line(&format!("{folder}/{file}")).unwrap_or_default();
    let product = dmi("product_name");
    let mut names = format!("{} {product}", dmi("sys_vendor"));
    // The bare-metal machines of a cloud have the cloud's name, too.
    if product.ends_with(".metal") || product.contains(".metal-") {
        return None;
    }
    names += &root.line("sys/hypervisor/type").unwrap_or_default();
    names += &root
        .line("proc/device-tree/hypervisor/compatible")
        .unwrap_or_default();
    let names = names.to_ascii_lowercase();
    let known = KNOWN.iter().find(|(word, _)| names.contains(word));
    known.map(|(_, name)| (*name).to_owned())
}

pub(crate) fn container(root: &Root) -> Option<String> {
    if let Some(name) = root.line("run/systemd/container") {
        return Some(name);
    }
    if root.has("run/.containerenv") {
        return Some("podman".to_owned());
    }
    if root.has(".dockerenv") {
        return Some("docker".to_owned());
    }
    let groups = root.text("proc/self/cgroup").unwrap_or_default();
    [
        ("kubepods", "kubernetes"),
        ("docker", "docker"),
        ("libpod", "podman"),
        ("containerd", "containerd"),
        ("lxc", "lxc"),
    ]
    .iter()
    .find(|(word, _)| groups.contains(word))
    .map(|(_, name)| (*name).to_owned())
}

/// Returns the name of the hypervisor, if the processor supports the query. Call it only if the
/// processor reports a hypervisor.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
fn hypervisor() -> Option<String> {
    // Newer compilers treat the intrinsic as safe, older ones require the block.
    #[allow(unused_unsafe)]
    // SAFETY: every x86-64 processor has this instruction; for an unknown leaf it returns
    // meaningless numbers, and does not fault.
    let leaf = unsafe { std::arch::x86_64::__cpuid(0x4000_0000) };
    let mut letters = Vec::new();
    for part in [leaf.ebx, leaf.ecx, leaf.edx] {
        letters.extend(part.to_le_bytes());
    }
    name(&letters)
}

/// Returns `None`, because only x86-64 processors support the query.
#[cfg(not(target_arch = "x86_64"))]
fn hypervisor() -> Option<String> {
    None
}

/// Returns the hypervisor for the twelve letters of its CPUID signature; for an unknown hypervisor,
/// returns the letters.
#[cfg(target_arch = "x86_64")]
fn name(letters: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(letters);
    let text = text.trim_matches(|c: char| c == '\0' || c.is_whitespace());
    let known = match text {
        "KVMKVMKVM" => "KVM",
        "Microsoft Hv" => "Hyper-V",
        "VMwareVMware" => "VMware",
        "XenVMMXenVMM" => "Xen",
        "VBoxVBoxVBox" => "VirtualBox",
        "TCGTCGTCGTCG" => "QEMU",
        "bhyve bhyve" => "bhyve",
        other => other,
    };
    let shown = !known.is_empty() && known.chars().all(|c| c == ' ' || c.is_ascii_graphic());
    shown.then(|| known.to_owned())
}

/// The folders of the control groups of this process, the innermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Groups {
    pub(crate) version: u8,
    folders: Vec<String>,
}

impl Groups {
    /// Returns the groups of this process with the limits of `controller`, which is `cpu` or
    /// `memory`: groups of version 1 if they have the controller, otherwise groups of version 2.
    pub(crate) fn of(root: &Root, controller: &str) -> Option<Self> {
        let membership = root.text("proc/self/cgroup")?;
        let mounts = root.text("proc/self/mountinfo")?;
        groups(&membership, &mounts, controller)
    }

    /// Returns the smallest CPU quota of all groups.
    pub(crate) fn quota(&self, root: &Root) -> Option<Quota> {
        let quotas = self.folders.iter().filter_map(|folder| {
            let (file, quota, period) = if self.version == 1 {
                let file = format!("{folder}/cpu.cfs_quota_us");
                let quota = root.number::<i64>(&file).filter(|us| *us > 0)?;
                let period = root.number(&format!("{folder}/cpu.cfs_period_us"))?;
                (file, quota as u64, period)
            } else {
                let file = format!("{folder}/cpu.max");
                let (quota, period) = root.read(&file, cpu_max)?;
                (file, quota, period)
            };
            if period == 0 {
                return None;
            }
            Some(Quota {
                cores: quota as f64 / period as f64,
                period_ms: period as f64 / 1000.0,
                file,
            })
        });
        quotas.min_by(|one, other| one.cores.total_cmp(&other.cores))
    }

    /// Returns the nanoseconds for which the groups were throttled since their creation, summed
    /// over all groups, because a process waits if any of them is throttled.
    pub(crate) fn held_back_ns(&self, root: &Root) -> Option<u64> {
        let folders = self.folders.iter();
        let each =
            folders.filter_map(|group| root.read(&format!("{group}/cpu.stat"), held_back_ns));
        each.reduce(|one, other| one + other)
    }

    /// Returns the smallest limit of all groups, in bytes.
    pub(crate) fn memory_limit(&self, root: &Root) -> Option<u64> {
        // Version 1 writes the largest multiple of the page size if there is no limit.
        const NO_LIMIT: u64 = 1 << 60;
        let file = match self.version {
            1 => "memory.limit_in_bytes",
            _ => "memory.max",
        };
        let folders = self.folders.iter();
        let limits = folders.filter_map(|folder| root.number(&format!("{folder}/{file}")));
        limits.filter(|limit| *limit < NO_LIMIT).min()
    }

    /// Returns the smallest difference of limit and usage of all groups, in bytes.
    pub(crate) fn memory_left(&self, root: &Root) -> Option<u64> {
        let [limit, usage] = match self.version {
            1 => ["memory.limit_in_bytes", "memory.usage_in_bytes"],
            _ => ["memory.max", "memory.current"],
        };
        let left = self.folders.iter().filter_map(|folder| {
            let limit = root.number::<u64>(&format!("{folder}/{limit}"))?;
            let usage = root.number::<u64>(&format!("{folder}/{usage}"))?;
            Some(limit.saturating_sub(usage))
        });
        left.min()
    }
}

/// Finds the folders of the groups from `/proc/self/cgroup` and `/proc/self/mountinfo`.
fn groups(membership: &str, mounts: &str, controller: &str) -> Option<Groups> {
    let mut mounts = mounts.lines().filter_map(Mount::of);
    let mut memberships = membership.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        Some((parts.next()?, parts.next()?))
    });
    let has = |list: &str| list.split(',').any(|one| one == controller);
    let old = memberships
        .clone()
        .find(|(controllers, _)| has(controllers));
    let old_mount = mounts
        .clone()
        .find(|mount| mount.kind == "cgroup" && has(mount.options));
    let (version, (_, path), mount) = match old.zip(old_mount) {
        Some((old, mount)) => (1, old, mount),
        None => (
            2,
            memberships.find(|(controllers, _)| controllers.is_empty())?,
            mounts.find(|mount| mount.kind == "cgroup2")?,
        ),
    };
    Some(Groups {
        version,
        folders: mount.folders(path),
    })
}

/// A mounted hierarchy of control groups.
#[derive(Clone, Copy, Debug)]
struct Mount<'a> {
    /// The group at the root of the mount.
    root: &'a str,
    place: &'a str,
    kind: &'a str,
    options: &'a str,
}

impl<'a> Mount<'a> {
    /// Parses `36 35 98:0 /root /place rw,noatime master:1 - kind source options`.
    fn of(line: &'a str) -> Option<Self> {
        let (before, behind) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let mut behind = behind.split(' ');
        Some(Self {
            root: before.next()?,
            place: before.next()?,
            kind: behind.next()?,
            options: behind.nth(1)?,
        })
    }

    /// Returns the folders of the group at `path` and of its ancestors, up to the root of the
    /// mount.
    fn folders(self, path: &str) -> Vec<String> {
        // Inside a container, the path may begin outside of the mount.
        let below = match self.root {
            "/" => path,
            root => path.strip_prefix(root).unwrap_or("/"),
        };
        let below = if below.contains("..") { "/" } else { below };
        let mut folder = format!("{}{}", self.place, below.trim_end_matches('/'));
        let mut folders = vec![folder.clone()];
        while folder.len() > self.place.len() {
            let parent = folder.rfind('/').unwrap_or(0);
            folder.truncate(parent.max(self.place.len()));
            folders.push(folder.clone());
        }
        folders
    }
}

/// Returns quota and period in microseconds from `cpu.max`; `None` without a limit.
fn cpu_max(text: &str) -> Option<(u64, u64)> {
    let mut words = text.split_whitespace();
    let quota = words.next()?.parse().ok()?;
    Some((quota, words.next()?.parse().ok()?))
}

/// Reads `throttled_usec` of version 2, or `throttled_time` (in nanoseconds) of version 1.
fn held_back_ns(stat: &str) -> Option<u64> {
    let value = |name: &str| value_of(stat, name, ' ')?.parse::<u64>().ok();
    let microseconds = value("throttled_usec").map(|us| us.saturating_mul(1000));
    microseconds.or_else(|| value("throttled_time"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::procfs::fake::machine;

    const INTEL: &str =
        "processor\t: 0\nmodel name\t: Intel(R) Core(TM) i7-9700\nflags\t\t: fpu vme tsc\n";
    const AMD_VM: &str = "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu hypervisor tsc\n";
    const ARM: &str = "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd evtstrm\n";

    fn of(files: &[(&str, &str)]) -> Host {
        let (_folder, root) = machine(files);
        host(&root)
    }

    fn named(name: &str) -> Host {
        Host::VirtualMachine(Some(name.to_owned()))
    }

    #[test]
    fn x86_processors_say_whether_there_is_a_hypervisor() {
        assert_eq!(of(&[("proc/cpuinfo", INTEL)]), Host::Hardware);
        assert_eq!(of(&[("proc/cpuinfo", AMD_VM)]), Host::VirtualMachine(None));
        let qemu = [
            ("proc/cpuinfo", AMD_VM),
            ("sys/class/dmi/id/sys_vendor", "QEMU\n"),
            (
                "sys/class/dmi/id/product_name",
                "Standard PC (Q35 + ICH9, 2009)\n",
            ),
        ];
        assert_eq!(of(&qemu), named("KVM/QEMU"));
        let laptop = [
            ("proc/cpuinfo", INTEL),
            ("sys/class/dmi/id/sys_vendor", "LENOVO\n"),
        ];
        assert_eq!(of(&laptop), Host::Hardware);
    }

    #[test]
    fn on_arm_the_firmware_reports_the_hypervisor() {
        let vendor = "sys/class/dmi/id/sys_vendor";
        let product = "sys/class/dmi/id/product_name";
        let cloud = |name| {
            of(&[
                ("proc/cpuinfo", ARM),
                (vendor, "Amazon EC2\n"),
                (product, name),
            ])
        };
        assert_eq!(cloud("c7g.large\n"), named("Amazon EC2"));
        assert_eq!(cloud("c7g.metal\n"), Host::Hardware);
        assert_eq!(of(&[("proc/cpuinfo", ARM)]), Host::Unknown);
        let tree = ("proc/device-tree/hypervisor/compatible", "linux,kvm");
        assert_eq!(of(&[("proc/cpuinfo", ARM), tree]), named("KVM"));
    }

    #[test]
    fn containers_leave_traces() {
        let found = |files: &[(&str, &str)]| {
            let (_folder, root) = machine(files);
            container(&root)
        };
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[(".dockerenv", "")]).as_deref(), Some("docker"));
        assert_eq!(
            found(&[("run/.containerenv", "")]).as_deref(),
            Some("podman")
        );
        assert_eq!(
            found(&[("run/systemd/container", "lxc\n")]).as_deref(),
            Some("lxc")
        );
        let pod = [("proc/self/cgroup", "0::/kubepods.slice/pod1\n")];
        assert_eq!(found(&pod).as_deref(), Some("kubernetes"));
    }

    #[test]
    fn makers_are_known_by_twelve_letters() {
        assert_eq!(name(b"KVMKVMKVM\0\0\0").as_deref(), Some("KVM"));
        assert_eq!(name(b"Microsoft Hv").as_deref(), Some("Hyper-V"));
        assert_eq!(name(b"SRESRESRESRE").as_deref(), Some("SRESRESRESRE"));
        assert_eq!(name(&[0; 12]), None);
        assert_eq!(name(&[7; 12]), None);
    }

    const NEW_MOUNT: &str = "34 24 0:29 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";
    const OLD_MOUNTS: &str = "\
30 29 0:26 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset
31 29 0:27 /docker/ab12 /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct
32 29 0:28 /docker/ab12 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory
";

    #[test]
    fn the_smallest_quota_of_all_groups_counts() {
        let (_folder, root) = machine(&[
            ("proc/self/cgroup", "0::/user.slice/race.scope\n"),
            ("proc/self/mountinfo", NEW_MOUNT),
            ("sys/fs/cgroup/user.slice/cpu.max", "150000 100000\n"),
            (
                "sys/fs/cgroup/user.slice/race.scope/cpu.max",
                "max 100000\n",
            ),
            (
                "sys/fs/cgroup/user.slice/cpu.stat",
                "usage_usec 5\nnr_throttled 2\nthrottled_usec 70\n",
            ),
            ("sys/fs/cgroup/user.slice/memory.max", "1000\n"),
            ("sys/fs/cgroup/user.slice/memory.current", "400\n"),
            ("sys/fs/cgroup/user.slice/race.scope/memory.max", "max\n"),
        ]);
        let groups = Groups::of(&root, "cpu").unwrap();
        assert_eq!(groups.version, 2);
        let quota = groups.quota(&root).unwrap();
        assert_eq!((quota.cores, quota.period_ms), (1.5, 100.0));
        assert_eq!(quota.file, "/sys/fs/cgroup/user.slice/cpu.max");
        assert_eq!(groups.held_back_ns(&root), Some(70_000));
        let memory = Groups::of(&root, "memory").unwrap();
        assert_eq!(memory.memory_left(&root), Some(600));
    }

    #[test]
    fn groups_of_the_first_version_are_found_inside_a_container() {
        let (_folder, root) = machine(&[
            (
                "proc/self/cgroup",
                "5:cpu,cpuacct:/docker/ab12/job\n3:memory:/docker/ab12\n0::/\n",
            ),
            ("proc/self/mountinfo", OLD_MOUNTS),
            ("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n"),
            (
                "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us",
                "100000\n",
            ),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
            (
                "sys/fs/cgroup/cpu,cpuacct/cpu.stat",
                "nr_periods 9\nnr_throttled 4\nthrottled_time 123456\n",
            ),
        ]);
        let groups = Groups::of(&root, "cpu").unwrap();
        assert_eq!(groups.version, 1);
        let quota = groups.quota(&root).unwrap();
        assert_eq!(quota.cores, 0.5);
        assert_eq!(quota.file, "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us");
        assert_eq!(groups.held_back_ns(&root), Some(123_456));
    }

    #[test]
    fn a_path_outside_of_what_is_mounted_leads_to_the_mount_itself() {
        let found = groups("0::/../../elsewhere\n", NEW_MOUNT, "cpu").unwrap();
        assert_eq!(found.folders, ["/sys/fs/cgroup"]);
        let old = groups("5:cpu:/other\n", OLD_MOUNTS, "cpu").unwrap();
        assert_eq!(old.folders, ["/sys/fs/cgroup/cpu,cpuacct"]);
    }

    #[test]
    fn without_groups_or_a_limit_there_is_none() {
        assert_eq!(groups("", NEW_MOUNT, "cpu"), None);
        assert_eq!(groups("0::/\n", "", "cpu"), None);
        assert_eq!(groups("0::/\n", "nonsense\n", "cpu"), None);
        assert_eq!(cpu_max("max 100000\n"), None);
        assert_eq!(held_back_ns("nr_periods 0\n"), None);
        let (_folder, root) = machine(&[]);
        assert_eq!(Groups::of(&root, "memory"), None);
    }
}
