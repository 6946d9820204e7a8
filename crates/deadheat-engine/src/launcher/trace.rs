//! Records which files a process of the launcher executes, by `ptrace` stops at each `execve` and
//! at its exit.
//!
//! Only launches that are not measured are traced: a traced process stops at every signal, a
//! setuid program loses its privilege and a leak sanitizer refuses to work.
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use deadheat_model::AddressSpace;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use crate::executable::file_id;
use crate::mapped_files::{MappedFile, mapped_files};
use crate::observed::{Environment, ProcessState, Sighting, scripts_of};

/// A process that is traced until it begins to exit.
pub(super) struct Tracer {
    pid: Pid,
    has_options: bool,
    is_over: bool,
    record: Vec<u8>,
}

impl Tracer {
    pub(super) fn new(pid: libc::pid_t) -> Self {
        Self {
            pid: Pid::from_raw(pid),
            has_options: false,
            is_over: false,
            record: Vec::new(),
        }
    }

    /// Returns true if the process can still stop. A stopped process stays stopped until this
    /// tracer continues it.
    pub(super) fn is_active(&self) -> bool {
        !self.is_over
    }

    /// Continues the process if it has stopped. Never reaps it.
    pub(super) fn advance(&mut self) {
        let flags = WaitPidFlag::WSTOPPED | WaitPidFlag::WNOHANG;
        while self.is_active() {
            // A stop before the delivery of a signal counts as event 0.
            let (signal, event) = match waitid(Id::Pid(self.pid), flags) {
                Ok(WaitStatus::PtraceEvent(_, signal, event)) => (signal, event),
                Ok(WaitStatus::Stopped(_, signal)) => (signal, 0),
                Ok(_) => return,
                Err(_) => {
                    self.is_over = true;
                    return;
                }
            };
            let passed_on = match (event, signal) {
                (libc::PTRACE_EVENT_EXIT, _) => {
                    self.note(mapped_files(self.pid).unwrap_or_default());
                    self.is_over = true;
                    let _ = ptrace::detach(self.pid, None);
                    return;
                }
                (1.., _) => {
                    self.note(Vec::new());
                    None
                }
                // The stop at the first `execve`, before options are set.
                (_, Signal::SIGTRAP) if !self.has_options => {
                    self.has_options = true;
                    let options = Options::PTRACE_O_EXITKILL
                        | Options::PTRACE_O_TRACEEXEC
                        | Options::PTRACE_O_TRACEEXIT;
                    let _ = ptrace::setoptions(self.pid, options);
                    self.note(Vec::new());
                    None
                }
                // Passing on a stop signal would stop the process again and again.
                (_, Signal::SIGSTOP | Signal::SIGTSTP | Signal::SIGTTIN | Signal::SIGTTOU) => None,
                (_, signal) => Some(signal),
            };
            if ptrace::cont(self.pid, passed_on).is_err() {
                self.is_over = true;
            }
        }
    }

    /// Waits until a killed process has ended, because it may stop once more before that.
    pub(super) fn see_off(&mut self, pidfd: &OwnedFd) {
        loop {
            self.advance();
            let mut ended = [PollFd::new(pidfd.as_fd(), PollFlags::POLLIN)];
            match poll(&mut ended, 1_u8) {
                Ok(0) | Err(Errno::EINTR) => {}
                Ok(_) | Err(_) => return,
            }
        }
    }

    /// Records the file that the process executes now, and the files that the process has mapped.
    fn note(&mut self, mapped: Vec<MappedFile>) {
        if let Some(record) = record_of(self.pid, &mapped) {
            self.record = record;
        }
    }

    /// Returns the record taken at the exit of the process, or else at its last `execve`; empty if
    /// none could be read.
    pub(super) fn into_record(self) -> Vec<u8> {
        self.record
    }
}

/// The number of bytes before the scripts in a record: device, inode, name, addresses and the
/// lengths of the path and of the mapped files. The path, the mapped files and the environment
/// follow the scripts.
const HEAD: usize = 8 + 8 + 16 + 1 + 4 + 4;
/// Bytes of the identity of a file: its device and inode.
const ID: usize = 16;
/// The number of script identities in a record, for the files among the first two arguments.
const SCRIPTS: usize = 2;

fn record_of(pid: Pid, mapped: &[MappedFile]) -> Option<Vec<u8>> {
    let executable = format!("/proc/{pid}/exe");
    let (device, inode) = file_id(&executable)?;
    let path = fs::read_link(&executable).ok()?;
    let state = ProcessState::of(pid)?;
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let mut files = Vec::new();
    write_files(mapped, &mut files);
    let mut record = Vec::with_capacity(HEAD + files.len() + environment.len());
    record.extend(device.to_ne_bytes());
    record.extend(inode.to_ne_bytes());
    record.extend(state.name);
    record.push(u8::from(state.addresses == AddressSpace::Random));
    record.extend((path.as_os_str().len() as u32).to_ne_bytes());
    record.extend((files.len() as u32).to_ne_bytes());
    let mut scripts = scripts_of(pid);
    scripts.resize(SCRIPTS, (0, 0));
    for (device, inode) in scripts {
        record.extend(device.to_ne_bytes());
        record.extend(inode.to_ne_bytes());
    }
    record.extend(path.as_os_str().as_bytes());
    record.extend(files);
    record.extend(environment);
    Some(record)
}

/// Decodes the record of a traced process; `None` if it is empty or cut off.
pub(super) fn sighting_in(record: &[u8]) -> Option<Sighting> {
    let number = |at: usize| Some(u64::from_ne_bytes(record.get(at..at + 8)?.try_into().ok()?));
    let (device, inode) = (number(0)?, number(8)?);
    let name = record.get(16..32)?.try_into().ok()?;
    let addresses = match record.get(32)? {
        0 => AddressSpace::Fixed,
        _ => AddressSpace::Random,
    };
    let length = |at: usize| {
        let bytes = record.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_ne_bytes(bytes) as usize)
    };
    let script = |place: usize| {
        let at = HEAD + place * ID;
        Some((number(at)?, number(at + 8)?))
    };
    let scripts = (0..SCRIPTS).map(script).collect::<Option<Vec<_>>>()?;
    let (path, rest) = record
        .get(HEAD + SCRIPTS * ID..)?
        .split_at_checked(length(33)?)?;
    let (mapped, environment) = rest.split_at_checked(length(37)?)?;
    Some(Sighting {
        file: (device, inode),
        path: PathBuf::from(std::ffi::OsString::from_vec(path.to_vec())),
        state: ProcessState { name, addresses },
        cores: Vec::new(),
        environment: Some(Environment::parse(environment)),
        scripts,
        mapped: read_files(mapped)?,
    })
}

/// Appends files to a record: for each the device, the inode, the lengths of the path and of the
/// list of pages, the path and the pages.
fn write_files(files: &[MappedFile], record: &mut Vec<u8>) {
    for file in files {
        let path = file.path.as_os_str().as_bytes();
        let numbers = [
            file.id.0,
            file.id.1,
            path.len() as u64,
            file.pages.len() as u64,
        ];
        record.extend(numbers.into_iter().flat_map(u64::to_ne_bytes));
        record.extend(path);
        record.extend(file.pages.iter().copied().flat_map(u64::to_ne_bytes));
    }
}

/// Reads what [`write_files`] wrote; `None` if the record is cut off.
fn read_files(mut record: &[u8]) -> Option<Vec<MappedFile>> {
    let mut files = Vec::new();
    while !record.is_empty() {
        let id = (take_number(&mut record)?, take_number(&mut record)?);
        let length = usize::try_from(take_number(&mut record)?).ok()?;
        let count = take_number(&mut record)?;
        let path = record.split_off(..length)?;
        let pages = (0..count).map(|_| take_number(&mut record));
        files.push(MappedFile {
            id,
            path: std::ffi::OsString::from_vec(path.to_vec()).into(),
            pages: pages.collect::<Option<_>>()?,
        });
    }
    Some(files)
}

fn take_number(record: &mut &[u8]) -> Option<u64> {
    let (number, rest) = record.split_first_chunk()?;
    *record = rest;
    Some(u64::from_ne_bytes(*number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_survives_the_way_to_deadheat() {
        let here = Pid::this();
        let mapped = mapped_files(here).unwrap();
        let record = record_of(here, &mapped).unwrap();
        let sighting = sighting_in(&record).unwrap();
        assert_eq!(sighting.mapped, mapped);
        assert_eq!(Some(sighting.file), file_id("/proc/self/exe"));
        assert_eq!(sighting.path, std::env::current_exe().unwrap());
        assert_eq!(Some(sighting.state), ProcessState::of(here));
        assert_eq!(sighting_in(&[]), None);
        assert_eq!(sighting_in(&record[..HEAD]), None);
    }

    #[test]
    fn a_list_of_files_is_read_as_it_was_written_and_rejected_if_cut_off() {
        let file = |inode, path: &str, pages: &[u64]| MappedFile {
            id: (1, inode),
            path: path.into(),
            pages: pages.iter().copied().collect(),
        };
        let files = [file(2, "/a", &[0, 4096]), file(3, "/b c", &[])];
        let mut record = Vec::new();
        write_files(&files, &mut record);
        assert_eq!(read_files(&record).unwrap(), files);
        assert_eq!(read_files(&record[..record.len() - 1]), None);
        assert_eq!(read_files(&[]), Some(Vec::new()));
    }
}
