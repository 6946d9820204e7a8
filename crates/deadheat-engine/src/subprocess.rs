//! Processes that deadheat starts and supervises itself: each leads a group of
//! its own and is killed with all it started, at a time-out, at an interrupt or
//! when deadheat dies.
#![allow(unsafe_code)]

mod group;
mod stderr_tail;

pub(crate) use group::ProcessGroup;
pub(crate) use stderr_tail::StderrTail;
#[cfg(feature = "commands")]
pub(crate) use stderr_tail::in_one_line;

use std::io::{ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
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

/// More than any honest answer has.
const MOST_OUTPUT: usize = 4 << 20;
/// Bytes of the standard error that are kept: the last ones.
const MOST_ERRORS: usize = 8 << 10;

/// The output of a process until it ended.
pub(crate) struct Captured {
    pub(crate) output: Vec<u8>,
    /// The end of its standard error, in one line.
    pub(crate) stderr_tail: String,
    /// Its end, unless it ended well.
    pub(crate) ending: Option<Ending>,
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
    /// Anything else, in words.
    Odd(String),
}

impl Captured {
    /// The problem with the process and the end of its standard error, unless it ended well.
    pub(crate) fn problem(&self) -> Option<String> {
        let ended = match self.ending.as_ref()? {
            Ending::NotStarted(reason) => format!("cannot be started: {reason}"),
            Ending::Silent(patience) => format!("said nothing for {patience:?} and was killed"),
            Ending::Endless => "talks without end and was killed".to_owned(),
            Ending::Exited(code) => format!("exited with code {code}"),
            Ending::Signalled(signal) => {
                format!("was killed by signal {signal}{}", signal_name(*signal))
            }
            Ending::Odd(status) => format!("ended unexpectedly ({status})"),
        };
        Some(match &*self.stderr_tail {
            "" => ended,
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
    run_watched(command, answer, cores, patience, interrupts, None)
}

/// Like [`run_captured`], and looks at the process while it runs.
pub(crate) fn run_watched(
    mut command: Command,
    answer: Answer,
    cores: Option<&CpuSet>,
    patience: Option<Duration>,
    interrupts: &Interrupts,
    mut watch: Option<&mut Watch>,
) -> Result<Captured, Interrupted> {
    type Streams = (Option<PipeReader>, Option<PipeWriter>, bool, Option<Stdio>);
    let (answers, there, shown, file): Streams = match answer {
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
    command
        .stdout(file.unwrap_or(printed))
        .stderr(Stdio::piped());
    let mut process = match start(&mut command, cores, interrupts) {
        Ok(process) => process,
        Err(error) => {
            return Ok(Captured {
                output: Vec::new(),
                stderr_tail: String::new(),
                ending: Some(Ending::NotStarted(error.to_string())),
            });
        }
    };
    // What only the process holds ends with it.
    drop(there);
    if let Some(watch) = &mut watch {
        watch.begin(process.pid());
    }
    let printed = process.child.stdout.take().map(OwnedFd::from);
    let mut running = Running {
        answers: answers.or(printed.map(PipeReader::from)),
        process,
        watch,
        shown,
        output: Vec::new(),
        errors: Vec::new(),
    };
    let ending = running.listen(patience, interrupts)?;
    let stderr_tail = String::from_utf8_lossy(&running.errors);
    let lines = stderr_tail.trim().lines().map(str::trim);
    Ok(Captured {
        output: std::mem::take(&mut running.output),
        stderr_tail: lines.collect::<Vec<_>>().join(" | "),
        ending,
    })
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
    let deadheat = std::process::id();
    // SAFETY: between fork and exec only system calls on integers are made.
    #[cfg(target_os = "linux")]
    unsafe {
        command.pre_exec(move || {
            // Killed with deadheat, which may be killed by what nobody can
            // catch: an executable that hung went on for ever after.
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            if libc::getppid() as u32 == deadheat {
                return Ok(());
            }
            // It was gone before the signal was asked for.
            Err(ErrorKind::BrokenPipe.into())
        });
    }
    let process = ProcessGroup::start(command, interrupts.original_mask());
    if let Some(here) = here {
        let _ = sched_setaffinity(this, &here);
    }
    process
}

/// A process whose output is read.
struct Running<'w> {
    process: ProcessGroup,
    watch: Option<&'w mut Watch>,
    /// Where the answer comes from, until that ends.
    answers: Option<PipeReader>,
    /// True if what it says on standard error is shown.
    shown: bool,
    output: Vec<u8>,
    errors: Vec<u8>,
}

impl Running<'_> {
    /// Reads all it says; what went wrong, if anything did.
    fn listen(
        &mut self,
        patience: Option<Duration>,
        interrupts: &Interrupts,
    ) -> Result<Option<Ending>, Interrupted> {
        let mut since = Instant::now();
        loop {
            if interrupts.requested().is_some() {
                return Err(Interrupted);
            }
            let left = patience.map(|patience| patience.saturating_sub(since.elapsed()));
            if let (Some(patience), Some(Duration::ZERO)) = (patience, left) {
                return Ok(Some(Ending::Silent(patience)));
            }
            let look = self.watch.as_ref().map(|watch| watch.pause());
            let pauses = [left, look, self.process.pause()];
            let pause = pauses.into_iter().flatten().min();
            let before = self.output.len();
            let has_spoken = self.read(pause, interrupts);
            if let Some(watch) = &mut self.watch {
                watch.look(has_spoken);
            }
            if has_spoken {
                if self.output.len() > MOST_OUTPUT {
                    return Ok(Some(Ending::Endless));
                }
                if self.output.len() > before {
                    since = Instant::now();
                }
            } else if let Some(status) = self.process.ended() {
                if let Some(watch) = &mut self.watch {
                    watch.end();
                }
                // What it left running may hold its pipes open and go on.
                self.process.kill();
                let at_once = Some(Duration::ZERO);
                while self.output.len() <= MOST_OUTPUT && self.read(at_once, interrupts) {}
                return Ok(match status {
                    WaitStatus::Exited(_, 0) => None,
                    WaitStatus::Exited(_, code) => Some(Ending::Exited(code)),
                    WaitStatus::Signaled(_, signal, _) => Some(Ending::Signalled(signal as i32)),
                    other => Some(Ending::Odd(format!("{other:?}"))),
                });
            }
        }
    }

    /// Reads what comes within this time, before the process ends; whether
    /// anything came.
    fn read(&mut self, pause: Option<Duration>, interrupts: &Interrupts) -> bool {
        let Self {
            process,
            answers,
            shown,
            output,
            errors,
            watch: _,
        } = self;
        let mut fds = Vec::with_capacity(3);
        let watch = |fd| PollFd::new(fd, PollFlags::POLLIN);
        let pipes: [Option<BorrowedFd<'_>>; 2] = [
            answers.as_ref().map(|pipe| pipe.as_fd()),
            process.child.stderr.as_ref().map(|pipe| pipe.as_fd()),
        ];
        fds.extend(pipes.iter().flatten().map(|fd| watch(*fd)));
        fds.extend(process.notice().map(watch));
        // Interrupted or too early: the next round finds out.
        let mask = Some(*interrupts.original_mask());
        let _ = ppoll(&mut fds, pause.map(TimeSpec::from_duration), mask);
        let mut ready = fds.iter().map(|fd| fd.any() == Some(true));
        let [out, err] = pipes.map(|pipe| pipe.is_some() && ready.next() == Some(true));
        let mut any = false;
        if out {
            any |= receive(&mut answers.as_mut(), output);
            if !any {
                *answers = None;
            }
        }
        if err {
            let before = errors.len();
            let more = receive(&mut process.child.stderr.as_mut(), errors);
            if !more {
                process.child.stderr = None;
            }
            if *shown {
                // Who closed deadheat's standard error wants to see nothing.
                let _ = std::io::stderr().write_all(&errors[before..]);
            }
            errors.drain(..errors.len().saturating_sub(MOST_ERRORS));
            any |= more;
        }
        any
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
