//! The machine the figures hold for.

use std::fs;

pub fn machine() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!(
        "Machine: {}, load {} at the start.",
        sitting_facts(),
        load.split(' ').next().unwrap_or("unknown")
    )
}

pub fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split(':').nth(1));
    name.unwrap_or("unknown").trim().to_owned()
}

pub fn sitting_facts() -> String {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{}, {} cores, Linux {}", processor(), cores(), kernel.trim())
}

pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Nanoseconds since 1970, for seeds that differ from sitting to sitting.
pub fn now_ns() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |time| time.as_nanos() as u64)
}

/// The results of simulations by their numbers, in no certain order, made on all cores.
pub fn in_parallel<T: Send>(count: usize, simulate: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (cores, simulate) = (cores(), &simulate);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores)
            .map(|core| {
                let numbers = (core..count).step_by(cores);
                scope.spawn(move || numbers.map(simulate).collect::<Vec<T>>())
            })
            .collect();
        threads.into_iter().flat_map(|one| one.join().expect("no simulation panics")).collect()
    })
}
