//! The owner of a race: a script that started this program and made a folder of files for it. When
//! the script ends, even by SIGKILL, the race ends and this program removes the folder.

use std::fs::remove_dir_all;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use nix::errno::Errno;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill};
use nix::sys::stat::{SFlag, fstat};
use nix::unistd::{Pid, getppid};

use crate::interrupt::Interrupts;

/// The environment variable with the process ID of the owner and its folder, as `PID:FOLDER`.
const VARIABLE: &str = "DEADHEAT_OWNER";
const PREFIX: &str = "deadheat-";

/// Watches the owner. The standard input of this process is a pipe or socket, and the owner holds
/// the other end without ever writing to it. Dropping this value after the owner has ended removes
/// the folder.
#[derive(Debug)]
pub struct Owner {
    folder: PathBuf,
    is_gone: Arc<AtomicBool>,
    /// Held so that no signal ends this process before it has removed the folder. Without this, a
    /// signal that arrived between two parts of a race, just as the run file was made, left the
    /// folder behind.
    _interrupts: Interrupts,
}

impl Owner {
    /// Starts to watch the owner if the environment names one. When the owner ends, this process
    /// gets a SIGTERM. Returns `None` for a process that merely inherited the variable.
    pub fn watched() -> Option<Self> {
        let (pid, folder) = named(&std::env::var(VARIABLE).ok()?)?;
        let stdin = io::stdin();
        let mode = fstat(&stdin).ok()?.st_mode;
        let kind = SFlag::from_bits_truncate(mode) & SFlag::S_IFMT;
        // Node connects processes by sockets.
        let is_stream = kind == SFlag::S_IFIFO || kind == SFlag::S_IFSOCK;
        // The owner may already have ended.
        let is_owned = getppid() == pid || kill(pid, None) == Err(Errno::ESRCH);
        if !is_owned || !is_stream {
            return None;
        }
        let is_gone = Arc::new(AtomicBool::new(false));
        let watcher = Self {
            folder,
            is_gone: Arc::clone(&is_gone),
            _interrupts: Interrupts::install().ok()?,
        };
        // The watching thread blocks all signals, so that the racing thread receives them.
        let before = SigSet::all()
            .thread_swap_mask(SigmaskHow::SIG_SETMASK)
            .ok()?;
        let name = thread::Builder::new().name("owner".to_owned());
        let started = name.spawn(move || {
            if ends(&mut stdin.lock()) {
                is_gone.store(true, Ordering::SeqCst);
                let _ = kill(Pid::this(), Signal::SIGTERM);
            }
        });
        let _ = before.thread_set_mask();
        started.ok().map(|_| watcher)
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if self.is_gone.load(Ordering::SeqCst) {
            let _ = remove_dir_all(&self.folder);
        }
    }
}

/// Parses the owner and the folder; `None` if the folder was not made for a race.
fn named(text: &str) -> Option<(Pid, PathBuf)> {
    let (pid, folder) = text.split_once(':')?;
    let folder = Path::new(folder);
    let name = folder.file_name()?.to_str()?;
    let is_own = folder.is_absolute() && name.starts_with(PREFIX);
    is_own.then_some((Pid::from_raw(pid.parse().ok()?), folder.to_owned()))
}

/// Reads a stream until it ends. Returns false if reading fails.
fn ends(stream: &mut impl Read) -> bool {
    let mut unread = [0; 64];
    loop {
        match stream.read(&mut unread) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_folder_of_a_race_is_named() {
        let own = (Pid::from_raw(12), PathBuf::from("/tmp/deadheat-x:y"));
        assert_eq!(named("12:/tmp/deadheat-x:y"), Some(own));
        for text in [
            "",
            "12",
            "x:/tmp/deadheat-x",
            "12:deadheat-x",
            "12:/home",
            "12:/",
        ] {
            assert_eq!(named(text), None, "{text}");
        }
    }

    #[test]
    fn a_stream_ends_after_all_that_was_written() {
        assert!(ends(&mut &b"some bytes"[..]));
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
        }
        assert!(!ends(&mut Broken));
    }
}
