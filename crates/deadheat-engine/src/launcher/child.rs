//! One process of the launcher: started in the cheapest way there is, waited for without losing
//! sight of deadheat, and nothing of it left behind.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::raw::c_int;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, OFlag, fallocate, open};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::signal::{SigSet, Signal, kill, killpg};
use nix::sys::stat::{Mode, fstat};
use nix::unistd::{Pid, read};

use super::image::{EnvironmentImage, Image, MOST_OUTPUT};
use super::left_behind::reap_others;
use super::stopped::{ChildNews, StopWatch};
use super::trace::Tracer;
use super::wire::{HEAD_BYTES, Head, read_exact};
use crate::observed::is_within;
use crate::usage::wait;

/// Stack of a child between its start and its `execve`. It calls a dozen
/// system calls and nothing else.
const STACK_BYTES: usize = 64 * 1024;

/// Everything a new process gets that does not change from launch to launch.
pub(crate) struct Spawner {
    stack: Vec<u8>,
    /// Signals the process starts with blocked: those deadheat was given.
    pub(super) mask: SigSet,
    cpus: Option<CpuSet>,
    /// The terminal that deadheat was started in, if it was.
    terminal: Option<OwnedFd>,
}

/// A process that was started and not yet waited for.
pub(crate) struct Child {
    pub(crate) pid: libc::pid_t,
    /// Becomes readable when the process ends.
    pub(crate) pidfd: OwnedFd,
    /// True if it stops at each `execve` for its tracer.
    pub(crate) traced: bool,
}

/// The arguments that the child reads. Its memory is its parent's, or a copy of it.
pub(super) struct SpawnArgs {
    programs: *const std::ffi::CString,
    program_count: usize,
    argv: *const *const libc::c_char,
    envp: *const *const libc::c_char,
    /// Null for the folder of the parent.
    directory: *const libc::c_char,
    streams: [RawFd; 3],
    mask: *const SigSet,
    pub(super) cpus: *const Option<CpuSet>,
    /// The terminal that the process gives up; -1 if it keeps what it has.
    pub(super) terminal: RawFd,
    parent: libc::pid_t,
    fixed_addresses: bool,
    /// True if the child asks to be traced; false when this returns if it may not be.
    traced: bool,
    /// Written by the child when `execve` failed.
    errno: c_int,
}

impl SpawnArgs {
    pub(super) fn new(
        image: &Image,
        env: &EnvironmentImage,
        streams: [RawFd; 3],
        mask: &SigSet,
    ) -> Self {
        Self {
            programs: image.programs().as_ptr(),
            program_count: image.programs().len(),
            argv: image.argv(),
            envp: env.as_envp(),
            directory: image
                .directory
                .as_ref()
                .map_or(std::ptr::null(), |folder| folder.as_ptr()),
            streams,
            mask,
            cpus: &None,
            terminal: -1,
            // SAFETY: getpid has no preconditions.
            parent: unsafe { libc::getpid() },
            fixed_addresses: image.fixed_addresses,
            traced: false,
            errno: 0,
        }
    }

    /// Makes the calling process what the program will start as. Returns the error number of the
    /// step that failed.
    ///
    /// # Safety
    ///
    /// Everything that `self` points to is alive. Only for a process that is about to `execve`.
    pub(super) unsafe fn set_up(&mut self) -> Result<(), c_int> {
        // SAFETY: plain system calls on values that the caller keeps alive. Each is
        // async-signal-safe; none touches a lock or allocates.
        unsafe {
            // A group of its own, so that the whole tree below can be killed and
            // a Ctrl-C in the terminal reaches deadheat alone.
            libc::setpgid(0, 0);
            // The kernel stops a background group that touches its terminal, as every interactive
            // shell does. A session of its own would take the terminal away, too, but the kernel
            // also shares the processor by sessions (autogroup).
            if self.terminal >= 0 {
                libc::ioctl(self.terminal, libc::TIOCNOTTY);
            }
            // If the launcher dies, so does the command.
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            if libc::getppid() != self.parent {
                libc::_exit(127);
            }
            if let Some(cpus) = &*self.cpus {
                let _ = sched_setaffinity(Pid::from_raw(0), cpus);
            }
            // The memory may be shared with the parent, the working directory is not: no CLONE_FS.
            if !self.directory.is_null() && libc::chdir(self.directory) < 0 {
                return Err(Errno::last_raw());
            }
            for (target, source) in self.streams.iter().enumerate() {
                if libc::dup2(*source, target as c_int) < 0 {
                    return Err(Errno::last_raw());
                }
            }
            if self.fixed_addresses {
                let now = libc::personality(0xffff_ffff);
                libc::personality((now | libc::ADDR_NO_RANDOMIZE) as libc::c_ulong);
            }
            if self.traced {
                let nothing = std::ptr::null_mut::<c_void>();
                self.traced = libc::ptrace(libc::PTRACE_TRACEME, 0, nothing, nothing) == 0;
            }
        }
        Ok(())
    }

    /// Executes the program. Returns the error number of why it could not.
    ///
    /// # Safety
    ///
    /// As for [`Self::set_up`].
    pub(super) unsafe fn execute(&self) -> c_int {
        let mut reason = libc::ENOENT;
        // SAFETY: as above.
        unsafe {
            libc::sigprocmask(
                libc::SIG_SETMASK,
                (*self.mask).as_ref(),
                std::ptr::null_mut(),
            );
            for index in 0..self.program_count {
                let program = &*self.programs.add(index);
                libc::execve(program.as_ptr(), self.argv, self.envp);
                let errno = Errno::last_raw();
                // Like execvp: go on after "not here", remember "not allowed".
                match errno {
                    libc::ENOENT | libc::ENOTDIR => {}
                    libc::EACCES => reason = errno,
                    _ => {
                        reason = errno;
                        break;
                    }
                }
            }
        }
        reason
    }
}

impl Spawner {
    /// A spawner whose children start with this signal mask and, when there are
    /// any, on these CPUs only.
    pub(crate) fn new(mask: SigSet, cpus: &[u32]) -> Self {
        let cpus = (!cpus.is_empty()).then(|| {
            let mut set = CpuSet::new();
            for cpu in cpus {
                // One that no set can hold is left out.
                let _ = set.set(*cpu as usize);
            }
            set
        });
        Self {
            stack: vec![0; STACK_BYTES],
            mask,
            cpus,
            terminal: open(
                "/dev/tty",
                OFlag::O_RDWR | OFlag::O_CLOEXEC | OFlag::O_NOCTTY,
                Mode::empty(),
            )
            .ok(),
        }
    }

    /// Returns true if the processes of an image are in the terminal that deadheat was started in.
    pub(super) fn has_terminal(&self, image: &Image) -> bool {
        self.terminal.is_some() && image.keeps_terminal
    }

    /// The terminal that the processes of an image give up; -1 if there is none.
    pub(super) fn terminal_to_leave(&self, image: &Image) -> RawFd {
        let terminal = self.terminal.as_ref().filter(|_| !image.keeps_terminal);
        terminal.map_or(-1, AsRawFd::as_raw_fd)
    }

    /// Returns true if the main thread of a process may run only on the cores that it was given.
    pub(crate) fn keeps_cores(&self, pid: libc::pid_t) -> Option<bool> {
        keeps_cores(pid, self.cpus.as_ref()?)
    }

    /// Starts `image` with these standard streams. Returns once the program
    /// has been executed, or with the error number of why it could not be.
    ///
    /// This is what `posix_spawn` does inside, written out because four
    /// things cannot be said to `posix_spawn`: die with your parent, start on
    /// this core, try these paths, and hand me a pidfd.
    pub(crate) fn spawn(
        &mut self,
        image: &Image,
        env: &EnvironmentImage,
        streams: [RawFd; 3],
        traced: bool,
    ) -> Result<Child, c_int> {
        let mut args = SpawnArgs {
            cpus: &self.cpus,
            terminal: self.terminal_to_leave(image),
            traced,
            ..SpawnArgs::new(image, env, streams, &self.mask)
        };
        let mut pidfd: c_int = -1;
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD;
        // The stack grows down and must be aligned to 16 bytes.
        let top = (self.stack.as_mut_ptr() as usize + self.stack.len()) & !15;
        // SAFETY: `top` is the aligned end of a live 64 KiB buffer used by
        // nobody else. CLONE_VFORK holds this thread until the child has
        // executed or exited, so `args` and everything it points to outlive
        // the child's use of them, and the two never run at the same time.
        // `exec_in_child` makes only async-signal-safe calls. Signals are
        // blocked in this process (`serve`), so no handler runs on the shared
        // memory. The pidfd is written through the `parent_tid` argument.
        let pid = unsafe {
            libc::clone(
                exec_in_child,
                top as *mut c_void,
                flags,
                (&raw mut args).cast(),
                &raw mut pidfd,
            )
        };
        if pid < 0 {
            return Err(Errno::last_raw());
        }
        // SAFETY: on success the kernel stored a new descriptor that nobody
        // else owns.
        let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
        if args.errno != 0 {
            let mut status = 0;
            // SAFETY: `pid` is our own child, which has exited.
            unsafe { libc::waitpid(pid, &mut status, 0) };
            return Err(args.errno);
        }
        let traced = args.traced;
        Ok(Child { pid, pidfd, traced })
    }
}

/// Returns true if the main thread of a process may run only on these cores.
pub(super) fn keeps_cores(pid: libc::pid_t, given: &CpuSet) -> Option<bool> {
    let cores = sched_getaffinity(Pid::from_raw(pid)).ok()?;
    Some(is_within(&cores, given))
}

/// Returns true if a process, which may have ended, has another nice value or scheduling policy than
/// this one. Its priority is then what makes it wait for a core.
pub(super) fn has_own_priority(pid: libc::pid_t) -> bool {
    let priority = |pid: libc::pid_t| {
        // SAFETY: plain system calls on integers.
        unsafe {
            (
                libc::getpriority(libc::PRIO_PROCESS, pid as libc::id_t),
                libc::sched_getscheduler(pid),
            )
        }
    };
    priority(pid) != priority(0)
}

/// Runs in the child, on a stack of its own but in the memory of its parent,
/// which stands still. Never returns when all goes well.
extern "C" fn exec_in_child(args: *mut c_void) -> c_int {
    // SAFETY: `spawn` passes a pointer to a live `SpawnArgs` and waits.
    let args = unsafe { &mut *args.cast::<SpawnArgs>() };
    // SAFETY: `spawn` keeps everything alive that the arguments point to.
    unsafe {
        args.errno = match args.set_up() {
            Ok(()) => args.execute(),
            Err(errno) => errno,
        };
        libc::_exit(127)
    }
}

/// The reason why the wait for a command is over.
pub(super) enum WaitEnd {
    Ended,
    TooLong,
    TooMuch,
    Cancelled,
    Abandoned,
    /// This signal stopped it, and it did not go on in time.
    Stopped(i32),
}

/// The time between two looks at the size of an output, in milliseconds. In as much as this a
/// program that prints without end fills some hundred MB of memory.
const BETWEEN_LOOKS_MS: u128 = 100;

/// Returns true if an output is larger than what is read of it.
pub(super) fn has_too_much(output: BorrowedFd<'_>) -> bool {
    fstat(output).is_ok_and(|found| found.st_size as u64 > MOST_OUTPUT)
}

/// Gives back the memory of a standard error but for its end.
fn give_back_most(errors: BorrowedFd<'_>) {
    const KEPT: i64 = 64 << 10;
    let printed = fstat(errors).map_or(0, |found| found.st_size);
    if printed > 2 * KEPT {
        let hole = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
        let _ = fallocate(errors, hole, 0, printed - KEPT);
    }
}

/// Waits until the command ends, its time is up, its output is too large, it is stopped for too
/// long, or deadheat speaks or dies. A pipe is emptied meanwhile. `orphans` becomes true if other
/// children of the launcher end.
pub(super) fn await_end(
    (pid, pidfd): (libc::pid_t, &OwnedFd),
    requests: &OwnedFd,
    (reader, bounded, errors): (
        Option<&OwnedFd>,
        Option<BorrowedFd<'_>>,
        Option<BorrowedFd<'_>>,
    ),
    start: Instant,
    limit: Option<Duration>,
    mut tracer: Option<&mut Tracer>,
    (news, stops, orphans): (&ChildNews, &mut StopWatch, &mut bool),
) -> WaitEnd {
    let readable = PollFlags::POLLIN;
    let mut pipe_open = reader.is_some();
    let mut has_news = false;
    loop {
        let mut wait_ms = None;
        if let Some(limit) = limit {
            let Some(left) = limit.checked_sub(start.elapsed()) else {
                return WaitEnd::TooLong;
            };
            // Rounded up: waking a little late costs nothing, waking a
            // little early would spin.
            wait_ms = Some(left.as_nanos().div_ceil(1_000_000));
        }
        if let Some(output) = bounded {
            if has_too_much(output) {
                return WaitEnd::TooMuch;
            }
            wait_ms = Some(wait_ms.map_or(BETWEEN_LOOKS_MS, |ms| ms.min(BETWEEN_LOOKS_MS)));
        }
        if let Some(errors) = errors {
            give_back_most(errors);
            wait_ms = Some(wait_ms.map_or(BETWEEN_LOOKS_MS, |ms| ms.min(BETWEEN_LOOKS_MS)));
        }
        if let Some(tracer) = tracer.as_mut().filter(|tracer| tracer.is_active()) {
            tracer.advance();
            wait_ms = Some(wait_ms.map_or(1, |ms| ms.min(1)));
        } else if let Some(signal) = stops.look(has_news) {
            return WaitEnd::Stopped(signal);
        }
        if let Some(pause) = stops.pause() {
            let pause_ms = pause.as_nanos().div_ceil(1_000_000);
            wait_ms = Some(wait_ms.map_or(pause_ms, |ms| ms.min(pause_ms)));
        }
        let timeout = wait_ms.map_or(PollTimeout::NONE, |ms| {
            PollTimeout::try_from(ms.min(i32::MAX as u128) as i32).unwrap_or(PollTimeout::MAX)
        });
        let mut fds = [
            PollFd::new(pidfd.as_fd(), readable),
            PollFd::new(requests.as_fd(), readable),
            PollFd::new(news.as_fd(), readable),
            PollFd::new(reader.unwrap_or(pidfd).as_fd(), readable),
        ];
        let watched = if pipe_open { 4 } else { 3 };
        if let Err(errno) = poll(&mut fds[..watched], timeout)
            && errno != Errno::EINTR
        {
            return WaitEnd::Abandoned;
        }
        let [ended, request, stopped, pipe] =
            fds.map(|fd| fd.revents().unwrap_or(PollFlags::empty()));
        if pipe_open && !pipe.is_empty() {
            // The end of the pipe may come before the end of the process.
            pipe_open = !drain(reader.unwrap_or(pidfd));
        }
        if !ended.is_empty() {
            return WaitEnd::Ended;
        }
        has_news = !stopped.is_empty();
        if has_news {
            news.clear();
            // A tracer waits for its children itself.
            if tracer.is_none() {
                *orphans |= reap_others(|ended| ended == pid);
            }
        }
        if request.contains(readable) {
            let mut head = [0; HEAD_BYTES];
            if !read_exact(requests.as_fd(), &mut head) {
                return WaitEnd::Abandoned;
            }
            return match Head::decode(head) {
                Some(Head::Cancel) => WaitEnd::Cancelled,
                _ => WaitEnd::Abandoned,
            };
        }
        if !request.is_empty() {
            return WaitEnd::Abandoned;
        }
    }
}

/// Reads and discards what is there; true when the writing end is closed.
pub(super) fn drain(reader: &OwnedFd) -> bool {
    let mut sink = [0; 64 * 1024];
    loop {
        match read(reader, &mut sink) {
            Ok(0) => return true,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return false,
        }
    }
}

/// Kills everything this process is an ancestor of. Killing a process hands
/// its children to us, so the loop ends only when the whole tree is gone.
pub(super) fn kill_descendants() {
    for _ in 0..10_000 {
        let mut text = [0; 4096];
        let Ok(list) = open(
            c"/proc/thread-self/children",
            OFlag::O_RDONLY | OFlag::O_CLOEXEC,
            Mode::empty(),
        ) else {
            return;
        };
        let length = read(&list, &mut text).unwrap_or(0);
        for pid in text[..length].split(|byte| *byte == b' ') {
            let number = pid
                .iter()
                .fold(0, |n, digit| n * 10 + i32::from(digit - b'0'));
            if number > 1 {
                let _ = killpg(Pid::from_raw(number), Signal::SIGKILL);
                let _ = kill(Pid::from_raw(number), Signal::SIGKILL);
            }
        }
        if wait(-1, 0).is_none() {
            return;
        }
    }
}
