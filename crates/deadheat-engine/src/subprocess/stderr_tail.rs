//! Keeps the end of a worker's standard error, which is shown only if the worker fails.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::process::Stdio;
use std::time::Duration;

use super::without_stack_traces;

/// The number of bytes that are kept: the last ones. A full backtrace of Rust has some 10 kB.
const KEPT: u64 = 32 << 10;
/// The number of new bytes after which the memory of older ones is freed.
const LOOSENED: u64 = 1 << 20;
/// Time between two checks of the memory use of a worker that prints. A check may cost a sample
/// some microseconds, so it is rare.
const LOOK_AT_PRINTERS: Duration = Duration::from_millis(100);
/// Time between two checks of a worker that has printed nothing since the last check. A check wakes
/// deadheat on the core of the sample, which counts as a preemption of the sample. At this interval
/// most samples that last a second are not preempted.
const LOOK_AT_OTHERS: Duration = Duration::from_secs(5);
/// The maximum length of a message in characters.
const SHOWN: usize = 200;
const LINES: usize = 3;

/// A memory file that receives a standard error. Unlike with a pipe, a writer never waits, even if
/// no process reads the file, and wakes no other process.
#[derive(Debug, Default)]
pub(crate) struct StderrTail {
    /// `None` if the system has no memory files, or if the standard error is shown; nothing is kept
    /// then.
    file: Option<File>,
    /// The number of bytes that had been printed when memory was last freed.
    given_back: u64,
    /// The number of bytes that had been printed at the last check.
    seen: u64,
}

impl StderrTail {
    pub(crate) fn new() -> Self {
        Self {
            file: in_memory().ok(),
            ..Self::default()
        }
    }

    pub(crate) fn stdio(&self) -> Stdio {
        let copy = self.file.as_ref().and_then(|file| file.try_clone().ok());
        copy.map_or_else(Stdio::null, Stdio::from)
    }

    /// Frees the memory of old output. Returns the time until the next check; `None` if nothing is
    /// kept.
    pub(crate) fn forget_most(&mut self) -> Option<Duration> {
        let file = self.file.as_ref()?;
        let printed = file.metadata().ok()?.len();
        if printed.saturating_sub(self.given_back) > LOOSENED {
            give_back(file, printed - KEPT);
            self.given_back = printed;
        }
        let before = std::mem::replace(&mut self.seen, printed);
        Some(if printed > before {
            LOOK_AT_PRINTERS
        } else {
            LOOK_AT_OTHERS
        })
    }

    /// Returns the last lines joined into one; `None` if nothing was printed.
    pub(crate) fn message(&self) -> Option<String> {
        in_one_line(&self.text())
    }

    pub(crate) fn text(&self) -> String {
        let last = || {
            let file = self.file.as_ref()?;
            let printed = file.metadata().ok()?.len();
            let from = printed.saturating_sub(KEPT);
            let mut last = vec![0; (printed - from) as usize];
            let read = file.read_at(&mut last, from).ok()?;
            Some(String::from_utf8_lossy(&last[..read]).into_owned())
        };
        last().unwrap_or_default()
    }
}

/// Joins the last lines that are not empty into one, without control characters, which could affect
/// a terminal.
pub(crate) fn in_one_line(text: &str) -> Option<String> {
    let mut lines: Vec<&str> = without_stack_traces(text)
        .into_iter()
        .map(|line| line.trim_matches(is_nothing))
        .filter(|line| !line.is_empty())
        .collect();
    let whole: String = lines
        .split_off(lines.len().saturating_sub(LINES))
        .join(" | ")
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let length = whole.chars().count();
    match length {
        0 => None,
        1..=SHOWN => Some(whole),
        _ => Some(format!(
            "...{}",
            whole.chars().skip(length - SHOWN).collect::<String>()
        )),
    }
}

fn is_nothing(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}

#[cfg(target_os = "linux")]
fn in_memory() -> io::Result<File> {
    use std::os::fd::FromRawFd;
    // SAFETY: the name ends in a NUL byte.
    let fd = unsafe { libc::memfd_create(c"deadheat".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a new descriptor that has no other owner.
    let file = unsafe { File::from_raw_fd(fd) };
    // With O_APPEND, all processes that share the file write at its end.
    // SAFETY: plain system call on a descriptor that is open.
    match unsafe { libc::fcntl(fd, libc::F_SETFL, libc::O_APPEND) } {
        0 => Ok(file),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(not(target_os = "linux"))]
fn in_memory() -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Frees the memory of the first `bytes` bytes. The offsets of later bytes do not change, even
/// while a process appends more.
fn give_back(file: &File, bytes: u64) {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        let hole = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: plain system call on a descriptor that is open.
        unsafe { libc::fallocate(file.as_raw_fd(), hole, 0, bytes as libc::off_t) };
    }
    let _ = (file, bytes);
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::MetadataExt;

    fn print(words: &StderrTail, text: &str) {
        let mut file = words.file.as_ref().unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn the_last_lines_are_told_in_one() {
        let words = StderrTail::new();
        assert_eq!(words.message(), None);
        print(&words, "Traceback\n  File \"a.py\"\n\n    work()\n");
        print(&words, "Value\u{1b}Error: no\r\n \n");
        let told = "File \"a.py\" | work() | Value Error: no";
        assert_eq!(words.message().as_deref(), Some(told));
    }

    #[test]
    fn of_megabytes_the_end_is_told_and_the_rest_takes_no_memory() {
        let mut words = StderrTail::new();
        assert_eq!(words.forget_most(), Some(LOOK_AT_OTHERS));
        for _ in 0..64 {
            print(&words, &"x".repeat(100_000));
            assert_eq!(words.forget_most(), Some(LOOK_AT_PRINTERS));
        }
        // Output at the start alone does not cause frequent checks.
        assert_eq!(words.forget_most(), Some(LOOK_AT_OTHERS));
        print(&words, "\nthe end\n");
        let held = words.file.as_ref().unwrap().metadata().unwrap().blocks() * 512;
        assert!(held <= 2 * LOOSENED, "{held}");
        let told = words.message().unwrap();
        assert!(told.ends_with("xx | the end"), "{told}");
        assert_eq!(told.chars().count(), SHOWN + 3);
    }

    #[test]
    fn a_process_prints_there_without_waiting() {
        let mut words = StderrTail::new();
        let mut child = std::process::Command::new("sh")
            .args(["-c", "head -c 3000000 /dev/zero >&2; echo last >&2"])
            .stderr(words.stdio())
            .spawn()
            .unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!(words.forget_most(), Some(LOOK_AT_PRINTERS));
        assert_eq!(words.message().as_deref(), Some("last"));
    }
}
