//! A stack that is large enough, whatever the limit of the process (`ulimit -s`).

use std::panic::resume_unwind;
use std::thread;

use nix::sys::resource::{Resource, getrlimit};
use nix::sys::signal::{SigSet, SigmaskHow};

/// Bytes of stack that suffice for the program.
const ENOUGH: u64 = 4 << 20;
/// Bytes of a stack of our own.
const OWN: usize = 8 << 20;

/// Runs the program where it has enough stack: here, or on a thread if the limit of the process is
/// lower than that. The processes that it starts keep the limit.
///
/// # Errors
///
/// The thread cannot be started.
pub fn with_enough_stack<T: Send>(program: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    if limit() >= ENOUGH {
        return Ok(program());
    }
    // This thread holds all signals back, so that they interrupt the one that works.
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

/// The bytes that the stack of the main thread may grow to.
fn limit() -> u64 {
    getrlimit(Resource::RLIMIT_STACK).map_or(u64::MAX, |(soft, _)| soft)
}
