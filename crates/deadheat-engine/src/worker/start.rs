//! How a worker is started, and what it is given.
#![allow(unsafe_code)]

use std::ffi::OsString;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};

use nix::sys::signal::SigSet;

use super::baton::Baton;
use crate::path_padding::PathPadding;

/// The variable by which a process is known that deadheat starts, and all that descends from it.
pub(crate) const MARK_VARIABLE: &str = "DEADHEAT_PROCESS";

/// The program that workers run, and what they are told apart from their
/// pipes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerProgram {
    /// The executable; its `main` must come to [`super::serve`].
    pub executable: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Whether what the functions print is shown on standard error.
    pub shown: bool,
}

/// How one worker is started.
pub(crate) struct WorkerStart<'a> {
    pub(crate) program: &'a WorkerProgram,
    /// A neutral link of it, started instead under the same name.
    pub(crate) variant: Option<&'a Path>,
    /// The padding of its path, where another program runs beside it.
    pub(crate) path_padding: Option<PathPadding>,
    /// Bytes of padding in the environment.
    pub(crate) padding: usize,
    /// Its ends of the pipes to another worker that it takes turns with.
    pub(crate) baton: Option<&'a Baton>,
    /// What it is told beside its own arguments.
    pub(crate) probe: Option<&'a str>,
    /// Where its standard output goes, if not where the program says.
    pub(crate) output: Option<Stdio>,
    /// The signals that are held back from it: those that were held back from
    /// deadheat when it was started, and not those it holds back itself.
    pub(crate) mask: &'a SigSet,
}

/// What no other worker on this machine is known by, always of one length.
pub(crate) fn next_mark() -> String {
    static STARTED: AtomicU64 = AtomicU64::new(0);
    let number = STARTED.fetch_add(1, Ordering::Relaxed);
    format!("{:010}-{number:010}", std::process::id())
}

/// Descriptors that the next process started inherits, and none after it.
pub(super) struct Kept(Vec<RawFd>);

impl Kept {
    /// Nothing else is started while this lives.
    pub(super) fn open(fds: Vec<RawFd>) -> std::io::Result<Self> {
        let kept = Self(fds);
        kept.set(0)?;
        Ok(kept)
    }

    fn set(&self, flags: libc::c_int) -> std::io::Result<()> {
        for fd in &self.0 {
            // SAFETY: plain system call on a descriptor that is open here.
            if unsafe { libc::fcntl(*fd, libc::F_SETFD, flags) } < 0 {
                return Err(std::io::Error::last_os_error());
            }
        }
        Ok(())
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = self.set(libc::FD_CLOEXEC);
    }
}
