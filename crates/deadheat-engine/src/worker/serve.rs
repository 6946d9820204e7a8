//! The worker's side: does what it is asked until the pipe closes.
#![allow(unsafe_code)]

use std::any::Any;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use super::protocol::{PROTOCOL, Problem, Reply, Request};
use super::trace::{Traced, set_nonblocking};
use crate::allocation::allocations_of_this_thread;
use crate::clock::SampleClock;
use crate::function::{
    Disagreement, FunctionBenchmark, Gauge, Reading, hold_heap, pilot, primes, warm_up,
    with_stack_offset,
};
use crate::random::{Purpose, stream};
use rand_core::Rng;

/// The variable that makes a program a worker: the numbers of its pipes.
pub(super) const VARIABLE: &str = "DEADHEAT_WORKER";

/// What the last panic said, until somebody asks.
static LAST_PANIC: Mutex<Option<String>> = Mutex::new(None);

/// The pipes of a worker process.
#[derive(Debug)]
pub struct WorkerPipes {
    requests: BufReader<PipeReader>,
    replies: PipeWriter,
    /// Who is being called.
    notes: PipeWriter,
}

impl WorkerPipes {
    /// The pipes this process was given, when it was started as a worker.
    ///
    /// Call it once, first thing in `main`, while there is only one thread:
    /// it takes the variable out of the environment, so that what the
    /// functions under test start is no worker.
    pub fn inherited() -> Option<Self> {
        let text = std::env::var(VARIABLE).ok()?;
        let numbers: Result<Vec<RawFd>, _> = text.split(',').map(str::parse).collect();
        let [requests, replies, notes] = numbers.ok()?.try_into().ok()?;
        // SAFETY: at the start of `main` no other thread reads or writes the
        // environment.
        unsafe { std::env::remove_var(VARIABLE) };
        for fd in [requests, replies, notes] {
            // SAFETY: plain system call; a number that is no descriptor is
            // refused, and then this is no worker.
            if unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) } < 0 {
                return None;
            }
        }
        die_with_the_coordinator();
        // SAFETY: the coordinator left these descriptors open for this process
        // and told nobody else about them.
        let [requests, replies, notes] =
            [requests, replies, notes].map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
        set_nonblocking(&notes).ok()?;
        Some(Self {
            requests: BufReader::new(requests.into()),
            replies: replies.into(),
            notes: notes.into(),
        })
    }

    fn hear(&mut self, line: &mut String) -> Option<Request> {
        line.clear();
        // An end of the pipe is the end of the work, and so is anything that
        // cannot be understood: the coordinator sees the pipe close.
        match self.requests.read_line(line) {
            Ok(bytes) if bytes > 0 => Request::from_line(line.as_bytes()),
            _ => None,
        }
    }

    fn say(&mut self, reply: &Reply) -> Option<()> {
        self.replies.write_all(reply.to_line().as_bytes()).ok()
    }
}

/// No worker outlives its coordinator, however that ends, and neither does
/// what the functions have started.
fn die_with_the_coordinator() {
    #[cfg(target_os = "linux")]
    {
        // One that nobody else uses; unhandled it would still end the worker.
        let signal = libc::SIGRTMAX() - 3;
        // SAFETY: an action of zeroes but for its handler, which makes only
        // system calls that are allowed in one.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = kill_the_group as *const () as libc::sighandler_t;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
        // SAFETY: plain system call on integers.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, signal) };
    }
}

/// Ends this process and its group, if that is its own.
#[cfg(target_os = "linux")]
extern "C" fn kill_the_group(_signal: libc::c_int) {
    // SAFETY: plain system calls on integers, none of which is forbidden in a
    // signal handler.
    unsafe {
        if libc::getpgrp() == libc::getpid() {
            libc::kill(0, libc::SIGKILL);
        }
        libc::kill(libc::getpid(), libc::SIGKILL);
    }
}

/// Serves one benchmark, which `find` gets ready by its name.
pub fn serve(
    mut pipes: WorkerPipes,
    find: impl FnOnce(&str) -> Option<Box<dyn FunctionBenchmark>>,
) {
    keep_panics(&pipes);
    let mut line = String::new();
    let hello = Reply::Hello { protocol: PROTOCOL };
    if pipes.say(&hello).is_none() {
        return;
    }
    let Some(Request::Prepare {
        benchmark,
        clock,
        cpu_overhead_ns,
        heap_bytes,
        stack_bytes,
    }) = pipes.hear(&mut line)
    else {
        return;
    };
    // Before anything of the benchmark comes to lie anywhere.
    let _held = hold_heap(heap_bytes);
    let fail = |problem| Reply::Failed {
        contender: None,
        problem,
    };
    let found = SampleClock::from_words(&clock).zip(find(&benchmark));
    let Some((clock, benchmark)) = found else {
        pipes.say(&fail(Problem::Unknown));
        return;
    };
    with_stack_offset(stack_bytes, || {
        Worker {
            benchmark,
            gauge: Gauge::with_overhead(clock, cpu_overhead_ns),
            width: Reading::metrics(allocations_of_this_thread().is_some()).len(),
        }
        .work(pipes)
    });
}

struct Worker {
    benchmark: Box<dyn FunctionBenchmark>,
    gauge: Gauge,
    /// Values of a sample.
    width: usize,
}

impl Worker {
    fn work(mut self, mut pipes: WorkerPipes) {
        let mut line = String::new();
        let mut reply = Reply::Prepared { values: self.width };
        loop {
            let failed = matches!(reply, Reply::Failed { .. });
            if pipes.say(&reply).is_none() || failed {
                return;
            }
            let request = match pipes.hear(&mut line) {
                None | Some(Request::Bye) => return,
                Some(request) => request,
            };
            let answered = catch_unwind(AssertUnwindSafe(|| self.answer(request, &pipes.notes)));
            // Who it was, the notes tell.
            reply = answered.unwrap_or_else(|panic| Reply::Failed {
                contender: None,
                problem: Problem::Panicked(told(panic)),
            });
        }
    }

    fn answer(&mut self, request: Request, notes: &PipeWriter) -> Reply {
        let mut benchmark = Traced::new(&mut *self.benchmark, notes);
        match request {
            Request::Calibrate { seed } => {
                let found = pilot(&mut benchmark, seed, &self.gauge);
                checked(&benchmark, Reply::Calibrated(found))
            }
            Request::Smoke { seed } => {
                benchmark.prepare(seed);
                for contender in 0..benchmark.contenders() {
                    benchmark.sample(contender, 1, &self.gauge);
                }
                checked(&benchmark, Reply::Sound)
            }
            Request::WarmUp {
                seed,
                order,
                iterations,
            } => {
                let seed_of = |round| stream(seed, Purpose::WarmUp, [round, 0, 0]).next_u64();
                let rounds = warm_up(&mut benchmark, &order, iterations, seed_of, &self.gauge);
                Reply::Warm { rounds }
            }
            Request::Block {
                seed,
                iterations,
                prime,
                slots,
            } => {
                let mut values = Vec::with_capacity(slots.len() * self.width);
                benchmark.prepare(seed);
                for contender in primes(benchmark.renews_input(), prime, &slots) {
                    benchmark.sample(contender, iterations, &self.gauge);
                }
                for contender in slots {
                    let reading = benchmark.sample(contender, iterations, &self.gauge);
                    values.extend_from_slice(&reading.values()[..self.width]);
                }
                checked(&benchmark, Reply::Block { values })
            }
            Request::Prepare { .. } | Request::Bye => Reply::Failed {
                contender: None,
                problem: Problem::OutOfTurn,
            },
        }
    }
}

/// The reply, unless the outputs disagree.
fn checked(benchmark: &dyn FunctionBenchmark, reply: Reply) -> Reply {
    let (contender, problem) = match benchmark.check() {
        Ok(()) => return reply,
        Err(Disagreement::WithBaseline { candidate }) => (candidate, Problem::OutputDiffers),
        Err(Disagreement::WithItself { contender }) => (contender, Problem::OutputVaries),
    };
    Reply::Failed {
        contender: Some(contender),
        problem,
    }
}

/// Keeps what a panic says instead of printing it. Where a panic aborts, it is
/// the last thing this process can say.
fn keep_panics(pipes: &WorkerPipes) {
    let mut last_words = pipes.replies.try_clone().ok();
    if !cfg!(panic = "abort") {
        last_words = None;
    }
    let last_words = Mutex::new(last_words);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let message = text_of(info.payload());
        let text = match info.location() {
            Some(place) => format!("at {place}: {message}"),
            None => message.to_owned(),
        };
        if let Ok(mut pipe) = last_words.lock()
            && let Some(pipe) = pipe.as_mut()
        {
            let reply = Reply::Failed {
                contender: None,
                problem: Problem::Panicked(text.clone()),
            };
            let _ = pipe.write_all(reply.to_line().as_bytes());
        }
        if let Ok(mut last) = LAST_PANIC.lock() {
            *last = Some(text);
        }
        // With --nocapture standard error is somebody's terminal.
        before(info);
    }));
}

/// What a panic said, with its place when the hook saw it.
fn told(panic: Box<dyn Any + Send>) -> String {
    let last = LAST_PANIC.lock().ok().and_then(|mut last| last.take());
    last.unwrap_or_else(|| text_of(&*panic).to_owned())
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let literal = panic.downcast_ref::<&str>().copied();
    literal
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("with a value that is no text")
}
