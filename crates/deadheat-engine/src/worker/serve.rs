//! The worker's side: does what it is asked until the pipe closes.
#![allow(unsafe_code)]

use std::any::Any;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use super::baton::{Baton, PeerGone};
use super::listing::ListedBenchmark;
use super::protocol::{BlockRequest, PROTOCOL, Problem, Reply, Request};
use super::trace::{Traced, set_nonblocking};
use crate::allocation::allocations_of_this_thread;
use crate::clock::SampleClock;
use crate::function::{
    Alone, Disagreement, FunctionBenchmark, Gauge, Reading, hold_heap, pilot, warm_up,
    with_stack_offset,
};
use crate::random::{Purpose, stream};
use rand_core::Rng;

/// The variable that makes a program a worker: the numbers of its pipes.
pub(super) const VARIABLE: &str = "DEADHEAT_WORKER";
/// The variable of a worker that takes turns with another: the numbers of the
/// pipes that the baton comes from and goes to.
pub(super) const BATON_VARIABLE: &str = "DEADHEAT_BATON";

/// What the last panic said, until somebody asks.
static LAST_PANIC: Mutex<Option<String>> = Mutex::new(None);

/// The benchmarks that a worker process holds.
pub trait WorkerSuite {
    /// All of them.
    fn list(&self) -> Vec<ListedBenchmark>;
    /// The one of this name; the others are dropped.
    fn take(self, name: &str) -> Option<Box<dyn FunctionBenchmark>>;
}

/// The pipes of a worker process.
#[derive(Debug)]
pub struct WorkerPipes {
    requests: BufReader<PipeReader>,
    replies: PipeWriter,
    /// Who is being called.
    notes: PipeWriter,
    /// Of a worker that takes turns with another.
    baton: Option<Baton>,
}

impl WorkerPipes {
    /// The pipes this process was given, when it was started as a worker.
    ///
    /// Call it once, first thing in `main`, while there is only one thread:
    /// it takes the variables out of the environment, so that what the
    /// functions under test start is no worker.
    pub fn inherited() -> Option<Self> {
        let pipes = descriptors(VARIABLE);
        let baton = descriptors(BATON_VARIABLE);
        let [requests, replies, notes] = pipes?;
        die_with_the_coordinator();
        set_nonblocking(&notes).ok()?;
        Some(Self {
            requests: BufReader::new(requests.into()),
            replies: replies.into(),
            notes: notes.into(),
            baton: baton.map(|[incoming, outgoing]| Baton {
                incoming: incoming.into(),
                outgoing: outgoing.into(),
            }),
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

/// The descriptors that a variable names, which is gone from the environment
/// when this returns. Numbers that are no descriptors make no worker.
fn descriptors<const N: usize>(variable: &str) -> Option<[OwnedFd; N]> {
    let text = std::env::var(variable).ok()?;
    // SAFETY: at the start of `main` no other thread reads or writes the
    // environment.
    unsafe { std::env::remove_var(variable) };
    let numbers: Result<Vec<RawFd>, _> = text.split(',').map(str::parse).collect();
    let numbers: [RawFd; N] = numbers.ok()?.try_into().ok()?;
    for fd in numbers {
        // SAFETY: plain system call; a number that is no descriptor is
        // refused, and then this is no worker.
        if unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) } < 0 {
            return None;
        }
    }
    // SAFETY: the coordinator left these descriptors open for this process
    // and told nobody else about them.
    Some(numbers.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }))
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

/// Serves one benchmark of a suite, as its coordinator asks for it.
pub fn serve(mut pipes: WorkerPipes, suite: impl WorkerSuite) {
    keep_panics(&pipes);
    let mut line = String::new();
    let metrics = Reading::metrics(allocations_of_this_thread().is_some());
    let hello = Reply::Hello {
        protocol: PROTOCOL,
        worker: concat!("deadheat ", env!("CARGO_PKG_VERSION")).to_owned(),
        metrics: metrics.to_vec(),
    };
    if pipes.say(&hello).is_none() {
        return;
    }
    let (benchmark, contender, clock, cpu_overhead_ns, heap_bytes, stack_bytes) = loop {
        match pipes.hear(&mut line) {
            Some(Request::List) => {
                if pipes.say(&Reply::Listed(suite.list())).is_none() {
                    return;
                }
            }
            Some(Request::Prepare {
                benchmark,
                contender,
                clock,
                cpu_overhead_ns,
                heap_bytes,
                stack_bytes,
            }) => {
                break (
                    benchmark,
                    contender,
                    clock,
                    cpu_overhead_ns,
                    heap_bytes,
                    stack_bytes,
                );
            }
            None | Some(Request::Bye) => return,
            Some(_) => {
                pipes.say(&failed(Problem::OutOfTurn));
                return;
            }
        }
    };
    // Before anything of the benchmark comes to lie anywhere.
    let _held = hold_heap(heap_bytes);
    let found = SampleClock::from_words(&clock).zip(found(suite, &benchmark, contender));
    let Some((clock, benchmark)) = found else {
        pipes.say(&failed(Problem::Unknown));
        return;
    };
    with_stack_offset(stack_bytes, || {
        Worker {
            benchmark,
            gauge: Gauge::with_overhead(clock, cpu_overhead_ns),
            width: metrics.len(),
            baton: pipes.baton.take(),
        }
        .work(pipes)
    });
}

/// The benchmark of this name, or only one contender of it.
fn found(
    suite: impl WorkerSuite,
    benchmark: &str,
    contender: Option<String>,
) -> Option<Box<dyn FunctionBenchmark>> {
    let Some(contender) = contender else {
        return suite.take(benchmark);
    };
    let listed = suite.list().into_iter().find(|b| b.name == benchmark)?;
    let place = listed.contenders.iter().position(|c| *c == contender)?;
    let benchmark = suite.take(benchmark)?;
    Some(Box::new(Alone::new(benchmark, place)))
}

fn failed(problem: Problem) -> Reply {
    // Who it was, the notes tell.
    Reply::Failed {
        contender: None,
        problem,
    }
}

struct Worker {
    benchmark: Box<dyn FunctionBenchmark>,
    gauge: Gauge,
    /// Values of a sample.
    width: usize,
    baton: Option<Baton>,
}

impl Worker {
    fn work(mut self, mut pipes: WorkerPipes) {
        let mut line = String::new();
        let renews_input = self.benchmark.renews_input();
        let mut reply = Reply::Prepared { renews_input };
        loop {
            let over = matches!(reply, Reply::Failed { .. });
            if pipes.say(&reply).is_none() || over {
                return;
            }
            let request = match pipes.hear(&mut line) {
                None | Some(Request::Bye) => return,
                Some(request) => request,
            };
            let answered = catch_unwind(AssertUnwindSafe(|| self.answer(request, &pipes.notes)));
            reply = answered.unwrap_or_else(|panic| failed(Problem::Panicked(told(panic))));
        }
    }

    fn answer(&mut self, request: Request, notes: &PipeWriter) -> Reply {
        let mut benchmark = Traced::new(&mut *self.benchmark, notes);
        match request {
            Request::Calibrate { seed, least_ns } => {
                let found = pilot(&mut benchmark, seed, least_ns, &self.gauge);
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
            Request::Block(block) => {
                // A baton that is not handed over in this block stays where it
                // is.
                let shared = block.turns.contains(&None);
                let baton = self.baton.as_mut().filter(|_| shared);
                let values = take_turns(&mut benchmark, &block, &self.gauge, self.width, baton);
                match values {
                    Ok(values) => checked(&benchmark, Reply::Block { values }),
                    Err(PeerGone) => failed(Problem::PeerGone),
                }
            }
            Request::List | Request::Prepare { .. } | Request::Bye => failed(Problem::OutOfTurn),
        }
    }
}

/// Takes this process's turns of a block, and gives back the values of those
/// that are recorded.
fn take_turns(
    benchmark: &mut Traced<'_>,
    block: &BlockRequest,
    gauge: &Gauge,
    width: usize,
    mut baton: Option<&mut Baton>,
) -> Result<Vec<f64>, PeerGone> {
    let own = block.turns.iter().flatten().count();
    let mut values = Vec::with_capacity(own * width);
    benchmark.prepare(block.seed);
    let is_own = |place: usize| matches!(block.turns.get(place), Some(Some(_)));
    if let Some(baton) = baton.as_deref_mut().filter(|_| !is_own(0)) {
        benchmark.idle();
        baton.pass()?;
    }
    for (place, turn) in block.turns.iter().enumerate() {
        let Some(contender) = turn else { continue };
        if let Some(baton) = baton.as_deref_mut()
            && (place == 0 || !is_own(place - 1))
        {
            benchmark.idle();
            baton.take()?;
        }
        if place < block.unrecorded {
            benchmark.sample(*contender, block.unrecorded_iterations, gauge);
        } else {
            let reading = benchmark.sample(*contender, block.iterations, gauge);
            values.extend_from_slice(&reading.values()[..width]);
        }
        if let Some(baton) = baton.as_deref_mut().filter(|_| !is_own(place + 1)) {
            benchmark.idle();
            baton.pass()?;
        }
    }
    // No answer wakes anybody before the last turn is over.
    if let Some(baton) = baton.filter(|_| !is_own(block.turns.len() - 1)) {
        baton.take()?;
    }
    Ok(values)
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
