//! One attempt: the program under limits of time, memory and file size, and what it left behind.

use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use deadheat_validation::bars::{Bar, Section};
use deadheat_validation::programs::text;

use crate::Setting;

/// The time limit of every attempt.
const PATIENCE: Duration = Duration::from_secs(30);

/// Memory that reading a damaged file may take.
const MOST_MEMORY: u64 = 1 << 30;

/// The variable in the environment of everything that an attempt starts.
pub const MARK: &str = "DEADHEAT_ATTACKED";

/// The exit status and the output of an attempt.
pub struct Ended {
    /// `None` where it had to be killed.
    pub status: Option<ExitStatus>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// The exit code; `None` of one that a signal ended, or that took too long.
    pub fn code(&self) -> Option<i32> {
        self.status?.code()
    }

    /// Why this is a finding, if it is one; `allowed` are the exit codes that are none.
    pub fn finding(&self, allowed: &[i32]) -> Option<String> {
        let Some(status) = self.status else {
            return Some("it took longer than 30 s".to_owned());
        };
        let obeyed = |c: char| c.is_control() && c != '\n';
        match status.code() {
            _ if self.stderr.contains("panicked at") => Some(format!("a panic: {}", self.stderr)),
            _ if self.stderr.contains(obeyed) => {
                Some(format!("raw control characters: {:?}", self.stderr))
            }
            None => Some(format!("signal {:?}", status.signal())),
            Some(code) if allowed.contains(&code) => None,
            Some(code) => Some(format!("exit code {code}: {}", self.stderr)),
        }
    }
}

/// The program with a mark of its own, ready to be started in a folder.
pub fn marked(setting: &Setting, folder: &Path, mark: &str, words: &[&str]) -> Command {
    let mut command = Command::new(&setting.shop.deadheat);
    command.args(words);
    prepare(&mut command, folder, mark);
    command
}

/// The same, which may write files of so many bytes and take so much memory.
pub fn limited(
    program: &Path,
    folder: &Path,
    bytes: Option<u64>,
    launcher: &[&str],
    words: &[&str],
) -> Command {
    let mut command = match bytes {
        Some(bytes) => {
            let mut shell = Command::new("sh");
            // A write beyond the limit is an error then, as on a full disk, and no signal.
            shell.args(["-c", "trap '' XFSZ; exec prlimit \"$@\"", "sh"]);
            shell.arg(format!("--fsize={bytes}:{bytes}"));
            shell
        }
        None => {
            let mut command = Command::new("prlimit");
            command.arg(format!("--as={MOST_MEMORY}:{MOST_MEMORY}"));
            command
        }
    };
    command.args(launcher).arg(text(program)).args(words);
    prepare(&mut command, folder, "limited");
    command
}

fn prepare(command: &mut Command, folder: &Path, mark: &str) {
    command.current_dir(folder).env(MARK, mark);
    command.env("DEADHEAT_CALIBRATION", "").env("LC_ALL", "C.UTF-8");
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
}

/// Runs an attempt to its end.
pub fn run(mut command: Command) -> Ended {
    let mut child = command.spawn().expect("the program starts");
    let stdout = reading(child.stdout.take().expect("a pipe"));
    let stderr = reading(child.stderr.take().expect("a pipe"));
    let status = ends_within(&mut child, PATIENCE);
    if status.is_none() {
        let _ = child.kill();
        let _ = child.wait();
    }
    Ended { status, stdout: stdout.text(), stderr: stderr.text() }
}

/// A thread that reads a pipe, and what it has read.
struct Reading {
    thread: thread::JoinHandle<()>,
    bytes: Arc<Mutex<Vec<u8>>>,
}

fn reading(mut pipe: impl Read + Send + 'static) -> Reading {
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&bytes);
    let thread = thread::spawn(move || {
        let mut buffer = [0; 1 << 16];
        while let Ok(read @ 1..) = pipe.read(&mut buffer) {
            shared.lock().expect("no reader panics").extend(&buffer[..read]);
        }
    });
    Reading { thread, bytes }
}

impl Reading {
    /// Returns the text that was read until the pipe was closed. Five seconds are enough: after that, a
    /// process that the attempt left behind holds the pipe, and may never close it.
    fn text(self) -> String {
        let began = Instant::now();
        while !self.thread.is_finished() && began.elapsed() < Duration::from_secs(5) {
            thread::sleep(Duration::from_millis(1));
        }
        let bytes = self.bytes.lock().expect("no reader panics");
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

fn ends_within(child: &mut Child, time: Duration) -> Option<ExitStatus> {
    let began = Instant::now();
    while began.elapsed() < time {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(1));
    }
    None
}

/// Kills the processes of an attempt that still live after five seconds, and returns their names.
pub fn left_behind(mark: &str) -> Vec<String> {
    let entry = format!("{MARK}={mark}");
    let began = Instant::now();
    loop {
        let found = with_entry(entry.as_bytes());
        if found.is_empty() || began.elapsed() > Duration::from_secs(5) {
            for (process, _) in &found {
                let _ = Command::new("kill").args(["-9", process]).status();
            }
            return found.into_iter().map(|(_, name)| name).collect();
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// The processes with this entry in their environment, and their names.
fn with_entry(entry: &[u8]) -> Vec<(String, String)> {
    let processes = fs::read_dir("/proc").expect("the system's processes").flatten();
    let of_it = |folder: &Path| {
        let environment = fs::read(folder.join("environ")).ok()?;
        environment.split(|byte| *byte == 0).find(|one| *one == entry)?;
        let name = fs::read_to_string(folder.join("comm")).ok()?;
        let process = folder.file_name()?.to_str()?;
        Some((process.to_owned(), name.trim().to_owned()))
    };
    processes.filter_map(|process| of_it(&process.path())).collect()
}

/// Makes attempts, so many at the same time, since most of what they take is waiting: each says what
/// it was and what it found.
pub fn at_once<T: Sync>(
    threads: usize,
    attempts: &[T],
    make: impl Fn(&T) -> (String, Option<String>) + Sync,
) -> Outcome {
    let next = AtomicUsize::new(0);
    let outcome = Mutex::new(Outcome::default());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(attempt) = attempts.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (what, finding) = make(attempt);
                    let mut outcome = outcome.lock().expect("no attempt panics");
                    outcome.add(&what, finding);
                }
            });
        }
    });
    outcome.into_inner().expect("no attempt panicked")
}

/// The outcome of all attempts of a kind.
#[derive(Default)]
pub struct Outcome {
    pub attempts: usize,
    findings: Vec<String>,
}

impl Outcome {
    /// Counts an attempt, and what it found.
    pub fn add(&mut self, what: &str, finding: Option<String>) {
        self.attempts += 1;
        if let Some(finding) = finding {
            let finding = format!("{what}: {}", finding.replace('\n', " "));
            eprintln!("  finding: {finding}");
            self.findings.push(finding);
        }
    }

    /// Its line of the page.
    pub fn line(&self, what: &str) -> String {
        format!("| {what} | {} | {} |\n", self.attempts, self.findings.len())
    }
}

/// The part of the page about several kinds of attempts.
pub fn section(heading: &str, text: &str, kinds: &[(String, Outcome)]) -> Section {
    let mut page =
        format!("## {heading}\n\n{text}\n\n| what | attempts | findings |\n| --- | --- | --- |\n");
    let (mut attempts, mut findings) = (0, 0);
    let mut told = String::new();
    for (what, outcome) in kinds {
        page += &outcome.line(what);
        attempts += outcome.attempts;
        findings += outcome.findings.len();
        for finding in &outcome.findings {
            told += &format!("- {what}: {finding}\n");
        }
    }
    page += "\n";
    if !told.is_empty() {
        page += &format!("{told}\n");
    }
    let measured = format!("{findings} findings in {attempts} attempts");
    Section { text: page, bars: vec![Bar::told(heading, "no finding", measured, findings == 0)] }
}
