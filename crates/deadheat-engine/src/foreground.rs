//! A program that runs in place of this one for a while: not measured, only waited for.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this exit code.
    Exited(i32),
    /// By this signal.
    Killed(i32),
}

/// Runs a program to its end. It reads and writes where this program does; a name without a slash is looked up in
/// `PATH`.
///
/// # Errors
///
/// A program that cannot be started.
pub fn run_in_foreground(program: &OsStr, arguments: &[OsString]) -> io::Result<Ended> {
    wait_for(Command::new(program).args(arguments))
}

/// The same, but what the program prints on standard output goes to standard error: this program's is for an answer.
///
/// # Errors
///
/// A program that cannot be started.
pub fn run_beside_the_answer(program: &OsStr, arguments: &[OsString]) -> io::Result<Ended> {
    wait_for(Command::new(program).args(arguments).stdout(io::stderr()))
}

fn wait_for(command: &mut Command) -> io::Result<Ended> {
    let status = command.status()?;
    Ok(match status.code() {
        Some(code) => Ended::Exited(code),
        None => Ended::Killed(status.signal().unwrap_or(0)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> io::Result<Ended> {
        run_in_foreground("sh".as_ref(), &["-c".into(), script.into()])
    }

    #[test]
    fn the_end_of_a_program_is_told_as_it_was() {
        assert_eq!(sh("exit 0").unwrap(), Ended::Exited(0));
        assert_eq!(sh("exit 3").unwrap(), Ended::Exited(3));
        assert_eq!(sh("kill -11 $$").unwrap(), Ended::Killed(11));
        assert!(run_in_foreground("no such program".as_ref(), &[]).is_err());
        let beside = run_beside_the_answer("sh".as_ref(), &["-c".into(), "exit 4".into()]);
        assert_eq!(beside.unwrap(), Ended::Exited(4));
    }
}
