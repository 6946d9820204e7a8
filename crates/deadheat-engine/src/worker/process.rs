//! The coordinator's side of one worker process.

use std::io::{ErrorKind, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{SigmaskHow, Signal, killpg};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;

use super::exit_watcher::{ExitWatcher, collect_group, end_strays};
use super::failure::{FunctionCause, not_started};
use super::pipes::{BATON_VARIABLE, VARIABLE};
use super::procfs::{BatonPipes, is_stopped};
use super::protocol::{Reply, Request};
use super::start::{Kept, MARK_VARIABLE, WorkerStart, next_mark};
use super::stderr_tail::StderrTail;
use super::trace::{Trace, set_nonblocking};
use crate::placement::PLACEMENTS_VARIABLE;

/// How long a worker that was told to leave may take, and one that closed its
/// pipe until it is gone.
const LEAVE: Duration = Duration::from_secs(2);
/// Bytes of a line at most: the list of some hundred thousand benchmarks.
const LONGEST_LINE: usize = 64 << 20;
/// Bytes shown of a line that makes no sense.
const SHOWN: usize = 80;

/// A running worker; killed, with all it started, when dropped.
#[derive(Debug)]
pub(crate) struct WorkerProcess {
    child: Child,
    requests: Option<PipeWriter>,
    pub(super) replies: PipeReader,
    trace: Trace,
    pub(super) exit: ExitWatcher,
    /// Bytes of the next line that are here already.
    received: Vec<u8>,
    /// So many of them are no end of the line.
    searched: usize,
    /// Whether it said something before it was asked the last question.
    hasty: bool,
    stderr_tail: StderrTail,
    /// Its ends of the pipes to another, where the system tells of them.
    baton: Option<BatonPipes>,
    /// What stands in its environment alone.
    mark: String,
}

impl WorkerProcess {
    /// Starts a worker on the cores of the calling thread.
    pub(crate) fn start(start: WorkerStart<'_>) -> Result<Self, FunctionCause> {
        let own = &start.program.executable;
        let image = start.variant.unwrap_or(own);
        let not_started = |error: std::io::Error| not_started(&error, image);
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
        let stderr_tail = match start.program.shown {
            true => StderrTail::none(),
            false => StderrTail::new(),
        };
        let errors = match start.program.shown {
            true => shown(),
            false => stderr_tail.stdio(),
        };
        let mark = next_mark();
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
        let (started, named) = match &start.path_padding {
            None => (image.to_owned(), own.to_owned()),
            Some(path_padding) => (path_padding.started(image), path_padding.named(own)),
        };
        let mut command = Command::new(started);
        command
            .arg0(named)
            .args(&start.program.arguments)
            .args(start.probe)
            .env(VARIABLE, numbers(&inherited))
            .env_remove(BATON_VARIABLE)
            .env_remove(PLACEMENTS_VARIABLE)
            .env("DEADHEAT_PADDING", "x".repeat(start.padding))
            .env(MARK_VARIABLE, &mark)
            .stdin(Stdio::null())
            .stdout(start.output.unwrap_or_else(shown))
            .stderr(errors)
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
            exit: ExitWatcher::over(Pid::from_raw(child.id() as i32)),
            child,
            requests: Some(requests),
            replies,
            trace,
            received: Vec::new(),
            searched: 0,
            hasty: false,
            stderr_tail,
            baton: start.baton.and_then(BatonPipes::of),
            mark: format!("{MARK_VARIABLE}={mark}"),
        })
    }

    /// Asks; what comes of it is to be heard.
    pub(crate) fn ask(&mut self, request: &Request) {
        // An answer given twice would be taken for that to the next question.
        self.hasty |= !self.received.is_empty() || matches!(self.read(), Ok(Some(1..)));
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
        if self.hasty {
            let said = quoted(&self.received);
            let problem = format!("it says {said} before it is asked");
            return Err(FunctionCause::Protocol(problem));
        }
        loop {
            if let Some(line) = self.line() {
                let reply = Reply::from_line(&line);
                return reply
                    .map(Some)
                    .ok_or_else(|| FunctionCause::Protocol(format!("it says {}", quoted(&line))));
            }
            if self.received.len() > LONGEST_LINE {
                let said = quoted(&self.received);
                let problem = format!("it goes on without an end of line, from {said}");
                return Err(FunctionCause::Protocol(problem));
            }
            match self.read()? {
                Some(0) => return Err(self.cause_of_death()),
                Some(_) => {}
                None if self.exit.ended().is_none() => return Ok(None),
                // Last words come before the news of the death.
                None => {
                    if !matches!(self.read()?, Some(1..)) {
                        return Err(self.cause_of_death());
                    }
                }
            }
        }
    }

    /// The first line that is here as a whole, without its end.
    fn line(&mut self) -> Option<Vec<u8>> {
        let unsearched = &self.received[self.searched..];
        let Some(end) = unsearched.iter().position(|byte| *byte == b'\n') else {
            self.searched = self.received.len();
            return None;
        };
        let mut line: Vec<u8> = self.received.drain(..=self.searched + end).collect();
        line.pop();
        self.searched = 0;
        Some(line)
    }

    /// Where it is heard that it says something or has ended, and how long one
    /// may wait before it is asked again whether it has.
    pub(crate) fn news(&self) -> (impl Iterator<Item = BorrowedFd<'_>>, Option<Duration>) {
        let ends = [Some(self.replies.as_fd()), self.exit.notice()];
        (ends.into_iter().flatten(), self.exit.pause())
    }

    /// Whether anything was noted since this was last asked.
    pub(super) fn moved_on(&mut self) -> bool {
        self.trace.moved_on()
    }

    /// The contender that was called last, as far as is known.
    pub(crate) fn last_called(&mut self) -> Option<usize> {
        self.trace.contender()
    }

    /// Whether it noted anything at all so far: it need not.
    pub(super) fn takes_notes(&self) -> bool {
        self.trace.was_used()
    }

    /// What it printed on standard error last, in one line, where nobody saw
    /// it.
    pub(crate) fn stderr_tail(&self) -> Option<String> {
        self.stderr_tail.told()
    }

    /// Gives back the memory of what it printed, and tells how soon to do that
    /// again.
    pub(crate) fn forget_most(&mut self) -> Option<Duration> {
        self.stderr_tail.forget_most()
    }

    /// Whether somebody stopped it.
    pub(super) fn is_stopped(&self) -> bool {
        is_stopped(self.pid())
    }

    /// Whether it waits for the baton; `None` when that cannot be known.
    pub(super) fn awaits_baton(&self) -> Option<bool> {
        self.baton.as_ref()?.is_awaited_by(self.pid())
    }

    /// Whether it can still take the baton and hand it over; `None` when that
    /// cannot be known.
    pub(super) fn holds_baton(&self) -> Option<bool> {
        self.baton.as_ref()?.are_held_by(self.pid())
    }

    /// Reads what is there: how many bytes, 0 at the end of the pipe; `None`
    /// when there is nothing yet.
    fn read(&mut self) -> Result<Option<usize>, FunctionCause> {
        let mut buffer = [0; 4096];
        loop {
            match self.replies.read(&mut buffer) {
                Ok(bytes) => {
                    self.received.extend_from_slice(&buffer[..bytes]);
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
        self.exit.ended_within(LEAVE);
        match self.end() {
            Some(end) => end,
            None => {
                FunctionCause::Protocol("it closed the pipe of its replies and goes on".to_owned())
            }
        }
    }

    /// How it ended, if it has.
    pub(super) fn end(&self) -> Option<FunctionCause> {
        match self.exit.ended()? {
            WaitStatus::Exited(_, code) => Some(FunctionCause::Exited(code)),
            WaitStatus::Signaled(_, signal, _) => Some(FunctionCause::Signalled(signal as i32)),
            _ => None,
        }
    }

    /// Tells the worker that it may go.
    pub(crate) fn dismiss(&mut self) {
        if let Some(mut requests) = self.requests.take() {
            let _ = requests.write_all(Request::Bye.to_line().as_bytes());
        }
    }

    /// Lets the worker go and waits until it is gone.
    pub(crate) fn leave(mut self) {
        self.dismiss();
        self.exit.ended_within(LEAVE);
        // Dropping kills what is left of it.
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }
}

/// A few words of a line that makes no sense.
fn quoted(line: &[u8]) -> String {
    let said = String::from_utf8_lossy(&line[..line.len().min(SHOWN)]);
    match (said.trim_end(), line.len() > SHOWN) {
        ("", _) => "nothing in a line".to_owned(),
        (said, false) => format!("'{said}'"),
        (said, true) => format!("'{said}'..."),
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
        end_strays(&self.mark);
    }
}
