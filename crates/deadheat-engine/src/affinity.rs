//! Chooses the cores that deadheat runs on and the cores that contenders run on.

use std::path::Path;

use deadheat_model::Pinning;
use nix::errno::Errno;
#[cfg(feature = "commands")]
use nix::sched::sched_getcpu;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::machine::{core_capacity, core_speed, memory_nodes};
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
    hold_this_thread(&[core])
}

fn hold_this_thread(cores: &[u32]) -> Result<(), Errno> {
    let mut set = CpuSet::new();
    for core in cores {
        set.set(*core as usize)?;
    }
    sched_setaffinity(Pid::from_raw(0), &set)
}

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
    fn of_this_thread() -> Result<(Self, Vec<u32>), Errno> {
        let set = sched_getaffinity(Pid::from_raw(0))?;
        Ok((Self(Some(set)), allowed_cores(&set)))
    }

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
    /// The cores that contenders start on.
    pub(crate) contenders: Vec<u32>,
    /// True if `contenders` differs from the cores that deadheat was started with.
    pub(crate) is_chosen: bool,
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
        let (contenders, home) = divide(pinning, &allowed, here, Path::new("/"))?;
        match pin_this_thread(home) {
            Ok(()) => Ok(Self {
                _original: original,
                is_chosen: *pinning != Pinning::Inherit || contenders != allowed,
                contenders,
            }),
            Err(errno) => refused(errno),
        }
    }
}

/// Returns the cores for the contenders and the core for deadheat, which currently runs on `here`.
/// `root` is the folder that contains `sys`.
#[cfg(feature = "commands")]
fn divide(
    pinning: &Pinning,
    allowed: &[u32],
    here: u32,
    root: &Path,
) -> Result<(Vec<u32>, u32), AffinityError> {
    let contenders = match pinning {
        Pinning::Inherit => {
            let contenders = without_slow_kinds(allowed, root);
            let fast = contenders.contains(&here) || contenders.is_empty();
            let home = if fast { here } else { contenders[0] };
            return Ok((contenders, home));
        }
        // The last core, because interrupts and housekeeping prefer the first.
        Pinning::Auto => {
            let fast = fastest_cores(allowed, |core| core_speed(root, core));
            fast.last().copied().into_iter().collect()
        }
        Pinning::Cores(cores) => cores.clone(),
    };
    check_allowed(&contenders, allowed)?;
    let home = allowed.iter().find(|core| !contenders.contains(core));
    Ok((contenders, home.copied().unwrap_or(here)))
}

/// Returns the cores for processes of several threads: all but those of a slower kind, because one
/// side could run on slow cores more often than the other.
///
/// Frequencies do not count: some kernels report a different maximum for each of many equal cores,
/// and a process of several threads would lose most of them.
fn without_slow_kinds(cores: &[u32], root: &Path) -> Vec<u32> {
    fastest_cores(cores, |core| core_capacity(root, core).unwrap_or(0))
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
    /// The cores for replicates of several threads; empty if they keep the original affinity.
    several: Vec<u32>,
    /// True if the machine has at most one NUMA node, so that memory is equally near to all cores.
    near_to_all: bool,
}

impl Cores {
    pub(crate) fn new(pinning: &Pinning) -> Result<Self, AffinityError> {
        let (original, allowed) = match (Original::of_this_thread(), pinning) {
            (Ok(found), _) => found,
            (Err(errno), Pinning::Cores(_)) => return Err(AffinityError::Refused(errno)),
            // A sandbox that hides affinity still runs functions.
            (Err(_), _) => return Ok(Self::default()),
        };
        let (choices, several) = choices(pinning, &allowed, Path::new("/"))?;
        Ok(Self {
            original,
            choices,
            several,
            near_to_all: memory_nodes() < 2,
        })
    }

    pub(crate) fn choices(&self) -> &[u32] {
        &self.choices
    }

    /// Pins the calling thread, and the processes that it starts later, to the core that the random
    /// number `draw` selects. Does not pin if the user wants no pinning. A contender with several
    /// threads may use several cores.
    pub(crate) fn settle(&self, draw: u64, threads: u32) -> Result<(), AffinityError> {
        if threads != 1 {
            self.release();
        }
        let held = match self.drawn(draw, threads) {
            Some(core) => pin_this_thread(core),
            None if self.several.is_empty() => Ok(()),
            None => hold_this_thread(&self.several),
        };
        held.map_err(AffinityError::Refused)
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

    pub(crate) fn release(&self) {
        self.original.release();
    }
}

/// Returns the cores to draw from for single-threaded replicates, and the cores for multi-threaded
/// ones; an empty list means that these keep the original affinity. `root` is the folder that
/// contains `sys`.
fn choices(
    pinning: &Pinning,
    allowed: &[u32],
    root: &Path,
) -> Result<(Vec<u32>, Vec<u32>), AffinityError> {
    Ok(match pinning {
        Pinning::Inherit => (Vec::new(), Vec::new()),
        Pinning::Auto => {
            let mut several = without_slow_kinds(allowed, root);
            if several == allowed {
                several.clear();
            }
            let one = fastest_cores(allowed, |core| core_speed(root, core));
            (one, several)
        }
        Pinning::Cores(cores) => {
            check_allowed(cores, allowed)?;
            (cores.clone(), cores.clone())
        }
    })
}

/// A core with less than this share of the highest speed is slow. Cores of one kind differ by a few
/// percent, because the best of them may reach a higher frequency. Kinds differ by more.
const AS_FAST: f64 = 0.9;

/// Returns the cores without the slow ones, because comparing a replicate on a big core with one on
/// a small core is meaningless.
pub fn fastest_cores(cores: &[u32], speed: impl Fn(u32) -> u64) -> Vec<u32> {
    let best = cores.iter().map(|core| speed(*core)).max().unwrap_or(0);
    let is_fast = |core: &&u32| speed(**core) as f64 >= AS_FAST * best as f64;
    cores.iter().filter(is_fast).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a folder with a `sys` in which the `file` of each core contains one of `numbers`.
    fn machine(file: &str, numbers: &[u64]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (core, number) in numbers.iter().enumerate() {
            let cpu = format!("sys/devices/system/cpu/cpu{core}/{file}");
            let path = root.path().join(cpu);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, format!("{number}\n")).unwrap();
        }
        root
    }

    fn big_little() -> tempfile::TempDir {
        machine("cpu_capacity", &[446, 446, 1024, 1009, 446, 446])
    }

    const SIX: [u32; 6] = [0, 1, 2, 3, 4, 5];

    #[test]
    fn automatic_pinning_takes_one_core_and_deadheat_stays_on_another() {
        let root = machine("cpu_capacity", &[]);
        let auto = |allowed: &[u32], here| divide(&Pinning::Auto, allowed, here, root.path());
        assert_eq!(auto(&[0, 1, 4], 4), Ok((vec![4], 0)));
        assert_eq!(auto(&[3], 3), Ok((vec![3], 3)));
    }

    #[test]
    fn without_pinning_commands_keep_all_cores_deadheat_was_given() {
        let root = machine("cpu_capacity", &[1024, 1009]);
        let divided = divide(&Pinning::Inherit, &[0, 1], 1, root.path());
        assert_eq!(divided, Ok((vec![0, 1], 1)));
    }

    #[test]
    fn commands_never_cross_from_a_big_to_a_small_core() {
        let root = big_little();
        let divide = |pinning, allowed: &[u32], here| divide(&pinning, allowed, here, root.path());
        assert_eq!(divide(Pinning::Inherit, &SIX, 3), Ok((vec![2, 3], 3)));
        assert_eq!(divide(Pinning::Inherit, &SIX, 5), Ok((vec![2, 3], 2)));
        assert_eq!(divide(Pinning::Inherit, &[0, 4], 4), Ok((vec![0, 4], 4)));
        assert_eq!(divide(Pinning::Auto, &SIX, 5), Ok((vec![3], 0)));
        let all = Pinning::Cores(SIX.to_vec());
        assert_eq!(divide(all, &SIX, 5), Ok((SIX.to_vec(), 5)));
    }

    #[test]
    fn functions_never_cross_from_a_big_to_a_small_core() {
        let root = big_little();
        let auto = choices(&Pinning::Auto, &SIX, root.path());
        assert_eq!(auto, Ok((vec![2, 3], vec![2, 3])));
        let listed = choices(&Pinning::Cores(vec![0, 3]), &SIX, root.path());
        assert_eq!(listed, Ok((vec![0, 3], vec![0, 3])));
    }

    #[test]
    fn a_high_frequency_chooses_the_core_of_one_thread_and_limits_no_others() {
        let frequencies = [4_800_000, 4_700_000, 3_600_000];
        let root = machine("cpufreq/cpuinfo_max_freq", &frequencies);
        let auto = choices(&Pinning::Auto, &[0, 1, 2], root.path());
        assert_eq!(auto, Ok((vec![0, 1], vec![])));
        let divided = divide(&Pinning::Inherit, &[0, 1, 2], 2, root.path());
        assert_eq!(divided, Ok((vec![0, 1, 2], 2)));
    }

    #[test]
    fn several_threads_stay_on_their_cores_until_the_race_is_over() {
        // Affinity is per thread, so the test runs on a separate thread.
        std::thread::spawn(|| {
            let now = || allowed_cores(&sched_getaffinity(Pid::from_raw(0)).unwrap());
            let before = now();
            let cores = Cores::new(&Pinning::Cores(before[..1].to_vec())).unwrap();
            cores.settle(7, 2).unwrap();
            assert_eq!(now(), before[..1]);
            drop(cores);
            assert_eq!(now(), before);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_core_that_is_not_there_is_named_with_those_that_are() {
        let root = machine("cpu_capacity", &[]);
        let asked = Pinning::Cores(vec![1, 9]);
        let error = divide(&asked, &[0, 1], 0, root.path()).unwrap_err();
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
