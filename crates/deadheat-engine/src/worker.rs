//! Worker processes: the benchmark program, started again for every replicate. deadheat tells each
//! worker over a pair of pipes what to call and how often.
//!
//! A new process has a new memory layout, which is why the statistics count processes and not
//! calls. A function that panics, aborts, hangs, exits or starts a hundred threads affects only its
//! own process.
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
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;

#[cfg(feature = "commands")]
use crate::executable::GOOGLE_BENCHMARK_VARIABLES;
use crate::executable::{PLACEMENTS_VARIABLE, run_in};
use crate::function_failure::{FunctionError, not_started};
use crate::interrupt::Interrupts;
use crate::memory_layout::{PathPadding, at_fixed_addresses};
use crate::observed::PADDING_VARIABLE;
use crate::procfs::{BatonPipes, family_of, is_stopped};
use crate::subprocess::{ProcessGroup, StderrTail};
use pipes::{BATON_VARIABLE, Trace, VARIABLE, set_nonblocking};

/// The environment variable that seeds Python's string hashes, and so the order of sets.
const HASH_SEED_VARIABLE: &str = "PYTHONHASHSEED";

/// The environment variable with the seed of Node's hashes, for workers that start Node themselves.
const NODE_SEED_VARIABLE: &str = "DEADHEAT_NODE_SEED";

/// Time that a worker may take to exit after the last request, or after it has closed its pipe.
pub(crate) const LEAVE: Duration = Duration::from_secs(2);
/// The longest such time that a worker may ask for.
const LONGEST_LEAVE: Duration = Duration::from_secs(600);
/// The maximum length of a line from a worker, in bytes: enough for a list of some hundred thousand
/// benchmarks.
const LONGEST_LINE: usize = 64 << 20;
/// Bytes kept of a program's standard output: enough for the names of some hundred thousand
/// benchmarks. The rest is discarded.
const MOST_PRINTED: usize = 64 << 20;
/// The maximum number of bytes of an invalid line that a message quotes.
const SHOWN: usize = 80;

/// A running worker. Dropping this value kills the worker and its descendants.
#[derive(Debug)]
pub(crate) struct WorkerProcess {
    process: ProcessGroup,
    requests: Option<PipeWriter>,
    replies: PipeReader,
    /// The pipe of the worker's progress notes, which identify the contender that the worker calls.
    pub(crate) trace: Trace,
    /// The pipe of the worker's standard output, until it ends, and the bytes read from the pipe;
    /// nothing if the standard output is not kept.
    printed: (Option<PipeReader>, Vec<u8>),
    /// Received bytes of the next line.
    received: Vec<u8>,
    /// Number of received bytes that were already searched for the end of the line.
    searched: usize,
    /// True if the worker sent data, at any time, that no request had asked for.
    spoke_early: bool,
    pub(crate) stderr_tail: StderrTail,
    /// The pipes through which the worker takes turns with another worker, if there is one and the
    /// system reports the pipes.
    baton: Option<BatonPipes>,
    /// The time that the worker may take to exit after its last request.
    leaves_within: Duration,
    /// True after the last request, `bye`, was sent.
    is_dismissed: bool,
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
        // Never deadheat's own standard output, which is reserved for its report.
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
            // With it, Node counts the executions of every block.
            .env_remove("NODE_V8_COVERAGE")
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
            leaves_within: LEAVE,
            is_dismissed: false,
        })
    }

    /// Gives the worker this time to exit after its last request.
    pub(crate) fn may_leave_within(&mut self, time: Option<Duration>) {
        if let Some(time) = time {
            self.leaves_within = time.min(LONGEST_LEAVE);
        }
    }

    /// Sends a request. [`WorkerProcess::attend`] returns the reply.
    pub(crate) fn ask(&mut self, request: &Request) {
        // A reply that was sent twice would be taken for the reply to this request.
        self.spoke_early |= !self.received.is_empty() || matches!(self.read(), Ok(Some(1..)));
        let requests = self
            .requests
            .as_mut()
            .expect("open until the worker leaves");
        // If the worker has ended, the write fails, and `attend` reports the cause.
        let _ = requests.write_all(request.to_line().as_bytes());
    }

    /// Returns the next reply of the worker, if it has arrived; `Err` if the worker has ended or
    /// sent an invalid line.
    pub(crate) fn attend(&mut self) -> Result<Option<Reply>, FunctionError> {
        self.read_printed();
        if self.spoke_early {
            let said = quoted(&self.received);
            let problem = format!("it sends {said} before deadheat sends a request");
            return Err(FunctionError::Protocol(problem));
        }
        loop {
            if let Some(line) = self.line() {
                let reply = Reply::from_line(&line);
                return reply
                    .map(Some)
                    .ok_or_else(|| FunctionError::Protocol(format!("it sends {}", quoted(&line))));
            }
            if self.received.len() > LONGEST_LINE {
                let said = quoted(&self.received);
                let problem = format!("it sends a line without an end, which starts with {said}");
                return Err(FunctionError::Protocol(problem));
            }
            match self.read()? {
                Some(0) => return Err(self.cause_of_death()),
                Some(_) => {}
                None if self.process.ended().is_none() => return Ok(None),
                // A last reply may arrive just before the end is noticed.
                None => {
                    if !matches!(self.read()?, Some(1..)) {
                        return Err(self.cause_of_death());
                    }
                }
            }
        }
    }

    /// Removes and returns the first complete line, without its newline.
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

    /// Returns the descriptors that become readable when the worker writes or ends, and the polling
    /// interval for its end, if it must be polled.
    pub(crate) fn news(&self) -> (impl Iterator<Item = BorrowedFd<'_>>, Option<Duration>) {
        let printing = self.printed.0.as_ref().map(AsFd::as_fd);
        let ends = [Some(self.replies.as_fd()), self.process.notice(), printing];
        (ends.into_iter().flatten(), self.process.pause())
    }

    /// Returns the descriptor that becomes readable when the worker replies.
    pub(crate) fn voice(&self) -> BorrowedFd<'_> {
        self.replies.as_fd()
    }

    pub(super) fn is_stopped(&self) -> bool {
        is_stopped(self.pid())
    }

    /// Returns the process that serves requests: the one forked for the benchmark, or else the one
    /// that was started.
    pub(crate) fn pid(&self) -> Pid {
        self.process.forked().unwrap_or(self.process.pid())
    }

    /// Records the process that the worker forked for the benchmark.
    pub(crate) fn serves_in(&mut self, forked: u32) {
        // If the process cannot be identified by its ID, its parent must end it.
        self.process.set_forked(Some(Pid::from_raw(forked as i32)));
    }

    /// Records that the process forked for a benchmark has ended.
    pub(crate) fn serves_itself(&mut self) {
        self.process.set_forked(None);
    }

    /// Returns true if the worker waits for its turn; `None` if that is unknown.
    pub(super) fn awaits_baton(&self) -> Option<bool> {
        let baton = self.baton.as_ref()?;
        self.any_process(|pid| baton.is_awaited_by(pid))
    }

    /// Returns true if the worker still has both turn-taking pipes open; `None` if that is unknown.
    pub(super) fn holds_baton(&self) -> Option<bool> {
        let baton = self.baton.as_ref()?;
        self.any_process(|pid| baton.are_held_by(pid))
    }

    /// Returns true if `test` is true for the worker or for one of its descendants, because a
    /// script, for example, may have started the process that serves the requests. `None` if
    /// nothing is known of any of them.
    fn any_process(&self, test: impl Fn(Pid) -> Option<bool>) -> Option<bool> {
        let known = family_of(self.pid()).into_iter().filter_map(test);
        known.reduce(|any, one| any | one)
    }

    /// Reads available bytes and returns their number: 0 at the end of the pipe, `None` if there is
    /// nothing yet.
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

    /// Reads some of the worker's standard output, if it is kept. A closed pipe could kill the
    /// worker, and a full pipe would block it. Returns true if any bytes were read.
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

    /// Returns the standard output so far, if it is kept. Does not wait for the end of the pipe,
    /// because the worker's children may hold that open.
    #[cfg(feature = "commands")]
    pub(crate) fn printed(&mut self) -> &[u8] {
        while self.printed.1.len() < MOST_PRINTED && self.read_printed() {}
        &self.printed.1
    }

    /// Returns how the worker ended after it closed its reply pipe.
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

    /// Returns how the worker ended; `None` if it still runs.
    pub(crate) fn end(&self) -> Option<FunctionError> {
        match self.process.ended()? {
            WaitStatus::Exited(_, code) => Some(FunctionError::Exited(code)),
            WaitStatus::Signaled(_, signal, _) => Some(FunctionError::Signalled(signal as i32)),
            _ => None,
        }
    }

    /// Sends the worker its last request. A worker with a time of its own still has its pipe, whose
    /// end then tells it to hurry.
    pub(crate) fn dismiss(&mut self) {
        let is_first = !std::mem::replace(&mut self.is_dismissed, true);
        if let Some(requests) = self.requests.as_mut().filter(|_| is_first) {
            let _ = requests.write_all(Request::Bye.to_line().as_bytes());
        }
        if self.leaves_within <= LEAVE {
            self.requests = None;
        }
    }

    /// Asks the worker to exit and waits at most `time` for its end. Returns true if it has ended.
    #[cfg(feature = "commands")]
    pub(crate) fn leaves_within(&mut self, time: Duration, interrupts: &Interrupts) -> bool {
        self.dismiss();
        let end = Instant::now() + time;
        self.process.wait_until(end, interrupts).is_some()
    }

    /// Asks the worker to exit, waits for its end, and kills it if it still runs then.
    pub(crate) fn leave(mut self, interrupts: &Interrupts) {
        see_off(&mut [&mut self], None, interrupts);
    }
}

/// Asks workers to exit, and waits for their ends. Each worker has its own time, which ends at
/// `limit` if it is longer than [`LEAVE`]. Then, or if a signal asks deadheat to stop, the workers
/// with a longer time read the end of their requests, and have [`LEAVE`] to exit. The caller drops
/// the workers, which kills those that still run.
///
/// Returns true if a worker with a longer time was late.
pub(crate) fn see_off(
    workers: &mut [&mut WorkerProcess],
    limit: Option<Instant>,
    interrupts: &Interrupts,
) -> bool {
    for worker in &mut *workers {
        worker.dismiss();
    }
    let began = Instant::now();
    for worker in &*workers {
        let own = began + worker.leaves_within;
        let limit = limit.filter(|_| worker.leaves_within > LEAVE);
        let end = limit.map_or(own, |limit| limit.min(own));
        worker.process.wait_until(end, interrupts);
    }
    let is_late = |worker: &&mut &mut WorkerProcess| worker.process.ended().is_none();
    let mut late: Vec<_> = workers.iter_mut().filter(is_late).collect();
    let is_interrupted = interrupts.requested().is_some();
    late.retain_mut(|worker| worker.requests.take().is_some() || is_interrupted);
    let end = Instant::now() + LEAVE;
    for worker in &late {
        let left = end.saturating_duration_since(Instant::now());
        worker.process.ended_within(left);
    }
    late.iter().any(|worker| worker.leaves_within > LEAVE)
}

/// Sets the environment variables that seed the hashes of Python, unless the user seeds them, and
/// the hashes of Node in workers that start Node. The order of a set changes the time of a function
/// by some percent, so each replicate has another seed, which both sides share.
pub(crate) fn seed_hashes(command: &mut Command, seed: u32) {
    if std::env::var_os(HASH_SEED_VARIABLE).is_none() {
        command.env(HASH_SEED_VARIABLE, format!("{seed:010}"));
    }
    command.env(NODE_SEED_VARIABLE, node_seed(seed));
}

/// Returns the options that make Node seed its hashes and `Math.random`, and compile and collect
/// garbage on the thread of the functions. A worker has one core, on which V8's other threads would
/// interrupt the samples of every function that makes garbage. Leaves out options that the user
/// gives; empty for other programs.
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

/// Returns a seed for V8, which reads a signed number of 32 bits and takes 0 for a missing seed.
/// All seeds have ten digits, because longer arguments move the stack.
fn node_seed(seed: u32) -> String {
    (1_000_000_000 + seed % 1_000_000_000).to_string()
}

fn quoted(line: &[u8]) -> String {
    let said = String::from_utf8_lossy(&line[..line.len().min(SHOWN)]);
    match (said.trim_end(), line.len() > SHOWN) {
        ("", _) => "nothing in a line".to_owned(),
        (said, false) => format!("'{said}'"),
        (said, true) => format!("'{said}'..."),
    }
}

/// The program that workers run, with its arguments and its working directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerProgram {
    /// The executable of the program, whose `main` must call [`super::serve`].
    pub executable: PathBuf,
    /// The arguments of the program.
    pub arguments: Vec<OsString>,
    /// The working directory of the program; deadheat's if `None`.
    pub directory: Option<PathBuf>,
    /// True if what the functions print is shown on standard error.
    pub shown: bool,
}

impl WorkerProgram {
    /// Returns a program that runs `tool` with `arguments`, followed by the command line of this
    /// program.
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

pub(crate) struct WorkerStart<'a> {
    pub(crate) program: &'a WorkerProgram,
    /// The neutral link that is started instead of the executable, under the same name.
    pub(crate) variant: Option<&'a Path>,
    /// The padding of the program's path, if the program races against another program.
    pub(crate) path_padding: Option<PathPadding>,
    /// Bytes of padding in the environment.
    pub(crate) padding: usize,
    /// The seed of hashes in Python and Node, drawn for each replicate.
    pub(crate) hash_seed: Option<u32>,
    pub(crate) fixed_addresses: bool,
    /// The worker's ends of the pipes through which it takes turns with another worker.
    pub(crate) baton: Option<&'a Baton>,
    /// An additional argument that makes the program reveal its harness. The standard output is
    /// kept then.
    pub(crate) probe: Option<&'a str>,
    /// The signal mask of the worker: the mask that deadheat was started with, not the one that
    /// deadheat uses itself.
    pub(crate) mask: &'a SigSet,
}

/// Descriptors that child processes inherit while this value lives.
pub(super) struct Kept(Vec<RawFd>);

impl Kept {
    /// Makes the descriptors inheritable. Only the worker that uses them may be started before this
    /// value is dropped.
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

impl Drop for WorkerProcess {
    /// Lets a worker that starts programs of its own end them; the end of its requests tells it to.
    /// Then kills these programs before the worker, because those without deadheat's mark in their
    /// environment cannot be found later.
    fn drop(&mut self) {
        if self.leaves_within <= LEAVE {
            return;
        }
        if self.requests.take().is_some() {
            self.process.ended_within(LEAVE);
        }
        if self.process.ended().is_some() {
            return;
        }
        let started = family_of(self.process.pid()).split_off(1);
        for pid in &started {
            let _ = kill(*pid, Signal::SIGKILL);
        }
        if !started.is_empty() {
            self.process.ended_within(LEAVE);
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = self.set(libc::FD_CLOEXEC);
    }
}
