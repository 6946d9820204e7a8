//! Functions on neutral links: every replicate a process of another one, tried
//! before its first block.

use deadheat_model::{NeutralLinks, Placed, Placing, Plan};
use rand_core::Rng;

use super::function::{FunctionContenders, Running};
use super::workers::{FunctionOptions, Lineup, unexpected};
use crate::error::{EngineError, Moment};
use crate::placement::{Executable, Helper, Links, Placer, Variant};
use crate::random::{Purpose, shuffle};
use crate::worker::{FunctionCause, FunctionFailure, Reply, Request, WorkerProcess};

/// What is known of neutral links of the program.
pub(super) struct FunctionLinks {
    helper: Option<Helper>,
    /// The executable and what its links are made from, once somebody asked.
    known: Option<(Executable, Links)>,
    placer: Option<Placer>,
}

impl FunctionLinks {
    pub(super) fn new(options: &FunctionOptions) -> Self {
        Self {
            helper: options.placements.clone().map(Helper::new),
            known: None,
            placer: None,
        }
    }

    /// Knows the looks now that the links have to be ready for.
    pub(super) fn enter(&mut self, plan: &Plan) {
        let known = self.helper.clone().zip(self.known.clone());
        self.placer = known.map(|(helper, (executable, links))| {
            let looks = &plan.design.looks;
            let place = [0, 0, 0];
            Placer::new(helper, executable, &links.record, looks, plan.seed, place)
        });
    }
}

impl FunctionContenders<'_> {
    /// Finds out whether there are neutral links of the program, to be called
    /// before the plan is frozen; `None` when nobody makes any.
    pub fn neutral_links(&mut self) -> Result<Option<NeutralLinks>, EngineError> {
        let Some(helper) = &self.links.helper else {
            return Ok(None);
        };
        let program = &self.workers.options.program.executable;
        let (named, links) = match Executable::at(program) {
            Ok(executable) => {
                let answer = helper.ask(&executable, &[], self.workers.interrupts)?;
                let named = executable.path.display().to_string();
                (named, answer.links.map(|links| (executable, links)))
            }
            Err(reason) => (program.display().to_string(), Err(reason)),
        };
        self.links.known = links.as_ref().ok().cloned();
        let (made_by, unsectioned) = match links {
            Ok((_, links)) => (Ok(links.linker), links.unsectioned),
            Err(reason) => (Err(reason), Vec::new()),
        };
        Ok(Some(NeutralLinks {
            executable: named,
            made_by,
            unsectioned,
        }))
    }

    /// Ends the process of the last replicate and starts that of the next,
    /// with all contenders warm. Nothing is linked any more when this returns.
    pub(super) fn enter_replicate(
        &mut self,
        benchmark: usize,
        replicate: u32,
    ) -> Result<(), EngineError> {
        if let Some(running) = self.worker.take() {
            running.worker.leave();
        }
        self.workers.check_clock()?;
        let lineup = self.lineups[benchmark].clone();
        let place = [benchmark as u64, u64::from(replicate), 0];
        if lineup.own_link || self.links.placer.is_none() {
            let worker = self.warm_worker(&lineup, place, None)?;
            self.worker = Some(Running {
                replicate,
                worker,
                variant: None,
            });
            return Ok(());
        }
        let (worker, variant) = self.linked_worker(&lineup, place, replicate)?;
        let placing = match &variant {
            Some(variant) => Placing::Neutral(variant.link.clone()),
            None => Placing::Own,
        };
        let placer = self.links.placer.as_mut();
        let told = placer.map(|placer| {
            let fallen_back = placer.fallen_back().filter(|_| variant.is_none());
            let fallen_back = fallen_back.map(str::to_owned);
            (placer.take_refused(replicate), fallen_back)
        });
        let (refused, fallen_back) = told.unwrap_or_default();
        self.placed = Some(Placed {
            benchmark,
            replicate,
            contenders: vec![placing; lineup.contenders.len()],
            refused,
            fallen_back,
        });
        self.worker = Some(Running {
            replicate,
            worker,
            variant,
        });
        Ok(())
    }

    /// A warm process on the first link that stands the trial, or on the
    /// user's own when none does.
    fn linked_worker(
        &mut self,
        lineup: &Lineup,
        place: [u64; 3],
        replicate: u32,
    ) -> Result<(WorkerProcess, Option<Variant>), EngineError> {
        // What became of the same request on the user's own link.
        let mut own: Option<Result<(), Box<FunctionFailure>>> = None;
        loop {
            let interrupts = self.workers.interrupts;
            let placer = self.links.placer.as_mut();
            let link = placer.map(|placer| placer.link(replicate, interrupts));
            let Some(variant) = link.transpose()?.flatten() else {
                let worker = self.warm_worker(lineup, place, None)?;
                return Ok((worker, None));
            };
            let failure = match self.warm_worker(lineup, place, Some(&variant)) {
                Ok(worker) => return Ok((worker, Some(variant))),
                Err(EngineError::Function(failure)) => failure,
                Err(error) => return Err(error),
            };
            if own.is_none() {
                own = Some(match self.warm_worker(lineup, place, None) {
                    Ok(worker) => {
                        worker.leave();
                        Ok(())
                    }
                    Err(EngineError::Function(failure)) => Err(failure),
                    Err(error) => return Err(error),
                });
            }
            if let Some(Err(own)) = &own
                && alike(&own.cause, &failure.cause)
            {
                return Err(EngineError::Function(own.clone()));
            }
            let reason = format!(
                "{}; on your own link it does not; see {}",
                failure.within_benchmark(),
                variant.executable.display()
            );
            if let Some(placer) = &mut self.links.placer {
                placer.refuse(replicate, reason);
            }
        }
    }

    /// A process in which all contenders are warm.
    fn warm_worker(
        &mut self,
        lineup: &Lineup,
        place: [u64; 3],
        variant: Option<&Variant>,
    ) -> Result<WorkerProcess, EngineError> {
        let moment = Moment::WarmUp;
        let mut worker = self.workers.start(lineup, moment, place, variant)?;
        // A fair coin for who comes first: the first to run is the first to
        // find its place in caches and heap.
        let mut order: Vec<usize> = (0..lineup.contenders.len()).collect();
        let mut rng = self.workers.stream(Purpose::WarmUp, place);
        shuffle(&mut rng, &mut order);
        let request = Request::WarmUp {
            seed: rng.next_u64(),
            order,
            iterations: lineup.iterations,
        };
        match self.workers.ask(&mut worker, lineup, moment, &request)? {
            Reply::Warm { .. } => Ok(worker),
            reply => Err(unexpected(lineup, moment, &reply)),
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

/// The same error, telling which link it happened on.
pub(super) fn naming_link(error: EngineError, link: Option<Variant>) -> EngineError {
    match error {
        EngineError::Function(failure) => {
            EngineError::Function(Box::new(FunctionFailure { link, ..*failure }))
        }
        error => error,
    }
}
