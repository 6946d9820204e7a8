//! The machine the figures hold for.

use std::fs;

/// Processor, cores, kernel and what else was going on, in one sentence.
pub fn machine() -> String {
    let fact = |path: &str, key: &str| {
        let text = fs::read_to_string(path).unwrap_or_default();
        let line = text
            .lines()
            .find(|line| line.starts_with(key))
            .unwrap_or("")
            .to_owned();
        line.split(':').next_back().unwrap_or("").trim().to_owned()
    };
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!(
        "Machine: {}, {} cores, Linux {}, load {} at the start.",
        fact("/proc/cpuinfo", "model name"),
        cores(),
        kernel.trim(),
        load.split(' ').next().unwrap_or("unknown")
    )
}

/// Cores this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
