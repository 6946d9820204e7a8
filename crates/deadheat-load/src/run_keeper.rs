//! The keeper of a worker: a process that starts the worker, waits for its end, ends all processes
//! that the worker has left, and removes its folder.
//!
//! A server may kill its parent, for example by `kill -9 $PPID`, and its helpers may then run in
//! sessions of their own with an empty environment. Because the keeper is the parent of all orphans
//! below it, it finds these processes. If deadheat and the keeper are killed, the worker notices the
//! end of its requests and cleans up itself.

use std::env;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::Command;

use deadheat::parts::engine::Interrupts;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::ScratchFolder;
use nix::sys::signal::{SigSet, Signal, raise};
use nix::unistd::close;

use crate::run_processes::{adopt_orphans, end_all};

/// The environment variable of a kept worker: the path of its folder.
pub(crate) const FOLDER: &str = "DEADHEAT_LOAD_FOLDER";
/// The environment variable of a kept worker without a folder: the reason.
pub(crate) const NO_FOLDER: &str = "DEADHEAT_LOAD_NO_FOLDER";

/// Returns true if a keeper has started this process.
pub(crate) fn is_kept() -> bool {
    [FOLDER, NO_FOLDER]
        .iter()
        .any(|name| env::var_os(name).is_some())
}

/// Returns the folder of this worker, or the reason why it has none.
pub(crate) fn folder() -> Result<PathBuf, String> {
    let path = env::var_os(FOLDER).map(PathBuf::from);
    path.ok_or_else(|| env::var(NO_FOLDER).unwrap_or_default())
}

/// Starts this program again as the worker, and cleans up after it. `pipes` are the inherited pipes
/// of the worker.
///
/// # Errors
///
/// Fails if the worker cannot be started.
pub(crate) fn keep(pipes: Vec<i32>) -> Result<Status, Failure> {
    let _ = nix::sys::prctl::set_name(c"dh-load-keeper");
    let cannot =
        |problem: String| Failure::Internal(format!("the worker was not started: {problem}"));
    let outlived = outlive_signals().map_err(|problem| cannot(problem.to_string()))?;
    adopt_orphans().map_err(|problem| cannot(problem.to_string()))?;
    // Under Valgrind, the second path leads to Valgrind. The first one is missing if this program was
    // replaced since its start.
    let own = env::current_exe().ok().filter(|own| own.exists());
    let mut command = Command::new(own.unwrap_or_else(|| "/proc/self/exe".into()));
    let mut words = env::args_os();
    command.arg0(words.next().unwrap_or_default()).args(words);
    let folder = ScratchFolder::create_large();
    match &folder {
        Ok(folder) => command.env(FOLDER, folder.path()),
        Err(problem) => command.env(NO_FOLDER, problem.to_string()),
    };
    let started = command.process_group(0).spawn();
    let mut worker = started.map_err(|problem| cannot(problem.to_string()))?;
    // While this process holds them, the other side would not notice the end of the worker.
    for pipe in pipes {
        let _ = close(pipe);
    }
    let ended = worker.wait();
    end_all();
    drop(folder);
    drop(outlived);
    let ended = ended.map_err(|problem| cannot(problem.to_string()))?;
    if let Some(Ok(signal)) = ended.signal().map(Signal::try_from) {
        // deadheat reports how the worker ended.
        let _ = raise(signal);
    }
    match ended.code() {
        Some(0) => Ok(Status::Done),
        code => std::process::exit(code.unwrap_or(1)),
    }
}

/// Makes the signals that ask a process to end, such as SIGHUP and SIGTERM, have no effect on this
/// process while the value lives. Programs that this process starts have the default actions again.
/// A server may send them to its parent, to its session or to all processes.
pub(crate) fn outlive_signals() -> nix::Result<Interrupts> {
    let mask = SigSet::thread_get_mask()?;
    let outlived = Interrupts::install()?;
    // Programs that this process starts would inherit the blocked signals.
    mask.thread_set_mask()?;
    Ok(outlived)
}
