//! Functions on neutral links: every replicate a process of another one, tried
//! before its first block.

#[cfg(feature = "commands")]
use std::path::Path;

use deadheat_model::{Benchmark, Block, NeutralLinks, Placed, Placing, Plan, RefusedLink};

use super::function::{FunctionContenders, Running, order_of, place_of};
use super::process_layout::ProcessLayout;
use super::run_position::RunPosition;
use super::worker_session::{WorkerSession, leave};
use super::workers::FunctionOptions;
use crate::error::{EngineError, Moment};
use crate::placement::{Executable, Helper, Links, Placer, Variant};
use crate::random::{Purpose, shuffle};
#[cfg(feature = "commands")]
use crate::worker::WorkerProgram;
use crate::worker::{Baton, FunctionCause, FunctionFailure, Reply, Request};

/// Why a build runs as it is where another runs on neutral links.
const UNRECORDED: &str = "no record of its link lies beside it, as beside the other build; link it \
                          through deadheat link, see docs/placement.md";

/// What is known of neutral links of the programs.
pub(super) struct FunctionLinks {
    helper: Option<Helper>,
    /// By program: its executable and what links are made from, where there are
    /// any.
    known: Vec<Option<(Executable, Links)>>,
    /// By program.
    placers: Vec<Option<Placer>>,
}

impl FunctionLinks {
    pub(super) fn new(options: &FunctionOptions) -> Self {
        Self {
            helper: options.placements.clone().map(Helper::new),
            known: Vec::new(),
            placers: Vec::new(),
        }
    }

    /// Knows the looks now that the links have to be ready for.
    pub(super) fn enter(&mut self, plan: &Plan) {
        let placer = |(program, known): (usize, &Option<(Executable, Links)>)| {
            let (executable, links) = known.clone()?;
            self.placer_of(plan, program, executable, &links.record)
        };
        self.placers = self.known.iter().enumerate().map(placer).collect();
    }

    fn placer_of(
        &self,
        plan: &Plan,
        program: usize,
        executable: Executable,
        record: &str,
    ) -> Option<Placer> {
        let (helper, looks) = (self.helper.clone()?, plan.all_looks());
        let place = [program as u64, 0, 0];
        Some(Placer::new(
            helper, executable, record, looks, plan.seed, place,
        ))
    }

    fn placer(&mut self, program: usize) -> Option<&mut Placer> {
        self.placers.get_mut(program)?.as_mut()
    }

    /// Whether a benchmark is raced on neutral links, as far as there are any.
    fn concern(&self, layout: &ProcessLayout) -> bool {
        let linked = |program: usize| matches!(self.placers.get(program), Some(Some(_)));
        !layout.own_link
            && layout
                .process_slots
                .iter()
                .any(|process_slot| linked(process_slot.program))
    }
}

impl FunctionContenders<'_> {
    /// Finds out whether there are neutral links of the programs that the
    /// pilots ran, to be called before the plan is frozen. Where nobody makes
    /// any, nothing is said of it: of programs without a record of how they
    /// were linked, unless they are the one that races, or others have one.
    pub fn neutral_links(&mut self) -> Result<Vec<NeutralLinks>, EngineError> {
        let Some(helper) = self.links.helper.clone() else {
            return Ok(Vec::new());
        };
        let mut facts = Vec::new();
        let mut unrecorded = Vec::new();
        for program in self.workers.programs.iter() {
            let found = Executable::at(&program.executable);
            let recorded = found.as_ref().is_ok_and(Executable::has_record);
            if !self.workers.programs.is_own(program) && !recorded {
                self.links.known.push(None);
                unrecorded.push(NeutralLinks {
                    executable: program.executable.display().to_string(),
                    made_by: Err(UNRECORDED.to_owned()),
                    unsectioned: Vec::new(),
                });
                continue;
            }
            let (named, links) = match found {
                Ok(executable) => {
                    let answer = helper.ask(&executable, &[], self.workers.interrupts)?;
                    let named = executable.path.display().to_string();
                    (named, answer.links.map(|links| (executable, links)))
                }
                Err(reason) => (program.executable.display().to_string(), Err(reason)),
            };
            self.links.known.push(links.as_ref().ok().cloned());
            let (made_by, unsectioned) = match links {
                Ok((_, links)) => (Ok(links.linker), links.unsectioned),
                Err(reason) => (Err(reason), Vec::new()),
            };
            let fact = NeutralLinks {
                executable: named,
                made_by,
                unsectioned,
            };
            // The same file on both sides.
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

    /// Takes over the plan of a run that is taken up again, which knew this of
    /// neutral links `before` and `placed` its replicates so far: replicates
    /// keep their seeds, programs that had no links get none, and those that
    /// lost theirs go on as they were linked, which the record tells.
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
        self.neutral_links()?;
        let file = |program: &WorkerProgram| Executable::at(&program.executable).ok();
        let files: Vec<_> = self.workers.programs.iter().map(file).collect();
        let had = |file: &Executable| {
            let is_it = |links: &NeutralLinks| Path::new(&links.executable) == file.path;
            before
                .iter()
                .any(|links| is_it(links) && links.made_by.is_ok())
        };
        for (known, file) in self.links.known.iter_mut().zip(&files) {
            if !file.as_ref().is_some_and(had) {
                *known = None;
            }
        }
        self.enter(plan)?;
        for (program, file) in files.into_iter().enumerate() {
            let lost = matches!(self.links.placers.get(program), Some(None));
            if let Some(file) = file.filter(|file| lost && had(file)) {
                let reason = format!(
                    "the neutral links of '{}' cannot be made any more",
                    file.path.display()
                );
                let placer = self.links.placer_of(plan, program, file, "");
                self.links.placers[program] = placer.map(|placer| placer.without_links(reason));
            }
        }
        for placed in placed {
            self.remember(placed);
        }
        Ok(())
    }

    /// A replicate keeps the seeds it had, and nobody is given a refused one.
    #[cfg(feature = "commands")]
    fn remember(&mut self, placed: &Placed) {
        let Some(layout) = self.layouts.get(placed.benchmark) else {
            return;
        };
        for (contender, placing) in placed.contenders.iter().enumerate() {
            let process_slot = layout.process_slots.get(layout.process_slot_of(contender));
            let program = process_slot.map_or(usize::MAX, |process_slot| process_slot.program);
            let Some(placer) = self.links.placers.get_mut(program).and_then(Option::as_mut) else {
                continue;
            };
            if let Placing::Neutral(link) = placing {
                placer.remember(placed.replicate, link.seed);
            }
            for refused in &placed.refused {
                placer.strike(refused.seed);
            }
        }
    }

    /// Whether neutral links are raced in a benchmark of the plan to come.
    pub fn has_neutral_links(&mut self, benchmark: &Benchmark) -> bool {
        let layout = ProcessLayout::of(benchmark, &mut self.workers.programs);
        layout.is_some_and(|layout| {
            let known = |program: usize| matches!(self.links.known.get(program), Some(Some(_)));
            layout
                .process_slots
                .iter()
                .any(|process_slot| known(process_slot.program))
        })
    }

    /// Lets the processes of the last replicate go.
    pub(super) fn leave(&mut self) {
        leave(self.running.take().map_or_else(Vec::new, |r| r.team));
    }

    /// Ends the processes of the last replicate and starts those of the one whose
    /// first block this is, with all contenders warm. Nothing is linked any more when this returns.
    pub(super) fn enter_replicate(&mut self, first: &Block) -> Result<(), EngineError> {
        self.leave();
        self.workers.check_clock()?;
        let (benchmark, replicate) = (first.benchmark, first.replicate);
        let layout = self.layouts[benchmark].clone();
        let position = RunPosition {
            layout: &layout,
            moment: Moment::WarmUp,
            place: place_of(first),
        };
        self.make_links(&layout, replicate)?;
        self.workers.settle(position)?;
        let batons = position.batons()?;
        // A fair coin for who is loaded first, and finds memory untouched.
        let mut process_slots: Vec<usize> = (0..layout.process_slots.len()).collect();
        let mut coin = self.workers.stream(Purpose::Loading, position.place);
        shuffle(&mut coin, &mut process_slots);
        let mut team = Vec::new();
        for process_slot in process_slots {
            let baton = batons.ends.get(process_slot);
            team.push(self.linked(position, process_slot, first, baton)?);
        }
        team.sort_by_key(|session| session.process_slot);
        if self.links.concern(&layout) {
            self.placed = Some(self.placed_as(&team, &layout, benchmark, replicate));
        }
        let relay = batons.relay;
        self.running = Some(Running {
            replicate,
            team,
            relay,
        });
        Ok(())
    }

    /// Has the links of a replicate made before any of its processes is there
    /// to be disturbed.
    fn make_links(&mut self, layout: &ProcessLayout, replicate: u32) -> Result<(), EngineError> {
        if layout.own_link {
            return Ok(());
        }
        for process_slot in &layout.process_slots {
            if let Some(placer) = self.links.placer(process_slot.program) {
                placer.link(replicate, self.workers.interrupts)?;
            }
        }
        Ok(())
    }

    /// Where the code of a replicate lies, and what was refused for it.
    fn placed_as(
        &mut self,
        team: &[WorkerSession],
        layout: &ProcessLayout,
        benchmark: usize,
        replicate: u32,
    ) -> Placed {
        let placing = |contender: usize| {
            let process_slot = layout.process_slot_of(contender);
            match &team[process_slot].variant {
                Some(variant) => Placing::Neutral(variant.link.clone()),
                None => Placing::Own,
            }
        };
        let mut placed = Placed {
            benchmark,
            replicate,
            contenders: (0..layout.contenders.len()).map(placing).collect(),
            refused: Vec::new(),
            fallen_back: None,
        };
        for (session, process_slot) in team.iter().zip(&layout.process_slots) {
            let Some(placer) = self.links.placer(process_slot.program) else {
                continue;
            };
            // Of two builds it must be known which this is about.
            let told = |reason: &str| match layout.takes_turns() {
                true => format!("'{}': {reason}", layout.contenders[session.process_slot]),
                false => reason.to_owned(),
            };
            let fallen_back = placer.fallen_back().filter(|_| session.variant.is_none());
            let fallen_back = fallen_back.map(&told);
            placed.fallen_back = placed.fallen_back.or(fallen_back);
            let refused = placer.take_refused(replicate).into_iter();
            placed.refused.extend(refused.map(|refused| RefusedLink {
                reason: told(&refused.reason),
                ..refused
            }));
        }
        placed
    }

    /// A warm process on the first link that stands the trial, or on the
    /// user's own when none does, or none is to be had.
    fn linked(
        &mut self,
        position: RunPosition<'_>,
        process_slot: usize,
        first: &Block,
        baton: Option<&Baton>,
    ) -> Result<WorkerSession, EngineError> {
        let replicate = first.replicate;
        let order = order_of(first);
        let program = position.layout.process_slots[process_slot].program;
        // What became of the same request on the user's own link.
        let mut own: Option<Result<(), Box<FunctionFailure>>> = None;
        loop {
            let interrupts = self.workers.interrupts;
            let placer = self.links.placer(program);
            let placer = placer.filter(|_| !position.layout.own_link);
            let link = placer.map(|placer| placer.link(replicate, interrupts));
            let Some(variant) = link.transpose()?.flatten() else {
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
                            session.worker.leave();
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
                "{}; on your own link it does not; see {}",
                failure.within_benchmark(),
                variant.executable.display()
            );
            if let Some(placer) = self.links.placer(program) {
                placer.refuse(replicate, reason);
            }
        }
    }

    /// A process in which all its contenders are warm for a first block of these
    /// slots. The first to run is the first to find its place in caches and heap;
    /// the plan has drawn who that is, for it is who comes last in the block.
    fn warm(
        &mut self,
        position: RunPosition<'_>,
        (process_slot, slots): (usize, &[usize]),
        variant: Option<&Variant>,
        baton: Option<&Baton>,
    ) -> Result<WorkerSession, EngineError> {
        let layout = position.layout;
        let mut session = self.workers.start(position, process_slot, variant, baton)?;
        let request = Request::WarmUp {
            // Where one round is enough, everybody has met the first block's
            // input by then, and it need not be shown to them once more.
            seed: self.workers.input_seed(position.place),
            order: layout.warm_up_order(process_slot, slots),
            iterations: layout.iterations,
        };
        match self.workers.ask(&mut session, position, &request)? {
            Reply::Warm { ready, .. } => {
                session.ready = ready;
                Ok(session)
            }
            reply => Err(session.unexpected(position, &reply)),
        }
    }
}

/// Whether two causes are the same failure: what a panic says may hold numbers
/// that are different every time.
fn alike(one: &FunctionCause, other: &FunctionCause) -> bool {
    match (one, other) {
        (FunctionCause::Panicked(_), FunctionCause::Panicked(_)) => true,
        (one, other) => one == other,
    }
}
