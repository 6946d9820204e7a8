//! The worker's side of the protocol: serves requests until the pipe closes.

use std::any::Any;
use std::io::{PipeWriter, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Mutex;

use rand_core::Rng;

use super::pipes::{Baton, NOBODY, PeerGone, WorkerPipes};
use super::protocol::{
    BlockRequest, ListedBenchmark, PROTOCOL, PrepareRequest, Problem, Reply, Request,
};
use crate::clock::{Gauge, Reading, SampleClock};
use crate::function::{Disagreement, FunctionBenchmark, pilot, warm_up};
use crate::memory_layout::{hold_heap, with_stack_offset};
use crate::random::{Purpose, stream};
use crate::run_delay::OtherUsage;

/// The benchmarks of a worker process.
pub trait WorkerSuite {
    /// Returns the list of all benchmarks.
    fn list(&self) -> Vec<ListedBenchmark>;
    /// Returns the benchmark with this name and drops the others.
    fn take(self, name: &str) -> Option<Box<dyn FunctionBenchmark>>;
}

/// Lists the benchmarks of `suite` as often as the coordinator asks, then serves the one that it
/// requests.
pub fn serve(pipes: WorkerPipes, suite: impl WorkerSuite) {
    let mut asked = pipes.greet();
    let wanted = loop {
        match asked {
            None => return,
            Some(FirstRequest::List(listing)) => asked = listing.answer(suite.list()),
            Some(FirstRequest::Benchmark(wanted)) => break wanted,
        }
    };
    match found(suite, wanted.name(), wanted.contender()) {
        Some((mut benchmark, only)) => wanted.serve(&mut *benchmark, only),
        None => wanted.refuse(),
    }
}

/// A request that a coordinator may send first.
#[derive(Debug)]
pub enum FirstRequest {
    /// A request for the list of benchmarks.
    List(ListRequest),
    /// A request to serve one benchmark until the worker exits.
    Benchmark(WantedBenchmark),
}

/// A request for the list of benchmarks, not answered yet.
#[derive(Debug)]
pub struct ListRequest(WorkerPipes);

/// A request to serve one benchmark, not answered yet.
#[derive(Debug)]
pub struct WantedBenchmark {
    pipes: WorkerPipes,
    prepare: PrepareRequest,
    /// Heap memory that is held so that later allocations move.
    _held: Vec<u8>,
}

impl WorkerPipes {
    /// Sends the worker's name and version, and returns the coordinator's first request; `None` if
    /// the coordinator sends none. The process may then exit.
    pub fn greet(mut self) -> Option<FirstRequest> {
        keep_panics(&self.replies);
        self.send(&Reply::Hello {
            protocol: PROTOCOL,
            worker: concat!("deadheat ", env!("CARGO_PKG_VERSION")).to_owned(),
            metrics: Reading::metrics_here().to_vec(),
            forks: false,
            leaves_within: None,
        })?;
        self.asked()
    }

    fn asked(mut self) -> Option<FirstRequest> {
        match self.next_request(&mut String::new())? {
            Request::List => Some(FirstRequest::List(ListRequest(self))),
            // The held memory must be allocated before the benchmark allocates anything.
            Request::Prepare(prepare) => Some(FirstRequest::Benchmark(WantedBenchmark {
                _held: hold_heap(prepare.heap_bytes),
                prepare,
                pipes: self,
            })),
            Request::Bye => None,
            _ => {
                self.send(&failed(Problem::OutOfTurn));
                None
            }
        }
    }
}

impl ListRequest {
    /// Sends the list of benchmarks, and returns the next request.
    pub fn answer(mut self, benchmarks: Vec<ListedBenchmark>) -> Option<FirstRequest> {
        self.0.send(&Reply::Listed(benchmarks))?;
        self.0.asked()
    }
}

impl WantedBenchmark {
    /// Returns the name of the benchmark.
    pub fn name(&self) -> &str {
        &self.prepare.benchmark
    }

    /// Returns the only contender to serve; `None` for all.
    pub fn contender(&self) -> Option<&str> {
        self.prepare.contender.as_deref()
    }

    /// Serves requests until the coordinator ends the replicate or the benchmark fails. `only` is
    /// the index of the only contender to serve.
    pub fn serve(mut self, benchmark: &mut dyn FunctionBenchmark, only: Option<usize>) {
        let Some(clock) = SampleClock::from_words(&self.prepare.clock) else {
            return self.refuse();
        };
        with_stack_offset(self.prepare.stack_bytes, || {
            Worker {
                benchmark,
                only,
                gauge: Gauge::measured(clock, self.prepare.cpu_overhead_ns, self.prepare.callgrind),
                width: Reading::metrics_here().len(),
                baton: self.pipes.baton.take(),
                ready: None,
                beside: None,
            }
            .work(self.pipes)
        });
    }

    /// Replies that the benchmark does not exist.
    pub fn refuse(mut self) {
        self.pipes.send(&failed(Problem::Unknown));
    }

    /// Replies with the message of a panic that occurred before the benchmark was ready.
    pub fn panicked(mut self, panic: Box<dyn Any + Send>) {
        self.pipes
            .send(&failed(Problem::Panicked(panic_message(panic))));
    }
}

/// Returns the benchmark with this name, and the index of `contender` among its contenders.
fn found(
    suite: impl WorkerSuite,
    benchmark: &str,
    contender: Option<&str>,
) -> Option<(Box<dyn FunctionBenchmark>, Option<usize>)> {
    let only = match contender {
        None => None,
        Some(contender) => {
            let listed = suite.list().into_iter().find(|b| b.name == benchmark)?;
            Some(listed.contenders.iter().position(|c| c == contender)?)
        }
    };
    Some((suite.take(benchmark)?, only))
}

fn failed(problem: Problem) -> Reply {
    // The coordinator learns the contender from the notes.
    Reply::Failed {
        contender: None,
        problem,
    }
}

/// Wraps a benchmark: before every sample, writes a note that tells which contender is called. With
/// `only`, it has a single contender, which has index 0.
///
/// Notes go through a pipe on which no process waits, because waking a process would cost more than
/// the note is worth. When the pipe is full, notes are lost.
struct Traced<'a> {
    benchmark: &'a mut dyn FunctionBenchmark,
    /// The index of the only contender to serve; `None` for all.
    only: Option<usize>,
    notes: &'a PipeWriter,
}

impl Traced<'_> {
    fn note(&self, who: u8) {
        let mut notes = self.notes;
        // If the reader is gone, the other pipes show that.
        let _ = notes.write(&[who]);
    }

    /// Notes that no contender runs in this process, because another process has the turn.
    fn idle(&self) {
        self.note(NOBODY);
    }
}

impl FunctionBenchmark for Traced<'_> {
    fn contenders(&self) -> usize {
        self.only.map_or_else(|| self.benchmark.contenders(), |_| 1)
    }

    fn threads(&self) -> u32 {
        self.benchmark.threads()
    }

    fn most_iterations(&self) -> u64 {
        self.benchmark.most_iterations()
    }

    fn renews_input(&self) -> bool {
        self.benchmark.renews_input()
    }

    fn prepare(&mut self, seed: u64) {
        self.note(NOBODY);
        self.benchmark.prepare(seed);
    }

    fn sample(&mut self, contender: usize, iterations: u64, gauge: &Gauge) -> Reading {
        self.note(u8::try_from(contender + 1).unwrap_or(NOBODY));
        let contender = self.only.unwrap_or(contender);
        self.benchmark.sample(contender, iterations, gauge)
    }

    /// With `only`, reports only differences between outputs of that contender, because no other
    /// contender was called.
    fn check(&self) -> Result<(), Disagreement> {
        self.note(NOBODY);
        match (self.benchmark.check(), self.only) {
            (Err(Disagreement::WithItself { .. }), Some(_)) => {
                Err(Disagreement::WithItself { contender: 0 })
            }
            (Err(Disagreement::WithBaseline { .. }), Some(_)) => Ok(()),
            (checked, _) => checked,
        }
    }
}

struct Worker<'a> {
    benchmark: &'a mut dyn FunctionBenchmark,
    /// The index of the only contender to serve; `None` for all.
    only: Option<usize>,
    gauge: Gauge,
    /// The number of values per sample.
    width: usize,
    baton: Option<Baton>,
    /// The seed of the input that is still prepared; `None` unless the previous request was a
    /// warm-up of one round.
    ready: Option<u64>,
    /// The CPU time of other threads and of children, from the first block on.
    beside: Option<OtherUsage>,
}

impl Worker<'_> {
    fn work(mut self, mut pipes: WorkerPipes) {
        let mut line = String::new();
        let renews_input = self.benchmark.renews_input();
        let mut reply = Reply::Prepared {
            renews_input,
            process: None,
        };
        loop {
            let over = matches!(reply, Reply::Failed { .. });
            if pipes.send(&reply).is_none() || over {
                return;
            }
            let request = match pipes.next_request(&mut line) {
                None | Some(Request::Bye) => return,
                Some(request) => request,
            };
            let answered = catch_unwind(AssertUnwindSafe(|| self.answer(request, &pipes.notes)));
            reply =
                answered.unwrap_or_else(|panic| failed(Problem::Panicked(panic_message(panic))));
        }
    }

    fn answer(&mut self, request: Request, notes: &PipeWriter) -> Reply {
        let ready = self.ready.take();
        let mut benchmark = Traced {
            benchmark: self.benchmark,
            only: self.only,
            notes,
        };
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
                let beside = self.beside.get_or_insert_with(OtherUsage::begin);
                self.gauge.mark_block();
                let baton = self.baton.as_mut();
                let values = take_turns(&mut benchmark, &block, &self.gauge, self.width, baton);
                match values {
                    Ok(values) => {
                        let keep_waiting = beside.keep_waiting();
                        let reply = Reply::Block {
                            values,
                            keep_waiting,
                            gpu_clock: Vec::new(),
                        };
                        checked(&benchmark, reply)
                    }
                    Err(PeerGone) => failed(Problem::PeerGone),
                }
            }
            Request::List | Request::Import { .. } | Request::Prepare(_) | Request::Bye => {
                failed(Problem::OutOfTurn)
            }
        }
    }
}

/// Returns `reply`, or a failure if the outputs differ.
fn checked(benchmark: &dyn FunctionBenchmark, reply: Reply) -> Reply {
    let (contender, problem) = match benchmark.check() {
        Ok(()) => return reply,
        Err(Disagreement::WithBaseline { candidate }) => (candidate, Problem::OutputDiffers(None)),
        Err(Disagreement::WithItself { contender }) => (contender, Problem::OutputVaries(None)),
    };
    Reply::Failed {
        contender: Some(contender),
        problem,
    }
}

/// Takes this process's turns of a block whose input is ready. Returns the values of the recorded
/// turns.
fn take_turns(
    benchmark: &mut Traced<'_>,
    block: &BlockRequest,
    gauge: &Gauge,
    width: usize,
    mut baton: Option<&mut Baton>,
) -> Result<Vec<f64>, PeerGone> {
    let own = block.turns.iter().flatten().count();
    let mut values = Vec::with_capacity(own * width);
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
        gauge.mark_sample();
        if let Some(baton) = baton.as_deref_mut().filter(|_| !is_own(place + 1)) {
            benchmark.idle();
            baton.pass()?;
        }
    }
    // The reply is sent only after the last turn, because it wakes deadheat.
    let last_is_own = matches!(block.turns.last(), Some(Some(_)));
    if let Some(baton) = baton.filter(|_| !last_is_own) {
        baton.take()?;
    }
    Ok(values)
}

/// The message of the last panic, until it is read.
static LAST_PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Installs a panic hook that keeps the message for the reply. If panics abort the process, the
/// hook sends the reply itself, because no code runs after the hook.
fn keep_panics(replies: &PipeWriter) {
    let mut stderr_tail = replies.try_clone().ok();
    if !cfg!(panic = "abort") {
        stderr_tail = None;
    }
    let stderr_tail = Mutex::new(stderr_tail);
    let before = std::panic::take_hook();
    set_hook(Box::new(move |info| {
        let message = text_of(info.payload());
        let text = match info.location() {
            Some(place) => format!("at {place}: {message}"),
            None => message.to_owned(),
        };
        if let Ok(mut pipe) = stderr_tail.lock()
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
        // Also prints the message: with --nocapture, standard error is the user's terminal.
        before(info);
    }));
}

/// Returns the message of a panic, with its source location if the hook recorded it.
fn panic_message(panic: Box<dyn Any + Send>) -> String {
    let last = LAST_PANIC.lock().ok().and_then(|mut last| last.take());
    last.unwrap_or_else(|| text_of(&*panic).to_owned())
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let literal = panic.downcast_ref::<&str>().copied();
    literal
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("with a value that is not a string")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::ByReference;
    use crate::worker::pipes::{Relay, Trace, set_nonblocking};
    use proptest::prelude::*;
    use std::cell::Cell;
    use std::rc::Rc;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    /// A process and one of its contenders.
    type Turn = (usize, usize);

    /// Contenders that record their calls.
    struct Scribe {
        process: usize,
        calls: Arc<Mutex<Vec<(Turn, u64)>>>,
    }

    impl FunctionBenchmark for Scribe {
        fn contenders(&self) -> usize {
            3
        }

        fn threads(&self) -> u32 {
            1
        }

        fn most_iterations(&self) -> u64 {
            u64::MAX
        }

        fn renews_input(&self) -> bool {
            false
        }

        fn prepare(&mut self, _seed: u64) {}

        /// Returns the index of this call among all calls as its time.
        fn sample(&mut self, contender: usize, iterations: u64, _gauge: &Gauge) -> Reading {
            let mut calls = self.calls.lock().unwrap();
            calls.push(((self.process, contender), iterations));
            Reading {
                wall_ns: (calls.len() - 1) as f64,
                ..Reading::default()
            }
        }

        fn check(&self) -> Result<(), Disagreement> {
            Ok(())
        }
    }

    /// The result of each process, and all calls in order.
    type Taken = (Vec<Result<Vec<f64>, PeerGone>>, Vec<(Turn, u64)>);

    fn taken(order: &[Turn], unrecorded: usize, batons: Vec<Option<Baton>>) -> Taken {
        let processes = batons.len();
        let calls = Arc::new(Mutex::new(Vec::new()));
        let (answer, received) = channel();
        for (process, mut baton) in batons.into_iter().enumerate() {
            let turn = |(other, contender): &Turn| (*other == process).then_some(*contender);
            let block = BlockRequest {
                seed: 7,
                iterations: 5,
                turns: order.iter().map(turn).collect(),
                unrecorded,
                unrecorded_iterations: 1,
            };
            let (answer, calls) = (answer.clone(), Arc::clone(&calls));
            std::thread::spawn(move || {
                let mut scribe = Scribe { process, calls };
                let (_notes, note) = std::io::pipe().unwrap();
                set_nonblocking(&note).unwrap();
                let mut traced = Traced {
                    benchmark: &mut scribe,
                    only: None,
                    notes: &note,
                };
                let gauge = Gauge::new(SampleClock::os());
                let values = take_turns(&mut traced, &block, &gauge, 1, baton.as_mut());
                answer.send((process, values)).unwrap();
            });
        }
        let far_too_long = Duration::from_secs(60);
        let mut answers: Vec<_> = (0..processes)
            .map(|_| {
                received
                    .recv_timeout(far_too_long)
                    .expect("each waits for the other")
            })
            .collect();
        answers.sort_by_key(|(process, _)| *process);
        let calls = calls.lock().unwrap().clone();
        (
            answers.into_iter().map(|(_, values)| values).collect(),
            calls,
        )
    }

    proptest! {
        #[test]
        fn turns_are_taken_in_the_order_given(
            order in proptest::collection::vec((0..2_usize, 0..3_usize), 0..14),
            unrecorded in 0..6_usize,
        ) {
            let unrecorded = unrecorded.min(order.len());
            let batons = Baton::pair().unwrap().map(Some).into();
            let (values, calls) = taken(&order, unrecorded, batons);
            let in_order: Vec<Turn> = calls.iter().map(|(turn, _)| *turn).collect();
            prop_assert_eq!(&in_order, &order);
            for (place, (_, iterations)) in calls.iter().enumerate() {
                prop_assert_eq!(*iterations, if place < unrecorded { 1 } else { 5 });
            }
            for (process, values) in values.into_iter().enumerate() {
                let own: Vec<f64> = (unrecorded..order.len())
                    .filter(|place| order[*place].0 == process)
                    .map(|place| place as f64)
                    .collect();
                prop_assert_eq!(values, Ok(own));
            }
        }
    }

    proptest! {
        #[test]
        fn so_are_those_of_three_processes_whose_baton_is_passed_on(
            order in proptest::collection::vec((0..3_usize, 0..3_usize), 0..14),
            unrecorded in 0..6_usize,
        ) {
            let unrecorded = unrecorded.min(order.len());
            let (mut relay, batons) = Relay::between(3).unwrap();
            relay.begin(order.iter().map(|(process, _)| *process));
            let over = Arc::new(AtomicBool::new(false));
            let passing = {
                let over = Arc::clone(&over);
                std::thread::spawn(move || {
                    while !over.load(Ordering::Relaxed) {
                        relay.advance().unwrap();
                        std::thread::yield_now();
                    }
                    relay.awaited().count()
                })
            };
            let batons = batons.into_iter().map(Some).collect();
            let (values, calls) = taken(&order, unrecorded, batons);
            over.store(true, Ordering::Relaxed);
            prop_assert_eq!(passing.join().unwrap(), 0, "nobody is waited for");
            let in_order: Vec<Turn> = calls.iter().map(|(turn, _)| *turn).collect();
            prop_assert_eq!(&in_order, &order);
            prop_assert!(values.iter().all(Result::is_ok));
        }
    }

    #[test]
    fn nobody_goes_on_when_the_other_is_gone() {
        let [one, gone] = Baton::pair().unwrap();
        let [gone_too, alone] = Baton::pair().unwrap();
        drop((gone, gone_too));
        let order = [(0, 0), (1, 0), (0, 0)];
        let (values, calls) = taken(&order, 0, vec![Some(one), Some(alone)]);
        assert_eq!(values, [Err(PeerGone), Err(PeerGone)]);
        assert_eq!(calls, []);
    }

    fn traced<'a>(benchmark: &'a mut dyn FunctionBenchmark, notes: &'a PipeWriter) -> Traced<'a> {
        Traced {
            benchmark,
            only: None,
            notes,
        }
    }

    #[test]
    fn the_last_contender_called_is_known_until_something_else_happens() {
        let (read, write) = std::io::pipe().unwrap();
        set_nonblocking(&write).unwrap();
        let mut trace = Trace::new(read).unwrap();
        assert!(!trace.moved_on());
        let mut functions = ByReference::new(|seed| seed);
        functions.add(|seed| *seed);
        functions.add(|seed| *seed);
        let gauge = Gauge::new(SampleClock::os());
        let mut traced = traced(&mut functions, &write);
        traced.prepare(1);
        assert!(trace.moved_on() && trace.contender().is_none());
        traced.sample(0, 1, &gauge);
        traced.sample(1, 1, &gauge);
        assert_eq!(trace.contender(), Some(1));
        assert_eq!(trace.contender(), Some(1), "asking changes nothing");
        traced.check().unwrap();
        assert_eq!(trace.contender(), None);
    }

    #[test]
    fn a_full_pipe_holds_nobody_up() {
        let (_read, write) = std::io::pipe().unwrap();
        set_nonblocking(&write).unwrap();
        let mut functions = ByReference::new(|seed| seed);
        functions.add(|seed| *seed);
        let mut traced = traced(&mut functions, &write);
        for seed in 0..100_000 {
            traced.prepare(seed);
        }
    }

    #[test]
    fn only_the_contender_that_was_asked_for_is_called() {
        let calls = Rc::new(Cell::new([0, 0]));
        let count = |place: usize| {
            let calls = Rc::clone(&calls);
            move |_: &u64| {
                let mut counts = calls.get();
                counts[place] += 1;
                calls.set(counts);
            }
        };
        let mut functions = ByReference::new(|seed| seed);
        functions.add(count(0));
        functions.add(count(1));
        let (_read, write) = std::io::pipe().unwrap();
        let mut alone = Traced {
            only: Some(1),
            ..traced(&mut functions, &write)
        };
        alone.prepare(1);
        alone.sample(0, 3, &Gauge::new(SampleClock::os()));
        assert_eq!((alone.contenders(), calls.get()), (1, [0, 3]));
        assert_eq!(alone.check(), Ok(()));
    }
}
