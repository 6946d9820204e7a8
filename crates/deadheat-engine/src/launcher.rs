//! A small, separate process that launches the commands and times them.
//!
//! Why not launch from deadheat itself? The kernel carries the peak resident set of the launching
//! process over to the launched one (measured: `true` launched from a 25 MB process reports 25 MB),
//! so the launcher must stay smaller than anything worth measuring. As the parent of all commands,
//! the launcher also cleans up: when deadheat dies, even by SIGKILL, the request pipe closes, and
//! the launcher kills all running commands.
//!
//! The launcher is forked once, before the first block, with every command of the plan as ready
//! system-call arguments ([`image`]). A block is one request and one reply ([`wire`]). In between
//! the launcher allocates almost no memory ([`serve`]).
#![allow(unsafe_code)]

mod child;
mod gate;
pub(crate) mod image;
mod left_behind;
mod serve;
mod side_by_side;
mod stopped;
mod trace;
pub(crate) mod wire;

pub use child::can_share_memory;
pub use gate::can_set_slices;
pub use image::ImageError;

use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::stat::Mode;
use nix::sys::time::TimeSpec;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, pipe2, setpgid};

use crate::counters::Counters;
use crate::interrupt::{Interrupts, held_back_signal};
use crate::observed::Sighting;
use crate::procfs::children;
use crate::subprocess::{adopt_orphans, end_strays};
use child::Spawner;
use image::{EnvironmentImage, Image};
use serve::Server;
use stopped::ChildNews;
use trace::sighting_in;
use wire::{
    Head, Launch, MAX_LAUNCHES, MAX_REQUEST_BYTES, MEASURED_BYTES, Manner, Measured, Sharing,
    encode_request, encode_variant, read_all, read_exact, write_all,
};

/// Time without a reply after which deadheat sends the launcher a SIGCONT.
const PATIENCE: TimeSpec = TimeSpec::new(1, 0);

/// The launcher cannot be started or has stopped answering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LauncherError {
    /// A system call that the launcher needs to start failed.
    Start {
        /// The name of the system call.
        step: &'static str,
        /// The error number.
        errno: Errno,
    },
    /// The launcher died or sent an invalid reply.
    Gone,
}

impl std::fmt::Display for LauncherError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Start { step, errno } => {
                write!(f, "cannot start the launcher process: {step}: {errno}")
            }
            Self::Gone => f.write_str("the launcher process is gone; was it killed?"),
        }
    }
}

impl std::error::Error for LauncherError {}

pub(crate) struct LauncherOptions<'a> {
    pub(crate) images: Vec<Image>,
    /// The CPUs that the commands may run on; empty for the CPUs of deadheat.
    pub(crate) cpus: &'a [u32],
    /// The number of memory files for outputs: the largest number of launches in a block whose
    /// outputs are compared; 0 if no outputs are compared.
    pub(crate) captures: usize,
    pub(crate) shown: RawFd,
    pub(crate) want_counters: bool,
}

/// A running launcher process; ends when dropped.
pub(crate) struct Launcher {
    pid: Pid,
    /// The children that deadheat had before it started the launcher.
    earlier_children: Vec<Pid>,
    requests: Option<OwnedFd>,
    replies: OwnedFd,
    captures: Vec<OwnedFd>,
    hook_errors: OwnedFd,
    command_errors: OwnedFd,
    sightings: OwnedFd,
    counters: Result<(), String>,
    bytes: Vec<u8>,
    measured: Vec<Measured>,
}

impl Launcher {
    pub(crate) fn start(
        options: LauncherOptions<'_>,
        interrupts: &Interrupts,
    ) -> Result<Self, LauncherError> {
        let step = |step| move |errno| LauncherError::Start { step, errno };
        let (request_reader, request_writer) = pipe2(OFlag::O_CLOEXEC).map_err(step("pipe"))?;
        let (reply_reader, reply_writer) = pipe2(OFlag::O_CLOEXEC).map_err(step("pipe"))?;
        let null = open("/dev/null", OFlag::O_RDWR | OFlag::O_CLOEXEC, Mode::empty())
            .map_err(step("open /dev/null"))?;
        let memory =
            |name: &str| memfd_create(name, MFdFlags::MFD_CLOEXEC).map_err(step("memfd_create"));
        let captures: Vec<OwnedFd> = (0..options.captures)
            .map(|_| memory("deadheat-output"))
            .collect::<Result<_, _>>()?;
        let hook_errors = memory("deadheat-hook")?;
        let command_errors = memory("deadheat-errors")?;
        let sightings = memory("deadheat-trace")?;
        let duplicate = |fd: &OwnedFd| {
            fd.try_clone().map_err(|error| LauncherError::Start {
                step: "dup",
                errno: Errno::from_raw(error.raw_os_error().unwrap_or(0)),
            })
        };
        let server = Server {
            images: options.images,
            env: EnvironmentImage::inherited(),
            spawner: Spawner::new(*interrupts.original_mask(), options.cpus),
            requests: request_reader,
            replies: reply_writer,
            null,
            news: ChildNews::new().map_err(step("signalfd"))?,
            shown: options.shown,
            captures: captures.iter().map(duplicate).collect::<Result<_, _>>()?,
            hook_errors: duplicate(&hook_errors)?,
            command_errors: duplicate(&command_errors)?,
            keeps_errors: false,
            want_counters: options.want_counters,
            sightings: duplicate(&sightings)?,
            traced: false,
            record: Vec::new(),
            daemons: Vec::new(),
            has_failed: false,
        };
        adopt_orphans();
        let earlier_children = children();
        // SAFETY: the child runs `serve`, which opens counters and then makes
        // only system calls on memory it owns, and leaves through `_exit`: no
        // destructor, no `atexit` and no buffered output of the parent runs
        // twice. glibc keeps `malloc` usable in a forked child.
        let pid = match unsafe { fork() }.map_err(step("fork"))? {
            ForkResult::Parent { child } => child,
            ForkResult::Child => {
                drop(request_writer);
                drop(reply_reader);
                live_as_launcher(server)
            }
        };
        drop(server);
        let mut launcher = Self {
            pid,
            earlier_children,
            requests: Some(request_writer),
            replies: reply_reader,
            captures,
            hook_errors,
            command_errors,
            sightings,
            counters: Ok(()),
            bytes: vec![0; MAX_LAUNCHES * MEASURED_BYTES],
            measured: Vec::with_capacity(MAX_LAUNCHES),
        };
        let mut hello = [0; 4];
        if !read_exact(launcher.replies.as_fd(), &mut hello) {
            return Err(LauncherError::Gone);
        }
        let errno = i32::from_ne_bytes(hello);
        if errno != 0 {
            launcher.counters = Err(Counters::explain(errno));
        }
        Ok(launcher)
    }

    pub(crate) fn counters(&self) -> &Result<(), String> {
        &self.counters
    }

    /// Returns the memory file with the output of the launch at `index` of the last request to the
    /// launcher.
    pub(crate) fn capture(&self, index: usize) -> &OwnedFd {
        &self.captures[index % self.captures.len()]
    }

    pub(crate) fn hook_errors(&self) -> &OwnedFd {
        &self.hook_errors
    }

    /// Returns the memory file with the standard error of the last traced or rehearsed launch whose
    /// output was not shown.
    pub(crate) fn command_errors(&self) -> &OwnedFd {
        &self.command_errors
    }

    /// Makes later launches of a command start `file` in this manner. `None` restores the command's
    /// own program.
    pub(crate) fn vary(
        &self,
        image: u16,
        manner: Manner,
        file: Option<&Path>,
    ) -> Result<(), LauncherError> {
        let path = file.map_or(&[][..], |file| file.as_os_str().as_bytes());
        let message = encode_variant(image, manner, path).ok_or(LauncherError::Gone)?;
        self.send(&message)
    }

    /// Runs these launches one after the other and returns their measurements. A signal that asks
    /// deadheat to stop kills the running command.
    pub(crate) fn run(
        &mut self,
        launches: &[Launch],
        interrupts: &Interrupts,
    ) -> Result<&[Measured], LauncherError> {
        self.request(Head::Run(launches.len()), None, launches, interrupts)
    }

    /// Like [`Self::run`], but keeps the standard error, for launches whose times are discarded.
    pub(crate) fn rehearse(
        &mut self,
        launches: &[Launch],
        interrupts: &Interrupts,
    ) -> Result<&[Measured], LauncherError> {
        self.request(Head::Rehearse(launches.len()), None, launches, interrupts)
    }

    /// Like [`Self::run`], but the launches run side by side on one core, in groups of `group`.
    /// Groups run one after the other.
    pub(crate) fn run_side_by_side(
        &mut self,
        (sharing, group): (Sharing, usize),
        launches: &[Launch],
        interrupts: &Interrupts,
    ) -> Result<&[Measured], LauncherError> {
        let head = Head::SideBySide(launches.len(), group);
        self.request(head, Some(sharing), launches, interrupts)
    }

    /// Like [`Self::run`], but traces each launch, which makes its times meaningless. Also returns
    /// the file that each launch executed last; `None` if it could not be read.
    pub(crate) fn trace(
        &mut self,
        launches: &[Launch],
        interrupts: &Interrupts,
    ) -> Result<(Vec<Measured>, Vec<Option<Sighting>>), LauncherError> {
        let head = Head::Trace(launches.len());
        let measured = self.request(head, None, launches, interrupts)?.to_vec();
        let text = read_all(self.sightings.as_fd()).ok_or(LauncherError::Gone)?;
        let mut records = &text[..];
        let mut next = || {
            let (length, rest) = records.split_first_chunk()?;
            let (record, rest) = rest.split_at_checked(u32::from_ne_bytes(*length) as usize)?;
            records = rest;
            sighting_in(record)
        };
        let seen = launches.iter().map(|_| next()).collect();
        Ok((measured, seen))
    }

    fn request(
        &mut self,
        head: Head,
        sharing: Option<Sharing>,
        launches: &[Launch],
        interrupts: &Interrupts,
    ) -> Result<&[Measured], LauncherError> {
        let mut buffer = [0; MAX_REQUEST_BYTES];
        let length = encode_request(head, sharing, launches, &mut buffer);
        self.send(&buffer[..length])?;
        self.await_reply(interrupts)?;
        let bytes = &mut self.bytes[..launches.len() * MEASURED_BYTES];
        if !read_exact(self.replies.as_fd(), bytes) {
            return Err(LauncherError::Gone);
        }
        self.measured.clear();
        for chunk in bytes.chunks_exact(MEASURED_BYTES) {
            self.measured
                .push(Measured::decode(chunk).ok_or(LauncherError::Gone)?);
        }
        Ok(&self.measured)
    }

    fn send(&self, bytes: &[u8]) -> Result<(), LauncherError> {
        let requests = self.requests.as_ref();
        let sent = requests.is_some_and(|requests| write_all(requests.as_fd(), bytes));
        sent.then_some(()).ok_or(LauncherError::Gone)
    }

    /// Blocks until a reply can be read. Signals are unblocked meanwhile. A signal that arrives at
    /// another moment stays pending until deadheat polls for it.
    ///
    /// A command may stop its launcher (`kill -STOP $PPID`), and a stopped launcher enforces no
    /// time limit. It therefore gets a SIGCONT every second, which has no effect on a running
    /// process.
    fn await_reply(&self, interrupts: &Interrupts) -> Result<(), LauncherError> {
        let signals_before = interrupts.count();
        let mut cancelled = false;
        loop {
            let mut fds = [PollFd::new(self.replies.as_fd(), PollFlags::POLLIN)];
            match ppoll(&mut fds, Some(PATIENCE), Some(*interrupts.original_mask())) {
                Ok(0) => {
                    let _ = kill(self.pid, Signal::SIGCONT);
                }
                Ok(_) => return Ok(()),
                Err(Errno::EINTR) => {
                    if interrupts.count() > signals_before && !cancelled {
                        cancelled = true;
                        self.send(&Head::Cancel.encode())?;
                    }
                }
                Err(_) => return Err(LauncherError::Gone),
            }
        }
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        let head = match held_back_signal() {
            None => Head::Goodbye,
            Some(_) => Head::BreakOff,
        };
        let _ = self.send(&head.encode());
        self.requests = None;
        let ended = waitpid(self.pid, None);
        if ended.is_ok_and(|status| !matches!(status, WaitStatus::Exited(_, 0))) {
            // A command may kill its launcher (`kill -9 $PPID`), and the launcher then does not end
            // its children.
            end_strays(|child| !self.earlier_children.contains(&child));
        }
    }
}

/// Runs the forked process. A panic must not unwind into the code of the parent, which would then
/// run in both processes.
fn live_as_launcher(server: Server) -> ! {
    let _ = SigSet::all().thread_set_mask();
    // `timeout -k` kills the process group of deadheat: the launcher must survive to end the
    // commands.
    let _ = setpgid(Pid::from_raw(0), Pid::from_raw(0));
    let served = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| server.serve()));
    // SAFETY: _exit has no preconditions.
    unsafe { libc::_exit(if served.is_ok() { 0 } else { 70 }) }
}
