//! What the system runs on: hardware or a virtual machine, and in a container
//! or not.

use deadheat_model::doctor::Host;

use super::cpuid::hypervisor;
use super::root::Root;

/// Hardware, or a virtual machine.
pub(super) fn host(root: &Root) -> Host {
    let cpuinfo = root.text("proc/cpuinfo").unwrap_or_default();
    let told = maker(root);
    match says_hypervisor(&cpuinfo) {
        Some(true) => {
            // A machine of files cannot be asked.
            let asked = || root.is_real().then(hypervisor).flatten();
            Host::VirtualMachine(told.or_else(asked))
        }
        Some(false) if told.as_deref() == Some("Xen") => Host::VirtualMachine(told),
        Some(false) => Host::Hardware,
        None => match told {
            Some(maker) => Host::VirtualMachine(Some(maker)),
            None if root.has("sys/class/dmi/id/sys_vendor") => Host::Hardware,
            None => Host::Unknown,
        },
    }
}

/// Whether the processor says that it is run by a hypervisor; `None` where
/// the processors of this family do not tell.
fn says_hypervisor(cpuinfo: &str) -> Option<bool> {
    let mut lines = cpuinfo.lines();
    let (_, flags) = lines
        .find(|line| line.starts_with("flags"))?
        .split_once(':')?;
    Some(flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

/// Who made the virtual machine, as its firmware tells.
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
    let mut told = format!("{} {product}", dmi("sys_vendor"));
    // Whole machines of a cloud bear its name as well.
    if product.ends_with(".metal") || product.contains(".metal-") {
        return None;
    }
    told += &root.line("sys/hypervisor/type").unwrap_or_default();
    told += &root
        .line("proc/device-tree/hypervisor/compatible")
        .unwrap_or_default();
    let told = told.to_ascii_lowercase();
    let known = KNOWN.iter().find(|(word, _)| told.contains(word));
    known.map(|(_, name)| (*name).to_owned())
}

/// The container around this process.
pub(super) fn container(root: &Root) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::super::root::fake::machine;
    use super::*;

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
    fn of_arm_the_firmware_tells() {
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
}
