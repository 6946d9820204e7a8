//! The coordinator's side of one worker process.
#![allow(unsafe_code)]

use std::ffi::OsString;
use std::io::{ErrorKind, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, killpg};
use nix::sys::time::TimeSpec;
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;

use super::baton::Baton;
use super::death::{DeathWatch, collect_group};
use super::failure::FunctionCause;
use super::protocol::{Reply, Request};
use super::serve::{BATON_VARIABLE, VARIABLE};
use super::trace::{Trace, set_nonblocking};
use crate::interrupt::Interrupts;
use crate::placement::PLACEMENTS_VARIABLE;

/// How long a worker that was told to leave may take, and one that closed its
/// pipe until it is gone.
const LEAVE: Duration = Duration::from_secs(2);
/// Bytes of a line at most: the list of some hundred thousand benchmarks.
const LONGEST_LINE: usize = 64 << 20;
/// Bytes shown of a line that makes no sense.
const SHOWN: usize = 80;

/// The program that workers run, and what they are told apart from their
/// pipes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerProgram {
    /// The executable; its `main` must come to [`super::serve`].
    pub executable: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Whether what the functions print is shown on standard error.
    pub shown: bool,
}

/// How one worker is started.
pub(crate) struct WorkerStart<'a> {
    pub(crate) program: &'a WorkerProgram,
    /// A neutral link of it, started instead under the same name.
    pub(crate) variant: Option<&'a Path>,
    /// Bytes of padding in the environment.
    pub(crate) padding: usize,
    /// Its ends of the pipes to another worker that it takes turns with.
    pub(crate) baton: Option<&'a Baton>,
    /// What it is told beside its own arguments.
    pub(crate) probe: Option<&'a str>,
    /// Where its standard output goes, if not where the program says.
    pub(crate) output: Option<Stdio>,
    /// The signals that are held back from it: those that were held back from
    /// deadheat when it was started, and not those it holds back itself.
    pub(crate) mask: &'a SigSet,
}

/// A running worker; killed, with all it started, when dropped.
#[derive(Debug)]
pub(crate) struct WorkerProcess {
    child: Child,
    requests: Option<PipeWriter>,
    pub(super) replies: PipeReader,
    trace: Trace,
    pub(super) death: DeathWatch,
    /// Bytes of the next line that are here already.
    heard: Vec<u8>,
}

impl WorkerProcess {
    /// Starts a worker on the cores of the calling thread.
    pub(crate) fn start(start: WorkerStart<'_>) -> Result<Self, FunctionCause> {
        let not_started = |error: std::io::Error| FunctionCause::NotStarted(error.to_string());
        let (requests_end, requests) = pipe().map_err(not_started)?;
        let (replies, replies_end) = pipe().map_err(not_started)?;
        set_nonblocking(&replies).map_err(not_started)?;
        let (notes, notes_end) = pipe().map_err(not_started)?;
        let trace = Trace::new(notes).map_err(not_started)?;
        let shown = || match start.program.shown {
            // Never deadheat's own standard output, which holds the answer.
            true => std::io::stderr()
                .as_fd()
                .try_clone_to_owned()
                .map_or_else(|_| Stdio::null(), Stdio::from),
            false => Stdio::null(),
        };
        let numbers = |fds: &[RawFd]| {
            fds.iter()
                .map(RawFd::to_string)
                .collect::<Vec<_>>()
                .join(",")
        };
        let mut inherited = vec![
            requests_end.as_raw_fd(),
            replies_end.as_raw_fd(),
            notes_end.as_raw_fd(),
        ];
        let own = &start.program.executable;
        let mut command = Command::new(start.variant.unwrap_or(own));
        command
            .arg0(own)
            .args(&start.program.arguments)
            .args(start.probe)
            .env(VARIABLE, numbers(&inherited))
            .env_remove(BATON_VARIABLE)
            .env_remove(PLACEMENTS_VARIABLE)
            .env("DEADHEAT_PADDING", "x".repeat(start.padding))
            .stdin(Stdio::null())
            .stdout(start.output.unwrap_or_else(shown))
            .stderr(shown())
            // A Ctrl-C in the terminal reaches deadheat alone, and all that
            // the functions start can be killed as one.
            .process_group(0);
        if let Some(baton) = start.baton {
            let ends = [baton.incoming.as_raw_fd(), baton.outgoing.as_raw_fd()];
            command.env(BATON_VARIABLE, numbers(&ends));
            inherited.extend(ends);
        }
        let kept = Kept::open(inherited).map_err(not_started)?;
        // A signal that comes in between is noted, and seen before waiting.
        let held = start.mask.thread_swap_mask(SigmaskHow::SIG_SETMASK);
        let child = command.spawn();
        if let Ok(held) = held {
            let _ = held.thread_set_mask();
        }
        drop(kept);
        let child = child.map_err(not_started)?;
        Ok(Self {
            death: DeathWatch::over(Pid::from_raw(child.id() as i32)),
            child,
            requests: Some(requests),
            replies,
            trace,
            heard: Vec::new(),
        })
    }

    /// Asks; what comes of it is to be heard.
    pub(crate) fn ask(&mut self, request: &Request) {
        let requests = self
            .requests
            .as_mut()
            .expect("open until the worker leaves");
        // A worker that is gone closes both pipes; hearing tells why.
        let _ = requests.write_all(request.to_line().as_bytes());
    }

    /// The next line of the worker, if it is there. `Err` says why there will
    /// be none, or none that makes sense.
    pub(crate) fn attend(&mut self) -> Result<Option<Reply>, FunctionCause> {
        loop {
            if let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let reply = Reply::from_line(&self.heard[..end]).ok_or_else(|| {
                    let said = String::from_utf8_lossy(&self.heard[..end.min(SHOWN)]);
                    FunctionCause::Protocol(format!("it says '{said}'"))
                });
                self.heard.drain(..=end);
                return reply.map(Some);
            }
            if self.heard.len() > LONGEST_LINE {
                let said = String::from_utf8_lossy(&self.heard[..SHOWN]);
                let problem = format!("it goes on without an end of line, from '{said}'");
                return Err(FunctionCause::Protocol(problem));
            }
            match self.read()? {
                Some(0) => return Err(self.cause_of_death()),
                Some(_) => {}
                None if self.death.ended().is_none() => return Ok(None),
                // Last words come before the news of the death.
                None => {
                    if !matches!(self.read()?, Some(1..)) {
                        return Err(self.cause_of_death());
                    }
                }
            }
        }
    }

    /// How long one may wait before it is asked again whether it has ended.
    pub(crate) fn pause(&self) -> Option<Duration> {
        self.death.pause()
    }

    /// Waits until it has something to say, or has ended, or there is something
    /// to read beside it: then `true`.
    pub(crate) fn wait_beside(
        &self,
        beside: Option<BorrowedFd<'_>>,
        pause: Option<Duration>,
        interrupts: &Interrupts,
    ) -> bool {
        let fds = [beside, Some(self.replies.as_fd()), self.death.notice()];
        let watched = fds.into_iter().flatten();
        let mut fds: Vec<PollFd<'_>> = watched
            .map(|fd| PollFd::new(fd, PollFlags::POLLIN))
            .collect();
        let mask = Some(*interrupts.original_mask());
        // Interrupted or too early: the next round finds out.
        let _ = ppoll(&mut fds, pause.map(TimeSpec::from_duration), mask);
        beside.is_some() && fds[0].any() == Some(true)
    }

    /// Whether anything was noted since this was last asked.
    pub(super) fn moved_on(&mut self) -> bool {
        self.trace.moved_on()
    }

    /// The contender that was called last, as far as is known.
    pub(crate) fn last_called(&mut self) -> Option<usize> {
        self.trace.contender()
    }

    /// Reads what is there: how many bytes, 0 at the end of the pipe; `None`
    /// when there is nothing yet.
    fn read(&mut self) -> Result<Option<usize>, FunctionCause> {
        let mut buffer = [0; 4096];
        loop {
            match self.replies.read(&mut buffer) {
                Ok(bytes) => {
                    self.heard.extend_from_slice(&buffer[..bytes]);
                    return Ok(Some(bytes));
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(FunctionCause::Protocol(error.to_string())),
            }
        }
    }

    /// How a worker ended without being asked to leave.
    fn cause_of_death(&mut self) -> FunctionCause {
        // The pipe is closed a moment before the process is gone.
        match self.death.ended_within(LEAVE) {
            Some(WaitStatus::Exited(_, code)) => FunctionCause::Exited(code),
            Some(WaitStatus::Signaled(_, signal, _)) => FunctionCause::Signalled(signal as i32),
            _ => FunctionCause::Protocol("it closed its pipe".to_owned()),
        }
    }

    /// Lets the worker go and waits until it is gone.
    pub(crate) fn leave(mut self) {
        if let Some(mut requests) = self.requests.take() {
            let _ = requests.write_all(Request::Bye.to_line().as_bytes());
        }
        self.death.ended_within(LEAVE);
        // Dropping kills what is left of it.
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }
}

/// Descriptors that the next process started inherits, and none after it.
struct Kept(Vec<RawFd>);

impl Kept {
    /// Nothing else is started while this lives.
    fn open(fds: Vec<RawFd>) -> std::io::Result<Self> {
        let kept = Self(fds);
        kept.set(0)?;
        Ok(kept)
    }

    fn set(&self, flags: libc::c_int) -> std::io::Result<()> {
        for fd in &self.0 {
            // SAFETY: plain system call on a descriptor that is open here.
            if unsafe { libc::fcntl(*fd, libc::F_SETFD, flags) } < 0 {
                return Err(std::io::Error::last_os_error());
            }
        }
        Ok(())
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = self.set(libc::FD_CLOEXEC);
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        // The group, for what the functions may have started; then the worker
        // itself is collected and what it left, so that no zombie stays.
        let group = self.pid();
        let _ = killpg(group, Signal::SIGKILL);
        let _ = self.child.kill();
        let _ = self.child.wait();
        collect_group(group);
    }
}
