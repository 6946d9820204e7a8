//! Worker processes: the same program started anew for every replicate, told
//! over a pair of pipes what to call and how often.
//!
//! A fresh process draws its memory layout anew, which is why it and not the
//! call is what the statistics count. What a function does to its process
//! (panic, abort, hang, exit, a hundred threads) costs that process and
//! nothing else.
#![allow(unsafe_code)]

mod await_replies;
mod pipes;
mod protocol;
mod serve;

pub(crate) use await_replies::{ReplyLimits, WaitError, await_all};
pub use pipes::WorkerPipes;
pub(crate) use pipes::{Baton, Relay};
#[doc(hidden)]
pub use protocol::message_survives;
pub(crate) use protocol::{BlockRequest, PROTOCOL, PrepareRequest, Problem, Reply, Request, SEEDS};
#[cfg(feature = "commands")]
pub use protocol::{HarnessListing, Inspected};
pub use protocol::{ListedBenchmark, Source, WorkerListing};
pub use serve::{FirstRequest, ListRequest, WantedBenchmark, WorkerSuite, serve};

use std::ffi::OsString;
use std::io::{ErrorKind, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::SigSet;
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;

#[cfg(feature = "commands")]
use crate::executable::GOOGLE_BENCHMARK_VARIABLES;
use crate::executable::{PLACEMENTS_VARIABLE, run_in};
use crate::function_failure::{FunctionError, not_started};
use crate::memory_layout::{PathPadding, at_fixed_addresses};
use crate::observed::PADDING_VARIABLE;
use crate::procfs::{BatonPipes, is_stopped};
use crate::subprocess::{ProcessGroup, StderrTail};
use pipes::{BATON_VARIABLE, Trace, VARIABLE, set_nonblocking};

/// The variable by which Python seeds the hashes of texts, and so the order of sets.
const HASH_SEED_VARIABLE: &str = "PYTHONHASHSEED";

/// The variable with the seed for workers that start Node themselves.
const NODE_SEED_VARIABLE: &str = "DEADHEAT_NODE_SEED";

/// Time that a worker that was told to leave may take, and one that closed its
/// pipe until it is gone.
const LEAVE: Duration = Duration::from_secs(2);
/// The maximum length of a line from a worker, in bytes: a list of some hundred thousand benchmarks.
const LONGEST_LINE: usize = 64 << 20;
/// Bytes kept of what a program prints: the names of some hundred thousand
/// benchmarks. The rest is read and forgotten.
const MOST_PRINTED: usize = 64 << 20;
/// Bytes shown of a line that makes no sense.
const SHOWN: usize = 80;

/// A running worker; killed, with all it started, when dropped.
#[derive(Debug)]
pub(crate) struct WorkerProcess {
    process: ProcessGroup,
    requests: Option<PipeWriter>,
    replies: PipeReader,
    /// Its notes of which contender it called.
    pub(crate) trace: Trace,
    /// Its standard output, until that ends, and what was read of it, where that
    /// is kept.
    printed: (Option<PipeReader>, Vec<u8>),
    /// Bytes of the next line that are here already.
    received: Vec<u8>,
    /// So many of them are no end of the line.
    searched: usize,
    /// True if it said something before it was asked the last question.
    spoke_early: bool,
    /// The end of its standard error, where that is not shown.
    pub(crate) stderr_tail: StderrTail,
    /// Its ends of the pipes to another, where the system tells of them.
    baton: Option<BatonPipes>,
}

impl WorkerProcess {
    /// Starts a worker on the cores of the calling thread.
    pub(crate) fn start(start: WorkerStart<'_>) -> Result<Self, FunctionError> {
        let own = &start.program.executable;
        let image = start.variant.unwrap_or(own);
        let not_started = |error: std::io::Error| not_started(&error, image);
        let (requests_end, requests) = pipe().map_err(not_started)?;
        let (replies, replies_end) = pipe().map_err(not_started)?;
        set_nonblocking(&replies).map_err(not_started)?;
        let (notes, notes_end) = pipe().map_err(not_started)?;
        let trace = Trace::new(notes).map_err(not_started)?;
        let shown = start.program.shown;
        let stderr_tail = if shown {
            StderrTail::default()
        } else {
            StderrTail::new()
        };
        // Never deadheat's own standard output, which holds the answer.
        let stderr = || match std::io::stderr().as_fd().try_clone_to_owned() {
            Ok(copy) if shown => Stdio::from(copy),
            _ => Stdio::null(),
        };
        let errors = if shown { stderr() } else { stderr_tail.stdio() };
        let numbers = |fds: &[RawFd]| {
            fds.iter()
                .map(RawFd::to_string)
                .collect::<Vec<_>>()
                .join(",")
        };
        let (printed, output) = match start.probe {
            None => (None, None),
            Some(_) => {
                let (printed, output) = pipe().map_err(not_started)?;
                set_nonblocking(&printed).map_err(not_started)?;
                (Some(printed), Some(Stdio::from(output)))
            }
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
        command.arg0(named);
        if let Some(seed) = start.hash_seed {
            seed_hashes(&mut command, seed);
            command.args(options_of_node(start.program, seed));
        }
        command
            .args(&start.program.arguments)
            .args(start.probe)
            .env(VARIABLE, numbers(&inherited))
            .env_remove(BATON_VARIABLE)
            .env_remove(PLACEMENTS_VARIABLE)
            .env(PADDING_VARIABLE, "x".repeat(start.padding))
            .stdin(Stdio::null())
            .stdout(output.unwrap_or_else(stderr))
            .stderr(errors);
        #[cfg(feature = "commands")]
        if start.probe.is_some() {
            for variable in GOOGLE_BENCHMARK_VARIABLES {
                command.env_remove(variable);
            }
        }
        if let Some(directory) = &start.program.directory {
            run_in(&mut command, directory);
        }
        if let Some(baton) = start.baton {
            let ends = [baton.incoming.as_raw_fd(), baton.outgoing.as_raw_fd()];
            command.env(BATON_VARIABLE, numbers(&ends));
            inherited.extend(ends);
        }
        let kept = Kept::open(inherited).map_err(not_started)?;
        let process = at_fixed_addresses(start.fixed_addresses, || {
            ProcessGroup::start(&mut command, start.mask)
        });
        drop(kept);
        Ok(Self {
            process: process.map_err(not_started)?,
            requests: Some(requests),
            replies,
            trace,
            printed: (printed, Vec::new()),
            received: Vec::new(),
            searched: 0,
            spoke_early: false,
            stderr_tail,
            baton: start
                .baton
                .and_then(|baton| BatonPipes::of(&baton.incoming, &baton.outgoing)),
        })
    }

    /// Asks; the answer comes by [`WorkerProcess::attend`].
    pub(crate) fn ask(&mut self, request: &Request) {
        // An answer given twice would be taken for that to the next question.
        self.spoke_early |= !self.received.is_empty() || matches!(self.read(), Ok(Some(1..)));
        let requests = self
            .requests
            .as_mut()
            .expect("open until the worker leaves");
        // A worker that is gone closes both pipes; attending to it tells why.
        let _ = requests.write_all(request.to_line().as_bytes());
    }

    /// The next line of the worker, if it is there. `Err` says why there will
    /// be none, or none that makes sense.
    pub(crate) fn attend(&mut self) -> Result<Option<Reply>, FunctionError> {
        self.read_printed();
        if self.spoke_early {
            let said = quoted(&self.received);
            let problem = format!("it says {said} before it is asked");
            return Err(FunctionError::Protocol(problem));
        }
        loop {
            if let Some(line) = self.line() {
                let reply = Reply::from_line(&line);
                return reply
                    .map(Some)
                    .ok_or_else(|| FunctionError::Protocol(format!("it says {}", quoted(&line))));
            }
            if self.received.len() > LONGEST_LINE {
                let said = quoted(&self.received);
                let problem = format!("its line has no end; it starts with {said}");
                return Err(FunctionError::Protocol(problem));
            }
            match self.read()? {
                Some(0) => return Err(self.cause_of_death()),
                Some(_) => {}
                None if self.process.ended().is_none() => return Ok(None),
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

    /// The descriptors that are readable once it says something or has ended, and
    /// how long one may wait before it is asked again whether it has.
    pub(crate) fn news(&self) -> (impl Iterator<Item = BorrowedFd<'_>>, Option<Duration>) {
        let printing = self.printed.0.as_ref().map(AsFd::as_fd);
        let ends = [Some(self.replies.as_fd()), self.process.notice(), printing];
        (ends.into_iter().flatten(), self.process.pause())
    }

    /// The descriptor that is readable once it says something.
    pub(crate) fn voice(&self) -> BorrowedFd<'_> {
        self.replies.as_fd()
    }

    /// Returns whether somebody stopped it.
    pub(super) fn is_stopped(&self) -> bool {
        is_stopped(self.pid())
    }

    /// The process that serves: that which was started, or the one it has forked.
    pub(crate) fn pid(&self) -> Pid {
        self.process.forked().unwrap_or(self.process.pid())
    }

    /// Learns which process was forked for the benchmark.
    pub(crate) fn serves_in(&mut self, forked: u32) {
        // Where it cannot be told from any other of this number, it is left to its parent.
        self.process.set_forked(Some(Pid::from_raw(forked as i32)));
    }

    /// Learns that the process forked for a benchmark is gone.
    pub(crate) fn serves_itself(&mut self) {
        self.process.set_forked(None);
    }

    /// Returns whether it waits for the baton; `None` when that cannot be known.
    pub(super) fn awaits_baton(&self) -> Option<bool> {
        self.baton.as_ref()?.is_awaited_by(self.pid())
    }

    /// Returns whether it can still take the baton and hand it over; `None` when that
    /// cannot be known.
    pub(super) fn holds_baton(&self) -> Option<bool> {
        self.baton.as_ref()?.are_held_by(self.pid())
    }

    /// Reads what is there: how many bytes, 0 at the end of the pipe; `None`
    /// when there is nothing yet.
    fn read(&mut self) -> Result<Option<usize>, FunctionError> {
        let mut buffer = [0; 4096];
        loop {
            match self.replies.read(&mut buffer) {
                Ok(bytes) => {
                    self.received.extend_from_slice(&buffer[..bytes]);
                    return Ok(Some(bytes));
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(FunctionError::Protocol(error.to_string())),
            }
        }
    }

    /// Reads some of what it prints, where that is kept: with the pipe closed it
    /// could die of it, and with the pipe full it would wait. Returns whether there
    /// was anything.
    fn read_printed(&mut self) -> bool {
        let mut buffer = [0; 4096];
        let (pipe, printed) = &mut self.printed;
        match pipe.as_mut().map(|pipe| pipe.read(&mut buffer)) {
            Some(Ok(bytes @ 1..)) => {
                if printed.len() < MOST_PRINTED {
                    printed.extend_from_slice(&buffer[..bytes]);
                }
                true
            }
            Some(Err(error)) if error.kind() == ErrorKind::WouldBlock => false,
            _ => {
                *pipe = None;
                false
            }
        }
    }

    /// All it has printed so far, where that is kept. What it started may hold
    /// the pipe open for as long as it lives.
    #[cfg(feature = "commands")]
    pub(crate) fn printed(&mut self) -> &[u8] {
        while self.printed.1.len() < MOST_PRINTED && self.read_printed() {}
        &self.printed.1
    }

    /// The end of a worker that was not asked to leave.
    fn cause_of_death(&mut self) -> FunctionError {
        // The pipe is closed a moment before the process is gone.
        self.process.ended_within(LEAVE);
        match self.end() {
            Some(end) => end,
            None => {
                FunctionError::Protocol("it closed its reply pipe and keeps running".to_owned())
            }
        }
    }

    /// Its end, if it has ended.
    pub(crate) fn end(&self) -> Option<FunctionError> {
        match self.process.ended()? {
            WaitStatus::Exited(_, code) => Some(FunctionError::Exited(code)),
            WaitStatus::Signaled(_, signal, _) => Some(FunctionError::Signalled(signal as i32)),
            _ => None,
        }
    }

    /// Tells the worker that it may go.
    pub(crate) fn dismiss(&mut self) {
        if let Some(mut requests) = self.requests.take() {
            let _ = requests.write_all(Request::Bye.to_line().as_bytes());
        }
    }

    /// Lets the worker go and waits until it is gone, for so long at most; returns whether it is.
    #[cfg(feature = "commands")]
    pub(crate) fn leaves_within(&mut self, time: Duration) -> bool {
        self.dismiss();
        self.process.ended_within(time).is_some()
    }

    /// Lets the worker go and waits until it is gone.
    pub(crate) fn leave(mut self) {
        self.dismiss();
        self.process.ended_within(LEAVE);
        // Dropping kills what is left of it.
    }
}

/// Seeds the hashes of Python, where the user does not. The order of a set moves a function by some
/// percent: each replicate has another, and both sides of it the same.
pub(crate) fn seed_hashes(command: &mut Command, seed: u32) {
    if std::env::var_os(HASH_SEED_VARIABLE).is_none() {
        command.env(HASH_SEED_VARIABLE, format!("{seed:010}"));
    }
    command.env(NODE_SEED_VARIABLE, node_seed(seed));
}

/// The options by which Node seeds its hashes and `Math.random`, and compiles and collects garbage on
/// the thread of the functions: a worker has one core, on which V8's other threads would interrupt
/// the samples of every function that makes garbage. Leaves out options that the user gives; empty for
/// other programs.
fn options_of_node(program: &WorkerProgram, seed: u32) -> Vec<String> {
    let name = program.executable.file_name().unwrap_or_default();
    if name != "node" && name != "nodejs" {
        return Vec::new();
    }
    let seed = node_seed(seed);
    let options = [
        ("hash-seed", format!("--hash-seed={seed}")),
        ("random-seed", format!("--random-seed={seed}")),
        ("single-threaded", "--single-threaded".to_owned()),
    ];
    let is_given = |name: &str| {
        let mut words = program.arguments.iter().map(|word| word.to_string_lossy());
        words.any(|word| {
            let word = word.trim_start_matches("--").replace('_', "-");
            let option = word.split('=').next().unwrap_or_default();
            option.trim_start_matches("no-") == name
        })
    };
    let own = options.into_iter().filter(|(name, _)| !is_given(name));
    own.map(|(_, option)| option).collect()
}

/// V8 reads a signed number of 32 bits, and takes 0 for no seed. All have ten digits, because
/// longer arguments move the stack.
fn node_seed(seed: u32) -> String {
    (1_000_000_000 + seed % 1_000_000_000).to_string()
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

/// The program that workers run, and what they are told apart from their
/// pipes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerProgram {
    /// The executable; its `main` must come to [`super::serve`].
    pub executable: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The folder in which it runs; that of deadheat when `None`.
    pub directory: Option<PathBuf>,
    /// True if what the functions print is shown on standard error.
    pub shown: bool,
}

impl WorkerProgram {
    /// The program as `tool` starts it: these arguments come before its own words.
    pub fn under(&self, tool: &Path, mut arguments: Vec<OsString>) -> Self {
        arguments.push(self.executable.clone().into());
        arguments.extend(self.arguments.iter().cloned());
        Self {
            executable: tool.to_owned(),
            arguments,
            ..self.clone()
        }
    }
}

/// The start of one worker.
pub(crate) struct WorkerStart<'a> {
    pub(crate) program: &'a WorkerProgram,
    /// A neutral link of it, started instead under the same name.
    pub(crate) variant: Option<&'a Path>,
    /// The padding of its path, where another program runs beside it.
    pub(crate) path_padding: Option<PathPadding>,
    /// Bytes of padding in the environment.
    pub(crate) padding: usize,
    /// Seeds the hashes of Python, where the user does not; drawn for a replicate.
    pub(crate) hash_seed: Option<u32>,
    /// True if it is loaded where others of the replicate are, too.
    pub(crate) fixed_addresses: bool,
    /// Its ends of the pipes to another worker that it takes turns with.
    pub(crate) baton: Option<&'a Baton>,
    /// An argument beside its own, by which it is found out what it is: then
    /// what it prints is kept.
    pub(crate) probe: Option<&'a str>,
    /// The signals that are held back from it: those that were held back from
    /// deadheat when it was started, and not those it holds back itself.
    pub(crate) mask: &'a SigSet,
}

/// Descriptors that the next process started inherits, and none after it.
pub(super) struct Kept(Vec<RawFd>);

impl Kept {
    /// Nothing else is started while this lives.
    pub(super) fn open(fds: Vec<RawFd>) -> std::io::Result<Self> {
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
