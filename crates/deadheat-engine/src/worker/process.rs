//! The coordinator's side of one worker process.
#![allow(unsafe_code)]

use std::ffi::OsString;
use std::io::{ErrorKind, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, killpg};
use nix::sys::time::TimeSpec;
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;

use super::death::{DeathWatch, collect_group};
use super::failure::FunctionCause;
use super::protocol::{Reply, Request};
use super::serve::VARIABLE;
use super::trace::Trace;
use crate::interrupt::Interrupts;
use crate::placement::PLACEMENTS_VARIABLE;

/// How long a worker that was told to leave may take, and one that closed its
/// pipe until it is gone.
const LEAVE: Duration = Duration::from_secs(2);

/// The program that workers run, and what they are told apart from their
/// pipes.
#[derive(Clone, Debug)]
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
    /// The signals that are held back from it: those that were held back from
    /// deadheat when it was started, and not those it holds back itself.
    pub(crate) mask: &'a SigSet,
}

/// Why a worker gave no answer.
#[derive(Debug)]
pub(crate) enum Silence {
    /// Something is wrong with it.
    Cause(FunctionCause),
    /// A signal asks deadheat to stop.
    Interrupted,
}

/// A running worker; killed, with all it started, when dropped.
#[derive(Debug)]
pub(crate) struct WorkerProcess {
    child: Child,
    requests: Option<PipeWriter>,
    replies: PipeReader,
    trace: Trace,
    death: DeathWatch,
    /// Bytes of the next line that are here already.
    heard: Vec<u8>,
}

impl WorkerProcess {
    /// Starts a worker on the cores of the calling thread.
    pub(crate) fn start(start: &WorkerStart<'_>) -> Result<Self, FunctionCause> {
        let not_started = |error: std::io::Error| FunctionCause::NotStarted(error.to_string());
        let (requests_end, requests) = pipe().map_err(not_started)?;
        let (replies, replies_end) = pipe().map_err(not_started)?;
        let (notes, notes_end) = pipe().map_err(not_started)?;
        let trace = Trace::new(notes).map_err(not_started)?;
        let output = || match start.program.shown {
            // Never deadheat's own standard output, which holds the answer.
            true => std::io::stderr()
                .as_fd()
                .try_clone_to_owned()
                .map_or_else(|_| Stdio::null(), Stdio::from),
            false => Stdio::null(),
        };
        let own = &start.program.executable;
        let mut command = Command::new(start.variant.unwrap_or(own));
        command
            .arg0(own)
            .args(&start.program.arguments)
            .env(
                VARIABLE,
                format!(
                    "{},{},{}",
                    requests_end.as_raw_fd(),
                    replies_end.as_raw_fd(),
                    notes_end.as_raw_fd()
                ),
            )
            .env_remove(PLACEMENTS_VARIABLE)
            .env("DEADHEAT_PADDING", "x".repeat(start.padding))
            .stdin(Stdio::null())
            .stdout(output())
            .stderr(output())
            // A Ctrl-C in the terminal reaches deadheat alone, and all that
            // the functions start can be killed as one.
            .process_group(0);
        for fd in [
            requests_end.as_raw_fd(),
            replies_end.as_raw_fd(),
            notes_end.as_raw_fd(),
        ] {
            // SAFETY: plain system call on a descriptor that is open here.
            // Nothing else is started before they are closed again below.
            if unsafe { libc::fcntl(fd, libc::F_SETFD, 0) } < 0 {
                return Err(not_started(std::io::Error::last_os_error()));
            }
        }
        // A signal that comes in between is noted, and seen before waiting.
        let held = start.mask.thread_swap_mask(SigmaskHow::SIG_SETMASK);
        let child = command.spawn();
        if let Ok(held) = held {
            let _ = held.thread_set_mask();
        }
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

    /// Asks and waits for the answer. `patience` is what making an input or
    /// taking a sample may take, each for itself.
    pub(crate) fn ask(
        &mut self,
        request: &Request,
        patience: Option<Duration>,
        interrupts: Option<&Interrupts>,
    ) -> Result<Reply, Silence> {
        let requests = self
            .requests
            .as_mut()
            .expect("open until the worker leaves");
        // A worker that is gone closes both pipes; hearing tells why.
        let _ = requests.write_all(request.to_line().as_bytes());
        self.hear(patience, interrupts)
    }

    /// Waits for the next line of the worker.
    pub(crate) fn hear(
        &mut self,
        patience: Option<Duration>,
        interrupts: Option<&Interrupts>,
    ) -> Result<Reply, Silence> {
        self.trace.moved_on();
        let mut limit = patience.map(Limit::new);
        loop {
            if let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let reply = Reply::from_line(&self.heard[..end]).ok_or_else(|| {
                    let said = String::from_utf8_lossy(&self.heard[..end.min(80)]);
                    Silence::Cause(FunctionCause::Protocol(format!("it says '{said}'")))
                });
                self.heard.drain(..=end);
                return reply;
            }
            if !self.wait_for_bytes(limit.as_mut(), interrupts)? {
                return Err(Silence::Cause(self.cause_of_death()));
            }
            let mut buffer = [0; 4096];
            match self.replies.read(&mut buffer) {
                Ok(0) => return Err(Silence::Cause(self.cause_of_death())),
                Ok(bytes) => self.heard.extend_from_slice(&buffer[..bytes]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(Silence::Cause(FunctionCause::Protocol(error.to_string())));
                }
            }
        }
    }

    /// The contender that was called last, as far as is known.
    pub(crate) fn last_called(&mut self) -> Option<usize> {
        self.trace.contender()
    }

    /// Waits until there is something to read, or until the worker has ended
    /// and there never will be: then `false`.
    fn wait_for_bytes(
        &mut self,
        mut limit: Option<&mut Limit>,
        interrupts: Option<&Interrupts>,
    ) -> Result<bool, Silence> {
        loop {
            if interrupts.is_some_and(|interrupts| interrupts.requested().is_some()) {
                return Err(Silence::Interrupted);
            }
            let mut left = None;
            if let Some(limit) = &mut limit {
                left = Some(limit.left(&mut self.trace)?);
            }
            let pause = [left, self.death.pause()].into_iter().flatten().min();
            let mask = interrupts.map(|interrupts| *interrupts.original_mask());
            let replies = PollFd::new(self.replies.as_fd(), PollFlags::POLLIN);
            let mut fds = vec![replies];
            let notice = self.death.notice();
            fds.extend(notice.map(|notice| PollFd::new(notice, PollFlags::POLLIN)));
            // Interrupted or too early: the next round finds out.
            let _ = ppoll(&mut fds, pause.map(TimeSpec::from_duration), mask);
            // Last words come before the news of the death.
            if fds[0].any() == Some(true) {
                return Ok(true);
            }
            if fds.get(1).is_none_or(|notice| notice.any() == Some(true))
                && self.death.ended().is_some()
            {
                return Ok(self.has_last_words());
            }
        }
    }

    /// Whether a worker that has ended said something in its last moment,
    /// after its pipe was looked at.
    fn has_last_words(&self) -> bool {
        let mut fds = [PollFd::new(self.replies.as_fd(), PollFlags::POLLIN)];
        ppoll(
            &mut fds,
            Some(TimeSpec::from_duration(Duration::ZERO)),
            None,
        )
        .is_ok_and(|n| n > 0)
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

/// When patience ends: so long after the worker was last seen to go on.
struct Limit {
    each: Duration,
    end: Instant,
}

impl Limit {
    fn new(each: Duration) -> Self {
        Self {
            each,
            end: Instant::now() + each,
        }
    }

    /// What is left. The trace is only looked at when the time is up, so a
    /// sample gets at least what it may take and at most twice that.
    fn left(&mut self, trace: &mut Trace) -> Result<Duration, Silence> {
        let left = self.end.saturating_duration_since(Instant::now());
        if !left.is_zero() {
            return Ok(left);
        }
        if !trace.moved_on() {
            return Err(Silence::Cause(FunctionCause::TimedOut(self.each)));
        }
        self.end = Instant::now() + self.each;
        Ok(self.each)
    }
}
