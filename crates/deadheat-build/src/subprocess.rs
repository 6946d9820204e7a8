//! Runs programs until they end or the user interrupts.
//!
//! The engine supervises measured programs more strictly: it tracks and kills every process that
//! they start. A build may leave a compiler cache server running, gets time to end when
//! interrupted, and inherits a lock.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

#[cfg(not(target_os = "linux"))]
use elsewhere::{end, in_own_group, stopped_by};
#[cfg(target_os = "linux")]
use linux::{end, in_own_group, stopped_by};

use crate::error::BuildError;
use crate::missing_project::MissingProject;

/// The first pause between two checks of a child process. It is short, because git is fast.
const SHORTEST: Duration = Duration::from_micros(500);
/// The longest pause between two checks of a child process.
const LONGEST: Duration = Duration::from_millis(10);

/// The longest time that a child may be in the stopped state before it is killed.
const LONGEST_STOP: Duration = Duration::from_millis(500);

/// Environment variables with their values.
pub type Variables = Vec<(String, String)>;

/// A function that returns true if the user has asked to stop.
pub struct Interruption<'a>(pub &'a dyn Fn() -> bool);

impl std::fmt::Debug for Interruption<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Interruption")
    }
}

#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Finished {
    /// Returns the program's standard error on one line, or its exit status if it printed nothing.
    pub(crate) fn said(&self) -> String {
        let text = String::from_utf8_lossy(&self.stderr);
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        match lines.collect::<Vec<_>>() {
            none if none.is_empty() => self.status.to_string(),
            lines => lines.join("; "),
        }
    }

    /// Returns the error that `command` failed to build `revision`. `missing` is the project that
    /// the sources lack, if any.
    pub(crate) fn failed(
        &self,
        revision: &str,
        command: &str,
        missing: Option<MissingProject>,
    ) -> BuildError {
        BuildError::Failed {
            revision: revision.to_owned(),
            command: format!("`{command}`"),
            end: self.status.to_string(),
            missing,
        }
    }

    pub(crate) fn output_of_git(
        self,
        revision: &str,
        command: &str,
    ) -> Result<Vec<u8>, BuildError> {
        if self.status.success() {
            return Ok(self.stdout);
        }
        Err(BuildError::Git {
            revision: revision.to_owned(),
            command: command.to_owned(),
            said: self.said(),
        })
    }
}

impl Interruption<'_> {
    /// Runs a program to its end, and captures its standard output and standard error if they are
    /// piped.
    ///
    /// The program inherits `lock`, if given, as its standard input, and so holds the lock even
    /// after deadheat has ended.
    pub(crate) fn run(
        &self,
        command: &mut Command,
        lock: Option<&File>,
    ) -> Result<Finished, BuildError> {
        let not_started = |command: &Command, problem| BuildError::NotStarted {
            program: command.get_program().display().to_string(),
            problem,
        };
        if (self.0)() {
            return Err(BuildError::Interrupted);
        }
        let input = match lock.map(File::try_clone).transpose() {
            Ok(lock) => lock.map_or_else(Stdio::null, Stdio::from),
            Err(problem) => return Err(not_started(command, problem)),
        };
        if let Some(path) = absolute_search_path(command) {
            command.env("PATH", path);
        }
        let child = in_own_group(command.stdin(input)).spawn();
        let mut child = child.map_err(|problem| not_started(command, problem))?;
        let out = child.stdout.take().map(reading);
        let err = child.stderr.take().map(reading);
        let status = self.wait(&mut child);
        let text = |reader: Option<thread::JoinHandle<Vec<u8>>>| {
            let text = reader.and_then(|reader| reader.join().ok());
            text.unwrap_or_default()
        };
        match status {
            Ok(Some(status)) => {
                let (stdout, stderr) = (text(out), text(err));
                if stdout.len().max(stderr.len()) > MOST_BYTES {
                    return Err(BuildError::TooMuchOutput {
                        program: command.get_program().display().to_string(),
                        most: MOST_BYTES,
                    });
                }
                Ok(Finished {
                    status,
                    stdout,
                    stderr,
                })
            }
            Ok(None) => Err(BuildError::Interrupted),
            Err(problem) => Err(not_started(command, problem)),
        }
    }

    /// Waits for the exit status; `None` if the user interrupted. Returns an error if the child
    /// stays stopped.
    fn wait(&self, child: &mut Child) -> io::Result<Option<ExitStatus>> {
        let mut pause = SHORTEST;
        let mut stopped_since = None;
        loop {
            if let Some(status) = child.try_wait()? {
                // A child killed by a signal after an interruption counts as interrupted. Ctrl-C in
                // the terminal reaches only deadheat, but other senders may signal the child too.
                return Ok((status.code().is_some() || !(self.0)()).then_some(status));
            }
            if (self.0)() {
                end(child)?;
                return Ok(None);
            }
            let stopped = stopped_by(child);
            let since = stopped.map(|_| stopped_since.unwrap_or_else(Instant::now));
            stopped_since = since;
            if let (Some(signal), Some(since)) = (stopped, since)
                && since.elapsed() >= LONGEST_STOP
            {
                end(child)?;
                return Err(io::Error::other(format!(
                    "was stopped by {signal}, because programs that deadheat runs may not use the \
                     terminal, for example to ask for a password; enter passwords beforehand, or \
                     store them"
                )));
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST);
        }
    }
}

/// Returns `PATH` with relative folders made absolute, for a command that runs in another folder.
/// `None` if all folders are absolute already, or the command sets its own `PATH`.
fn absolute_search_path(command: &Command) -> Option<OsString> {
    let is_own = command.get_envs().any(|(name, _)| name == "PATH");
    let path = std::env::var_os("PATH").filter(|path| !is_own && !path.is_empty())?;
    let is_relative = |folder: &PathBuf| folder.is_relative();
    if !std::env::split_paths(&path).any(|folder| is_relative(&folder)) {
        return None;
    }
    let here = std::env::current_dir().ok()?;
    std::env::join_paths(std::env::split_paths(&path).map(|folder| here.join(folder))).ok()
}

/// The maximum number of bytes of an output. A few kB of git objects can expand to an endless file
/// or list of files.
const MOST_BYTES: usize = 256 << 20;

/// Reads at most one byte more than [`MOST_BYTES`]. The pipe then closes, which ends most programs.
fn reading(pipe: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut text = Vec::new();
        // After a read error, the text read so far is returned.
        let _ = pipe.take(MOST_BYTES as u64 + 1).read_to_end(&mut text);
        text
    })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::piped());
        command.stderr(Stdio::piped());
        command
    }

    #[test]
    fn a_program_that_prints_without_end_is_stopped() {
        let never = Interruption(&|| false);
        let error = never.run(&mut shell("yes"), None).unwrap_err();
        assert!(matches!(error, BuildError::TooMuchOutput { .. }), "{error}");
    }

    #[test]
    fn returns_the_output_and_exit_status_of_a_program() {
        let never = Interruption(&|| false);
        let done = never.run(&mut shell("echo out; echo a >&2; echo b >&2; exit 3"), None);
        let done = done.unwrap();
        assert_eq!(done.stdout, b"out\n");
        assert_eq!(done.said(), "a; b");
        assert_eq!(done.status.code(), Some(3));
        let error = never
            .run(&mut Command::new("/nowhere/x"), None)
            .unwrap_err();
        assert!(error.to_string().contains("/nowhere/x"), "{error}");
    }

    #[test]
    fn a_program_that_stays_stopped_is_killed() {
        let never = Interruption(&|| false);
        let error = never.run(&mut shell("kill -TTIN $$"), None).unwrap_err();
        assert!(
            error.to_string().contains("sh: was stopped by SIGTTIN"),
            "{error}"
        );
        let moment = "(sleep 0.1; kill -CONT $$) & kill -TSTP $$; echo on";
        assert_eq!(never.run(&mut shell(moment), None).unwrap().stdout, b"on\n");
    }

    #[test]
    fn an_interrupt_kills_the_whole_process_group() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pids");
        let script = format!(
            "trap '' TERM; sleep 100 & echo $! >> {0}; echo $$ >> {0}; wait; sleep 100",
            file.display()
        );
        let looks = Cell::new(0);
        let both_there = || {
            looks.set(looks.get() + 1);
            std::fs::read_to_string(&file).is_ok_and(|text| text.lines().count() == 2)
        };
        let error = Interruption(&both_there).run(&mut shell(&script), None);
        assert!(matches!(error, Err(BuildError::Interrupted)), "{error:?}");
        for pid in std::fs::read_to_string(&file).unwrap().lines() {
            let lives = || {
                let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
                stat.is_ok_and(|stat| !stat.contains(") Z "))
            };
            // The kernel ends a killed process with some delay.
            let begin = Instant::now();
            while lives() && begin.elapsed() < Duration::from_secs(10) {
                thread::sleep(LONGEST);
            }
            assert!(!lives(), "{pid} lives");
        }
    }

    #[test]
    fn a_child_keeps_the_lock_it_was_started_with() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let lock = File::create(&path).unwrap();
        lock.lock().unwrap();
        let never = Interruption(&|| false);
        never
            .run(
                shell("exec 5<&0; sleep 1 >/dev/null 2>&1 &").stdout(Stdio::null()),
                Some(&lock),
            )
            .unwrap();
        drop(lock);
        let other = File::open(&path).unwrap();
        assert!(other.try_lock().is_err(), "the sleeper holds it");
        other.lock().unwrap();
    }
}
