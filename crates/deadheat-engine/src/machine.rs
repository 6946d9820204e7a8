//! Facts about the machine, read from where the system publishes them.

use std::fs;
use std::path::Path;

use deadheat_model::{Conditions, Environment, Machine, Surroundings, fnv1a};

/// Returns facts about this machine. A fact that cannot be read is left out, because no benchmark
/// should fail when a container hides a file.
pub fn environment() -> Environment {
    Environment {
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        kernel: line("/proc/sys/kernel/osrelease"),
        cpu: cpu_model(),
        cores: std::thread::available_parallelism()
            .ok()
            .map(|n| n.get() as u32),
        governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        load: line("/proc/loadavg").and_then(|text| text.split(' ').next()?.parse().ok()),
        boot: None,
        programs: Vec::new(),
        merged: None,
        conditions: Conditions::default(),
        pinned: Vec::new(),
        counters: None,
        clock: None,
        neutral_links: Vec::new(),
        builds: Vec::new(),
        surroundings: Surroundings::default(),
        commits: Vec::new(),
        machine: None,
        debug_build: false,
        calibration: None,
    }
}

/// Returns a hash of the boot ID of this machine; containers on one machine share it.
#[cfg(feature = "commands")]
pub fn boot() -> Option<String> {
    line("/proc/sys/kernel/random/boot_id").map(|id| unrecognisable(&id))
}

/// Returns the effective user ID of this process.
#[cfg(feature = "commands")]
pub fn user() -> u32 {
    nix::unistd::geteuid().as_raw()
}

/// Returns the identity that distinguishes this machine from others: the given facts and a hash of
/// its machine ID.
pub fn machine(environment: &Environment) -> Machine {
    let id = ["/etc/machine-id", "/var/lib/dbus/machine-id"];
    let id = id.into_iter().find_map(line);
    Machine::of(environment, id.map(|id| unrecognisable(&id)))
}

/// Hashes an ID of 128 bits to 64 bits, so that a result file does not reveal the machine ID.
fn unrecognisable(id: &str) -> String {
    format!("{:016x}", fnv1a(id.bytes()))
}

/// Returns the current clock source of the kernel, and the available ones separated by spaces.
#[cfg(target_arch = "x86_64")]
pub(crate) fn timers() -> (Option<String>, Option<String>) {
    let folder = "/sys/devices/system/clocksource/clocksource0";
    (
        line(&format!("{folder}/current_clocksource")),
        line(&format!("{folder}/available_clocksource")),
    )
}

/// Returns the computing power of a core relative to the others. Linux reports it on machines with
/// cores of several kinds, such as ARM's big.LITTLE. `root` is the folder that contains `sys`.
pub fn core_capacity(root: &Path, core: u32) -> Option<u64> {
    core_number(root, core, "cpu_capacity")
}

/// Returns the capacity or the maximum frequency of a core, for comparison with other cores; 0 if
/// the system does not report it. `root` is the folder that contains `sys`.
pub fn core_speed(root: &Path, core: u32) -> u64 {
    core_capacity(root, core)
        .or_else(|| core_number(root, core, "cpufreq/cpuinfo_max_freq"))
        .unwrap_or(0)
}

fn core_number(root: &Path, core: u32, file: &str) -> Option<u64> {
    let path = root.join(format!("sys/devices/system/cpu/cpu{core}/{file}"));
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

fn cpu_model() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let value = text
        .lines()
        .find(|line| line.starts_with("model name"))?
        .split(':')
        .nth(1)?;
    Some(value.trim().to_owned())
}

/// Returns the number of NUMA nodes; 0 if unknown.
pub(crate) fn memory_nodes() -> usize {
    let named = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("node"));
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let entries = fs::read_dir("/sys/devices/system/node");
    entries.map_or(0, |entries| entries.flatten().filter(named).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_itself_and_keeps_its_name_to_itself() {
        let facts = environment();
        let here = machine(&facts);
        assert!(here.differences(&machine(&facts)).is_empty());
        assert!(here.id.is_none_or(|id| id.len() == 16));
        // The published FNV-1a hashes of the empty text and of one letter.
        assert_eq!(unrecognisable(""), "cbf29ce484222325");
        assert_eq!(unrecognisable("a"), "af63dc4c8601ec8c");
    }

    #[test]
    fn the_system_and_its_cores_are_known() {
        let facts = environment();
        assert!(facts.system.contains(std::env::consts::ARCH));
        assert!(facts.cores.is_some_and(|cores| cores >= 1));
    }
}
