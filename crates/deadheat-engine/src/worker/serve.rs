//! The worker's side: does what it is asked until the pipe closes.

use std::io::PipeWriter;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rand_core::Rng;

use super::baton::{Baton, PeerGone};
use super::listing::ListedBenchmark;
use super::panics::{keep_panics, told};
use super::pipes::WorkerPipes;
use super::protocol::{PROTOCOL, Problem, Reply, Request};
use super::trace::Traced;
use super::turns::take_turns;
use crate::allocation::allocations_of_this_thread;
use crate::clock::SampleClock;
use crate::function::{
    Disagreement, FunctionBenchmark, Gauge, Reading, SingleContender, hold_heap, pilot, warm_up,
    with_stack_offset,
};
use crate::random::{Purpose, stream};

/// The benchmarks that a worker process holds.
pub trait WorkerSuite {
    /// All of them.
    fn list(&self) -> Vec<ListedBenchmark>;
    /// The one of this name; the others are dropped.
    fn take(self, name: &str) -> Option<Box<dyn FunctionBenchmark>>;
}

/// Serves one benchmark of a suite, as its coordinator asks for it.
pub fn serve(mut pipes: WorkerPipes, suite: impl WorkerSuite) {
    keep_panics(&pipes.replies);
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
            ready: None,
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
    Some(Box::new(SingleContender::new(benchmark, place)))
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
    /// The seed of the input that a warm-up of one round has left.
    ready: Option<u64>,
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
        let ready = self.ready.take();
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
                let seed_of = |round| match round {
                    0 => seed,
                    _ => stream(seed, Purpose::WarmUp, [round, 0, 0]).next_u64(),
                };
                let rounds = warm_up(&mut benchmark, &order, iterations, seed_of, &self.gauge);
                self.ready = (rounds == 1).then_some(seed);
                Reply::Warm {
                    rounds,
                    ready: self.ready,
                }
            }
            Request::Block(block) => {
                if ready != Some(block.seed) {
                    benchmark.prepare(block.seed);
                }
                let baton = self.baton.as_mut();
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
