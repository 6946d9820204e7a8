//! Processes that deadheat starts and supervises itself. Each leads a process group, and is killed
//! with its descendants on a time-out, on an interrupt or when deadheat dies.
#![allow(unsafe_code)]

#[cfg(feature = "commands")]
mod gate;
mod group;
mod stack_trace;
mod stderr_tail;

#[cfg(feature = "commands")]
use gate::start_together;
pub(crate) use group::ProcessGroup;
#[cfg(feature = "commands")]
pub(crate) use group::{adopt_orphans, end_strays};
pub(crate) use stack_trace::without_stack_traces;
pub(crate) use stderr_tail::StderrTail;
#[cfg(feature = "commands")]
pub(crate) use stderr_tail::in_one_line;

use std::fmt;
use std::io::{ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::time::TimeSpec;
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;

use crate::interrupt::{Interrupted, Interrupts, signal_name};
use crate::observed::Watch;
use crate::procfs::{LONGEST_STOP, stopped_by};

/// The maximum output of a process in bytes; a process that writes more is killed.
const MOST_OUTPUT: usize = 4 << 20;
/// The number of bytes of the standard error that are kept: the last ones.
const MOST_ERRORS: usize = 32 << 10;

/// The output of a process, and how it ended.
#[derive(Debug)]
pub struct Captured {
    /// The standard output of the process, or the bytes that the process wrote into a pipe for its
    /// results.
    pub output: Vec<u8>,
    /// The end of the standard error of the process, in one line.
    pub stderr_tail: String,
    /// The way in which the process failed; `None` if it succeeded.
    pub ending: Option<Ending>,
}

/// The way in which a process failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The process could not be started, for this reason.
    NotStarted(String),
    /// The process wrote nothing for this long and was killed.
    Silent(Duration),
    /// The process wrote too much output and was killed.
    Endless,
    /// The process ended with this exit code.
    Exited(i32),
    /// This signal killed the process.
    Signalled(i32),
    /// This signal stopped the process; nothing continued it, and it was killed.
    Stopped(i32),
    /// The process ended with another status, described in words.
    Odd(String),
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::NotStarted(reason) => write!(f, "cannot be started: {reason}"),
            Ending::Silent(patience) => {
                write!(f, "printed nothing for {patience:?} and was killed")
            }
            Ending::Endless => f.write_str("printed without end and was killed"),
            Ending::Exited(code) => write!(f, "exited with code {code}"),
            Ending::Signalled(signal) => {
                write!(f, "was killed by signal {signal}{}", signal_name(*signal))
            }
            Ending::Stopped(signal) => write!(
                f,
                "was stopped by signal {signal}{}, did not continue, and was killed",
                signal_name(*signal)
            ),
            Ending::Odd(status) => write!(f, "ended unexpectedly ({status})"),
        }
    }
}

impl Captured {
    /// Returns the failure in words with the end of the standard error; `None` if the process
    /// succeeded.
    pub fn problem(&self) -> Option<String> {
        let ended = self.ending.as_ref()?;
        Some(match &*self.stderr_tail {
            "" => ended.to_string(),
            stderr_tail => format!("{ended}: {stderr_tail}"),
        })
    }
}

pub(crate) enum Answer {
    /// The standard output of the process, which deadheat reads.
    Printed,
    /// A pipe whose other end the process inherits. The standard output of the process is
    /// discarded, or shown on deadheat's standard error if `shown`.
    #[cfg(feature = "commands")]
    Piped {
        here: PipeReader,
        there: PipeWriter,
        shown: bool,
    },
    /// The standard output of the process, which goes into a file that is not read here.
    #[cfg(feature = "commands")]
    Filed(Stdio),
}

/// Runs a process on `cores`, even if deadheat is pinned to one core, and reads its output. Kills
/// it after `patience` without output; `None` means no limit. The process and its descendants are
/// gone when this returns.
pub(crate) fn run_captured(
    command: Command,
    answer: Answer,
    cores: Option<&CpuSet>,
    patience: Option<Duration>,
    interrupts: &Interrupts,
) -> Result<Captured, Interrupted> {
    let job = Job {
        command,
        input: Stdio::null(),
        answer,
        watch: None,
    };
    run(job, cores, patience, interrupts)
}

pub(crate) struct Job<'w> {
    pub(crate) command: Command,
    pub(crate) input: Stdio,
    pub(crate) answer: Answer,
    pub(crate) watch: Option<&'w mut Watch>,
}

pub(crate) fn run(
    job: Job<'_>,
    cores: Option<&CpuSet>,
    patience: Option<Duration>,
    interrupts: &Interrupts,
) -> Result<Captured, Interrupted> {
    let (mut command, mut running) = prepare(job);
    running.begin(start(&mut command, cores, interrupts));
    listen(std::slice::from_mut(&mut running), patience, interrupts)?;
    Ok(running.captured())
}

/// Starts these jobs at the same moment, on the cores of this thread, and waits for their ends.
/// Returns `None` for jobs that were killed because another job failed.
#[cfg(feature = "commands")]
pub(crate) fn run_together(
    mut jobs: Vec<Job<'_>>,
    patience: Option<Duration>,
    interrupts: &Interrupts,
) -> Result<Vec<Option<Captured>>, Interrupted> {
    if jobs.len() == 1 {
        let captured = run(jobs.remove(0), None, patience, interrupts)?;
        return Ok(vec![Some(captured)]);
    }
    let (mut commands, mut all): (Vec<_>, Vec<_>) = jobs.into_iter().map(prepare).unzip();
    commands.iter_mut().for_each(end_with_deadheat);
    commands.iter_mut().for_each(leave_terminal);
    start_together(&mut commands, interrupts.original_mask(), |started| {
        for (one, process) in all.iter_mut().zip(started) {
            one.begin(process);
        }
        listen(&mut all, patience, interrupts)?;
        let captured = |one: Running<'_>| one.ended.is_some().then(|| one.captured());
        Ok(all.into_iter().map(captured).collect())
    })
}

/// Connects the command of a job to pipes. Returns the command and the other ends of the pipes.
fn prepare(job: Job<'_>) -> (Command, Running<'_>) {
    type Streams = (Option<PipeReader>, Option<PipeWriter>, bool, Option<Stdio>);
    let (answers, there, shown, file): Streams = match job.answer {
        Answer::Printed => (None, None, false, None),
        #[cfg(feature = "commands")]
        Answer::Filed(file) => (None, None, false, Some(file)),
        #[cfg(feature = "commands")]
        Answer::Piped { here, there, shown } => (Some(here), Some(there), shown, None),
    };
    let printed = match (&answers, shown) {
        (None, _) => Stdio::piped(),
        (Some(_), false) => Stdio::null(),
        // Never deadheat's own standard output, which is reserved for its report.
        (Some(_), true) => std::io::stderr()
            .as_fd()
            .try_clone_to_owned()
            .map_or_else(|_| Stdio::null(), Stdio::from),
    };
    let mut command = job.command;
    command
        .stdin(job.input)
        .stdout(file.unwrap_or(printed))
        .stderr(Stdio::piped());
    if let Some(there) = &there {
        inherit(&mut command, there.as_raw_fd());
    }
    let running = Running {
        process: None,
        ended: None,
        since: Instant::now(),
        stopped_since: None,
        watch: job.watch,
        answers,
        there,
        shown,
        output: Vec::new(),
        errors: Vec::new(),
    };
    (command, running)
}

/// Makes the kernel kill a process when deadheat dies, even by SIGKILL. Without this an executable
/// that hung kept running forever.
fn end_with_deadheat(command: &mut Command) {
    let deadheat = std::process::id();
    // SAFETY: between fork and exec only system calls on integers are made.
    #[cfg(target_os = "linux")]
    unsafe {
        command.pre_exec(move || {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            if libc::getppid() as u32 == deadheat {
                return Ok(());
            }
            // deadheat died before the signal was requested.
            Err(ErrorKind::BrokenPipe.into())
        });
    }
}

/// Makes a process give up its terminal. The kernel stops a background group that uses its
/// terminal, and nothing would continue it.
fn leave_terminal(command: &mut Command) {
    // SAFETY: between fork and exec only system calls on integers and a constant are made.
    #[cfg(target_os = "linux")]
    unsafe {
        command.pre_exec(|| {
            let flags = libc::O_RDWR | libc::O_CLOEXEC | libc::O_NOCTTY;
            let terminal = libc::open(c"/dev/tty".as_ptr(), flags);
            if terminal >= 0 {
                libc::ioctl(terminal, libc::TIOCNOTTY);
                libc::close(terminal);
            }
            Ok(())
        });
    }
}

/// Makes only this process inherit a descriptor, not other processes that are started meanwhile.
fn inherit(command: &mut Command, descriptor: RawFd) {
    // SAFETY: between fork and exec only system calls on integers are made.
    unsafe {
        command.pre_exec(move || match libc::fcntl(descriptor, libc::F_SETFD, 0) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
}

/// Starts a command on `cores`, or on the cores of this thread if `cores` is `None`.
fn start(
    command: &mut Command,
    cores: Option<&CpuSet>,
    interrupts: &Interrupts,
) -> std::io::Result<ProcessGroup> {
    let this = Pid::from_raw(0);
    let here = cores.and_then(|cores| {
        let here = sched_getaffinity(this).ok()?;
        sched_setaffinity(this, cores).ok().map(|()| here)
    });
    end_with_deadheat(command);
    leave_terminal(command);
    let process = ProcessGroup::start(command, interrupts.original_mask());
    if let Some(here) = here {
        let _ = sched_setaffinity(this, &here);
    }
    process
}

struct Running<'w> {
    process: Option<ProcessGroup>,
    /// `None` while the process runs. Then the way in which it failed, or `Some(None)` if it
    /// succeeded.
    ended: Option<Option<Ending>>,
    /// The time of the last output of the process.
    since: Instant,
    /// The time since which the process has been stopped; `None` if it is not stopped.
    stopped_since: Option<Instant>,
    watch: Option<&'w mut Watch>,
    /// The reading end of the pipe for the results of the process; `None` once the pipe has ended.
    answers: Option<PipeReader>,
    /// The writing end of the pipe for the results, until the process has inherited it.
    there: Option<PipeWriter>,
    shown: bool,
    output: Vec<u8>,
    errors: Vec<u8>,
}

/// Reads the output of all processes until all have ended or one has failed.
fn listen(
    all: &mut [Running<'_>],
    patience: Option<Duration>,
    interrupts: &Interrupts,
) -> Result<(), Interrupted> {
    loop {
        if interrupts.requested().is_some() {
            return Err(Interrupted);
        }
        let mut pause = None;
        for one in all.iter_mut().filter(|one| one.ended.is_none()) {
            let left = patience.map(|patience| patience.saturating_sub(one.since.elapsed()));
            if let (Some(patience), Some(Duration::ZERO)) = (patience, left) {
                one.ended = Some(Some(Ending::Silent(patience)));
            }
            let look = one.watch.as_ref().map(|watch| watch.pause());
            let asked = one.process.as_ref().and_then(ProcessGroup::pause);
            let stopped = one.stopped_since;
            let stopped = stopped.map(|since| LONGEST_STOP.saturating_sub(since.elapsed()));
            pause = [pause, left, look, asked, stopped]
                .into_iter()
                .flatten()
                .min();
        }
        let has_failed = |one: &Running<'_>| matches!(one.ended, Some(Some(_)));
        if all.iter().any(has_failed) || all.iter().all(|one| one.ended.is_some()) {
            return Ok(());
        }
        let ready = wait(all, pause, interrupts);
        let living = all.iter_mut().zip(ready);
        for (one, ready) in living.filter(|(one, _)| one.ended.is_none()) {
            one.proceed(ready, interrupts);
        }
    }
}

/// Waits until a process writes something or ends. Returns for each process two flags: true if its
/// results can be read, and true if its standard error can be read.
fn wait(all: &[Running<'_>], pause: Option<Duration>, interrupts: &Interrupts) -> Vec<[bool; 2]> {
    let watch = |fd| PollFd::new(fd, PollFlags::POLLIN);
    let mut fds = Vec::with_capacity(3 * all.len());
    for one in all {
        fds.extend(one.pipes().into_iter().flatten().map(watch));
    }
    let living = all.iter().filter(|one| one.ended.is_none());
    let notices = living.filter_map(|one| one.process.as_ref()?.notice());
    fds.extend(notices.map(watch));
    // The next round handles interrupts and early wake-ups.
    let mask = Some(*interrupts.original_mask());
    let _ = ppoll(&mut fds, pause.map(TimeSpec::from_duration), mask);
    let mut ready = fds.iter().map(|fd| fd.any() == Some(true));
    let ready = |one: &Running<'_>| {
        let pipes = one.pipes();
        pipes.map(|pipe| pipe.is_some() && ready.next() == Some(true))
    };
    all.iter().map(ready).collect()
}

impl Running<'_> {
    fn begin(&mut self, process: std::io::Result<ProcessGroup>) {
        // Without a writing end in this process, the pipe ends with the process.
        self.there = None;
        self.since = Instant::now();
        let mut process = match process {
            Ok(process) => process,
            Err(error) => {
                self.ended = Some(Some(Ending::NotStarted(error.to_string())));
                return;
            }
        };
        if let Some(watch) = &mut self.watch {
            watch.begin(process.pid());
        }
        let printed = process.child.stdout.take().map(OwnedFd::from);
        self.answers = self.answers.take().or(printed.map(PipeReader::from));
        self.process = Some(process);
    }

    /// Returns the pipes for the results and the standard error of the process, if they may still
    /// have data.
    fn pipes(&self) -> [Option<BorrowedFd<'_>>; 2] {
        let Some(process) = self.process.as_ref().filter(|_| self.ended.is_none()) else {
            return [None, None];
        };
        [
            self.answers.as_ref().map(|pipe| pipe.as_fd()),
            process.child.stderr.as_ref().map(|pipe| pipe.as_fd()),
        ]
    }

    /// Reads the available output, or else checks if the process has ended or is stopped.
    fn proceed(&mut self, ready: [bool; 2], interrupts: &Interrupts) {
        let before = self.output.len();
        let has_spoken = self.read(ready);
        if let Some(watch) = &mut self.watch {
            watch.look(has_spoken);
        }
        if has_spoken {
            if self.output.len() > MOST_OUTPUT {
                self.ended = Some(Some(Ending::Endless));
            }
            if self.output.len() > before {
                self.since = Instant::now();
            }
        } else if let Some(process) = &self.process
            && let Some(status) = process.ended()
        {
            if let Some(watch) = &mut self.watch {
                watch.end();
            }
            // Its descendants may hold its pipes open and keep running.
            process.kill();
            let at_once = Some(Duration::ZERO);
            while self.output.len() <= MOST_OUTPUT {
                let ready = wait(std::slice::from_ref(self), at_once, interrupts)[0];
                if !self.read(ready) {
                    break;
                }
            }
            self.ended = Some(match status {
                WaitStatus::Exited(_, 0) => None,
                WaitStatus::Exited(_, code) => Some(Ending::Exited(code)),
                WaitStatus::Signaled(_, signal, _) => Some(Ending::Signalled(signal as i32)),
                other => Some(Ending::Odd(format!("{other:?}"))),
            });
        } else {
            self.look_for_stop();
        }
    }

    /// Marks a process as failed if it has been stopped for too long.
    fn look_for_stop(&mut self) {
        let process = self.process.as_ref();
        let Some(signal) = process.and_then(|process| stopped_by(process.pid())) else {
            self.stopped_since = None;
            return;
        };
        let since = *self.stopped_since.get_or_insert_with(Instant::now);
        if since.elapsed() >= LONGEST_STOP {
            self.ended = Some(Some(Ending::Stopped(signal)));
        }
    }

    /// Reads from the pipes that are ready. Returns true if any bytes were read.
    fn read(&mut self, [out, err]: [bool; 2]) -> bool {
        let mut any = false;
        if out {
            any |= receive(&mut self.answers.as_mut(), &mut self.output);
            if !any {
                self.answers = None;
            }
        }
        if let (true, Some(process)) = (err, &mut self.process) {
            let before = self.errors.len();
            let more = receive(&mut process.child.stderr.as_mut(), &mut self.errors);
            if !more {
                process.child.stderr = None;
            }
            if self.shown {
                // If the user closed deadheat's standard error, the text is dropped.
                let _ = std::io::stderr().write_all(&self.errors[before..]);
            }
            let older = self.errors.len().saturating_sub(MOST_ERRORS);
            self.errors.drain(..older);
            any |= more;
        }
        any
    }

    /// Returns the output of a process that has ended. The process and its descendants are gone
    /// when this returns.
    fn captured(self) -> Captured {
        let stderr_tail = String::from_utf8_lossy(&self.errors);
        let lines = without_stack_traces(&stderr_tail)
            .into_iter()
            .map(str::trim);
        Captured {
            stderr_tail: lines.collect::<Vec<_>>().join(" | "),
            output: self.output,
            ending: self.ended.flatten(),
        }
    }
}

/// Reads once. Returns false at the end of the pipe and on an error.
fn receive(pipe: &mut Option<&mut impl Read>, into: &mut Vec<u8>) -> bool {
    let mut buffer = [0; 4096];
    match pipe.as_mut().map(|pipe| pipe.read(&mut buffer)) {
        Some(Ok(bytes)) => {
            into.extend_from_slice(&buffer[..bytes]);
            bytes > 0
        }
        Some(Err(error)) => error.kind() == ErrorKind::Interrupted,
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(text: &str, patience: Duration) -> Captured {
        let interrupts = Interrupts::install().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", text]);
        run_captured(command, Answer::Printed, None, Some(patience), &interrupts).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn all_that_is_said_is_heard() {
        let captured = script("seq 1 20000; echo last", LONG);
        assert_eq!(captured.problem(), None);
        let text = String::from_utf8(captured.output).unwrap();
        assert_eq!(text.lines().count(), 20_001);
        assert!(text.ends_with("20000\nlast\n"));
    }

    #[test]
    fn a_failure_comes_with_its_last_words() {
        let captured = script("echo out; echo 'disk full' >&2; exit 3", LONG);
        assert_eq!(captured.output, b"out\n");
        assert_eq!(captured.problem().unwrap(), "exited with code 3: disk full");
        let killed = script("kill -9 $$", LONG).problem().unwrap();
        assert!(killed.contains("signal 9 (SIGKILL)"), "{killed}");
    }

    #[test]
    fn one_that_hangs_is_killed_and_one_that_never_ends_too() {
        let captured = script("echo here; sleep 1000", Duration::from_millis(300));
        assert_eq!(captured.output, b"here\n");
        assert!(captured.problem().unwrap().contains("printed nothing for"));
        let endless = script("yes", LONG).problem().unwrap();
        assert!(endless.contains("without end"), "{endless}");
    }

    #[test]
    fn one_that_stops_and_does_not_go_on_is_given_up() {
        let interrupts = Interrupts::install().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "kill -STOP $$; echo on"]);
        let mut watch = Watch::default();
        let job = Job {
            input: Stdio::null(),
            command,
            answer: Answer::Printed,
            watch: Some(&mut watch),
        };
        let stopped = run(job, None, Some(LONG), &interrupts).unwrap();
        let problem = stopped.problem().unwrap();
        assert!(
            problem.contains("stopped by signal 19 (SIGSTOP)"),
            "{problem}"
        );
        let moment = "(sleep 0.1; kill -CONT $$) & kill -STOP $$; echo on";
        assert_eq!(script(moment, LONG).output, b"on\n");
    }

    #[test]
    fn one_that_left_the_group_is_gone_too() {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        let stray = format!(
            "setsid sh -c 'echo $$ > {0}.new; mv {0}.new {0}; exec sleep 1000' & \
             until [ -e {0} ]; do sleep 0.01; done; sleep 1000",
            pid.display()
        );
        script(&stray, Duration::from_secs(5));
        let pid = std::fs::read_to_string(&pid).unwrap();
        let status = std::fs::read_to_string(format!("/proc/{}/status", pid.trim()));
        assert!(status.is_err(), "{status:?}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn it_dies_with_who_started_it() {
        use std::os::unix::process::ExitStatusExt;

        // PR_SET_PDEATHSIG refers to the thread that started the process, so the end of a thread is
        // enough.
        let starter = std::thread::spawn(|| {
            let interrupts = Interrupts::install().unwrap();
            let mut command = Command::new("sleep");
            start(command.arg("1000"), None, &interrupts).unwrap()
        });
        let mut child = starter.join().unwrap();
        assert_eq!(child.child.wait().unwrap().signal(), Some(libc::SIGKILL));
    }

    #[test]
    fn a_child_that_holds_the_pipes_open_is_not_waited_for() {
        let captured = script("echo here; sleep 1000 & exit 0", LONG);
        assert_eq!(
            (captured.problem(), captured.output),
            (None, b"here\n".to_vec())
        );
    }
}
