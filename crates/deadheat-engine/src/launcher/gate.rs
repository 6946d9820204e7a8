//! Holds children at a gate before they execute their programs, so that all programs start at the
//! same moment on the same core.
#![allow(unsafe_code)]

use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::raw::c_int;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::CpuSet;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{ForkResult, Pid, fork, pipe2, read, write};

use super::child::{Child, SpawnArgs, Spawner, pidfd_of};
use super::image::{EnvironmentImage, Image};
use crate::usage::{read_ns, wait};

/// The CPU time and error number of a child that waits at a gate, in memory shared with the
/// launcher.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(super) struct GateNotes {
    /// CPU time of the child before `execve`, in nanoseconds.
    pub(super) before_ns: u64,
    /// The error number if the start failed; 0 otherwise.
    pub(super) errno: c_int,
}

/// A pipe at which children wait before they execute their programs.
pub(super) struct Gate {
    reader: OwnedFd,
    /// The writing end of the pipe, which is closed to open the gate.
    writer: Option<OwnedFd>,
    /// The reading end of a pipe into which each child writes a byte when it has arrived.
    arrivals: OwnedFd,
    arrived: OwnedFd,
    notes: *mut GateNotes,
    places: usize,
}

impl Gate {
    pub(super) fn new(places: usize) -> Result<Self, c_int> {
        let pipe = || pipe2(OFlag::O_CLOEXEC).map_err(|errno| errno as c_int);
        let ((reader, writer), (arrivals, arrived)) = (pipe()?, pipe()?);
        // SAFETY: a new mapping at an address of the kernel's choice.
        let notes = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                places * size_of::<GateNotes>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if notes == libc::MAP_FAILED {
            return Err(Errno::last_raw());
        }
        Ok(Self {
            reader,
            writer: Some(writer),
            arrivals,
            arrived,
            notes: notes.cast(),
            places,
        })
    }

    fn note(&self, place: usize) -> *mut GateNotes {
        assert!(place < self.places, "a gate has a place for each child");
        // SAFETY: within the mapping, by the check above.
        unsafe { self.notes.add(place) }
    }

    /// Returns the CPU time and error number of a child. Both are final after the child's `execve`
    /// or exit.
    pub(super) fn notes(&self, place: usize) -> GateNotes {
        // SAFETY: the mapping lives as long as `self` and starts as zeros, which are valid notes.
        unsafe { self.note(place).read_volatile() }
    }

    /// Waits until the child that was started last is at the gate. Returns false if the child
    /// ended.
    fn await_arrival(&self, pidfd: &OwnedFd) -> bool {
        loop {
            let mut fds = [
                PollFd::new(self.arrivals.as_fd(), PollFlags::POLLIN),
                PollFd::new(pidfd.as_fd(), PollFlags::POLLIN),
            ];
            let _ = poll(&mut fds, PollTimeout::NONE);
            let [arrived, ended] = fds.map(|fd| fd.any().unwrap_or(false));
            if arrived {
                return read(&self.arrivals, &mut [0]) == Ok(1);
            }
            if ended {
                return false;
            }
        }
    }

    /// Opens the gate: the kernel wakes the children in the order of their arrival.
    pub(super) fn open(&mut self) {
        // Every child has closed its own copy of the writing end.
        self.writer = None;
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`, which nothing refers to any more.
        unsafe { libc::munmap(self.notes.cast(), self.places * size_of::<GateNotes>()) };
    }
}

impl Spawner {
    /// Starts a child on one core, with a time slice in nanoseconds (0 for the kernel's default).
    /// Returns when the child waits at the gate.
    ///
    /// Unlike [`Self::spawn`] this forks the launcher, which must run while the child waits. Before
    /// its program starts, the child notes the CPU time that it has used since the fork.
    pub(super) fn spawn_at_gate(
        &mut self,
        (image, env): (&Image, &EnvironmentImage),
        streams: [RawFd; 3],
        (gate, place): (&Gate, usize),
        (core, slice_ns): (CpuSet, u64),
    ) -> Result<Child, c_int> {
        let cpus = Some(core);
        let mut args = SpawnArgs::new(image, env, streams, &self.mask);
        args.cpus = &cpus;
        args.terminal = self.terminal_to_leave(image);
        // SAFETY: this process has one thread, so the child may do anything; it makes system calls
        // only and ends in `execve` or `_exit`.
        let pid = match unsafe { fork() }.map_err(|errno| errno as c_int)? {
            ForkResult::Parent { child } => child.as_raw(),
            // SAFETY: all that `args` points to is alive in this copy of the launcher.
            ForkResult::Child => unsafe {
                if let Some(writer) = &gate.writer {
                    libc::close(writer.as_raw_fd());
                }
                let note = gate.note(place);
                let set_up = args.set_up();
                if slice_ns > 0 {
                    request_slice(slice_ns);
                }
                let is_set_up = set_up.is_ok();
                (*note).errno = set_up.err().unwrap_or(0);
                let _ = write(&gate.arrived, &[1]);
                if is_set_up {
                    while read(&gate.reader, &mut [0]) == Err(Errno::EINTR) {}
                    (*note).before_ns = read_ns(libc::CLOCK_PROCESS_CPUTIME_ID);
                    (*note).errno = args.execute();
                }
                libc::_exit(127)
            },
        };
        let pidfd = pidfd_of(pid)?;
        let is_there = gate.await_arrival(&pidfd);
        let errno = gate.notes(place).errno;
        if !is_there || errno != 0 {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            wait(pid, 0);
            return Err(if errno == 0 { libc::ESRCH } else { errno });
        }
        let traced = false;
        Ok(Child { pid, pidfd, traced })
    }
}

/// The first fields of the kernel's `struct sched_attr`, as of Linux 3.14.
#[repr(C)]
#[derive(Default)]
struct SchedAttr {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime_ns: u64,
    deadline_ns: u64,
    period_ns: u64,
}

/// Asks the kernel for a time slice of the calling thread. Linux grants it from 6.12 on; earlier
/// kernels ignore it.
fn request_slice(slice_ns: u64) {
    let mut attr = SchedAttr::default();
    let size = size_of::<SchedAttr>();
    // SAFETY: the kernel gets the size of the structure, which is plain data.
    unsafe {
        // Reads the current attributes first, to keep the nice value and the policy.
        if libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attr, size, 0) != 0 {
            return;
        }
        if attr.policy != libc::SCHED_OTHER as u32 && attr.policy != libc::SCHED_BATCH as u32 {
            return;
        }
        attr.size = size as u32;
        attr.runtime_ns = slice_ns;
        libc::syscall(libc::SYS_sched_setattr, 0, &raw const attr, 0);
    }
}

/// Returns true if this kernel lets a process choose its time slice.
pub fn can_set_slices() -> bool {
    const TRIED_NS: u64 = 5_000_000;
    let read = || {
        let mut attr = SchedAttr::default();
        // SAFETY: the kernel gets the size of the structure, which is plain data.
        let read = unsafe {
            libc::syscall(
                libc::SYS_sched_getattr,
                0,
                &raw mut attr,
                size_of::<SchedAttr>(),
                0,
            )
        };
        (read == 0).then_some(attr.runtime_ns)
    };
    let tried = std::thread::spawn(move || {
        request_slice(TRIED_NS);
        read() == Some(TRIED_NS)
    });
    tried.join().unwrap_or(false)
}
