//! Worker processes: their start, the instruments that those of a race share, and waiting for their
//! answers.

use std::cell::{OnceCell, RefCell};
use std::time::{Duration, Instant};

use deadheat_model::{Metric, Pinning};
use nix::unistd::Pid;
use rand_core::Rng;

use super::one_start::OneStart;
use super::process_layout::{ProcessLayout, ProcessSlot, Programs};
use super::started_ahead::{StartedAhead, Startup};
use super::worker_session::{RunPosition, WorkerSession, cause_of, leave};
use crate::affinity::{AffinityError, Cores, move_process, pin_this_thread};
use crate::clock::{ClockCheck, ClockChoice, SampleClock};
use crate::error::EngineError;
use crate::executable::Variant;
#[cfg(feature = "commands")]
use crate::function_failure::FunctionError;
use crate::interrupt::Interrupts;
#[cfg(feature = "commands")]
use crate::launch_folder::LaunchFolder;
use crate::mapped_files::mapped_files;
use crate::memory_layout::{MOST_PATH_PADDING, PathPadding};
use crate::order::Moment;
use crate::page_draws::PageDraws;
use crate::placement::LinkProgram;
use crate::random::{Purpose, below, stream};
use crate::usage::ThreadUsage;
#[cfg(feature = "commands")]
use crate::valgrind::Valgrind;
use crate::worker::{
    Baton, PrepareRequest, Problem, Relay, Reply, ReplyLimits, Request, SEEDS, WaitError,
    WorkerProcess, WorkerProgram, WorkerStart, await_all,
};

/// Bytes of the environment that a replicate may be padded with: the stack
/// begins that much lower.
const MOST_PADDING: u64 = 4_096;
/// Bytes that a replicate may move its stack by.
const MOST_STACK: u64 = 4_096;
/// Bytes of the heap that a replicate may hold before anything else lies there.
const MOST_HEAP: u64 = 64 << 10;

/// Time that a process may take until its `main` has made the suite, however little
/// a sample may take.
pub(crate) const START_UP: Duration = Duration::from_secs(10);

/// Time that a sample lasts at least where processes take turns: handing over and
/// finding the caches again are then a small part of it.
const TAKING_TURNS: Duration = Duration::from_micros(200);

/// The same where callgrind counts what samples execute, some fifty times slower.
#[cfg(feature = "commands")]
const COUNTED: Duration = Duration::from_millis(2);

/// Samples that a pilot or a warm-up takes at most, where workers take no notes
/// by which they are seen to go on.
const WITHOUT_NOTES: u32 = 10;

/// The way in which functions are raced.
#[derive(Clone, Debug)]
pub struct FunctionOptions {
    /// The program of a worker process where the plan names none: the one
    /// that races functions of its own.
    pub program: Option<WorkerProgram>,
    /// True if what the programs of the plan print is shown.
    pub shown: bool,
    /// The metrics of every sample; each worker must have them all.
    pub metrics: Vec<Metric>,
    /// Time that a sample should last at least, where it may be short for the
    /// clock: the default is longer for processes that take turns.
    pub sample_time: Option<Duration>,
    /// Time that one sample may take, and making an input; forever when `None`.
    pub timeout: Option<Duration>,
    /// Cores to draw from.
    pub pinning: Pinning,
    /// The seed of the run.
    pub seed: u64,
    /// The program that makes neutral links of the programs, if any is to.
    pub placements: Option<LinkProgram>,
    /// True if callgrind counts the instructions of samples, which are then the only metric.
    pub callgrind: bool,
    /// True if workers that can serve many benchmarks from one start, each in a process they fork,
    /// do so.
    pub forks: bool,
}

/// Everything it takes to start a worker process and to talk to it.
pub(super) struct Workers<'a> {
    pub(super) options: FunctionOptions,
    pub(super) interrupts: &'a Interrupts,
    pub(super) cores: Cores,
    pub(super) instruments: Instruments,
    pub(super) programs: Programs,
    page_draws: PageDraws,
    /// Processes of replicates to come.
    pub(super) ahead: StartedAhead,
    /// Processes that were told to leave and may not be gone yet.
    leaving: Vec<WorkerSession>,
    /// Processes that took their turn since somebody last asked.
    pub(super) launched: u64,
    /// Programs that serve many benchmarks from one start.
    pub(super) one_start: OneStart,
    /// What counts the instructions of samples, if anything does.
    #[cfg(feature = "commands")]
    valgrind: Option<Valgrind>,
}

impl<'a> Workers<'a> {
    /// Begins to measure the clock and finds the cores; starts nothing yet.
    pub(super) fn new(
        options: FunctionOptions,
        interrupts: &'a Interrupts,
    ) -> Result<Self, EngineError> {
        let cores = Cores::new(&options.pinning)?;
        #[cfg(feature = "commands")]
        let valgrind = options.callgrind.then(|| Valgrind::find(interrupts));
        Ok(Self {
            #[cfg(feature = "commands")]
            valgrind: valgrind.transpose()?,
            interrupts,
            cores,
            instruments: Instruments::new(),
            programs: Programs::new(options.program.clone(), options.shown),
            page_draws: PageDraws::default(),
            ahead: StartedAhead::default(),
            leaving: Vec::new(),
            launched: 0,
            one_start: OneStart::default(),
            options,
        })
    }

    /// Random numbers for one purpose at one place of the run.
    pub(super) fn stream(&self, purpose: Purpose, place: [u64; 3]) -> impl Rng + use<> {
        stream(self.options.seed, purpose, place)
    }

    /// The first of them.
    pub(super) fn draw(&self, purpose: Purpose, place: [u64; 3]) -> u64 {
        self.stream(purpose, place).next_u64()
    }

    /// A seed of an input, which every worker can read.
    pub(super) fn input_seed(&self, place: [u64; 3]) -> u64 {
        below(&mut self.stream(Purpose::Input, place), SEEDS)
    }

    /// The least duration of a sample of this benchmark, in nanoseconds.
    pub(super) fn least_ns(&self, layout: &ProcessLayout) -> f64 {
        let least = match self.options.sample_time {
            Some(time) => time,
            // Beside so many instructions the few around the calls are next to nothing.
            #[cfg(feature = "commands")]
            None if self.options.callgrind => COUNTED,
            None if layout.takes_turns() => TAKING_TURNS,
            None => Duration::ZERO,
        };
        least.as_nanos() as f64
    }

    /// Settles on the core of a replicate, which is drawn for all its
    /// processes.
    pub(super) fn settle(&self, position: RunPosition<'_>) -> Result<(), EngineError> {
        // Shared with the workers that are started now.
        let draw = self.core_draw(position);
        Ok(self.cores.settle(draw, position.layout.threads)?)
    }

    fn core_draw(&self, position: RunPosition<'_>) -> u64 {
        self.draw(Purpose::Core, position.place_of_start())
    }

    /// Has a process that was started elsewhere go on, on the core of its replicate.
    pub(super) fn settle_process(
        &self,
        pid: Pid,
        position: RunPosition<'_>,
    ) -> Result<(), EngineError> {
        let draw = self.core_draw(position);
        match self.cores.drawn(draw, position.layout.threads) {
            Some(core) => Ok(move_process(pid, core).map_err(AffinityError::Refused)?),
            None => Ok(()),
        }
    }

    /// The padding of the paths of a replicate's programs, where it has several.
    fn path_padding(&self, position: RunPosition<'_>) -> Option<PathPadding> {
        let layout = position.layout;
        if !layout.takes_turns() {
            return None;
        }
        let mut draw = self.stream(Purpose::PathPadding, position.place_of_start());
        let more = below(&mut draw, MOST_PATH_PADDING) as usize;
        let program = |process_slot: &ProcessSlot| {
            self.programs.get(process_slot.program).executable.as_path()
        };
        Some(PathPadding::of(
            layout.process_slots.iter().map(program),
            more,
        ))
    }

    /// Notes which files these processes have mapped, and which of their pages, for the draws of
    /// later replicates.
    pub(super) fn note_used_pages(&self, team: &[WorkerSession], position: RunPosition<'_>) {
        for session in team {
            let program = position.layout.process_slots[session.process_slot].program;
            if let Ok(mapped) = mapped_files(session.worker.pid()) {
                self.page_draws.note((program, 0), mapped);
            }
        }
    }

    /// Draws new physical pages for the programs and libraries of a replicate, none of which may
    /// run.
    pub(super) fn redraw_pages(&self, position: RunPosition<'_>) {
        let side = |process_slot: &ProcessSlot| {
            let executable = &self.programs.get(process_slot.program).executable;
            ((process_slot.program, 0), executable.as_path())
        };
        let sides = position.layout.process_slots.iter().map(side);
        let files = self.page_draws.own_files(sides);
        let mut draw = self.stream(Purpose::Pages, position.place_of_start());
        self.page_draws.redraw(&files, &mut draw);
    }

    /// One process of a replicate, on the user's own link or another: one that waits for its turn,
    /// or a new one. Its benchmark is got ready next.
    pub(super) fn start(
        &mut self,
        position: RunPosition<'_>,
        process_slot: usize,
        variant: Option<&Variant>,
        (baton, is_first): (Option<&Baton>, bool),
    ) -> Result<WorkerSession, EngineError> {
        let program = position.layout.process_slots[process_slot].program;
        let called = Instant::now();
        let waiting = self.ahead.take(position.place, program, variant);
        let is_new = waiting.is_none();
        if is_new {
            self.see_off();
        }
        let began = Instant::now();
        let mut session = match waiting {
            Some(session) => {
                self.settle_process(session.worker.pid(), position)?;
                session
            }
            None => self.spawn(position, process_slot, variant, baton)?,
        };
        self.launched += 1;
        self.hear_hello(&mut session, position)?;
        if is_new {
            self.ahead
                .learn(program, session.worker.pid(), began.elapsed());
        }
        self.import(&mut session, position)?;
        // An input may own what the process before it gives back as it ends: a port, a lock, a file.
        self.see_off();
        self.account_start(&session, called.elapsed(), is_first);
        Ok(session)
    }

    /// Waits for the first words of a new process and checks them.
    pub(super) fn hear_hello(
        &self,
        session: &mut WorkerSession,
        position: RunPosition<'_>,
    ) -> Result<(), EngineError> {
        let patience = self.patience_at_start();
        let hello = self.await_replies(std::slice::from_mut(session), None, position, patience)?;
        session
            .handshake(&hello[0], &self.options.metrics)
            .map_err(|cause| session.failure(position, None, cause))
    }

    /// Starts processes of a program whose turn is to come, each on a core of its own, and waits until
    /// they sleep. One that cannot be started is left to its turn.
    pub(super) fn start_ahead(
        &mut self,
        turns: Vec<(RunPosition<'_>, Option<Variant>)>,
    ) -> Result<(), EngineError> {
        for (number, (position, variant)) in turns.into_iter().enumerate() {
            // Two on one core: deadheat waits behind the first until it may start the second.
            let Some(core) = self.cores.to_start_on(position.layout.threads).get(number) else {
                break;
            };
            pin_this_thread(*core).map_err(AffinityError::Refused)?;
            let Ok(session) = self.spawn(position, 0, variant.as_ref(), None) else {
                break;
            };
            let program = position.layout.process_slots[0].program;
            self.ahead.add(position.place, program, session);
        }
        self.ahead.fall_asleep(self.interrupts);
        Ok(())
    }

    /// The number of processes that may be started together.
    pub(super) fn room_ahead(&self, layout: &ProcessLayout) -> usize {
        // Who takes turns is placed, and loaded, together with another; and one start is enough for
        // many benchmarks.
        if layout.takes_turns() || self.options.callgrind || self.one_start.serves(layout) {
            return 0;
        }
        let cores = self.cores.to_start_on(layout.threads).len();
        cores.min(self.ahead.room(layout.process_slots[0].program))
    }

    /// The start of the first process of the program that all contenders are called in.
    pub(super) fn startup(&self, layout: &ProcessLayout) -> Option<Startup> {
        self.ahead.startup(layout.process_slots[0].program)
    }

    /// Lets processes go. Those that are started next come up meanwhile; an input is made, and
    /// anything is timed, when they are gone ([`Workers::see_off`]).
    pub(super) fn dismiss(&mut self, mut team: Vec<WorkerSession>) {
        for session in &mut team {
            session.worker.dismiss();
        }
        self.leaving.append(&mut team);
    }

    /// Ends those that wait for their turn, and waits until all that were dismissed are gone.
    pub(super) fn end_all(&mut self) {
        self.ahead.clear();
        self.dismiss_kept();
        self.see_off();
    }

    /// Waits until all that were dismissed are gone.
    pub(super) fn see_off(&mut self) {
        leave(std::mem::take(&mut self.leaving));
    }

    /// Starts one process of a replicate, on the user's own link or another:
    /// its environment, its heap and its stack drawn from the seed.
    pub(super) fn spawn(
        &self,
        position: RunPosition<'_>,
        process_slot: usize,
        variant: Option<&Variant>,
        baton: Option<&Baton>,
    ) -> Result<WorkerSession, EngineError> {
        let layout = position.layout;
        let slot = &layout.process_slots[process_slot];
        let matched = variant.is_some_and(|variant| variant.link.matched);
        let mut rng = self.process_stream(position.place_of_start(), (process_slot, variant));
        let fail = |cause| {
            let failed =
                position.failure(layout.only_contender(process_slot), cause, variant.cloned());
            EngineError::Function(Box::new(failed))
        };
        self.programs.check(slot.program).map_err(fail)?;
        let start = WorkerStart {
            program: self.programs.get(slot.program),
            variant: variant.map(|variant| variant.executable.as_path()),
            path_padding: self.path_padding(position),
            padding: below(&mut rng, MOST_PADDING) as usize,
            hash_seed: Some(self.draw(Purpose::HashSeed, position.place_of_start()) as u32),
            fixed_addresses: matched,
            baton,
            probe: None,
            mask: self.interrupts.original_mask(),
        };
        #[cfg(feature = "commands")]
        let counted = self.counted(start.program).map_err(fail)?;
        // Counts are the same wherever things lie, as long as they lie there on both sides.
        #[cfg(feature = "commands")]
        let start = match &counted {
            None => start,
            Some((program, _)) => WorkerStart {
                program,
                variant: None,
                path_padding: None,
                padding: 0,
                fixed_addresses: true,
                ..start
            },
        };
        let worker = WorkerProcess::start(start).map_err(fail)?;
        let mut session = WorkerSession::new(process_slot, worker, variant);
        (session.heap_bytes, session.stack_bytes) = self.draws_of(position, &session);
        #[cfg(feature = "commands")]
        {
            session.counts = counted.map(|(_, folder)| folder);
        }
        Ok(session)
    }

    /// Random numbers for a process of a replicate. Builds that are matched have these draws in
    /// common as they have their links: what moves both sides alike is no part of their difference.
    fn process_stream(
        &self,
        [benchmark, replicate, more]: [u64; 3],
        (process_slot, variant): (usize, Option<&Variant>),
    ) -> impl Rng + use<> {
        let matched = variant.is_some_and(|variant| variant.link.matched);
        let draws = if matched { 0 } else { process_slot as u64 };
        self.stream(
            Purpose::Process,
            [benchmark, replicate, more + (draws << 32)],
        )
    }

    /// The bytes of its heap that a process holds for a benchmark, and by which it moves its stack.
    pub(super) fn draws_of(
        &self,
        position: RunPosition<'_>,
        session: &WorkerSession,
    ) -> (usize, usize) {
        let of = (session.process_slot, session.variant.as_ref());
        let mut rng = self.process_stream(position.place, of);
        // The first is that of the environment.
        below(&mut rng, MOST_PADDING);
        let heap = below(&mut rng, MOST_HEAP) as usize;
        (heap, below(&mut rng, MOST_STACK) as usize)
    }

    /// Has a process that said hello get its benchmark ready.
    pub(super) fn prepare(
        &self,
        session: &mut WorkerSession,
        position: RunPosition<'_>,
    ) -> Result<(), EngineError> {
        let slot = &position.layout.process_slots[session.process_slot];
        let clock = match position.moment {
            Moment::Pilot => self.instruments.clock_of_pilot(),
            _ => *self.instruments.clock(),
        };
        let prepare = PrepareRequest {
            benchmark: slot.benchmark.clone(),
            contender: slot.contender.clone(),
            clock: clock.to_words(),
            cpu_overhead_ns: self.instruments.cpu_overhead_ns,
            heap_bytes: session.heap_bytes,
            stack_bytes: session.stack_bytes,
            callgrind: false,
            input_per_call: position.layout.input_per_call,
        };
        #[cfg(feature = "commands")]
        let prepare = match session.counts {
            None => prepare,
            Some(_) => PrepareRequest {
                clock: SampleClock::for_counts().to_words(),
                heap_bytes: 0,
                stack_bytes: 0,
                callgrind: true,
                ..prepare
            },
        };
        let request = Request::Prepare(prepare);
        session.is_asked = true;
        match self.ask(session, position, &request)? {
            Reply::Prepared {
                renews_input,
                process,
            } => {
                session.renews_input = renews_input;
                if let Some(process) = process.filter(|_| session.serves_many) {
                    session.worker.serves_in(process);
                }
            }
            reply => return Err(session.unexpected(position, &reply)),
        }
        Ok(())
    }

    /// A program as Valgrind starts it, and the folder that the counts of its samples go to; `None`
    /// where nothing is counted.
    #[cfg(feature = "commands")]
    fn counted(
        &self,
        program: &WorkerProgram,
    ) -> Result<Option<(WorkerProgram, LaunchFolder)>, FunctionError> {
        let Some(valgrind) = &self.valgrind else {
            return Ok(None);
        };
        let folder = LaunchFolder::new();
        let folder = folder.map_err(|error| FunctionError::NotStarted(error.to_string()))?;
        Ok(Some((valgrind.around_worker(program, &folder), folder)))
    }

    /// Asks one process, waits for the answer and makes sense of a failure.
    pub(super) fn ask(
        &self,
        session: &mut WorkerSession,
        position: RunPosition<'_>,
        request: &Request,
    ) -> Result<Reply, EngineError> {
        let samples = match request {
            Request::Calibrate { .. } | Request::WarmUp { .. } => WITHOUT_NOTES,
            _ => 1,
        };
        session.worker.ask(request);
        let team = std::slice::from_mut(session);
        let mut replies = self.await_replies(team, None, position, self.patience(samples))?;
        Ok(replies.remove(0))
    }

    pub(super) fn patience(&self, samples: u32) -> ReplyLimits {
        ReplyLimits {
            each: self.options.timeout,
            samples,
            whatever_is_noted: false,
        }
    }

    /// The time that a process may take to start and to import.
    pub(super) fn patience_at_start(&self) -> ReplyLimits {
        ReplyLimits {
            each: self.options.timeout.map(|timeout| timeout.max(START_UP)),
            ..self.patience(1)
        }
    }

    /// Waits for an answer of each process.
    pub(super) fn await_replies(
        &self,
        team: &mut [WorkerSession],
        relay: Option<&mut Relay>,
        position: RunPosition<'_>,
        patience: ReplyLimits,
    ) -> Result<Vec<Reply>, EngineError> {
        let mut workers: Vec<&mut WorkerProcess> =
            team.iter_mut().map(|session| &mut session.worker).collect();
        let replies = await_all(&mut workers, relay, patience, self.interrupts);
        let replies = replies.map_err(|wait_error| match wait_error {
            WaitError::Interrupted => EngineError::Interrupted,
            WaitError::Cause { worker, cause } => team[worker].failure(position, None, cause),
        })?;
        // Who lost the other only tells of a failure.
        let is_own = |reply: &Option<Reply>| matches!(reply, Some(Reply::Failed { problem, .. }) if *problem != Problem::PeerGone);
        if let Some(place) = replies.iter().position(is_own)
            && let Some(Reply::Failed { contender, problem }) = &replies[place]
        {
            let cause = cause_of(problem, position.layout);
            team[place].has_failed = true;
            return Err(team[place].failure(position, *contender, cause));
        }
        Ok(replies.into_iter().flatten().collect())
    }
}

impl Drop for Workers<'_> {
    /// Lets those go that may still be undoing what a benchmark set up.
    fn drop(&mut self) {
        self.end_all();
    }
}

/// The part by which the clock of the samples may stray from the system's.
const CLOCKS_APART: f64 = 0.01;

/// The clock of a race and the overhead of its accounts, handed to every worker.
#[derive(Debug)]
pub(super) struct Instruments {
    /// Until the clock is chosen.
    choice: RefCell<Option<ClockChoice>>,
    chosen: OnceCell<Chosen>,
    /// Nanoseconds that reading the CPU clock shows of itself.
    pub(super) cpu_overhead_ns: f64,
}

#[derive(Debug)]
struct Chosen {
    clock: SampleClock,
    /// The reason why the counter of the processor does not serve as clock.
    fallback: Option<String>,
    check: ClockCheck,
}

impl Instruments {
    /// Begins to choose the clock.
    pub(super) fn new() -> Self {
        Self {
            choice: RefCell::new(Some(ClockChoice::begin())),
            chosen: OnceCell::new(),
            cpu_overhead_ns: ThreadUsage::cpu_overhead_ns() as f64,
        }
    }

    /// The clock for the workers of a pilot. The first of them starts before the clock is chosen,
    /// and the time it takes is time to measure it by.
    pub(super) fn clock_of_pilot(&self) -> SampleClock {
        let provisional = self
            .choice
            .borrow_mut()
            .as_mut()
            .map(ClockChoice::provisional);
        provisional.unwrap_or_else(|| *self.clock())
    }

    /// The clock of all samples that are recorded. Chosen when it is first asked for.
    pub(super) fn clock(&self) -> &SampleClock {
        &self.chosen().clock
    }

    /// The reason why the counter of the processor is not the clock, in plain words.
    pub(super) fn fallback(&self) -> Option<&str> {
        self.chosen().fallback.as_deref()
    }

    /// Returns whether the clock of the samples still keeps the pace of the system's.
    pub(super) fn check_clock(&self) -> Result<(), EngineError> {
        let apart = self.chosen().check.disagreement();
        if apart > CLOCKS_APART {
            Err(EngineError::Clock(apart))
        } else {
            Ok(())
        }
    }

    fn chosen(&self) -> &Chosen {
        self.chosen.get_or_init(|| {
            let choice = self.choice.take().unwrap_or_else(ClockChoice::begin);
            let (clock, fallback) = choice.finish();
            Chosen {
                check: ClockCheck::start(&clock),
                clock,
                fallback,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_a_pilot_is_provisional_until_another_is_asked_for() {
        let instruments = Instruments::new();
        let provisional = instruments.clock_of_pilot();
        let chosen = *instruments.clock();
        assert_eq!(provisional.source(), chosen.source());
        assert_eq!(instruments.clock_of_pilot(), chosen);
        assert!(instruments.check_clock().is_ok());
    }
}
