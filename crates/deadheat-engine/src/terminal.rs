//! The width of the terminal, a check for a closed standard output, and programs that run in the
//! foreground.
#![allow(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::RawFd;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

static STDOUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Checks before `main` if standard output is closed. Rust's runtime opens /dev/null in its place,
/// so a report would vanish and the exit code would still be 0.
// SAFETY: the dynamic linker calls each function of this section once, by the C ABI, before any
// thread is started; `look` makes a system call and a store.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: F_GETFD reads the flags of a descriptor, or fails where it is closed.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    STDOUT_WAS_CLOSED.store(flags == -1, Ordering::Relaxed);
}

/// Returns true if this program was started with standard output closed.
pub fn stdout_was_closed() -> bool {
    STDOUT_WAS_CLOSED.load(Ordering::Relaxed)
}

/// Discards what was typed into the terminal of standard input and not read yet.
pub fn discard_typed_input() {
    // SAFETY: tcflush fails if the descriptor is not a terminal, and touches no memory.
    unsafe { libc::tcflush(libc::STDIN_FILENO, libc::TCIFLUSH) };
}

/// Returns the number of columns of the terminal of a descriptor; `None` if it is not a terminal,
/// or if its width is unknown.
pub fn terminal_width(fd: RawFd) -> Option<u16> {
    let mut size = libc::winsize {
        ws_row: 0,
        ws_col: 0,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: the request writes one `winsize`, and `size` lives through the call. The call fails
    // for a descriptor that is closed or not a terminal.
    let done = unsafe { libc::ioctl(fd, libc::TIOCGWINSZ, &mut size) };
    (done == 0 && size.ws_col > 0).then_some(size.ws_col)
}

/// The way in which a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The program exited with this code.
    Exited(i32),
    /// This signal killed the program.
    Killed(i32),
}

/// Runs a program to its end with the standard streams of this process. A name without a slash is
/// looked up in `PATH`.
///
/// # Errors
///
/// If the program cannot be started.
pub fn run_in_foreground(program: &OsStr, arguments: &[OsString]) -> io::Result<Ended> {
    let status = Command::new(program).args(arguments).status()?;
    Ok(match status.code() {
        Some(code) => Ended::Exited(code),
        None => Ended::Killed(status.signal().unwrap_or(0)),
    })
}

#[cfg(test)]
mod tests {
    use std::fs::{File, OpenOptions};
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn a_terminal_has_the_width_it_was_given_and_none_before() {
        let terminal = OpenOptions::new()
            .read(true)
            .write(true)
            .open("/dev/ptmx")
            .unwrap();
        let fd = terminal.as_raw_fd();
        assert_eq!(terminal_width(fd), None);
        let size = libc::winsize {
            ws_row: 24,
            ws_col: 93,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        // SAFETY: the request reads one `winsize`, and `size` is one.
        let done = unsafe { libc::ioctl(fd, libc::TIOCSWINSZ, &size) };
        assert_eq!(done, 0);
        assert_eq!(terminal_width(fd), Some(93));
    }

    #[test]
    fn what_is_no_terminal_has_no_width() {
        let file = File::open("/dev/null").unwrap();
        assert_eq!(terminal_width(file.as_raw_fd()), None);
        assert_eq!(terminal_width(-1), None);
    }

    fn sh(script: &str) -> io::Result<Ended> {
        run_in_foreground("sh".as_ref(), &["-c".into(), script.into()])
    }

    #[test]
    fn the_end_of_a_program_is_told_as_it_was() {
        assert_eq!(sh("exit 0").unwrap(), Ended::Exited(0));
        assert_eq!(sh("exit 3").unwrap(), Ended::Exited(3));
        assert_eq!(sh("kill -11 $$").unwrap(), Ended::Killed(11));
        assert!(run_in_foreground("no such program".as_ref(), &[]).is_err());
    }
}
