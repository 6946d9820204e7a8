//! The core that deadheat stays on while commands run, and those left to them.

use deadheat_model::Pinning;
use nix::sched::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use nix::unistd::Pid;

use crate::affinity::{AffinityError, allowed_cores, check_allowed};

/// The calling thread, settled on one core until this is dropped.
///
/// deadheat and its launcher hand over to each other between blocks. On one
/// core that is a context switch; across cores it is an interrupt to an idle
/// core (measured on a virtual machine: 136 µs a block, 13 % of a launch of
/// `true`). While a command runs both of them sleep, so settling costs the
/// command nothing: it starts with the cores deadheat was given, or with
/// those it is pinned to.
#[derive(Debug)]
pub(crate) struct AffinityGuard {
    original: Option<CpuSet>,
    /// Cores every contender starts with.
    pub(crate) contenders: Vec<u32>,
}

impl AffinityGuard {
    /// Settles the calling thread on a core that no pinned contender uses, if
    /// there is one.
    pub(crate) fn new(pinning: &Pinning) -> Result<Self, AffinityError> {
        let original = match (sched_getaffinity(Pid::from_raw(0)), pinning) {
            (Ok(set), _) => set,
            // A sandbox that hides affinity still runs commands.
            (Err(_), Pinning::Inherit) => return Ok(Self::unsettled()),
            (Err(errno), _) => return Err(AffinityError::Refused(errno)),
        };
        let allowed = allowed_cores(&original);
        let here = sched_getcpu().map_or(0, |core| core as u32);
        let (contenders, home) = divide(pinning, &allowed, here)?;
        let mut set = CpuSet::new();
        let settled = set
            .set(home as usize)
            .and_then(|()| sched_setaffinity(Pid::from_raw(0), &set));
        match (settled, pinning) {
            (Ok(()), _) => Ok(Self {
                original: Some(original),
                contenders,
            }),
            (Err(_), Pinning::Inherit) => Ok(Self::unsettled()),
            (Err(errno), _) => Err(AffinityError::Refused(errno)),
        }
    }

    fn unsettled() -> Self {
        Self {
            original: None,
            contenders: Vec::new(),
        }
    }
}

impl Drop for AffinityGuard {
    fn drop(&mut self) {
        if let Some(original) = &self.original {
            let _ = sched_setaffinity(Pid::from_raw(0), original);
        }
    }
}

/// The cores for the contenders and the one for deadheat, which runs `here`.
fn divide(pinning: &Pinning, allowed: &[u32], here: u32) -> Result<(Vec<u32>, u32), AffinityError> {
    let contenders = match pinning {
        Pinning::Inherit => return Ok((allowed.to_vec(), here)),
        // The last core: interrupts and housekeeping crowd on the first.
        Pinning::Auto => allowed.last().copied().into_iter().collect(),
        Pinning::Cores(cores) => cores.clone(),
    };
    check_allowed(&contenders, allowed)?;
    let home = allowed.iter().find(|core| !contenders.contains(core));
    Ok((contenders, home.copied().unwrap_or(here)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn automatic_pinning_takes_one_core_and_deadheat_stays_on_another() {
        assert_eq!(divide(&Pinning::Auto, &[0, 1, 4], 4), Ok((vec![4], 0)));
        assert_eq!(divide(&Pinning::Auto, &[3], 3), Ok((vec![3], 3)));
    }

    #[test]
    fn without_pinning_commands_keep_all_cores_deadheat_was_given() {
        assert_eq!(divide(&Pinning::Inherit, &[0, 1], 1), Ok((vec![0, 1], 1)));
    }

    #[test]
    fn a_core_that_is_not_there_is_named_with_those_that_are() {
        let error = divide(&Pinning::Cores(vec![1, 9]), &[0, 1], 0).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("core 9") && text.contains("0, 1"), "{text}");
    }

    #[test]
    fn the_affinity_comes_back_when_the_race_is_over() {
        // On a thread of its own: affinity belongs to threads.
        std::thread::spawn(|| {
            let before = sched_getaffinity(Pid::from_raw(0)).unwrap();
            drop(AffinityGuard::new(&Pinning::Inherit).unwrap());
            assert_eq!(sched_getaffinity(Pid::from_raw(0)).unwrap(), before);
        })
        .join()
        .unwrap();
    }
}
