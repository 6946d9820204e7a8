//! Keeps processes that can serve several benchmarks, and hands them from one benchmark of a
//! replicate to the next.

use std::time::{Duration, Instant};

use super::one_start::KeptTeam;
use super::process_layout::ProcessLayout;
use super::worker_session::{RunPosition, WorkerSession};
use super::workers::Workers;
use crate::affinity::{AffinityError, pin_this_thread};
use crate::error::EngineError;
use crate::worker::{Baton, Relay, Reply, Request};

impl Workers<'_> {
    /// Starts the processes of a team that serves many benchmarks. The processes start and import
    /// at the same time, on different cores if there are enough, and then move to the core of their
    /// replicate. When they started one after the other, two processes with pytest took 0.4 s of
    /// each round of a suite.
    pub(super) fn start_together(
        &mut self,
        position: RunPosition<'_>,
        (order, batons): (&[usize], &[Baton]),
    ) -> Result<Vec<WorkerSession>, EngineError> {
        self.see_off();
        let began = Instant::now();
        let cores = self.cores.to_start_on(position.layout.threads);
        let mut cores = cores.iter().cycle();
        let mut team = Vec::new();
        for process_slot in order.iter().copied() {
            if let Some(core) = cores.next() {
                pin_this_thread(*core).map_err(AffinityError::Refused)?;
            }
            team.push(self.spawn(position, process_slot, None, batons.get(process_slot))?);
            self.launched += 1;
        }
        self.settle(position)?;
        for session in &mut team {
            self.hear_hello(session, position)?;
        }
        let mut imports = Vec::new();
        for session in &mut team {
            imports.push(self.ask_to_import(session, position));
        }
        for (session, imports) in team.iter_mut().zip(imports) {
            if imports {
                self.hear_import(session, position)?;
            }
            self.settle_process(session.worker.pid(), position)?;
        }
        let took = began.elapsed() / team.len().max(1) as u32;
        for (number, session) in team.iter().enumerate() {
            self.account_start(session, took, number == 0);
        }
        Ok(team)
    }

    /// Asks a new process to do the imports of all its benchmarks, if it has several and can fork.
    pub(super) fn import(
        &mut self,
        session: &mut WorkerSession,
        position: RunPosition<'_>,
    ) -> Result<(), EngineError> {
        match self.ask_to_import(session, position) {
            true => self.hear_import(session, position),
            false => Ok(()),
        }
    }

    /// Requests the imports if the process is to serve several benchmarks and may fork. Returns
    /// true if the request was sent.
    fn ask_to_import(&self, session: &mut WorkerSession, position: RunPosition<'_>) -> bool {
        let program = position.layout.process_slots[session.process_slot].program;
        let may_fork = self.options.forks && session.forks && !self.options.callgrind;
        let Some(suite) = self.one_start.suite(program).filter(|_| may_fork) else {
            return false;
        };
        if let Some(Some(_)) = self.one_start.forking.get(&program) {
            return false;
        }
        let benchmarks = suite.clone();
        session.worker.ask(&Request::Import { benchmarks });
        true
    }

    fn hear_import(
        &mut self,
        session: &mut WorkerSession,
        position: RunPosition<'_>,
    ) -> Result<(), EngineError> {
        let program = position.layout.process_slots[session.process_slot].program;
        let patience = self.patience_at_start();
        let team = std::slice::from_mut(session);
        let mut replies = self.await_replies(team, None, position, patience)?;
        match replies.remove(0) {
            Reply::Imported { unforked } => {
                session.serves_many = unforked.is_none();
                self.one_start.forking.insert(program, unforked);
                Ok(())
            }
            reply => Err(session.unexpected(position, &reply)),
        }
    }

    /// Adds the time that a shared process took to start; `first` is true for the first process of
    /// a team.
    pub(super) fn account_start(&mut self, session: &WorkerSession, took: Duration, first: bool) {
        if first {
            self.one_start.last_start = Duration::ZERO;
        }
        if session.serves_many {
            self.one_start.last_start += took;
            self.one_start.spent += took;
        }
    }

    /// Ends the benchmark of a team. Keeps the processes for the next benchmark if all of them can
    /// serve it, and dismisses them otherwise.
    pub(super) fn keep(
        &mut self,
        mut team: Vec<WorkerSession>,
        relay: Option<Relay>,
        (layout, replicate): (&ProcessLayout, u64),
    ) {
        let is_whole = team.len() == layout.process_slots.len();
        // A process that was not requested to prepare this benchmark would exit on Bye.
        let serves = |session: &WorkerSession| session.serves_many && session.is_asked;
        if !is_whole || !team.iter().all(serves) {
            return self.dismiss(team);
        }
        for session in &mut team {
            // A session that reported a failure has already ended the benchmark.
            if !session.has_failed {
                session.worker.ask(&Request::Bye);
            }
        }
        self.one_start.kept.push(KeptTeam {
            replicate,
            programs: programs_of(layout),
            team,
            relay,
        });
    }

    /// Returns kept processes that can serve this benchmark in this replicate, by process slot.
    /// `None` means that the caller must start new ones.
    pub(super) fn take_kept(
        &mut self,
        position: RunPosition<'_>,
    ) -> Result<Option<KeptTeam>, EngineError> {
        let programs = programs_of(position.layout);
        let is_it =
            |kept: &KeptTeam| kept.replicate == position.place[1] && kept.programs == programs;
        let kept = &mut self.one_start.kept;
        let Some(at) = kept.iter().position(is_it) else {
            return Ok(None);
        };
        let mut kept = kept.swap_remove(at);
        let team = &mut kept.team;
        let replies = match self.await_replies(team, None, position, self.patience(1)) {
            Ok(replies) => replies,
            Err(EngineError::Interrupted) => return Err(EngineError::Interrupted),
            // The previous benchmark broke the process; this benchmark gets a new one.
            Err(_) => return Ok(None),
        };
        if !replies.iter().all(|reply| *reply == Reply::Over) {
            return Ok(None);
        }
        for session in team {
            session.worker.serves_itself();
            session.has_failed = false;
            session.is_asked = false;
            session.ready = None;
            self.launched += 1;
            let draws = self.draws_of(position, session);
            (session.heap_bytes, session.stack_bytes) = draws;
        }
        Ok(Some(kept))
    }

    pub(super) fn dismiss_kept_of_others(&mut self, replicate: u64) {
        let kept = std::mem::take(&mut self.one_start.kept);
        for team in kept {
            match team.replicate == replicate {
                true => self.one_start.kept.push(team),
                false => self.dismiss(team.team),
            }
        }
    }

    pub(super) fn dismiss_kept(&mut self) {
        for team in std::mem::take(&mut self.one_start.kept) {
            self.dismiss(team.team);
        }
    }
}

fn programs_of(layout: &ProcessLayout) -> Vec<usize> {
    let slots = layout.process_slots.iter();
    slots.map(|slot| slot.program).collect()
}
