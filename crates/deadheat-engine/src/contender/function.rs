//! Contenders that are functions in worker processes: every replicate uses new processes.

#[cfg(feature = "commands")]
use std::path::Path;
use std::time::Duration;

use deadheat_model::{
    Benchmark, Block, BlockRecord, ClockFacts, Metric, NeutralLinks, Observed, Placed, Plan, Slot,
};
use nix::sched::sched_getaffinity;
use nix::unistd::Pid;

use super::function_pilot::Piloted;
use super::one_start::KeptTeam;
use super::process_layout::ProcessLayout;
use super::witness::{Noticed, Witness};
use super::worker_session::{RunPosition, WorkerSession};
use super::workers::{FunctionOptions, Workers};
use crate::error::EngineError;
use crate::executable::{Executable, Variant};
use crate::function_failure::{FunctionError, FunctionFailure};
use crate::interrupt::Interrupts;
use crate::memory_layout::addresses_can_be_fixed;
use crate::observed::{Sighting, Started};
use crate::order::Moment;
use crate::placement::{Helper, Links, Place, Placements, matched};
use crate::random::{Purpose, shuffle};
use crate::session::Contenders;
use crate::worker::{Baton, Relay, Reply, Request};

/// The reason why a build is not relinked while the other build races on neutral links.
const UNRECORDED: &str = "it has no link record next to it, although the other build has one; link \
                          it with deadheat link (docs/placement.md)";

/// Functions that race in worker processes, either in one program or in several programs that take
/// turns.
pub struct FunctionContenders<'a> {
    workers: Workers<'a>,
    layouts: Vec<ProcessLayout>,
    /// The helper that makes neutral links; `None` if the user did not request them.
    helper: Option<Helper>,
    /// By program, its executable and the source of its neutral links, or the reason why links can
    /// no longer be made; `None` if links were never available.
    known: Vec<Option<(Executable, Result<Links, String>)>>,
    /// True if the neutral links of two builds are matched to each other.
    matched: bool,
    placements: Placements,
    placed: Option<Placed>,
    /// For each benchmark, the replicate counts at which an interim analysis may end its race.
    looks: Vec<Vec<u32>>,
    running: Option<Running>,
    witness: Witness,
    /// The total time of starting shared processes that has already been reported to the session.
    told_spent: Duration,
}

struct Running {
    benchmark: usize,
    replicate: u32,
    team: Vec<WorkerSession>,
    /// The relay that passes turns between more than two processes.
    relay: Option<Relay>,
}

impl<'a> FunctionContenders<'a> {
    /// Starts the clock measurement and finds the cores, without starting a process.
    pub fn new(options: FunctionOptions, interrupts: &'a Interrupts) -> Result<Self, EngineError> {
        // Must come first, because the helper saves the affinity of this thread before it is
        // pinned.
        let helper = options.placements.clone().map(Helper::new);
        Ok(Self {
            workers: Workers::new(options, interrupts)?,
            layouts: Vec::new(),
            helper,
            known: Vec::new(),
            matched: false,
            placements: Placements::default(),
            placed: None,
            looks: Vec::new(),
            running: None,
            witness: Witness::default(),
            told_spent: Duration::ZERO,
        })
    }

    /// Returns the facts about the clock of the samples.
    pub fn clock_facts(&self) -> ClockFacts {
        let clock = self.workers.instruments.clock();
        ClockFacts {
            source: clock.source().name().to_owned(),
            resolution_ns: clock.resolution_ns(),
            overhead_ns: clock.overhead_ns(),
            fallback: self.workers.instruments.fallback().map(str::to_owned),
        }
    }

    /// Returns the cores that replicates are drawn from; empty if they are not pinned.
    pub fn pinned(&self) -> &[u32] {
        self.workers.cores.choices()
    }

    fn layout(&mut self, benchmark: &Benchmark) -> Result<ProcessLayout, EngineError> {
        let layout = ProcessLayout::of(benchmark, &mut self.workers.programs);
        layout.ok_or_else(|| EngineError::NoFunctions(benchmark.name.clone()))
    }

    /// Registers the benchmarks that will be calibrated, so that a single start of a worker can
    /// serve several of them.
    pub fn expect(&mut self, benchmarks: &[Benchmark]) -> Result<(), EngineError> {
        let layouts = benchmarks.iter().map(|benchmark| self.layout(benchmark));
        let layouts: Vec<ProcessLayout> = layouts.collect::<Result<_, _>>()?;
        self.workers.one_start.expect(layouts.iter());
        Ok(())
    }

    /// Returns true if one start of a program can serve all of these benchmarks, so that they can
    /// race in rounds. Only valid after the calibration runs.
    pub fn can_race_in_rounds(&mut self, benchmarks: &[Benchmark]) -> bool {
        let mut served = true;
        for benchmark in benchmarks {
            let layout = self.layout(benchmark);
            served &= layout.is_ok_and(|layout| self.workers.one_start.serves(&layout));
        }
        served && benchmarks.len() > 1
    }

    /// Returns the programs that should serve several benchmarks from one start but cannot, with
    /// the reason.
    pub fn unforked(&self) -> Vec<(String, String)> {
        let told = |(program, reason): (usize, &str)| {
            let program = &self.workers.programs.get(program).executable;
            (program.display().to_string(), reason.to_owned())
        };
        self.workers.one_start.unforked().map(told).collect()
    }

    /// Makes the calibration run of a benchmark in separate processes: finds the number of calls
    /// per sample. Ignores the number of calls in `benchmark`. `index` is the place of the
    /// benchmark in the future plan.
    ///
    /// `more` is the number of calibration runs that follow. If there are enough cores, this call
    /// also starts the processes of some of those runs.
    pub fn pilot(
        &mut self,
        index: usize,
        benchmark: &Benchmark,
        more: usize,
    ) -> Result<Piloted, EngineError> {
        let layout = self.layout(benchmark)?;
        self.workers.pilot(index, &layout, more)
    }

    /// Calls every contender of a benchmark once in a new process.
    pub fn smoke(&mut self, benchmark: &Benchmark) -> Result<(), EngineError> {
        let layout = self.layout(benchmark)?;
        self.workers.smoke(&layout)
    }

    /// Returns the length of a tick of the sample clock, in nanoseconds.
    pub fn tick_ns(&self) -> f64 {
        self.workers.instruments.clock().tick_ns()
    }

    /// Applies the plan that resulted from the calibration runs.
    pub fn enter(&mut self, plan: &Plan) -> Result<(), EngineError> {
        // Ends processes that were started for calibration runs that did not happen.
        self.workers.end_all();
        let layouts = plan
            .benchmarks
            .iter()
            .map(|benchmark| self.layout(benchmark));
        self.layouts = layouts.collect::<Result<_, _>>()?;
        for (layout, benchmark) in self.layouts.iter_mut().zip(&plan.benchmarks) {
            layout.in_rounds = plan.design.rounds && benchmark.rerun.is_none();
        }
        // Without rounds, processes do not serve further benchmarks.
        let in_rounds = self.layouts.iter().filter(|layout| layout.in_rounds);
        self.workers.one_start.expect(in_rounds);
        let looks = (0..plan.benchmarks.len()).map(|benchmark| plan.looks(benchmark).at.clone());
        self.looks = looks.collect();
        let mut placements = Placements::default();
        let mut places: Vec<Option<Place>> = Vec::new();
        let mut builds: Vec<(Executable, Result<Links, String>)> = Vec::new();
        for (program, known) in self.known.iter().enumerate() {
            let Some(((executable, links), helper)) = known.clone().zip(self.helper.as_ref())
            else {
                places.push(None);
                continue;
            };
            places.push(Some(if self.matched {
                let same = builds.iter().position(|(build, _)| *build == executable);
                let side = same.unwrap_or(builds.len());
                if same.is_none() {
                    builds.push((executable, links));
                }
                Place { placer: 0, side }
            } else {
                let drawn = [program as u64, 0, 0];
                placements.add(helper, vec![(executable, links)], plan, drawn, false)
            }));
        }
        if let (Some(helper), false) = (&self.helper, builds.is_empty()) {
            placements.add(helper, builds, plan, [0; 3], true);
        }
        for layout in &self.layouts {
            let place = |contender| {
                let program = layout.program_of(contender);
                places.get(program).copied().flatten()
            };
            let contenders = 0..layout.contenders.len();
            placements.add_benchmark(if layout.own_link {
                contenders.map(|_| None).collect()
            } else {
                contenders.map(place).collect()
            });
        }
        self.placements = placements;
        // Startup time of the calibration runs is not part of the race.
        self.told_spent = self.workers.one_start.spent();
        Ok(())
    }
}

impl Contenders for FunctionContenders<'_> {
    fn metrics(&self) -> &[Metric] {
        &self.workers.options.metrics
    }

    fn run(&mut self, block: &Block, record: &mut BlockRecord) -> Result<(), EngineError> {
        let running = self.running.as_ref();
        let running = running.map(|running| (running.benchmark, running.replicate));
        let is_first = running != Some((block.benchmark, block.replicate));
        if is_first {
            self.enter_replicate(block)?;
            self.look(block);
        }
        let layout = &self.layouts[block.benchmark];
        let position = RunPosition {
            layout,
            moment: Moment::Block {
                replicate: block.replicate,
                block: block.index,
                slot: None,
            },
            place: place_of(block),
        };
        let prime = block.prime.as_ref().map(|slot| slot.contender.index());
        // Without a warm-up, the first block of a process has no previous call to repeat.
        let prime = prime.filter(|_| !(is_first && layout.without_warm_up));
        let slots = order_of(block);
        let mut running = self.running.take().expect("entered above");
        let measured = self.workers.block(
            (&mut running.team, running.relay.as_mut()),
            position,
            layout.iterations,
            prime,
            &slots,
        )?;
        let metrics = &self.workers.options.metrics;
        measured.record(metrics, block, layout.iterations, layout.threads, record);
        self.running = Some(running);
        Ok(())
    }

    fn placed(&mut self) -> Option<Placed> {
        self.placed.take()
    }

    fn observed(&mut self) -> Vec<Observed> {
        self.witness.take()
    }

    fn launched(&mut self) -> u64 {
        std::mem::take(&mut self.workers.launched)
    }

    fn shared_ns(&mut self) -> u64 {
        let spent = self.workers.one_start.spent();
        let before = std::mem::replace(&mut self.told_spent, spent);
        (spent - before).as_nanos() as u64
    }

    fn begin(&mut self, budget: Option<Duration>) {
        self.workers.renew_budget(budget);
    }

    fn close(&mut self, benchmark: usize) -> Result<(), EngineError> {
        self.end_replicate();
        if self
            .layouts
            .get(benchmark)
            .is_none_or(|layout| !layout.in_rounds)
        {
            self.workers.end_all();
        }
        Ok(())
    }
}

/// Returns the numbers of the benchmark, the replicate and the block, which seed the block's input.
fn place_of(block: &Block) -> [u64; 3] {
    [
        block.benchmark as u64,
        u64::from(block.replicate),
        u64::from(block.index),
    ]
}

fn order_of(block: &Block) -> Vec<usize> {
    let contender = |slot: &Slot| slot.contender.index();
    block.slots.iter().map(contender).collect()
}

impl FunctionContenders<'_> {
    /// Finds out if neutral links of the calibrated programs can be made; call it before the plan
    /// is frozen. A program without a link record is only reported if it races its own functions or
    /// if another program has a record.
    pub fn neutral_links(&mut self) -> Result<Vec<NeutralLinks>, EngineError> {
        let Some(helper) = self.helper.clone() else {
            return Ok(Vec::new());
        };
        self.workers.end_all();
        let programs = &self.workers.programs;
        let files: Vec<Option<Result<Executable, String>>> = programs
            .iter()
            .map(|program| {
                let found = Executable::at(&program.executable);
                let recorded = found.as_ref().is_ok_and(Executable::has_record);
                (recorded || programs.is_own(program)).then_some(found)
            })
            .collect();
        // Sides that run the same file share one build.
        let mut builds: Vec<&Executable> = Vec::new();
        for build in files.iter().flatten().flatten() {
            if !builds.contains(&build) {
                builds.push(build);
            }
        }
        let mut links = Vec::new();
        for build in &builds {
            let others = builds.iter().copied();
            let beside = others.filter(|other| helper.matching() && other != build);
            links.push(
                helper
                    .ask(build, beside, &[], self.workers.interrupts)?
                    .links,
            );
        }
        self.matched = match &mut links[..] {
            [Ok(alone)] if helper.matching() && files.iter().flatten().count() > 1 => {
                alone.matched = Some(Ok(()));
                true
            }
            links => matched(links),
        };
        let (mut facts, mut unrecorded) = (Vec::new(), Vec::new());
        for (program, file) in programs.iter().zip(&files) {
            let named = program.executable.display().to_string();
            let (known, fact) = match file {
                None => {
                    unrecorded.push(Links::facts(named, Err(UNRECORDED.to_owned())));
                    self.known.push(None);
                    continue;
                }
                Some(Err(reason)) => (None, Links::facts(named, Err(reason.clone()))),
                Some(Ok(file)) => {
                    let at = builds.iter().position(|build| *build == file);
                    let links = links[at.unwrap_or_default()].clone();
                    let known = links.is_ok().then(|| (file.clone(), links.clone()));
                    let mut fact = Links::facts(named, links);
                    fact.random_addresses = fact.is_matched() && !addresses_can_be_fixed();
                    (known, fact)
                }
            };
            self.known.push(known);
            if !facts.contains(&fact) {
                facts.push(fact);
            }
        }
        if facts.iter().any(|fact| fact.made_by.is_ok()) {
            unrecorded.dedup();
            facts.extend(unrecorded);
        }
        Ok(facts)
    }

    /// Applies the plan of a resumed run. `before` describes the neutral links of the earlier
    /// session and `placed` the replicates so far. Replicates keep their seeds. A program without
    /// links before gets none now; a program whose links can no longer be made continues on the
    /// user's own link, and the record reports it.
    #[cfg(feature = "commands")]
    pub fn resume(
        &mut self,
        plan: &Plan,
        before: &[NeutralLinks],
        placed: &[Placed],
    ) -> Result<(), EngineError> {
        for benchmark in &plan.benchmarks {
            self.layout(benchmark)?;
        }
        if let Some(helper) = &mut self.helper
            && !before.iter().any(NeutralLinks::is_matched)
        {
            helper.draw_independently();
        }
        self.neutral_links()?;
        let had = |file: &Executable| {
            // An archive is unpacked into a different folder each time and refers to its files in
            // that folder.
            let is_it = |links: &NeutralLinks| {
                let named = Path::new(&links.executable);
                named == file.path || Executable::at(named).is_ok_and(|one| one.path == file.path)
            };
            before
                .iter()
                .any(|links| is_it(links) && links.made_by.is_ok())
        };
        for (known, program) in self.known.iter_mut().zip(self.workers.programs.iter()) {
            let file = Executable::at(&program.executable).ok().filter(had);
            *known = file.map(|file| match known.take() {
                Some(still) => still,
                None => {
                    let reason = format!(
                        "neutral links of '{}' can no longer be made",
                        file.path.display()
                    );
                    (file, Err(reason))
                }
            });
        }
        self.enter(plan)?;
        self.placements.remember(placed);
        Ok(())
    }

    /// Applies a frozen plan, possibly from another machine, without calibration runs. Returns the
    /// facts about the neutral links on this machine.
    #[cfg(feature = "commands")]
    pub fn enter_frozen(&mut self, plan: &Plan) -> Result<Vec<NeutralLinks>, EngineError> {
        for benchmark in &plan.benchmarks {
            self.layout(benchmark)?;
        }
        let links = self.neutral_links()?;
        self.enter(plan)?;
        Ok(links)
    }

    /// Returns true if a benchmark of the future plan races on neutral links.
    pub fn has_neutral_links(&mut self, benchmark: &Benchmark) -> bool {
        let layout = ProcessLayout::of(benchmark, &mut self.workers.programs);
        layout.is_some_and(|layout| {
            let known = |program: usize| {
                let known = self.known.get(program);
                matches!(known, Some(Some((_, Ok(_)))))
            };
            layout
                .process_slots
                .iter()
                .any(|process_slot| known(process_slot.program))
        })
    }

    /// Ends the processes of the previous replicate, starts the processes of the replicate whose
    /// first block is `first`, and warms up all contenders. No linker runs after this returns.
    fn enter_replicate(&mut self, first: &Block) -> Result<(), EngineError> {
        self.end_replicate();
        self.workers.instruments.check_clock()?;
        let (benchmark, replicate) = (first.benchmark, first.replicate);
        let layout = self.layouts[benchmark].clone();
        let position = RunPosition {
            layout: &layout,
            moment: Moment::WarmUp,
            place: place_of(first),
        };
        self.workers.dismiss_kept_of_others(u64::from(replicate));
        if layout.in_rounds && self.enter_kept(position, first)? {
            return Ok(());
        }
        if self.placements.concerns(benchmark) {
            self.workers.see_off();
        }
        // Links before the processes start, because linking would disturb them.
        for contender in 0..layout.contenders.len() {
            let interrupts = self.workers.interrupts;
            self.placements
                .link(benchmark, contender, replicate, interrupts)?;
        }
        if layout.takes_turns() {
            self.workers.see_off();
        } else {
            self.start_ahead(&layout, first)?;
        }
        self.workers.settle(position)?;
        if layout.takes_turns() && !self.placements.concerns(benchmark) {
            self.workers.redraw_pages(position);
        }
        let batons = position.batons()?;
        // Draws the load order at random, because the first process finds untouched memory.
        let mut process_slots: Vec<usize> = (0..layout.process_slots.len()).collect();
        let mut coin = self.workers.stream(Purpose::Loading, position.place);
        shuffle(&mut coin, &mut process_slots);
        let shares_start =
            self.workers.one_start.serves(&layout) && !self.placements.concerns(benchmark);
        let mut team = match shares_start {
            true => {
                let order = (&process_slots[..], &batons.ends[..]);
                let mut team = self.workers.start_together(position, order)?;
                for session in &mut team {
                    self.get_ready(session, position, &order_of(first))?;
                }
                team
            }
            false => self.start_on_links(position, (&process_slots, &batons.ends), first)?,
        };
        team.sort_by_key(|session| session.process_slot);
        if self.placements.concerns(benchmark) {
            let link = |contender| team[layout.process_slot_of(contender)].variant.as_ref();
            let links: Vec<Option<&Variant>> = (0..layout.contenders.len()).map(link).collect();
            // With two builds, the message must name the build.
            let render = |contender: usize, reason: &str| {
                if layout.takes_turns() {
                    format!("'{}': {reason}", layout.contenders[contender])
                } else {
                    reason.to_owned()
                }
            };
            let placed = self.placements.placed(benchmark, replicate, &links, render);
            self.placed = Some(placed);
        }
        let relay = batons.relay;
        self.running = Some(Running {
            benchmark,
            replicate,
            team,
            relay,
        });
        Ok(())
    }

    fn start_on_links(
        &mut self,
        position: RunPosition<'_>,
        (order, batons): (&[usize], &[Baton]),
        first: &Block,
    ) -> Result<Vec<WorkerSession>, EngineError> {
        loop {
            let mut team = Vec::new();
            for process_slot in order.iter().copied() {
                let baton = (batons.get(process_slot), team.is_empty());
                team.push(self.linked(position, process_slot, first, baton)?);
            }
            // A new link of one build also replaces the links of the builds that it is matched
            // with.
            if self.is_on_its_links(position.layout, &team, first)? {
                return Ok(team);
            }
            self.workers.dismiss(team);
            self.workers.see_off();
        }
    }

    /// Reuses processes that served another benchmark of this replicate. Returns false if there are
    /// none.
    fn enter_kept(
        &mut self,
        position: RunPosition<'_>,
        first: &Block,
    ) -> Result<bool, EngineError> {
        self.workers.settle(position)?;
        let Some(KeptTeam {
            mut team, relay, ..
        }) = self.workers.take_kept(position)?
        else {
            return Ok(false);
        };
        let mut order: Vec<usize> = (0..team.len()).collect();
        let mut coin = self.workers.stream(Purpose::Loading, position.place);
        shuffle(&mut coin, &mut order);
        let slots = order_of(first);
        for at in order {
            self.get_ready(&mut team[at], position, &slots)?;
        }
        self.running = Some(Running {
            benchmark: first.benchmark,
            replicate: first.replicate,
            team,
            relay,
        });
        Ok(true)
    }

    /// Ends the current replicate. In a race in rounds, its processes are kept for the next
    /// benchmark.
    fn end_replicate(&mut self) {
        let Some(running) = self.running.take() else {
            return;
        };
        let layout = &self.layouts[running.benchmark];
        match layout.in_rounds {
            true => {
                let of = (layout, u64::from(running.replicate));
                self.workers.keep(running.team, running.relay, of);
            }
            false => self.workers.dismiss(running.team),
        }
    }

    /// Records the state of the processes of a replicate before their first block.
    fn look(&mut self, first: &Block) {
        let layout = &self.layouts[first.benchmark];
        let given = sched_getaffinity(Pid::from_raw(0)).ok();
        let team = self.running.iter().flat_map(|running| &running.team);
        for session in team {
            let program = layout.process_slots[session.process_slot].program;
            let own = &self.workers.programs.get(program).executable;
            let started = session
                .variant
                .as_ref()
                .map_or(own, |link| &link.executable);
            let seen = Sighting::of(session.worker.pid());
            let noticed = Noticed {
                started: Started::by(started),
                given: given.as_ref(),
                seen: seen.as_ref(),
                ..Noticed::default()
            };
            for contender in 0..layout.contenders.len() {
                if layout.process_slot_of(contender) == session.process_slot {
                    let of = (first.benchmark, contender);
                    self.witness.note(of, first.replicate, noticed);
                }
            }
        }
    }

    /// Starts the processes of this replicate and of later ones, up to the next interim analysis
    /// and up to the number of processes that may wait.
    fn start_ahead(&mut self, layout: &ProcessLayout, first: &Block) -> Result<(), EngineError> {
        let (benchmark, replicate) = (first.benchmark, first.replicate);
        let room = self.workers.room_ahead(layout);
        if room < 2 || self.workers.ahead.holds(place_of(first)) {
            return Ok(());
        }
        let mut looks = self.looks[benchmark].iter().copied();
        let look = looks.find(|look| *look > replicate);
        let end = look.unwrap_or(u32::MAX).min(replicate + room as u32);
        let mut turns = Vec::new();
        for replicate in replicate..end {
            let interrupts = self.workers.interrupts;
            let contender = layout.contender_of(0, 0);
            let link = self
                .placements
                .link(benchmark, contender, replicate, interrupts)?;
            let position = RunPosition {
                layout,
                moment: Moment::WarmUp,
                place: [benchmark as u64, u64::from(replicate), 0],
            };
            turns.push((position, link));
        }
        self.workers.start_ahead(turns)
    }

    fn is_on_its_links(
        &mut self,
        layout: &ProcessLayout,
        team: &[WorkerSession],
        first: &Block,
    ) -> Result<bool, EngineError> {
        let (benchmark, replicate) = (first.benchmark, first.replicate);
        for session in team {
            let contender = layout.contender_of(session.process_slot, 0);
            let interrupts = self.workers.interrupts;
            let link = self
                .placements
                .link(benchmark, contender, replicate, interrupts)?;
            if link != session.variant {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns a warm process on the first neutral link that works, or on the user's own link if
    /// there is none.
    fn linked(
        &mut self,
        position: RunPosition<'_>,
        process_slot: usize,
        first: &Block,
        baton: (Option<&Baton>, bool),
    ) -> Result<WorkerSession, EngineError> {
        let (benchmark, replicate) = (first.benchmark, first.replicate);
        let order = order_of(first);
        let contender = position.layout.contender_of(process_slot, 0);
        // The result of the same request on the user's own link.
        let mut own: Option<Result<(), Box<FunctionFailure>>> = None;
        loop {
            let interrupts = self.workers.interrupts;
            let link = self
                .placements
                .link(benchmark, contender, replicate, interrupts)?;
            let Some(variant) = link else {
                return self.warm(position, (process_slot, &order), None, baton);
            };
            let failure = match self.warm(position, (process_slot, &order), Some(&variant), baton) {
                Ok(session) => return Ok(session),
                Err(EngineError::Function(failure)) => failure,
                Err(error) => return Err(error),
            };
            if own.is_none() {
                own = Some(
                    match self.warm(position, (process_slot, &order), None, baton) {
                        Ok(session) => {
                            session.worker.leave(interrupts);
                            Ok(())
                        }
                        Err(EngineError::Function(failure)) => Err(failure),
                        Err(error) => return Err(error),
                    },
                );
            }
            if let Some(Err(own)) = &own
                && alike(&own.cause, &failure.cause)
            {
                return Err(EngineError::Function(own.clone()));
            }
            let failure = FunctionFailure {
                link: None,
                ..*failure
            };
            let reason = format!(
                "{}; this does not happen with your own link; see {}",
                failure.within_benchmark(),
                variant.executable.display()
            );
            self.placements
                .refuse(benchmark, contender, replicate, reason);
        }
    }

    /// Starts a process and warms up its contenders for a first block with these slots, unless they
    /// need no warm-up. The contender whose first slot comes last is warmed up first, and so gets
    /// the first place in caches and heap; the plan draws the slots at random.
    fn warm(
        &mut self,
        position: RunPosition<'_>,
        (process_slot, slots): (usize, &[usize]),
        variant: Option<&Variant>,
        baton: (Option<&Baton>, bool),
    ) -> Result<WorkerSession, EngineError> {
        let mut session = self.workers.start(position, process_slot, variant, baton)?;
        self.get_ready(&mut session, position, slots)?;
        Ok(session)
    }

    fn get_ready(
        &mut self,
        session: &mut WorkerSession,
        position: RunPosition<'_>,
        slots: &[usize],
    ) -> Result<(), EngineError> {
        let layout = position.layout;
        self.workers.prepare(session, position)?;
        if layout.without_warm_up {
            return Ok(());
        }
        let request = Request::WarmUp {
            // The warm-up already uses the input of the first block. If one round is enough, the
            // worker reports that input as ready.
            seed: self.workers.input_seed(position.place),
            order: layout.warm_up_order(session.process_slot, slots),
            iterations: layout.iterations,
        };
        match self.workers.ask(session, position, &request)? {
            Reply::Warm { ready, .. } => {
                session.ready = ready;
                Ok(())
            }
            reply => Err(session.unexpected(position, &reply)),
        }
    }
}

/// Returns true if two causes are the same kind of failure. The messages of panics and of unequal
/// outputs are ignored, because they may contain numbers that vary.
fn alike(one: &FunctionError, other: &FunctionError) -> bool {
    match (one, other) {
        (FunctionError::Panicked(_), FunctionError::Panicked(_))
        | (FunctionError::Raised(_), FunctionError::Raised(_))
        | (FunctionError::OutputDiffers { .. }, FunctionError::OutputDiffers { .. })
        | (FunctionError::OutputVaries(_), FunctionError::OutputVaries(_)) => true,
        (one, other) => one == other,
    }
}
