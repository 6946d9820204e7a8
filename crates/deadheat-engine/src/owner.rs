//! The process that a race belongs to: a script that started this program with a folder of files for
//! it. When the script ends, however it ends, the race ends and the folder is removed.

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

/// The process ID of the owner and its folder: `PID:FOLDER`.
const VARIABLE: &str = "DEADHEAT_OWNER";
/// The beginning of the name of such a folder.
const PREFIX: &str = "deadheat-";

/// Watches the owner of this process, which holds the other end of standard input, a pipe, and never
/// writes to it. When this is dropped after the end of the owner, its folder is removed.
#[derive(Debug)]
pub struct Owner {
    folder: PathBuf,
    is_gone: Arc<AtomicBool>,
}

impl Owner {
    /// Starts to watch the owner, if the environment names one: this process gets a SIGTERM when the
    /// owner ends. A program that only inherited the variable has none.
    pub fn watched() -> Option<Self> {
        let (pid, folder) = named(&std::env::var(VARIABLE).ok()?)?;
        let stdin = io::stdin();
        let mode = fstat(&stdin).ok()?.st_mode;
        let is_pipe = SFlag::from_bits_truncate(mode).contains(SFlag::S_IFIFO);
        // It may have ended before this process could look.
        let is_owned = getppid() == pid || kill(pid, None) == Err(Errno::ESRCH);
        if !is_owned || !is_pipe {
            return None;
        }
        let is_gone = Arc::new(AtomicBool::new(false));
        let watcher = Self {
            folder: folder.clone(),
            is_gone: Arc::clone(&is_gone),
        };
        // The thread that races must get the signals, and not the one that watches.
        let before = SigSet::all()
            .thread_swap_mask(SigmaskHow::SIG_SETMASK)
            .ok()?;
        let name = thread::Builder::new().name("owner".to_owned());
        let started = name.spawn(move || {
            if ends(&mut stdin.lock()) {
                is_gone.store(true, Ordering::SeqCst);
                // The signal may end this process at once.
                let _ = remove_dir_all(&folder);
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

/// The owner and the folder that a variable names, which is one that was made for a race.
fn named(text: &str) -> Option<(Pid, PathBuf)> {
    let (pid, folder) = text.split_once(':')?;
    let folder = Path::new(folder);
    let name = folder.file_name()?.to_str()?;
    let is_own = folder.is_absolute() && name.starts_with(PREFIX);
    is_own.then_some((Pid::from_raw(pid.parse().ok()?), folder.to_owned()))
}

/// Waits for the end of a stream; `false` if it cannot be read.
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
