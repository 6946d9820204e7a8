//! Which cores the contenders run on, and where deadheat itself stays.

use deadheat_model::Pinning;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// Why contenders cannot be pinned as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AffinityError {
    /// A core that this process may not use.
    #[error("--pin: core {core} is not among the cores deadheat may use ({allowed})")]
    NotAllowed {
        /// The core asked for.
        core: u32,
        /// The cores there are.
        allowed: String,
    },
    /// The system refused.
    #[error("--pin: cannot set the CPU affinity: {0}")]
    Refused(nix::errno::Errno),
}

/// Cores of the contenders; empty when they inherit deadheat's.
///
/// Pinning moves deadheat itself to the other cores, so that it does not
/// compete with what it measures. With a single core that is not possible and
/// it stays.
pub(crate) fn pin(pinning: &Pinning) -> Result<Vec<u32>, AffinityError> {
    if *pinning == Pinning::Inherit {
        return Ok(Vec::new());
    }
    let allowed = allowed_cores().map_err(AffinityError::Refused)?;
    let (contenders, elsewhere) = divide(pinning, &allowed)?;
    if !elsewhere.is_empty() {
        let mut set = CpuSet::new();
        for core in elsewhere {
            set.set(core as usize).map_err(AffinityError::Refused)?;
        }
        sched_setaffinity(Pid::from_raw(0), &set).map_err(AffinityError::Refused)?;
    }
    Ok(contenders)
}

fn allowed_cores() -> nix::Result<Vec<u32>> {
    let set = sched_getaffinity(Pid::from_raw(0))?;
    Ok((0..CpuSet::count() as u32)
        .filter(|core| set.is_set(*core as usize) == Ok(true))
        .collect())
}

/// The cores for the contenders and those for deadheat.
fn divide(pinning: &Pinning, allowed: &[u32]) -> Result<(Vec<u32>, Vec<u32>), AffinityError> {
    let contenders = match pinning {
        Pinning::Inherit => allowed.to_vec(),
        // The last core: interrupts and housekeeping crowd on the first.
        Pinning::Auto => allowed.last().copied().into_iter().collect(),
        Pinning::Cores(cores) => cores.clone(),
    };
    if let Some(core) = contenders.iter().find(|core| !allowed.contains(core)) {
        let allowed: Vec<String> = allowed.iter().map(u32::to_string).collect();
        return Err(AffinityError::NotAllowed {
            core: *core,
            allowed: allowed.join(", "),
        });
    }
    let elsewhere = allowed
        .iter()
        .copied()
        .filter(|core| !contenders.contains(core))
        .collect();
    Ok((contenders, elsewhere))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn automatic_pinning_takes_one_core_and_leaves_the_others_to_deadheat() {
        assert_eq!(
            divide(&Pinning::Auto, &[0, 1, 4]),
            Ok((vec![4], vec![0, 1]))
        );
        assert_eq!(divide(&Pinning::Auto, &[3]), Ok((vec![3], vec![])));
    }

    #[test]
    fn a_core_that_is_not_there_is_named_with_those_that_are() {
        let error = divide(&Pinning::Cores(vec![1, 9]), &[0, 1]).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("core 9") && text.contains("0, 1"), "{text}");
    }
}
