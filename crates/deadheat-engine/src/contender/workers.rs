//! Starts worker processes, sends them requests and waits for their replies, with the clock that
//! all of them share.

use std::cell::{OnceCell, RefCell};
use std::time::{Duration, Instant};

use deadheat_model::{Metric, Pinning};
use nix::unistd::Pid;
use rand_core::Rng;

use super::one_start::OneStart;
use super::process_layout::{ProcessLayout, ProcessSlot, Programs};
use super::started_ahead::{StartedAhead, Startup};
use super::worker_session::{RunPosition, WorkerSession, cause_of};
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
use crate::procfs::family_of;
use crate::random::{Purpose, below, stream};
use crate::usage::ThreadUsage;
#[cfg(feature = "commands")]
use crate::valgrind::Valgrind;
use crate::worker::{
    Baton, LEAVE, PrepareRequest, Problem, Relay, Reply, ReplyLimits, Request, SEEDS, WaitError,
    WorkerProcess, WorkerProgram, WorkerStart, await_all, see_off,
};

/// The maximum bytes of environment padding of a replicate, which moves the start of its stack.
const MOST_PADDING: u64 = 4_096;
/// The maximum bytes by which a replicate shifts its stack.
const MOST_STACK: u64 = 4_096;
/// The maximum bytes of heap that a replicate allocates first.
const MOST_HEAP: u64 = 64 << 10;

/// The minimum time limit for a process to start and build its suite, even if the limit of a sample
/// is shorter.
pub(crate) const START_UP: Duration = Duration::from_secs(10);

/// The minimum duration of a sample if processes take turns, so that switching processes and
/// refilling caches are a small part of it.
const TAKING_TURNS: Duration = Duration::from_micros(200);

/// The minimum duration of a sample under callgrind, which is about fifty times slower.
#[cfg(feature = "commands")]
const COUNTED: Duration = Duration::from_millis(2);

/// The maximum number of samples in a calibration run or a warm-up, for the time limit of workers
/// that report no progress.
const WITHOUT_NOTES: u32 = 10;

/// Options for races of functions.
#[derive(Clone, Debug)]
pub struct FunctionOptions {
    /// The worker program for functions without a program in the plan: the program that races its
    /// own functions.
    pub program: Option<WorkerProgram>,
    /// True if the output of the plan's programs is shown.
    pub shown: bool,
    /// The metrics of every sample, which each worker must support.
    pub metrics: Vec<Metric>,
    /// The minimum duration of a sample; `None` for the default, which is longer if processes take
    /// turns.
    pub sample_time: Option<Duration>,
    /// The time limit of one sample or of making an input; `None` for no limit.
    pub timeout: Option<Duration>,
    /// The cores that replicates are drawn from.
    pub pinning: Pinning,
    /// The seed of the run.
    pub seed: u64,
    /// The program that makes neutral links; `None` if the user did not request them.
    pub placements: Option<LinkProgram>,
    /// True if callgrind counts the instructions of samples, which are then the only metric.
    pub callgrind: bool,
    /// True if workers may serve several benchmarks from one start by forking for each.
    pub forks: bool,
    /// The time budget of the calibration runs and the race; `None` for no limit. Once it is over,
    /// workers have no more than two seconds to exit.
    pub budget: Option<Duration>,
}

pub(super) struct Workers<'a> {
    pub(super) options: FunctionOptions,
    pub(super) interrupts: &'a Interrupts,
    pub(super) cores: Cores,
    pub(super) instruments: Instruments,
    pub(super) programs: Programs,
    page_draws: PageDraws,
    pub(super) ahead: StartedAhead,
    /// Processes that were dismissed and may not have exited yet.
    leaving: Vec<WorkerSession>,
    /// The time at which the budget ends; `None` without a budget.
    budget_end: Option<Instant>,
    /// True once a worker has not exited within the time that it had asked for.
    is_any_late: bool,
    /// The number of processes used since the last query.
    pub(super) launched: u64,
    pub(super) one_start: OneStart,
    #[cfg(feature = "commands")]
    valgrind: Option<Valgrind>,
}

impl<'a> Workers<'a> {
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
            budget_end: options.budget.map(|budget| Instant::now() + budget),
            is_any_late: false,
            launched: 0,
            one_start: OneStart::default(),
            options,
        })
    }

    pub(super) fn stream(&self, purpose: Purpose, place: [u64; 3]) -> impl Rng + use<> {
        stream(self.options.seed, purpose, place)
    }

    pub(super) fn draw(&self, purpose: Purpose, place: [u64; 3]) -> u64 {
        self.stream(purpose, place).next_u64()
    }

    /// Returns the seed of an input, small enough for workers in any language.
    pub(super) fn input_seed(&self, place: [u64; 3]) -> u64 {
        below(&mut self.stream(Purpose::Input, place), SEEDS)
    }

    /// Returns the minimum duration of a sample of this benchmark, in nanoseconds.
    pub(super) fn least_ns(&self, layout: &ProcessLayout) -> f64 {
        let least = match self.options.sample_time {
            Some(time) => time,
            // With this many instructions, those around the calls are negligible.
            #[cfg(feature = "commands")]
            None if self.options.callgrind => COUNTED,
            None if layout.takes_turns() => TAKING_TURNS,
            None => Duration::ZERO,
        };
        least.as_nanos() as f64
    }

    /// Pins the calling thread to the core drawn for a replicate, which all its processes share.
    pub(super) fn settle(&self, position: RunPosition<'_>) -> Result<(), EngineError> {
        // Workers that start now inherit the core.
        let draw = self.core_draw(position);
        Ok(self.cores.settle(draw, position.layout.threads)?)
    }

    fn core_draw(&self, position: RunPosition<'_>) -> u64 {
        self.draw(Purpose::Core, position.place_of_start())
    }

    /// Moves a process that started on another core to the core of its replicate.
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

    /// Returns the padding that makes the paths of a replicate's programs equally long; `None` if
    /// there is only one program.
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

    /// Records the files that these processes have mapped, and the pages in use, for the draws of
    /// later replicates. What is measured may be a process that the worker started, such as a server.
    pub(super) fn note_used_pages(&self, team: &[WorkerSession], position: RunPosition<'_>) {
        for session in team {
            let program = position.layout.process_slots[session.process_slot].program;
            for pid in family_of(session.worker.pid()) {
                if let Ok(mapped) = mapped_files(pid) {
                    self.page_draws.note((program, 0), mapped);
                }
            }
        }
    }

    /// Draws new physical pages for the programs and libraries of a replicate. None of the programs
    /// may be running.
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

    /// Returns a process of a replicate on the given link, either one that was started ahead or a
    /// new one. The caller prepares its benchmark next.
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
        // An input may need a resource that the previous process only releases on exit, such as a
        // port, a lock or a file.
        self.see_off();
        self.account_start(&session, called.elapsed(), is_first);
        Ok(session)
    }

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

    /// Starts processes for later turns, each on a different core, and waits until they sleep. A
    /// process that cannot be started is started again at its turn.
    pub(super) fn start_ahead(
        &mut self,
        turns: Vec<(RunPosition<'_>, Option<Variant>)>,
    ) -> Result<(), EngineError> {
        for (number, (position, variant)) in turns.into_iter().enumerate() {
            // If two processes shared a core, deadheat would wait for the first before it could
            // start the second.
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

    /// Returns the number of processes that may be started ahead at the same time.
    pub(super) fn room_ahead(&self, layout: &ProcessLayout) -> usize {
        // Processes that take turns must be loaded together. If one start serves several
        // benchmarks, starting ahead gains nothing.
        if layout.takes_turns() || self.options.callgrind || self.one_start.serves(layout) {
            return 0;
        }
        let cores = self.cores.to_start_on(layout.threads).len();
        cores.min(self.ahead.room(layout.process_slots[0].program))
    }

    /// Returns how the program in the first process slot started; `None` before its first process
    /// has been observed.
    pub(super) fn startup(&self, layout: &ProcessLayout) -> Option<Startup> {
        self.ahead.startup(layout.process_slots[0].program)
    }

    /// Dismisses processes without waiting, so that the next ones can start meanwhile.
    /// [`Workers::see_off`] must come before an input is made or anything is timed.
    pub(super) fn dismiss(&mut self, mut team: Vec<WorkerSession>) {
        for session in &mut team {
            session.worker.dismiss();
        }
        self.leaving.append(&mut team);
    }

    /// Ends waiting and kept processes, and waits until all dismissed processes have exited.
    pub(super) fn end_all(&mut self) {
        self.ahead.clear();
        self.dismiss_kept();
        self.see_off();
    }

    /// Waits until all dismissed processes have exited.
    pub(super) fn see_off(&mut self) {
        let mut leaving = std::mem::take(&mut self.leaving);
        let mut workers: Vec<_> = leaving.iter_mut().map(|one| &mut one.worker).collect();
        let now = Instant::now();
        // If a worker says that it may take ten minutes and then hangs, the race waits for this
        // only once.
        let limit = match self.is_any_late {
            true => Some(now),
            false => self.budget_end.map(|end| end.max(now + LEAVE)),
        };
        self.is_any_late |= see_off(&mut workers, limit, self.interrupts);
    }

    /// Replaces the budget of the calibration runs by that of the race.
    pub(super) fn renew_budget(&mut self, budget: Option<Duration>) {
        self.budget_end = budget.map(|budget| Instant::now() + budget);
    }

    /// Starts one process of a replicate on the given link, with environment, heap and stack drawn
    /// from the seed.
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
        // Counts do not depend on the layout, if it is the same on both sides.
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

    /// Returns the random numbers for a process of a replicate. Matched builds share these draws
    /// like their links, because an effect on both sides does not change their difference.
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

    /// Returns the bytes of heap that a process allocates first, and the bytes by which it shifts
    /// its stack.
    pub(super) fn draws_of(
        &self,
        position: RunPosition<'_>,
        session: &WorkerSession,
    ) -> (usize, usize) {
        let of = (session.process_slot, session.variant.as_ref());
        let mut rng = self.process_stream(position.place, of);
        // Skips the first draw, which is that of the environment.
        below(&mut rng, MOST_PADDING);
        let heap = below(&mut rng, MOST_HEAP) as usize;
        (heap, below(&mut rng, MOST_STACK) as usize)
    }

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

    /// Returns a program wrapped in Valgrind and the folder of its counts; `None` if callgrind does
    /// not count.
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

    /// Sends a request to one process, waits for the reply and returns its failure as an error.
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

    pub(super) fn patience_at_start(&self) -> ReplyLimits {
        ReplyLimits {
            each: self.options.timeout.map(|timeout| timeout.max(START_UP)),
            ..self.patience(1)
        }
    }

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
        // A process that lost its peer only reports a consequence of the other's failure.
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
    /// Ends all processes and waits, because they may still clean up after a benchmark.
    fn drop(&mut self) {
        self.end_all();
    }
}

/// The maximum allowed difference between the clock of the samples and the system clock, as a share
/// of the elapsed time.
const CLOCKS_APART: f64 = 0.01;

/// The clock of a race and the overhead of the CPU clock, which every worker receives.
#[derive(Debug)]
pub(super) struct Instruments {
    /// The pending clock measurement; `None` once the clock is chosen.
    choice: RefCell<Option<ClockChoice>>,
    chosen: OnceCell<Chosen>,
    /// The nanoseconds of CPU time that a pair of readings measures without any work in between.
    pub(super) cpu_overhead_ns: f64,
}

#[derive(Debug)]
struct Chosen {
    clock: SampleClock,
    /// The reason why the counter of the processor is not used as the clock.
    fallback: Option<String>,
    check: ClockCheck,
}

impl Instruments {
    pub(super) fn new() -> Self {
        Self {
            choice: RefCell::new(Some(ClockChoice::begin())),
            chosen: OnceCell::new(),
            cpu_overhead_ns: ThreadUsage::cpu_overhead_ns() as f64,
        }
    }

    /// Returns the clock for the workers of a calibration run. The start of the first worker
    /// overlaps with the clock measurement.
    pub(super) fn clock_of_pilot(&self) -> SampleClock {
        let provisional = self
            .choice
            .borrow_mut()
            .as_mut()
            .map(ClockChoice::provisional);
        provisional.unwrap_or_else(|| *self.clock())
    }

    /// Returns the clock of all recorded samples. The first call finishes the measurement.
    pub(super) fn clock(&self) -> &SampleClock {
        &self.chosen().clock
    }

    pub(super) fn fallback(&self) -> Option<&str> {
        self.chosen().fallback.as_deref()
    }

    /// Returns an error if the clock of the samples drifts from the system's.
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
