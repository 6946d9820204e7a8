//! Processes that deadheat starts and supervises itself: each leads a group of
//! its own and is killed with all it started, at a time-out, at an interrupt or
//! when deadheat dies.
#![allow(unsafe_code)]

#[cfg(feature = "commands")]
mod gate;
mod group;
mod stack_trace;
mod stderr_tail;

#[cfg(feature = "commands")]
use gate::start_together;
pub(crate) use group::ProcessGroup;
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

/// More than any honest answer has.
const MOST_OUTPUT: usize = 4 << 20;
/// Bytes of the standard error that are kept: the last ones.
const MOST_ERRORS: usize = 32 << 10;

/// The output of a process until it ended.
#[derive(Debug)]
pub struct Captured {
    /// Its answer.
    pub output: Vec<u8>,
    /// The end of its standard error, in one line.
    pub stderr_tail: String,
    /// Its end, unless it ended well.
    pub ending: Option<Ending>,
}

/// The end of a process that did not end well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It never began.
    NotStarted(String),
    /// It said nothing for so long, and was killed.
    Silent(Duration),
    /// It said more than any honest answer has, and was killed.
    Endless,
    /// It ended with this exit code.
    Exited(i32),
    /// This signal killed it.
    Signalled(i32),
    /// This signal stopped it; it did not go on and was killed.
    Stopped(i32),
    /// Anything else, in words.
    Odd(String),
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::NotStarted(reason) => write!(f, "cannot be started: {reason}"),
            Ending::Silent(patience) => write!(f, "said nothing for {patience:?} and was killed"),
            Ending::Endless => f.write_str("talks without end and was killed"),
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
    /// The problem with the process and the end of its standard error, unless it ended well.
    pub fn problem(&self) -> Option<String> {
        let ended = self.ending.as_ref()?;
        Some(match &*self.stderr_tail {
            "" => ended.to_string(),
            stderr_tail => format!("{ended}: {stderr_tail}"),
        })
    }
}

/// Where a process gives its answer.
pub(crate) enum Answer {
    /// On its standard output.
    Printed,
    /// Into this pipe, whose other end it inherits. Its standard output is
    /// nobody's business, but may be shown with its standard error.
    #[cfg(feature = "commands")]
    Piped {
        here: PipeReader,
        there: PipeWriter,
        shown: bool,
    },
    /// On its standard output, which goes into a file and is not read here.
    #[cfg(feature = "commands")]
    Filed(Stdio),
}

/// Starts a process on these cores, whatever core deadheat has settled on, and
/// reads all it says. It may be silent for as long as `patience`, forever when
/// `None`. When this returns it is gone, with all it started.
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

/// A process to run.
pub(crate) struct Job<'w> {
    pub(crate) command: Command,
    /// Its standard input.
    pub(crate) input: Stdio,
    pub(crate) answer: Answer,
    /// Looks at the process while it runs.
    pub(crate) watch: Option<&'w mut Watch>,
}

/// Runs one job like [`run_captured`].
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

/// Runs these jobs at the same time, all of them from the same moment on, where deadheat has
/// settled. Returns `None` for those that were killed because another one failed.
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

/// The command of a job, connected to pipes, and the other ends of these.
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
        // Never deadheat's own standard output, which holds the answer.
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

/// Has a process killed with deadheat, which may be killed by what nobody can catch: an executable
/// that hung went on for ever after.
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
            // It was gone before the signal was asked for.
            Err(ErrorKind::BrokenPipe.into())
        });
    }
}

/// Has a process give up its terminal: the kernel stops a background group that touches the terminal,
/// and nobody would let it go on.
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

/// Has a process inherit a descriptor, and no other process that is started meanwhile.
fn inherit(command: &mut Command, descriptor: RawFd) {
    // SAFETY: between fork and exec only system calls on integers are made.
    unsafe {
        command.pre_exec(move || match libc::fcntl(descriptor, libc::F_SETFD, 0) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
}

/// Starts it where deadheat was before it settled.
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

/// A process whose output is read.
struct Running<'w> {
    /// `None` until it is started.
    process: Option<ProcessGroup>,
    /// Set once it has ended: how, unless it ended well.
    ended: Option<Option<Ending>>,
    /// The last time that it answered.
    since: Instant,
    /// The time since which it has been stopped, if it is.
    stopped_since: Option<Instant>,
    watch: Option<&'w mut Watch>,
    /// Where the answer comes from, until that ends.
    answers: Option<PipeReader>,
    /// The other end of that, until the process has inherited it.
    there: Option<PipeWriter>,
    /// True if what it says on standard error is shown.
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

/// Waits until one of these processes writes something or ends. Returns for each whether its answer
/// and its standard error can be read.
fn wait(all: &[Running<'_>], pause: Option<Duration>, interrupts: &Interrupts) -> Vec<[bool; 2]> {
    let watch = |fd| PollFd::new(fd, PollFlags::POLLIN);
    let mut fds = Vec::with_capacity(3 * all.len());
    for one in all {
        fds.extend(one.pipes().into_iter().flatten().map(watch));
    }
    let living = all.iter().filter(|one| one.ended.is_none());
    let notices = living.filter_map(|one| one.process.as_ref()?.notice());
    fds.extend(notices.map(watch));
    // Interrupted or too early: the next round finds out.
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
    /// Takes over the process, or why it could not be started.
    fn begin(&mut self, process: std::io::Result<ProcessGroup>) {
        // What only the process holds ends with it.
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

    /// The pipes of its answer and of its standard error, as long as there may be more in them.
    fn pipes(&self) -> [Option<BorrowedFd<'_>>; 2] {
        let Some(process) = self.process.as_ref().filter(|_| self.ended.is_none()) else {
            return [None, None];
        };
        [
            self.answers.as_ref().map(|pipe| pipe.as_fd()),
            process.child.stderr.as_ref().map(|pipe| pipe.as_fd()),
        ]
    }

    /// Reads what is ready, or else looks whether it has ended.
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
            // What it left running may hold its pipes open and go on.
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

    /// Gives up a process that has been stopped for too long.
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

    /// Reads from the pipes that are ready. Returns true if anything came.
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
                // Who closed deadheat's standard error wants to see nothing.
                let _ = std::io::stderr().write_all(&self.errors[before..]);
            }
            let older = self.errors.len().saturating_sub(MOST_ERRORS);
            self.errors.drain(..older);
            any |= more;
        }
        any
    }

    /// The output of one that has ended. It is gone, with all it started, when this returns.
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

/// Reads once; `false` at the end of the pipe.
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
        assert!(captured.problem().unwrap().contains("said nothing for"));
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

        // The kernel asks after the thread, so the end of one is enough.
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
