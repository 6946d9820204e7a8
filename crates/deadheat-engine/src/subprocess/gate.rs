//! Starts several processes and holds each before it executes its program until all have started.
#![allow(unsafe_code)]

use std::io::{Error, ErrorKind, Read, Write, pipe};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::mpsc::channel;
use std::thread;

use nix::sys::signal::SigSet;

use super::group::ProcessGroup;

/// Starts all commands, holds each just before `execve`, releases them together, and passes their
/// processes to `body` in the order of `commands`.
///
/// `Command::spawn` waits until the program is executed, so each command has a separate thread. The
/// thread lives until `body` returns, because the kernel kills a process when the thread that
/// started it ends (`PR_SET_PDEATHSIG`).
pub(super) fn start_together<T>(
    commands: &mut [Command],
    mask: &SigSet,
    body: impl FnOnce(Vec<std::io::Result<ProcessGroup>>) -> T,
) -> T {
    let (gate, mut arrivals) = match (pipe(), pipe()) {
        (Ok(gate), Ok(arrivals)) => (gate, arrivals),
        (Err(error), _) | (_, Err(error)) => {
            let failed = |_: &Command| Err(Error::new(error.kind(), error.to_string()));
            return body(commands.iter().map(failed).collect());
        }
    };
    let (waiting, mut opener) = gate;
    let permits = vec![1; commands.len()];
    for command in &mut *commands {
        let [waiting, opener] = [waiting.as_raw_fd(), opener.as_raw_fd()];
        wait_at_gate(command, waiting, opener, arrivals.1.as_raw_fd());
    }
    let arrived = &arrivals.1;
    thread::scope(|scope| {
        let mut starting = Vec::new();
        for command in commands {
            let (send_process, process) = channel();
            let (body_runs, until_over) = channel::<()>();
            scope.spawn(move || {
                let _ = send_process.send(ProcessGroup::start(command, mask));
                // A process that failed to start has not written its byte.
                let _ = (&mut &*arrived).write(&[1]);
                let _ = until_over.recv();
            });
            let _ = arrivals.0.read_exact(&mut [0]);
            starting.push((process, body_runs));
        }
        // A byte for each process. Closing the pipe would not be enough: if two threads start
        // groups at the same moment, each group inherits the other's opener, and both would wait
        // forever.
        let _ = opener.write_all(&permits);
        drop(opener);
        let started = starting.iter().map(|(process, _)| {
            let lost = |_| Err(ErrorKind::BrokenPipe.into());
            process.recv().unwrap_or_else(lost)
        });
        let started = started.collect();
        let result = body(started);
        drop(starting);
        result
    })
}

/// Makes the process of a command write a byte to `arrived` before it executes its program, and
/// then wait for a byte from `waiting` or for the end of that pipe.
fn wait_at_gate(command: &mut Command, waiting: RawFd, opener: RawFd, arrived: RawFd) {
    // SAFETY: between fork and exec only system calls on integers and on bytes of the stack are
    // made.
    unsafe {
        command.pre_exec(move || {
            let mut byte = 1u8;
            // While this process holds the writing end, it would not notice that deadheat died.
            libc::close(opener);
            libc::write(arrived, (&raw const byte).cast(), 1);
            while libc::read(waiting, (&raw mut byte).cast(), 1) < 0 {
                if Error::last_os_error().kind() != ErrorKind::Interrupted {
                    break;
                }
            }
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_start_at_the_same_moment_do_not_wait_for_each_other() {
        let start_often = || {
            for _ in 0..100 {
                let mut commands = [Command::new("true"), Command::new("true")];
                let started = start_together(&mut commands, &SigSet::empty(), |started| {
                    started.into_iter().filter(Result::is_ok).count()
                });
                assert_eq!(started, 2);
            }
        };
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(start_often);
            }
        });
    }
}
