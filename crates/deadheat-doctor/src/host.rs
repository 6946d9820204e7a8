//! The system below: hardware or a virtual machine, a container or none.

use deadheat_model::doctor::Host;

use crate::procfs::of_cpuinfo;
use crate::root::Root;

/// Hardware, or a virtual machine.
pub(crate) fn host(root: &Root) -> Host {
    let cpuinfo = root.text("proc/cpuinfo").unwrap_or_default();
    let maker = maker(root);
    match says_hypervisor(&cpuinfo) {
        Some(true) => {
            // A machine of files cannot be asked.
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

/// Returns true if the processor says that a hypervisor runs it; `None` where the processors of
/// this family do not say.
fn says_hypervisor(cpuinfo: &str) -> Option<bool> {
    let flags = of_cpuinfo(cpuinfo, "flags")?;
    Some(flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

/// The maker of the virtual machine, as its firmware names it.
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
    // Whole machines of a cloud bear its name as well.
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

/// The container around this process.
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

/// The name of the hypervisor below this machine, where the processor is one that can be asked.
/// Only for a machine whose processor says it has one.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
fn hypervisor() -> Option<String> {
    // Newer compilers see that it is safe, older ones want the block.
    #[allow(unused_unsafe)]
    // SAFETY: every x86-64 processor has the instruction; a leaf it does not know gives numbers
    // without meaning, and no fault.
    let leaf = unsafe { std::arch::x86_64::__cpuid(0x4000_0000) };
    let mut letters = Vec::new();
    for part in [leaf.ebx, leaf.ecx, leaf.edx] {
        letters.extend(part.to_le_bytes());
    }
    name(&letters)
}

/// Other processors cannot be asked.
#[cfg(not(target_arch = "x86_64"))]
fn hypervisor() -> Option<String> {
    None
}

/// The maker of these twelve letters; those of an unknown one as they are.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::fake::machine;

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

    #[test]
    fn makers_are_known_by_twelve_letters() {
        assert_eq!(name(b"KVMKVMKVM\0\0\0").as_deref(), Some("KVM"));
        assert_eq!(name(b"Microsoft Hv").as_deref(), Some("Hyper-V"));
        assert_eq!(name(b"SRESRESRESRE").as_deref(), Some("SRESRESRESRE"));
        assert_eq!(name(&[0; 12]), None);
        assert_eq!(name(&[7; 12]), None);
    }
}
