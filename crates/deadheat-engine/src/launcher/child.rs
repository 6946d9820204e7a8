//! Starts one process of the launcher, waits for its end or a message from deadheat, and kills
//! descendants.
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
use nix::unistd::{ForkResult, Pid, fork, pipe2, read, write};

use super::image::{EnvironmentImage, Image, MOST_OUTPUT};
use super::left_behind::reap_others;
use super::stopped::{ChildNews, StopWatch};
use super::trace::Tracer;
use super::wire::{HEAD_BYTES, Head, read_exact};
use crate::observed::is_within;
use crate::usage::wait;

/// The size of the stack of a child between its start and its `execve`, in bytes. In that time the
/// child makes about a dozen system calls and nothing else.
const STACK_BYTES: usize = 64 * 1024;

/// The attributes of a new process that are the same for every launch.
pub(crate) struct Spawner {
    stack: Vec<u8>,
    memory: ChildMemory,
    /// The signal mask of new processes: the one that deadheat was started with.
    pub(super) mask: SigSet,
    cpus: Option<CpuSet>,
    /// The terminal that deadheat was started in, if there is one.
    terminal: Option<OwnedFd>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChildMemory {
    /// The launcher's memory. The kernel suspends the launcher until `execve`. This is the fastest
    /// start.
    Shared,
    /// A copy of the launcher's memory, because emulators and sandboxes may refuse the flags of
    /// `clone` for shared memory.
    Copied,
}

/// A process that was started and not yet waited for.
pub(crate) struct Child {
    pub(crate) pid: libc::pid_t,
    /// Becomes readable when the process ends.
    pub(crate) pidfd: OwnedFd,
    /// True if the process stops at each `execve` for its tracer.
    pub(crate) traced: bool,
}

/// The instructions for starting a child, which the child reads from the memory of its parent or
/// from a copy.
pub(super) struct SpawnArgs {
    programs: *const std::ffi::CString,
    program_count: usize,
    argv: *const *const libc::c_char,
    envp: *const *const libc::c_char,
    /// The working directory of the child; null for that of its parent.
    directory: *const libc::c_char,
    streams: [RawFd; 3],
    mask: *const SigSet,
    pub(super) cpus: *const Option<CpuSet>,
    /// Descriptor of the terminal that the process gives up; -1 if it keeps its terminal.
    pub(super) terminal: RawFd,
    parent: libc::pid_t,
    fixed_addresses: bool,
    /// True if the child requests tracing. The child sets this to false if the kernel refuses.
    traced: bool,
    /// The error number of a failed set-up or `execve`, written by the child.
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

    /// Gives the calling process the group, terminal, CPUs, folder and streams of the program.
    /// Fails with the error number of the failed step.
    ///
    /// # Safety
    ///
    /// Everything that `self` points to must be alive, and the calling process must be about to
    /// `execve`.
    pub(super) unsafe fn set_up(&mut self) -> Result<(), c_int> {
        // SAFETY: plain system calls on values that the caller keeps alive. Each is
        // async-signal-safe; none touches a lock or allocates.
        unsafe {
            // The command leads its own process group, so that the whole tree can be killed and a
            // Ctrl-C in the terminal reaches only deadheat.
            libc::setpgid(0, 0);
            // The kernel stops a background group that uses its terminal, as every interactive
            // shell does. A new session would detach the terminal, too, but the scheduler shares
            // the processor between sessions (autogroup).
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
            // The working directory is not shared with the parent, even if the memory is: no
            // CLONE_FS.
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

    /// Executes the program. Returns only if that fails, with the error number.
    ///
    /// # Safety
    ///
    /// As for [`Self::set_up`].
    pub(super) unsafe fn execute(&self) -> c_int {
        let mut reason = libc::ENOENT;
        // SAFETY: plain system calls on values that the caller keeps alive.
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
                // Like execvp: tries the next path if a file is missing, and reports EACCES if all
                // paths fail.
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
    /// Creates a spawner whose children start with this signal mask, and only on these CPUs unless
    /// `cpus` is empty.
    pub(crate) fn new(mask: SigSet, cpus: &[u32]) -> Self {
        let cpus = (!cpus.is_empty()).then(|| {
            let mut set = CpuSet::new();
            for cpu in cpus {
                // A CPU number that is too large for the set is ignored.
                let _ = set.set(*cpu as usize);
            }
            set
        });
        Self {
            stack: vec![0; STACK_BYTES],
            memory: ChildMemory::Shared,
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

    /// Returns true if the processes of an image keep the terminal that deadheat was started in.
    pub(super) fn has_terminal(&self, image: &Image) -> bool {
        self.terminal.is_some() && image.keeps_terminal
    }

    /// Returns the descriptor of the terminal that the processes of an image give up; -1 if they
    /// give up none.
    pub(super) fn terminal_to_leave(&self, image: &Image) -> RawFd {
        let terminal = self.terminal.as_ref().filter(|_| !image.keeps_terminal);
        terminal.map_or(-1, AsRawFd::as_raw_fd)
    }

    /// Returns true if the main thread of a process may run only on the cores it was given; `None`
    /// if no cores were chosen or the process is gone.
    pub(crate) fn keeps_cores(&self, pid: libc::pid_t) -> Option<bool> {
        keeps_cores(pid, self.cpus.as_ref()?)
    }

    /// Starts `image` with these standard streams. Returns after a successful `execve`, or with the
    /// error number of the step that failed.
    ///
    /// This does what `posix_spawn` does internally. `posix_spawn` supports neither
    /// PR_SET_PDEATHSIG nor CPU affinity nor a list of paths, and returns no pidfd.
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
        let mut started = match self.memory {
            ChildMemory::Shared => self.start_in_shared_memory(&mut args),
            ChildMemory::Copied => start_in_copied_memory(&mut args),
        };
        if let Err(libc::EINVAL | libc::ENOSYS | libc::EPERM) = started
            && self.memory == ChildMemory::Shared
        {
            self.memory = ChildMemory::Copied;
            started = start_in_copied_memory(&mut args);
        }
        let (pid, pidfd) = started?;
        if args.errno != 0 {
            let mut status = 0;
            // SAFETY: `pid` is our own child, which has exited.
            unsafe { libc::waitpid(pid, &mut status, 0) };
            return Err(args.errno);
        }
        let traced = args.traced;
        Ok(Child { pid, pidfd, traced })
    }

    /// Starts a child with one `clone` call. Fails with the error number of `clone`. If a later
    /// step fails, the child stores its error number in `args`.
    fn start_in_shared_memory(
        &mut self,
        args: &mut SpawnArgs,
    ) -> Result<(libc::pid_t, OwnedFd), c_int> {
        let mut pidfd: c_int = -1;
        // The stack grows down and must be aligned to 16 bytes.
        let top = (self.stack.as_mut_ptr() as usize + self.stack.len()) & !15;
        // SAFETY: `top` is the aligned end of a live 64 KiB buffer that nothing else uses.
        // CLONE_VFORK holds this thread until the child has executed or exited, so `args` and
        // everything it points to outlive the child's use of them, and the two never run at the
        // same time. `exec_in_child` makes only async-signal-safe calls. Signals are blocked in
        // this process (`serve`), so no handler runs on the shared memory. The pidfd is written
        // through the `parent_tid` argument.
        let pid = unsafe {
            libc::clone(
                exec_in_child,
                top as *mut c_void,
                SHARING,
                (&raw mut *args).cast(),
                &raw mut pidfd,
            )
        };
        if pid < 0 {
            return Err(Errno::last_raw());
        }
        // SAFETY: on success the kernel stored a new descriptor that has no other owner.
        Ok((pid, unsafe { OwnedFd::from_raw_fd(pidfd) }))
    }
}

/// Starts a child with `fork`. The child reports through a pipe whether it is traced, and the error
/// number of a failed step, because it cannot write into the launcher's `args`. A successful
/// `execve` closes the pipe.
fn start_in_copied_memory(args: &mut SpawnArgs) -> Result<(libc::pid_t, OwnedFd), c_int> {
    let (reader, writer) = pipe2(OFlag::O_CLOEXEC).map_err(|errno| errno as c_int)?;
    // SAFETY: this process has one thread, and the child ends in `execve` or `_exit`.
    let pid = match unsafe { fork() }.map_err(|errno| errno as c_int)? {
        ForkResult::Parent { child } => child.as_raw(),
        // SAFETY: all that `args` points to is alive in this copy of the launcher.
        ForkResult::Child => unsafe {
            let set_up = args.set_up();
            let _ = write(&writer, &[u8::from(args.traced)]);
            let errno = match set_up {
                Ok(()) => args.execute(),
                Err(errno) => errno,
            };
            let _ = write(&writer, &errno.to_ne_bytes());
            libc::_exit(127)
        },
    };
    drop(writer);
    let pidfd = pidfd_of(pid)?;
    let mut told = [0_u8; 1 + size_of::<c_int>()];
    let mut length = 0;
    while length < told.len() {
        match read(&reader, &mut told[length..]) {
            Ok(0) => break,
            Ok(bytes) => length += bytes,
            Err(Errno::EINTR) => {}
            Err(_) => break,
        }
    }
    let [traced, errno @ ..] = told;
    args.traced = traced != 0;
    args.errno = match length {
        // The child was killed before it wrote to the pipe.
        0 => libc::ESRCH,
        _ => c_int::from_ne_bytes(errno),
    };
    Ok((pid, pidfd))
}

/// Returns true if the launcher can start a child in its own memory, and false if it must fork.
pub fn can_share_memory() -> bool {
    extern "C" fn end(_: *mut c_void) -> c_int {
        // SAFETY: `_exit` has no preconditions.
        unsafe { libc::_exit(0) }
    }
    let mut stack = vec![0_u8; STACK_BYTES];
    let top = (stack.as_mut_ptr() as usize + stack.len()) & !15;
    let mut pidfd: c_int = -1;
    // Tried in a forked child, so that no signal handler of this process runs in shared memory.
    // SAFETY: the child makes system calls only and ends in `_exit`.
    match unsafe { fork() } {
        Err(_) => false,
        Ok(ForkResult::Parent { child }) => {
            let waited = wait(child.as_raw(), 0).unwrap_or_default();
            libc::WIFEXITED(waited.status) && libc::WEXITSTATUS(waited.status) == 0
        }
        // SAFETY: as in `start_in_shared_memory`; the stack is this process's copy.
        Ok(ForkResult::Child) => unsafe {
            let _ = SigSet::all().thread_block();
            let top = top as *mut c_void;
            let pid = libc::clone(end, top, SHARING, std::ptr::null_mut(), &raw mut pidfd);
            libc::_exit(i32::from(pid < 0))
        },
    }
}

const SHARING: c_int = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD;

/// Returns a descriptor that becomes readable when a child ends. If there is none, kills the child.
pub(super) fn pidfd_of(pid: libc::pid_t) -> Result<OwnedFd, c_int> {
    // SAFETY: `pid` is our own child and not waited for yet; the kernel returns a descriptor that
    // only we own, or -1.
    unsafe {
        let pidfd = libc::syscall(libc::SYS_pidfd_open, pid, 0) as c_int;
        if pidfd < 0 {
            let errno = Errno::last_raw();
            libc::kill(pid, libc::SIGKILL);
            libc::waitpid(pid, std::ptr::null_mut(), 0);
            return Err(errno);
        }
        Ok(OwnedFd::from_raw_fd(pidfd))
    }
}

pub(super) fn keeps_cores(pid: libc::pid_t, given: &CpuSet) -> Option<bool> {
    let cores = sched_getaffinity(Pid::from_raw(pid)).ok()?;
    Some(is_within(&cores, given))
}

/// Returns true if the nice value or scheduling policy of a process differs from the launcher's.
/// The scheduling delay of the process is then due to its priority. The process may have ended, if
/// it was not reaped.
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

/// Runs in the child, on a separate stack in the memory of the parent, which is suspended. Exits
/// with 127 if `execve` fails.
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

pub(super) enum WaitEnd {
    Ended,
    TooLong,
    TooMuch,
    Cancelled,
    Abandoned,
    /// This signal stopped the command, and nothing continued it in time.
    Stopped(i32),
}

/// The milliseconds between two checks of the size of an output. A program that prints without end
/// fills some hundred MB of memory between two checks.
const BETWEEN_LOOKS_MS: u128 = 100;

pub(super) fn has_too_much(output: BorrowedFd<'_>) -> bool {
    fstat(output).is_ok_and(|found| found.st_size as u64 > MOST_OUTPUT)
}

/// Frees the memory of a captured standard error, except for its end.
fn give_back_most(errors: BorrowedFd<'_>) {
    const KEPT: i64 = 64 << 10;
    let printed = fstat(errors).map_or(0, |found| found.st_size);
    if printed > 2 * KEPT {
        let hole = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
        let _ = fallocate(errors, hole, 0, printed - KEPT);
    }
}

/// Waits until the command ends, exceeds its time limit or output size, or has been stopped for too
/// long, or until deadheat sends a message or dies. Drains the pipe of the command meanwhile. Sets
/// `orphans` to true if other children of the launcher end.
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

/// Discards the data in a pipe. Returns true if the writing end is closed.
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

/// Kills all descendants of this process. The children of a killed process become children of this
/// process, so the loop ends when the whole tree is gone.
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_start_in_copied_memory_tells_the_same_as_one_in_shared_memory() {
        let env = EnvironmentImage::inherited();
        let null = open("/dev/null", OFlag::O_RDWR, Mode::empty()).unwrap();
        let streams = [null.as_raw_fd(); 3];
        let image = |words: &[&str], folder: &str| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let image = Image::of_words(&words).unwrap();
            image.within(Some(Path::new(folder))).unwrap()
        };
        for memory in [ChildMemory::Shared, ChildMemory::Copied] {
            let mut spawner = Spawner::new(SigSet::empty(), &[]);
            spawner.memory = memory;
            let mut ended = |image: &Image| {
                let child = spawner.spawn(image, &env, streams, false)?;
                let mut fds = [PollFd::new(child.pidfd.as_fd(), PollFlags::POLLIN)];
                assert_eq!(poll(&mut fds, PollTimeout::from(10_000_u16)), Ok(1));
                Ok(libc::WEXITSTATUS(wait(child.pid, 0).unwrap().status))
            };
            let words = ["sh", "-c", "test $PWD = /usr && exit 3"];
            assert_eq!(ended(&image(&words, "/usr")), Ok(3), "{memory:?}");
            let missing = image(&["/no/such/program"], "/");
            assert_eq!(ended(&missing), Err(libc::ENOENT), "{memory:?}");
            let lost = image(&["true"], "/no/such/folder");
            assert_eq!(ended(&lost), Err(libc::ENOENT), "{memory:?}");
        }
    }
}
