//! The core of a replicate: drawn among equals, for deadheat and its worker
//! alike.

use deadheat_model::Pinning;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::affinity::{AffinityError, allowed_cores, check_allowed};
use crate::machine::core_speed;

/// Cores that replicates may run on. The calling thread comes back to where
/// it was when this is dropped.
///
/// deadheat and its worker share the core of the replicate: handing over to
/// each other is a context switch there, and an interrupt to another core
/// elsewhere. One of the two always sleeps.
#[derive(Debug)]
pub(crate) struct Cores {
    original: Option<CpuSet>,
    /// Empty when replicates run wherever the scheduler puts them.
    choices: Vec<u32>,
}

impl Cores {
    /// The cores to draw from.
    pub(crate) fn new(pinning: &Pinning) -> Result<Self, AffinityError> {
        let original = match (sched_getaffinity(Pid::from_raw(0)), pinning) {
            (Ok(set), _) => set,
            // A sandbox that hides affinity still runs functions.
            (Err(_), Pinning::Inherit | Pinning::Auto) => {
                return Ok(Self {
                    original: None,
                    choices: Vec::new(),
                });
            }
            (Err(errno), Pinning::Cores(_)) => return Err(AffinityError::Refused(errno)),
        };
        let allowed = allowed_cores(&original);
        let choices = match pinning {
            Pinning::Inherit => Vec::new(),
            Pinning::Auto => fastest_cores(&allowed, core_speed),
            Pinning::Cores(cores) => {
                check_allowed(cores, &allowed)?;
                cores.clone()
            }
        };
        Ok(Self {
            original: Some(original),
            choices,
        })
    }

    /// The cores drawn from; empty when nothing is pinned.
    pub(crate) fn choices(&self) -> &[u32] {
        &self.choices
    }

    /// Settles the calling thread, and what it starts from now on, on the
    /// core that `draw` points to.
    pub(crate) fn settle(&self, draw: u64) -> Result<(), AffinityError> {
        if self.choices.is_empty() {
            return Ok(());
        }
        let core = self.choices[(draw % self.choices.len() as u64) as usize];
        let mut set = CpuSet::new();
        set.set(core as usize)
            .and_then(|()| sched_setaffinity(Pid::from_raw(0), &set))
            .map_err(AffinityError::Refused)
    }

    /// Lets the calling thread run everywhere again.
    pub(crate) fn release(&self) {
        if let Some(original) = &self.original {
            let _ = sched_setaffinity(Pid::from_raw(0), original);
        }
    }
}

impl Drop for Cores {
    fn drop(&mut self) {
        self.release();
    }
}

/// The fastest cores, where some are faster than others: a race between a
/// replicate on a big core and one on a small core says nothing.
pub fn fastest_cores(cores: &[u32], speed: impl Fn(u32) -> u64) -> Vec<u32> {
    let best = cores.iter().map(|core| speed(*core)).max();
    let among = cores.iter().filter(|core| Some(speed(**core)) == best);
    among.copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicates_are_drawn_among_the_fastest_cores() {
        let hybrid = |core| if core < 2 { 5_000 } else { 3_000 };
        assert_eq!(fastest_cores(&[0, 1, 2, 3], hybrid), [0, 1]);
        assert_eq!(fastest_cores(&[0, 1, 2], |_| 0), [0, 1, 2]);
    }

    #[test]
    fn settling_takes_one_core_and_dropping_gives_all_back() {
        // On a thread of its own: affinity belongs to threads.
        std::thread::spawn(|| {
            let before = sched_getaffinity(Pid::from_raw(0)).unwrap();
            let cores = Cores::new(&Pinning::Auto).unwrap();
            cores.settle(7).unwrap();
            let now = sched_getaffinity(Pid::from_raw(0)).unwrap();
            assert_eq!(allowed_cores(&now).len(), 1);
            drop(cores);
            assert_eq!(sched_getaffinity(Pid::from_raw(0)).unwrap(), before);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_core_that_is_not_there_is_an_error() {
        assert!(Cores::new(&Pinning::Cores(vec![4095])).is_err());
    }
}
