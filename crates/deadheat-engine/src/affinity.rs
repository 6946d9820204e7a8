//! The cores there are, and whether they are those that were asked for.

use nix::errno::Errno;
use nix::sched::CpuSet;
#[cfg(feature = "commands")]
use nix::sched::{sched_getaffinity, sched_setaffinity};
#[cfg(feature = "commands")]
use nix::unistd::Pid;

/// Why contenders cannot be pinned as asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AffinityError {
    /// A core that this process may not use.
    NotAllowed {
        /// The core asked for.
        core: u32,
        /// The cores there are.
        allowed: String,
    },
    /// The system refused.
    Refused(Errno),
}

impl std::fmt::Display for AffinityError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotAllowed { core, allowed } => write!(
                f,
                "--pin: core {core} is not among the cores deadheat may use ({allowed})"
            ),
            Self::Refused(inner) => write!(f, "--pin: cannot set the CPU affinity: {inner}"),
        }
    }
}

impl std::error::Error for AffinityError {}

/// The cores of a set, in order.
pub(crate) fn allowed_cores(set: &CpuSet) -> Vec<u32> {
    (0..CpuSet::count() as u32)
        .filter(|core| set.is_set(*core as usize) == Ok(true))
        .collect()
}

/// The cores the calling thread may run on; `None` where that is hidden.
#[cfg(feature = "commands")]
pub fn cores_of_this_thread() -> Option<Vec<u32>> {
    let set = sched_getaffinity(Pid::from_raw(0)).ok()?;
    Some(allowed_cores(&set))
}

/// Holds the calling thread on one core for the rest of its life.
#[cfg(feature = "commands")]
pub fn pin_this_thread(core: u32) -> Result<(), Errno> {
    let mut set = CpuSet::new();
    set.set(core as usize)?;
    sched_setaffinity(Pid::from_raw(0), &set)
}

/// Checks that deadheat may use all of these cores.
pub fn check_allowed(cores: &[u32], allowed: &[u32]) -> Result<(), AffinityError> {
    match cores.iter().find(|core| !allowed.contains(core)) {
        None => Ok(()),
        Some(core) => {
            let allowed: Vec<String> = allowed.iter().map(u32::to_string).collect();
            Err(AffinityError::NotAllowed {
                core: *core,
                allowed: allowed.join(", "),
            })
        }
    }
}
