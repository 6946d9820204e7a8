//! Chooses the cores that deadheat runs on and the cores that contenders run on.

use deadheat_model::Pinning;
use nix::errno::Errno;
#[cfg(feature = "commands")]
use nix::sched::sched_getcpu;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::machine::{core_speed, memory_nodes};
use crate::procfs::threads;

/// The reason why contenders cannot be pinned as requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AffinityError {
    /// The user named a core that this process may not use.
    NotAllowed {
        /// The number of the core that the user named.
        core: u32,
        /// The numbers of the allowed cores, separated by commas.
        allowed: String,
    },
    /// The system call that sets the affinity failed.
    Refused(Errno),
    /// The system does not report which cores this process may use, but side-by-side runs need a
    /// core.
    Hidden,
}

impl std::fmt::Display for AffinityError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotAllowed { core, allowed } => write!(
                f,
                "--pin: core {core} is not among the cores deadheat may use ({allowed})\nhelp: --pin auto chooses one of them"
            ),
            Self::Hidden => f.write_str(
                "--arrangement side-by-side needs one core for both sides, but the system does not \
                 say which cores deadheat may use",
            ),
            Self::Refused(inner) => write!(f, "--pin: cannot set the CPU affinity: {inner}"),
        }
    }
}

impl std::error::Error for AffinityError {}

pub(crate) fn allowed_cores(set: &CpuSet) -> Vec<u32> {
    (0..CpuSet::count() as u32)
        .filter(|core| set.is_set(*core as usize) == Ok(true))
        .collect()
}

/// Returns the cores that the calling thread may run on, or `None` if the system hides them.
#[cfg(feature = "commands")]
pub fn cores_of_this_thread() -> Option<Vec<u32>> {
    let set = sched_getaffinity(Pid::from_raw(0)).ok()?;
    Some(allowed_cores(&set))
}

/// Pins the calling thread, and all threads and processes that it starts later, to `core`.
pub fn pin_this_thread(core: u32) -> Result<(), Errno> {
    let mut set = CpuSet::new();
    set.set(core as usize)?;
    sched_setaffinity(Pid::from_raw(0), &set)
}

/// Pins all threads of the process `pid` to `core`.
pub(crate) fn move_process(pid: Pid, core: u32) -> Result<(), Errno> {
    let mut set = CpuSet::new();
    set.set(core as usize)?;
    for thread in threads(pid) {
        // ESRCH: the thread has ended meanwhile.
        let moved = sched_setaffinity(thread, &set);
        moved.or_else(|errno| (errno == Errno::ESRCH).then_some(()).ok_or(errno))?;
    }
    Ok(())
}

/// Returns an error if `cores` contains a core that is not in `allowed`.
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

/// The affinity of the calling thread before deadheat changed it. Dropping the value restores it.
#[derive(Debug, Default)]
struct Original(Option<CpuSet>);

impl Original {
    /// Returns the affinity of the calling thread, also as a sorted list of cores.
    fn of_this_thread() -> Result<(Self, Vec<u32>), Errno> {
        let set = sched_getaffinity(Pid::from_raw(0))?;
        Ok((Self(Some(set)), allowed_cores(&set)))
    }

    /// Restores the original affinity of the calling thread.
    fn release(&self) {
        if let Some(original) = &self.0 {
            let _ = sched_setaffinity(Pid::from_raw(0), original);
        }
    }
}

impl Drop for Original {
    fn drop(&mut self) {
        self.release();
    }
}

/// Pins the calling thread to one core until this guard is dropped.
///
/// deadheat and its launcher wake each other between blocks. On one core this is a context switch;
/// across cores it is an interrupt to an idle core (on a virtual machine: 136 µs per block, 13 % of
/// a launch of `true`). Both sleep while a command runs, so pinning them does not slow the command:
/// the command starts with deadheat's original cores or with the cores of `--pin`.
#[cfg(feature = "commands")]
#[derive(Debug, Default)]
pub(crate) struct AffinityGuard {
    _original: Original,
    /// Cores every contender starts with.
    pub(crate) contenders: Vec<u32>,
}

#[cfg(feature = "commands")]
impl AffinityGuard {
    /// Pins the calling thread to a core that no pinned contender uses, if there is one.
    pub(crate) fn new(pinning: &Pinning) -> Result<Self, AffinityError> {
        let refused = |errno| match pinning {
            // A sandbox that hides affinity still runs commands.
            Pinning::Inherit => Ok(Self::default()),
            _ => Err(AffinityError::Refused(errno)),
        };
        let (original, allowed) = match Original::of_this_thread() {
            Ok(found) => found,
            Err(errno) => return refused(errno),
        };
        let here = sched_getcpu().map_or(0, |core| core as u32);
        let (contenders, home) = divide(pinning, &allowed, here)?;
        match pin_this_thread(home) {
            Ok(()) => Ok(Self {
                _original: original,
                contenders,
            }),
            Err(errno) => refused(errno),
        }
    }
}

/// Returns the cores for the contenders and the core for deadheat, which currently runs on `here`.
#[cfg(feature = "commands")]
fn divide(pinning: &Pinning, allowed: &[u32], here: u32) -> Result<(Vec<u32>, u32), AffinityError> {
    let contenders = match pinning {
        Pinning::Inherit => return Ok((allowed.to_vec(), here)),
        // The last core, because interrupts and housekeeping prefer the first.
        Pinning::Auto => allowed.last().copied().into_iter().collect(),
        Pinning::Cores(cores) => cores.clone(),
    };
    check_allowed(&contenders, allowed)?;
    let home = allowed.iter().find(|core| !contenders.contains(core));
    Ok((contenders, home.copied().unwrap_or(here)))
}

/// The cores that replicates may run on. Dropping the value restores the affinity of the calling
/// thread.
///
/// deadheat and its worker share the core of the replicate, because one of them always sleeps: on
/// one core they wake each other by a context switch, across cores by an interrupt.
#[derive(Debug, Default)]
pub(crate) struct Cores {
    original: Original,
    /// The numbers of the cores; empty if replicates are not pinned.
    choices: Vec<u32>,
    /// True if the machine has at most one NUMA node, so that memory is equally near to all cores.
    near_to_all: bool,
}

impl Cores {
    /// Returns the cores that `pinning` allows for replicates.
    pub(crate) fn new(pinning: &Pinning) -> Result<Self, AffinityError> {
        let (original, allowed) = match (Original::of_this_thread(), pinning) {
            (Ok(found), _) => found,
            (Err(errno), Pinning::Cores(_)) => return Err(AffinityError::Refused(errno)),
            // A sandbox that hides affinity still runs functions.
            (Err(_), _) => return Ok(Self::default()),
        };
        let choices = match pinning {
            Pinning::Inherit => Vec::new(),
            Pinning::Auto => fastest_cores(&allowed, core_speed),
            Pinning::Cores(cores) => {
                check_allowed(cores, &allowed)?;
                cores.clone()
            }
        };
        Ok(Self {
            original,
            choices,
            near_to_all: memory_nodes() < 2,
        })
    }

    /// Returns the cores that replicates are drawn from; empty if nothing is pinned.
    pub(crate) fn choices(&self) -> &[u32] {
        &self.choices
    }

    /// Pins the calling thread, and the processes that it starts later, to the core that the random
    /// number `draw` selects. Does not pin if the user wants no pinning. Restores the original
    /// affinity if the contender has several threads.
    pub(crate) fn settle(&self, draw: u64, threads: u32) -> Result<(), AffinityError> {
        if threads != 1 {
            self.release();
        }
        match self.drawn(draw, threads) {
            Some(core) => pin_this_thread(core).map_err(AffinityError::Refused),
            None => Ok(()),
        }
    }

    /// Returns the core that the random number `draw` selects for a process of `threads` threads,
    /// or `None` if the process is not pinned.
    pub(crate) fn drawn(&self, draw: u64, threads: u32) -> Option<u32> {
        let one = threads == 1 && !self.choices.is_empty();
        one.then(|| self.choices[(draw % self.choices.len() as u64) as usize])
    }

    /// Returns the cores on which several processes of `threads` threads may start at the same time
    /// before they move to their drawn cores. Empty for multi-threaded processes and on machines
    /// with several NUMA nodes, because memory allocated during the start would stay on the first
    /// node.
    pub(crate) fn to_start_on(&self, threads: u32) -> &[u32] {
        if self.near_to_all && threads == 1 {
            &self.choices
        } else {
            &[]
        }
    }

    /// Restores the original affinity of the calling thread.
    pub(crate) fn release(&self) {
        self.original.release();
    }
}

/// Returns the cores with the highest speed, because comparing a replicate on a big core with one
/// on a small core is meaningless.
pub fn fastest_cores(cores: &[u32], speed: impl Fn(u32) -> u64) -> Vec<u32> {
    let best = cores.iter().map(|core| speed(*core)).max();
    let among = cores.iter().filter(|core| Some(speed(**core)) == best);
    among.copied().collect()
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
        // Affinity is per thread, so the test runs on a separate thread.
        std::thread::spawn(|| {
            let before = sched_getaffinity(Pid::from_raw(0)).unwrap();
            drop(AffinityGuard::new(&Pinning::Inherit).unwrap());
            assert_eq!(sched_getaffinity(Pid::from_raw(0)).unwrap(), before);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn replicates_are_drawn_among_the_fastest_cores() {
        let hybrid = |core| if core < 2 { 5_000 } else { 3_000 };
        assert_eq!(fastest_cores(&[0, 1, 2, 3], hybrid), [0, 1]);
        assert_eq!(fastest_cores(&[0, 1, 2], |_| 0), [0, 1, 2]);
    }

    #[test]
    fn settling_takes_one_core_and_dropping_gives_all_back() {
        // Affinity is per thread, so the test runs on a separate thread.
        std::thread::spawn(|| {
            let before = sched_getaffinity(Pid::from_raw(0)).unwrap();
            let cores = Cores::new(&Pinning::Auto).unwrap();
            cores.settle(7, 1).unwrap();
            let now = sched_getaffinity(Pid::from_raw(0)).unwrap();
            assert_eq!(allowed_cores(&now).len(), 1);
            drop(cores);
            assert_eq!(sched_getaffinity(Pid::from_raw(0)).unwrap(), before);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_core_is_drawn_among_the_choices_for_one_thread() {
        let cores = |choices: &[u32]| Cores {
            choices: choices.to_vec(),
            near_to_all: true,
            ..Cores::default()
        };
        let drawn = [0, 1, 7].map(|draw| cores(&[4, 6]).drawn(draw, 1));
        assert_eq!(drawn, [Some(4), Some(6), Some(6)]);
        assert_eq!(cores(&[4, 6]).drawn(1, 2), None);
        assert_eq!(cores(&[]).drawn(1, 1), None);
        assert_eq!(cores(&[4, 6]).to_start_on(1), [4, 6]);
        assert!(cores(&[4, 6]).to_start_on(2).is_empty());
    }

    #[test]
    fn a_core_that_is_not_there_is_an_error() {
        assert!(Cores::new(&Pinning::Cores(vec![4095])).is_err());
    }
}
