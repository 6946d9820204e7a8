//! The time that a thread could have run and waited for a core, as the kernel
//! accounts it: the second number of `schedstat`, after the time it ran.
//!
//! A contender of one thread and one process cannot wait for itself, so its
//! wait is somebody else's doing. What is read here beside the wait tells
//! whether it is one.
#![allow(unsafe_code)]

use std::cell::Cell;
#[cfg(feature = "commands")]
use std::os::fd::AsRawFd;

use deadheat_model::Flags;
#[cfg(feature = "commands")]
use nix::unistd::Pid;

#[cfg(feature = "commands")]
use crate::procfs::open_file_of;
use crate::usage::read_ns;

/// The reason why the time a contender waited for a core must count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepWaiting {
    /// Threads or child processes of its own ran beside it, or it had another priority than deadheat.
    Concurrent,
    /// It could not be read.
    Unread,
}

impl KeepWaiting {
    /// The word for it in a message.
    pub(crate) fn word(self) -> &'static str {
        match self {
            KeepWaiting::Concurrent => "concurrent",
            KeepWaiting::Unread => "unread",
        }
    }

    /// Back from its word. A reason that is not known here is as good as none
    /// that could be read.
    pub(crate) fn of_word(word: &str) -> Self {
        match word {
            "concurrent" => KeepWaiting::Concurrent,
            _ => KeepWaiting::Unread,
        }
    }

    pub(crate) fn flag(self) -> Flags {
        match self {
            KeepWaiting::Concurrent => Flags::CONCURRENT,
            KeepWaiting::Unread => Flags::DELAY_UNREAD,
        }
    }
}

/// The kernel's account of one thread: the time it ran, and the time it waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Schedstat {
    pub(crate) cpu_ns: u64,
    pub(crate) delay_ns: u64,
}

/// Time of others, beside that of a thread, which may be an error of reading:
/// the clocks of thread and process are read one after the other, and the kernel
/// tells the usage of a process in microseconds.
const SLACK_NS: u64 = 100_000;
/// Beyond it, time of others in a thousand of its own counts: a tenth of a
/// margin of 1 %.
const SLACK_PARTS: u64 = 1_000;

fn is_company(others_ns: u64, own_ns: u64) -> bool {
    others_ns > SLACK_NS + own_ns / SLACK_PARTS
}

impl Schedstat {
    /// The numbers of the file's text. `None` for any other text, and for a
    /// thread that has not run: a kernel that keeps no account writes zeros.
    fn parse(text: &[u8]) -> Option<Self> {
        let mut words = text
            .split(|byte| byte.is_ascii_whitespace())
            .filter(|word| !word.is_empty());
        let mut number = || {
            words.next()?.iter().try_fold(0_u64, |number, digit| {
                let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
                number.checked_mul(10)?.checked_add(digit)
            })
        };
        let read = Self {
            cpu_ns: number()?,
            delay_ns: number()?,
        };
        (read.cpu_ns > 0).then_some(read)
    }

    /// Returns true if the process of this thread, which used `all_ns` with the
    /// children it waited for, used more than the thread.
    #[cfg(feature = "commands")]
    pub(crate) fn had_company(&self, all_ns: u64) -> bool {
        is_company(all_ns.saturating_sub(self.cpu_ns), self.cpu_ns)
    }

    fn read(descriptor: i32) -> Option<Self> {
        let mut text = [0_u8; 96];
        // SAFETY: reads into a buffer of this length; a descriptor that is not
        // open is an error like any other.
        let length =
            unsafe { libc::pread(descriptor, text.as_mut_ptr().cast(), text.len() - 1, 0) };
        Self::parse(text.get(..usize::try_from(length).ok()?)?)
    }
}

const NOT_TRIED: i32 = -1;
const NONE: i32 = -2;

/// The last reading of a thread. It holds as long as the thread has not left its
/// core: who runs does not wait.
#[derive(Clone, Copy)]
struct Last {
    descriptor: i32,
    switches: u64,
    delay_ns: u64,
    /// True if a reading failed, or went back.
    failed: bool,
}

thread_local! {
    // Constant and without a destructor, so that a reading allocates nothing.
    static LAST: Cell<Last> = const { Cell::new(UNREAD) };
}

const UNREAD: Last = Last {
    descriptor: NOT_TRIED,
    switches: u64::MAX,
    delay_ns: 0,
    failed: false,
};

/// Forgets the readings of the thread that this one was forked from: an account that was opened
/// before a fork stays that of the parent's thread.
#[cfg(feature = "commands")]
pub(crate) fn forget() {
    LAST.with(|cell| {
        cell.set(UNREAD);
    });
}

/// The delay of the calling thread before a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunDelay {
    delay_ns: u64,
}

/// The delay of the calling thread after so many context switches. The file is
/// read only if it has left its core since the last reading, which costs about a
/// microsecond; a sample of a function that keeps its core costs nothing.
#[inline]
pub(crate) fn before(switches: u64) -> RunDelay {
    RunDelay {
        delay_ns: delay_after(switches),
    }
}

impl RunDelay {
    /// Nanoseconds since then, now that there were so many context switches.
    #[inline]
    pub(crate) fn since(self, switches: u64) -> u64 {
        delay_after(switches).saturating_sub(self.delay_ns)
    }
}

#[inline]
fn delay_after(switches: u64) -> u64 {
    let last = LAST.with(Cell::get);
    if last.switches == switches {
        last.delay_ns
    } else {
        read_anew(last, switches)
    }
}

#[cold]
fn read_anew(mut last: Last, switches: u64) -> u64 {
    if last.descriptor == NOT_TRIED {
        // SAFETY: a path that ends in a zero; the descriptor is this thread's
        // for good.
        let opened = unsafe {
            libc::open(
                c"/proc/thread-self/schedstat".as_ptr(),
                libc::O_RDONLY | libc::O_CLOEXEC,
            )
        };
        last.descriptor = if opened < 0 { NONE } else { opened };
    }
    match Schedstat::read(last.descriptor) {
        Some(read) if read.delay_ns >= last.delay_ns => last.delay_ns = read.delay_ns,
        _ => last.failed = true,
    }
    last.switches = switches;
    LAST.with(|cell| cell.set(last));
    last.delay_ns
}

/// The account of what else of this process, and of its children, took time on
/// cores while one thread was timed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OtherUsage {
    thread_ns: u64,
    others_ns: u64,
}

impl OtherUsage {
    /// From now on; to be called by the thread that is timed.
    pub(crate) fn begin() -> Self {
        // Opens the file, and finds out whether there is one to read.
        delay_after(u64::MAX - 1);
        let (thread_ns, others_ns) = times();
        Self {
            thread_ns,
            others_ns,
        }
    }

    /// The reason, if any, why the time that the thread waited must count.
    /// Threads that sleep are no reason: they take no core.
    pub(crate) fn keep_waiting(&self) -> Option<KeepWaiting> {
        let (thread_ns, others_ns) = times();
        let others = others_ns.saturating_sub(self.others_ns);
        let own = thread_ns.saturating_sub(self.thread_ns);
        if is_company(others, own) || has_children() {
            Some(KeepWaiting::Concurrent)
        } else if LAST.with(Cell::get).failed {
            Some(KeepWaiting::Unread)
        } else {
            None
        }
    }
}

/// CPU time of this thread, and of the other threads and the children that were
/// waited for.
fn times() -> (u64, u64) {
    // The thread first: time that passes in between counts as that of others.
    let thread_ns = read_ns(libc::CLOCK_THREAD_CPUTIME_ID);
    let process_ns = read_ns(libc::CLOCK_PROCESS_CPUTIME_ID);
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is valid for writes, and all zeros are a valid value
    // of that plain data where the call fails.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    let nanoseconds =
        |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
    let children_ns = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
    (
        thread_ns,
        process_ns.saturating_sub(thread_ns) + children_ns,
    )
}

/// Returns true if this process has a child, running or ended.
pub(crate) fn has_children() -> bool {
    look_for_ended_child().is_some()
}

/// A child that has ended and was not yet waited for.
#[cfg(feature = "commands")]
pub(crate) fn ended_child() -> Option<libc::pid_t> {
    look_for_ended_child().filter(|pid| *pid > 0)
}

/// A child that has ended, 0 if all children run, or `None` without children.
fn look_for_ended_child() -> Option<libc::pid_t> {
    let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: the pointer is valid for writes, and the child stays to be waited for.
    let found = unsafe {
        libc::waitid(
            libc::P_ALL,
            0,
            info.as_mut_ptr(),
            libc::WEXITED | libc::WNOHANG | libc::WNOWAIT,
        )
    };
    // SAFETY: zeroed above, which means that no child has ended, or filled by a successful waitid.
    (found == 0).then(|| unsafe { info.assume_init().si_pid() })
}

/// The account of a child that has ended and was not yet waited for: of its
/// first thread.
#[cfg(feature = "commands")]
pub(crate) fn ended_process(pid: libc::pid_t) -> Option<Schedstat> {
    let file = open_file_of(Pid::from_raw(pid), c"/schedstat")?;
    Schedstat::read(file.as_raw_fd())
}

/// The time that the launcher waits for a core when a command has ended and it
/// is woken. It lies between the end of the command and the reading of the clock,
/// and no command can cause it.
#[cfg(feature = "commands")]
pub(crate) struct OwnDelay(u64);

#[cfg(feature = "commands")]
impl OwnDelay {
    /// From now on. Started after the command was: what the launcher waits
    /// before goes by while the command runs.
    pub(crate) fn begin() -> Self {
        Self(own_delay())
    }

    /// Nanoseconds since then.
    pub(crate) fn since(&self) -> u64 {
        own_delay().saturating_sub(self.0)
    }
}

#[cfg(feature = "commands")]
fn own_delay() -> u64 {
    let last = LAST.with(Cell::get);
    read_anew(last, last.switches)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::ThreadUsage;
    use std::time::{Duration, Instant};

    #[test]
    fn the_first_two_numbers_are_read() {
        let read = |text: &str| Schedstat::parse(text.as_bytes());
        let both = Schedstat {
            cpu_ns: 12,
            delay_ns: 345,
        };
        assert_eq!(read("12 345 6\n"), Some(both));
        for bad in [
            "",
            "0 0 0\n",
            "12",
            "12 -3 4",
            "a b c",
            "99999999999999999999 1 1",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_reason_is_read_by_its_word_and_an_unknown_one_is_none_to_trust() {
        for reason in [KeepWaiting::Concurrent, KeepWaiting::Unread] {
            assert_eq!(KeepWaiting::of_word(reason.word()), reason);
        }
        assert_eq!(KeepWaiting::of_word("bored"), KeepWaiting::Unread);
    }

    #[test]
    fn time_of_others_counts_beyond_the_error_of_reading() {
        assert!(!is_company(SLACK_NS, 0) && is_company(SLACK_NS + 1, 0));
        assert!(!is_company(1_000_000, 1_000_000_000));
        assert!(is_company(2_000_000, 1_000_000_000));
    }

    #[test]
    fn a_counter_that_goes_back_is_told_and_not_believed() {
        std::thread::spawn(|| {
            let beside = OtherUsage::begin();
            if beside.keep_waiting() == Some(KeepWaiting::Unread) {
                return eprintln!("skipped: no schedstat here");
            }
            let mut last = LAST.with(Cell::get);
            last.delay_ns = u64::MAX / 2;
            LAST.with(|cell| cell.set(last));
            assert_eq!(before(1).since(2), 0);
            assert!(LAST.with(Cell::get).failed);
        })
        .join()
        .unwrap();
    }

    #[test]
    #[cfg(feature = "commands")]
    fn a_forked_process_opens_its_own_account() {
        std::thread::spawn(|| {
            before(1);
            assert_ne!(LAST.with(Cell::get).descriptor, NOT_TRIED);
            forget();
            assert_eq!(LAST.with(Cell::get).descriptor, NOT_TRIED);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn what_cannot_be_opened_is_told() {
        std::thread::spawn(|| {
            let mut last = LAST.with(Cell::get);
            last.descriptor = NONE;
            LAST.with(|cell| cell.set(last));
            assert_eq!(before(1).since(2), 0);
            assert!(LAST.with(Cell::get).failed);
        })
        .join()
        .unwrap();
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn who_shares_a_core_waits_about_as_long_as_it_does_not_run() {
        // Two threads on one core: each must wait for the other.
        let busy = || {
            let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
            // SAFETY: a plain set, and the calling thread.
            unsafe {
                libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set);
                let core =
                    (0..libc::CPU_SETSIZE as usize).find(|core| libc::CPU_ISSET(*core, &set));
                libc::CPU_ZERO(&mut set);
                libc::CPU_SET(core.unwrap_or(0), &mut set);
                libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
            }
            let usage = ThreadUsage::before();
            let delay = before(usage.switches());
            let start = Instant::now();
            while start.elapsed() < Duration::from_millis(200) {}
            let wall = start.elapsed().as_nanos() as u64;
            let after = ThreadUsage::after();
            let cpu = after.since(&usage).cpu_ns;
            (
                wall,
                cpu,
                delay.since(after.switches()),
                LAST.with(Cell::get).failed,
            )
        };
        let other = std::thread::spawn(busy);
        let (wall, cpu, delay, failed) = busy();
        other.join().unwrap();
        if failed {
            return eprintln!("skipped: no schedstat here");
        }
        assert!(delay > 0 && cpu < wall, "{wall} {cpu} {delay}");
    }

    #[test]
    fn threads_and_children_are_company_and_threads_that_sleep_are_none() {
        let beside = OtherUsage::begin();
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        assert_eq!(beside.keep_waiting(), Some(KeepWaiting::Concurrent));
        child.kill().unwrap();
        child.wait().unwrap();
        let beside = OtherUsage::begin();
        let start = Instant::now();
        let busy = move || while start.elapsed() < Duration::from_millis(20) {};
        std::thread::spawn(busy).join().unwrap();
        assert_eq!(beside.keep_waiting(), Some(KeepWaiting::Concurrent));
    }
}
