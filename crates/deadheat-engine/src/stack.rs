//! A stack that is large enough, whatever the limit of the process (`ulimit -s`).

use std::panic::resume_unwind;
use std::thread;

use nix::sys::resource::{Resource, getrlimit};
use nix::sys::signal::{SigSet, SigmaskHow};

/// Bytes of stack that suffice for the program.
const ENOUGH: u64 = 4 << 20;
/// Bytes of stack of a new thread.
const OWN: usize = 8 << 20;

/// Runs `program` with enough stack: on this thread, or on a new one if the stack limit of the
/// process is too low. Child processes keep the limit.
///
/// # Errors
///
/// If the thread cannot be started.
pub fn with_enough_stack<T: Send>(program: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    if limit() >= ENOUGH {
        return Ok(program());
    }
    // This thread blocks all signals, so that they interrupt the thread that works.
    let before = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK);
    let before = before.unwrap_or_else(|_| SigSet::empty());
    let done = thread::scope(|scope| {
        let work = || {
            let _ = before.thread_set_mask();
            program()
        };
        let named = thread::Builder::new().name("main".to_owned());
        let worker = named.stack_size(OWN).spawn_scoped(scope, work)?;
        Ok(worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    let _ = before.thread_set_mask();
    done
}

/// Returns the stack limit of the main thread in bytes.
fn limit() -> u64 {
    getrlimit(Resource::RLIMIT_STACK).map_or(u64::MAX, |(soft, _)| soft)
}
