//! Reads the scheduling delay of a thread: the time that it could have run but waited for a core.
//! It is the second number of `schedstat`, after the CPU time.
//!
//! A contender of one thread and one process cannot wait for itself, so other processes cause its
//! delay. This module also determines if other threads or children of the contender ran.
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

/// The reason why the scheduling delay of a contender is not subtracted from its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepWaiting {
    /// Other threads or child processes of the contender ran at the same time, or its priority
    /// differed from deadheat's.
    Concurrent,
    /// The scheduling delay could not be read.
    Unread,
}

impl KeepWaiting {
    pub(crate) fn word(self) -> &'static str {
        match self {
            KeepWaiting::Concurrent => "concurrent",
            KeepWaiting::Unread => "unread",
        }
    }

    /// Parses the word for a reason. An unknown word counts as [`KeepWaiting::Unread`].
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

/// The CPU time and the scheduling delay of a thread, as the kernel reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Schedstat {
    pub(crate) cpu_ns: u64,
    pub(crate) delay_ns: u64,
}

/// The CPU time of other threads, in nanoseconds, that may be an error of the reading: the clocks
/// of thread and process are read one after the other, and the kernel reports the usage of a
/// process in microseconds.
const SLACK_NS: u64 = 100_000;
/// Other threads may use [`SLACK_NS`] plus the CPU time of the timed thread divided by this number:
/// a thousandth, which is a tenth of a margin of 1%.
const SLACK_PARTS: u64 = 1_000;

fn is_company(others_ns: u64, own_ns: u64) -> bool {
    others_ns > SLACK_NS + own_ns / SLACK_PARTS
}

impl Schedstat {
    /// Parses the text of a `schedstat` file. `None` if it is malformed, or if the thread has not
    /// run: a kernel without scheduler statistics writes zeros.
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

    /// Returns true if the process used more CPU time than this thread, beyond the error of the
    /// readings. `all_ns` is the CPU time of the process and of the children it waited for.
    #[cfg(feature = "commands")]
    pub(crate) fn had_company(&self, all_ns: u64) -> bool {
        is_company(all_ns.saturating_sub(self.cpu_ns), self.cpu_ns)
    }

    fn read(descriptor: i32) -> Option<Self> {
        let mut text = [0_u8; 96];
        // SAFETY: `pread` writes at most the given length into the buffer, and fails for a
        // descriptor that is not open.
        let length =
            unsafe { libc::pread(descriptor, text.as_mut_ptr().cast(), text.len() - 1, 0) };
        Self::parse(text.get(..usize::try_from(length).ok()?)?)
    }
}

const NOT_TRIED: i32 = -1;
const NONE: i32 = -2;

/// The last reading of the scheduling delay of a thread. It is valid until the next context switch,
/// because a thread that was never descheduled cannot have waited.
#[derive(Clone, Copy)]
struct Last {
    descriptor: i32,
    switches: u64,
    delay_ns: u64,
    /// True if a reading failed or was lower than an earlier one.
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

/// Discards the readings of the parent after a fork. A `schedstat` file that was opened before the
/// fork still reports the parent's thread.
#[cfg(feature = "commands")]
pub(crate) fn forget() {
    LAST.with(|cell| {
        cell.set(UNREAD);
    });
}

/// The scheduling delay of the calling thread before a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunDelay {
    delay_ns: u64,
}

/// Returns the scheduling delay of the calling thread, which has had `switches` context switches so
/// far. Reads the file, in about a microsecond, only if that number has changed since the last
/// reading.
#[inline]
pub(crate) fn before(switches: u64) -> RunDelay {
    RunDelay {
        delay_ns: delay_after(switches),
    }
}

impl RunDelay {
    /// Returns the scheduling delay since this reading in nanoseconds. `switches` is the present
    /// number of context switches.
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
        // SAFETY: the path ends in a NUL byte; only this thread uses the descriptor, which is never
        // closed.
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

/// The CPU time that other threads of this process, and its children, use while one thread is
/// timed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OtherUsage {
    thread_ns: u64,
    others_ns: u64,
}

impl OtherUsage {
    /// Starts the measurement. Must be called by the timed thread.
    pub(crate) fn begin() -> Self {
        // Opens the `schedstat` file, or notes that it cannot be read.
        delay_after(u64::MAX - 1);
        let (thread_ns, others_ns) = times();
        Self {
            thread_ns,
            others_ns,
        }
    }

    /// Returns the reason, if any, not to subtract the scheduling delay of the thread. Sleeping
    /// threads are not a reason, because they use no core.
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

/// Returns the CPU time of this thread, and that of the other threads and of reaped children, in
/// nanoseconds.
fn times() -> (u64, u64) {
    // The clock of the thread is read first, so the time between both readings counts as CPU time
    // of other threads.
    let thread_ns = read_ns(libc::CLOCK_THREAD_CPUTIME_ID);
    let process_ns = read_ns(libc::CLOCK_PROCESS_CPUTIME_ID);
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is valid for writes. If the call fails, the zeros remain, which are a
    // valid value of this plain data.
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

/// Returns the process ID of a child that has ended and was not reaped yet.
#[cfg(feature = "commands")]
pub(crate) fn ended_child() -> Option<libc::pid_t> {
    look_for_ended_child().filter(|pid| *pid > 0)
}

/// Returns the process ID of a child that has ended; 0 if all children run, `None` without
/// children.
fn look_for_ended_child() -> Option<libc::pid_t> {
    let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: the pointer is valid for writes, and WNOWAIT leaves the child to be reaped.
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

/// Reads the CPU time and the scheduling delay of the main thread of a child that has ended and was
/// not reaped yet.
#[cfg(feature = "commands")]
pub(crate) fn ended_process(pid: libc::pid_t) -> Option<Schedstat> {
    let file = open_file_of(Pid::from_raw(pid), c"/schedstat")?;
    Schedstat::read(file.as_raw_fd())
}

/// The scheduling delay of the launcher after the end of a command. This delay lies between the end
/// of the command and the reading of the clock, and no command can cause it.
#[cfg(feature = "commands")]
pub(crate) struct OwnDelay(u64);

#[cfg(feature = "commands")]
impl OwnDelay {
    /// Starts the measurement. Call this after the command was started, because earlier delays of
    /// the launcher pass while the command runs.
    pub(crate) fn begin() -> Self {
        Self(own_delay())
    }

    /// Returns the scheduling delay since the start of the measurement in nanoseconds.
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
