//! A command next to a server, such as the load command: its run, its output, and the end of all
//! that it starts.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::run_cores::on;
use crate::run_output::read_bounded;
use crate::run_processes::{MARK, end_marked};

/// The time that a process which outlives its command may hold the command's output.
const LINGERS: Duration = Duration::from_millis(500);

/// A command that runs.
pub(crate) struct Running {
    child: Child,
    since: Instant,
    mark: String,
    output: [Receiver<String>; 2],
}

impl Running {
    /// Starts a command on `cores`.
    pub(crate) fn start(command: &mut Command, cores: &[u32]) -> io::Result<Self> {
        static STARTED: AtomicU64 = AtomicU64::new(0);
        let mark = STARTED.fetch_add(1, Ordering::Relaxed).to_string();
        command
            .env(MARK, &mark)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let since = Instant::now();
        let mut child = on(cores, || command.spawn())??;
        let output = [followed(child.stdout.take()), followed(child.stderr.take())];
        Ok(Self {
            child,
            since,
            mark,
            output,
        })
    }

    /// Waits until the command ends, and returns its exit status and how long it ran.
    pub(crate) fn wait(&mut self) -> io::Result<(ExitStatus, Duration)> {
        let status = self.child.wait()?;
        Ok((status, self.since.elapsed()))
    }

    /// Waits until the command ends, and returns its exit status; `None` if it still runs at `end`.
    pub(crate) fn wait_until(&mut self, end: Instant) -> io::Result<Option<ExitStatus>> {
        loop {
            let ended = self.child.try_wait()?;
            if ended.is_some() || Instant::now() >= end {
                return Ok(ended);
            }
            sleep(Duration::from_millis(2));
        }
    }

    /// Kills the processes that the command has left running, because they would count as processes
    /// of the server.
    pub(crate) fn end_rest(&self) {
        const MOST_TRIES: u32 = 50;
        for _ in 0..MOST_TRIES {
            if !end_marked(&self.mark) {
                return;
            }
            sleep(Duration::from_millis(2));
        }
    }

    /// Ends the command with all that it started, and returns what was printed on standard output
    /// and standard error.
    pub(crate) fn output(mut self) -> [String; 2] {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // A process that the command left behind may hold the pipes.
        let early = self
            .output
            .each_ref()
            .map(|pipe| pipe.recv_timeout(LINGERS));
        end_marked(&self.mark);
        let [stdout, stderr] = early;
        let late = |early: Result<String, RecvTimeoutError>, pipe: &Receiver<String>| {
            let text = early.or_else(|_| pipe.recv_timeout(LINGERS));
            text.unwrap_or_default()
        };
        [late(stdout, &self.output[0]), late(stderr, &self.output[1])]
    }
}

/// Returns how a command ended, as in "ended with exit code 1".
pub(crate) fn ended(status: ExitStatus) -> String {
    match status.signal().map(Signal::try_from) {
        Some(Ok(signal)) => format!("was killed by {signal}"),
        Some(Err(_)) => "was killed by a signal".to_owned(),
        None => format!("ended with exit code {}", status.code().unwrap_or(-1)),
    }
}

/// Reads a stream in a thread.
fn followed(stream: Option<impl io::Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || sender.send(stream.map(read_bounded).unwrap_or_default()));
    receiver
}
