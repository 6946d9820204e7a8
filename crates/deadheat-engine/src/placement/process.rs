//! A process that is asked something, heard out, and gone when that is over.

use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::signal::{SigmaskHow, Signal, killpg};
use nix::sys::time::TimeSpec;
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;

use crate::error::{EngineError, signal_name};
use crate::interrupt::Interrupts;
use crate::worker::{DeathWatch, collect_group};

/// More than any honest answer has.
const MOST_OUTPUT: usize = 4 << 20;
/// Bytes of the standard error that are kept: the last ones.
const MOST_ERRORS: usize = 4 << 10;

/// What a process said until it ended.
pub(super) struct Heard {
    pub(super) output: Vec<u8>,
    /// What went wrong, if anything did, with its last words.
    pub(super) problem: Option<String>,
}

/// Starts a process on these cores, whatever core deadheat has settled on, and
/// hears it out. It may be silent for as long as `patience`. When this returns
/// it is gone, with all it started.
pub(super) fn hear_out(
    mut command: Command,
    cores: Option<&CpuSet>,
    patience: Duration,
    interrupts: &Interrupts,
) -> Result<Heard, EngineError> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A Ctrl-C in the terminal reaches deadheat alone, and the linkers it
        // starts can be killed as one.
        .process_group(0);
    let child = match start(&mut command, cores, interrupts) {
        Ok(child) => child,
        Err(error) => {
            return Ok(Heard {
                output: Vec::new(),
                problem: Some(format!("cannot be started: {error}")),
            });
        }
    };
    let mut running = Running {
        death: DeathWatch::over(Pid::from_raw(child.id() as i32)),
        child,
        output: Vec::new(),
        errors: Vec::new(),
    };
    let problem = running.listen(patience, interrupts)?;
    let mut last_words = String::from_utf8_lossy(&running.errors).trim().to_owned();
    last_words = last_words
        .lines()
        .map(str::trim)
        .collect::<Vec<_>>()
        .join(" | ");
    let problem = problem.map(|problem| match last_words.is_empty() {
        true => problem,
        false => format!("{problem}: {last_words}"),
    });
    Ok(Heard {
        output: std::mem::take(&mut running.output),
        problem,
    })
}

/// Starts it where deadheat was before it settled, with the signals that were
/// held back from deadheat and no others.
fn start(
    command: &mut Command,
    cores: Option<&CpuSet>,
    interrupts: &Interrupts,
) -> std::io::Result<Child> {
    let this = Pid::from_raw(0);
    let here = cores.and_then(|cores| {
        let here = sched_getaffinity(this).ok()?;
        sched_setaffinity(this, cores).ok().map(|()| here)
    });
    let held = interrupts
        .original_mask()
        .thread_swap_mask(SigmaskHow::SIG_SETMASK);
    let child = command.spawn();
    if let Ok(held) = held {
        let _ = held.thread_set_mask();
    }
    if let Some(here) = here {
        let _ = sched_setaffinity(this, &here);
    }
    child
}

/// Killed, with all it started, when dropped.
struct Running {
    child: Child,
    death: DeathWatch,
    output: Vec<u8>,
    errors: Vec<u8>,
}

impl Running {
    /// Hears it out; what went wrong, if anything did.
    fn listen(
        &mut self,
        patience: Duration,
        interrupts: &Interrupts,
    ) -> Result<Option<String>, EngineError> {
        let mut end = Instant::now() + patience;
        loop {
            if interrupts.requested().is_some() {
                return Err(EngineError::Interrupted);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Some(format!(
                    "said nothing for {patience:?} and was killed"
                )));
            }
            let pause = self.death.pause().map_or(left, |pause| pause.min(left));
            let before = self.output.len();
            if self.read(pause, interrupts) {
                if self.output.len() > MOST_OUTPUT {
                    return Ok(Some("talks without end and was killed".to_owned()));
                }
                if self.output.len() > before {
                    end = Instant::now() + patience;
                }
            } else if let Some(status) = self.death.ended() {
                // What it left running may hold its pipes open and go on.
                let _ = killpg(self.pid(), Signal::SIGKILL);
                while self.output.len() <= MOST_OUTPUT && self.read(Duration::ZERO, interrupts) {}
                return Ok(match status {
                    WaitStatus::Exited(_, 0) => None,
                    WaitStatus::Exited(_, code) => Some(format!("exited with code {code}")),
                    WaitStatus::Signaled(_, signal, _) => Some(format!(
                        "was killed by signal {}{}",
                        signal as i32,
                        signal_name(signal as i32)
                    )),
                    other => Some(format!("ended unexpectedly ({other:?})")),
                });
            }
        }
    }

    /// Reads what comes within this time, before the process ends; whether
    /// anything came.
    fn read(&mut self, pause: Duration, interrupts: &Interrupts) -> bool {
        let Self {
            child,
            death,
            output,
            errors,
        } = self;
        let mut fds = Vec::with_capacity(3);
        let watch = |fd| PollFd::new(fd, PollFlags::POLLIN);
        let pipes: [Option<BorrowedFd<'_>>; 2] = [
            child.stdout.as_ref().map(|pipe| pipe.as_fd()),
            child.stderr.as_ref().map(|pipe| pipe.as_fd()),
        ];
        fds.extend(pipes.iter().flatten().map(|fd| watch(*fd)));
        fds.extend(death.notice().map(watch));
        // Interrupted or too early: the next round finds out.
        let mask = Some(*interrupts.original_mask());
        let _ = ppoll(&mut fds, Some(TimeSpec::from_duration(pause)), mask);
        let mut ready = fds.iter().map(|fd| fd.any() == Some(true));
        let [out, err] = pipes.map(|pipe| pipe.is_some() && ready.next() == Some(true));
        let came = |pipe: &mut Option<_>, into: &mut Vec<u8>| receive(pipe, into);
        let mut any = false;
        if out {
            any |= came(&mut child.stdout.as_mut(), output);
            if !any {
                child.stdout = None;
            }
        }
        if err {
            let more = receive(&mut child.stderr.as_mut(), errors);
            if !more {
                child.stderr = None;
            }
            errors.drain(..errors.len().saturating_sub(MOST_ERRORS));
            any |= more;
        }
        any
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
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

impl Drop for Running {
    fn drop(&mut self) {
        let group = self.pid();
        let _ = killpg(group, Signal::SIGKILL);
        let _ = self.child.kill();
        let _ = self.child.wait();
        collect_group(group);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(text: &str, patience: Duration) -> Heard {
        let interrupts = Interrupts::install().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", text]);
        hear_out(command, None, patience, &interrupts).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn all_that_is_said_is_heard() {
        let heard = script("seq 1 20000; echo last", LONG);
        assert_eq!(heard.problem, None);
        let text = String::from_utf8(heard.output).unwrap();
        assert_eq!(text.lines().count(), 20_001);
        assert!(text.ends_with("20000\nlast\n"));
    }

    #[test]
    fn a_failure_comes_with_its_last_words() {
        let heard = script("echo out; echo 'disk full' >&2; exit 3", LONG);
        assert_eq!(heard.output, b"out\n");
        assert_eq!(heard.problem.unwrap(), "exited with code 3: disk full");
        let killed = script("kill -9 $$", LONG).problem.unwrap();
        assert!(killed.contains("signal 9 (SIGKILL)"), "{killed}");
    }

    #[test]
    fn one_that_hangs_is_killed_and_one_that_never_ends_too() {
        let heard = script("echo here; sleep 1000", Duration::from_millis(300));
        assert_eq!(heard.output, b"here\n");
        assert!(heard.problem.unwrap().contains("said nothing for"));
        let endless = script("yes", LONG).problem.unwrap();
        assert!(endless.contains("without end"), "{endless}");
    }

    #[test]
    fn a_child_that_holds_the_pipes_open_is_not_waited_for() {
        let heard = script("echo here; sleep 1000 & exit 0", LONG);
        assert_eq!((heard.output, heard.problem), (b"here\n".to_vec(), None));
    }
}
