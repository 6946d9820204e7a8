//! The cores of the servers and of the load generator.

use std::fs;

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::load::{CoreList, Load};

/// The cores of the servers and of the load generator. Without options, they share no core, unless
/// there is only one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cores {
    pub(crate) servers: Vec<u32>,
    pub(crate) generator: Vec<u32>,
}

impl Cores {
    /// Divides the cores that this process may use, unless the user has divided them.
    ///
    /// # Errors
    ///
    /// Fails if the user named a core that this process may not use.
    pub(crate) fn of(load: &Load) -> Result<Self, String> {
        let set = sched_getaffinity(Pid::from_raw(0)).map_err(|problem| {
            format!("cannot be started: the CPU affinity cannot be read: {problem}")
        })?;
        let allowed: Vec<u32> = (0..CpuSet::count() as u32)
            .filter(|core| set.is_set(*core as usize) == Ok(true))
            .collect();
        let named = |option: &str, list: &Option<CoreList>| match list {
            Some(list) => match list.0.iter().find(|core| !allowed.contains(core)) {
                Some(core) => Err(format!(
                    "cannot be started: {option}: core {core} is not among the cores deadheat may \
                     use ({})",
                    CoreList(allowed.clone())
                )),
                None => Ok(Some(list.0.clone())),
            },
            None => Ok(None),
        };
        let servers = named("--server-cores", &load.server_cores)?;
        let generator = named("--generator-cores", &load.generator_cores)?;
        let rest = |used: &[u32]| {
            let rest = allowed.iter().copied().filter(|core| !used.contains(core));
            let rest: Vec<u32> = rest.collect();
            if rest.is_empty() {
                allowed.clone()
            } else {
                rest
            }
        };
        Ok(match (servers, generator) {
            (Some(servers), Some(generator)) => Self { servers, generator },
            (Some(servers), None) => Self {
                generator: rest(&servers),
                servers,
            },
            (None, Some(generator)) => Self {
                servers: rest(&generator),
                generator,
            },
            (None, None) => halves(&allowed, siblings),
        })
    }

    pub(crate) fn are_shared(&self) -> bool {
        self.servers
            .iter()
            .any(|core| self.generator.contains(core))
    }
}

/// Returns the first half of the cores for the servers, and the second half for the generator.
/// Hardware threads of one physical core stay together, unless there is only one physical core.
fn halves(all: &[u32], siblings: impl Fn(u32) -> String) -> Cores {
    let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
    for core in all {
        let of = siblings(*core);
        match groups.iter_mut().find(|(group, _)| *group == of) {
            Some((_, cores)) => cores.push(*core),
            None => groups.push((of, vec![*core])),
        }
    }
    if groups.len() == 1 {
        groups = all
            .iter()
            .map(|core| (String::new(), vec![*core]))
            .collect();
    }
    if groups.len() < 2 {
        return Cores {
            servers: all.to_vec(),
            generator: all.to_vec(),
        };
    }
    let generator = groups.split_off(groups.len().div_ceil(2));
    let flat = |groups: Vec<(String, Vec<u32>)>| groups.into_iter().flat_map(|group| group.1);
    Cores {
        servers: flat(groups).collect(),
        generator: flat(generator).collect(),
    }
}

/// Returns the name of the physical core; the number itself if the topology cannot be read.
fn siblings(core: u32) -> String {
    let file = format!("/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list");
    let list = fs::read_to_string(file);
    list.unwrap_or_else(|_| core.to_string())
}

/// Runs `start` on `cores`, which the processes that it starts inherit; the calling thread then
/// returns to its former cores.
pub(crate) fn on<T>(cores: &[u32], start: impl FnOnce() -> T) -> Result<T, Errno> {
    let before = sched_getaffinity(Pid::from_raw(0))?;
    hold(cores)?;
    let started = start();
    sched_setaffinity(Pid::from_raw(0), &before)?;
    Ok(started)
}

pub(crate) fn hold(cores: &[u32]) -> Result<(), Errno> {
    let mut set = CpuSet::new();
    for core in cores {
        set.set(*core as usize)?;
    }
    sched_setaffinity(Pid::from_raw(0), &set)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(count: u32, siblings: impl Fn(u32) -> String) -> (Vec<u32>, Vec<u32>) {
        let cores = halves(&(0..count).collect::<Vec<_>>(), siblings);
        (cores.servers, cores.generator)
    }

    #[test]
    fn the_servers_and_the_generator_get_a_half_each() {
        let own = |core: u32| core.to_string();
        assert_eq!(of(1, own), (vec![0], vec![0]));
        assert_eq!(of(2, own), (vec![0], vec![1]));
        assert_eq!(of(5, own), (vec![0, 1, 2], vec![3, 4]));
    }

    #[test]
    fn hardware_threads_of_one_core_stay_together() {
        let of_core = |core: u32| (core % 4).to_string();
        assert_eq!(of(8, of_core), (vec![0, 4, 1, 5], vec![2, 6, 3, 7]));
        assert_eq!(of(2, |_| "0-1".to_owned()), (vec![0], vec![1]));
    }
}
