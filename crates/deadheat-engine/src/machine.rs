//! Facts about the machine, read from where the system publishes them.

use std::fs;

use deadheat_model::Environment;

/// What this machine says of itself. A fact that cannot be read is left out:
/// no benchmark should fail because a container hides a file.
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
        pinned: Vec::new(),
        counters: None,
        clock: None,
        neutral_links: Vec::new(),
        debug_build: false,
    }
}

/// The timer the kernel keeps time by, and all it could use, divided by blanks.
#[cfg(target_arch = "x86_64")]
pub(crate) fn timers() -> (Option<String>, Option<String>) {
    let folder = "/sys/devices/system/clocksource/clocksource0";
    (
        line(&format!("{folder}/current_clocksource")),
        line(&format!("{folder}/available_clocksource")),
    )
}

/// A number that cores of equal speed share; 0 where the system does not tell.
pub(crate) fn core_speed(core: u32) -> u64 {
    let folder = format!("/sys/devices/system/cpu/cpu{core}");
    ["cpu_capacity", "cpufreq/cpuinfo_max_freq"]
        .iter()
        .find_map(|file| line(&format!("{folder}/{file}"))?.parse().ok())
        .unwrap_or(0)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_and_its_cores_are_known() {
        let facts = environment();
        assert!(facts.system.contains(std::env::consts::ARCH));
        assert!(facts.cores.is_some_and(|cores| cores >= 1));
    }
}
